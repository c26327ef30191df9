package extract

import (
	"math"
	"slices"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/typing"
	reading "orgmem/brain/reader"
)

// What a name is, three witnesses tell whose words are multiplied: the reader, who knows the sentence, but nothing of
// spelling and lists; what is seen of the name itself; and what stands beside it. DESIGN.md says what that is worth.
const (
	// readerWeight is what the reader's logarithms count beside those of the clues: it is surer than it should be.
	readerWeight = 0.6
	// leastReader is added to what the reader gives each type: it rules none out.
	leastReader = 0.00001
	// partOfPerson is what it speaks for a person that the name is the first or last word of a person's in the document.
	partOfPerson = 2.0
	// inhuman is what it speaks against a person that nobody is written so.
	inhuman = 4.0
)

// evidence is what speaks for each type of a name at one place, in the order of named; none where the reader did not
// read.
type evidence struct {
	some        bool
	name, place [typing.Types]float64 // the name itself; the reader and what stands beside it
}

// named are the types in the order of the reader's.
var named = [typing.Types]Type{Person, Organization, Product, Place, Project, Event}

// evidenceOf is what speaks for the types of a name.
func (r *reader) evidenceOf(f span) (e evidence) {
	start, end := r.tokens[f.from].Start, r.tokens[f.to-1].End
	if r.tagged.Tagged == nil || end > r.tagged.Until {
		return e
	}
	e.some = true
	t := r.typed()
	clues, own := t.Clues(r.clues[:0], f.from, f.to)
	r.clues = clues
	typing.Add(&e.name, clues[:own])
	typing.Add(&e.place, clues[own:])
	for k, p := range r.tagged.types(start, end) {
		e.place[k] += readerWeight * math.Log(p)
	}
	if doubt.Inhuman(&t, f.from, f.to) {
		e.name[0] -= inhuman
	}
	return e
}

// typed is the block as other packages read it.
func (b *block) typed() typing.Text {
	return typing.Text{Model: b.model, Text: b.text, Tokens: b.tokens, Lows: b.lows}
}

// types is how likely a stretch of the text is of each type of names, given that it is a name.
func (t tags) types(start, end int) (p [reading.Names]float64) {
	sum := 0.0
	for _, w := range t.words(start, end) {
		for k, v := range w.Of {
			p[k] += float64(v)
			sum += float64(v)
		}
	}
	for k := range p {
		p[k] = (p[k] + leastReader) / (sum + leastReader*float64(len(p)))
	}
	return p
}

// somebody tells whether a stretch of the text may name a person; true where the reader did not read it.
func (t tags) somebody(start, end int) bool {
	if t.Tagged == nil || end > t.Until {
		return true
	}
	if name, _ := t.likeliest(start, end); name < leastName {
		return false
	}
	p := t.types(start, end)
	return slices.Max(p[:]) == p[reading.Person]
}

// personal is how likely the label of a line names a person.
func (t tags) personal(start, end int) float64 {
	if t.Tagged == nil || end > t.Until {
		return byLabel
	}
	p := t.types(start, end)
	return p[reading.Person]
}

// heaviest is the type for which most speaks.
func heaviest(sum [typing.Types]float64) Type { return named[slices.Index(sum[:], slices.Max(sum[:]))] }

// likely is how likely the heaviest type is.
func likely(sum [typing.Types]float64) float64 {
	most, all := slices.Max(sum[:]), 0.0
	for _, x := range sum {
		all += math.Exp(x - most)
	}
	return 1 / all
}

func (e *evidence) sum() (all [typing.Types]float64) {
	for k := range all {
		all[k] = e.name[k] + e.place[k]
	}
	return all
}
