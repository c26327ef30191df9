package conflict

import (
	"math"
	"slices"

	"orgmem/brain/claim"
)

// topicClaims is how many statements may be the one that says what a passage is about: a
// heading may stand in front of it.
const topicClaims = 2

// topic is what a passage says that it is about, as an entry of an encyclopedia, a
// glossary or a catalogue does: "Gohar is a village in …". The zero value: it does not.
type topic struct {
	names []uint64 // ids of the words in front of "is a"
	kind  []uint64 // and of those behind, up to the first that only joins: "village"
}

// define takes the topic from a statement, if it defines anything.
func (t *topic) define(p *profile) {
	words := p.claim.Words
	is := slices.IndexFunc(words, func(w claim.Word) bool { return w.Start == p.firstVerb })
	if is < 0 || is == len(words)-1 || !copulas[words[is].Form] || !articles[words[is+1].Form] {
		return
	}
	end := int32(math.MaxInt32)
	if k := slices.IndexFunc(words[is+2:], func(w claim.Word) bool { return w.Kind == claim.Function }); k >= 0 {
		end = words[is+2+k].Start
	}
	var names, kind []uint64
	for i := range p.words {
		switch w := &p.words[i]; {
		case w.word.Start < p.firstVerb && !w.weak:
			names = append(names, w.id)
		case w.word.Start > p.firstVerb && w.word.Start < end:
			kind = append(kind, w.id)
		}
	}
	if len(names) > 0 { // "there is a", "it is a"
		t.names, t.kind = names, kind
	}
}

// leaves tells whether a statement leaves it to the topic of what it speaks: "its
// population was 70", "the village has a school". One that names something does not, nor
// does "it was agreed that …".
func (t *topic) leaves(p *profile) bool {
	refers, clause := false, slices.ContainsFunc(p.claim.Words, func(w claim.Word) bool {
		return w.Start > p.firstVerb && w.Form == "that"
	})
	for i := range p.claim.Words {
		if w := &p.claim.Words[i]; w.Start < p.firstVerb && pronouns[w.Form] && (w.Form != "it" || !clause) {
			refers = true
		}
	}
	for i := range p.words {
		w := &p.words[i]
		if w.word.Start > p.firstVerb {
			break
		}
		if w.word.Name && w.word.Kind == claim.Content {
			return false
		}
		refers = refers || slices.Contains(t.kind, w.id)
	}
	return refers
}

// elsewhere tells whether two statements are about two things although neither names one:
// each leaves that to its passage, and these are about different ones. Of two names one
// of which has all words of the other they may be one's.
func elsewhere(a, b *Passage, x, y *profile) bool {
	return x.left && y.left && !covers(a.topic.names, b.topic.names) && !covers(b.topic.names, a.topic.names)
}

// covers tells whether all of some are among all.
func covers(all, some []uint64) bool {
	return !slices.ContainsFunc(some, func(id uint64) bool { return !slices.Contains(all, id) })
}
