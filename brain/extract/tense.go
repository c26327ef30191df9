package extract

import (
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/tagger"
)

// Which May a sentence means is not said by the word but by the verb that it hangs
// on: what somebody did in May was the last one, what they will do is the next.

// tense is when something happens, as its clause tells.
type tense uint8

const (
	untold  tense = iota // by no verb
	bygone               // it was, or has been
	present              // it is: what is fixed for a day is said so, and what is always so
	coming               // it will, is to, shall or is asked to be
)

const (
	// lateNote is how many days ago what is still to come may have been: a note is
	// often dated some days after it was written.
	lateNote = 14
	// maxAhead is how far ahead something is spoken of as if it were now, and how long
	// something lasts "until" a day, without the year: two thirds of one.
	maxAhead = 240
	// maxClause is how many tokens before and behind a date its verb is looked for.
	maxClause = 50
)

// year is the year of a day or month that is given without one, as the clause at
// token i tells; near is what is nearest to the document's time.
func (d *dater) year(i, today, near int, begin func(year int) (first, until int), grain Grain) int {
	last, _, _ := calendar.Civil(today)
	for from, _ := begin(last); from > today; from, _ = begin(last) {
		last--
	}
	next := last
	for _, until := begin(next); until <= today; _, until = begin(next) {
		next++
	}
	ahead, _ := begin(next)
	ahead -= today
	_, over := begin(last)
	bound := d.preposition(i)
	switch d.tense(i, grain) {
	case bygone:
		if bound == "for" && grain == Month {
			return near // the rent for December may have been paid before
		}
		return last
	case coming:
		if grain == Day && (today-over < lateNote || bound == "until" && ahead > maxAhead) {
			return near
		}
		return next
	case present:
		if grain == Day && ahead <= maxAhead {
			return next
		}
	case untold:
	}
	if (bound == "until" || bound == "by") && ahead <= maxAhead {
		return next
	}
	return near
}

// preposition is the word that ties the date at i to its clause, without the small
// words between; "till" is until, and "not until" is on.
func (d *dater) preposition(i int) string {
	for i--; i > 0 && nearly[d.low(i)] && !d.r.tokens[i].First; {
		i--
	}
	switch w := d.low(i); w {
	case "until", "till", "til":
		if d.low(i-1) == "not" {
			return "on"
		}
		return "until"
	default:
		return w
	}
}

// nearly are the words between a preposition and its date.
var nearly = setOf(`the early late mid around about roughly approximately this end of beginning start middle first
	second half sunday monday tuesday wednesday thursday friday saturday`)

// tense is that of the clause that the date at token i stands in: of the finite verb
// before it that is nearest, else of the first behind it.
func (d *dater) tense(i int, grain Grain) tense {
	r := d.r
	if r.tagged.Tagged != nil && d.preposition(i) == "since" {
		return bygone
	}
	if t := r.saidTense(i); t != untold {
		return t
	}
	head := i // of the sentence, as far as is looked at
	for head > max(0, i-maxClause) && !r.tokens[head].First {
		head--
	}
	at := i - 1
	for at > head && nearly[r.lows[at]] {
		at--
	}
	prep := d.preposition(i)
	switch prep {
	case "since":
		return bygone
	case "of", "from":
		if at > head && told[r.lows[at-1]] {
			return bygone // the minutes of 3 May
		}
	}
	c := clause{r: r, head: head, to: min(d.to, i+maxClause), date: i, prep: prep, grain: grain}
	from := c.begins(i)
	if t := c.backward(i-1, from); t != untold {
		return c.seen(t, from)
	}
	until := i + 1
	for until < c.to && !c.border(until) {
		until++
	}
	if t := c.forward(i+1, until); t != untold {
		return c.seen(t, from)
	}
	if t := c.cue(from, until); t != untold {
		return t
	}
	if from > head {
		if t := c.backward(from-1, head); t != untold {
			return t
		}
	}
	return c.forward(until, c.to)
}

// clause looks for the verb that governs a date.
type clause struct {
	r        *reader
	head, to int // the sentence
	date     int // where the date begins
	prep     string
	grain    Grain
}

// border tells whether a mark ends a clause.
func (c *clause) border(i int) bool {
	if c.r.tokens[i].Kind != tagger.Mark {
		return false
	}
	switch c.r.lows[i][0] {
	case ',', ';', ':', '(', ')', '[', ']', '-', '|', '?', '!', '.':
		return true
	}
	w := c.r.lows[i]
	return w == "–" || w == "—" || w == "•" || w == "→"
}

