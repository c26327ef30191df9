package temporal

import "orgmem/brain/text"

// Recurrence is something that comes again and again.
type Recurrence struct {
	Recurring
	Note  int    // its place in the arguments
	Title string // the sentence that says so, shortened
	Text  string // the words that say how often
}

// maxRecurrences bounds the recurrences of one note, as maxMoments its moments: a timetable has no end of them.
const maxRecurrences = 16

// maxEvery bounds the words that say how often, in bytes.
const maxEvery = 120

// Recurrences gives what comes again and again, as the notes tell it, in their order and that of their words. It skips
// what is only asked.
func Recurrences(notes []Note) []Recurrence {
	var out []Recurrence
	for i := range notes {
		n := &notes[i]
		count := 0
		for _, r := range n.Recurs {
			if count == maxRecurrences {
				break
			}
			c := n.claimAt(r.Span.Start)
			if c == nil || c.Asks && !proposes(n.Text[c.Span.Start:c.Span.End]) {
				continue
			}
			count++
			out = append(out, Recurrence{
				Recurring: r, Note: i, Title: n.titleOf(c, c.Span, Date{Span: r.Span}),
				Text: text.Truncate(text.OneLine(n.Text[r.Span.Start:r.Span.End]), maxEvery),
			})
		}
	}
	return out
}
