package locale

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Kind is what a value measures.
type Kind uint8

// The kinds of values.
const (
	Count Kind = iota
	Money
	Percent
	Length // of time, in seconds
	Clock
	Weekday
	Calendar // a day or month
)

// Value is a quantity or a time of a statement.
type Value struct {
	Kind       Kind
	Start, End int     // byte offsets in the sentence
	Number     float64 // of a clock in minutes, of a weekday from 1 on
	Unit       string  // what is counted, in what currency
	date       written
	// Said: a verb stands before it, so that it is said of the thing and does not name it, "the train at 10".
	Said bool
}

// Apart tells whether no one thing has both values, and Same whether they say the same.
func (v *Value) Apart(w *Value) bool {
	if v.Kind != w.Kind || v.Unit != w.Unit {
		return false
	}
	if v.Kind != Calendar {
		return !near(v.Number, w.Number)
	}
	differ := func(a, b int) bool { return a != 0 && b != 0 && a != b }
	return differ(v.date.year, w.date.year) || differ(v.date.month, w.date.month) ||
		differ(v.date.day, w.date.day) && v.date.last == v.date.day && w.date.last == w.date.day
}

// Same tells whether two values say the same.
func (v *Value) Same(w *Value) bool {
	return v.Kind == w.Kind && v.Unit == w.Unit && v.date == w.date && near(v.Number, w.Number)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(math.Abs(a), math.Abs(b)) }

// Statement is a sentence as it is compared with another of its language.
type Statement struct {
	// Words are those that are no value, negation, article or word before a value, in lower case and sorted.
	Words  []string
	Values []Value
	// Denies: a negation is in it. Odd: what it says is not told by its words, "not only", or left open, "perhaps".
	// Several: it speaks of a thing of which there may be others, "an appointment", or of somebody, who may be here on one
	// day and there on another.
	Denies, Odd, Several bool
	// Definite: it begins with one thing that is the same wherever it is spoken of, "our budget". Bare: it begins with a
	// word that is neither an article nor a pronoun. Past: a verb says that it was.
	Definite, Bare, Past bool
}

// grammar are the words of a language that statements are compared by.
type grammar struct {
	// dropped are articles, and words before values; definite stand before one thing, and manyOf before several.
	dropped, definite, manyOf string
	// denials negate; particles do so only without a denial beside them; a doubt after a denial takes the negation
	// back.
	denials, particles, doubts string
	// alike are words that say the same of an event, each with what stands for it: "findet=ist statt=".
	alike string
	// scales are what numbers are multiples of: thousand, million, billion.
	scales string
	// money are the words of currencies, and lengths those of time: seconds, minutes, hours, days, weeks, months, years.
	money, lengths string
}

