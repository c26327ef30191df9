package text

import (
	"math/bits"
	"unicode/utf8"

	"orgmem/brain/text/language"
)

// Thresholds of the language identifier, in units of language.Unit per nat.
const (
	// leaveEnglish is by how much another language must be likelier than English before a passage is taken for it: names
	// and jargon look like anything, and what is in doubt is English.
	leaveEnglish = 2 * language.Unit
	// leaveEnglishShort is the same for one word or two, and less for three.
	leaveEnglishShort = 6 * language.Unit
	shortText         = 2
	// leavePassage is the same for a sentence in a passage of another language.
	leavePassage = 6 * language.Unit
	// leaveRussian is the same for Cyrillic script, whose default is Russian.
	leaveRussian = language.Unit / 2
	// minSentence is how many words a sentence needs to be judged by itself.
	minSentence = 4
	// ownWord is what a function word speaks for the language that alone has it, and sharedWord where at most maxShared do.
	ownWord    = 4 * language.Unit
	sharedWord = 5 * language.Unit / 2
	maxShared  = 3
	// foreignShare: one word in so many of a foreign sentence in an English passage is a function word. Lists of names,
	// which look like any language, have none.
	foreignShare = 6
	// maxJudged is how many words of a sentence are read: more say nothing new.
	maxJudged = 24
)

// langOfCode gives the name space in which the languages that the identifier knows are stemmed. Catalan goes with
// Spanish, Slovak with Czech, Afrikaans with Dutch, Malay with Indonesian, Belarusian with Ukrainian, other Cyrillic with
// Russian; what is not named here is taken as it always was, by the rules of English.
var langOfCode = map[string]Lang{
	"en": English, "de": German, "fr": French, "es": Spanish, "ca": Spanish, "pt": Portuguese, "it": Italian,
	"nl": Dutch, "af": Dutch, "sv": Swedish, "nb": Norwegian, "da": Danish, "fi": Finnish, "hu": Hungarian,
	"ro": Romanian, "tr": Turkish, "pl": Polish, "cs": Czech, "sk": Czech, "id": Indonesian, "ms": Indonesian,
	"vi": Vietnamese, "ru": Russian, "bg": Russian, "sr": Russian, "mk": Russian, "uk": Ukrainian, "be": Ukrainian,
}

// LanguageOfCode gives the language that a two-letter code of ISO 639-1 stands for, of those in Latin or Cyrillic script
// that have function words of their own.
func LanguageOfCode(code string) (Lang, bool) {
	switch code {
	case "ca", "sk", "af", "ms", "be", "bg", "sr", "mk":
		return Neutral, false
	}
	l, ok := langOfCode[code]
	return l, ok
}

// langsOf gives the languages of a group's columns.
func langsOf(g language.Group) []Lang {
	codes := g.Codes()
	langs := make([]Lang, len(codes))
	for k, c := range codes {
		langs[k] = English
		if l, ok := langOfCode[c]; ok {
			langs[k] = l
		}
	}
	return langs
}

var (
	latinColumns = langsOf(language.Latin)
	cyrilColumns = langsOf(language.Cyrillic)
)

// likeliest gives the language with the best score, and by how much it beats the given one.
func likeliest(of *language.Sums, columns []Lang, over Lang) (Lang, int32) {
	best, other := 0, int32(-1<<31)
	for k, l := range columns {
		if of[k] > of[best] {
			best = k
		}
		if l == over {
			other = max(other, of[k])
		}
	}
	return columns[best], of[best] - other
}

// sentence is a stretch of the tokens of a passage.
type sentence struct {
	from, to int
	// words are those in Latin script that say something about their language.
	words int
	// english, shared and foreign count function words: those that English alone has, English too, and not English.
	english, shared, foreign int
	// of are the scores, of a sentence that is long enough to be judged by itself.
	of language.Sums
}

// plain tells that a sentence is English beyond doubt, which its function words show at no cost.
func (s *sentence) plain() bool {
	return s.english > 0 && 2*s.english+s.shared >= 2+6*s.foreign && 6*(s.english+s.shared) >= s.words
}

