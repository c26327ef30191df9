package voice

import (
	"strings"

	"orgmem/brain/text"
)

// classSet is a set of word classes.
type classSet uint32

// has tells whether the set holds one of the classes.
func (s classSet) has(classes ...counter) bool {
	for _, c := range classes {
		if s&(1<<c) != 0 {
			return true
		}
	}
	return false
}

// classes lists the words of each class, in English and where they are short and
// unmistakable also in German, French and Spanish: an opening, a thanks, a
// softening. A word that another language uses for something else is left out.
var classes = [classCount]string{
	article: `the a an`,
	preposition: `of in to for with on at from by about into over after under between through during
without before against within upon across toward towards among per via than off onto inside outside
behind beyond despite except near since until unless along around above below`,
	conjunction: `and or but nor so yet because although though while whereas if unless whether since as`,
	self:        `i me my mine myself i'm i've i'd i'll im ive ich mir mich mein meine je moi yo`,
	group:       `we us our ours ourselves we're we've we'd we'll let's wir uns unser nous notre nosotros`,
	other: `you your yours yourself yourselves you're you've you'd you'll u ur ya y'all du dir dich ihr vous votre
		usted`,
	third: `he him his himself she her hers herself they them their theirs themselves it its itself he's
she's it's they're they've they'd they'll`,
	verb: `be am is are was were been being have has had having do does did doing will would can could
shall should may might must isn't aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't
wouldn't can't couldn't shouldn't mustn't i'm i've you're you've we're we've they're they've it's that's
there's cannot`,
	negation: `not no never none nothing nobody neither nor nowhere without isn't aren't wasn't weren't
haven't hasn't hadn't don't doesn't didn't won't wouldn't can't couldn't shouldn't cannot dont doesnt didnt
cant wont isnt nicht kein keine pas jamais nunca`,
	hedge: `maybe perhaps probably possibly might could may seems seem seemed apparently presumably
somewhat guess suppose roughly basically essentially likely unlikely sort kind think believe assume
suspect wonder wondering afaik afaict iirc imo imho fwiw unsure tentatively approximately almost usually
generally sometimes often vielleicht wohl vermutlich eventuell peut-être quizás`,
	booster: `very really definitely certainly clearly obviously absolutely totally completely
indeed surely extremely highly entirely exactly truly fully literally super so quite
sehr wirklich bestimmt très muy`,
	greeting: `hi hello hey howdy greetings hiya hallo moin servus bonjour salut hola buenas`,
	thanks:   `thanks thank thx ty cheers appreciated appreciate grateful kudos danke merci gracias`,
	apology:  `sorry apologies apologize apologise oops whoops pardon entschuldigung désolé perdón`,
	please:   `please pls plz kindly bitte`,
	assent:   `yes yeah yep yup ok okay sure right agreed true correct indeed exactly great good cool nice fine ja oui sí`,
	interjection: `oh ah aha hmm hm huh wow haha lol heh hehe ugh yay whoa eh meh um uh er argh yikes phew
btw fyi tbh omg gosh damn shit well anyway`,
	connective: `however therefore thus hence moreover furthermore additionally nevertheless nonetheless
otherwise instead rather consequently meanwhile accordingly also besides further similarly`,
	question:      `what why how who when where which whose whom what's how's who's where's was warum wie`,
	demonstrative: `this that these those here there that's there's`,
	timely: `now then still already yet soon later today tomorrow yesterday tonight again once just
currently recently finally first last next ago`,
}

// habits are the function words that are counted one by one: those whose use is
// habit rather than topic (Burrows 2002), frequent enough to tell something after
// a few messages, forms of one word taken together. Common is how often one
// comes in a word of English chat, commit messages and meetings.
var habits = []struct {
	name   string
	words  string
	common float64
}{
	{"the", "the", 0.045},
	{"a", "a an", 0.024},
	{"of", "of", 0.016},
	{"in", "in", 0.013},
	{"and", "and", 0.022},
	{"that", "that", 0.017},
	{"is", "is are am i'm it's that's you're we're they're", 0.027},
	{"was", "was were", 0.0047},
	{"it", "it it's its", 0.023},
	{"on", "on", 0.007},
	{"be", "be been being", 0.009},
	{"this", "this these", 0.008},
	{"as", "as", 0.005},
	{
		"not", "not don't doesn't didn't isn't aren't wasn't can't cannot couldn't won't wouldn't shouldn't haven't hasn't",
		0.012,
	},
	{"but", "but", 0.0077},
	{"have", "have has had i've we've", 0.01},
	{"just", "just", 0.0037},
	{"so", "so", 0.01},
	{"there", "there there's", 0.0042},
	{"would", "would i'd", 0.0028},
	{"like", "like", 0.0047},
	{"do", "do does did don't doesn't didn't", 0.01},
	{"can", "can", 0.0048},
	{"will", "will i'll we'll", 0.003},
	{"some", "some", 0.0035},
	{"also", "also", 0.0026},
	{"then", "then", 0.0033},
	{"which", "which", 0.002},
	{"because", "because", 0.0017},
	{"what", "what", 0.0038},
	{"they", "they them", 0.0035},
	{"my", "my", 0.0016},
	{"how", "how", 0.0023},
	{"one", "one", 0.0035},
	{"should", "should", 0.002},
	{"could", "could", 0.0016},
	{"get", "get got", 0.0027},
}

// contracted are the contractions that are written without an apostrophe, and those
// that have none. Left out are words of their own: well, were, wed, hell, its, id, ill.
var contracted = text.Set(`dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt wont cant couldnt wouldnt
	shouldnt
mustnt aint im ive youre youve youll theyre theyve theyll weve whats thats theres heres hes whos wheres hows itll thatll
gonna wanna gotta gimme lemme dunno hafta oughta tryna imma kinda sorta lotta outta woulda coulda shoulda mighta cmon
yall`)

// clitics are what a pronoun may be contracted with; behind any other word an 's says
// whose something is.
var clitics = text.Set(`n't 're 've 'll 'd 'm`)

var pronouns = text.Set(`i you he she it we they that this there here what who where how when why let one everyone
everybody someone somebody nobody everything something nothing`)

// written are the words that are often contracted with the one before them.
var written = map[string]map[string]bool{
	"not":  text.Set(`do does did is are was were has have had will would should could must`),
	"am":   text.Set(`i`),
	"are":  text.Set(`you we they`),
	"is":   text.Set(`it he she that there what who`),
	"have": text.Set(`i you we they`),
	"will": text.Set(`i you he she it we they`),
}

// abbreviations are words of the lists that mean something else in capitals: US, IT.
var abbreviations = text.Set(`us it am who or me hi in as at may is so ah er`)

// mine are the words that make a verb of thinking a hedge: I think, we'd guess.
var mine = text.Set(`i we i'd i'm would also just still really do don't dont was kinda only always i'll personally`)

var thinking = text.Set(`think believe assume suspect wonder guess suppose wondering`)

// entry is what is known of a word.
type entry struct {
	classes classSet
	habits  []counter
}

// lexicon looks words up in lower case.
var lexicon = func() map[string]entry {
	m := make(map[string]entry, 700)
	for c, words := range classes {
		for w := range strings.FieldsSeq(words) {
			e := m[w]
			e.classes |= 1 << c
			m[w] = e
		}
	}
	for i, h := range habits {
		for w := range strings.FieldsSeq(h.words) {
			e := m[w]
			e.habits = append(e.habits, cHabit+counter(i))
			m[w] = e
		}
	}
	return m
}()
