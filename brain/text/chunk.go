package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Document is a text to be cut into chunks. Body may be Markdown.
type Document struct {
	Title string
	Body  string
}

// ChunkOptions bounds the chunks.
type ChunkOptions struct {
	// TargetTokens is the size aimed at: a document is cut into as many chunks
	// of equal size as are needed for none to be larger. 0 means
	// DefaultTargetTokens.
	TargetTokens int
	// MaxTokens is not exceeded, but for what Count of a whole differs from the
	// sum of Count of its parts; 0 means TargetTokens. A sentence that is longer
	// is cut.
	MaxTokens int
	// Count gives the number of tokens of a text; nil means a quarter of its
	// characters. It is called about once for every sentence, so the whole
	// costs one pass of it over the body.
	Count func(string) int
}

// DefaultTargetTokens is a paragraph or two: the embedders that we carry were
// trained on passages of up to 256 tokens, and room is left for the title path.
const DefaultTargetTokens = 200

// Chunk is one passage of a document.
type Chunk struct {
	// Text is Body[Start:End].
	Text string
	// TitlePath is the document's title (if any) and the headings above the
	// chunk's first line, outermost first. A heading that is that line stands
	// in Text only.
	TitlePath []string
	// Start and End are byte offsets into Body. Chunks are in order and do not
	// overlap; what no chunk covers is white space.
	Start, End int
	// Tokens is the sum of Count over the chunk's sentences.
	Tokens int
}

const (
	// maxBytesPerToken bounds chunks by bytes too: a WordPiece tokenizer counts
	// a megabyte without a space as one unknown token. Languages need 2 to 8.
	maxBytesPerToken = 16
	// maxTitleBytes bounds one title or heading in the path.
	maxTitleBytes = 200
	// tinyShare: a chunk below an eighth of the target says too little to be
	// found by; at the end of a document it joins the one before.
	tinyShare = 8
	// paragraphShare: from four fifths of the goal on, the end of a paragraph
	// is a better place to stop than the sentence that is nearest to the goal.
	paragraphShare = 0.8
	// maxHeading is the longest line that underlining makes a heading.
	maxHeading = 120
)

// border says how good a place the end of a piece is to end a chunk.
type border uint8

const (
	borderNone      border = iota // inside a long sentence, after a heading
	borderSentence                // after a sentence, a line of code or of a table
	borderParagraph               // after a block
)

// piece is what is never divided: a sentence, a line, or part of a long one.
type piece struct {
	Span
	tokens  int
	path    int // index into chunker.paths: the sections it stands in
	after   border
	heading bool
}

type chunker struct {
	body        string
	target, max int
	maxBytes    int
	count       func(string) int
	bytesPer    float64 // bytes per token, as seen last

	paths  [][]string
	stack  []heading
	under  []byte // underlining characters, in the order of their first use
	title  []string
	pieces []piece
	out    []Chunk
}

type heading struct {
	level int
	text  string
}

// Chunks cuts a document. A blank body gives no chunks.
//
// The body is read as Markdown (with the underlined headings of
// reStructuredText), since plain text is nearly always valid Markdown that means
// the same. The size aimed at is what is left divided by the number of chunks it
// needs, so that no small rest remains; a chunk is closed at the sentence
// nearest to it, at a paragraph a little earlier, or at a heading when it is at
// least half full.
func Chunks(doc Document, opts ChunkOptions) []Chunk {
	c := chunker{body: doc.Body, target: opts.TargetTokens, max: opts.MaxTokens, count: opts.Count, bytesPer: 4}
	if c.target <= 0 {
		c.target = DefaultTargetTokens
	}
	if c.max <= 0 {
		c.max = c.target
	}
	c.max = max(c.max, c.target)
	c.maxBytes = c.max * maxBytesPerToken
	if c.count == nil {
		c.count = func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }
	}
	if t := cleanTitle(doc.Title); t != "" {
		c.title = []string{t}
	}
	c.paths = [][]string{c.title}
	c.parse()
	c.pack()
	return c.out
}

func cleanTitle(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(Truncate(s, maxTitleBytes))
}