// begins is the first token of the clause that holds token i.
func (c *clause) begins(i int) int {
	for i > c.head && !c.border(i-1) {
		i--
	}
	return i
}

// backward gives the tense of the last finite verb of [from, at]. What may as well be a
// noun counts where no verb before it is of the same clause.
func (c *clause) backward(at, from int) tense {
	infinitive, joint := false, false
	perhaps := untold
	for j := at; j >= from; j-- {
		if c.infinitive(j) {
			infinitive = true
			continue
		}
		t, sure := c.finite(j)
		switch {
		case t == untold:
			joint = joint || perhaps != untold && (joints[c.r.lows[j]] || c.r.lows[j] == "which")
		case !sure:
			if perhaps == untold {
				if infinitive && t == present {
					t = coming // and wants to leave
				}
				perhaps, joint, infinitive = t, c.dated(j-1), false
			}
		case perhaps != untold && (joint || speech[c.r.lows[j]] || c.relative(j)):
			return perhaps // they said the course starts; what was signed ends
		case infinitive && (t == present || t == bygone && intents[c.r.lows[j]]):
			return coming // they agreed to meet
		default:
			return t
		}
	}
	if infinitive && perhaps != bygone {
		return coming
	}
	return perhaps
}

// dated tells whether a date ends at j: what stands before it is another clause's.
func (c *clause) dated(j int) bool {
	w := c.low(j)
	return months[w] > 0 || weekdays[w] > 0 || j >= c.head && c.r.tokens[j].Kind == tagger.Number && len(w) == 4
}

// relative tells whether the verb at j is that of a relative clause.
func (c *clause) relative(j int) bool {
	for k := j - 1; k >= c.head && k > j-4 && !c.border(k); k-- {
		switch c.r.lows[k] {
		case "who", "which", "that":
			return true
		}
	}
	return false
}

// forward gives the tense of the first finite verb of [at, until), beside those of
// relative clauses.
func (c *clause) forward(at, until int) tense {
	relative := false
	for j := at; j < until; j++ {
		switch c.r.lows[j] {
		case "who", "which", "that", "whose", "whom":
			relative = true
			continue
		}
		if relative && c.border(j) {
			relative = false
		}
		t, _ := c.finite(j)
		if t == untold {
			continue
		}
		if relative {
			relative = false
			for j+1 < until && (c.auxiliary(j) || adverb(c.r.lows[j+1])) {
				j++ // with what belongs to the verb
			}
			continue
		}
		return t
	}
	return untold
}

// seen is a tense with what else the clause says: a wedding that is on a day is to come.
func (c *clause) seen(t tense, from int) tense {
	if t == present {
		for j := from; j < c.date; j++ {
			if w := c.r.lows[j]; expected[w] || occasions[w] {
				return coming
			}
		}
	}
	return t
}

// cue is what nouns tell where there is no verb.
func (c *clause) cue(from, until int) tense {
	for j := from; j < until; j++ {
		switch w := c.r.lows[j]; {
		case expected[w]:
			return coming
		case j == from && records[w] || w == "last" || w == "previous" || w == "thanks" || w == "sorry" || w == "yesterday":
			return bygone
		}
	}
	return untold
}

var (
	// expected is what is to come, occasions are what is spoken of in the present
	// until it is over.
	expected = setOf(`next upcoming deadline due appointment reminder todo eta planned scheduled tbc rsvp forthcoming
		forward`)
	occasions = setOf(`exam exams wedding birthday party concert interview meeting launch release premiere conference
		opening surgery operation flight graduation hearing trial festival workshop match final demo election vote kickoff
		reunion anniversary marathon race trip handover inspection audit retro review presentation lecture seminar rehearsal
		performance gig funeral ceremony dinner viewing`)
	// records are of what was, and so is what others tell of a day.
	records = setOf(`notes minutes photo photos picture pictures recap summary recording transcript protocol log`)
	told    = setOf(`notes minutes photo photos picture pictures recap summary recording transcript protocol log report
		results receipt invoice mail email message letter call conversation news incident outage visit`)
)

