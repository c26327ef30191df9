package recurrence

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"orgmem/brain/extract"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Max is how many recurrences of a text are found: a timetable has some hundred.
const Max = 400

const (
	// sureRecurring is from where on the reader's word counts that a time comes again and again, where the words alone
	// do not say so or are quoted: below it half of what is found is one day.
	sureRecurring = 0.8
	// sureName is how sure the reader must be of a name for its words not to be read as a recurrence: the Daily Mail.
	sureName = 0.5
	// stepBytes of a text are read between two questions whether to go on.
	stepBytes = 64 << 10
	// maxItems bounds the items of one sentence that are read: a longer one is a table.
	maxItems = 400
	// maxApart is how many bytes lie at most between a recurrence and the date that it begins or ends with.
	maxApart = 40
	// maxNegated is how many words before a recurrence can deny it.
	maxNegated = 4
	// maxQuoted is how many bytes around a recurrence quotation marks are looked for.
	maxQuoted = 300
)

// Text is a text, and what else is known of it.
type Text struct {
	Text   string
	Tagged *reader.Tagged // nil: nobody has read it
	Dates  []extract.Date // those of the text, in order: since and until when
}

// Recurrence is a time that comes again and again.
type Recurrence struct {
	Span             text.Span // the words that say so
	Every            *pb.Every
	SinceMs, UntilMs *int64 // nil where it is not said
}

// Find finds the recurrences of a text. goOn is asked now and then whether to go on; its error ends the search and is
// returned, and nothing else is.
func Find(t Text, goOn func() error) ([]Recurrence, error) {
	var out []Recurrence
	f := finder{Text: t}
	asked := 0
	for sp := range sentences(t.Text) {
		if sp.Start-asked >= stepBytes {
			asked = sp.Start
			if err := goOn(); err != nil {
				return nil, err
			}
		}
		for len(f.Dates) > 0 && f.Dates[0].Span.End <= sp.Start {
			f.Dates = f.Dates[1:]
		}
		if out = append(out, f.sentence(sp)...); len(out) >= Max {
			return out[:Max], nil
		}
	}
	return out, nil
}

// While is extract.While with the recurrences, as they are stored with the text. They are left out of the dates.
func While(d extract.Document, goOn func() error) (extract.Extraction, []*pb.TraceRecurrence, error) {
	x, err := extract.While(d, goOn)
	if err != nil {
		return extract.Extraction{}, nil, err
	}
	found, err := Find(Text{text.Truncate(d.Text, extract.MaxText), d.Tagged, x.Dates}, goOn)
	if err != nil {
		return extract.Extraction{}, nil, err
	}
	var out []*pb.TraceRecurrence
	for _, r := range found {
		out = append(out, &pb.TraceRecurrence{
			Start: uint32(r.Span.Start), End: uint32(r.Span.End), Every: r.Every, SinceMs: r.SinceMs, UntilMs: r.UntilMs,
		})
	}
	x.Dates = Apart(x.Dates, found)
	return x, out, nil
}

// sentences are those of a text; one that ends between a day and its month goes on: jeden 3. Mai.
func sentences(s string) iter.Seq[text.Span] {
	return func(yield func(text.Span) bool) {
		var last text.Span
		for sp := range text.Sentences(s) {
			if last.End > 0 && splitDate(s[last.Start:last.End], s[sp.Start:sp.End]) {
				last.End = sp.End
				continue
			}
			if last.End > 0 && !yield(last) {
				return
			}
			last = sp
		}
		if last.End > 0 {
			yield(last)
		}
	}
}

// splitDate tells whether a date goes on from one sentence into the next.
func splitDate(s, next string) bool {
	n := len(s)
	if n < 2 || s[n-1] != '.' || s[n-2] < '0' || s[n-2] > '9' {
		return false
	}
	first, _, _ := strings.Cut(next, " ")
	return german.words[strings.ToLower(strings.TrimRight(first, ".,;:!?"))].is&month != 0
}

