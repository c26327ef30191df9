package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
)

// What the reader made of a text proposes names and their types, and tells which dates are none and when a time is; the
// rules keep what is known by its shape, who speaks, and the calendar. Where the reader is not sure, the rules decide.
// How well they do on what is held out of train/data, bench/tagged tells.
const (
	// leastProposed is how likely a span must be to become a name.
	leastProposed = 0.5
	// sureSmall is the same for one without a capital: the reader sees no capitals, and people drop them.
	sureSmall = 0.9
	// leastName is how likely a word must be a name's at least, so that a name of the rules stands, or one of the reader
	// goes on with it.
	leastName = 0.2
)

// types are those of the reader's types that name something.
var types = map[reading.Type]Type{
	reading.Person: Person, reading.Organization: Organization, reading.Product: Product, reading.Place: Place,
	reading.Project: Project, reading.Event: Event,
}

// tags are what the reader made of a document; nil: nothing.
type tags struct{ *reading.Tagged }

// in are the reader's spans that share something with a stretch of the text.
func (t tags) in(start, end int) []reading.Span {
	if t.Tagged == nil {
		return nil
	}
	s := t.Spans
	from, _ := slices.BinarySearchFunc(s, start, func(x reading.Span, at int) int {
		if x.End <= at {
			return -1
		}
		return 1
	})
	to := from
	for to < len(s) && s[to].Start < end {
		to++
	}
	return s[from:to]
}

// likeliest is how likely the likeliest words of a stretch of the text are those of a name, and of a time; 1 where the
// reader did not read it.
func (t tags) likeliest(start, end int) (name, time float64) {
	if t.Tagged == nil || end > t.Until {
		return 1, 1
	}
	for _, w := range t.words(start, end) {
		name, time = max(name, float64(w.Name)), max(time, float64(w.Time))
	}
	return name, time
}

// words are the reader's words that share something with a stretch of the text.
func (t tags) words(start, end int) []reading.Word {
	w := t.Words
	from, _ := slices.BinarySearchFunc(w, start, func(x reading.Word, at int) int {
		if int(x.End) <= at {
			return -1
		}
		return 1
	})
	to := from
	for to < len(w) && int(w[to].Start) < end {
		to++
	}
	return w[from:to]
}

// proposer finds the names of a block that the reader proposes.
type proposer struct{ *reader }

// propose puts the reader's names of the block in the place of those that the rules found there, and drops of the
// others what the reader takes for no name.
func (r proposer) propose() {
	if r.tagged.Tagged == nil || len(r.tokens) == 0 {
		return
	}
	var proposed []span
	for _, s := range r.tagged.in(r.tokens[0].Start, r.tokens[len(r.tokens)-1].End) {
		if _, ok := types[s.Type]; ok && s.P >= leastProposed {
			proposed = r.proposal(proposed, s)
		}
	}
	kept := r.found[:0]
	for _, f := range r.found {
		at := Span{Start: r.tokens[f.from].Start, End: r.tokens[f.to-1].End}
		if slices.ContainsFunc(proposed, func(p span) bool { return p.from < f.to && f.from < p.to }) {
			continue
		}
		if name, _ := r.tagged.likeliest(at.Start, at.End); name >= leastName {
			kept = append(kept, f)
		}
	}
	r.found = append(kept, proposed...)
	slices.SortFunc(r.found, func(a, b span) int { return a.from - b.from })
}

// proposal adds the names that a span of the reader's stands for, in whole tokens.
func (r proposer) proposal(to []span, s reading.Span) []span {
	from, _ := slices.BinarySearchFunc(r.tokens, s.Start, func(t tagger.Token, at int) int {
		if t.End <= at {
			return -1
		}
		return 1
	})
	end := from
	for end < len(r.tokens) && r.tokens[end].Start < s.End {
		end++
	}
	last := 0
	if len(to) > 0 {
		last = to[len(to)-1].to
	}
	from = max(from, last)
	for i := from; i < end; {
		part := i + 1
		for part < end && !r.tokens[part].First && !(s.Type == reading.Person && r.divides(part, end)) {
			part++
		}
		f := span{from: i, to: part, tag: tagOf[s.Type], p: s.P, said: s.Type, proposed: true}
		if i == from {
			f.from = r.widenLeft(i, last)
		}
		if part == end {
			f.to = r.widenRight(part)
		}
		r.strip(&f)
		if f.from < f.to && (s.P >= sureSmall || r.anyCapital(f)) {
			to = append(to, f)
		}
		for i = max(part, f.to); i < end && !r.nameable(i) || i < end && r.lows[i] == "and"; i++ {
		}
	}
	return to
}

// tagOf is the tagger's class of a type of the reader's.
var tagOf = map[reading.Type]tagger.Tag{
	reading.Person: tagger.BeginPerson, reading.Organization: tagger.BeginOrganization,
	reading.Place: tagger.BeginPlace, reading.Product: tagger.BeginWork,
}

// divides tells whether a token stands between two people.
func (r proposer) divides(i, end int) bool {
	switch r.lows[i] {
	case "and", "&", ",", "/", "+", "or":
		return i+1 < end
	}
	return false
}

// widenLeft and widenRight are where a name ends that a span cuts: with the capitals beside it that may be a name's.
func (r proposer) widenLeft(from, last int) int {
	for from > last && !r.tokens[from].First && r.continues(from-1) {
		from--
	}
	return from
}

func (r proposer) widenRight(to int) int {
	for to < len(r.tokens) && !r.tokens[to].First && r.continues(to) {
		to++
	}
	return to
}

// continues tells whether a token beside a name is part of it.
func (r proposer) continues(i int) bool {
	if !r.capital(i) || r.plain(i) || r.address(i) {
		return false
	}
	t := r.tokens[i]
	name, _ := r.tagged.likeliest(t.Start, t.End)
	return name >= leastName && !slices.ContainsFunc(r.tagged.in(t.Start, t.End), func(s reading.Span) bool {
		return s.P >= leastProposed
	})
}

// strip takes off the front of a name what belongs to its sentence: an article, a greeting, a form of address.
func (r proposer) strip(f *span) {
	for f.from < f.to-1 && (interjections[r.lows[f.from]] || determiners[r.lows[f.from]] || r.lows[f.from] == "dear" ||
		!r.nameable(f.from) || f.said == reading.Person && r.address(f.from)) {
		f.from++
	}
}

// address tells whether a word is a form of address, perhaps with its dot.
func (r proposer) address(i int) bool {
	e, _ := r.model.Find(strings.TrimSuffix(r.word(i), "."))
	return e.Class.Part() == tagger.Honorific || r.title(i)
}

// anyCapital tells whether a name has a capital or a digit.
func (r proposer) anyCapital(f span) bool {
	for i := f.from; i < f.to; i++ {
		if r.capital(i) || r.tokens[i].Kind == tagger.Number {
			return true
		}
	}
	return false
}
