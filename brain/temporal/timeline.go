package temporal

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"orgmem/brain/claim"
)

// Moment is something that happened, or is to happen, at a time.
type Moment struct {
	Note int // its place in the arguments
	// AtMs is when it begins, and UntilMs when it is over: of the 3rd of May, the 4th.
	// What is reported until a time is at the last moment of that.
	AtMs, UntilMs int64
	// Precision is how exactly the text names the time, Bound which end, where it names only one; both may be empty.
	Precision, Bound string
	// Title is the sentence that says so, behind what that stands under, without marks and shortened.
	Title string
	Kind  string
}

// The kinds of moments.
const (
	Mentioned = "mentioned" // the text names the time
	Due       = "due"       // somebody promised something for then
)

// maxMoments bounds the moments of one note: a calendar pasted as text would
// otherwise drown the timeline.
const maxMoments = 8

// Timeline gives the moments that notes tell of, earliest first: for each date
// that a text mentions, the sentence around it, with its neighbour where that says what happened. It skips dates in
// questions, and what has not happened, is only put off, or old.
func Timeline(notes []Note) []Moment {
	var out []Moment
	for i := range notes {
		n := &notes[i]
		count := 0
		for _, d := range n.Dates {
			if count == maxMoments {
				break
			}
			c := n.claimAt(d.Span.Start)
			if c == nil || c.Asks && !n.stated(c, d) || n.nothing(c, d) || n.idle(c, d) || n.age(d) || n.cancelled(c) {
				continue
			}
			said := n.told(c, d)
			if said.Start == said.End {
				continue
			}
			count++
			out = append(out, Moment{
				Note: i, AtMs: n.momentOf(d, said), UntilMs: d.UntilMs, Title: n.titleOf(c, said, d), Kind: Mentioned,
				Precision: Precision(d.FromMs, d.UntilMs), Bound: boundOf(d),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.AtMs, b.AtMs), cmp.Compare(a.Note, b.Note), cmp.Compare(a.Title, b.Title))
	})
	return out
}

// nothing tells whether a sentence says that there is nothing around the time of writing: "No questions this week".
func (n *Note) nothing(c *claim.Claim, d Date) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(n.Text[c.Span.Start:c.Span.End], " \t*•-–—>"), " ")
	switch strings.ToLower(first) {
	case "no", "nothing", "none":
		bounded := d.FromMs != math.MinInt64 && d.UntilMs != math.MaxInt64 // no water until Friday is worth telling
		return bounded && d.FromMs <= n.AtMs && n.AtMs < d.UntilMs
	}
	return false
}

// stated tells whether a date stands in a part of a question that states something before it asks, or is proposed.
func (n *Note) stated(c *claim.Claim, d Date) bool {
	question := n.Text[c.Span.Start:c.Span.End]
	if i := strings.LastIndexByte(question, ';'); i >= 0 {
		if d.Span.End <= c.Span.Start+i {
			return true
		}
		question = question[i+1:]
	}
	return d.UntilMs > n.AtMs && proposes(question)
}

// proposes tells whether a question proposes a time, "Shall we meet on Monday?", "Lunch on Friday?", rather than to ask
// for what is.
func proposes(question string) bool {
	words := strings.Fields(strings.ToLower(question))
	if len(words) < 2 {
		return true
	}
	next := strings.Trim(words[1], ",.?!")
	switch strings.Trim(words[0], ",.?!-*") {
	case "what", "how":
		return next == "about"
	case "do":
		return next == "you"
	case "when", "where", "who", "whose", "whom", "why", "which", "did", "does", "was", "were", "is", "are", "has", "have",
		"had", "isn't", "aren't", "wasn't", "weren't", "didn't", "doesn't", "don't", "hasn't", "haven't", "am":
		return false
	}
	return true
}
