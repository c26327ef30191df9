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
		case r.people[m.Name]:
			m.Type = Person
		case v.read > 0:
			if m.Type != Event || r.evidence[i].some { // a feast is one
				m.Type = v.weighed(people[m.Name])
			}
		default:
			m.Type = v.most(m.Type)
			if people[m.Name] && m.Type != Place {
				m.Type = Person
			}
		}
	}
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

// weighed is the type for which most speaks. What several places say is not independent: they count by the root of
// their number.
func (v *votes) weighed(person bool) Type {
	sum := v.name
	for k, x := range v.places {
		sum[k] += x / math.Sqrt(float64(v.read))
	}
	if person {
		sum[0] += partOfPerson
	}
	return heaviest(sum)
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
