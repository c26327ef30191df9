package answer

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// A list of what somebody wrote last is of use only where each line says something. A message has no title but its
// first words, and these are mostly said to somebody: "Woah, that's great, Ben!".

const (
	// maxGistSentences is among how many sentences of a text one is looked for.
	maxGistSentences = 40
	// toldEnough is how many words that mean something a sentence has that can stand by itself, and toldLittle how many
	// the one that has most must have where none has so many.
	toldEnough, toldLittle = 4, 2
	// maxGist bounds a gist, in characters: so long is a title that is made of a text.
	maxGist = 120 // as text.OneLine
)

// feelings are words of how one takes what another says, in English; they say nothing of what it is about.
var feelings = text.Set(`absolutely agree agreed alright always amazing appreciate awesome awww aww bet believe best
	bless bummer certainly congrats congratulations cool crazy cute definitely did does doing done enjoy enjoyed exactly
	excited exciting fabulous fantastic feel feeling feels fine fun get gets getting glad going gonna gotta great guess
	guys haha hahaha happy hear heard hey hmm hope hoping incredible indeed interesting just keep kind kinda know let
	like likes lol look looking looks lot lots love loved lovely luck made make makes maybe mean means must need neat
	nice nope oh okay one perfect pleasure pretty probably proud really right said say saying see seem seems sense sorry
	sounds stuff super sure surely sweet tell thank thanks thing things think thinking thought totally true try trying
	understand wait want wanted welcome well whoa wish woah wonder wonderful woo woohoo wow wrong yeah yep yes yikes yup
	ain aren couldn didn doesn don hadn hasn haven isn ll re shouldn ve wasn weren won wouldn`)

// Gist is the first sentence of a text that tells something, without the courtesies and the marks of a chat around it;
// the one that tells most where none tells much, and nothing where the text is nothing but a nod. A note of a catchword
// is its own. It begins with who wrote it, if that is not empty.
func Gist(passage, who string) string {
	n := len(wordsOf(passage))
	if n > 0 && n < toldEnough && n == telling(passage) && !courtesy(passage) {
		return by(who, passage)
	}
	best, most, looked := "", toldLittle-1, 0
	for at := range text.Sentences(passage) {
		if looked++; looked > maxGistSentences {
			break
		}
		s := strings.Trim(spoken(passage, at, text.Span{}), "#*->= \t\n")
		told := telling(s)
		if asks(s) || ofReader(s) || hedges.MatchString(s) {
			continue
		}
		if told > most {
			best, most = s, told
		}
		if told >= toldEnough {
			break
		}
	}
	return by(who, best)
}

// GistOf is a sentence of a text, if it tells something, as [Gist] has it: the first that tells holds of.
func GistOf(passage, who string, holds func(sentence string) bool) string {
	for at := range text.Sentences(passage) {
		s := passage[at.Start:at.End]
		if !holds(s) {
			continue
		}
		if s = strings.Trim(spoken(passage, at, text.Span{}), "#*->= \t\n"); telling(s) >= toldLittle {
			return by(who, s)
		}
	}
	return ""
}

// Tells reports whether a title tells what something is about: it is no courtesy and no question, has a word that means
// something, and does not end in the middle of a sentence.
func Tells(title string) bool {
	words := wordsOf(title)
	if len(words) == 0 || courtesy(title) || telling(title) == 0 || asks(title) {
		return false
	}
	last, mark := words[len(words)-1], strings.TrimRight(title, " \"'”’)")
	r, _ := utf8.DecodeLastRuneInString(mark)
	return unicode.IsPunct(r) && !strings.ContainsRune(",;:–—-", r) || len(words) == 1 || !openEnds[last]
}

// openEnds are words with which a sentence does not end: a title that does was cut.
var openEnds = text.Set(`the a an of and or but that which who whose if because with from for to into at by as is are
	was were be been has have had i my your his their our its this these those der die das ein eine und oder dass weil mit
	von für zu le la les un une et ou que de du des avec pour el los y o con para il e di per het een en van voor`)

// hedges matches what is no more than a guess, and says so.
var hedges = regexp.MustCompile(`(?i)^(?:(?:so|well|but|and|hmm?|oh|anyway),?\s+)*(?:i\s+(?:guess|suppose|wonder|bet|` +
	`think\s+maybe)|maybe|perhaps|probably|fwiw|imho|imo|iirc|my\s+(?:guess|intuition)|who\s+knows)\b`)

// toReader are the words of who is spoken to, and otherwise those of whom else a sentence may be about.
var (
	toReader  = anyOf(`you your yours yourself`)
	otherwise = text.Set(`i we he she they it my our his her their its me us him them mine ours`)
)

// ofReader tells whether a sentence is about nobody but who is spoken to, as praise is: they know it.
func ofReader(s string) bool {
	if !toReader.MatchString(s) {
		return false
	}
	for i, w := range spokenWords(s) {
		if otherwise[w.low] || i > 0 && w.name || strings.ContainsFunc(w.low, unicode.IsNumber) {
			return false
		}
	}
	return true
}

// relativeDay matches days that are told from when something was written.
var relativeDay = anyOf(`yesterday today tomorrow tonight last\s+(?:night|week|month|year|` + weekday + `)
next\s+(?:week|month|year|` + weekday + `) this\s+(?:morning|afternoon|evening|week|month)
gestern heute morgen aujourd'hui demain ayer hoy mañana ieri oggi domani gisteren vandaag`)

// weekday matches the name of one.
const weekday = `(?:mon|tues|wednes|thurs|fri|satur|sun)day`

// Dated is what was written on a day, with that where it has a day that is told from it: "the boiler came yesterday".
func Dated(s string, atMs int64) string {
	if atMs == 0 || !relativeDay.MatchString(s) {
		return s
	}
	words := wordsFor(s)
	return s + " (" + words.date(atMs, 0) + ")"
}

// telling counts the words of a sentence that mean something, each once. In scripts that put no space between words two
// letters count as one.
func telling(s string) int {
	words := wordsOf(s)
	languages := text.LanguageOfQuestion(s)
	seen, spaceless := map[string]bool{}, 0
	for _, w := range words {
		r, n := utf8.DecodeRuneInString(w)
		switch {
		case text.Spaceless(r):
			spaceless += utf8.RuneCountInString(w)
		case n == len(w) || unicode.IsNumber(r) && len(w) < 3, feelings[w],
			text.FunctionWord(w).Has(text.English), text.FunctionWord(w).Has(languages):
		default:
			seen[w] = true
		}
	}
	return len(seen) + spaceless/2
}

// by is what somebody wrote on one line, cut between words where it is long.
func by(who, s string) string {
	if who != "" && s != "" {
		s = who + ": " + s
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxGist {
		return s
	}
	s = text.TruncateRunes(s, maxGist-1)
	if cut := strings.LastIndexByte(s, ' '); cut > len(s)/2 {
		s = s[:cut]
	}
	return strings.TrimRight(s, " ,;:–—-") + "…"
}