// identify gives each token its language and what it is a function word of. Words in Latin script have the language of
// their passage, or of their sentence where that is clearly another one.
func (a *Analyzer) identify() {
	tokens := a.scan.tokens
	a.sentences = a.sentences[:0]
	var seen [scriptMark]bool
	for k := range tokens {
		t := &tokens[k]
		if t.first || k == 0 {
			a.endSentence(k)
		}
		if t.kind != tokWord {
			continue
		}
		seen[t.script] = true
		t.lang = defaultLang[t.script]
		if t.lang == Neutral {
			continue
		}
		t.stops = stopTable[string(a.scan.buf[t.start:t.end])]
		if t.script == scriptLatin && t.role == roleWord && !t.inName {
			s := &a.sentences[len(a.sentences)-1]
			s.words++
			switch stops := t.stops & latinLangs; {
			case stops == 1<<English:
				s.english++
			case stops.Has(English):
				s.shared++
			case stops != 0:
				s.foreign++
			}
		}
	}
	a.endSentence(len(tokens))
	if seen[scriptLatin] {
		a.identifyLatin()
	}
	if seen[scriptCyrl] {
		a.identifyCyrillic()
	}
	if seen[scriptArab] {
		a.identifyArabic()
	}
}

// defaultLang is the language of a script, before it is known better.
var defaultLang = [...]Lang{
	scriptLatin: English, scriptCyrl: Russian, scriptArab: Arabic, scriptGreek: Greek, scriptHebrew: Hebrew,
	scriptDevanagari: Hindi, scriptBengali: Bengali, scriptMark: Neutral,
}

// endSentence closes the last sentence before token k and begins another there.
func (a *Analyzer) endSentence(k int) {
	if n := len(a.sentences); n > 0 {
		a.sentences[n-1].to = k
	}
	a.sentences = append(a.sentences, sentence{from: k, to: k})
}

// identifyLatin decides on the language of the words in Latin script.
func (a *Analyzer) identifyLatin() {
	all := &a.all
	all.Reset()
	plain, words := 0, 0
	for k := range a.sentences {
		s := &a.sentences[k]
		words += s.words
		if s.plain() {
			plain += s.words
		}
	}
	for k := range a.sentences {
		s := &a.sentences[k]
		switch {
		case s.words == 0, s.plain():
		case 2*plain > words && foreignShare*s.foreign < s.words: // would stay English anyway
		default:
			a.score(s)
			all.Join(&a.work)
		}
	}
	if all.Words == 0 {
		return
	}
	passage := English
	if l, margin := likeliest(&all.Of, latinColumns, English); margin >= doubt(all.Words) && plain < all.Words {
		passage = l
	}
	for k := range a.sentences {
		s := &a.sentences[k]
		own := passage
		switch {
		case s.words == 0:
			continue
		case s.plain():
			own = English
		case passage == English && foreignShare*s.foreign < s.words: // a list of names
		case s.words >= minSentence:
			if l, margin := likeliest(&s.of, latinColumns, passage); margin >= leavePassage {
				own = l
			}
		}
		if own == English {
			continue
		}
		for i := s.from; i < s.to; i++ {
			if t := &a.scan.tokens[i]; t.kind == tokWord && t.script == scriptLatin {
				t.lang = own
			}
		}
	}
}

// speak counts a function word for the languages that have it.
func speak(s *language.Scores, stops LangSet) {
	n := bits.OnesCount32(uint32(stops))
	if n == 0 || n > maxShared {
		return
	}
	weight := int32(sharedWord)
	if n == 1 {
		weight = ownWord
	}
	for k, l := range latinColumns {
		if stops.Has(l) {
			s.Of[k] += weight
		}
	}
}

// doubt is the margin by which text of so many words leaves English.
func doubt(words int) int32 {
	switch {
	case words <= shortText:
		return leaveEnglishShort
	case words == shortText+1:
		return (leaveEnglish + leaveEnglishShort) / 2
	}
	return leaveEnglish
}

// score reads the first words of a sentence.
func (a *Analyzer) score(s *sentence) {
	work := &a.work
	work.Reset()
	for i := s.from; i < s.to && work.Words < maxJudged; i++ {
		t := &a.scan.tokens[i]
		if t.kind == tokWord && t.script == scriptLatin && t.role == roleWord && !t.inName {
			work.Add(language.Latin, a.scan.buf[t.start:t.end])
			if s.words > shortText {
				speak(work, t.stops&latinLangs)
			}
		}
	}
	if s.words >= minSentence {
		s.of = work.Of
	}
}

