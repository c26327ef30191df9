package locale

import (
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/text"
)

// lexiconTable are the words of a language that tell what a statement says of a thing, beside those of [grammar].
type lexiconTable struct {
	// verbs give a thing a value that is the same wherever it is spoken of, beside the own words of the language.
	verbs string
	// several is "a" before a thing of which there may be others.
	several string
	// hedges leave open what is said, or which of several values it is; conditions begin what it depends on.
	hedges, conditions string
	// opposites are words of which one thing has one, "open=closed".
	opposites string
	// naming verbs stand before a name, placing verbs before a word of within and a place; leading verbs stand behind who
	// has a task that one has.
	naming, placing, within, leading string
	// manyRoles are what somebody has several of, whose names differ.
	manyRoles string
	// persons are those who are here on one day and there on another, beside the manyRoles.
	persons string
}

var lexiconTables = map[string]lexiconTable{
	"de": {
		verbs: "öffnet schließt startet heißt läuft", several: "ein eine einen einem einer",
		hedges: "vielleicht eventuell wahrscheinlich vermutlich möglicherweise mindestens höchstens maximal minimal über " +
			"unter oder könnte dürfte müsste sollte",
		conditions: "wenn falls außer sofern sonst aber ausgenommen nur solange obwohl sondern",
		opposites: "geöffnet=geschlossen offen=geschlossen offen=zu erlaubt=verboten kostenlos=kostenpflichtig " +
			"verheiratet=ledig bestätigt=abgesagt besetzt=frei an=aus mit=ohne pflicht=freiwillig möglich=unmöglich " +
			"gültig=ungültig öffentlich=geheim fertig=unfertig bewohnt=unbewohnt vermietet=frei",
		naming: "heißt", placing: "statt findet ist liegt sitzt befindet", within: "in", leading: "leitet verantwortet",
		manyRoles: "sohn tochter hund katze kind kollege kollegin freund freundin nachbar nachbarin bruder schwester onkel " +
			"tante kunde kundin",
		persons: "chef chefin herr frau arzt ärztin lehrer lehrerin mutter vater mama papa oma opa mann junge " +
			"mädchen steuerberater anwalt anwältin handwerker trainer trainerin",
	},
	"fr": {
		verbs: "ouvre ferme débute s_appelle", several: "un une",
		hedges:     "peut_être probablement éventuellement moins plus maximum minimum ou environ pourrait devrait",
		conditions: "si sauf mais sinon quand seulement excepté",
		opposites: "ouvert=fermé ouverte=fermée autorisé=interdit autorisée=interdite gratuit=payant gratuite=payante " +
			"marié=célibataire mariée=célibataire confirmé=annulé confirmée=annulée libre=occupé libre=occupée avec=sans " +
			"obligatoire=facultatif obligatoire=facultative possible=impossible valable=périmé allumé=éteint allumée=éteinte",
		naming: "appelle", placing: "lieu est trouve tient", within: "à", leading: "dirige pilote",
		manyRoles: "fils fille chien chat enfant collègue ami amie voisin voisine frère sœur oncle tante client cliente",
		persons: "chef directeur directrice monsieur madame médecin docteur professeur mère père maman papa mamie " +
			"papi homme femme avocat avocate comptable",
	},
	"es": {
		verbs: "abre cierra comienza vale llama", several: "un una",
		hedges:     "quizás quizá probablemente tal_vez menos más máximo mínimo o unos podría debería",
		conditions: "si salvo excepto pero cuando solo menos",
		opposites: "abierto=cerrado abierta=cerrada permitido=prohibido permitida=prohibida gratuito=pago gratis=pago " +
			"casado=soltero casada=soltera confirmado=cancelado confirmada=cancelada libre=ocupado libre=ocupada con=sin " +
			"obligatorio=voluntario obligatoria=voluntaria posible=imposible encendido=apagado encendida=apagada",
		naming: "llama", placing: "es está celebra encuentra", within: "en", leading: "dirige lidera",
		manyRoles: "hijo hija perro gato niño niña colega amigo amiga vecino vecina hermano hermana tío tía cliente clienta",
		persons: "jefe jefa director directora señor señora médico médica profesora madre padre mamá " +
			"papá abuela abuelo hombre mujer abogado abogada contable",
	},
	"it": {
		verbs: "apre chiude comincia chiama", several: "un uno una",
		hedges:     "forse probabilmente magari almeno massimo minimo o oltre circa potrebbe dovrebbe",
		conditions: "se tranne salvo ma quando solo eccetto",
		opposites: "aperto=chiuso aperta=chiusa permesso=vietato permessa=vietata gratuito=pagamento sposato=celibe " +
			"sposata=nubile confermato=annullato confermata=annullata libero=impegnato libera=impegnata con=senza " +
			"obbligatorio=facoltativo obbligatoria=facoltativa acceso=spento accesa=spenta",
		naming: "chiama", placing: "è tiene trova", within: "a", leading: "dirige guida",
		manyRoles: "figlio figlia cane gatto bambino bambina collega amico amica vicino vicina fratello sorella zio zia " +
			"cliente",
		persons: "capo direttore direttrice signor signora medico dottore professore professoressa madre padre " +
			"mamma papà nonna nonno uomo donna avvocato commercialista",
	},
	"pt": {
		verbs: "abre fecha começa chama", several: "um uma",
		hedges:     "talvez provavelmente menos mais máximo mínimo ou cerca poderia deveria",
		conditions: "se salvo exceto mas quando só",
		opposites: "aberto=fechado aberta=fechada permitido=proibido permitida=proibida gratuito=pago gratuita=paga " +
			"casado=solteiro casada=solteira confirmado=cancelado confirmada=cancelada livre=ocupado livre=ocupada com=sem " +
			"obrigatório=facultativo obrigatória=facultativa possível=impossível ligado=desligado ligada=desligada",
		naming: "chama se", placing: "é fica realiza", within: "em", leading: "dirige lidera",
		manyRoles: "filho filha cão gato criança colega amigo amiga vizinho vizinha irmão irmã tio tia cliente",
		persons: "chefe diretor diretora senhor senhora médico médica professor professora mãe pai avó avô homem " +
			"mulher advogado advogada contabilista",
	},
	"nl": {
		verbs: "opent sluit start bedraagt heet loopt", several: "een",
		hedges:     "misschien waarschijnlijk eventueel minstens hoogstens maximaal minimaal meer minder of ongeveer zou",
		conditions: "als tenzij behalve maar alleen mits",
		opposites: "open=dicht open=gesloten toegestaan=verboten gratis=betaald getrouwd=ongehuwd bevestigd=afgelast " +
			"vrij=bezet aan=uit met=zonder verplicht=vrijwillig mogelijk=onmogelijk geldig=ongeldig",
		naming: "heet", placing: "is ligt plaats vindt", within: "in", leading: "leidt",
		manyRoles: "zoon dochter hond kat kind collega vriend vriendin buurman buurvrouw broer zus oom tante klant",
		persons: "chef baas directeur meneer mevrouw dokter arts leraar lerares moeder vader mama papa oma opa " +
			"man vrouw advocaat boekhouder",
	},
}

