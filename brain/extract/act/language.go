package act

import (
	"strings"
	"sync"

	"orgmem/brain/text"
)

// table are the words and patterns of one language, in lists. Large because a language has so many sorts of words.
type table struct {
	lang text.Lang
	// promises, duties, likes, dislikes, beliefs and instead are patterns, one a line; firstPerson are verbs by which a
	// speaker is known who is not named.
	promises, duties, likes, dislikes, beliefs, instead, firstPerson string
	// not are words of denial. hedges leave open whether something will be, reports are of what others said.
	not, hedges, reports string
	// asking words begin questions, pronouns stand for what was said elsewhere, selves are I and we.
	asking, pronouns, selves string
	// habits are words of what is done again and again, idle ones of what nobody has to keep in mind, past ones of what
	// was.
	habits, idle, past string
	// very may stand before what is liked, openers before a sentence, articles before somebody; small are further words
	// that say nothing.
	very, openers, articles, small string
	// must says that something has to be, done that it was, wishes what somebody would like to be otherwise.
	must, done, wishes string
	// holding are verbs of thinking, expected words of what somebody only expects, addressed ones of the other.
	holding, expected, addressed string
	// moved are verbs of change, to stands before where to, days are those of the week as they stand there.
	moved, to, days string
	// musings are verbs of what nobody has to do for another. hedging are patterns that leave open what will be.
	musings, hedging string
	// verbs are others that begin sentences and are nobody's name.
	verbs string
	// conditional and future are endings of verbs.
	conditional, future string
	// uncased scripts have no capitals.
	uncased bool
}

// language is what [table] lists. Large because the table is.
type language struct {
	known map[string]bool // all words of the lists

	lang  text.Lang
	cased bool

	promises, duties, likes, dislikes, beliefs, instead, firstPerson, hedging [][]item

	not, hedges, reports, asking, pronouns, selves, habits, idle, past, very, openers, articles, small, must, done, wishes,
	holding, expected, addressed, moved, to, days, musings map[string]bool

	conditional, future []string
}

func (t *table) build() *language {
	known := text.Set(strings.Join([]string{
		t.not, t.hedges, t.asking, t.pronouns, t.selves, t.habits, t.very, t.openers, t.articles, t.small, t.wishes,
		t.holding, t.expected, t.must, t.verbs,
	}, " "))
	return &language{
		known: known, lang: t.lang, cased: !t.uncased,
		promises: compile(t.promises), duties: compile(t.duties), likes: compile(t.likes), dislikes: compile(t.dislikes),
		beliefs: compile(t.beliefs), instead: compile(t.instead), firstPerson: compile(t.firstPerson),
		hedging: compile(t.hedging), musings: text.Set(t.musings),
		not: text.Set(t.not), hedges: text.Set(t.hedges), reports: text.Set(t.reports), asking: text.Set(t.asking),
		pronouns: text.Set(t.pronouns), selves: text.Set(t.selves), habits: text.Set(t.habits), idle: text.Set(t.idle),
		past: text.Set(t.past), very: text.Set(t.very), openers: text.Set(t.openers), articles: text.Set(t.articles),
		small: text.Set(t.small), must: text.Set(t.must), done: text.Set(t.done), wishes: text.Set(t.wishes),
		holding: text.Set(t.holding), expected: text.Set(t.expected), addressed: text.Set(t.addressed),
		moved: text.Set(t.moved), to: text.Set(t.to), days: text.Set(t.days),
		conditional: strings.Fields(t.conditional), future: strings.Fields(t.future),
	}
}

// spaced are the languages that part words by spaces. They are made when a text is first read: most commands of the
// program read none.
var spaced = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		"de": german.build(), "nl": dutch.build(), "fr": french.build(), "es": spanish.build(), "it": italian.build(),
		"pt": portuguese.build(), "pl": polish.build(), "ar": arabic.build(), "hi": hindi.build(),
	}
})
