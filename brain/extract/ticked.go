package extract

import (
	"strings"

	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
)

// What stands in backquotes is written as code, and code is full of words that name nothing: options, values, snippets,
// the labels of a proposal. It is a name where it looks like an identifier, or where the text speaks of it as a thing.

const (
	// leastTicked is how many letters a plain word in backquotes has at least that is no word of the dictionary.
	leastTicked = 4
	// leastCapitals is the same in capitals: a variable of the system, and not NULL.
	leastCapitals = 5
	// maxBeside is how far the words beside backquotes are looked for, in bytes.
	maxBeside = 40
)

// ticked keeps what stands in backquotes at a span as a name, or says that nothing in it is one.
func (r *reader) ticked(sp Span) {
	s := r.text[sp.Start:sp.End]
	if name, ok := strings.CutSuffix(s, "()"); ok && shape.Symbol(name) {
		r.mark(Span{Start: sp.Start, End: sp.End - 2}, name, Code, 0.9)
		return
	}
	switch {
	case shape.Ticket(s):
		r.mark(sp, s, Identifier, 0.9)
	case shape.HexName(s) || shape.Version(s):
		r.mark(sp, s, Identifier, 0.8)
	case shape.Identifier(s), shape.Word(s) && r.spokenOf(s, sp):
		r.mark(sp, s, Code, 0.9)
	case !shape.Prose(s) && len(r.marked) < MaxMentions:
		r.marked = append(r.marked, Mention{Span: sp}) // nothing in it is a name
	}
}

// spokenOf tells whether the text speaks of a plain word in backquotes as of a thing: by a noun beside it, by a verb
// before it, or since it is no word of the dictionary.
func (b *block) spokenOf(s string, sp Span) bool {
	before := shape.Words(b.text[max(0, sp.Start-maxBeside):sp.Start])
	behind := shape.UntilMark(shape.Words(b.text[sp.End:min(len(b.text), sp.End+maxBeside)]))
	if k := len(before) - 1; k > 1 && (before[k] == "or" || before[k] == "and") && shape.Wields(before[k-2]) {
		before = before[:k-1] // call `this` or `that`
	}
	if k := len(before) - 1; k >= 0 && (shape.Ware(before[k]) || shape.Wields(before[k])) {
		return !shape.Part(behind)
	}
	if len(behind) > 0 && shape.Ware(behind[0]) {
		return !shape.Part(behind[1:])
	}
	least := leastTicked
	if strings.ToUpper(s) == s {
		least = leastCapitals
	}
	e, _ := b.model.Find(strings.ToLower(s))
	return e.Class&tagger.Common == 0 && e.Class.Part() == 0 && len(s) >= least && !shape.Part(behind)
}
