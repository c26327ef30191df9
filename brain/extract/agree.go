package extract

import "strings"

// agree gives all mentions of one name one type, the one that most of them have
// by confidence: within a document a name seldom means two things (Gale, Church,
// Yarowsky 1992). A single word that is the first or last word of a person's name
// in the same document is that person.
func (r *reader) agree() {
	type votes struct {
		of    map[Type]float64
		count int
	}
	all := map[string]*votes{}
	people := map[string]bool{}
	for _, m := range r.out.Mentions {
		if !guessed(m.Type) {
			continue
		}
		v := all[m.Name]
		if v == nil {
			v = &votes{of: map[Type]float64{}}
			all[m.Name] = v
		}
		v.count++
		v.of[m.Type] += m.Confidence
		if m.Type == Other {
			v.of[Other] -= m.Confidence / 2 // it says that nothing is known
		}
		if first, rest, ok := strings.Cut(m.Name, " "); ok && m.Type == Person {
			people[first], people[rest[strings.LastIndexByte(rest, ' ')+1:]] = true, true
		}
	}
	for i := range r.out.Mentions {
		m := &r.out.Mentions[i]
		if !guessed(m.Type) {
			continue
		}
		if r.people[m.Name] {
			m.Type = Person
			continue
		}
		if v := all[m.Name]; v.count > 1 {
			for _, t := range guesses {
				if v.of[t] > v.of[m.Type] {
					m.Type = t
				}
			}
		}
		if people[m.Name] && m.Type != Place && !m.sure {
			m.Type = Person
		}
	}
}

// guesses are the types that words and context decide, in the order in which
// ties are decided.
var guesses = []Type{Person, Organization, Place, Product, Project, Event, Other}

func guessed(t Type) bool { return t != Identifier && t != URL && t != Code }
