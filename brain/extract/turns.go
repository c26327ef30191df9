package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/turn"
)

// turns finds who speaks where, and names the speakers.
func (r *reader) turns(speakers []string) {
	known, sure := turn.Known(speakers, MaxName), 0.9
	if known != nil {
		sure, r.people = 0.95, map[string]bool{}
	}
	for _, name := range known {
		r.people[name] = !turn.Anonymous(name)
	}
	r.out.Turns = turn.Find(r.text, known, MaxTurns, r.humanName)
	for _, t := range r.out.Turns {
		if turn.Anonymous(t.Speaker) {
			r.mark(t.Name, t.Speaker, "", 0)
			continue
		}
		if known == nil && !r.tagged.somebody(t.Name.Start, t.Name.End) {
			continue // what heads a line is nobody, the reader says
		}
		r.keep(Mention{
			Span: t.Name, Name: t.Speaker, Type: Person, Confidence: sure,
			Certainty: r.tagged.personal(t.Name.Start, t.Name.End),
		})
	}
}

// humanName tells whether a speaker's name is known as one.
func (r *reader) humanName(name string) bool {
	for w := range strings.FieldsSeq(name) {
		if e, _ := r.model.Find(w); e.Class&(tagger.FirstName|tagger.LastName) != 0 && e.Class.Part() != tagger.Function {
			return true
		}
	}
	return false
}

// turnAt is the index of the last turn whose line begins at or before an offset, or -1.
func (r *reader) turnAt(at int) int {
	i, found := slices.BinarySearchFunc(r.out.Turns, at, func(t Turn, at int) int { return t.Name.Start - at })
	if !found {
		i--
	}
	return i
}

// speakerAt is who says what stands at an offset.
func (r *reader) speakerAt(at int) string {
	if i := r.turnAt(at); i >= 0 && at < r.out.Turns[i].Span.End {
		return r.out.Turns[i].Speaker
	}
	return r.speaker
}
