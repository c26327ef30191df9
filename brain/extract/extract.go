package extract

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/locale"
	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typing"
	"orgmem/brain/text"
	"orgmem/proto/canon"
)

// Extract reads a document. See the package comment for what it promises.
func Extract(d Document) Extraction {
	found, _ := While(d, func() error { return nil }) // which never ends it
	return found
}

// While is Extract, and asks goOn from time to time whether to go on: a document
// may take a second. An error of goOn ends it and is returned; nothing else is.
func While(d Document, goOn func() error) (Extraction, error) {
	r, ok := readers.Get().(*reader)
	if !ok {
		return Extraction{}, nil // the pool makes nothing else
	}
	defer readers.Put(r)
	return r.read(d, goOn)
}

// readers keep the memory of a decoder, which is not seen from outside.
var readers = sync.Pool{New: func() any { return newReader() }}

func newReader() *reader {
	m, err := tagger.Load()
	if err != nil {
		panic(err) //nolint:forbidigo // it is embedded in the binary, and a test opens it
	}
	return &reader{recognizer: recognizer{block: block{model: m}, decoder: tagger.NewDecoder(m)}}
}

// reader reads one document at a time.
type reader struct {
	recognizer
	tagged  tags
	atMs    int64
	langs   locale.Languages // that the document may be in
	code    string           // of the one language other than English that it is in
	speaker string
	people  map[string]bool // the names of known speakers
	marked  []Mention       // found by their shape, in order; without a type where nothing is named
	next    int             // the first of marked that is not yet among the mentions
	unnamed int             // the end of the last stretch that names nothing
	out     Extraction

	evidence []evidence // of each mention
	clues    []typing.Clue
}

// maxBlock is the longest stretch that is tagged at once, in tokens: longer ones
// give a name no more context.
const maxBlock = 128

// guessBytes of a document tell what language it is in.
const guessBytes = 4 << 10

// stepBytes of a document are read between two questions whether to go on: some
// milliseconds.
const stepBytes = 64 << 10

func (r *reader) read(d Document, goOn func() error) (Extraction, error) {
	defer r.clean()
	d.Text = canon.Prefix(d.Text, MaxText)
	d, written := plainly(d)
	r.text, r.atMs, r.speaker, r.tagged = d.Text, d.AtMs, d.Speaker, tags{d.Tagged}
	r.langs = locale.Of(r.text[:min(len(r.text), guessBytes)])
	r.code = locale.Sure(r.text[:min(len(r.text), guessBytes)])
	r.out, r.next, r.unnamed = Extraction{}, 0, 0
	r.shapes()
	r.turns(d.Speakers)
	addressed(r)
	slices.SortStableFunc(r.marked, func(a, b Mention) int {
		return cmp.Or(a.Span.Start-b.Span.Start, min(len(a.Type), 1)-min(len(b.Type), 1))
	})
	r.tokens = r.tokens[:0]
	asked := 0
	for sp := range text.Sentences(r.text) {
		if sp.Start-asked >= stepBytes {
			asked = sp.Start
			if err := goOn(); err != nil {
				return Extraction{}, err
			}
		}
		before := len(r.tokens)
		r.tokens = tagger.Tokens(r.tokens, r.text, sp)
		for len(r.tokens) > maxBlock {
			// Between sentences, if one ends inside of the block.
			at := before
			if at == 0 || at > maxBlock {
				at = maxBlock
			}
			rest := r.tokens[at:]
			r.tokens = r.tokens[:at]
			r.readBlock()
			r.tokens = r.tokens[:copy(r.tokens[:cap(r.tokens)], rest)]
			before = 0
		}
	}
	r.readBlock()
	r.shaped(len(r.text))
	r.agree()
	dropUnfit(r)
	r.out.asWritten(&written)
	return r.out, nil
}