var grammars = map[string]grammar{
	"de": {
		dropped:  "der die das den dem des ein eine einen einem einer eines am im an in um zum zur gegen etwa",
		definite: "der die das mein meine unser unsere dein deine euer eure sein seine ihr ihre", manyOf: "",
		denials: "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand", doubts: "nur",
		alike: "findet=ist statt= beträgt=ist kostet=ist liegt=ist bei= beginnt=beginnt",
		scales: "tausend tsd|million millionen mio|" +
			"milliarde milliarden mrd",
		money: "euro=eur eur=eur dollar=usd usd=usd franken=chf chf=chf pfund=gbp cent=cent",
		lengths: "sekunde sekunden|minute minuten|stunde stunden|tag tage tagen|woche wochen|monat monate monaten|" +
			"jahr jahre jahren",
	},
	"fr": {
		dropped:  "le la les l un une des du de d au aux à en",
		definite: "le la l mon ma notre son sa votre leur ce cet cette", manyOf: "les des ces nos mes",
		denials: "pas jamais aucun aucune rien personne", particles: "ne n", doubts: "seulement que",
		alike: "a=est lieu= sera=est coûte=est c= vaut=est", scales: "mille|million millions|milliard milliards",
		money:   "euro=eur euros=eur eur=eur dollar=usd dollars=usd francs=chf chf=chf livres=gbp centimes=cent",
		lengths: "seconde secondes|minute minutes|heure heures|jour jours|semaine semaines|mois|an ans année années",
	},
	"es": {
		dropped:  "el la los las un una de del al a en",
		definite: "el la mi nuestro nuestra su este esta", manyOf: "los las unos unas",
		denials: "no nunca jamás nadie nada ningún ninguna ninguno tampoco", doubts: "solo sólo solamente",
		alike: "será=es cuesta=es vale=es", scales: "mil|millón millones|",
		money:   "euro=eur euros=eur eur=eur dólar=usd dólares=usd pesos=peso céntimos=cent",
		lengths: "segundo segundos|minuto minutos|hora horas|día días|semana semanas|mes meses|año años",
	},
	"it": {
		dropped:  "il lo la i gli le l un uno una di del della dei delle dell a al alla alle all in nel nella ore",
		definite: "il lo la l mio mia nostro nostra suo sua questo questa", manyOf: "i gli le",
		denials: "non mai nessuno nessuna nessun niente nulla", doubts: "solo soltanto",
		alike: "sarà=è costa=è c=", scales: "mila mille|milione milioni mln|miliardo miliardi mld",
		money:   "euro=eur eur=eur dollaro=usd dollari=usd franchi=chf centesimi=cent",
		lengths: "secondo secondi|minuto minuti|ora ore|giorno giorni|settimana settimane|mese mesi|anno anni",
	},
	"pt": {
		dropped:  "o a os as um uma de do da dos das em no na nos nas às à ao dia",
		definite: "o a meu minha nosso nossa seu sua este esta", manyOf: "os as uns umas",
		denials: "não nunca jamais ninguém nada nenhum nenhuma", doubts: "só somente apenas",
		alike: "será=é custa=é", scales: "mil|milhão milhões|bilhão bilhões",
		money:   "euro=eur euros=eur eur=eur real=brl reais=brl dólar=usd dólares=usd centavos=cent",
		lengths: "segundo segundos|minuto minutos|hora horas|dia dias|semana semanas|mês meses|ano anos",
	},
	"nl": {
		dropped:  "de het een op om in aan van te",
		definite: "de het mijn onze ons zijn haar hun deze dit", manyOf: "",
		denials: "niet geen nooit niemand niets", doubts: "alleen",
		alike: "vindt=is plaats= kost=is bedraagt=is", scales: "duizend|miljoen mln|miljard mld",
		money:   "euro=eur eur=eur dollar=usd dollars=usd pond=gbp cent=cent",
		lengths: "seconde seconden|minuut minuten|uur uren|dag dagen|week weken|maand maanden|jaar jaren",
	},
}

// lengthSeconds are those of the units of [grammar.lengths].
var lengthSeconds = [...]float64{1, 60, 3600, 86400, 7 * 86400, 365.25 * 86400 / 12, 365.25 * 86400}

// moneySigns are the signs of currencies, those of several characters first.
var moneySigns = []struct{ sign, unit string }{
	{"R$", "brl"}, {"US$", "usd"}, {"€", "eur"}, {"$", "usd"}, {"£", "gbp"}, {"¥", "jpy"}, {"zł", "pln"},
}

// rules is a grammar by its words.
type rules struct {
	dropped, definite, manyOf, denials, particles, doubts map[string]bool
	alike, money                                          map[string]string

	lexicon

	scale, length map[string]float64
}

var rulesOf = func() map[string]*rules {
	all := map[string]*rules{}
	pairs := func(list string) map[string]string {
		m := map[string]string{}
		for p := range strings.FieldsSeq(list) {
			from, to, _ := strings.Cut(p, "=")
			m[from] = to
		}
		return m
	}
	sizes := func(lists string, size func(i int) float64) map[string]float64 {
		m := map[string]float64{}
		for i, list := range strings.Split(lists, "|") {
			for w := range strings.FieldsSeq(list) {
				m[w] = size(i)
			}
		}
		return m
	}
	for code, g := range grammars {
		all[code] = &rules{
			dropped: text.Set(g.dropped), definite: text.Set(g.definite), manyOf: text.Set(g.manyOf),
			denials: text.Set(g.denials), particles: text.Set(g.particles), doubts: text.Set(g.doubts),
			alike: pairs(g.alike), money: pairs(g.money), lexicon: lexiconOf(code),
			scale:  sizes(g.scales, func(i int) float64 { return math.Pow(1000, float64(i+1)) }),
			length: sizes(g.lengths, func(i int) float64 { return lengthSeconds[i] }),
		}
	}
	return all
}()

