package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
)

const (
	// sureListed is how sure the name before an account is: "Lena Voss @lvoss".
	sureListed = 0.95
	// maxListed is how many words such a name has at most.
	maxListed = 4
)

// roster finds the names that stand before accounts at the head of what marks part, as where minutes list who was
// there: all of the capitals there are one person's name.
func (r *recognizer) roster() {
	for i := range r.tokens {
		if r.tokens[i].Kind != tagger.Handle || r.tokens[i].First {
			continue
		}
		from := i
		for from > 0 && i-from <= maxListed && r.capital(from-1) && !r.plain(from-1) {
			if from--; r.tokens[from].First {
				break
			}
		}
		if n := i - from; n < 2 || n > maxListed || !r.tokens[from].First && r.nameable(from-1) ||
			i+1 < len(r.tokens) && !r.tokens[i+1].First && r.nameable(i+1) {
			continue
		}
		r.found = slices.DeleteFunc(r.found, func(f span) bool { return f.from < i && from < f.to })
		r.found = append(r.found, span{from: from, to: i, tag: tagger.BeginPerson, p: sureListed})
	}
	slices.SortFunc(r.found, func(a, b span) int { return a.from - b.from })
}

// cutNames ends the names of a block where their words do: at an account, at a dash with room on both sides, and inside
// of what people exclaim. What is cut off is a name only if more than the place of its capital speaks for it.
func (r *recognizer) cutNames() {
	t := r.typed()
	for k := 0; k < len(r.found); k++ {
		f := r.found[k]
		for i := f.from; i < f.to; i++ {
			if !r.cuts(i, f) {
				continue
			}
			rest := f
			rest.from = i + 1
			f.to = i
			alone := rest.to-rest.from == 1
			if rest.from < rest.to && !(alone && (r.common(rest.from) || r.word(i) == "on")) {
				r.found = slices.Insert(r.found, k+1, rest)
			}
			break
		}
		f.from += doubt.Lead(&t, f.from, f.to)
		if f.tag == tagger.BeginPerson {
			f.to = doubt.Broken(&t, f.from, f.to)
		}
		for f.from < f.to && doubt.Interjections[r.lows[f.from]] {
			f.from++
		}
		for f.to > f.from && doubt.Interjections[r.lows[f.to-1]] {
			f.to--
		}
		if f.to-f.from == 1 && f != r.found[k] && r.common(f.from) {
			f.to = f.from
		}
		if f.from < f.to {
			r.whole(&f)
		}
		r.found[k] = f
	}
	r.found = slices.DeleteFunc(r.found, func(f span) bool { return f.from >= f.to })
}

// cuts tells whether no name goes on over token i.
func (r *recognizer) cuts(i int, f span) bool {
	switch r.tokens[i].Kind {
	case tagger.Handle:
		return f.to-f.from > 1
	case tagger.Mark:
		switch r.word(i) {
		case "-", "–", "—", "--":
			return i > 0 && i+1 < len(r.tokens) && r.tokens[i].Start > r.tokens[i-1].End && r.tokens[i+1].Start > r.tokens[i].End
		}
	case tagger.Word: // "the NRK on Board Meetings"
		if i > f.from && r.word(i) == "on" {
			before := r.word(i - 1)
			return len(before) > 1 && strings.ToUpper(before) == before && strings.ToLower(before) != before
		}
	default:
	}
	return false
}

// common tells whether a token is a word of the dictionary that nobody is called by, at the head of a sentence.
func (r *recognizer) common(i int) bool {
	if !r.tokens[i].First && (i == 0 || r.nameable(i-1)) {
		return false
	}
	t := r.typed()
	return doubt.Common(&t, i, i+1)
}

// whole makes a name of what is a part or too much of one: it goes on behind a colon without room ("CS:GO"), ends
// before what belongs to somebody ("Mira's PR"), and is none if it is a word of questions at the head of a sentence or
// an abbreviation of everyday work.
func (r *recognizer) whole(f *span) {
	for f.to+1 < len(r.tokens) && r.word(f.to) == ":" && r.tokens[f.to].Start == r.tokens[f.to-1].End &&
		r.tokens[f.to+1].Start == r.tokens[f.to].End && r.capital(f.to-1) && r.capital(f.to+1) {
		f.to += 2
	}
	if f.from > 0 && doubt.Naming[r.lows[f.from-1]] && f.to+2 < len(r.tokens) && r.word(f.to) == ":" &&
		r.capital(f.to+1) && r.capital(f.to+2) && !r.tokens[f.to+2].First { // "called Moths: The Long Night"
		for f.to += 3; f.to < len(r.tokens) && !r.tokens[f.to].First && r.capital(f.to); f.to++ {
		}
	}
	for i := f.from + 1; i+1 < f.to; i++ {
		if r.tokens[i].Kind == tagger.Suffix && (shape.Series[r.lows[i+1]] || doubt.Everyday[r.lows[i+1]]) {
			f.to = i
		}
	}
	if f.to-f.from != 1 {
		return
	}
	e, _ := r.model.Find(r.word(f.from))
	asks := doubt.Asking[r.lows[f.from]] && e.Class.Part() == tagger.Function && r.tokens[f.from].First
	if asks || doubt.Everyday[r.lows[f.from]] {
		f.to = f.from
	}
}
