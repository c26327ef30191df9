package conflict

import (
	"fmt"
	"slices"

	"orgmem/brain/extract/locale"
)

const (
	// maxApart is how many values may differ between two statements in another language than English: a day and the hour.
	maxApart = 2
	// leastSaid is how many words beside values and articles both must have: of what, and what of it.
	leastSaid = 2
)

// abroadSeverity is the severity of what is found between two such statements.
const abroadSeverity = 0.7

// abroad compares two statements in one other language than English, whose words the rules and lists of this package do
// not know. Only what both say with the same words but for a value, a name, an opposite or a negation is at odds:
// another word may make it another thing, and no list says that it does not. foreign: both are in such a language, and
// the other rules, to which the Portuguese "no" denies, say nothing of them.
func abroad(a, b *Passage, x, y *profile) (f Finding, ok, foreign bool) {
	for _, code := range x.langs.Common(y.langs) {
		foreign = true
		if f, ok = abroadIn(code, a, b, x, y); ok {
			return f, true, true
		}
	}
	return f, false, foreign
}

// abroadIn is [abroad] in one language.
func abroadIn(code string, a, b *Passage, x, y *profile) (f Finding, ok bool) {
	f = Finding{A: x.claim.Span, B: y.claim.Span}
	saidA, saidB := a.Text[f.A.Start:f.A.End], b.Text[f.B.Start:f.B.End]
	s, t := locale.StatementIn(code, saidA), locale.StatementIn(code, saidB)
	if x, y, ok := locale.NamesDiffer(code, saidA, saidB); ok {
		return f.differ(a, b, code, saidA[x[0]:x[1]], saidB[y[0]:y[1]]), true
	}
	if v, w, ok := locale.CodesDiffer(code, saidA, saidB); ok {
		return f.differ(a, b, code, v, w), true
	}
	if v, w, ok := locale.Opposed(code, &s, &t); ok && !s.Odd && !t.Odd && !s.Denies && !t.Denies && !s.Past && !t.Past &&
		(s.Definite && t.Definite || s.Bare && t.Bare) && len(s.Values) == 0 && len(t.Values) == 0 {
		f.Kind, f.Severity = Antonym, abroadSeverity
		f.Explanation = fmt.Sprintf(valuesIn[code], quote(v), quote(w))
		return f, true
	}
	if s.Odd || t.Odd || len(s.Words) < leastSaid || !slices.Equal(s.Words, t.Words) || len(s.Values) != len(t.Values) {
		return f, false
	}
	apart, first := 0, -1
	for i := range s.Values {
		switch v, w := &s.Values[i], &t.Values[i]; {
		case v.Apart(w):
			if !v.Said || !w.Said {
				return f, false
			}
			if apart++; first < 0 {
				first = i
			}
		case !v.Same(w):
			return f, false
		}
	}
	switch {
	case s.Denies != t.Denies && apart == 0 && (s.Definite && t.Definite || s.Bare && t.Bare):
		f.Kind, f.Severity = Negation, abroadSeverity
		f.Explanation = fmt.Sprintf(denialIn[code], quote(saidA), quote(saidB))
		return f, true
	case s.Denies || t.Denies || apart == 0 || apart > maxApart || !s.Definite || !t.Definite:
		return f, false
	}
	v, w := &s.Values[first], &t.Values[first]
	switch f.Kind, f.Severity = Value, abroadSeverity; v.Kind {
	case locale.Clock, locale.Weekday, locale.Calendar:
		if f.Kind = Temporal; s.Past || s.Several {
			return f, false // what was on Monday may have been on Tuesday, too, and she may have two appointments
		}
	case locale.Count, locale.Money, locale.Percent, locale.Length:
	}
	kind := f.Kind
	f = f.differ(a, b, code, saidA[v.Start:v.End], saidB[w.Start:w.End])
	f.Kind = kind
	return f, true
}

// differ is the finding that two passages give one thing two values.
func (f Finding) differ(a, b *Passage, code, v, w string) Finding {
	f.Kind, f.Severity, f.Explanation = Value, abroadSeverity, fmt.Sprintf(valuesIn[code], quote(v), quote(w))
	if updates(a, b) {
		f.Severity = updateSeverity
	}
	return f
}

// eachTime tells whether two statements are of two things or times, as the rules of their language see it, which know
// more of that than the reader: they say the same but for a value that may be another each time ("the train leaves at
// 10"), one has another word beside another time ("in May in Lyon"), or only one is of a day of the week.
func eachTime(codes []string, a, b string) bool {
	for _, code := range codes {
		s, t := locale.StatementIn(code, a), locale.StatementIn(code, b)
		if weekly(&s) != weekly(&t) {
			return true
		}
		same := slices.Equal(s.Words, t.Words)
		words, values := len(s.Words) > 0 && len(t.Words) > 0, same && len(s.Values) == len(t.Values)
		for i := range min(len(s.Values), len(t.Values)) {
			v := &s.Values[i]
			time := v.Kind == locale.Clock || v.Kind == locale.Weekday || v.Kind == locale.Calendar
			if v.Apart(&t.Values[i]) && (values || time && (same || words)) {
				return true
			}
		}
	}
	return false
}

// weekly tells whether a statement is of a day of the week.
func weekly(s *locale.Statement) bool {
	return slices.ContainsFunc(s.Values, func(v locale.Value) bool { return v.Kind == locale.Weekday })
}

// denialIn and valuesIn explain, in the language of the two texts, in what they are at odds, and hardlyIn that a reader
// finds them so.
var (
	hardlyIn = map[string]string{
		"de": "Beides kann kaum gelten: %s und %s.",
		"fr": "Les deux ne peuvent guère être vrais : %s et %s.",
		"es": "Difícilmente pueden ser ciertas las dos cosas: %s y %s.",
		"it": "Difficilmente valgono entrambe le cose: %s e %s.",
		"pt": "Dificilmente as duas coisas são verdade: %s e %s.",
		"nl": "Beide kunnen moeilijk kloppen: %s en %s.",
	}
	denialIn = map[string]string{
		"de": "Ein Text sagt, was der andere verneint: %s gegen %s.",
		"fr": "Un texte affirme ce que l'autre nie : %s contre %s.",
		"es": "Un texto afirma lo que el otro niega: %s frente a %s.",
		"it": "Un testo afferma ciò che l'altro nega: %s contro %s.",
		"pt": "Um texto afirma o que o outro nega: %s contra %s.",
		"nl": "De ene tekst zegt wat de andere ontkent: %s tegenover %s.",
	}
	valuesIn = map[string]string{
		"de": "Die Texte sprechen von demselben und unterscheiden sich in dem, was sie davon sagen: %s und %s.",
		"fr": "Les textes parlent de la même chose et diffèrent dans ce qu'ils en disent : %s et %s.",
		"es": "Los textos hablan de lo mismo y difieren en lo que dicen de ello: %s y %s.",
		"it": "I testi parlano della stessa cosa e differiscono in ciò che ne dicono: %s e %s.",
		"pt": "Os textos falam do mesmo e diferem no que dizem disso: %s e %s.",
		"nl": "De teksten gaan over hetzelfde en verschillen in wat ze ervan zeggen: %s en %s.",
	}
)
