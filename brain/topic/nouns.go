package topic

import (
	"strings"
	"sync"

	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// A topic is called by nouns: not by what somebody did ("talked"), how it was ("amazing"), or what they exclaim
// ("Woohoo"). What a word is the lexicon of the tagger says of English, and where it may be several things, how the
// group's texts use it.

var lexicon = sync.OnceValue(func() *tagger.Model {
	m, err := tagger.Load()
	if err != nil {
		panic(err) //nolint:forbidigo // it is embedded in the binary, and a test opens it
	}
	return m
})

// use is how a group's texts use a word.
type use struct {
	times   int
	capital int // with a capital that is not the sentence's, or as code
	noun    int // behind an article or a preposition, and before no word that it would belong to
	before  int // before a word that it may belong to
	joined  int // behind an article, and before such a word: "the hiking trail"
	acted   int // as a verb, or of how something is: "I test", "testing the pump", "it is open"
	first   int // at the begin of a sentence, where a verb may be an order
	exclaim int // alone at the begin of a sentence: "Congrats, Ben"
}

// Behind some words somebody acts, and something is in a state: pronouns and helping verbs.
var (
	beings = text.Set(`am is are was were be been being`)
	actors = text.Set(`i we you they he she who to can could will would shall should may might must do does did let
		please`)
	// single stand before one of a kind.
	single = text.Set(`that this it each every a an another`)
)

// acts tells whether the word behind it is a verb, or tells how something is.
func (t *token) acts() bool {
	if beings[t.key] || actors[t.key] {
		return true
	}
	for _, short := range [...]string{"'m", "'re", "'ll", "n't", "’m", "’re", "’ll", "n’t"} {
		if strings.HasSuffix(t.surface, short) {
			return true
		}
	}
	return false
}

// maxDescribed is how many adjectives are looked over for the article before them.
const maxDescribed = 2

// describes tells whether a word is an adjective, or a participle.
func (t *token) describes() bool {
	if t.stop || t.key == "" {
		return false
	}
	e, _ := lexicon().Find(t.key)
	return e.Class.Part() == tagger.Adjective || e.Class.Part() == tagger.Past
}

// seen counts the use of the words of a passage.
func seen(uses map[string]*use, toks []token) {
	at := func(i int) *token {
		if i < 0 || i >= len(toks) {
			return &token{stop: true}
		}
		return &toks[i]
	}
	for i := range toks {
		if toks[i].stop || toks[i].key == "" {
			continue
		}
		u := uses[toks[i].key]
		if u == nil {
			u = &use{}
			uses[toks[i].key] = u
		}
		behind, k := at(i+1), i-1
		for described := i - maxDescribed; k >= described && at(k).describes(); {
			k--
		}
		before := at(k)
		u.times++
		if toks[i].code || !toks[i].starts && toks[i].capital() {
			u.capital++
		}
		if toks[i].starts && (behind.surface == "!" || behind.surface == ",") {
			u.exclaim++
		}
		determined := clause.Determines(before.key)
		if plural := toks[i].key != strings.ToLower(toks[i].surface); determined &&
			(single[before.key] && plural || before.key == "that" && verb(toks[i].key)) {
			determined = false // "that requires", "flags that improve"
			u.acted++
		}
		switch belongs := !behind.stop && behind.key != ""; {
		case belongs && determined:
			u.before, u.joined = u.before+1, u.joined+1
		case belongs:
			u.before++
		case determined || clause.Relates(before.key) && before.key != "to":
			u.noun++
		}
		if clause.Determines(behind.key) || at(i-1).acts() {
			u.acted++
		}
		if toks[i].starts {
			u.first++
		}
	}
}

// mostlyNoun tells whether an adjective is a noun in these texts, such as "the final".
func (u *use) mostlyNoun() bool { return u.noun >= 3 && 3*u.noun > 2*u.times }

// adjectival are endings of adjectives and adverbs that the lexicon knows only as English words.
var adjectival = [...]string{"ly", "able", "ible", "ful", "ous", "less"}

// partOf is what the lexicon knows a word to be. Of one that it knows only as English its ending tells.
func partOf(key, surface string) tagger.Class {
	e, known := lexicon().Find(surface)
	if !known {
		e, known = lexicon().Find(key)
	}
	if at := strings.LastIndexByte(key, '-'); !known && at > 0 { // dairy-free
		e, _ = lexicon().Find(key[at+1:])
	}
	switch p := e.Class.Part(); {
	case p == tagger.Plural && key != surface && verb(key):
		return tagger.Verb // "requires" has the ending of a plural
	case p != 0 || e.Class&tagger.Common == 0:
		return p
	}
	for _, end := range adjectival {
		if strings.HasSuffix(key, end) {
			return tagger.Adjective
		}
	}
	for end, part := range map[string]tagger.Class{"ed": tagger.Past, "ing": tagger.Gerund} {
		if root, ok := strings.CutSuffix(key, end); ok && (word(root) || word(root+"e") || doubled(root)) {
			return part
		}
	}
	return 0
}

// word tells whether the lexicon knows a word, that what ends like a form of a verb may be one of.
func word(root string) bool {
	e, known := lexicon().Find(root)
	return known && e.Class&tagger.Common != 0 && len(root) > 2
}

// doubled tells whether a word is one whose last letter is doubled: "chopp" of "chop".
func doubled(root string) bool {
	n := len(root)
	return n > 3 && root[n-1] == root[n-2] && word(root[:n-1])
}

func verb(word string) bool {
	e, _ := lexicon().Find(word)
	return e.Class.Part() == tagger.Verb
}

// nominal tells whether a word of an English text names something.
func nominal(key, surface string, u *use) bool {
	if u == nil || 2*u.capital > u.times {
		return true
	}
	part := partOf(key, surface)
	known := part == tagger.Noun || part == tagger.Plural
	switch {
	case 2*u.exclaim >= u.times && !known:
		return false
	case part == tagger.Adjective, part == tagger.Past, part == tagger.Numeral:
		return u.mostlyNoun()
	case part == tagger.Verb:
		return u.noun+u.joined >= max(1, u.acted+u.first)
	case part == tagger.Gerund:
		return u.noun+u.joined > 0 && 2*u.acted < u.times
	case part == tagger.Adverb, part == tagger.Expression, part == tagger.Function:
		return false
	case part == 0 && ordinary(key, surface): // the lexicon says of few adjectives that they are
		if endsLikeAdjective(key) {
			return 2*u.noun >= u.times
		}
		return u.noun > 0 || 2*u.acted < u.times
	}
	return true
}

// nameless tells whether the lexicon knows a word of English that is the name of nothing.
func nameless(word string) bool {
	const names = tagger.FirstName | tagger.LastName | tagger.PlaceName | tagger.OrgName | tagger.BrandName | tagger.Proper
	e, known := lexicon().Find(word)
	return known && e.Class&tagger.Common != 0 && e.Class&names == 0
}

// ordinary tells whether the lexicon knows a word as one of English, and no more of it.
func ordinary(key, surface string) bool {
	e, known := lexicon().Find(surface)
	if !known {
		e, known = lexicon().Find(key)
	}
	return known && e.Class&tagger.Common != 0
}

// mixed are endings of adjectives, and of some nouns, such as "animal" and "music".
var mixed = [...]string{"al", "ive", "ic"}

func endsLikeAdjective(key string) bool {
	for _, end := range mixed {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// attributive tells whether a word of an English text may stand before a noun: another one, or an adjective.
func attributive(key, surface string, u *use) bool {
	part := partOf(key, surface)
	return part == tagger.Adjective || part == tagger.Past || strings.Contains(key, "-") || nominal(key, surface, u)
}

// kin tells whether a word is made of one that is said already, or the other way round: log, logging, logger.
func kin(word string, said map[string]bool) bool {
	for other := range said {
		if made(word, other) || made(other, word) {
			return true
		}
	}
	return false
}

// made tells whether a word is another one with an ending: "gaming" of "game", "logger" of "log".
func made(word, of string) bool {
	if len(of) < 3 {
		return false
	}
	for _, end := range [...]string{"ing", "er", "ed"} {
		if root, ok := strings.CutSuffix(word, end); ok &&
			(root == of || root+"e" == of || root == of+of[len(of)-1:]) {
			return true
		}
	}
	return false
}
