package conflict

import (
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// maxQuote bounds what an explanation quotes of a passage, in bytes: the passages
// stand beside it in full.
const maxQuote = 120

// maxAbout bounds the words that say what two passages are about.
const maxAbout = 4

func explainFact(f, g *claim.Fact) string {
	return "The " + f.Attribute + " of " + quote(f.Subject) + " is given two values: " + quote(f.Value) + " and " + quote(g.Value) + "."
}

func explainDenial(a, b *Passage, x, y *profile) string {
	states, denies := a.Text[x.claim.Span.Start:x.claim.Span.End], b.Text[y.claim.Span.Start:y.claim.Span.End]
	if x.nots > y.nots {
		states, denies = denies, states
	}
	return "One passage states what the other denies: " + quote(states) + " against " + quote(denies) + "."
}

func explainWords(a, b *claim.Word) string {
	return "The passages are about the same and differ in what they say of it: " + quote(a.Form) + " in one, " + quote(b.Form) + " in the other."
}

func explainOpposed(x *profile, al *alignment) string {
	var about []string
	for i := range x.words {
		if al.to[i] >= 0 && !x.words[i].weak && x.words[i].sign == 0 && len(about) < maxAbout {
			about = append(about, x.words[i].word.Form)
		}
	}
	return "The passages draw opposite conclusions about the same: " + strings.Join(about, ", ") + "."
}

func quote(s string) string {
	return "“" + text.Truncate(strings.Join(strings.Fields(s), " "), maxQuote) + "”"
}
