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

// reliance is whether a statement leaves it to its passage of what it speaks.
type reliance uint8

const (
	standsAlone reliance = iota // it does not
	mayRely
	relies
)

// leaves tells whether a statement leaves it to the topic of what it speaks: "its population was 70", "the village has
// a school", "his brothers Tom and Ira played, too", "with her mother, she won". One that names something in front of
// its verb, without such a pronoun, does not, nor does "it was agreed that …". It may if it names nothing and speaks
// of "the population", which in an encyclopedia is that of the entry's topic.
func (t *topic) leaves(p *profile) reliance {
	words := p.claim.Words
	refers, clause := false, slices.ContainsFunc(words, func(w claim.Word) bool {
		return w.Start > p.firstVerb && w.Form == "that"
	})
	for i := range words {
		w := &words[i]
		if w.Start >= p.firstVerb {
			break
		}
		if !pronouns[w.Form] || w.Form == "it" && clause {
			continue
		}
		if i == 0 || w.Form == "he" || w.Form == "she" || w.Form == "they" {
			return relies // whose, or who
		}
		refers = true
	}
	named := false
	for i := range p.words {
		w := &p.words[i]
		isName := w.word.Name && w.word.Kind == claim.Content
		if isName && w.word.Start <= p.firstVerb {
			return standsAlone
		}
		named = named || isName
		refers = refers || w.word.Start <= p.firstVerb && slices.Contains(t.kind, w.id)
	}
	switch {
	case refers:
		return relies
	case !named && len(words) > 0 && words[0].Form == "the":
		return mayRely
	}
	return standsAlone
}

// elsewhere tells whether two statements are about two things although neither names one:
// each leaves that to its passage, and these are about different ones. Of two names one
// of which has all words of the other they may be one's. In a large partition, where many entries happen to
// say "the population was 70", it is enough that both may rely on their topics.
func elsewhere(a, b *Passage, x, y *profile, near *Near) bool {
	least := relies
	if near.Of > smallPartition {
		least = mayRely
	}
	return min(x.left, y.left) >= least && !covers(a.topic.names, b.topic.names) && !covers(b.topic.names, a.topic.names)
}

// covers tells whether all of some are among all.
func covers(all, some []uint64) bool {
	return !slices.ContainsFunc(some, func(id uint64) bool { return !slices.Contains(all, id) })
}