// lexicon is what [lexiconTable] lists, by the words.
type lexicon struct {
	verbs, several, hedges, conditions, naming, placing, within, leading, manyRoles, persons map[string]bool

	opposites map[string][]string
}

func lexiconOf(code string) lexicon {
	t := lexiconTables[code]
	l := lexicon{
		verbs: text.Set(t.verbs), several: text.Set(t.several), hedges: text.Set(t.hedges),
		conditions: text.Set(t.conditions), naming: text.Set(t.naming), placing: text.Set(t.placing),
		within: text.Set(t.within), leading: text.Set(t.leading), manyRoles: text.Set(t.manyRoles),
		persons:   text.Set(t.persons),
		opposites: map[string][]string{},
	}
	for pair := range strings.FieldsSeq(t.opposites) {
		a, b, _ := strings.Cut(pair, "=")
		l.opposites[a], l.opposites[b] = append(l.opposites[a], b), append(l.opposites[b], a)
	}
	return l
}

// Opposed gives the words by which two statements of one language are opposed, where all others are the same: open and
// closed.
func Opposed(code string, a, b *Statement) (x, y string, ok bool) {
	rules := rulesOf[code]
	if rules == nil || len(a.Words) != len(b.Words) {
		return "", "", false
	}
	lone := func(a, b []string) (w string, one bool) {
		b = slices.Clone(b)
		n := 0
		for _, x := range a {
			if k := slices.Index(b, x); k >= 0 {
				b = slices.Delete(b, k, k+1)
			} else {
				w, n = x, n+1
			}
		}
		return w, n == 1
	}
	x, one := lone(a.Words, b.Words)
	y, also := lone(b.Words, a.Words)
	return x, y, one && also && slices.Contains(rules.opposites[x], y)
}

// maxName is how many words a name has at most that two statements differ in.
const maxName = 3

