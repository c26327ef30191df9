package extract

import (
	"slices"

	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

// plainly is a document in plain letters, where its own are disguised, with what the reader made of it in the places
// that it has there.
func plainly(d Document) (Document, undress.Text) {
	u := undress.Of(d.Text)
	if !u.Disguised() {
		return d, u
	}
	d.Text = u.Plain
	if d.Tagged != nil {
		t := *d.Tagged
		t.Until, t.Spans, t.Words = u.At(t.Until), slices.Clone(t.Spans), slices.Clone(t.Words)
		t.Sentences = slices.Clone(t.Sentences)
		for i := range t.Sentences {
			s := &t.Sentences[i].Span
			*s = text.Span{Start: u.At(s.Start), End: u.At(s.End)}
		}
		for i := range t.Spans {
			s := &t.Spans[i].Span
			*s = text.Span{Start: u.At(s.Start), End: u.At(s.End)}
		}
		for i := range t.Words {
			w := &t.Words[i]
			w.Start, w.End = int32(u.At(int(w.Start))), int32(u.At(int(w.End)))
		}
		d.Tagged = &t
	}
	d.Speakers = slices.Clone(d.Speakers)
	for i, s := range d.Speakers {
		of := undress.Of(s)
		d.Speakers[i] = of.Plain
	}
	return d, u
}

// asWritten gives what was found in the plain letters of a text the places that it has in the text. Names stay plain,
// so that one that is disguised is the same as one that is not; an address stays what it is.
func (x *Extraction) asWritten(u *undress.Text) {
	if !u.Disguised() {
		return
	}
	for i := range x.Mentions {
		m := &x.Mentions[i]
		plain := m.Span
		if m.Span = u.Span(plain); m.Type == URL && m.Name == u.Plain[plain.Start:plain.End] {
			m.Name = u.Written[m.Span.Start:m.Span.End]
		}
	}
	for i := range x.Relations {
		x.Relations[i].Evidence = u.Span(x.Relations[i].Evidence)
	}
	for i := range x.Dates {
		x.Dates[i].Span = u.Span(x.Dates[i].Span)
	}
	for i := range x.Statements {
		s := &x.Statements[i]
		s.Span, s.Object = u.Span(s.Span), u.Span(s.Object)
	}
	for i := range x.Turns {
		t := &x.Turns[i]
		t.Name, t.Span = u.Span(t.Name), u.Span(t.Span)
	}
}
