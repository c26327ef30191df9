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
	// TargetTokens is the size at which a chunk is closed at the next good
	// border; 0 means DefaultTargetTokens.
	TargetTokens int
	// MaxTokens is not exceeded, but for what Count of a whole differs from the
	// sum of Count of its parts; 0 means half as much again as TargetTokens.
	// A sentence that is longer is cut.
	MaxTokens int
	// Count gives the number of tokens of a text; nil means a quarter of its
	// characters. It is called about once for every sentence, so the whole
	// costs one pass of it over the body.
	Count func(string) int
}

// DefaultTargetTokens is a paragraph or two: the embedders that we carry were
// trained on passages of up to 256 tokens, and a hit should fit a reader's eye.
const DefaultTargetTokens = 200

// Chunk is one passage of a document.
type Chunk struct {
	// Text is Body[Start:End].
	Text string
	// TitlePath is the document's title (if any) and the headings above all of
	// the chunk, outermost first. Chunks of one section share the slice.
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
	// found by; it is merged with its neighbour.
	tinyShare = 8
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
	path    int // index into chunker.paths
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
// The body is read as Markdown, since plain text is nearly always valid
// Markdown that means the same. A chunk is filled with sentences up to the
// target and closed at the last paragraph border if that leaves it more than
// half full, else at the sentence; a heading closes it too.
func Chunks(doc Document, opts ChunkOptions) []Chunk {
	c := chunker{body: doc.Body, target: opts.TargetTokens, max: opts.MaxTokens, count: opts.Count, bytesPer: 4}
	if c.target <= 0 {
		c.target = DefaultTargetTokens
	}
	if c.max <= 0 {
		c.max = c.target * 3 / 2
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
		case para < 0 && underlined(s, next) > 0 && listMarker(text) == 0:
			level := underlined(s, next)
			underEnd, underNext := lineEnd(s, next)
			c.heading(level, text, trim(s, Span{line.Start, underEnd}))
			next = underNext
		case para < 0:
			para = i
		}
		i = next
	}
	closeParagraph(len(s))
}

// underlined is 1 or 2 when the line at i is made of = or - only, and long
// enough to mean a heading.
func underlined(s string, i int) int {
	n := i
	for n < len(s) && s[n] == s[i] {
		n++
	}
	if n-i < 3 || s[i] != '=' && s[i] != '-' {
		return 0
	}
	if end, _ := lineEnd(s, n); strings.TrimSpace(s[n:end]) != "" {
		return 0
	}
	if s[i] == '=' {
		return 1
	}
	return 2
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
	c.paths = append(c.paths, path)
	before := len(c.pieces)
	c.add(line, borderNone)
	for k := before; k < len(c.pieces); k++ {
		c.pieces[k].heading = true
	}
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
		c.pieces = append(c.pieces, piece{Span: trimRight(c.body, cut), tokens: c.weigh(c.body[cut.Start:cut.End]), path: path, after: borderNone})
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
	tiny := c.target / tinyShare
	first, tokens := 0, 0 // the open chunk is pieces[first:k]
	good, goodTokens := -1, 0
	closeAt := func(end int) {
		c.emit(first, end)
		first, tokens, good = end, 0, -1
	}
	for k := range c.pieces {
		p := &c.pieces[k]
		if k > first && p.heading && !c.pieces[k-1].heading && tokens >= tiny {
			closeAt(k)
		}
		if k > first && tokens+p.tokens > c.target && (tokens >= c.target/2 || tokens+p.tokens > c.max) {
			end := k
			if good > first && goodTokens*2 >= c.target {
				end = good
			}
			for end > first+1 && c.pieces[end-1].heading { // a heading belongs to what follows
				end--
			}
			carried := 0
			for _, q := range c.pieces[end:k] {
				carried += q.tokens
			}
			closeAt(end)
			tokens = carried
			if tokens+p.tokens > c.max { // what was carried and p do not go together
				closeAt(k)
			}
		}
		tokens += p.tokens
		if p.after == borderParagraph {
			good, goodTokens = k+1, tokens
		}
	}
	if first < len(c.pieces) {
		c.emit(first, len(c.pieces))
	}
	if n := len(c.out); n > 1 && c.out[n-1].Tokens < tiny && c.out[n-1].Tokens+c.out[n-2].Tokens <= c.max {
		a, b := &c.out[n-2], c.out[n-1]
		a.TitlePath = commonPath(a.TitlePath, b.TitlePath)
		a.End, a.Tokens = b.End, a.Tokens+b.Tokens
		a.Text = c.body[a.Start:a.End]
		c.out = c.out[:n-1]
	}
}

func (c *chunker) emit(from, to int) {
	if from >= to {
		return
	}
	ps := c.pieces[from:to]
	ch := Chunk{Start: ps[0].Start, End: ps[len(ps)-1].End, TitlePath: c.paths[ps[0].path]}
	last := ps[0].path
	for _, p := range ps {
		ch.Tokens += p.tokens
		if p.path != last {
			ch.TitlePath = commonPath(ch.TitlePath, c.paths[p.path])
			last = p.path
		}
	}
	ch.Text = c.body[ch.Start:ch.End]
	c.out = append(c.out, ch)
}

// commonPath gives the headings that stand above both.
func commonPath(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n:n]
}