// Apart are the dates that belong to no recurrence: "every Wednesday" is not a Wednesday.
func Apart(dates []extract.Date, found []Recurrence) []extract.Date {
	return slices.DeleteFunc(dates, func(d extract.Date) bool {
		i, _ := slices.BinarySearchFunc(found, d.Span.Start, func(r Recurrence, at int) int {
			return cmp.Compare(r.Span.End, at+1)
		})
		return d.Relative && i < len(found) && found[i].Span.Start < d.Span.End
	})
}

// finder reads the sentences of one text, one after the other.
type finder struct {
	Text
	tokens     []tagger.Token
	raw, items []item
}

// candidate is a phrase with the items that it is of.
type candidate struct {
	phrase
	Recurrence
	next  int // the item behind it and its exception
	until int // the same in the text
}

func (f *finder) sentence(sp text.Span) []Recurrence {
	f.tokens = tagger.Tokens(f.tokens[:0], f.Text.Text, sp)
	f.raw = itemsOf(f.raw[:0], f.tokens[:min(len(f.tokens), maxItems)], f.Text.Text)
	set := triggered(f.raw)
	if f.recurring(sp) {
		set = 1<<len(languages) - 1
	}
	if set == 0 {
		return nil
	}
	var all []candidate
	for i, l := range languages {
		if set&(1<<i) == 0 {
			continue
		}
		f.items = l.under(f.items[:0], f.raw)
		p := parser{lang: l, items: f.items}
		for k := 0; k < len(p.items); {
			c, ok := f.candidate(&p, k)
			if !ok {
				k++
				continue
			}
			all = append(all, c)
			k = c.next
		}
	}
	// What the languages make of the same words: the longest is right.
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Compare(b.until-b.Span.Start, a.until-a.Span.Start)
	})
	var out []Recurrence
	for i, c := range all {
		if !slices.ContainsFunc(all[:i], func(o candidate) bool {
			return o.Span.Start < c.until && c.Span.Start < o.until
		}) {
			out = append(out, c.Recurrence)
		}
	}
	slices.SortFunc(out, func(a, b Recurrence) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i := range out {
		f.bounds(sp, out, i)
	}
	return out
}

// candidate reads the recurrence at item k, if it is said to be one.
func (f *finder) candidate(p *parser, k int) (c candidate, ok bool) {
	if c.phrase, ok = p.phraseAt(k); !ok {
		return c, false
	}
	c.Span = text.Span{Start: p.items[k].start, End: p.items[c.phrase.end-1].end}
	if !f.said(&c) || p.denied(k) || c.strength == weak && endOfRange(p, k, c.phrase.end) {
		return c, false
	}
	f.inMonths(p, &c)
	if c.Every = c.rule.every(); c.Every == nil {
		return c, false
	}
	c.next = c.phrase.end
	p.exception(f.Text.Text, &c)
	c.until = max(c.Span.End, p.items[c.next-1].end)
	return c, true
}

// said tells whether a phrase says that something recurs, by itself or as the reader understands it.
func (f *finder) said(c *candidate) bool {
	if f.recurring(c.Span) {
		// A month alone is mostly of one year: he'll be ninety in April.
		return c.strength > weak || len(c.weekdays)+len(c.nth)+len(c.monthDays) > 0 || len(c.months) > 1
	}
	if c.strength != strong || quoted(f.Text.Text, c.Span.Start) {
		return false
	}
	return !slices.ContainsFunc(f.tagged(c.Span), func(s reader.Span) bool {
		return int(s.Type) < reader.Names && s.P >= sureName && s.Start <= c.Span.Start && s.End >= c.Span.End
	})
}

// endOfRange tells whether the items from k on to end are one of the ends of a range: from 1 July to 30 June.
func endOfRange(p *parser, k, end int) bool {
	return p.is(end, to) || p.low(end) == "-" || p.low(end) == "–" || p.is(k-1, to) && !p.is(k-1, on) ||
		p.low(k-1) == "-" || p.low(k-1) == "–"
}

