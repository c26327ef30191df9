package act

// nearValue is how many words stand between "to" and the value that something is moved to.
const nearValue = 3

// change reads that a thing has been moved, raised or lowered to a value, or has one in the place of another.
func (s *sentence) change() (a Act, ok bool) {
	if s.has(0, len(s.tokens), s.wishes) || s.has(0, len(s.tokens), s.habits) {
		return a, false
	}
	moved := -1
	for i := range s.tokens {
		if s.moved[s.tokens[i].Text] {
			moved = i
		}
	}
	if moved >= 0 && !s.not[s.tokens[max(0, moved-1)].Text] {
		for i := range s.tokens {
			if s.to[s.tokens[i].Text] && s.valueNear(i+1) {
				return s.wholly(), true
			}
		}
	}
	for _, p := range s.instead {
		if m, found := s.find(p); found && s.valueNear(m.to) && s.content(0, m.from) > 0 && s.valued(0, m.from) {
			return s.wholly(), true
		}
	}
	return a, false
}

// wholly is a change of which the whole sentence tells.
func (s *sentence) wholly() Act {
	return Act{Kind: Change, Thing: s.span(0, len(s.tokens))}
}

// valueNear tells whether a value stands at token i, or a few words behind it.
func (s *sentence) valueNear(i int) bool { return s.valued(i, min(i+nearValue, len(s.tokens))) }

// valued tells whether a number, a day or a month stands in the tokens [from, to).
func (s *sentence) valued(from, to int) bool {
	for i := from; i < to; i++ {
		if t := &s.tokens[i]; t.Number || s.days[t.Text] {
			return true
		}
	}
	return false
}
