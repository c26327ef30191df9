package temporal

import (
	"slices"

	"orgmem/brain/text"
)

// maxMomentMs bounds the time that a moment may have, on both sides of 1970: what
// lies eight thousand years away was misread.
const maxMomentMs = 8000 * 365 * 24 * 3600 * 1000

// Tell is what some notes tell of times: their timeline, and the dates that what they promise is due at. Such a date is
// reported as due, and not in the timeline as well.
func Tell(notes []Note) []Moment {
	var out []Moment
	promised := Commitments(notes)
	type day struct {
		note  int
		until int64
	}
	due := map[day]int64{} // where the timeline shows each
	for _, p := range promised {
		due[day{p.Note, p.DueMs}] = p.DueMs - 1 // in the period that is named, not behind it
	}
	for _, m := range Timeline(notes) {
		if m.AtMs < -maxMomentMs || m.AtMs > maxMomentMs {
			continue
		}
		if at, ok := due[day{m.Note, m.UntilMs}]; ok {
			due[day{m.Note, m.UntilMs}] = max(at, m.AtMs) // before the 9th
			continue
		}
		out = append(out, m)
	}
	for _, p := range promised {
		if p.DueMs != 0 {
			title, precision, bound := notes[p.Note].promised(&p)
			out = append(out, Moment{
				Note: p.Note, Kind: Due, AtMs: due[day{p.Note, p.DueMs}], UntilMs: p.DueMs, Title: title,
				Precision: precision, Bound: bound,
			})
		}
	}
	return out
}

// promised is the title of the moment at which something is due, and how exactly the text names the time.
func (n *Note) promised(p *Commitment) (title, precision, bound string) {
	c := n.claimAt(p.Span.Start)
	if c == nil {
		return "", "", Latest
	}
	i := slices.IndexFunc(n.Dates, func(d Date) bool {
		return d.Span.Start >= p.Span.Start && d.Span.End <= p.Span.End && d.UntilMs == p.DueMs
	})
	if i < 0 {
		return n.titleOf(c, p.Span, Date{Span: p.Span}), "", Latest
	}
	d := n.Dates[i]
	before := words(n.Text[p.Span.Start:d.Span.Start])
	if bound = boundOf(d); bound == "" && len(before) > 0 {
		if w := before[len(before)-1]; deadend[w] || latest[w] {
			bound = Latest
		}
	}
	if bound != "" {
		return n.titleOf(c, p.Span, d), "", bound
	}
	return n.titleOf(c, p.Span, d), Precision(d.FromMs, d.UntilMs), ""
}

// latest are words behind which, as behind those of deadend, a time is the latest of those that are meant.
var latest = text.Set(`than bis vor spätestens`)