// tagged are the reader's spans that a stretch overlaps with.
func (f *finder) tagged(sp text.Span) []reader.Span {
	if f.Tagged == nil {
		return nil
	}
	from, _ := slices.BinarySearchFunc(f.Tagged.Spans, sp.Start, func(s reader.Span, at int) int {
		return cmp.Compare(s.End, at+1)
	})
	to := from
	for to < len(f.Tagged.Spans) && f.Tagged.Spans[to].Start < sp.End {
		to++
	}
	return f.Tagged.Spans[from:to]
}

// recurring tells whether the reader takes a time in a stretch for one that recurs.
func (f *finder) recurring(sp text.Span) bool {
	return slices.ContainsFunc(f.tagged(sp), func(s reader.Span) bool {
		return s.Type == reader.Time && s.Tense == reader.Recurring && s.TenseP >= sureRecurring
	})
}

// denied tells whether the words before item k say that it is not, or not any more.
func (p *parser) denied(k int) bool {
	for i := k - 1; i >= 0 && i >= k-maxNegated; i-- {
		switch x := &p.items[i]; {
		case x.mark && x.low != "'" && x.low != "’", x.low == "only", x.low == "forget", x.low == "miss":
			return false
		case x.is&negation != 0:
			return true
		}
	}
	return false
}

// inMonths has a month that is a date of its own say when a recurrence begins and ends: "every Wednesday in May" is of
// one May; "daily from April to October" holds in any year, where none is given.
func (f *finder) inMonths(p *parser, c *candidate) {
	if len(c.months) == 0 || len(c.monthDays)+len(c.nth) > 0 || len(c.weekdays) == 0 && c.length.unit != Day &&
		c.length.unit != Week && c.length.unit != Hour {
		return
	}
	for _, d := range f.Dates {
		if d.Span.Start < c.monthsAt[1] && c.monthsAt[0] < d.Span.End && (len(c.months) == 1 || !d.Relative) {
			if c.months = nil; c.before > 0 && c.monthsAt[1] == c.Span.End {
				c.Span.End = p.items[c.before-1].end
			}
			return
		}
	}
}

// quoted tells whether a place stands in quotation marks.
func quoted(s string, at int) bool {
	before, behind := s[max(0, at-maxQuoted):at], s[at:min(len(s), at+maxQuoted)]
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i:]
	}
	behind, _, _ = strings.Cut(behind, "\n")
	for _, marks := range [][2]string{{"“", "”"}, {"„", "“"}, {"«", "»"}} {
		opened := strings.LastIndex(before, marks[0]) > strings.LastIndex(before, marks[1])
		if opened && strings.Contains(behind, marks[1]) {
			return true
		}
	}
	return strings.Count(before, `"`)%2 == 1 && strings.Contains(behind, `"`)
}

// maxException is how many words are between a recurrence and its exception, and how many that has.
const maxException = 6

// exception adds what a sentence leaves out: "except in August", "außer freitags".
func (p *parser) exception(s string, c *candidate) {
	k, gap := c.phrase.end, 0
	for ; k < len(p.items) && gap <= maxException && !p.leavesOut(k); k++ {
		if x := &p.items[k]; x.mark && x.low != "," && x.low != "(" || x.is&(every|weekdays) != 0 {
			return
		}
		gap++
	}
	if k >= len(p.items) || gap > maxException {
		return
	}
	end := p.exceptionEnd(k)
	c.next = end
	c.Every.Except = text.Truncate(s[p.items[k+1].start:p.items[end-1].end], maxExceptionBytes)
	for k++; k < end; k++ {
		switch x := &p.items[k]; {
		case x.is&(weekday|weekdays) != 0:
			days, _, next, _ := p.dayList(k)
			c.Every.ExceptWeekdays = sorted(append(c.Every.GetExceptWeekdays(), days...))
			k = next - 1
		case x.is&month != 0:
			months, _, next := p.monthList(k)
			c.Every.ExceptMonths = sorted(append(c.Every.GetExceptMonths(), months...))
			k = next - 1
		}
	}
}

// maxExceptionBytes bounds the words of an exception.
const maxExceptionBytes = 120

