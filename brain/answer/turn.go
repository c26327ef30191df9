package answer

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

var (
	// speaking is the name of who speaks, before what is said.
	speaking = regexp.MustCompile(`^[\pL][\pL\pM\pN .'’_-]{0,40}:\s+`)
	// shown is where a chat says in brackets that something was shown or done: "[shares a photo of a cat]".
	shown = regexp.MustCompile(`(?i)\s*\[(?:(?:shares?|shared|sharing|sends?|sent|posts?|posted|shows?|showed|` +
		`attache[sd]|attaching|uploads?|uploaded|laughs?|laughing|smiles?|sighs?|nods?|waves?|teilt|schickt|sendet|zeigt|` +
		`lacht|envoie|partage|montre|envía|compart[eo]|manda|invia|condivide|compartilha|deelt|stuurt)\b[^\[\]]*|` +
		`(?:(?:an?|the|ein|eine|une?|una|uma?|een)\s)?(?:photos?|pictures?|images?|videos?|gifs?|stickers?|selfies?|` +
		`screenshots?|fotos?|bild(?:er)?|vidéos?|vídeos?|imágenes|imagen|imagem|imagens|immagin[ei]|afbeelding(?:en)?)\b` +
		`[^\[\]]*)\]`)
)

// spoken is what a sentence of a passage says beside the courtesies and the marks of a chat that stand around a span.
// It is empty where it says nothing else. What the span holds stays as it is.
func spoken(passage string, sentence, at text.Span) string {
	from, to := max(sentence.Start, at.Start), min(sentence.End, at.End)
	holds := from < to
	if !holds {
		from, to = sentence.End, sentence.End
	}
	before, after := unshown(passage[sentence.Start:from]), unshown(passage[to:sentence.End])
	s := before + passage[from:to] + after
	first, last := len(before), len(s)-len(after)
	said := unshown(passage[sentence.Start:sentence.End])
	inMark := strings.LastIndexByte(before, '[') > strings.LastIndexByte(before, ']')
	inLabel := holds && last <= labelled(s)
	if !inMark && !inLabel && (courtesy(said) || len(wordsOf(said)) == 0) {
		return ""
	}
	s, first, last = addressed(s, first, last)
	if !holds {
		last = 0
	}
	if end := closed(s); end >= last {
		s = s[:end]
	}
	label := labelled(s)
	if begin := label + opened(s[label:]); begin > label && begin <= first {
		s = s[:label] + capitalized(s[begin:])
	}
	return s
}

// unshown is a text without what a chat says was shown. A link is no such thing.
func unshown(s string) string {
	var out strings.Builder
	done := 0
	for _, m := range shown.FindAllStringIndex(s, -1) {
		if !strings.HasPrefix(s[m[1]:], "(") {
			out.WriteString(s[done:m[0]])
			done = m[1]
		}
	}
	return out.String() + s[done:]
}

// capitalized begins with a capital, unless the first word has one within it, as a brand may.
func capitalized(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[n:]); unicode.IsUpper(second) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
