package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// A verb between two names says how they are related only in some constructions. What is compared, advised or left to
// be, and what is said of something that a name only describes, relates nothing.

var (
	// denied are words between two names that take back, compare or leave open what else stands there.
	denied = text.Set(`not n't n’t never no ; if whether than without unlike rather should could would might why`)
	// advised are words before a sentence's verb with which it says what might be.
	advised = text.Set(`consider considering could can should would might may must try guess think suppose suggest suggests
		recommend recommends maybe perhaps why whether if prefer want wants let let's please what how better to not never n't
		n’t no without instead rather`)
	// swaps are the verbs that say that one thing came in the place of another: "we use Kestrel instead of Merlin".
	swaps = text.Set(`use uses used adopted adopts chose choose picked took take takes bought installed deployed run runs
		running using has have got`)
	// dropped are verbs whose subject gives way: "Merlin was dropped in favor of Kestrel".
	dropped = text.Set(`dropped abandoned deprecated retired discontinued scrapped removed shelved sunset phased given`)
	// tickets are the types of what is opened, reported or fixed by somebody.
	tickets = []Type{Identifier, URL}
	// ticketed are the verbs that mean a ticket only: an office that somebody opened was not made by them.
	ticketed = text.Set(`opened reported fixed`)
	// naming are the verbs of which only the passive names its subject: "Jane called Tom" does not.
	naming = text.Set(`called nicknamed renamed`)
	beingA = text.Set(`is was are were be been being also now often formerly sometimes and , ( —`)
)

const (
	// maxVerbBefore is how many tokens before the first name the verb of what came instead may stand, and maxClauseBefore
	// how many are looked at for what makes it advice.
	maxVerbBefore   = 4
	maxClauseBefore = 12
)

// constructed tells whether a phrase of so many words at token i, which stands between two mentions in the
// tokens [at, stop), says there what it means.
func (b *block) constructed(p phrase, x, y Mention, at, i, size, stop int) bool {
	first := b.lows[i]
	if size > 1 && (beings[first] || first == "being") {
		first = b.lows[i+1]
	}
	switch {
	case p.words == "instead of":
		return b.swapped(x, at)
	case p.words == "in favor of" || p.words == "in favour of":
		return slices.ContainsFunc(b.lows[at:i], func(w string) bool { return dropped[w] })
	case slices.Contains(b.lows[at:stop], "instead"):
		return false
	case (first == "used" || first == "use") && i+size < stop && b.lows[i+size] == "to": // it used to be slow
		return false
	case ticketed[first]:
		thing := x
		if p.reverse {
			thing = y
		}
		return slices.Contains(tickets, thing.Type)
	case naming[first] && size == 1:
		return i > at && beingA[b.lows[i-1]]
	}
	return i == at || !b.describes(at, i)
}

var beings = text.Set("is was are were be been")

// describes tells whether the word at token i, behind a name, is a noun that the name only describes, "the Kestrel
// settings are maintained by Ann", or one of the name's, "Ann's sister works for Acme", before a phrase at token until.
func (b *block) describes(i, until int) bool {
	if b.lows[i] == "'s" || b.lows[i] == "’s" {
		return until > i+1 // "Heron's owner is Ann" says it of Heron
	}
	if b.lows[i] == "`" {
		i++
	}
	if i >= until || b.tokens[i].Kind != tagger.Word || b.lows[i] != b.word(i) {
		return false
	}
	e, _ := b.model.Find(b.lows[i])
	return e.Class.Part() == tagger.Noun || e.Class.Part() == tagger.Plural
}

// swapped tells whether the sentence says that the first of two things came in the place of the other: it has somebody
// who does so, and a verb right before that thing, and does not only advise it.
func (b *block) swapped(x Mention, at int) bool {
	begin := at
	for begin > 0 && !b.tokens[begin].First {
		begin--
	}
	name := at
	for name > begin && b.tokens[name-1].End > x.Span.Start {
		name--
	}
	verb := -1
	for k := name - 1; k >= max(begin, name-maxVerbBefore); k-- {
		if swaps[b.lows[k]] {
			verb = k
			break
		}
	}
	if verb <= begin { // "Use Kestrel instead of Merlin" tells somebody to
		return false
	}
	for k := verb - 1; k >= max(begin, verb-maxClauseBefore); k-- {
		if advised[b.lows[k]] {
			return false
		}
	}
	if b.lows[verb] == "using" || b.lows[verb] == "running" {
		return beings[b.lows[verb-1]] || strings.HasPrefix(b.lows[verb-1], "'")
	}
	return true
}

// dropUnfit leaves out the relations between what cannot be related so, once all places of a name have agreed on what
// it is.
func dropUnfit(r *reader) {
	r.out.Relations = slices.DeleteFunc(r.out.Relations, func(x Relation) bool {
		from, _ := fits(r.out.Mentions[x.From].Type, ends[x.Type][0])
		to, _ := fits(r.out.Mentions[x.To].Type, ends[x.Type][1])
		return !from || !to
	})
}
