package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// What a sentence must be like to answer a question, whatever the reader thinks of it: it tells something, it has what
// can be of the kind that is asked, and it speaks of what the question names. A word too many in these lists lets a
// wrong answer pass, and one too few loses a right one, so they are generous.

// nods are words that agree, doubt or refuse, and tell nothing of what.
var nods = text.Set(`yes yeah yep yup ya yah nope no nah ok okay k sure right exactly indeed probably maybe
	perhaps possibly definitely absolutely totally certainly true correct agreed same here too so think guess
	suppose believe hope not either i it is that s was course of fair enough good point nice cool great thanks
	thank you lol haha hm hmm ah oh well alright fine done ditto idk dunno know don t really very much all quite
	i'm this one ja nein doch klar genau stimmt vielleicht wahrscheinlich oui non peut être d'accord sí si no claro
	vale quizás forse certo sim não talvez claro nee misschien zeker`)

// asksAddress matches what asks for an address, or for where something is to be found.
var asksAddress = anyOf(`links? urls? address(?:es)? websites? sites? pages? web repos? repository where which\s+issue
	documentation docs? recordings? wo adresse webseite seite où lien dónde enlace dove collegamento waar onde`)

// opensQuestion matches the beginning of a sentence that asks though no mark says so, behind words that lead to it.
var opensQuestion = regexp.MustCompile(`(?i)^` +
	`(?:(?:so|and|but|also|ok|okay|hey|hi|well|anyway|greetings)\b[,!]?\s+(?:[\pL<>@]+[,!]\s+)?){0,2}` +
	`(?:(?:do|does|did|is|are|was|were|can|could|would|should|will|has|have)\s+(?:not\s+)?(?:you|we|i|he|she|` +
	`they|there|any(?:one|body|thing)?|some(?:one|body))\b|(?:does|did|is|was|can|could|would|should|will)\s+it\b|` +
	`(?:what|who|where|when|why|how)\s+(?:do|does|did|can|could|would|should|about)\b|` +
	`any(?:one|body)\s+(?:know|here|have|else)\b)`)

// kind is what a question asks for.
type kind uint8

const (
	anything kind = iota
	somebody
	aTime
	aNumber
)

// Of English questions it is known what they ask for.
var (
	asksTime = regexp.MustCompile(`(?i)^\W*(?:since |until |till |by |from )?(?:when\b|(?:at )?(?:what|which) time\b|` +
		`(?:on |in )?(?:what|which) (?:day|date|month|year|weekday)\b)`)
	asksNumber = regexp.MustCompile(`(?i)^\W*(?:how (?:much|many)\b|what (?:do|does|did|will|would)\b.*\bcosts?\W*$|` +
		`(?:at )?what (?:price|percentage)\b)`)
	asksAPerson  = regexp.MustCompile(`(?i)^\W*(?:who|whom|whose)\b`)
	timeWords    = text.Set(timesInWords)
	numberWords  = text.Set(numbersInWords)
	personsWords = text.Set(`i we he she they you his her hers their theirs him them my our me us mine ours your yours
		someone somebody nobody everyone everybody anyone anybody none neither both all`)
)

const (
	timesInWords = `monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
		saturdays sundays mon tue tues wed weds thu thur thurs fri sat sun january february march april may june july
		august september october november december jan feb mar apr jun jul aug sep sept oct nov dec christmas easter
		whitsun pentecost advent ramadan diwali hanukkah eid passover lent halloween thanksgiving carnival spring summer
		autumn fall winter springtime summertime today tomorrow yesterday tonight now noon midday midnight morning mornings
		evening evenings afternoon afternoons night nights dawn dusk sunrise sunset lunch lunchtime breakfast dinner supper
		bedtime day days week weeks weekend weekends weekday weekdays month months year years hour hours minute minutes
		fortnight decade century quarter quarterly term semester season holidays holiday after before until till once when
		whenever while during since soon later earlier early late next last first again already not never always ever daily
		weekly monthly yearly annually hourly nightly ago then just recently immediately straight end start beginning middle
		o'clock oclock am pm bst gmt utc asap eod birthday anniversary closing opening release version milestone sprint`
	numbersInWords = `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
		seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand
		thousands million millions billion billions half halves quarter quarters third thirds fifth dozen dozens couple few
		several many most more less fewer all none no nobody nothing both double triple twice once pair pairs single free
		every each another score tenner fiver grand nil zero enough plenty lots everyone everybody whole entire never not
		gone sold neither lone alone only just some little`
)

// kindAsked is what a question asks for.
func kindAsked(question string) kind {
	switch {
	case asksTime.MatchString(question):
		return aTime
	case asksNumber.MatchString(question):
		return aNumber
	case asksAPerson.MatchString(question):
		return somebody
	}
	return anything
}

// has tells whether a sentence has anything that could be of a kind.
func (k kind) has(sentence string) bool {
	if k == anything {
		return true
	}
	if strings.ContainsFunc(sentence, text.Spaceless) { // written in a script whose words are in no list
		return true
	}
	if k == somebody {
		for _, w := range spokenWords(sentence) {
			first, _ := utf8.DecodeRuneInString(sentence[w.Start:])
			if personsWords[w.low] || works[w.low] || unicode.IsUpper(first) && text.FunctionWord(w.low) == 0 {
				return true
			}
		}
		return false
	}
	if strings.ContainsFunc(sentence, unicode.IsNumber) {
		return true
	}
	for _, w := range wordsOf(sentence) {
		if numberWords[w] || k == aTime && timeWords[w] {
			return true
		}
	}
	return false
}

