package proposal

import "orgmem/brain/extract/locale"

// words are those of a rationale around the titles that it quotes.
type words struct{ open, close, linked, more, similar string }

func (w *words) quote(title string) string { return w.open + title + w.close }

var english = words{"“", "”", "%s and %s are both linked to %s", " and %d more", "; their texts are similar (%.2f)"}

var wordsIn = map[string]*words{
	"de": {
		"„", "“", "%s und %s sind beide verbunden mit %s", " und %d weiteren", "; ihre Texte ähneln sich (%.2f)",
	},
	"fr": {
		"« ", " »", "%s et %s sont tous deux liés à %s", " et %d autres", " ; leurs textes se ressemblent (%.2f)",
	},
	"es": {
		"«", "»", "Tanto %s como %s tienen relación con %s", " y %d más", "; sus textos se parecen (%.2f)",
	},
	"it": {
		"«", "»", "Sia %s sia %s hanno un legame con %s", " e altri %d", "; i loro testi si somigliano (%.2f)",
	},
	"pt": {
		"«", "»", "Tanto %s como %s têm ligação com %s", " e mais %d", "; os seus textos são parecidos (%.2f)",
	},
	"nl": {
		"“", "”", "%s en %s zijn allebei verbonden met %s", " en nog %d", "; hun teksten lijken op elkaar (%.2f)",
	},
}

// wordsOf are the words for titles, in the language in which they surely are; names alone are in none.
func wordsOf(titles string) *words {
	if words := wordsIn[locale.Sure(titles)]; words != nil {
		return words
	}
	return &english
}