// NamesDiffer gives the names in which two sentences of one language differ, where that is all in which they do and one
// thing has one of them: what it is called, where it is, who leads it. The spans are of the two sentences.
func NamesDiffer(code, a, b string) (x, y [2]int, ok bool) {
	k := slices.IndexFunc(languages, func(w *words) bool { return w.code == code })
	if k < 0 || rulesOf[code] == nil {
		return x, y, false
	}
	r := valuer{reader: reader{words: languages[k], tokens: said(a), sure: true}, rules: rulesOf[code], s: a}
	s := valuer{reader: reader{words: languages[k], tokens: said(b), sure: true}, rules: rulesOf[code], s: b}
	head, tail := 0, 0
	for head < len(r.tokens) && head < len(s.tokens) && r.at(head) == s.at(head) {
		head++
	}
	for tail < len(r.tokens)-head && tail < len(s.tokens)-head &&
		r.at(len(r.tokens)-1-tail) == s.at(len(s.tokens)-1-tail) {
		tail++
	}
	if !r.name(head, tail) || !s.name(head, tail) || !r.exclusive(head, tail) {
		return x, y, false
	}
	return r.span(head, tail), s.span(head, tail), true
}

// said are the tokens of a sentence without the mark that ends it.
func said(s string) []token {
	tokens := tokensOf(s)
	for n := len(tokens); n > 0 && tokens[n-1].n < 0 && !letter(tokens[n-1].text); n-- {
		tokens = tokens[:n-1]
	}
	return tokens
}

// name tells whether what stands between the first tokens and the last ones is a name.
func (r *valuer) name(head, tail int) bool {
	between := r.tokens[head : len(r.tokens)-tail]
	if len(between) == 0 || len(between) > maxName {
		return false
	}
	for i, t := range between {
		if !(t.capital || t.text == "." && i > 0) || text.FunctionWord(t.text).Has(r.lang) || r.words.day[t.text] > 0 ||
			r.month[t.text] > 0 {
			return false
		}
	}
	return true
}

func (r *valuer) span(head, tail int) [2]int {
	return [2]int{r.tokens[head].start, r.tokens[len(r.tokens)-1-tail].end}
}

// exclusive tells whether a sentence says of one thing what it has one of, between its first tokens and its last ones.
func (r *valuer) exclusive(head, tail int) bool {
	behind := len(r.tokens) - tail
	for i := range r.tokens {
		w := r.at(i)
		if r.denials[w] || r.hedges[w] || r.past[w] || r.oneOfMany(i) || w == "," || w == "?" {
			return false
		}
	}
	if head == 0 {
		return r.leading[r.at(behind)] && r.definite[r.at(behind+1)]
	}
	if !r.definite[r.at(0)] || r.several() {
		return false
	}
	rest := tail == 0 || tail == 1 && r.placing[r.at(behind)]
	from := head
	for from > 2 && (titles[r.at(from-1)] || r.at(from-1) == ".") { // heißt Dr. Klein
		from--
	}
	if from > 0 && r.naming[r.at(from-1)] {
		for i := range from {
			if r.manyRoles[r.at(i)] {
				return false
			}
		}
		return rest
	}
	if !rest || !r.within[r.at(head-1)] {
		return false
	}
	for i := 1; i < head-1; i++ {
		if r.placing[r.at(i)] {
			return true
		}
	}
	return false
}

// titles stand before names.
var titles = text.Set(`dr prof herr frau docteur doctor doctora dottor dottoressa doutor doutora dokter sig sr sra mme m
	dhr mevr`)

// CodesDiffer gives the last words of two sentences of one language where they are all in which the two differ, have
// letters and digits, and one thing has one of them: a password.
func CodesDiffer(code, a, b string) (x, y string, ok bool) {
	k := slices.IndexFunc(languages, func(w *words) bool { return w.code == code })
	f, g := strings.Fields(strings.TrimRight(a, ".! ")), strings.Fields(strings.TrimRight(b, ".! "))
	n := len(f)
	if k < 0 || rulesOf[code] == nil || n < leastClause || len(g) != n || f[n-1] == g[n-1] || !mixed(f[n-1]) ||
		!mixed(g[n-1]) || !slices.EqualFunc(f[:n-1], g[:n-1], strings.EqualFold) {
		return "", "", false
	}
	first, copula := strings.ToLower(f[0]), strings.ToLower(f[n-2])
	return f[n-1], g[n-1], rulesOf[code].definite[first] && languages[k].own[copula] && len(copula) <= len("lautet")
}

// mixed tells whether a word has letters and digits, as no word of a language has.
func mixed(w string) bool {
	return strings.ContainsFunc(w, unicode.IsLetter) && strings.ContainsFunc(w, unicode.IsDigit)
}

// oneOfMany tells whether an article before one of several stands at token i.
func (r *valuer) oneOfMany(i int) bool { return r.lexicon.several[r.at(i)] }
