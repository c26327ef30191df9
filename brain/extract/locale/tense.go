package locale

import (
	"strings"

	"orgmem/brain/text"
)

// side is on which side of today a sentence is: -1 past, 1 coming, 0 not told.
func (r *reader) side() (side int) {
	for i := range r.tokens {
		switch {
		case r.word(r.past, i) > 0, r.perfect(i), hasEnding(r.at(i), pastEndings[r.code]):
			side--
		case r.word(r.coming, i) > 0, hasEnding(r.at(i), comingEndings[r.code]), r.arabicComing(i):
			side++
		}
	}
	return max(-1, min(1, side))
}

// arabicComing tells whether token i is a verb with the prefix of what is still to come.
func (r *reader) arabicComing(i int) bool {
	w := r.at(i)
	if r.code != "ar" || r.words.number[w] > 0 || len(w) < len("سيصل") {
		return false
	}
	for _, prefix := range []string{"سي", "ست", "سن", "سأ"} {
		if strings.HasPrefix(w, prefix) {
			return true
		}
	}
	return false
}

// leastStem is how many bytes a verb has at least before an ending that tells its tense: "sou" and "solo" have none.
const leastStem = 3

func hasEnding(word string, endings []string) bool {
	for _, e := range endings {
		if len(word) >= len(e)+leastStem && strings.HasSuffix(word, e) {
			return true
		}
	}
	return false
}

// pastEndings and comingEndings are those of verbs that hardly any other word has.
var (
	pastEndings = map[string][]string{
		"es": {"aron", "ieron", "ió", "gó", "ró", "nó", "dó", "tó", "só", "zó", "ló", "mó", "bó", "yó"},
		"it": {"avano", "evano", "irono", "arono"},
		"pt": {"aram", "eram", "iram", "ámos", "ou", "eu", "iu"},
		"pl": {"łem", "łam", "liśmy", "łyśmy", "ała", "ali", "ały", "ało", "ił", "ął", "ił", "yła", "iła", "ili", "yli"},
		"fr": {"aient"},
	}
	comingEndings = map[string][]string{
		"fr": {"erons", "eront", "irons", "iront", "erai", "irai", "drons", "dront", "era", "ira"},
		"es": {"rá", "rán", "remos", "ré"},
		"it": {"erà", "irà", "ranno", "remo", "erò", "irò"},
		"pt": {"rá", "rão", "remos", "rei"},
	}
)

// perfect tells whether token i helps to form a perfect: its participle stands behind it, or at the clause's end.
func (r *reader) perfect(i int) bool {
	be := being[r.code][r.at(i)]
	if !be && !helpers[r.code][r.at(i)] {
		return false
	}
	told := func(w string) bool { return !be || hasEnding("   "+w, gone[r.code]) }
	switch r.code {
	case "de", "nl":
		for k := i + 1; k < len(r.tokens); k++ {
			last := k+1 == len(r.tokens) || !letter(r.at(k+1)) && r.number(k+1) < 0
			if w := r.at(k); last && r.number(k) < 0 && germanic(w) && told(w) {
				return true
			}
			if last && k+1 < len(r.tokens) && r.at(k+1) != "," {
				return false
			}
		}
		return false
	}
	next := i + 1
	for k := 0; k < 2 && adverbs[r.at(next)]; k++ {
		next++
	}
	w := r.at(next)
	return w != "lieu" && hasEnding(w, participles[r.code]) && told(w)
}

// germanic tells whether a word is formed as participles of German and Dutch are: gemacht, abgeholt, verkauft.
func germanic(w string) bool {
	if !strings.HasSuffix(w, "t") && !strings.HasSuffix(w, "en") && !strings.HasSuffix(w, "d") {
		return false
	}
	if strings.HasSuffix(w, "iert") || hasEnding(w, strong) {
		return true
	}
	for _, p := range []string{"ver", "be", "er", "ent", "zer", "ont", "her", "über", "unter"} {
		if strings.HasPrefix(w, p) && len(w) > len(p)+leastStem && !strings.HasSuffix(w, "en") {
			return true
		}
	}
	i := strings.Index(w, "ge")
	return i >= 0 && i <= len("zurück") && len(w) > i+len("ge")+leastStem
}

// strong are the endings of participles that have no ge between a prefix and them, and that no infinitive has.
var strong = []string{
	"schrieben", "gonnen", "standen", "nommen", "sprochen", "troffen", "funden", "loren", "schlossen",
	"boten", "schoben", "wiesen", "griffen", "worben",
}

// helpers are the forms of to have, and being those of to be, with which only what has moved or become forms a perfect
// ("ist gekommen"): what is closed is so today. Adverbs may stand between them and a participle.
var (
	helpers = map[string]map[string]bool{
		"de": text.Set("habe hast hat haben habt"),
		"fr": text.Set("ai as a avons avez ont"),
		"es": text.Set("he has ha hemos han"),
		"it": text.Set("ho hai ha abbiamo avete hanno"),
		"nl": text.Set("heb hebt heeft hebben"),
	}
	being = map[string]map[string]bool{
		"de": text.Set("bin bist ist sind seid"),
		"fr": text.Set("est sont suis sommes"),
		"it": text.Set("è sono siamo"),
		"nl": text.Set("is zijn ben"),
	}
	gone = map[string][]string{
		"de": {
			"kommen", "gangen", "fahren", "flogen", "wesen", "blieben", "storben", "passiert", "zogen", "worden",
			"laufen", "fallen",
		},
		"fr": {
			"rivé", "rivée", "parti", "partie", "venu", "venue", "venus", "allé", "allée", "allés", "né", "née", "mort",
			"morte", "tombé", "tombée", "mariée", "marié", "passé", "passée",
		},
		"it": {
			"rivato", "rivata", "rivati", "partito", "partita", "venuto", "venuta", "andato", "andata", "andati", "nato",
			"nata", "morto", "morta", "stato", "stata", "stati", "sposato", "sposata", "passato", "passata",
		},
		"nl": {"komen", "gaan", "trokken", "weest", "bleven", "leden", "worden", "huisd", "boren"},
	}
	participles = map[string][]string{
		"fr": {"é", "ée", "és", "ées", "u", "ue", "us", "ues", "is", "ise", "it", "ite", "ert", "erte"},
		"es": {"ado", "ido", "cho", "sto", "rto"},
		"it": {
			"ato", "ata", "ati", "ate", "uto", "uta", "uti", "ute", "ito", "ita", "iti", "ite", "so", "sa", "si",
			"sto", "sta", "tto", "tta", "tti", "rto", "rta", "into", "inta", "unto", "unta",
		},
	}
	adverbs = text.Set("déjà pas bien encore già non ancora ya")
)
