package temporal

import (
	"cmp"
	"math"
	"slices"

	"orgmem/brain/text"
)

// Moment is something that happened, or is to happen, at a time.
type Moment struct {
	Note int // its place in the arguments
	// AtMs is when it begins, and UntilMs when it is over: of the 3rd of May, the 4th.
	// What is reported until a time is at the last moment of that.
	AtMs, UntilMs int64
	Title         string // the sentence that says so, shortened
	Kind          string
}

// The kinds of moments.
const (
	Mentioned = "mentioned" // the text names the time
	Due       = "due"       // somebody promised something for then
)

// maxTitle bounds a moment's title, in bytes: one line on a screen.
const maxTitle = 160

// maxMoments bounds the moments of one note: a calendar pasted as text would
// otherwise drown the timeline.
const maxMoments = 8

// Timeline gives the moments that notes tell of, earliest first: for each date
// that a text mentions, the sentence around it. It skips dates in questions.
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
			if c == nil || c.Asks {
				continue
			}
			count++
			at := d.FromMs
			if at == math.MinInt64 {
				at = d.UntilMs - 1
			}
			out = append(out, Moment{Note: i, AtMs: at, UntilMs: d.UntilMs, Title: title(n.Text, c.Span), Kind: Mentioned})
		}
	}
	slices.SortStableFunc(out, func(a, b Moment) int {
		return cmp.Or(cmp.Compare(a.AtMs, b.AtMs), cmp.Compare(a.Note, b.Note), cmp.Compare(a.Title, b.Title))
	})
	return out
}

func title(s string, sp text.Span) string { return text.Truncate(s[sp.Start:sp.End], maxTitle) }
