package temporal

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// Commitment is something that somebody said they, or others, will do.
type Commitment struct {
	Note int // its place in the arguments
	Span text.Span
	// Who is named as the one to do it: the speaker for "I" and "we", empty where
	// nobody is.
	Who string
	// DueMs is by when, the end of the period that is named; 0 where none is.
	DueMs      int64
	Confidence float64 // 0 to 1
}

// Question is one that no later note answers.
type Question struct {
	Note       int
	Span       text.Span
	Confidence float64 // 0 to 1
}

const (
	// leastAsked is how many words with a meaning a question must have: "really?"
	// and "what do you think?" ask for nothing that could stay open.
	leastAsked = 3
	// answersIn is among how many of the notes behind a question its answer is
	// looked for. In a conversation it comes at once, in a thread within days.
	answersIn = 40
	// talkMs is within what time two notes are of one conversation: what another writes
	// down on the next day answers nothing for being the next.
	talkMs = 60 * 60 * 1000
	// answerShare is which share of a question's words an answer repeats, and
	// answerCosine how near it is in meaning, where it does not repeat them.
	answerShare  = 0.4
	answerCosine = 0.55
)

// Commitments finds what was promised: "I will send it by Friday", "Anna will
// check the budget by May", "TODO: …", "Action item: …".
func Commitments(notes []Note) []Commitment {
	var out []Commitment
	for i := range notes {
		n := &notes[i]
		for k := range n.Claims {
			c := &n.Claims[k]
			if c.Asks {
				continue
			}
			due := n.dueIn(c.Span)
			who, confidence := promise(n, c, due != 0)
			if confidence > 0 {
				out = append(out, Commitment{Note: i, Span: c.Span, Who: who, DueMs: due, Confidence: confidence})
			}
		}
	}
	return out
}

// dueIn is the end of the last period that a sentence names and that has one:
// "from June on" is no time by when.
func (n *Note) dueIn(sp text.Span) (due int64) {
	for _, d := range n.Dates {
		if d.Span.Start >= sp.Start && d.Span.End <= sp.End && d.UntilMs != math.MaxInt64 {
			due = max(due, d.UntilMs)
		}
	}
	return due
}

var (
	tasks  = []string{"todo", "to do", "action item", "action", "ai", "ap", "next step", "follow-up", "follow up"}
	states = map[string]bool{
		"be": true, "have": true, "need": true, "see": true, "know": true, "think": true, "like": true, "want": true,
	}
	persons = map[string]bool{"i": true, "we": true}
)

// promise tells who promises in a sentence, and how surely it is one.
func promise(n *Note, c *claim.Claim, dated bool) (who string, confidence float64) {
	s := strings.ToLower(n.Text[c.Span.Start:c.Span.End])
	s = strings.TrimLeft(s, "-*[] ")
	for _, t := range tasks {
		if rest, ok := strings.CutPrefix(s, t); ok && strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
			return "", 0.9
		}
	}
	w := c.Words
	for i := range w {
		will := w[i].Form == "will" || w[i].Form == "shall" || w[i].Form == "going" && i+1 < len(w) && w[i+1].Form == "to"
		if !will && !strings.HasPrefix(n.Text[w[i].End:c.Span.End], "'ll ") &&
			!strings.HasPrefix(n.Text[w[i].End:c.Span.End], "’ll ") {
			continue
		}
		by := i // who does it stands before, or is what the 'll hangs on
		if will {
			by = i - 1
			for by >= 0 && (w[by].Form == "am" || w[by].Form == "are" || w[by].Form == "is" || w[by].Form == "also") {
				by--
			}
		}
		verb := i + 1
		if w[i].Form == "going" {
			verb = i + 2
		}
		if by < 0 || verb >= len(w) || w[verb].Kind == claim.Negation || w[verb].Not {
			continue
		}
		confidence = 0.75
		if states[w[verb].Form] {
			confidence = 0.4 // "I will be there": a prediction as often as a promise
		}
		if dated {
			confidence += 0.2
		}
		switch {
		case persons[w[by].Form]:
			return n.Speaker, confidence
		case w[by].Name && (dated || !states[w[verb].Form]),
			by == 0 && dated && !states[w[verb].Form] && capital(n.Text[w[by].Start:]):
			if w[verb].Form == "be" && verb+1 < len(w) && isDone(w[verb+1].Form) {
				return "", confidence - 0.15 // "Atlas-2 will be moved": by whom is not said
			}
			return n.Text[w[n.nameFrom(w, by)].Start:w[by].End], confidence - 0.15
		}
	}
	return "", 0
}

// isDone tells whether a word behind a form of be is what is done to something.
func isDone(w string) bool { return strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "en") }

// nameFrom is where the name begins whose last word is w[i].
func (n *Note) nameFrom(w []claim.Word, i int) int {
	for i > 0 && (w[i-1].Name || i == 1 && w[0].Kind == claim.Content && capital(n.Text[w[0].Start:])) &&
		n.Text[w[i-1].End:w[i].Start] == " " {
		i--
	}
	return i
}

// capital tells whether a text begins with one. At the head of a sentence that
// makes no name, but with a date behind it "Robin will …" is likelier than "Rain
// will …".
func capital(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c)
}

// OpenQuestions finds the questions that nobody answered: none of the next notes
// is about the same and states something. The notes are in the order in which
// they were said.
func OpenQuestions(notes []Note) []Question {
	var out []Question
	for i := range notes {
		n := &notes[i]
		for k := range n.Claims {
			c := &n.Claims[k]
			asked := contents(c)
			if !c.Asks || len(asked) < leastAsked || answered(notes, i, k, asked) {
				continue
			}
			// The more that was written behind it without an answer, the surer.
			out = append(out, Question{
				Note: i, Span: c.Span, Confidence: 0.5 + 0.4*float64(min(len(notes)-1-i, answersIn))/answersIn,
			})
		}
	}
	return out
}

func contents(c *claim.Claim) map[string]bool {
	m := map[string]bool{}
	for _, w := range c.Words {
		if w.Kind != claim.Function && w.Kind != claim.Negation {
			m[w.Stem] = true
		}
	}
	return m
}

// answered looks behind the question at notes[i].Claims[k].
func answered(notes []Note, i, k int, asked map[string]bool) bool {
	for _, c := range notes[i].Claims[k+1:] {
		if !c.Asks && repeats(&c, asked) {
			return true
		}
	}
	for at := i + 1; at < len(notes) && at <= i+answersIn; at++ {
		n := &notes[at]
		states := false
		for k := range n.Claims {
			if c := &n.Claims[k]; !c.Asks {
				states = true
				if repeats(c, asked) {
					return true
				}
			}
		}
		if states && at == i+1 && n.Speaker != "" && n.Speaker != notes[i].Speaker && notes[i].Speaker != "" &&
			n.AtMs-notes[i].AtMs <= talkMs {
			return true // in a conversation the next to speak answers
		}
		if states && dot(notes[i].Vector, n.Vector) >= answerCosine {
			return true
		}
	}
	return false
}

func repeats(c *claim.Claim, asked map[string]bool) bool {
	n := 0
	for stem := range contents(c) {
		if asked[stem] {
			n++
		}
	}
	return float64(n) >= answerShare*float64(len(asked))
}

func dot(x, y []float32) float64 {
	sum := 0.0
	for i := range min(len(x), len(y)) {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}