// infinitive tells whether a verb with "to" stands at j, which tells no time.
func (c *clause) infinitive(j int) bool {
	r := c.r
	if r.lows[j] != "to" || j+1 >= c.date || r.tokens[j+1].Kind != tagger.Word || r.capital(j+1) {
		return false
	}
	return !c.noun(j+1) && !pasts[r.lows[j+1]] && !adverb(r.lows[j+1])
}

// noun tells whether a word is no verb, by what it is: an article and the like.
func (c *clause) noun(j int) bool {
	w := c.r.lows[j]
	return determiners[w] || prepositions[w] || objects[w] || w == "and" || w == "or"
}

var (
	determiners = setOf(`a an the my your his her its our their this that these those some any no every each another both
		all`)
	prepositions = setOf(`of in to for with on at by from about into over after under between through during without before
		against within upon across toward towards via off onto inside outside behind beyond until till since near around than
		as`)
	objects  = setOf(`me him them us myself himself herself themselves ourselves yourself`)
	subjects = setOf(`i we they he she you it who there this that everybody everyone nobody someone somebody`)
	joints   = setOf(`and but or so then that if when while because although though since as before after until once unless
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
func (c *clause) auxiliary(j int) bool {
	switch w := c.r.lows[j]; w {
	case "will", "wo", "shall", "would", "should", "must", "might", "may", "could", "can", "ca", "cannot", "ought", "am",
		"is", "are", "was", "were",
		"be", "been", "being", "has", "have", "had", "do", "does", "did":
		return true
	default:
		return c.r.tokens[j].Kind == tagger.Suffix || adverb(w)
	}
}

// after is the first token behind j that is no adverb and no pronoun (which stand
// between the two parts of a verb, the latter in questions), up to some.
func (c *clause) after(j int) int {
	for k := j + 1; k < c.to && k < j+5; k++ {
		if w := c.r.lows[k]; !adverb(w) && w != "i" && w != "we" && w != "they" && w != "he" && w != "she" &&
			w != "you" && w != "it" {
			return k
		}
	}
	return c.to
}

func (c *clause) low(j int) string {
	if j < c.head || j >= c.to {
		return ""
	}
	return c.r.lows[j]
}

// heads tells whether the clause has nothing before token j.
func (c *clause) heads(j int) bool {
	return j == c.head || c.r.tokens[j-1].Kind == tagger.Mark || joints[c.r.lows[j-1]]
}

// finite is the tense of the finite verb at j, untold without a finite verb, and whether
// it surely is a verb.
func (c *clause) finite(j int) (t tense, sure bool) {
	if t = c.explicit(j); t != untold {
		return t, true
	}
	return c.plain(j)
}

// explicit is the tense of an auxiliary or a past form at j.
func (c *clause) explicit(j int) tense {
	r := c.r
	if k := r.tokens[j].Kind; k != tagger.Word && k != tagger.Suffix {
		return untold
	}
	w := r.lows[j]
	if !c.heads(j) && w != "i" && r.tokens[j].Kind == tagger.Word && r.capital(j) {
		return untold // a name: Will, May
	}
	if j >= c.date && months[w] > 0 {
		return untold
	}
	switch w {
	case "will", "'ll", "’ll", "wo", "shall", "gonna", "gotta", "wanna":
		return coming
	case "would", "should", "must", "might", "may", "can", "ca", "cannot", "ought", "could":
		switch next := c.low(c.after(j)); {
		case next == "have" || next == "'ve" || next == "’ve":
			return bygone
		case w == "could" && (c.low(j+1) == "not" || c.low(j+1) == "n't" || c.low(j+1) == "n’t"):
			return bygone
		}
		return coming
	case "'d", "’d":
		if c.past(c.after(j)) {
			return bygone
		}
		return coming
	case "am", "is", "are", "'m", "’m", "'re", "’re":
		return c.being(j)
	case "'s", "’s":
		return c.apostrophe(j)
	case "was", "were", "did":
		return bygone
	case "had":
		if c.low(j+1) == "better" {
			return coming
		}
		return bygone
	case "has", "have", "'ve", "’ve":
		if c.led(j) {
			return untold
		}
		return c.having(j)
	case "do", "does":
		switch {
		case c.led(j):
			return untold
		case w == "do" && c.heads(j):
			return coming // don't forget; and questions
		}
		return present
	case "let":
		if next := c.low(j + 1); c.heads(j) || next == "'s" || next == "’s" || next == "us" {
			return coming
		}
	case "due":
		if before := c.low(j - 1); before == "was" || before == "were" {
			return bygone
		}
		return coming
	case "great", "nice", "good", "lovely", "fun":
		if c.heads(j) && strings.HasSuffix(c.low(j+1), "ing") {
			return bygone // nice talking to you
		}
	case "thank", "thanks", "sorry", "congratulations", "congrats":
		if c.heads(j) {
			return bygone
		}
	}
	if c.past(j) {
		return c.participle(j)
	}
	return untold
}

// led tells whether the verb at j belongs to an auxiliary before it: did you do.
func (c *clause) led(j int) bool {
	for k := j - 1; k >= c.head && k > j-5; k-- {
		switch w := c.r.lows[k]; {
		case w == "to", w == "let", c.auxiliary(k) && c.r.tokens[k].Kind == tagger.Word && !adverb(w), w == "'ll", w == "’ll",
			w == "'d", w == "’d":
			return true
		case !adverb(w) && !subjects[w]:
			return false
		}
	}
	return false
}

// being is the tense of a form of be, which is at j: who is moving in May will.
func (c *clause) being(j int) tense {
	k := c.after(j)
	switch w := c.low(k); {
	case w == "to", w == "about" && c.low(k+1) == "to", w == "off", intents[w], movers[w], plans[w]:
		return coming
	case strings.HasSuffix(w, "ing") && len(w) > 4 && !lasting[w] && (k < c.date || j > c.date):
		return coming
	}
	return present
}

// lasting is what somebody does as they write.
var lasting = setOf(`writing calling emailing mailing asking thinking wondering waiting working trying looking living
	using reading hoping struggling running missing having`)

// apostrophe reads an 's: "it's on Friday", "she's left"; what belongs to somebody is
// no verb.
func (c *clause) apostrophe(j int) tense {
	before, next := c.low(j-1), c.low(c.after(j))
	switch {
	case before == "let":
		return coming
	case !subjects[before] && before != "here" && before != "what":
		if prepositions[c.low(j+1)] {
			return present // the party's on Friday
		}
		return untold
	case next == "been", next == "got", next == "had", next == "gone",
		(before == "he" || before == "she" || before == "who") && c.past(c.after(j)):
		return bygone
	}
	return c.being(j)
}

// having is the tense of has and have: who has to will, who has had had.
func (c *clause) having(j int) tense {
	k := c.after(j)
	switch w := c.low(k); {
	case w == "to", w == "got" && c.low(k+1) == "to":
		return coming
	case c.past(k), bases[w]:
		if w == "been" {
			k = c.after(k)
		}
		if j > c.date && changed[c.low(k)] {
			return coming // the concert on Friday has been cancelled
		}
		if k >= c.to {
			return bygone
		}
		if t := c.planned(k); t != untold {
			return t
		}
		return bygone
	}
	return present
}

// changed is what is done to what is still to come.
var changed = setOf(`cancelled canceled confirmed announced postponed moved rescheduled booked called delayed brought`)

// bases are participles that look like the verb itself.
var bases = setOf(`come become run overcome`)

// past tells whether a past form or a participle stands at j.
func (c *clause) past(j int) bool {
	if j < c.head || j >= c.to || c.r.tokens[j].Kind != tagger.Word {
		return false
	}
	w := c.r.lows[j]
	if weekdays[w] > 0 {
		return false
	}
	if same[w] {
		// "She put": in the present it were puts. At the head of a clause it is asked for.
		return !c.heads(j)
	}
	return pasts[w] || len(w) > 3 && strings.HasSuffix(w, "ed") && !notPast[w]
}

// notPast end as the past forms do.
var notPast = setOf(`need feed seed weed speed breed bleed exceed proceed succeed indeed heed deed greed creed reed
	steed hundred sacred naked wicked kindred excited tired interested worried scared delighted pleased thrilled embed
	unused biased aged beloved bed shed sled`)

// participle is the tense of a past form at j, by the auxiliary before it.
func (c *clause) participle(j int) tense {
	r := c.r
	if before := c.low(j - 1); j > c.head &&
		(determiners[before] && before != "that" && before != "this" && before != "all" && before != "both" ||
			r.tokens[j-1].Kind == tagger.Suffix && (before == "'s" || before == "’s") && !subjects[c.low(j-2)]) {
		return untold // the planned move
	}
	have := false
	for k := j - 1; k >= c.head && k > j-7; k-- {
		switch w := r.lows[k]; w {
		case "been", "be", "being", "get", "gets", "getting":
			continue
		case "have", "'ve", "’ve":
			have = true
			continue
		case "will", "'ll", "’ll", "wo", "shall":
			return coming
		case "would", "should", "must", "might", "may", "can", "ca", "cannot", "could", "ought":
			if r.capital(k) && !c.heads(k) {
				break
			}
			if have {
				return bygone
			}
			return coming
		case "to":
			if have {
				return bygone
			}
			return c.passive(k)
		case "is", "are", "am", "'re", "’re", "'m", "’m":
			if plans[r.lows[j]] || movers[r.lows[j]] {
				return coming
			}
			return present
		case "'s", "’s":
			if c.apostrophe(k) == present {
				return present
			}
		default:
			if adverb(w) || k < j-1 && subjects[w] {
				continue
			}
		}
		break
	}
	if t := c.planned(j); t != untold {
		return t
	}
	if (c.heads(j) || c.prep == "until") && states[r.lows[j]] {
		return present // closed until Monday
	}
	return bygone
}

// states are what a thing is said to be, rather than what was done to it.
var states = setOf(`closed booked located based expected planned scheduled blocked reserved`)

// passive is the tense of the verb before "to be done" at k: "it needs to be paid" is
// to come, "it had to be paid" was.
func (c *clause) passive(k int) tense {
	if c.backward(k-1, c.begins(k)) == bygone && !intents[c.low(k-1)] {
		return bygone
	}
	return coming
}

// planned is coming where what was done was to fix something for the date: moved to
// it, booked for it, promised by it.
func (c *clause) planned(j int) tense {
	w := c.r.lows[j]
	fixed := false
	switch c.prep {
	case "for":
		fixed = plans[w] || movers[w] || c.grain == Day
	case "to":
		fixed = movers[w]
	case "until":
		fixed = movers[w] || plans[w]
	case "by":
		fixed = intents[w] || plans[w] && w != "booked"
	}
	if fixed {
		return coming
	}
	return untold
}

var (
	// plans fix something for a time, movers move it there, intents say what is to be
	// done.
	plans = setOf(`scheduled planned booked set arranged reserved expected slated invited announced confirmed pencilled
		penciled agreed fixed targeted estimated timed promised`)
	movers = setOf(`moved postponed pushed shifted delayed deferred rescheduled extended brought put changed switched
		bumped prolonged adjourned renewed hired suspended granted`)
	intents = setOf(`agreed promised decided planned hoped wanted asked told expected offered intended needed scheduled
		invited meant swore vowed arranged supposed going due set ready wants want hopes hope plan plans intend intends
		reminded urged ordered requested instructed begged likely bound`)
)

// plain is the tense of a verb in its plain form at j: what somebody is asked to do, or
// what is said in the present. It is not sure where the word may be a noun.
func (c *clause) plain(j int) (t tense, sure bool) {
	r := c.r
	if r.tokens[j].Kind != tagger.Word || !c.heads(j) && r.lows[j] != "i" && r.capital(j) {
		return untold, false
	}
	w := r.lows[j]
	switch w {
	case "i", "we", "they", "he", "she", "you", "it", "who", "everybody", "everyone", "nobody":
		return c.pronoun(j), true
	}
	if c.noun(j) || j+1 < c.to && r.tokens[j+1].Kind == tagger.Suffix {
		return untold, false
	}
	third, ok := strings.CutSuffix(w, "s")
	soon := ok && (scheduled[third] || scheduled[strings.TrimSuffix(third, "e")] || wishes[third])
	if c.heads(j) {
		switch before := c.low(j - 1); {
		case !ok || j == c.head || before != "," && before != "and" && before != "but" && before != "or" && before != "then":
		case soon:
			return coming, false // it began, and ends
		case c.verbal(j):
			return present, false
		}
		if ok || strings.HasSuffix(w, "ing") || subjects[w] {
			return untold, false
		}
		if requests[w] || (scheduled[w] || c.verbal(j)) && c.objective(j+1) {
			return coming, true
		}
		return untold, false
	}
	if !c.subject(j - 1) {
		return untold, false
	}
	switch {
	case scheduled[w] && plural(r.lows[j-1]):
		return coming, false // doors open
	case soon:
		return coming, false // the lease ends
	case ok && c.verbal(j) && !plural(r.lows[j-1]):
		return present, false
	}
	return untold, false
}

// verbal tells whether dictionaries know the word at j as a verb.
func (c *clause) verbal(j int) bool {
	e, _ := c.r.model.Find(c.r.lows[j])
	return e.Class.Part() == tagger.Verb
}

// subject tells whether the word at j may be the last of what a verb behind it is said
// of.
func (c *clause) subject(j int) bool {
	if j > c.head && c.r.tokens[j].Kind == tagger.Number { // version 3
		if len(c.low(j)) == 4 {
			return true // the class of 2019
		}
		j--
		if c.past(j) || c.auxiliary(j) {
			return false // hired 2 nurses
		}
	}
	w := c.low(j)
	if j < c.head || c.r.tokens[j].Kind != tagger.Word || determiners[w] || prepositions[w] || adverb(w) && w != "back" {
		return false
	}
	e, _ := c.r.model.Find(w)
	return e.Class.Part() != tagger.Adjective && e.Class.Part() != tagger.Numeral
}

// pronoun is the tense of the verb behind the pronoun at j, which is its subject.
func (c *clause) pronoun(j int) tense {
	r := c.r
	if w := r.lows[j]; (w == "you" || w == "it" || w == "who") && !c.heads(j) {
		return untold // an object
	}
	k := j + 1
	for k < c.to && k < j+4 && adverb(r.lows[k]) {
		k++
	}
	switch {
	case k >= c.to || r.tokens[k].Kind != tagger.Word, c.noun(k), joints[r.lows[k]], subjects[r.lows[k]],
		j < c.date && k >= c.date, months[r.lows[k]] > 0:
		return untold
	case c.auxiliary(k), c.past(k):
		return c.explicit(k)
	case thoughts[r.lows[k]]:
		return untold // "I think" tells of no time
	}
	third := strings.TrimSuffix(r.lows[k], "s")
	if scheduled[r.lows[k]] || scheduled[third] || scheduled[strings.TrimSuffix(third, "e")] || wishes[third] {
		return coming
	}
	return present
}

// wishes are about what is to come.
var wishes = setOf(`want need plan hope expect intend aim wish promise`)

// objective tells whether what a request is about can begin at j: "call Ann", "water
// article plants", but no preposition, as behind "lunch".
func (c *clause) objective(j int) bool {
	if j >= c.to || c.r.tokens[j].Kind == tagger.Mark {
		return false
	}
	w := c.r.lows[j]
	return determiners[w] || objects[w] || c.r.capital(j) || w == "her" || w == "it" || w == "you" || w == "to" ||
		!prepositions[w] && j < c.date
}

// thoughts are what somebody does while they speak; speech is what leads to a clause of
// its own.
var (
	thoughts = setOf(`know think guess believe suppose remember hear mean assume reckon bet see gather understand doubt`)
	speech   = setOf(`said says say told tell tells thinks think heard hear hears know knows knew thought wrote writes hope
		hopes believe believes is was are mentioned announced explained confirmed read saw see`)
)

func plural(w string) bool {
	return len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss")
}

var (
	// scheduled are the verbs that are said in the present of what is to come: the
	// course starts in May.
	scheduled = setOf(`end start begin open close expire launch leave arrive depart return reopen resume finish retire move
		join ship land present visit fly run stop renew kick go take come meet play host travel deliver release merge migrate
		switch marry graduate elapse lapse terminate mature publish premiere air debut replace cut change hand celebrate
		relocate`)
	// requests are verbs that ask at the head of a clause, although they may be nouns,
	// too.
	requests = setOf(`call book order check move pay review talk walk pick send ask bring buy get give remember see meet
		come go take make find fix clean cook write read email mail text ring visit plan prepare finish start submit return
		renew cancel invite note join ship update schedule file sign print collect drop put set cut hand deliver wait stay
		arrange confirm water repaint mow test deploy release merge reply answer contact tell ping sync leave turn try use
		keep save mark register apply close open`)
	// same are verbs whose past looks like the present.
	same = setOf(`put set cut let read hit cost shut hurt quit spread cast split bet`)
	// pasts are the past forms and participles that do not end in -ed.
	pasts = setOf(`arose arisen awoke became began begun bent blew blown bought bound bred broke broken brought built burnt
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
