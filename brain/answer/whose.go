package answer

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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

// names are the words of a question that are written like names: with a capital, and not at its begin.
func names(question string) (out []string) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	for i, w := range words {
		if r, _ := utf8.DecodeRuneInString(w); i > 0 && unicode.IsUpper(r) && utf8.RuneCountInString(w) > 1 {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// mayAnswer tells whether a passage may be about what is asked. A sentence of another than the asker that is about its
// writer answers neither what the asker asks of themselves nor what is asked of somebody whom the passage does not
// name.
func mayAnswer(question string, p *Read) bool {
	if _, sentence := said(p.Hit.GetChunk(), p.Span); p.Asker || !ofWriter.MatchString(sentence) {
		return true
	}
	about := names(question)
	if len(about) == 0 {
		return !own.MatchString(question)
	}
	said := strings.ToLower(p.Who + "\n" + p.Hit.GetTitle() + "\n" + p.Hit.GetChunk())
	for _, name := range about {
		if strings.Contains(said, name) {
			return true
		}
	}
	return false
}

// past is what asks for what was and is no more.
var past = anyOf(`previous previously former formerly used\s+to originally initially at\s+first history earlier
until\s+then back\s+then (?:the|our|my|'s)\s+old before\? vorher früher frühere früheren ursprünglich zuvor auparavant
ancien ancienne à\s+l'origine initialement anteriormente originalmente antiguo antigua precedente originariamente
in\s+precedenza antigamente antigo antiga eerder vroeger voorheen oorspronkelijk`)
