package extract

import (
	"slices"

	reading "orgmem/brain/reader"
)

// What the reader made of a text proposes names and their types, denies dates and gives times their tense; the
// rules keep what is known by its shape, who speaks, and the calendar. Where the reader is not sure, the rules decide.
// How well they do on what is held out of train/data, bench/tagged tells.

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

// named tells whether the reader takes a stretch of the text for a part of a name.
func (t tags) named(sp Span) bool {
	return slices.ContainsFunc(t.in(sp.Start, sp.End), func(s reading.Span) bool {
		return proposable[s.Type] && s.P >= leastProposed
	})
}

// sentence is the reader's sentence that holds a place of the text; nil: it has not read it, or tells nothing of
// sentences.
func (t tags) sentence(at int) *reading.Sentence {
	if t.Tagged == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(t.Sentences, at, func(x reading.Sentence, at int) int {
		if x.End <= at {
			return -1
		}
		return 1
	})
	if i == len(t.Sentences) || t.Sentences[i].Start > at {
		return nil
	}
	return &t.Sentences[i]
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
