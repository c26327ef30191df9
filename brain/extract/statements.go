package extract

import (
	"strings"

	"orgmem/brain/extract/act"
	"orgmem/brain/extract/locale"
	"orgmem/brain/extract/stance"
	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
)

// statements finds what the speaker of the sentence [from, to) prefers and believes; mentions are those of the
// sentence. No sentence ends for sure where a turn does that begins with a name in small letters, so it is read turn
// by turn.
func (r *reader) statements(from, to int, mentions []Mention) {
	for from < to && len(r.out.Statements) < MaxStatements {
		k, end := r.turnAt(r.tokens[from].Start), from+1
		for end < to && r.turnAt(r.tokens[end].Start) == k {
			end++
		}
		head, tail := from, end
		if k >= 0 {
			turn := r.out.Turns[k]
			for head < end && r.tokens[head].Start < turn.Span.Start {
				head++
			}
			for tail > head && turn.Span.Start <= r.tokens[head].Start && r.tokens[head].Start < turn.Span.End &&
				r.tokens[tail-1].End > turn.Span.End {
				tail--
			}
		}
		if head < tail {
			r.stances(head, tail, mentions)
		}
		from = end
	}
}

// stances keeps those of the tokens [from, to), which one speaker says.
func (r *reader) stances(from, to int, mentions []Mention) {
	if r.quoted(r.tokens[from].Start) {
		return // what somebody else wrote
	}
	speaker := r.speakerAt(r.tokens[from].Start)
	if name, behind := r.label(from, to, mentions); behind > from {
		speaker, from = name, behind
	}
	s := stance.Sentence{Text: r.text, Tokens: r.tokens, Lows: r.lows, Model: r.model, From: from, To: to}
	for _, m := range mentions {
		if m.Type == Person {
			s.People = append(s.People, stance.Person{Span: m.Span, Name: m.Name})
		}
	}
	read := stance.Read(s)
	if len(read) == 0 {
		read = stancesAbroad(r.text, r.tokens[s.From].Start, r.tokens[s.To-1].End)
	}
	if len(read) == 0 {
		read = proposedStance(r.tagged.sentence(r.tokens[s.From].Start), s, mentions)
	}
	for _, found := range read {
		if len(r.out.Statements) == MaxStatements {
			return
		}
		said := Statement{
			Kind: StatementKind(found.Kind), Speaker: speaker, Span: found.Span, Object: found.Object,
			Polarity: found.Polarity, Confidence: found.Confidence,
		}
		if found.Name != "" {
			said.Speaker = found.Name
		}
		r.out.Statements = append(r.out.Statements, said)
	}
}

// sureAbroad is how often a stance is right that is read in another language than English.
const sureAbroad = 0.8

// stancesAbroad are those of a sentence in another language than English.
func stancesAbroad(all string, from, to int) (out []stance.Stance) {
	said := all[from:to]
	codes := []string{locale.Guess(said)}
	if codes[0] == "" {
		codes = locale.Of(said).Codes()
	}
	if len(codes) == 0 && strings.ContainsFunc(said, func(r rune) bool { return r >= 'À' }) {
		codes = act.Codes() // of so few words that none tells its language
	}
	for _, code := range codes {
		for _, a := range act.Read(code, said) {
			kind := stance.Preference
			switch a.Kind {
			case act.Belief:
				kind = stance.Belief
			case act.Preference:
			default:
				continue
			}
			out = append(out, stance.Stance{
				Kind: kind, Span: Span{Start: from, End: to}, Polarity: a.Polarity, Confidence: sureAbroad,
				Object: Span{Start: from + a.Thing.Start, End: from + a.Thing.End},
			})
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// The bounds were chosen on what is held out of train/data (DESIGN.md).
const (
	// leastPreference and leastBelief are how likely the reader must hold a sentence to be one that the rules see none in.
	leastPreference, leastBelief = 0.8, 0.8
)

// proposedStance is what the reader sees in a sentence in which the rules find nothing; said is nil where it has not
// read it.
func proposedStance(said *reading.Sentence, s stance.Sentence, mentions []Mention) []stance.Stance {
	if said == nil {
		return nil
	}
	kind, sure := stance.Preference, said.P[reading.Preference]
	if sure < leastPreference {
		if kind, sure = stance.Belief, said.P[reading.Belief]; sure < leastBelief {
			return nil
		}
	}
	for _, m := range mentions { // which wants and thinks things, too
		if m.Type == Organization {
			s.People = append(s.People, stance.Person{Span: m.Span, Name: m.Name})
		}
	}
	found, ok := stance.Propose(s, kind)
	if !ok {
		return nil
	}
	found.Confidence = float64(sure)
	return []stance.Stance{found}
}

// label is who speaks where a person's name and a colon begin a line that is no turn, as in minutes, and the token that
// what is said begins with.
func (r *reader) label(from, to int, mentions []Mention) (string, int) {
	i := from
	for i < to && r.tokens[i].Kind == tagger.Mark {
		i++
	}
	for _, m := range mentions {
		if m.Type != Person || i == to || m.Span.Start != r.tokens[i].Start {
			continue
		}
		for i < to && r.tokens[i].Start < m.Span.End {
			i++
		}
		if i+1 < to && r.lows[i] == ":" {
			return m.Name, i + 1
		}
		break
	}
	return "", from
}

// quoted tells whether the line that holds an offset quotes another text, as answers to mails do.
func (r *reader) quoted(at int) bool {
	line := r.text[strings.LastIndexByte(r.text[:at], '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line[:min(len(line), MaxName)], " \t"), ">")
}
