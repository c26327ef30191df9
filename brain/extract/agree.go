package extract

import (
	"math"
	"strings"

	"orgmem/brain/extract/typing"
)

// votes are what the mentions of one name say of its type.
type votes struct {
	of    map[Type]float64
	count int

	// What speaks for the types where the document was read: the name itself, and its places.
	name, places [typing.Types]float64
	read         int
}

// agree gives all mentions of one name one type: within a document a name seldom means two things (Gale, Church,
// Yarowsky 1992). Where a reader has read, it is the type for which most speaks at all of its places, elsewhere the one
// that most of them have by confidence. A single word that is the first or last word of a person's name in the same
// document is that person, unless more speaks for something else.
func (r *reader) agree() {
	all, people := map[string]*votes{}, map[string]bool{}
	for i, m := range r.out.Mentions {
		if !guessed(m.Type) {
			continue
		}
		v := all[m.Name]
		if v == nil {
			v = &votes{of: map[Type]float64{}}
			all[m.Name] = v
		}
		v.add(m, &r.evidence[i])
		if first, rest, ok := strings.Cut(m.Name, " "); ok && m.Type == Person {
			people[first], people[rest[strings.LastIndexByte(rest, ' ')+1:]] = true, true
		}
	}
	for i := range r.out.Mentions {
		m := &r.out.Mentions[i]
		switch v := all[m.Name]; {
		case !guessed(m.Type):
			m.Certainty = 1
		case r.people[m.Name] || m.Name == r.speaker:
			m.Type, m.Certainty = Person, knownPerson
		case v.read > 0 && m.Type == Event && !r.evidence[i].some: // a feast
			m.Certainty = knownFeast
		case v.read > 0:
			m.Type, m.Certainty = v.weighed(people[m.Name])
		default:
			m.Type = v.most(m.Type)
			if people[m.Name] && m.Type != Place {
				m.Type = Person
			}
			if m.Certainty == 0 { // else it is of a label
				m.Certainty = byRules[m.Type]
			}
		}
	}
}

// How likely types are that no reader has weighed: those of speakers whom the client names and of feasts, and of a
// label before a colon that nobody confirms, since it may say what the line is about.
const (
	knownPerson = 0.95
	knownFeast  = 0.95
	byLabel     = 0.3
)

// byRules is how likely the types are that the rules give, as they are right on the English notes of train/data.
var byRules = map[Type]float64{
	Person: 0.7, Organization: 0.5, Place: 0.6, Product: 0.35, Project: 0.8, Event: 0.85, Other: 0.1,
}

func (v *votes) add(m Mention, e *evidence) {
	v.count++
	v.of[m.Type] += m.Confidence
	if m.Type == Other {
		v.of[Other] -= m.Confidence / 2 // it says that nothing is known
	}
	if !e.some {
		return
	}
	v.read++
	v.name = e.name
	for k, x := range e.place {
		v.places[k] += x
	}
}

// weighed is the type for which most speaks, and how likely it is. What several places say is not independent: they
// count by the root of their number.
func (v *votes) weighed(person bool) (Type, float64) {
	sum := v.name
	for k, x := range v.places {
		sum[k] += x / math.Sqrt(float64(v.read))
	}
	if person {
		sum[0] += partOfPerson
	}
	return heaviest(sum), likely(sum)
}

// most is the type that most mentions have, where there are several.
func (v *votes) most(own Type) Type {
	if v.count > 1 {
		for _, t := range guesses {
			if v.of[t] > v.of[own] {
				own = t
			}
		}
	}
	return own
}

// guesses are the types that words and context decide, in the order in which
// ties are decided.
var guesses = []Type{Person, Organization, Place, Product, Project, Event, Other}

func guessed(t Type) bool { return t != Identifier && t != URL && t != Code }
