package stance

import (
	"strings"

	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// stands tells whether the words [from, to) can be understood alone.
func (v *view) stands(kind Kind, from, to int) bool { return v.standsFor(kind, from, to, false) }

// standsFor is stands where somebody is known whom "she" and "his" can mean.
func (v *view) standsFor(kind Kind, from, to int, somebody bool) bool {
	if from >= to {
		return false
	}
	s := scan{view: v, kind: kind, from: from, to: to, person: somebody}
	for k := from; k < to; k++ {
		if v.inQuotes(k) {
			s.thing, s.plural = true, true
			s.content++
			continue
		}
		if s.outside(k) {
			return false
		}
		s.take(k)
	}
	if kind == Preference {
		return s.content > 0 && !dangling[v.Lows[to-1]]
	}
	return s.content > 1
}

// dangling are prepositions whose object stands before them, and so outside.
var dangling = text.Set(`of with about for from at to by into than like as`)

// scan goes over the words of an object and remembers what a pronoun may mean.
type scan struct {
	*view
	kind     Kind
	from, to int

	thing, plural, person bool // something that "it", "they", "she" can mean has been named
	bound                 bool // and a clause has begun since
	general               bool // "when", "if": "you" is anybody there
	content               int  // words that say something
}

// take remembers what the word at k names.
func (s *scan) take(k int) {
	w := s.Lows[k]
	if boundaries[w] {
		s.bound = s.thing || s.plural || s.person
	}
	switch w {
	case "when", "whenever", "if", "where", "unless", "until", "once", "while", "because":
		s.general = true
	case "that", "how":
		s.general = s.general || s.kind == Belief && k > s.from
	}
	s.thing = s.thing || indefinite[w]
	if s.Tokens[k].Kind != tagger.Word || auxiliaries[w] || clause.Determines(w) || clause.Relates(w) || clause.Joins(w) ||
		subjects[w] || empties[w] {
		return
	}
	switch p := s.part(k); {
	case p == tagger.Function || p == tagger.Expression:
		return
	case p == tagger.Plural:
		s.plural = true
	case p == tagger.Actor:
		s.person, s.plural = true, true
	case p == tagger.Noun || p == tagger.Unit || p == 0 || s.capital(k):
		s.thing = s.thing || !s.named(k)
		s.person = s.person || s.named(k)
		s.plural = s.plural || strings.HasSuffix(w, "s") || people[w]
	case p == tagger.Adverb || p == tagger.Numeral:
		if p == tagger.Adverb {
			return
		}
	}
	s.content++
}

// named tells whether a person is named at k.
func (s *scan) named(k int) bool {
	for _, p := range s.People {
		if s.Tokens[k].Start >= p.Span.Start && s.Tokens[k].Start < p.Span.End {
			return true
		}
	}
	return false
}

var (
	boundaries = text.Set(`if when before after because since as that which who and or but so while until unless once than
		then to , where although though`)
	people = text.Set(`people everyone everybody someone somebody anyone anybody nobody team staff children kids men
		women`)
	// indefinite are what "it" may mean, though they name nothing.
	indefinite = text.Set(`something anything everything nothing`)
	// empties say too little to stand for a thing alone.
	empties = text.Set(`thing things part parts stuff way lot lots bit kind sort everything something anything nothing one
		ones idea point place time much more most very really just here there now not never`)
)

// outside tells whether the word at k means something that the object does not name.
func (s *scan) outside(k int) bool {
	switch w := s.Lows[k]; w {
	case "it":
		return !s.cataphoric(k) && !weather[s.low(k+1)] && !weather[s.low(k+2)] && !(s.thing && (s.bound || s.finite(k+1)))
	case "its", "itself":
		return !s.thing
	case "they", "their", "theirs", "themselves":
		return !s.plural && !s.person
	case "them":
		return !s.plural && !s.person || !s.bound
	case "he", "she", "his", "her", "hers":
		return !s.person
	case "him":
		return !s.person || !s.bound
	case "you", "your", "yours", "yourself", "u", "ur":
		return !s.general
	case "this", "these", "those", "that":
		return s.demonstrates(k, w)
	case "former", "latter", "aforementioned":
		return true
	case "above", "below", "same", "second", "first", "third", "other", "others", "another", "last", "next":
		after, before := s.low(k+1), s.low(k-1)
		if w == "another" && before == "one" || w == "other" && (before == "each" || before == "any") {
			return false
		}
		return k+1 >= s.to && w != "first" && w != "last" && w != "next" || after == "one" || after == "ones" ||
			(s.mark(k+1) || clause.Joins(after)) && before == "the"
	case "one", "ones":
		before := s.low(k - 1)
		return k > s.from && !(s.thing && s.part(k-1) == tagger.Adjective && before != "other") &&
			(clause.Determines(before) && before != "no" && before != "every" && before != "any" ||
				s.part(k-1) == tagger.Adjective)
	case "there":
		return !s.existential(k)
	case "so":
		return k+1 >= s.to || doing[s.low(k-1)]
	case "yes", "no", "yeah", "yep", "nope":
		return k == s.from && (w != "no" || s.mark(k+1))
	}
	return false
}

var doing = text.Set(`do does did doing done say said says think`)

// existential tells whether "there" at k says that something is.
func (s *scan) existential(k int) bool {
	next := s.low(k + 1)
	return auxiliaries[next] || next == "exists" || next == "to" || next == "being"
}

// weather is what "it" does, or is, by itself.
var weather = text.Set(`rains rained raining rain snows snowed snowing snow freezes froze freezing hails pours storms
	sunny rainy cloudy windy dark`)

// maxCataphora is how far behind "it" what it means may begin.
const maxCataphora = 8

// cataphoric tells whether what "it" at k means follows: "it would be better to wait".
func (s *scan) cataphoric(k int) bool {
	judged, named := false, false
	for j := k + 1; j < s.to && j <= k+maxCataphora && s.Lows[j] != ","; j++ {
		switch w := s.Lows[j]; {
		case judgements[w]:
			judged = true
		case judged && (w == "to" || w == "that" || w == "if" || w == "when" || w == "how" || w == "whether" || w == "for" ||
			w == "who" || s.part(j) == tagger.Gerund):
			return j+1 < s.to
		case w == "not" || auxiliaries[w] || s.part(j) == tagger.Adverb || clause.Determines(w) || w == "more" ||
			w == "much" || w == "less" || w == "too" || w == "of":
		case named && (w == "who" || w == "that"): // it was Tom who
			return true
		case s.capital(j):
			named = true
		case !judged:
			return false
		}
	}
	return false
}

// judgements are what "it is" before what it is of.
var judgements = text.Set(`good better best bad worse worst fine okay ok important hard harder easy easier great
	nice wise unwise safe safer risky dangerous useful helpful reasonable fair unfair possible impossible necessary
	unnecessary time worth worthwhile sensible right wrong cool fun funny sad strange odd weird clear unclear
	obvious true likely unlikely cheaper cheap expensive faster quicker simpler simple normal common rare useless
	pointless premature early late soon mistake shame pity sense idea crucial vital essential healthy polite rude
	enough tempting preferable takes take makes make helps help pays pay hurts hurt matters matter crazy silly
	stupid confusing annoying acceptable interesting`)

// demonstrates tells whether a word such as "that" at k points at something outside.
func (s *scan) demonstrates(k int, w string) bool {
	next := s.low(k + 1)
	if w == "that" {
		return s.thatPoints(k, next)
	}
	if w == "those" && (next == "who" || next == "that" || next == "which" || next == "with" || next == "of") {
		return false
	}
	if spans[next] {
		return false // this week
	}
	for j := k + 1; j < s.to && j <= k+3; j++ { // these details, where details were named
		if p := s.part(j); (p == tagger.Noun || p == tagger.Plural || p == 0) && len(s.low(j)) > 3 {
			stem := strings.TrimSuffix(s.Lows[j], "s")
			for i := s.from; i < k; i++ {
				if strings.TrimSuffix(s.Lows[i], "s") == stem {
					return false
				}
			}
		}
	}
	return true
}

var spans = text.Set(`morning afternoon evening week weekend month quarter year summer winter spring autumn fall season
	sprint`)

// thatPoints tells a "that" which points from one that joins.
func (s *scan) thatPoints(k int, next string) bool {
	before := ""
	if k > s.from {
		before = s.Lows[k-1]
	}
	nominal := k > s.from && (s.capital(k-1) || k-1 == s.from || clause.Determines(s.low(k-2)) || s.inQuotes(k-1) ||
		noun(s.part(k-1)) || empties[before])
	switch {
	case k+1 >= s.to || beforeThat[before] || doing[before]:
		return true
	case k == s.from:
		// I like that the tests run first, but not: I like that idea.
		return !clause.Determines(next) && !subjects[next] || auxiliaries[next]
	case next == ",":
		return !beings[before]
	case s.mark(k + 1):
		return !s.inQuotes(k + 1)
	case s.finite(k+1) || s.part(k+1) == tagger.Verb:
		return !nominal
	case clause.Determines(next) || subjects[next] || next == "there":
		return false
	case s.part(k+1) == tagger.Plural || nominal && s.capital(k+1):
		return false
	}
	for j := k + 1; j < s.to && !s.mark(j); j++ {
		if s.verbal(j) {
			return false
		}
	}
	return true
}

// beforeThat stand before a "that" which points.
var beforeThat = text.Set(`of like for with about to from on by than at into as without`)

func noun(p tagger.Class) bool {
	return p == tagger.Noun || p == tagger.Plural || p == tagger.Actor || p == tagger.Unit || p == 0 || p == tagger.Gerund
}

// claims tells whether the words [from, to) say something that can be so or not, and is no plan for oneself.
func (v *view) claims(from, to int) bool {
	w := v.Lows[from]
	if w == "if" || auxiliaries[w] || clause.Relates(w) && !v.preposed(from, to) {
		return false // "about moving"
	}
	verb := false
	for k := from; k < to; k++ {
		verb = verb || k > from && !v.inQuotes(k) && (v.finite(k) || v.part(k) == tagger.Verb || v.agrees(k))
	}
	if !verb {
		return false
	}
	if w == "i" {
		return v.describes(from+1, to)
	}
	return w != "let" && !(w == "we" && (v.low(from+1) == "could" || v.low(from+1) == "might" || v.low(from+1) == "'ll" ||
		v.low(from+1) == "’ll"))
}

// agrees tells whether a word that is a noun as often may be the verb of the noun before it.
func (v *view) agrees(k int) bool {
	w := v.Lows[k]
	return strings.HasSuffix(w, "s") && noun(v.part(k-1)) && v.part(k) != 0 && k+1 < v.To && !v.mark(k+1) ||
		noun(v.part(k)) && v.part(k-1) == tagger.Plural && k+1 < v.To && !v.mark(k+1)
}

// preposed tells whether a clause follows what says when or where: "in winter the heating fails".
func (v *view) preposed(from, to int) bool {
	for k := from; k < to; k++ {
		if v.finite(k) {
			return true
		}
	}
	return false
}

// describes tells whether "I" before token k is said to be something.
func (v *view) describes(k, to int) bool {
	if w := v.low(k); w != "am" && w != "was" && w != "'m" && w != "’m" {
		return false
	}
	for k++; k < to && (v.part(k) == tagger.Adverb || v.Lows[k] == "not" || v.Lows[k] == "one" || v.Lows[k] == "of"); k++ {
	}
	return k+1 < to && (v.Lows[k] == "a" || v.Lows[k] == "an" || v.Lows[k] == "the")
}

// shown tells whether what is liked was just looked at: "the" before a noun that nothing says more of.
func (v *view) shown(from, to int) bool {
	if presented[v.Lows[to-1]] {
		return true
	}
	if w := v.Lows[from]; w != "the" {
		return false
	}
	for k := from + 1; k < to; k++ {
		if w := v.Lows[k]; v.inQuotes(k) || v.capital(k) || v.Tokens[k].Kind == tagger.Number || clause.Relates(w) ||
			w == "that" || w == "when" || w == "who" || w == "which" || w == "where" || w == "how" {
			return false
		}
	}
	return !unique[v.Lows[to-1]]
}

var (
	// unique is what there is one of for everybody.
	unique = text.Set(`sea ocean mountains outdoors countryside beach rain snow sun quiet silence cold heat forest woods
		night city internet cinema theatre theater opera piano guitar violin drums water wind weekend coast alps`)
	// presented are names of what somebody has just come with.
	presented = text.Set(`suggestion proposal photo picture pic shot outfit haircut joke`)
)

// courteous tells whether what is liked or hated is only a turn of phrase: "I hate to bother you", "I like to think".
func (v *view) courteous(from, to int, a attitude) bool {
	if v.Lows[from] == "to" {
		return phrases[v.low(from+1)] || v.low(from+1) == "be" && v.low(from+2) == "the"
	}
	if a.wish && v.low(from-1) == "rather" && to-from < 2 {
		return true
	}
	return v.Lows[from] == "how" && (v.low(from+1) == "things" || v.low(from+1) == "everything")
}

var phrases = text.Set(`think say admit break bother ask disturb complain nag interrupt believe imagine hear see know
	tell point add mention rush`)
