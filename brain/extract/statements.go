package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
)

// attitude is what a verb says of its subject.
type attitude struct {
	kind       StatementKind
	polarity   int
	confidence float64
}

// attitudes are the verbs behind "I" or "we", in words; see thirds for others.
var attitudes = map[string]attitude{
	"prefer": {Preference, 1, 0.95}, "rather": {Preference, 1, 0.7}, "love": {Preference, 1, 0.85},
	"enjoy": {Preference, 1, 0.85},
	"adore": {Preference, 1, 0.85}, "like": {Preference, 1, 0.75}, "favor": {Preference, 1, 0.8},
	"favour": {Preference, 1, 0.8},
	"hate":   {Preference, -1, 0.85}, "dislike": {Preference, -1, 0.9}, "loathe": {Preference, -1, 0.9},
	"detest":  {Preference, -1, 0.9},
	"despise": {Preference, -1, 0.9}, "ca n't stand": {Preference, -1, 0.9}, "ca n't bear": {Preference, -1, 0.8},
	"cannot stand": {Preference, -1, 0.9},
	"always use":   {Preference, 1, 0.8}, "usually use": {Preference, 1, 0.75}, "never use": {Preference, -1, 0.8},
	"swear by": {Preference, 1, 0.8},
	"am into":  {Preference, 1, 0.6}, "am fond of": {Preference, 1, 0.9}, "am tired of": {Preference, -1, 0.6},
	"am sick of":  {Preference, -1, 0.6},
	"am a fan of": {Preference, 1, 0.9}, "am a big fan of": {Preference, 1, 0.9}, "am a huge fan of": {Preference, 1, 0.9},
	"am not a fan of": {Preference, -1, 0.9},
	"avoid":           {Preference, -1, 0.6},
	"think":           {Belief, 1, 0.7}, "believe": {Belief, 1, 0.85}, "suspect": {Belief, 1, 0.7},
	"guess": {Belief, 1, 0.5}, "assume": {Belief, 1, 0.6},
	"reckon": {Belief, 1, 0.7}, "suppose": {Belief, 1, 0.5}, "feel that": {Belief, 1, 0.7}, "feel like": {Belief, 1, 0.55},
	"doubt":        {Belief, -1, 0.7},
	"am convinced": {Belief, 1, 0.9}, "am sure": {Belief, 1, 0.7}, "am certain": {Belief, 1, 0.8},
	"am confident": {Belief, 1, 0.75},
	"agree that":   {Belief, 1, 0.75}, "disagree that": {Belief, -1, 0.75}, "would argue": {Belief, 1, 0.75},
	"'d argue":  {Belief, 1, 0.75},
	"would say": {Belief, 1, 0.55}, "'d say": {Belief, 1, 0.55}, "expect that": {Belief, 1, 0.6},
}

// opinions open a belief without a verb.
var opinions = [][]string{
	{"in", "my", "opinion"},
	{"in", "my", "view"},
	{"in", "my", "experience"},
	{"imo"},
	{"imho"},
	{"my", "view", "is"},
	{"my", "opinion", "is"},
	{"it", "seems", "to", "me"},
}

// maxAttitude is the longest key of attitudes, in words.
const maxAttitude = 5

// thirds maps the verbs of a third person to their first: prefers, thinks.
var thirds = func() map[string]string {
	m := map[string]string{}
	for verb := range attitudes {
		first, rest, more := strings.Cut(verb, " ")
		switch {
		case first == "am":
			m["is"+strings.TrimPrefix(verb, "am")] = verb
		case !more && first != "rather":
			m[first+"s"] = verb
		case first != "ca" && first != "would" && first != "'d" && first != "always" && first != "usually" &&
			first != "never":
			m[first+"s "+rest] = verb
		}
	}
	return m
}()

// fillers stand between a subject and its verb without changing what it says.
var fillers = map[string]bool{
	"really": true, "also": true, "still": true, "just": true, "personally": true, "definitely": true, "absolutely": true,
	"generally": true,
	"strongly":  true, "actually": true, "do": true, "much": true, "would": true, "'d": true, "’d": true, "truly": true,
	"firmly": true, "honestly": true, "kind": true, "of": true, "sort": true,
}

// statements finds what the speaker of the sentence [from, to) prefers and
// believes; mentions are those of the sentence.
func (r *reader) statements(from, to int, mentions []Mention) {
	if len(r.out.Statements) >= MaxStatements || r.word(to-1) == "?" {
		return
	}
	for i := from; i < to; i++ {
		low := r.lows[i]
		switch {
		case low == "i" || low == "we":
			if r.hypothetical(i, from) {
				continue
			}
			if r.state(i+1, from, to, r.speakerAt(r.tokens[i].Start), false) {
				return
			}
		case low == "my" && i+3 < to && (r.lows[i+1] == "favorite" || r.lows[i+1] == "favourite"):
			r.keep(Statement{
				Kind: Preference, Speaker: r.speakerAt(r.tokens[i].Start), Polarity: 1, Confidence: 0.9,
			}, i+2, from, to)
			return
		}
	}
	for _, opinion := range opinions {
		n := len(opinion)
		for i := from; i+n < to && i < from+3; i++ {
			if slices.Equal(r.lows[i:i+n], opinion) {
				r.keep(Statement{
					Kind: Belief, Speaker: r.speakerAt(r.tokens[i].Start), Polarity: 1, Confidence: 0.8,
				}, i+n, from, to)
				return
			}
		}
	}
	for _, m := range mentions {
		if m.Type != Person {
			continue
		}
		for i := from; i < to; i++ {
			if r.tokens[i].Start >= m.Span.End {
				if r.state(i, from, to, m.Name, true) {
					return
				}
				break
			}
		}
	}
}