// identifyCyrillic decides on the language of the words in Cyrillic script, for all of the passage.
func (a *Analyzer) identifyCyrillic() {
	all := &a.all
	all.Reset()
	for i := range a.scan.tokens {
		t := &a.scan.tokens[i]
		if t.kind == tokWord && t.script == scriptCyrl && t.role == roleWord {
			if all.Words == maxJudged {
				break
			}
			all.Add(language.Cyrillic, a.scan.buf[t.start:t.end])
		}
	}
	if l, margin := likeliest(&all.Of, cyrilColumns, Russian); margin >= leaveRussian {
		a.assign(scriptCyrl, l)
	}
}

// identifyArabic decides on the language of the words in Arabic script. Persian and Urdu have letters and function words
// that Arabic has not, and Urdu some that Persian has not.
func (a *Analyzer) identifyArabic() {
	var count [langCount]int
	for i := range a.scan.tokens {
		t := &a.scan.tokens[i]
		if t.kind != tokWord || t.script != scriptArab {
			continue
		}
		if t.letters != Neutral {
			count[t.letters]++
		}
		if t.stops&(t.stops-1) == 0 { // of one language only
			for _, l := range [...]Lang{Arabic, Persian, Urdu} {
				if t.stops.Has(l) {
					count[l]++
				}
			}
		}
	}
	switch {
	case count[Urdu] > 0 && count[Urdu] >= count[Arabic]:
		a.assign(scriptArab, Urdu)
	case count[Persian] > count[Arabic]:
		a.assign(scriptArab, Persian)
	}
}

func (a *Analyzer) assign(sc script, l Lang) {
	for i := range a.scan.tokens {
		if t := &a.scan.tokens[i]; t.kind == tokWord && t.script == sc {
			t.lang = l
		}
	}
}

// lettersOf tells which language of the Arabic script has a letter that others have not.
func lettersOf(r rune) Lang {
	switch r {
	case 'ٹ', 'ڈ', 'ڑ', 'ں', 'ے', 'ہ', 'ھ', 'ۓ', 'ۂ':
		return Urdu
	case 'پ', 'چ', 'ژ', 'گ', 'ی', 'ک':
		return Persian
	case 'ة', 'أ', 'إ', 'ى':
		return Arabic
	}
	return Neutral
}

// Language tells what a text is written in: the language of most of its words. Latin script in doubt is English, and what
// has no words, or is in a script of none of the languages, is Neutral.
func (a *Analyzer) Language(s string) Lang {
	sc := &a.scan
	sc.reset()
	sc.scan(normalize(s))
	a.identify()
	return a.spoken()
}

// spoken counts the tokens of each language. Of a script without spaces two characters count as a word.
func (a *Analyzer) spoken() Lang {
	var count [langCount]int
	kana := 0
	for i := range a.scan.tokens {
		t := &a.scan.tokens[i]
		switch {
		case t.kind == tokWord && t.role == roleWord && !t.inName:
			count[t.lang]++
		case t.kind == tokBigram || t.kind == tokUnigram && t.role == roleWord:
			l := Chinese
			switch t.script {
			case scriptHangul:
				l = Korean
			case scriptCluster:
				l = Neutral
				if r, _ := utf8.DecodeRune(a.scan.buf[t.start:t.end]); r >= 0xE00 && r <= 0xE7F {
					l = Thai
				}
			case scriptKana:
				kana++
			default: // Han
			}
			count[l]++
		}
	}
	if kana > 0 { // Chinese has none
		count[Japanese] = count[Chinese]
		count[Chinese] = 0
	}
	best := Neutral
	for l, n := range count {
		if n > count[best] || n == count[best] && best == Neutral && n > 0 {
			best = Lang(l)
		}
	}
	return best
}

// LanguageOfQuestion tells what language a question is asked in, as [Analyzer.Language] does; a question without any
// words counts as English.
func LanguageOfQuestion(s string) Lang {
	var a Analyzer
	if l := a.Language(TruncateRunes(s, maxQuestion)); l != Neutral || len(a.scan.tokens) > 0 {
		return l
	}
	return English
}

// maxQuestion bounds what is read of a question, in characters.
const maxQuestion = 2000