// Common are the languages that both have and statements can be compared in: several where too few words tell which.
func (l Languages) Common(m Languages) (codes []string) {
	for k, w := range languages {
		if l.has(k) && m.has(k) && rulesOf[w.code] != nil {
			codes = append(codes, w.code)
		}
	}
	return codes
}

// StatementIn reads a sentence of a language that [Languages.Common] gave.
func StatementIn(code, sentence string) (st Statement) {
	k := slices.IndexFunc(languages, func(w *words) bool { return w.code == code })
	if k < 0 || rulesOf[code] == nil {
		return st
	}
	r := valuer{
		reader: reader{words: languages[k], tokens: tokensOf(sentence), sure: true}, rules: rulesOf[code], s: sentence,
	}
	r.cut()
	particle, denial, verb := false, false, false
	behind := 0 // words behind the verb
	for i := 0; i < len(r.tokens); {
		if v, n := r.value(i); n > 0 {
			v.Start, v.End = r.tokens[i].start, max(v.End, r.tokens[i+n-1].end)
			v.Said = verb || len(st.Words) == 0 && r.verbAt(r.verbFrom(i+n))
			if len(st.Words) == 0 && v.Said && len(st.Values) == 0 { // am 12. Juni ist das Fest
				st.Definite = r.definite[r.at(r.verbFrom(i+n)+1)]
			}
			st.Values = append(st.Values, v)
			i += n
			continue
		}
		w := r.tokens[i].text
		if alike, ok := r.alike[w]; ok {
			w = alike
		}
		st.Past = st.Past || r.past[w]
		st.Several = st.Several || r.lexicon.several[w] || !verb && (r.persons[w] || r.manyRoles[w]) || r.calledBy(i)
		st.Odd = st.Odd || r.hedges[w]
		isVerb := r.verbAt(i)
		switch {
		case r.denials[w]:
			denial = true
			st.Odd = st.Odd || r.doubts[r.at(i+1)]
		case r.particles[w]:
			particle = true
		case w == "" || r.dropped[w] && !r.switched(i) || !letter(w) && r.tokens[i].n < 0:
		default:
			if st.Words = append(st.Words, w); verb {
				behind++
			}
		}
		verb = verb || isVerb
		i++
	}
	st.Denies = denial || particle
	st.Odd = st.Odd || particle && !denial
	if len(r.tokens) > 1 {
		first := r.tokens[0]
		lang := languages[k].lang
		st.Definite = st.Definite || r.definite[first.text] && first.n < 0 && !r.several() ||
			behind == 0 && verb && first.n < 0 && !text.FunctionWord(first.text).Has(lang) && first.capital && !r.plural()
		st.Bare = first.n < 0 && !text.FunctionWord(first.text).Has(lang) && r.words.number[first.text] == 0
	}
	slices.Sort(st.Words)
	return st
}

// calledBy tells whether the sentence begins with somebody's name behind an article, as Portuguese and Italian ones do.
func (r *valuer) calledBy(i int) bool {
	return i == 1 && (r.code == "pt" || r.code == "it") && r.tokens[1].capital && len(r.at(0)) <= len("la")
}

// switched tells whether token i is the last word, and says that something is on: "die Heizung ist an".
func (r *valuer) switched(i int) bool {
	w := r.at(i)
	return (w == "an" || w == "aan") && (i+1 == len(r.tokens) || r.at(i+1) == ".")
}

// verbAt tells whether token i is a verb that gives a thing a value.
func (r *valuer) verbAt(i int) bool {
	w := r.at(i)
	if alike, ok := r.alike[w]; ok && r.own[alike] {
		return true
	}
	return (r.own[w] || r.verbs[w]) && !r.definite[w]
}

// verbFrom skips what may stand between a time at the beginning and its verb: "le 12 juin, c'est".
func (r *valuer) verbFrom(i int) int {
	for r.at(i) == "," || r.at(i) == "c" || r.at(i) == "ce" {
		i++
	}
	return i
}