// clean leaves nothing of the document behind.
func (r *reader) clean() {
	r.text, r.speaker, r.people, r.tagged, r.out = "", "", nil, tags{}, Extraction{}
	clear(r.marked[:cap(r.marked)])
	clear(r.lows[:cap(r.lows)])
	r.marked, r.lows, r.tokens, r.evidence = r.marked[:0], r.lows[:0], r.tokens[:0], r.evidence[:0]
}

// readBlock reads the block.
func (r *reader) readBlock() {
	if len(r.tokens) == 0 {
		return
	}
	r.lower()
	mend(r)
	first := len(r.out.Mentions)
	r.names()
	for from := 0; from < len(r.tokens); {
		to := from + 1
		for to < len(r.tokens) && !r.tokens[to].First {
			to++
		}
		for first < len(r.out.Mentions) && r.out.Mentions[first].Span.Start < r.tokens[from].Start {
			first++
		}
		end := first
		for end < len(r.out.Mentions) && r.out.Mentions[end].Span.End <= r.tokens[to-1].End {
			end++
		}
		r.relate(first, end, from, to)
		r.statements(from, to, r.out.Mentions[first:end])
		dated := len(r.out.Dates)
		r.dates(from, to)
		r.clocks(from, to, dated)
		first, from = end, to
	}
}

// names adds the mentions of a block.
func (r *reader) names() {
	tags := r.recognize()
	proposerOf(r).propose()
	r.cutNames()
	t := r.typed()
	end := 0
	for _, f := range r.found {
		if !f.proposed {
			r.event(&f, tags)
		}
		feast := r.feast(&f) && !r.guest(f)
		if f.from < end || !feast && (!r.trim(&f) || !f.proposed && (r.statement(f) || !r.subject(&f)) || r.heading(f)) {
			continue
		}
		sp := Span{Start: r.tokens[f.from].Start, End: r.tokens[f.to-1].End}
		last := r.word(f.to - 1)
		sp.End -= len(last) - min(shape.Full(last), shape.Described(last))
		r.shaped(sp.Start)
		if n := len(r.out.Mentions); n > 0 && r.out.Mentions[n-1].Span.End > sp.Start ||
			r.next < len(r.marked) && r.marked[r.next].Span.Start < sp.End || sp.Start < r.unnamed {
			continue // what is known by its shape is no name
		}
		end = f.to
		name := r.text[sp.Start:sp.End]
		if strings.ContainsAny(name, "\t\n\r") || strings.Contains(name, "  ") {
			name = strings.Join(strings.Fields(name), " ")
		}
		if len(name) <= MaxName && len(r.out.Mentions) < MaxMentions && !r.langs.NamesTime(name) {
			kind, e := Event, evidence{}
			if !feast {
				if e = r.evidenceOf(f); e.some {
					if kind = heaviest(e.sum()); doubt.None(&t, f.from, f.to, likely(e.sum())) {
						continue
					}
				} else {
					kind = r.kind(f)
				}
			}
			if r.code != "" && nameless(r, f.from, f.to, kind) {
				continue
			}
			r.mention(Mention{Span: sp, Name: name, Type: kind, Confidence: f.confidence()}, e)
		}
	}
	r.shaped(r.tokens[len(r.tokens)-1].End)
}

// shaped adds the mentions by shape that begin before an offset.
func (r *reader) shaped(before int) {
	for ; r.next < len(r.marked) && r.marked[r.next].Span.Start < before; r.next++ {
		m := r.marked[r.next]
		if m.Type == "" {
			r.unnamed = m.Span.End
			continue
		}
		if n := len(r.out.Mentions); n > 0 && r.out.Mentions[n-1].Span.End > m.Span.Start || n >= MaxMentions ||
			r.unnamed > m.Span.Start {
			continue // a name reaches into it, or another shape
		}
		r.mention(m, evidence{})
	}
}

// mention adds one, with what speaks for its types.
func (r *reader) mention(m Mention, e evidence) {
	r.out.Mentions, r.evidence = append(r.out.Mentions, m), append(r.evidence, e)
}
