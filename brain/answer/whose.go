package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// anyOf matches any of some words, each as a whole, whatever their case.
func anyOf(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN])(?:` + strings.Join(strings.Fields(words), "|") + `)(?:$|[^\pL\pN])`)
}

// ofOneself are words with which people speak of themselves: of what is theirs, and of what they do.
const ofOneself = `I my mine myself ich mein meine meinen meinem meiner je j mon mes moi yo mi mis mío mía io mio mia
miei mie eu meu minha meus minhas ik mijn`

// own matches what is asked of oneself, and ofWriter a sentence that is about its writer: it begins with such a word.
var (
	own      = anyOf(ofOneself)
	ofWriter = regexp.MustCompile(`^(?i:` + strings.Join(strings.Fields(ofOneself), "|") + `)(?:$|[^\pL\pN])`)
)

// names are the words of a question that are written like names, with a capital and not at its begin, or with a number.
func names(question string) (out []string) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		if i > 0 && unicode.IsUpper(r) && utf8.RuneCountInString(w) > 1 || strings.ContainsFunc(w, unicode.IsNumber) {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// writersAsked are the words of a question, however they are written, by which somebody is known whose memory some of
// the passages are in.
func writersAsked(question string, read []Read) (asked []string) {
	language := text.LanguageOfQuestion(question)
	for _, name := range wordsOf(question) {
		if text.FunctionWord(name)&(1<<language) != 0 {
			continue
		}
		if slices.ContainsFunc(read, func(p Read) bool { return !p.Asker && mentions(p.Who, []string{name}) }) {
			asked = append(asked, name)
		}
	}
	return asked
}

// mentions tells whether a text holds any of some names, with whatever ending.
func mentions(s string, names []string) bool {
	return slices.ContainsFunc(wordsOf(s), func(w string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return sameName(name, w) })
	})
}

// mayAnswer tells whether a passage may be about what is asked. What is in another's memory is about them, or what they
// name: it answers neither what the asker asks of their own, unless the question is who, nor what is asked of a third
// whose memory is known (writers, of writersAsked). A sentence that is about its writer answers nothing of somebody
// whom the passage does not name.
func mayAnswer(question string, p *Read, writers []string) bool {
	_, sentence := p.said()
	if sentence == "" || !p.fits(question, sentence) { // nothing but a courtesy, or no answer to such a question
		return false
	}
	ofItsWriter := (p.Who != "" || !p.Asker) && ofWriter.MatchString(sentence)
	all := p.Who + "\n" + p.Hit.GetTitle() + "\n" + p.Hit.GetChunk()
	asked := names(question)
	switch {
	case mentions(all, writers):
		return true
	case !p.Asker && len(writers) > 0:
		return false
	case !p.Asker && own.MatchString(question) && (ofItsWriter || !asksSomebody(question)):
		return mentions(p.Who, asked)
	}
	return !ofItsWriter || len(asked) == 0 || mentions(all, asked)
}

// past is what asks for what was and is no more.
var past = anyOf(`previous previously former formerly used\s+to originally initially at\s+first history earlier
until\s+then back\s+then (?:the|our|my|'s)\s+old before\? vorher früher frühere früheren ursprünglich zuvor auparavant
ancien ancienne à\s+l'origine initialement anteriormente originalmente antiguo antigua precedente originariamente
in\s+precedenza antigamente antigo antiga eerder vroeger voorheen oorspronkelijk`)

// asksWho matches what asks for somebody. Dutch asks so with what is "how" in German.
var (
	asksWho      = anyOf(`who whose whom wer wessen wem wen qui quién quiénes chi quem`)
	asksWhoDutch = anyOf(`wie wiens`)
)

func asksSomebody(question string) bool {
	return asksWho.MatchString(question) ||
		text.LanguageOfQuestion(question) == text.Dutch && asksWhoDutch.MatchString(question)
}

// wordsOf are the words of a text in small letters.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

// sameName tells whether two words are one name but for an ending: Ben and Bens, and not Ann and Anna.
func sameName(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	ending, ok := strings.CutPrefix(b, a)
	if !ok || ending != "" && utf8.RuneCountInString(a) < 3 {
		return false
	}
	return ending == "" || ending == "s" || ending == "es"
}