// parse cuts the body into blocks and these into pieces.
func (c *chunker) parse() {
	s := c.body
	para := -1 // start of the open paragraph
	closeParagraph := func(end int) {
		if para >= 0 {
			c.paragraph(Span{para, end})
			para = -1
		}
	}
	for i := 0; i < len(s); {
		end, next := lineEnd(s, i)
		line := trim(s, Span{i, end})
		text := s[line.Start:line.End]
		switch {
		case text == "":
			closeParagraph(i)
		case headingLevel(text) > 0:
			closeParagraph(i)
			n := headingLevel(text)
			c.heading(n, strings.TrimRight(text[n:], "# \t"), line)
		case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
			closeParagraph(i)
			next = c.fence(i, text[:3])
		case line.Start == i && len(text) < maxHeading && c.underlined(next, len(text)) && !c.underlined(i, 0):
			closeParagraph(i)
			underEnd, underNext := lineEnd(s, next)
			c.heading(c.underLevel(s[next]), text, trim(s, Span{line.Start, underEnd}))
			next = underNext
		case para < 0:
			para = i
		}
		i = next
	}
	closeParagraph(len(s))
}

// underlined tells whether the line at i underlines one of n bytes: one
// punctuation character three times or more, and not much shorter.
func (c *chunker) underlined(i, n int) bool {
	s := c.body
	k := i
	for k < len(s) && s[k] == s[i] {
		k++
	}
	if k-i < max(3, min(n, 8)) || strings.IndexByte("=-~^\"'#*+.:", s[i]) < 0 {
		return false
	}
	end, _ := lineEnd(s, k)
	return strings.TrimSpace(s[k:end]) == ""
}

// underLevel gives the level of a heading underlined with ch: as in
// reStructuredText, the first character used is the outermost.
func (c *chunker) underLevel(ch byte) int {
	if i := strings.IndexByte(string(c.under), ch); i >= 0 {
		return i + 1
	}
	c.under = append(c.under, ch)
	return len(c.under)
}

// heading opens a section; the heading's own line is its first piece.
func (c *chunker) heading(level int, text string, line Span) {
	for len(c.stack) > 0 && c.stack[len(c.stack)-1].level >= level {
		c.stack = c.stack[:len(c.stack)-1]
	}
	text = cleanTitle(text)
	if text != "" && !(len(c.stack) == 0 && len(c.title) > 0 && strings.EqualFold(text, c.title[0])) {
		c.stack = append(c.stack, heading{level, text})
	}
	path := append([]string(nil), c.title...)
	for _, h := range c.stack {
		path = append(path, h.text)
	}
	// The heading's own line stands below the headings above it only.
	above := path
	if text != "" && len(c.stack) > 0 {
		above = path[: len(path)-1 : len(path)-1]
	}
	c.paths = append(c.paths, above)
	before := len(c.pieces)
	c.add(line, borderNone)
	for k := before; k < len(c.pieces); k++ {
		c.pieces[k].heading = true
	}
	c.paths = append(c.paths, path)
}

// fence takes a block of code from the line at i to its closing fence.
func (c *chunker) fence(i int, mark string) (next int) {
	s := c.body
	first := true
	for i < len(s) {
		end, n := lineEnd(s, i)
		sp := trim(s, Span{i, end})
		last := !first && strings.HasPrefix(s[sp.Start:sp.End], mark)
		if sp.Start < sp.End {
			c.add(Span{i, sp.End}, borderSentence) // the indent is part of code
		}
		i, first = n, false
		if last {
			break
		}
	}
	c.endBlock()
	return i
}

// paragraph takes a block of running text, a list or a table.
func (c *chunker) paragraph(sp Span) {
	for st := range Sentences(c.body[sp.Start:sp.End]) {
		c.add(Span{sp.Start + st.Start, sp.Start + st.End}, borderSentence)
	}
	c.endBlock()
}

func (c *chunker) endBlock() {
	if n := len(c.pieces); n > 0 && c.pieces[n-1].after == borderSentence {
		c.pieces[n-1].after = borderParagraph
	}
}

// weigh counts the tokens of a text, at least so many that the bytes of a full
// chunk are bounded.
func (c *chunker) weigh(s string) int {
	return max(c.count(s), (len(s)+maxBytesPerToken-1)/maxBytesPerToken, 1)
}

// add appends a stretch as one piece, or as several when it is too long.
func (c *chunker) add(sp Span, after border) {
	path := len(c.paths) - 1
	for {
		if sp.End-sp.Start <= c.maxBytes {
			text := c.body[sp.Start:sp.End]
			// Most of the body passes here once; only what is cut is counted
			// again, and geometrically less each time.
			if t := c.weigh(text); t <= c.max {
				c.bytesPer = 0.5*c.bytesPer + 0.5*float64(len(text))/float64(t)
				c.pieces = append(c.pieces, piece{Span: sp, tokens: t, path: path, after: after})
				return
			}
		}
		cut := c.cutLong(sp)
		c.pieces = append(c.pieces, piece{
			Span: trimRight(c.body, cut), tokens: c.weigh(c.body[cut.Start:cut.End]), path: path, after: borderNone,
		})
		rest := trim(c.body, Span{cut.End, sp.End})
		if rest.Start >= rest.End {
			c.pieces[len(c.pieces)-1].after = after
			return
		}
		sp = rest
	}
}

