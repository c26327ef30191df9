package stance

import (
	"orgmem/brain/extract/clause"
	"orgmem/brain/text"
)

// maxProposed is how many tokens a sentence has at most that is proposed: longer ones argue.
const maxProposed = 48

// relatives say which one is meant of what stands before them.
var relatives = text.Set("who whom whose which that")

// maxTitle is how many tokens of a title stand before a name: "Dr.", "Uncle".
const maxTitle = 2

// Propose is for a sentence in which [Read] finds nothing, and a reader sees a stance of a kind: it gives whose stance
// the sentence is, and what they say, where that can be understood alone. It does not tell likes from dislikes, nor
// what is held from what is denied: Object has the words that do, and Polarity is 0.
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
	if verb == 0 || r.mark(verb) || r.inQuotes(verb) || clause.Joins(r.low(verb)) || relatives[r.low(verb)] ||
		r.shared(verb) {
		return Stance{}, false
	}
	end := bounds(r).trimmed(verb, s.To)
	if end <= verb || !r.standsFor(kind, verb, end, true) {
		return Stance{}, false
	}
	return Stance{
		Kind: kind, Name: name, Span: r.quote(s.From, s.To, end),
		Object: text.Span{Start: r.Tokens[verb].Start, End: r.Tokens[end-1].End},
	}, true
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