// hypothetical tells whether the subject at i only asks or supposes.
func (r *reader) hypothetical(i, from int) bool {
	if i == from {
		return false
	}
	switch r.lows[i-1] {
	case "if", "do", "did", "should", "can", "could", "would", "when", "what", "whatever", "whether",
		"unless", "how", "am":
		return true
	}
	return false
}

// state reads a verb of attitude at i and keeps the statement.
func (r *reader) state(i, from, to int, speaker string, third bool) bool {
	polarity, would := 1, false
	for ; i < to; i++ {
		switch w := r.lows[i]; {
		case w == "not" || w == "n't" || w == "n’t" || w == "never" && (i+1 >= to || r.lows[i+1] != "use") || w == "longer":
			polarity = -polarity
			continue
		case w == "no" && i+1 < to && r.lows[i+1] == "longer", w == "does":
			continue
		case fillers[w]:
			would = would || w == "would" || w == "'d" || w == "’d"
			if a, n, ok := r.attitude(i, to, third); ok && n > 1 {
				return r.hold(a, i+n, from, to, speaker, polarity)
			}
			continue
		}
		break
	}
	a, n, ok := r.attitude(i, to, third)
	if !ok && third && i > from && (r.lows[i-1] == "n't" || r.lows[i-1] == "not" || r.lows[i-1] == "n’t") {
		a, n, ok = r.attitude(i, to, false) // Bob does not like
	}
	if !ok || would && r.lows[i] != "prefer" && r.lows[i] != "rather" {
		return false // "I would like" asks for something
	}
	return r.hold(a, i+n, from, to, speaker, polarity)
}

// attitude finds the longest verb of attitude at i.
func (r *reader) attitude(i, to int, third bool) (a attitude, n int, ok bool) {
	for n = min(maxAttitude, to-i); n > 0; n-- {
		key := r.lows[i]
		if n > 1 {
			key = strings.Join(r.lows[i:i+n], " ")
		}
		if key == "'m" || strings.HasPrefix(key, "'m ") || strings.HasPrefix(key, "’m ") {
			key = "am" + strings.TrimPrefix(strings.TrimPrefix(key, "'m"), "’m")
		}
		if third {
			key = thirds[key]
		}
		if a, ok = attitudes[key]; ok {
			return a, n, true
		}
	}
	return a, 0, false
}

// hold keeps a statement whose object begins at i, unless the object is nothing
// that stands for itself.
func (r *reader) hold(a attitude, i, from, to int, speaker string, polarity int) bool {
	return r.keep(Statement{
		Kind: a.kind, Speaker: speaker, Polarity: a.polarity * polarity, Confidence: a.confidence,
	}, i, from, to)
}

// minBelief is the fewest words that say something: "I think so" says nothing.
const minBelief = 3

func (r *reader) keep(s Statement, i, from, to int) bool {
	for i < to && (r.lows[i] == "that" && s.Kind == Belief || r.tokens[i].Kind == tagger.Mark) {
		i++
	}
	end := to
	for end > i && r.tokens[end-1].Kind == tagger.Mark {
		end--
	}
	words, pronouns := 0, 0
	for k := i; k < end; k++ {
		if r.tokens[k].Kind == tagger.Mark {
			continue
		}
		words++
		switch r.lows[k] {
		case "it", "that", "this", "them", "so", "you", "him", "her", "those", "these", "to", "too", "also", "of", "about":
			pronouns++
		}
	}
	if words == pronouns || r.lows[i] == "if" || s.Kind == Belief && words < minBelief {
		return false
	}
	s.Span = Span{Start: r.tokens[from].Start, End: r.tokens[to-1].End}
	s.Object = Span{Start: r.tokens[i].Start, End: r.tokens[end-1].End}
	if k := r.turnAt(s.Object.Start); k >= 0 {
		// Without the speaker's name, and what others say: no sentence ends for sure
		// where a name of small letters follows.
		if turn := r.out.Turns[k].Span; turn.Start <= s.Object.Start && s.Object.Start < turn.End {
			s.Span = Span{Start: max(s.Span.Start, turn.Start), End: min(s.Span.End, turn.End)}
			s.Object.End = min(s.Object.End, turn.End)
		}
	}
	r.out.Statements = append(r.out.Statements, s)
	return true
}
