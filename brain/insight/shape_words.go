package insight

import (
	"fmt"
	"strings"

	"orgmem/brain/extract/locale"
)

// shapeWords are the words of ours in what the shape of a memory tells, in the language of its texts.
type shapeWords struct {
	// passage and domain stand for what has no name.
	passage, domain string
	alone, unlike   string // "%s stands alone", and no other text is like it
	hardly, nearest string
	rising, fading  string
	// share is of what was written in when, now and before; days are the last ones, day is the last.
	share, days, day string
	nothing, less    string
}

var englishShape = &shapeWords{
	passage: "A passage", domain: "a domain without a name", alone: "%s stands alone",
	unlike: "No other text in this memory is much like it.",
	hardly: "Hardly any other text in this memory is much like it.", nearest: " It is nearest to %s.",
	rising: "%s is rising", fading: "%s is fading",
	share: "Of what was written in %s, %s is about it; before that, %s.", days: "the last %d days", day: "the last day",
	nothing: "nothing", less: "less than 0.1 %",
}

var shapeWordsIn = map[string]*shapeWords{
	"de": {
		passage: "Ein Text", domain: "einem Thema ohne Namen", alone: "%s steht für sich",
		unlike: "Kein anderer Text hier ist ihm ähnlich.", hardly: "Kaum ein anderer Text hier ist ihm ähnlich.",
		nearest: " Am nächsten ist er %s.", rising: "%s nimmt zu", fading: "%s nimmt ab",
		share: "Von dem, was %s geschrieben wurde, handelt so viel davon: %s; davor: %s.",
		days:  "in den letzten %d Tagen", day: "am letzten Tag", nothing: "nichts", less: "weniger als 0,1 %",
	},
	"fr": {
		passage: "Un texte", domain: "un thème sans nom", alone: "%s est à part",
		unlike: "Aucun autre texte d’ici ne lui ressemble.", hardly: "Presque aucun autre texte d’ici ne lui ressemble.",
		nearest: " Le plus proche : %s.", rising: "%s gagne en place", fading: "%s perd en place",
		share: "Part de ce qui a été écrit %s : %s ; avant : %s.", days: "ces %d derniers jours", day: "le dernier jour",
		nothing: "rien", less: "moins de 0,1 %",
	},
	"es": {
		passage: "Un texto", domain: "un tema sin nombre", alone: "%s está aparte",
		unlike: "Ningún otro texto de aquí se le parece.", hardly: "Casi ningún otro texto de aquí se le parece.",
		nearest: " Lo más cercano: %s.", rising: "%s va a más", fading: "%s va a menos",
		share: "Parte de lo escrito %s: %s; antes: %s.", days: "en los últimos %d días", day: "en el último día",
		nothing: "nada", less: "menos del 0,1 %",
	},
	"it": {
		passage: "Un testo", domain: "un tema senza nome", alone: "%s sta a sé",
		unlike: "Nessun altro testo di qui gli somiglia.", hardly: "Quasi nessun altro testo di qui gli somiglia.",
		nearest: " Il più vicino: %s.", rising: "%s è in crescita", fading: "%s è in calo",
		share: "Parte di quanto scritto %s: %s; prima: %s.", days: "negli ultimi %d giorni", day: "nell’ultimo giorno",
		nothing: "niente", less: "meno dello 0,1 %",
	},
	"pt": {
		passage: "Um texto", domain: "um tema sem nome", alone: "%s está à parte",
		unlike: "Nenhum outro texto daqui se parece com ele.", hardly: "Quase nenhum outro texto daqui se parece com ele.",
		nearest: " O mais próximo: %s.", rising: "%s está a crescer", fading: "%s está a diminuir",
		share: "Parte do que foi escrito %s: %s; antes: %s.", days: "nos últimos %d dias", day: "no último dia",
		nothing: "nada", less: "menos de 0,1 %",
	},
	"nl": {
		passage: "Een tekst", domain: "een thema zonder naam", alone: "%s staat op zichzelf",
		unlike: "Geen andere tekst hier lijkt erop.", hardly: "Bijna geen andere tekst hier lijkt erop.",
		nearest: " Het dichtst erbij: %s.", rising: "%s neemt toe", fading: "%s neemt af",
		share: "Deel van wat %s is geschreven: %s; daarvoor: %s.", days: "in de laatste %d dagen", day: "op de laatste dag",
		nothing: "niets", less: "minder dan 0,1 %",
	},
}

// shapeWordsOf are the words for texts with the titles of nodes, in the language in which these surely are.
func (in *Input) shapeWordsOf(nodes []int32) *shapeWords {
	var titles []string
	for _, v := range nodes {
		titles = append(titles, in.Nodes[v].Title)
	}
	if words := shapeWordsIn[locale.Sure(strings.Join(titles, ". "))]; words != nil {
		return words
	}
	return englishShape
}

// percent is a share as a person reads it.
func (w *shapeWords) percent(share float64) string {
	said := fmt.Sprintf("%.0f %%", 100*share)
	switch {
	case share == 0:
		return w.nothing
	case share < 0.001:
		return w.less
	case share < 0.1:
		said = fmt.Sprintf("%.1f %%", 100*share)
	}
	if w != englishShape {
		said = strings.Replace(said, ".", ",", 1)
	}
	return said
}
