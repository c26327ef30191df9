package conflict

import (
	_ "embed"
	"strings"
	"sync"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// antonymList holds pairs of opposites, one a line: the direct antonyms among
// the adjectives, verbs, adverbs and (where one is formed from the other) nouns
// of WordNet 3.0 that occur in its tagged texts, and some two hundred of our own.
// NOTICE.md has the licence, bench/contradictions the recipe.
//
//go:embed antonyms.txt
var antonymList string

// stemPair is two stems, the lesser first.
type stemPair struct{ a, b string }

func pairOf(a, b string) stemPair {
	if a > b {
		a, b = b, a
	}
	return stemPair{a, b}
}

// antonyms are the opposites by stem.
var antonyms = sync.OnceValue(func() map[stemPair]bool {
	m := make(map[stemPair]bool, 4096)
	for line := range strings.Lines(antonymList) {
		a, b, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a, b = claim.Stem(a), claim.Stem(b); a != b {
			m[pairOf(a, b)] = true
		}
	}
	return m
})

// opposable are the stems that have an opposite: few words do, and to look up a
// pair costs more than to look up a word once.
var opposable = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for p := range antonyms() {
		m[p.a], m[p.b] = true, true
	}
	return m
})

// synonyms are the common words that say the same, a group a line: who denies the
// one denies the other.
const synonyms = `woman lady
man guy gentleman
child kid
start begin commence
end finish conclude
close shut
fix repair
buy purchase
help assist
need require
answer reply respond
speak talk
say state
show display
choose select pick
allow permit
forbid prohibit ban
stop cease
build construct
big large
small little tiny
quick fast rapid
quiet silent
car automobile
road street
job task
error mistake fault
bug defect
client customer
employee worker
boss manager
document doc
photo picture image
film movie
price cost
illness disease
doctor physician
medicine drug medication
shop store
city town
happy glad
sad unhappy
wrong incorrect
rich wealthy
hard difficult
easy simple
shoot fire
slice cut
jump leap
throw toss
yell shout
delay postpone
reject refuse decline`

// sameAs gives for each such word, by its stem, the first of its group.
var sameAs = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for group := range strings.Lines(synonyms) {
		first := ""
		for w := range strings.FieldsSeq(group) {
			stem := claim.Stem(w)
			if first == "" {
				first = stem
			}
			if _, taken := m[stem]; !taken {
				m[stem] = first
			}
		}
	}
	return m
})

// owners are the words that make what follows at the head of a sentence a
// definite thing.
var owners = text.Set(`the this that my your his her its our their`)

// indefinites make it one of many, another one each time.
var indefinites = text.Set(`a an some several any many few another one someone somebody everyone everybody each every
	most
	there it he she they we you i`)

// beings with a participle behind them describe what is going on somewhere.
var beings = text.Set(`is are was were be been being am`)

// verbs are the words behind which a sentence says something of its subject: the
// auxiliaries, and those that give a thing a time, a quantity or a place.
var verbs = text.Set(`is are was were be been being am has have had will would shall should can could may might must
	does did
do begins begin began starts started opens opened closes closed ends ended expires expired takes took lasts lasted runs
ran weighs weighed costs cost holds held contains contained measures measured counts counted needs needed gets got pays
paid earns earned employs employed seats joins joined leaves left happens happened occurs occurred arrives arrived
departs departed falls fell rises rose rose grew sends sent stops stopped covers covered reaches reached becomes
became`)

// measures are those of them that say of a whole kind how much it is: "a pallet of
// tiles weighs 820 kilograms" is of any pallet.
var measures = text.Set(`weighs costs takes lasts holds contains measures counts needs seats earns gets pays`)

// settled are the participles behind which a thing has one place, maker or material:
// what has an office in Paris may have one in Rome, what is based in Paris is not in
// Rome. placers stand between them and the name.
var (
	settled = text.Set(`written based located situated held born buried founded established built stored kept hosted
headquartered registered filed implemented led owned managed chaired maintained directed painted composed`)
	placers = text.Set(`in at by`)
)

// copulas say what something is.
var copulas = text.Set(`is are was were`)

// pronouns stand for what was named before.
var pronouns = text.Set(`it its he his him she her they their`)

// articles may stand between such a verb and what follows.
var articles = text.Set(`the a an`)

// years are the words in front of a number that make it a year.
var years = text.Set(`in since by until from of during before after`)

// hours are the words behind a number that make it a time of day.
var hours = text.Set(`am pm o'clock oclock`)

// units, by their stems, are what quantities are of and times are counted in.
var units = stems(`second minute hour day week month quarter year euro dollar pound franc cent percent per gram kilogram
kg ton tonne metre meter km kilometre kilometer mile litre liter degree watt kw kwh mb gb tb byte people person piece
item am pm`)

// weak are the words that two sentences share without being about the same. They
// are looked up as written: "importer" has the stem of "important".
var weak = text.Set(weakWords)

const weakWords = `know think want need get got go going come see look say said tell make made do done take give put use
used work works try like mean feel seem keep let thing things way ways lot kind sort bit stuff something anything
nothing someone time times day people person one ones good bad right okay ok yeah yes well really actually maybe
probably sure still always ever sometimes often again yet already back here there now today first last next new
able possible different important great nice problem question point case part fact example please thanks sorry uh um oh
hmm guess believe understand remember find found happen start stop call called set`

func stems(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[claim.Stem(w)] = true
	}
	return m
}

// signs are the words that say in which direction something goes: 1 more, −1
// less. They turn what they govern, as a negation does.
var signs = sync.OnceValue(func() map[string]int8 {
	m := map[string]int8{}
	for sign, list := range map[int8]string{1: upwards, -1: downwards} {
		for w := range strings.FieldsSeq(list) {
			m[claim.Stem(w)] = sign
		}
	}
	return m
})

const (
	upwards = `increase rise risen raise elevate elevation enhance enhancement promote stimulate stimulation induce
induction activate activation upregulate upregulation improve improvement augment amplify boost accelerate facilitate
encourage enable strengthen expand expansion grow growth gain higher greater more larger high elevated positive
positively support favor favour cause trigger drive lead contribute produce generate potentiate restore rescue better
superior effective effectively require necessary essential crucial critical key allow permit associate correlate link
significant significantly benefit beneficial dependent abundant overexpression overexpress sufficient sensitize
sensitivity susceptible susceptibility faster longer accurate stabilize maintain`
	downwards = `decrease reduce reduction lower decline diminish inhibit inhibition inhibitor inhibitory suppress
suppression suppressor impair impairment attenuate attenuation block blockade prevent prevention repress repression
downregulate downregulation deactivate inactivate inactivation disrupt disruption abolish abrogate limit restrict slow
slower weaken shrink less fewer smaller low negative negatively protect protection protective delay halt stop loss lack
lacking absence deficient deficiency deplete depletion knockdown knockout ablation deletion delete remove removal
silence hinder impede ameliorate amelioration alleviate counteract antagonize destroy kill poor worse worsen inferior
discourage deny unrelated independent irrelevant ineffective inaccurate unaffected unchanged unnecessary fail unable
without resistant resistance insensitive inverse inversely scarce rare trivial minor immune damage destabilize degrade
degradation avoid prolong shorter little dispensable compromise`
)
