package stance

import (
	"strings"

	"orgmem/brain/text"
)

// maxProposed is how many tokens a sentence has at most that is proposed: longer ones argue.
const maxProposed = 48

// maxTitle is how many tokens of a title stand before a name: "Dr.", "Uncle".
const maxTitle = 2

// Propose is for a sentence in which [Read] finds nothing, and a reader sees a stance of a kind: it gives whose stance
// the sentence is, and of what, where that can be understood alone. It knows more verbs than Read, and whom "she" and
// "her" mean; what Read refuses on purpose it refuses, too.
func Propose(s Sentence, kind Kind) (Stance, bool) {
	if s.From >= s.To || s.To-s.From > maxProposed || s.Lows[s.To-1] == "?" {
		return Stance{}, false
	}
	r := reader{&view{Sentence: s}}
	begin := s.From
	for begin < s.To && (r.mark(begin) && !r.inQuotes(begin) || asides[r.low(begin)]) {
		begin++
	}
	name, verb := r.holder(begin)
	if verb == 0 || r.mark(verb) || r.inQuotes(verb) || r.shared(verb) {
		return Stance{}, false
	}
	a, polarity, from, ok := r.proposed(kind, verb)
	if !ok {
		return Stance{}, false
	}
	from = bounds(r).begins(kind, from)
	end := bounds(r).ends(kind, from)
	switch {
	case !r.standsFor(kind, from, end, true) || r.questioned(end),
		kind == Preference && (a.praise && polarity > 0 && r.shown(from, end) || r.courteous(from, end, a)),
		kind == Belief && !a.clausal && !r.claims(from, end):
		return Stance{}, false
	}
	return Stance{
		Kind: kind, Name: name, Span: r.quote(s.From, s.To, end), Polarity: polarity,
		Object: text.Span{Start: r.Tokens[from].Start, End: r.Tokens[end-1].End},
	}, true
}

// The verbs that only a reader's word makes a stance: "wants" may ask for something, and "says" report.
var (
	wanting = map[string]int{
		"wants": 1, "needs": 1, "wishes": 1, "hopes": 1, "insists": 1, "demands": 1, "values": 1, "appreciates": 1,
		"chooses": 1, "craves": 1, "sooner": 1, "rather": 1, "refuses": -1, "rejects": -1, "resists": -1, "opposes": -1,
		"objects": -1, "resents": -1, "distrusts": -1,
	}
	holding = map[string]int{
		"says": 1, "feels": 1, "finds": 1, "considers": 1, "claims": 1, "argues": 1, "maintains": 1, "holds": 1,
		"insists": 1, "expects": 1, "fears": 1, "worries": 1, "warns": 1, "agrees": 1,
		"swears": 1, "trusts": 1, "predicts": 1, "denies": -1, "disagrees": -1,
	}
	// bare are their forms behind "does not", and a plural.
	bare = func() map[string]string {
		m := map[string]string{}
		for _, verbs := range []map[string]int{wanting, holding} {
			for v := range verbs {
				switch {
				case strings.HasSuffix(v, "ies"):
					m[strings.TrimSuffix(v, "ies")+"y"] = v
				case strings.HasSuffix(v, "shes"):
					m[strings.TrimSuffix(v, "es")] = v
				default:
					m[strings.TrimSuffix(v, "s")] = v
				}
			}
		}
		return m
	}()
	// behindWanting stand between such a verb and what is wanted: insists on, hopes for.
	behindWanting = text.Set(`on for`)
)

// proposed reads the verb behind the name of who holds something, and where what they hold begins.
func (r reader) proposed(kind Kind, verb int) (a attitude, polarity, from int, ok bool) {
	for _, third := range [...]bool{true, false} { // a firm thinks, or think
		if a, polarity, from, ok = r.verb(verb, third); ok {
			return a, polarity * a.polarity, from, a.kind == kind
		}
	}
	polarity, would := 1, false
	for i := verb; i < r.To; i++ {
		switch w := r.Lows[i]; {
		case flips[w]:
			polarity = -polarity
			continue
		case w == "would" || w == "'d" || w == "’d":
			would = true
			continue
		case w == "does" || w == "do":
			if subjects[r.low(i+1)] {
				return a, 0, 0, false // "Ilse, do we want this?"
			}
			continue
		case fillers[w] && w != "do" && w != "does":
			continue
		}
		verbs := wanting
		if kind == Belief {
			verbs = holding
		}
		w := r.Lows[i]
		if third := bare[w]; third != "" {
			w = third
		}
		if held := verbs[w]; held != 0 && would == (w == "sooner" || w == "rather") {
			from = i + 1
			if to := r.low(from); kind == Preference && (behindWanting[to] || to == "to" && strings.HasPrefix(w, "object")) {
				from++
			}
			return attitude{kind: kind, wish: would}, polarity * held, from, true
		}
		break
	}
	return a, 0, 0, false
}

// holder is who holds what the sentence that begins at a token says, and the token behind them: somebody whose name
// begins it. It is 0 where nobody's does. What "I" and "we" say is left to the rules, which know guesses, praise and
// plans ("I guess I'll go") from what somebody holds.
func (r reader) holder(begin int) (name string, behind int) {
	first := begin
	for first < r.To && first < begin+maxTitle && !r.names(first) &&
		(r.Lows[first] == "." || r.word(first) != r.Lows[first]) {
		first++
	}
	for _, p := range r.People {
		if first < r.To && p.Span.Start == r.Tokens[first].Start {
			for behind = first + 1; behind < r.To && r.Tokens[behind].Start < p.Span.End; behind++ {
			}
			if w := r.low(behind); auxiliaries[w] && w != "would" && w != "'d" && w != "’d" && w != "does" && w != "do" {
				return "", 0 // "Tomas is right" is what somebody else holds
			}
			return p.Name, behind
		}
	}
	return "", 0
}

// names tells whether a person's name begins at a token.
func (r reader) names(i int) bool {
	for _, p := range r.People {
		if p.Span.Start == r.Tokens[i].Start {
			return true
		}
	}
	return false
}

// shared tells whether somebody else says something of their own in the rest of the sentence: "Ilse wants the bay,
// Marek prefers the tower".
func (r reader) shared(from int) bool {
	for i := from + 1; i < r.To; i++ {
		switch w := r.Lows[i]; {
		case w == ";":
			return true
		case !r.mark(i-1) && !joiners[r.Lows[i-1]]:
		case r.names(i) && r.finite(i+1), agents[w], w == "i":
			return true
		}
	}
	return false
}
