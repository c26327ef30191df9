// Package clause tells when something happens by the verb that a date in an English sentence hangs on.
//
// # Promises
//
//   - [Clause.Tense] is a pure function of the sentence and looks at no more of it than it is given.
//   - What no verb tells is [Untold].
//
// # What it hides
//
// Word lists in place of a parser, which would be a second model: auxiliaries, participles, verbs that plan, ask and
// report, words that are nouns as often.
package clause

import (
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// Tense is when something happens, as its clause tells.
type Tense uint8

// The tenses.
const (
	Untold  Tense = iota // by no verb
	Bygone               // it was, or has been
	Present              // it is: what is fixed for a day is said so, and what is always so
	Coming               // it will, is to, shall or is asked to be
)

// Clause is a date in its sentence.
type Clause struct {
	Tokens  []tagger.Token
	Lows    []string // of the tokens, in small letters
	Model   *tagger.Model
	Capital func(i int) bool // whether a token has a capital
	// Months and Weekdays are the calendar's words.
	Months, Weekdays map[string]int

	Head, To int    // the sentence, as far as is looked at
	Date     int    // where the date begins
	OfDay    bool   // it is one day
	Prep     string // the preposition before it
}

// Tense is that of the finite verb before the date that is nearest, else of the first behind it.
func (c *Clause) Tense() Tense {
	from := c.begins(c.Date)
	if t := c.backward(c.Date-1, from); t != Untold {
		return c.seen(t, from)
	}
	until := c.Date + 1
	for until < c.To && !c.border(until) {
		until++
	}
	if t := c.forward(c.Date+1, until); t != Untold {
		return c.seen(t, from)
	}
	if t := c.cue(from, until); t != Untold {
		return t
	}
	if from > c.Head {
		if t := c.backward(from-1, c.Head); t != Untold {
			return t
		}
	}
	return c.forward(until, c.To)
}

// Determines tells whether a word stands before a noun, as "the" does.
func Determines(low string) bool { return determiners[low] }

// Relates tells whether a word is a preposition.
func Relates(low string) bool { return prepositions[low] }

// Joins tells whether a word joins two clauses.
func Joins(low string) bool { return joints[low] }

// Tells tells whether a word is for what reports of what was, such as the minutes of a day.
func Tells(low string) bool { return told[low] }

// border tells whether a mark ends a clause.
func (c *Clause) border(i int) bool {
	if c.Tokens[i].Kind != tagger.Mark {
		return false
	}
	switch c.Lows[i][0] {
	case ',', ';', ':', '(', ')', '[', ']', '-', '|', '?', '!', '.':
		return true
	}
	w := c.Lows[i]
	return w == "–" || w == "—" || w == "•" || w == "→"
}

// begins is the first token of the clause that holds token i.
func (c *Clause) begins(i int) int {
	for i > c.Head && !c.border(i-1) {
		i--
	}
	return i
}

// backward gives the Tense of the last finite verb of [from, at]. What may as well be a
// noun counts where no verb before it is of the same clause.
func (c *Clause) backward(at, from int) Tense {
	infinitive, joint := false, false
	perhaps := Untold
	for j := at; j >= from; j-- {
		if c.infinitive(j) {
			infinitive = true
			continue
		}
		t, sure := c.finite(j)
		switch {
		case t == Untold:
			joint = joint || perhaps != Untold && (joints[c.Lows[j]] || c.Lows[j] == "which")
		case !sure:
			if perhaps == Untold {
				if infinitive && t == Present {
					t = Coming // and wants to leave
				}
				perhaps, joint, infinitive = t, c.dated(j-1), false
			}
		case perhaps != Untold && (joint || speech[c.Lows[j]] || c.relative(j)):
			return perhaps // they said the course starts; what was signed ends
		case infinitive && (t == Present || t == Bygone && intents[c.Lows[j]]):
			return Coming // they agreed to meet
		default:
			return t
		}
	}
	if infinitive && perhaps != Bygone {
		return Coming
	}
	return perhaps
}

// dated tells whether a date ends at j: what stands before it is another clause's.
func (c *Clause) dated(j int) bool {
	w := c.low(j)
	return c.Months[w] > 0 || c.Weekdays[w] > 0 || j >= c.Head && c.Tokens[j].Kind == tagger.Number && len(w) == 4
}

// relative tells whether the verb at j is that of a relative clause.
func (c *Clause) relative(j int) bool {
	for k := j - 1; k >= c.Head && k > j-4 && !c.border(k); k-- {
		switch c.Lows[k] {
		case "who", "which", "that":
			return true
		}
	}
	return false
}

// forward gives the Tense of the first finite verb of [at, until), beside those of
// relative clauses.
func (c *Clause) forward(at, until int) Tense {
	relative := false
	for j := at; j < until; j++ {
		switch c.Lows[j] {
		case "who", "which", "that", "whose", "whom":
			relative = true
			continue
		}
		if relative && c.border(j) {
			relative = false
		}
		t, _ := c.finite(j)
		if t == Untold {
			continue
		}
		if relative {
			relative = false
			for j+1 < until && (c.auxiliary(j) || adverb(c.Lows[j+1])) {
				j++ // with what belongs to the verb
			}
			continue
		}
		return t
	}
	return Untold
}

// seen is a Tense with what else the clause says: a wedding that is on a day is to come.
func (c *Clause) seen(t Tense, from int) Tense {
	if t == Present {
		for j := from; j < c.Date; j++ {
			if w := c.Lows[j]; expected[w] || occasions[w] {
				return Coming
			}
		}
	}
	return t
}

// cue is what nouns tell where there is no verb.
func (c *Clause) cue(from, until int) Tense {
	for j := from; j < until; j++ {
		switch w := c.Lows[j]; {
		case expected[w]:
			return Coming
		case j == from && records[w] || w == "last" || w == "previous" || w == "thanks" || w == "sorry" || w == "yesterday":
			return Bygone
		}
	}
	return Untold
}

var (
	// expected is what is to come, occasions are what is spoken of in the Present
	// until it is over.
	expected = text.Set(`next upcoming deadline due appointment reminder todo eta planned scheduled tbc rsvp forthcoming
		forward`)
	occasions = text.Set(`exam exams wedding birthday party concert interview meeting launch release premiere conference
		opening surgery operation flight graduation hearing trial festival workshop match final demo election vote kickoff
		reunion anniversary marathon race trip handover inspection audit retro review presentation lecture seminar rehearsal
		performance gig funeral ceremony dinner viewing`)
	// records are of what was, and so is what others tell of a day.
	records = text.Set(`notes minutes photo photos picture pictures recap summary recording transcript protocol log`)
	told    = text.Set(`notes minutes photo photos picture pictures recap summary recording transcript protocol log report
		results receipt invoice mail email message letter call conversation news incident outage visit`)
)

// infinitive tells whether a verb with "to" stands at j, which tells no time.
func (c *Clause) infinitive(j int) bool {
	if c.Lows[j] != "to" || j+1 >= c.Date || c.Tokens[j+1].Kind != tagger.Word || c.Capital(j+1) {
		return false
	}
	return !c.noun(j+1) && !pasts[c.Lows[j+1]] && !adverb(c.Lows[j+1])
}

// noun tells whether a word is no verb, by what it is: an article and the like.
func (c *Clause) noun(j int) bool {
	w := c.Lows[j]
	return determiners[w] || prepositions[w] || objects[w] || w == "and" || w == "or"
}

var (
	determiners = text.Set(`a an the my your his her its our their this that these those some any no every each another
		both
		all`)
	prepositions = text.Set(`of in to for with on at by from about into over after under between through during without
		before
		against within upon across toward towards via off onto inside outside behind beyond until till since near around than
		as`)
	objects  = text.Set(`me him them us myself himself herself themselves ourselves yourself`)
	subjects = text.Set(`i we they he she you it who there this that everybody everyone nobody someone somebody`)
	joints   = text.Set(`and but or so then that if when while because although though since as before after until once
		unless
		where please pls plz also just kindly always never`)
)

func adverb(w string) bool {
	switch w {
	case "not", "n't", "n’t", "also", "just", "already", "still", "now", "then", "never", "ever", "always", "all",
		"both", "even", "only",
		"finally", "once", "soon", "often", "usually", "sometimes", "back", "again", "currently", "probably", "yet", "hardly":
		return true
	}
	return strings.HasSuffix(w, "ly") && w != "july" && len(w) > 4
}

// auxiliary tells whether a token is part of a verb without being all of it.
func (c *Clause) auxiliary(j int) bool {
	switch w := c.Lows[j]; w {
	case "will", "wo", "shall", "would", "should", "must", "might", "may", "could", "can", "ca", "cannot", "ought", "am",
		"is", "are", "was", "were",
		"be", "been", "being", "has", "have", "had", "do", "does", "did":
		return true
	default:
		return c.Tokens[j].Kind == tagger.Suffix || adverb(w)
	}
}

// after is the first token behind j that is no adverb and no pronoun (which stand
// between the two parts of a verb, the latter in questions), up to some.
func (c *Clause) after(j int) int {
	for k := j + 1; k < c.To && k < j+5; k++ {
		if w := c.Lows[k]; !adverb(w) && w != "i" && w != "we" && w != "they" && w != "he" && w != "she" &&
			w != "you" && w != "it" {
			return k
		}
	}
	return c.To
}

func (c *Clause) low(j int) string {
	if j < c.Head || j >= c.To {
		return ""
	}
	return c.Lows[j]
}

// heads tells whether the clause has nothing before token j.
func (c *Clause) heads(j int) bool {
	return j == c.Head || c.Tokens[j-1].Kind == tagger.Mark || joints[c.Lows[j-1]]
}

// finite is the Tense of the finite verb at j, Untold without a finite verb, and whether
// it surely is a verb.
func (c *Clause) finite(j int) (t Tense, sure bool) {
	if t = c.explicit(j); t != Untold {
		return t, true
	}
	return c.plain(j)
}

// explicit is the Tense of an auxiliary or a past form at j.
func (c *Clause) explicit(j int) Tense {
	if k := c.Tokens[j].Kind; k != tagger.Word && k != tagger.Suffix {
		return Untold
	}
	w := c.Lows[j]
	if !c.heads(j) && w != "i" && c.Tokens[j].Kind == tagger.Word && c.Capital(j) {
		return Untold // a name: Will, May
	}
	if j >= c.Date && c.Months[w] > 0 {
		return Untold
	}
	switch w {
	case "will", "'ll", "’ll", "wo", "shall", "gonna", "gotta", "wanna":
		return Coming
	case "would", "should", "must", "might", "may", "can", "ca", "cannot", "ought", "could":
		switch next := c.low(c.after(j)); {
		case next == "have" || next == "'ve" || next == "’ve":
			return Bygone
		case w == "could" && (c.low(j+1) == "not" || c.low(j+1) == "n't" || c.low(j+1) == "n’t"):
			return Bygone
		}
		return Coming
	case "'d", "’d":
		if c.past(c.after(j)) {
			return Bygone
		}
		return Coming
	case "am", "is", "are", "'m", "’m", "'re", "’re":
		return c.being(j)
	case "'s", "’s":
		return c.apostrophe(j)
	case "was", "were", "did":
		return Bygone
	case "had":
		if c.low(j+1) == "better" {
			return Coming
		}
		return Bygone
	case "has", "have", "'ve", "’ve":
		if c.led(j) {
			return Untold
		}
		return c.having(j)
	case "do", "does":
		switch {
		case c.led(j):
			return Untold
		case w == "do" && c.heads(j):
			return Coming // don't forget; and questions
		}
		return Present
	case "let":
		if next := c.low(j + 1); c.heads(j) || next == "'s" || next == "’s" || next == "us" {
			return Coming
		}
	case "due":
		if before := c.low(j - 1); before == "was" || before == "were" {
			return Bygone
		}
		return Coming
	case "great", "nice", "good", "lovely", "fun":
		if c.heads(j) && strings.HasSuffix(c.low(j+1), "ing") {
			return Bygone // nice talking to you
		}
	case "thank", "thanks", "sorry", "congratulations", "congrats":
		if c.heads(j) {
			return Bygone
		}
	}
	if c.past(j) {
		return c.participle(j)
	}
	return Untold
}

// led tells whether the verb at j belongs to an auxiliary before it: did you do.
func (c *Clause) led(j int) bool {
	for k := j - 1; k >= c.Head && k > j-5; k-- {
		switch w := c.Lows[k]; {
		case w == "to", w == "let", c.auxiliary(k) && c.Tokens[k].Kind == tagger.Word && !adverb(w), w == "'ll", w == "’ll",
			w == "'d", w == "’d":
			return true
		case !adverb(w) && !subjects[w]:
			return false
		}
	}
	return false
}

// being is the Tense of a form of be, which is at j: who is moving in May will.
func (c *Clause) being(j int) Tense {
	k := c.after(j)
	switch w := c.low(k); {
	case w == "to", w == "about" && c.low(k+1) == "to", w == "off", intents[w], movers[w], plans[w]:
		return Coming
	case strings.HasSuffix(w, "ing") && len(w) > 4 && !lasting[w] && (k < c.Date || j > c.Date):
		return Coming
	}
	return Present
}

// lasting is what somebody does as they write.
var lasting = text.Set(`writing calling emailing mailing asking thinking wondering waiting working trying looking living
	using reading hoping struggling running missing having`)

// apostrophe reads an 's: "it's on Friday", "she's left"; what belongs to somebody is
// no verb.
func (c *Clause) apostrophe(j int) Tense {
	before, next := c.low(j-1), c.low(c.after(j))
	switch {
	case before == "let":
		return Coming
	case !subjects[before] && before != "here" && before != "what":
		if prepositions[c.low(j+1)] {
			return Present // the party's on Friday
		}
		return Untold
	case next == "been", next == "got", next == "had", next == "gone",
		(before == "he" || before == "she" || before == "who") && c.past(c.after(j)):
		return Bygone
	}
	return c.being(j)
}

// having is the Tense of has and have: who has to will, who has had had.
func (c *Clause) having(j int) Tense {
	k := c.after(j)
	switch w := c.low(k); {
	case w == "to", w == "got" && c.low(k+1) == "to":
		return Coming
	case c.past(k), bases[w]:
		if w == "been" {
			k = c.after(k)
		}
		if j > c.Date && changed[c.low(k)] {
			return Coming // the concert on Friday has been cancelled
		}
		if k >= c.To {
			return Bygone
		}
		if t := c.planned(k); t != Untold {
			return t
		}
		return Bygone
	}
	return Present
}

// changed is what is done to what is still to come.
var changed = text.Set(`cancelled canceled confirmed announced postponed moved rescheduled booked called delayed
	brought`)

// bases are participles that look like the verb itself.
var bases = text.Set(`come become run overcome`)

// past tells whether a past form or a participle stands at j.
func (c *Clause) past(j int) bool {
	if j < c.Head || j >= c.To || c.Tokens[j].Kind != tagger.Word {
		return false
	}
	w := c.Lows[j]
	if c.Weekdays[w] > 0 {
		return false
	}
	if same[w] {
		// "She put": in the Present it were puts. At the head of a clause it is asked for.
		return !c.heads(j)
	}
	return pasts[w] || len(w) > 3 && strings.HasSuffix(w, "ed") && !notPast[w]
}

// notPast end as the past forms do.
var notPast = text.Set(`need feed seed weed speed breed bleed exceed proceed succeed indeed heed deed greed creed reed
	steed hundred sacred naked wicked kindred excited tired interested worried scared delighted pleased thrilled embed
	unused biased aged beloved bed shed sled`)

// participle is the Tense of a past form at j, by the auxiliary before it.
func (c *Clause) participle(j int) Tense {
	if before := c.low(j - 1); j > c.Head &&
		(determiners[before] && before != "that" && before != "this" && before != "all" && before != "both" ||
			c.Tokens[j-1].Kind == tagger.Suffix && (before == "'s" || before == "’s") && !subjects[c.low(j-2)]) {
		return Untold // the planned move
	}
	have := false
	for k := j - 1; k >= c.Head && k > j-7; k-- {
		switch w := c.Lows[k]; w {
		case "been", "be", "being", "get", "gets", "getting":
			continue
		case "have", "'ve", "’ve":
			have = true
			continue
		case "will", "'ll", "’ll", "wo", "shall":
			return Coming
		case "would", "should", "must", "might", "may", "can", "ca", "cannot", "could", "ought":
			if c.Capital(k) && !c.heads(k) {
				break
			}
			if have {
				return Bygone
			}
			return Coming
		case "to":
			if have {
				return Bygone
			}
			return c.passive(k)
		case "is", "are", "am", "'re", "’re", "'m", "’m":
			if plans[c.Lows[j]] || movers[c.Lows[j]] {
				return Coming
			}
			return Present
		case "'s", "’s":
			if c.apostrophe(k) == Present {
				return Present
			}
		default:
			if adverb(w) || k < j-1 && subjects[w] {
				continue
			}
		}
		break
	}
	if t := c.planned(j); t != Untold {
		return t
	}
	if (c.heads(j) || c.Prep == "until") && states[c.Lows[j]] {
		return Present // closed until Monday
	}
	return Bygone
}

// states are what a thing is said to be, rather than what was done to it.
var states = text.Set(`closed booked located based expected planned scheduled blocked reserved`)

// passive is the Tense of the verb before "to be done" at k: "it needs to be paid" is
// to come, "it had to be paid" was.
func (c *Clause) passive(k int) Tense {
	if c.backward(k-1, c.begins(k)) == Bygone && !intents[c.low(k-1)] {
		return Bygone
	}
	return Coming
}

// planned is Coming where what was done was to fix something for the date: moved to
// it, booked for it, promised by it.
func (c *Clause) planned(j int) Tense {
	w := c.Lows[j]
	fixed := false
	switch c.Prep {
	case "for":
		fixed = plans[w] || movers[w] || c.OfDay
	case "to":
		fixed = movers[w]
	case "until":
		fixed = movers[w] || plans[w]
	case "by":
		fixed = intents[w] || plans[w] && w != "booked"
	}
	if fixed {
		return Coming
	}
	return Untold
}

var (
	// plans fix something for a time, movers move it there, intents say what is to be
	// done.
	plans = text.Set(`scheduled planned booked set arranged reserved expected slated invited announced confirmed pencilled
		penciled agreed fixed targeted estimated timed promised`)
	movers = text.Set(`moved postponed pushed shifted delayed deferred rescheduled extended brought put changed switched
		bumped prolonged adjourned renewed hired suspended granted`)
	intents = text.Set(`agreed promised decided planned hoped wanted asked told expected offered intended needed scheduled
		invited meant swore vowed arranged supposed going due set ready wants want hopes hope plan plans intend intends
		reminded urged ordered requested instructed begged likely bound`)
)

// plain is the Tense of a verb in its plain form at j: what somebody is asked to do, or
// what is said in the Present. It is not sure where the word may be a noun.
func (c *Clause) plain(j int) (t Tense, sure bool) {
	if c.Tokens[j].Kind != tagger.Word || !c.heads(j) && c.Lows[j] != "i" && c.Capital(j) {
		return Untold, false
	}
	w := c.Lows[j]
	switch w {
	case "i", "we", "they", "he", "she", "you", "it", "who", "everybody", "everyone", "nobody":
		return c.pronoun(j), true
	}
	if c.noun(j) || j+1 < c.To && c.Tokens[j+1].Kind == tagger.Suffix {
		return Untold, false
	}
	third, ok := strings.CutSuffix(w, "s")
	soon := ok && (scheduled[third] || scheduled[strings.TrimSuffix(third, "e")] || wishes[third])
	if c.heads(j) {
		switch before := c.low(j - 1); {
		case !ok || j == c.Head || before != "," && before != "and" && before != "but" && before != "or" && before != "then":
		case soon:
			return Coming, false // it began, and ends
		case c.verbal(j):
			return Present, false
		}
		if ok || strings.HasSuffix(w, "ing") || subjects[w] {
			return Untold, false
		}
		if requests[w] || (scheduled[w] || c.verbal(j)) && c.objective(j+1) {
			return Coming, true
		}
		return Untold, false
	}
	if !c.subject(j - 1) {
		return Untold, false
	}
	switch {
	case scheduled[w] && plural(c.Lows[j-1]):
		return Coming, false // doors open
	case soon:
		return Coming, false // the lease ends
	case ok && c.verbal(j) && !plural(c.Lows[j-1]):
		return Present, false
	}
	return Untold, false
}

// verbal tells whether dictionaries know the word at j as a verb.
func (c *Clause) verbal(j int) bool {
	e, _ := c.Model.Find(c.Lows[j])
	return e.Class.Part() == tagger.Verb
}

// subject tells whether the word at j may be the last of what a verb behind it is said
// of.
func (c *Clause) subject(j int) bool {
	if j > c.Head && c.Tokens[j].Kind == tagger.Number { // version 3
		if len(c.low(j)) == 4 {
			return true // the class of 2019
		}
		j--
		if c.past(j) || c.auxiliary(j) {
			return false // hired 2 nurses
		}
	}
	w := c.low(j)
	if j < c.Head || c.Tokens[j].Kind != tagger.Word || determiners[w] || prepositions[w] || adverb(w) && w != "back" {
		return false
	}
	e, _ := c.Model.Find(w)
	return e.Class.Part() != tagger.Adjective && e.Class.Part() != tagger.Numeral
}

// pronoun is the Tense of the verb behind the pronoun at j, which is its subject.
func (c *Clause) pronoun(j int) Tense {
	if w := c.Lows[j]; (w == "you" || w == "it" || w == "who") && !c.heads(j) {
		return Untold // an object
	}
	k := j + 1
	for k < c.To && k < j+4 && adverb(c.Lows[k]) {
		k++
	}
	switch {
	case k >= c.To || c.Tokens[k].Kind != tagger.Word, c.noun(k), joints[c.Lows[k]], subjects[c.Lows[k]],
		j < c.Date && k >= c.Date, c.Months[c.Lows[k]] > 0:
		return Untold
	case c.auxiliary(k), c.past(k):
		return c.explicit(k)
	case thoughts[c.Lows[k]]:
		return Untold // "I think" tells of no time
	}
	third := strings.TrimSuffix(c.Lows[k], "s")
	if scheduled[c.Lows[k]] || scheduled[third] || scheduled[strings.TrimSuffix(third, "e")] || wishes[third] {
		return Coming
	}
	return Present
}

// wishes are about what is to come.
var wishes = text.Set(`want need plan hope expect intend aim wish promise`)

// objective tells whether what a request is about can begin at j: "call Ann", "water
// article plants", but no preposition, as behind "lunch".
func (c *Clause) objective(j int) bool {
	if j >= c.To || c.Tokens[j].Kind == tagger.Mark {
		return false
	}
	w := c.Lows[j]
	return determiners[w] || objects[w] || c.Capital(j) || w == "her" || w == "it" || w == "you" || w == "to" ||
		!prepositions[w] && j < c.Date
}

// thoughts are what somebody does while they speak; speech is what leads to a clause of
// its own.
var (
	thoughts = text.Set(`know think guess believe suppose remember hear mean assume reckon bet see gather understand
		doubt`)
	speech = text.Set(`said says say told tell tells thinks think heard hear hears know knows knew thought wrote
		writes hope
		hopes believe believes is was are mentioned announced explained confirmed read saw see`)
)

func plural(w string) bool {
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss")
}

var (
	// scheduled are the verbs that are said in the Present of what is to come: the
	// course starts in May.
	scheduled = text.Set(`end start begin open close expire launch leave arrive depart return reopen resume finish
		retire move
		join ship land Present visit fly run stop renew kick go take come meet play host travel deliver release merge migrate
		switch marry graduate elapse lapse terminate mature publish premiere air debut replace cut change hand celebrate
		relocate`)
	// requests are verbs that ask at the head of a clause, although they may be nouns,
	// too.
	requests = text.Set(`call book order check move pay review talk walk pick send ask bring buy get give remember see meet
		come go take make find fix clean cook write read email mail text ring visit plan prepare finish start submit return
		renew cancel invite note join ship update schedule file sign print collect drop put set cut hand deliver wait stay
		arrange confirm water repaint mow test deploy release merge reply answer contact tell ping sync leave turn try use
		keep save mark register apply close open`)
	// same are verbs whose past looks like the Present.
	same = text.Set(`put set cut let read hit cost shut hurt quit spread cast split bet`)
	// pasts are the past forms and participles that do not end in -ed.
	pasts = text.Set(`arose arisen awoke became began begun bent blew blown bought bound bred broke broken brought built
		burnt
		burst came caught chose chosen clung crept dealt did done drew drawn drank drunk drove driven ate eaten fell fallen
		fed felt fought found fled flew flown forbade forbidden forgot forgotten forgave forgiven froze frozen gave given went
		gone got gotten grew grown hung heard held hid hidden kept knelt knew known laid led leant learnt left lent lost made
		meant met mistook paid proved proven ran rang rung rode ridden rose risen said sang sung sank sunk sat saw seen sold
		sent sewn shook shaken shone shot showed shown shrank slept slid spelt spent spoke spoken spilt spoilt sprang sprung
		stole stolen stood strode struck stuck stung swam swore sworn swept swollen swung taught took taken tore torn thought
		threw thrown told underwent understood undertook undone unwound upheld was were woke woken won wore worn withdrew
		withdrawn withheld wove woven wrote written been had born rebuilt resold retook rewrote reread overtook overcame
		undid`)
)
