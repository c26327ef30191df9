package extract

import (
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typing"
)

// heads are the words that say what a name names. They stand at its end, or before "of" and its like.
var heads = func() map[string]Type {
	m := map[string]Type{}
	for k, words := range typing.Heads {
		for w := range strings.FieldsSeq(words) {
			m[w] = named[k]
		}
	}
	return m
}()

// kind says what a name is: by the words it is made of, by the lexicon, by the
// tagger.
func (r *recognizer) kind(f span) Type {
	// What a name is stands at its end, or before the first of its small words:
	// "Ministry of Defence", "Battle of the Atlantic".
	head := f.to - 1
	for i := f.from + 1; i < f.to; i++ {
		if linking[r.word(i)] {
			head = i - 1
			break
		}
	}
	if f.to-f.from > 1 {
		if t, ok := heads[strings.ToLower(r.word(head))]; ok {
			return t
		}
		switch strings.ToLower(r.word(f.from)) {
		case "project", "operation":
			return Project
		case "mount", "mt.", "lake", "port", "fort", "saint", "cape":
			return Place
		case "university", "bank", "ministry", "department":
			return Organization
		}
	}
	e, known := r.model.Find(strings.Join(strings.Fields(r.text[r.tokens[f.from].Start:r.tokens[f.to-1].End]), " "))
	if known && (f.tag == tagger.Outside || f.p < sureTag) && e.Class&tagger.Common == 0 {
		switch c := e.Class; {
		case c&tagger.PlaceName != 0 && c&(tagger.FirstName|tagger.OrgName) == 0:
			return Place
		case c&tagger.OrgName != 0:
			return Organization
		}
	}
	if known && e.Class&tagger.BrandName != 0 && e.Class&(tagger.FirstName|tagger.LastName|tagger.PlaceName) == 0 &&
		f.tag != tagger.BeginOrganization {
		return Product
	}
	switch f.tag {
	case tagger.BeginPerson:
		return Person
	case tagger.BeginPlace:
		return Place
	case tagger.BeginOrganization:
		return Organization
	case tagger.BeginWork:
		return Product
	default: // a run of capitals
	}
	if r.personal(f) {
		return Person
	}
	return Other
}

// sureTag is the probability above which the tagger's class is better than that
// of the lexicon, which knows no context.
const sureTag = 0.8

// personal tells whether a run of capitals is a first and a last name.
func (r *recognizer) personal(f span) bool {
	if f.to-f.from < 2 || f.to-f.from > 4 {
		return false
	}
	first, _ := r.model.Find(r.word(f.from))
	last, _ := r.model.Find(r.word(f.to - 1))
	return first.Class&tagger.FirstName != 0 && last.Class&tagger.Common == 0
}

// trim takes titles off the front of a person's name, and marks off both ends. It
// returns false where no name is left.
func (r *recognizer) trim(f *span) bool {
	for f.from < f.to && !r.nameable(f.from) {
		f.from++
	}
	for f.to > f.from && !r.nameable(f.to-1) {
		f.to--
	}
	if f.tag == tagger.BeginPerson || f.tag == tagger.Outside {
		for f.from < f.to-1 && r.title(f.from) {
			f.from++
		}
	}
	if f.from > 0 && f.to < len(r.tokens) && r.word(f.from-1) == "{" && r.word(f.to) == "}" {
		return false // markup of a transcript
	}
	switch f.to - f.from {
	case 0:
		return false
	case 1:
		return !r.title(f.from) && (f.tag != tagger.Outside || !r.plain(f.from))
	}
	return true
}

// merge joins names that are one: those that touch, and those that small words
// tie to a head, as in "University of Nice" and "Nobel Prize in Physics".
func (r *recognizer) merge() {
	kept := r.found[:0]
	for _, f := range r.found {
		if len(kept) > 0 {
			if last := &kept[len(kept)-1]; r.ties(*last, f) {
				last.to = f.to
				last.p = (last.p + f.p) / 2
				if last.tag == tagger.Outside {
					last.tag = f.tag
				}
				continue
			}
		}
		kept = append(kept, f)
	}
	r.found = kept
}

// ties tells whether b continues the name a.
func (r *recognizer) ties(a, b span) bool {
	if b.from < a.to || r.tokens[b.from].First {
		return false
	}
	if b.from == a.to {
		// Touching: the one that the tagger left out is part of the other.
		return (a.tag == tagger.Outside) != (b.tag == tagger.Outside)
	}
	if b.from-a.to > 2 {
		return false
	}
	for i := a.to; i < b.from; i++ {
		switch w := r.word(i); {
		case w == "of", w == "the" && i > a.to:
		case (w == "for" || w == "in") && i == a.to:
		default:
			return false
		}
	}
	head, ok := heads[strings.ToLower(r.word(a.to-1))]
	link := r.word(a.to)
	switch {
	case !ok || !r.capital(a.to-1):
		return false
	case link == "in":
		return head == Event
	case link == "for":
		return head == Organization || head == Event
	}
	return head == Organization || head == Event || head == Place || a.to-a.from > 1
}

// event widens an event's name over its year and its small words: "the 1961
// Turkish general election".
func (r *recognizer) event(f *span, tags []tagger.Tag) {
	to := f.to
	for to < len(r.tokens) && to < f.to+3 && r.tokens[to].Kind == tagger.Word && !r.tokens[to].First &&
		tags[to] == tagger.Outside {
		w := strings.ToLower(r.word(to))
		if heads[w] == Event && w != "open" {
			f.to = to + 1
			f.tag = tagger.Outside
			break
		}
		if e, _ := r.model.Find(w); e.Class.Part() == tagger.Function || e.Class.Part() == tagger.Verb ||
			e.Class.Part() == tagger.Past {
			break
		}
		to++
	}
	if heads[strings.ToLower(r.word(f.to-1))] == Event && f.from > 0 && r.year(f.from-1) {
		f.from--
	}
}