// plural tells whether the verb of a sentence without an article is that of several things.
func (r *valuer) plural() bool {
	for i := range r.tokens {
		switch r.at(i) {
		case "sind", "sont", "son", "están", "sono", "são", "estão", "zijn", "haben", "ont", "tienen", "hanno", "têm",
			"hebben":
			return true
		}
	}
	return false
}

// cut leaves out what a comma sets apart behind the statement, if it is neither a value nor a condition of it: "closes
// at six, please be on time".
func (r *valuer) cut() {
	for i := range r.tokens {
		if r.at(i) != "," || i < leastClause {
			continue
		}
		for k := i + 1; k < len(r.tokens); k++ {
			w := r.at(k)
			_, n := r.value(k)
			if n > 0 || r.denials[w] || r.conditions[w] || r.hedges[w] || r.verbAt(k) && k == i+1 {
				return
			}
		}
		if !r.valued(i) {
			return
		}
		r.tokens = r.tokens[:i]
		return
	}
}

// leastClause is how many tokens a statement has at least before what a comma sets apart.
const leastClause = 4

// valued tells whether a value stands before token i.
func (r *valuer) valued(i int) bool {
	for k := range i {
		if _, n := r.value(k); n > 0 {
			return true
		}
	}
	return false
}

// letter tells whether a token is a word.
func letter(w string) bool {
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsLetter(r)
}

// valuer reads the values of a sentence.
type valuer struct {
	reader
	*rules

	s string
}

// several tells whether the sentence begins with several things: "die Züge fahren", "de winkels zijn".
func (r *valuer) several() bool {
	first, verb := r.at(0), r.at(2)
	if r.manyOf[first] {
		return true
	}
	switch r.code {
	case "de":
		return first == "die" && (strings.HasSuffix(verb, "en") || verb == "sind")
	case "nl":
		return verb == "zijn" || verb == "waren" || verb == "worden" || verb == "hebben" ||
			strings.HasSuffix(r.at(1), "en") &&
				strings.HasSuffix(verb, "en")
	}
	return false
}

// value reads a value at token i, and how many tokens it has.
func (r *valuer) value(i int) (v Value, n int) {
	if x, end := r.dayOfMonth(i); end > 0 {
		return Value{Kind: Calendar, date: x}, end - i
	}
	if m, n := r.months(i); n > 0 && (r.wordBefore(r.on, i) > 0 || r.word(r.of, i+n) > 0) {
		x := written{month: m}
		var k int
		x.year, k = r.year(i + n)
		return Value{Kind: Calendar, date: x}, n + k
	}
	if day, n := r.phrase(r.day, i); n > 0 {
		return Value{Kind: Weekday, Number: float64(day)}, n
	}
	if x, n := r.dotted(i); n > 0 {
		return Value{Kind: Calendar, date: x}, n
	}
	if minute, n := r.clock(i, true); n > 0 && !r.lasts(i, n) {
		return Value{Kind: Clock, Number: float64(minute)}, n
	}
	return r.amount(i)
}

// lasts tells whether what may be a time of day is a length of time: "2 heures" without a word before it.
func (r *valuer) lasts(i, n int) bool {
	return r.word(r.atWords, i) == 0 && n == 2 && r.length[r.at(i+1)] > 0
}

// dotted reads 03.05.2026, 3/5/2026 and 3-5-2026.
func (r *valuer) dotted(i int) (x written, n int) {
	mark := r.at(i + 1)
	if mark != "." && mark != "/" && mark != "-" || r.at(i+3) != mark || !r.tight(i, i+4) {
		return x, 0
	}
	x = written{year: r.number(i + 4), month: r.number(i + 2), day: r.number(i), last: r.number(i)}
	if x.year < minYear || x.year > maxYear || x.month < 1 || x.month > 12 || x.day < 1 || x.day > 31 {
		return x, 0
	}
	return x, 5
}