func trimRight(s string, sp Span) Span {
	sp.End = sp.Start + len(strings.TrimRightFunc(s[sp.Start:sp.End], unicode.IsSpace))
	return sp
}

// cutLong finds a head of about the target's size of a stretch that is too long.
func (c *chunker) cutLong(sp Span) Span {
	size := min(int(c.bytesPer*float64(c.target)), c.maxBytes, sp.End-sp.Start)
	for {
		size = max(size, 1)
		end := cutBefore(c.body, sp.Start, min(sp.Start+size, sp.End))
		t := c.weigh(c.body[sp.Start:end])
		if t <= c.target || size <= utf8.UTFMax {
			c.bytesPer = max(1, float64(end-sp.Start)/float64(t))
			return Span{sp.Start, end}
		}
		size = min(size/2, size*c.target/t)
	}
}

// cutBefore gives the best place to cut s[from:] at or before end, and beyond
// from: after a comma or the like, else after a space, else between graphemes.
func cutBefore(s string, from, end int) int {
	if end >= len(s) {
		return len(s)
	}
	half := from + (end-from)/2
	space := 0
	for i := runeStart(s, end); i > half; {
		r, n := utf8.DecodeLastRuneInString(s[half:i])
		switch {
		case r == '，' || r == '、' || r == '；' || r == '：':
			return i
		case unicode.IsSpace(r):
			if k := i - n - 1; k > half && strings.IndexByte(",;:)", s[k]) >= 0 {
				return i
			}
			if space == 0 {
				space = i
			}
		}
		i -= n
	}
	if space > 0 {
		return space
	}
	if t := Truncate(s[from:min(len(s), end+maxGrapheme)], end-from); t != "" {
		return from + len(t)
	}
	_, n := utf8.DecodeRuneInString(s[from:])
	return from + n
}

// pack joins pieces to chunks.
func (c *chunker) pack() {
	rest := 0 // tokens that are in no closed chunk
	for _, p := range c.pieces {
		rest += p.tokens
	}
	goal := c.goal(rest)
	first, tokens := 0, 0 // the open chunk is pieces[first:k]
	for k := range c.pieces {
		p := &c.pieces[k]
		if k > first && c.closeBefore(k, tokens, goal) {
			end := k
			for end > first+1 && c.pieces[end-1].heading { // it belongs to what follows
				end--
			}
			carried := 0
			for _, q := range c.pieces[end:k] {
				carried += q.tokens
			}
			if carried+p.tokens > c.max {
				end, carried = k, 0
			}
			c.emit(first, end)
			rest -= tokens - carried
			goal = c.goal(rest)
			first, tokens = end, carried
		}
		tokens += p.tokens
	}
	c.emit(first, len(c.pieces))
	n := len(c.out)
	if n > 1 && c.out[n-1].Tokens < c.target/tinyShare && c.out[n-1].Tokens+c.out[n-2].Tokens <= c.max {
		a, b := &c.out[n-2], c.out[n-1]
		a.End, a.Tokens = b.End, a.Tokens+b.Tokens
		a.Text = c.body[a.Start:a.End]
		c.out = c.out[:n-1]
	}
}

// goal is the size of the next chunk when rest tokens are left.
func (c *chunker) goal(rest int) float64 {
	return float64(rest) / float64(max(1, (rest+c.target-1)/c.target))
}

// closeBefore tells whether the open chunk of the given size ends before piece k.
func (c *chunker) closeBefore(k, tokens int, goal float64) bool {
	p, before := &c.pieces[k], &c.pieces[k-1]
	size := float64(tokens)
	switch {
	case tokens+p.tokens > c.max:
		return true
	case p.heading && !before.heading && tokens*2 >= c.target:
		return true
	case before.after == borderParagraph && size >= paragraphShare*goal && size+float64(p.tokens) > goal:
		return true
	}
	return size+float64(p.tokens)/2 > goal
}

func (c *chunker) emit(from, to int) {
	if from >= to {
		return
	}
	ps := c.pieces[from:to]
	ch := Chunk{Start: ps[0].Start, End: ps[len(ps)-1].End, TitlePath: c.paths[ps[0].path]}
	for _, p := range ps {
		ch.Tokens += p.tokens
	}
	ch.Text = c.body[ch.Start:ch.End]
	c.out = append(c.out, ch)
}