// exceptionEnd is behind the words of the exception that begins at item k.
func (p *parser) exceptionEnd(k int) int {
	end := k + 2
	for end < len(p.items) && end-k <= maxException {
		if x := &p.items[end]; x.mark && x.low != "-" && x.low != "–" && x.low != "&" &&
			!(x.low == "," && p.is(end+1, weekday|weekdays|month)) {
			break
		}
		end++
	}
	return end
}

// leavesOut tells whether an exception begins at item k.
func (p *parser) leavesOut(k int) bool {
	next := p.is(k+1, weekday|weekdays|month) || p.is(k+1, on) && p.is(k+2, weekday|weekdays|month)
	if p.lang.english && (p.low(k) == "but" || p.low(k) == "bar") && next {
		return true
	}
	return p.is(k, except) && k+1 < len(p.items) && !p.items[k+1].mark && (next || !ambiguous[p.low(k)])
}

// ambiguous words leave something out only where a day or a month follows.
var ambiguous = map[string]bool{"menos": true, "hors": true}

// bounds finds since when and until when the ith recurrence of a sentence is, by the dates beside it.
func (f *finder) bounds(sp text.Span, all []Recurrence, i int) {
	r := &all[i]
	for n := range f.Dates {
		d := &f.Dates[n]
		if d.Span.Start >= sp.End {
			return
		}
		behind := d.Span.Start >= r.Span.End
		var gap, before string
		switch {
		case behind && d.Span.Start-r.Span.End <= maxApart && (i+1 == len(all) || all[i+1].Span.Start > d.Span.Start):
			gap = f.Text.Text[r.Span.End:d.Span.Start]
		case d.Span.End <= r.Span.Start && r.Span.Start-d.Span.End <= maxApart &&
			(i == 0 || all[i-1].Span.End <= d.Span.Start) && d.Span.Start-sp.Start <= maxApart:
			gap, before = f.Text.Text[d.Span.End:r.Span.Start], strings.TrimSpace(f.Text.Text[sp.Start:d.Span.Start])
			if before != "" && !starts[strings.ToLower(before)] {
				continue
			}
		default:
			continue
		}
		if strings.ContainsAny(gap, ";:") {
			continue
		}
		if behind {
			before = gap
		}
		f.bound(r, d, strings.ToLower(before), behind)
	}
}

// bound takes one date for the begin or the end of a recurrence, or for both. gap is what stands before the date.
func (f *finder) bound(r *Recurrence, d *extract.Date, gap string, behind bool) {
	since, until := d.FromMs, d.UntilMs
	comma := strings.Contains(gap, ",")
	gap = strings.Trim(gap, " ,(")
	said := strings.ToLower(f.Text.Text[d.Span.Start:d.Span.End])
	stretch := strings.Contains(said, " to ") || strings.Contains(said, " until ") || strings.ContainsAny(said, "–") ||
		strings.Contains(said, " and ")
	switch {
	case since == math.MinInt64 && until == math.MaxInt64:
		return
	case since == math.MinInt64:
		r.UntilMs = &until
	case until == math.MaxInt64:
		r.SinceMs = &since
	case stretch && (gap == "from" || gap == "between"):
		r.SinceMs, r.UntilMs = &since, &until
	case starts[gap]:
		r.SinceMs = &since
	case ends[gap]:
		r.UntilMs = &until
	case behind && (gap == "" && !comma || within[gap]) && d.Grain != extract.Day && d.Grain != extract.Minute:
		r.SinceMs, r.UntilMs = &since, &until
	}
}

// Words in front of a date that something begins or ends at, or is within.
var (
	starts = phrases("from|starting|starting on|starting in|starting from|beginning|beginning on|beginning in|as of|" +
		"as from|effective|ab|ab dem|seit|seit dem|depuis|depuis le|à partir du|desde|desde el|a partir de|a partir del|" +
		"dal|a partire dal|vanaf|sinds")
	ends = phrases("until the|till the|through|through the|bis|bis zum|hasta|hasta el|até|tot|tot en met|fino al|" +
		"jusqu'au")
	within = phrases("in|of|during")
)

func phrases(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.SplitSeq(list, "|") {
		m[w] = true
	}
	return m
}