// amount reads a number with what it counts.
func (r *valuer) amount(i int) (v Value, n int) {
	x, n := r.figure(i)
	if n == 0 {
		var k int
		if k, n = r.phrase(r.words.number, i); n == 0 || k == 1 {
			return v, 0 // "ein" is an article more often
		}
		x = float64(k)
	}
	v.Number = x
	for k := i + n; ; k = i + n {
		size, ok := r.scale[r.at(k)]
		if !ok {
			break
		}
		v.Number *= size
		if n++; r.at(i+n) == "." && i+n+1 < len(r.tokens) {
			n++
		}
	}
	for _, m := range moneySigns {
		if before := strings.TrimRight(r.s[:r.tokens[i].start], " \u00a0\u202f"); strings.HasSuffix(before, m.sign) {
			v.Kind, v.Unit = Money, m.unit
			return v, n
		}
		if behind := r.s[r.tokens[i+n-1].end:]; strings.HasPrefix(strings.TrimLeft(behind, " \u00a0\u202f"), m.sign) {
			v.Kind, v.Unit = Money, m.unit
			return v, n + 1
		}
	}
	if k := r.at(i + n); r.scale[r.at(i+n-1)] > 0 && (k == "d" || k == "de" || k == "di") { // millions d'euros
		n++
	}
	next := r.at(i + n)
	switch {
	case next == "%", next == "prozent", next == "procent":
		v.Kind = Percent
		return v, n + 1
	case (next == "pour" || next == "por" || next == "per") && strings.HasPrefix(r.at(i+n+1), "cent"),
		next == "por" && r.at(i+n+1) == "ciento":
		v.Kind = Percent
		return v, n + 2
	case r.money[next] != "":
		v.Kind, v.Unit = Money, r.money[next]
		return v, n + 1
	case r.length[next] > 0:
		v.Kind, v.Number = Length, v.Number*r.length[next]
		return v, n + 1
	case r.labelled(i, n):
		return v, 0
	}
	return v, n
}

// labelled tells whether a number names what stands before it rather than counting anything: "Raum 3", "version 2".
func (r *valuer) labelled(i, n int) bool {
	if i == 0 {
		return true
	}
	before, next := r.at(i-1), r.at(i+n)
	lang := r.lang
	if numbered[before] || r.code == "de" && r.tokens[i-1].capital && i+n < len(r.tokens) && !r.tokens[i+n].capital {
		return true
	}
	if !letter(before) || text.FunctionWord(before).Has(lang) || r.dropped[before] {
		return false
	}
	return next == "" || !letter(next) || text.FunctionWord(next).Has(lang) || r.dropped[next]
}

// numbered are things of which there are several that have numbers.
var numbered = text.Set(`raum zimmer version saal halle linie etage stock gleis tor kapitel schritt phase nummer nr teil
	salle bureau ligne étage quai porte chapitre étape numéro partie sala versión aula línea planta andén puerta capítulo
	número parte fase versione linea piano binario porta capitolo numero versão linha andar plataforma zaal kamer versie
	lijn verdieping spoor poort hoofdstuk deel`)

// figure reads a number in figures, as the language parts its digits: 1.234,56 and 1 234,56.
func (r *valuer) figure(i int) (x float64, n int) {
	if r.number(i) < 0 {
		return 0, 0
	}
	digits := r.at(i)
	n = 1
	grouped := len(digits) <= 3
	var digitsSb399 strings.Builder
	for grouped && len(r.at(i+n+1)) == 3 && r.number(i+n+1) >= 0 && r.at(i+n) == "." && r.tight(i+n-1, i+n+1) {
		digitsSb399.WriteString(r.at(i + n + 1))
		n += 2
	}
	digits += digitsSb399.String()
	var digitsSb403 strings.Builder
	for grouped && n%2 == 1 && len(r.at(i+n)) == 3 && r.number(i+n) >= 0 && r.thin(i+n-1) {
		digitsSb403.WriteString(r.at(i + n))
		n++
	}
	digits += digitsSb403.String()
	if mark := r.at(i + n); (mark == "," || mark == "." && n == 1) && r.number(i+n+1) >= 0 && r.tight(i+n-1, i+n+1) {
		digits += "." + r.at(i+n+1)
		n += 2
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, 0
	}
	return x, n
}

// thin tells whether one space stands between token i and the next, of those that part groups of digits.
func (r *valuer) thin(i int) bool {
	if i+1 >= len(r.tokens) {
		return false
	}
	switch r.s[r.tokens[i].end:r.tokens[i+1].start] {
	case " ", "\u00a0", "\u202f":
		return true
	}
	return false
}
