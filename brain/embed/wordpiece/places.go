package wordpiece

import (
	"unicode"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/text"
)

// places finds out where in the text the tokens of a scan stand.
type places struct {
	spans []text.Span

	// Where each byte of the current word comes from, and the whole of it, which may be longer.
	of    [maxWordBytes]text.Span
	whole text.Span

	// What the characters of the current run decompose into, but for marks, in their order, and the first that is
	// not folded yet.
	parts []part
	next  int

	last text.Span // of the token before
}

// part is a character of a decomposition and the place of what it was a part of; r is -1 when it is folded.
type part struct {
	r  rune
	at text.Span
}

// source notes a character of a run; size is how much of a word stands before the run. A mark extends the character
// that it stands upon.
func (p *places) source(size int, r rune, at text.Span) {
	if unicode.Is(unicode.Mn, r) {
		switch {
		case len(p.parts) > 0:
			p.parts[len(p.parts)-1].at.End = at.End
		case size > 0:
			p.of[size-1].End, p.whole.End = at.End, at.End
		}
	}
	var room [32]byte
	for _, c := range string(norm.NFD.AppendString(room[:0], string(r))) {
		if !unicode.Is(unicode.Mn, c) {
			p.parts = append(p.parts, part{c, at})
		}
	}
}

// taken is where the next character r of the folded run comes from. Decomposing a run keeps the order of its
// characters, except that marks in a row are sorted, equal ones in their order: the first r is meant, and it is near.
func (p *places) taken(r rune) (at text.Span) {
	for i := p.next; i < len(p.parts); i++ {
		if p.parts[i].r == r {
			at, p.parts[i].r = p.parts[i].at, -1
			break
		}
	}
	for p.next < len(p.parts) && p.parts[p.next].r < 0 {
		p.next++
	}
	if p.next == len(p.parts) {
		p.parts, p.next = p.parts[:0], 0
	}
	return at
}

// char adds a character of n bytes at an offset of the word.
func (p *places) char(offset, n int, at text.Span) {
	if offset == 0 {
		p.whole = at
	}
	p.whole = text.Span{Start: min(p.whole.Start, at.Start), End: max(p.whole.End, at.End)}
	for i := offset; i < min(offset+n, len(p.of)); i++ {
		p.of[i] = at
	}
}

// emit adds the place of the bytes [from, to) of the word.
func (p *places) emit(from, to int) {
	at := p.whole
	if to > 0 {
		at = p.of[from]
		for _, b := range p.of[from:to] {
			at = text.Span{Start: min(at.Start, b.Start), End: max(at.End, b.End)}
		}
	}
	p.last = text.Span{Start: max(at.Start, p.last.Start), End: max(at.End, p.last.End)}
	p.spans = append(p.spans, p.last)
}