// withoutAddresses is a sentence without its addresses, and those whom a chat calls on: "<@Ben>", "@ben".
func withoutAddresses(s string) string {
	s = link.ReplaceAllString(image.ReplaceAllString(s, "$1"), "$1")
	return calledOn.ReplaceAllString(address.ReplaceAllString(s, " "), " ")
}

// calledOn is how a chat writes whom something is said to.
var calledOn = regexp.MustCompile(`<@[^<>\s]{1,60}>|(?:^|\s)@[\pL\pN._-]{1,40}`)

// tellsNothing reports whether a sentence, as one would say it, answers no question: it is a nod, it asks, or it is an
// address where none is asked for.
func tellsNothing(question, sentence string) bool {
	if asks(sentence) {
		return true
	}
	if asksAddress.MatchString(question) && address.MatchString(sentence) {
		return false
	}
	rest := withoutAddresses(sentence)
	label := labelled(rest)
	if label > 0 && mentions(question, wordsOf(rest[:label])) { // the value of what is asked: "Status: fine"
		return false
	}
	if len(rest) == len(sentence) && len(wordsOf(rest[label:])) == 0 {
		label = 0
	}
	for _, w := range wordsOf(rest[label:]) {
		if !nods[w] {
			return false
		}
	}
	return len(rest) < len(sentence) || asksWhat.MatchString(question)
}

// asksWhat matches questions that a nod does not answer.
var asksWhat = regexp.MustCompile(`(?i)^\W*(?:what|which|where|how (?:much|many|often|long|far|old|do|does|can)|why|` +
	`who|when|whose)\b`)

// asks tells whether a sentence is a question.
func asks(sentence string) bool {
	s := strings.TrimRight(sentence, "\"'”’»)*_ ")
	if strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") {
		return true
	}
	s = strings.TrimSpace(withoutAddresses(sentence))
	s = s[labelled(s):]
	opening := opensQuestion.FindString(s)
	return opening != "" && !strings.ContainsAny(s[len(opening):], ",;:–—") // behind which one may say something
}

// named are the things that a question names: each the words of one name, in small letters. Times do not count, nor do
// the nouns of German, which have capitals too; there only what has a digit in it counts.
func named(question string) (things [][]string) {
	german := text.LanguageOfQuestion(question) == text.German
	last := -1
	for i, w := range spokenWords(question) {
		letters := strings.ContainsFunc(w.low, unicode.IsLetter)
		digits := strings.ContainsFunc(w.low, unicode.IsNumber) && !unicode.IsNumber(rune(w.low[0]))
		capital := w.name && i > 0 && w.End-w.Start > 1 && !german
		if !letters || timeWords[w.low] || addressing[w.low] || !capital && !digits {
			continue
		}
		if len(things) > 0 && last == i-1 {
			things[len(things)-1] = append(things[len(things)-1], w.low)
		} else {
			things = append(things, []string{w.low})
		}
		last = i
	}
	return things
}

// addressing are words that stand before a name and are not part of it.
var addressing = text.Set(`mr mrs ms miss dr prof professor sir madam st herr frau monsieur madame señor señora signor
	signora i i'm i'd i've mum dad mom grandma grandpa`)

// unnamedIn tells whether a question names something that none of some texts speaks of.
func unnamedIn(question, all string) bool {
	for _, thing := range named(question) {
		if !mentions(all, thing) {
			return true
		}
	}
	return false
}

// fits tells whether what is said of a passage can answer a question, whatever the reader thinks of it.
func (p *Read) fits(question, sentence string) bool {
	passage, at := p.known()
	topic, nested := topicOf(passage, at.Start)
	if topic != "" {
		sentence = strings.TrimPrefix(sentence, topic+": ")
	}
	if tellsNothing(question, sentence) || heads(passage, at.Start) && !holdsValue(sentence) {
		return false
	}
	if nested && topic == "" {
		return false // what it is about stands in no passage that is known
	}
	if p.Answers >= sureUnnamed { // what follows is guessed by words
		return true
	}
	if !kindAsked(question).has(withoutAddresses(sentence)) {
		return false
	}
	return p.Hit.GetKeyword() >= sharedUnnamed ||
		!unnamedIn(question, p.Who+"\n"+p.Hit.GetTitle()+"\n"+p.Hit.GetChunk())
}

// holdsValue tells whether a line that others stand under says something itself: it has a number, which is not that of
// an issue, or something behind a colon, or a verb that no heading has.
func holdsValue(sentence string) bool {
	s := withoutAddresses(issue.ReplaceAllString(sentence, " "))
	if slices.ContainsFunc(wordsOf(s), func(w string) bool { return finite[w] }) {
		return true
	}
	return strings.ContainsFunc(s, unicode.IsNumber) || strings.Contains(strings.TrimRight(s, ": ."), ": ")
}

// finite are verbs that make a sentence of a line.
var finite = text.Set(`is are was were has have had will would can could must does did isn't aren't wasn't won't can't
	ist sind war waren hat haben hatte wird werden est sont était a ont es son era è sono`)

// issue is how the number of an issue is written.
var issue = regexp.MustCompile(`#\d+`)
