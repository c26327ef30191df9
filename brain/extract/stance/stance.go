package stance

import (
	"slices"
	"strings"

	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// Kind says what a stance is.
type Kind string

// The kinds of stances.
const (
	Preference Kind = "preference" // I prefer, love, hate, always use …
	Belief     Kind = "belief"     // I think, believe, am convinced that …
)

// Person is who is named in a sentence.
type Person struct {
	Span text.Span
	Name string
}

// Sentence is what is read: the tokens [From, To) of what one speaker says.
type Sentence struct {
	Text   string
	Tokens []tagger.Token
	Lows   []string // of the tokens, in small letters
	Model  *tagger.Model
	From   int
	To     int
	People []Person // in order
}

// Stance is what somebody prefers or believes.
type Stance struct {
	Kind Kind
	// Name is who does, where the sentence names them; empty: its speaker.
	Name string
	// Span is the sentence, or the part of it that is about this one. Object is inside of it.
	Span, Object text.Span
	// Polarity is 1 for likes and beliefs held, -1 for dislikes and beliefs denied.
	Polarity   int
	Confidence float64
}

// found is a stance in tokens.
type found struct {
	Stance
	begin, from, end int // where its clause and its object begin, and where the object ends
}

// Read finds the stances of a sentence.
func Read(s Sentence) []Stance {
	if s.From >= s.To || s.Lows[s.To-1] == "?" {
		return nil
	}
	r := reader{&view{Sentence: s}}
	var all []found
	for i := s.From; i < s.To; i++ {
		f, ok := r.at(i)
		if ok {
			all = append(all, f)
			i = f.end - 1
		}
	}
	out := make([]Stance, 0, len(all))
	for k := range all {
		from, to := s.From, s.To
		if k > 0 {
			from = all[k].begin
		}
		if k+1 < len(all) {
			to = all[k].end
		}
		all[k].Span = r.quote(from, to, all[k].end)
		out = append(out, all[k].Stance)
	}
	return out
}

// reader reads one sentence.
type reader struct{ *view }

// at reads the stance whose subject is at token i.
func (r reader) at(i int) (found, bool) {
	switch low := r.Lows[i]; {
	case low == "i" || low == "we":
		if f, ok := r.things(i); ok {
			return f, true
		}
		return r.held(i, i+1, "")
	case low == "my" || low == "one":
		return r.favourite(i)
	case r.opinion(i) > 0:
		f := found{begin: i, from: i + r.opinion(i)}
		f.Kind, f.Polarity, f.Confidence = Belief, 1, sureOpinion
		if r.inQuotes(i) {
			return f, false
		}
		return r.keep(f, attitude{kind: Belief})
	}
	for _, p := range r.People {
		if p.Span.Start == r.Tokens[i].Start {
			verb := i + 1
			for verb < r.To && r.Tokens[verb].Start < p.Span.End {
				verb++
			}
			return r.held(i, verb, p.Name)
		}
	}
	return found{}, false
}

// held reads the stance of the subject at i, whose verb begins at verb.
func (r reader) held(i, verb int, name string) (found, bool) {
	if !r.asserted(i) {
		return found{}, false
	}
	a, polarity, next, ok := r.verb(verb, name != "")
	if !ok {
		return found{}, false
	}
	if a.kind == Belief { // I don't think I like it
		at := next
		if r.low(at) == "that" {
			at++
		}
		if w := r.low(at); name == "" && (w == "i" || w == "we") {
			if b, inner, after, ok := r.verb(at+1, false); ok {
				a, polarity, next = b, polarity*inner*a.polarity, after
				a.confidence = min(a.confidence, leastEmbedded)
				if b.kind == Belief {
					return found{}, false
				}
			}
		}
	}
	f := found{begin: i, from: next}
	f.Kind, f.Name, f.Polarity, f.Confidence = a.kind, name, polarity*a.polarity, a.confidence
	if r.Lows[next-1] == "rather" || a.wish {
		for r.low(f.from) == "not" {
			f.Polarity, f.from = -f.Polarity, f.from+1
		}
	}
	return r.keep(f, a)
}

// asserted tells whether what the subject at i says of itself is said as it stands: not asked, supposed, reported of
// somebody else, or part of what tells which thing is meant ("a game I love").
func (r reader) asserted(i int) bool {
	if r.inQuotes(i) {
		return false
	}
	k := i - 1
	for k >= r.From && r.Tokens[k].Kind == tagger.Word && (asides[r.Lows[k]] || r.part(k) == tagger.Adverb) &&
		!supposes[r.Lows[k]] {
		k--
	}
	if r.mark(k) || r.Tokens[k].Kind == tagger.Handle || joiners[r.Lows[k]] {
		return k < r.From || !r.denied(k) || r.Lows[k] != "because"
	}
	switch w := r.Lows[k]; {
	case supposes[w] || reports[w]:
		return false
	case w == "why":
		return !r.denied(k)
	case w == "that" || leads[w]:
		before := k
		if w == "that" {
			before--
		}
		if r.low(before) == "not" || r.part(before) == tagger.Noun && !facts[r.low(before)] ||
			r.part(before) == tagger.Plural {
			return false
		}
		return !r.denied(k) && !reports[r.low(before)]
	}
	return r.adverbial(k)
}

// denied tells whether a negation stands in the clause that ends with token k.
func (r reader) denied(k int) bool {
	for ; k >= r.From && !r.mark(k); k-- {
		if negations[r.Lows[k]] {
			return true
		}
	}
	return false
}

// adverbial tells whether the words up to token k only say when, where or as whom: "In winter I love", "As a nurse I
// prefer". Else a noun stands before the subject, and what follows says which one is meant.
func (r reader) adverbial(k int) bool {
	from := k
	for from > r.From && !r.mark(from-1) && (!joiners[r.Lows[from-1]] || r.Lows[from-1] == "as") {
		from--
	}
	if w := r.Lows[from]; (w == "when" || w == "whenever") && from < k && r.verbal(k) {
		return true // when it rains I prefer the tram
	} else if !clause.Relates(w) && !openers[w] && r.part(from) != tagger.Calendar {
		return false
	}
	for j := from; j <= k; j++ {
		if r.finite(j) {
			return false
		}
	}
	return true
}

// verb reads a verb of attitude and what stands between it and its subject. next is the token behind it.
func (r reader) verb(i int, third bool) (a attitude, polarity, next int, ok bool) {
	polarity = 1
	would, denied := false, false
	for begin := i; i < r.To; i++ {
		switch w := r.Lows[i]; {
		case flips[w] && !(w == "never" && r.low(i+1) == "use"):
			polarity, denied = -polarity, true
			continue
		case w == "longer" && i > begin && r.Lows[i-1] == "no":
			polarity, denied = -polarity, true
			continue
		case w == "no" && r.low(i+1) == "longer", w == "does":
			continue
		case denied && (w == "just" || w == "only" || w == "merely" || w == "simply" || always[w]):
			return a, 0, 0, false // I don't just like it
		case fillers[w]:
			would = would || w == "would" || w == "'d" || w == "’d"
			if a, n, ok := r.attitude(i, third); ok && n > 1 {
				return a, polarity, i + n, !denied
			}
			continue
		}
		break
	}
	if i >= r.To {
		return a, 0, 0, false
	}
	a, n, ok := r.attitude(i, third)
	if !ok && third && i > r.From && flips[r.Lows[i-1]] {
		a, n, ok = r.attitude(i, false) // Bob does not like
	}
	w := r.Lows[i]
	switch {
	case !ok, would && w != "prefer" && w != "rather", w == "rather" && !would:
		return a, 0, 0, false // "I would like" asks for something
	case denied && a.kind == Preference && a.polarity < 0:
		return a, 0, 0, false // who does not hate a thing need not like it
	}
	a.wish = would || strings.HasPrefix(w, "prefer")
	return a, polarity, i + n, true
}

// attitude finds the longest verb of attitude at i.
func (r reader) attitude(i int, third bool) (a attitude, n int, ok bool) {
	for n = min(maxAttitude, r.To-i); n > 0; n-- {
		key := r.Lows[i]
		if n > 1 {
			key = strings.Join(r.Lows[i:i+n], " ")
		}
		if key == "'m" || key == "’m" || strings.HasPrefix(key, "'m ") || strings.HasPrefix(key, "’m ") {
			key = "am" + strings.TrimPrefix(strings.TrimPrefix(key, "'m"), "’m")
		}
		key = strings.ReplaceAll(key, "’ve ", "'ve ")
		if third {
			key = thirds[key]
		}
		if a, ok = attitudes[key]; ok {
			return a, n, true
		}
	}
	return a, 0, false
}

// opinion is how many words at i open a belief without a verb; 0: none do.
func (r reader) opinion(i int) int {
	if i > r.From+maxBeforeOpinion {
		return 0
	}
	for _, words := range opinions {
		if n := len(words); i+n < r.To && slices.Equal(r.Lows[i:i+n], words) {
			return n
		}
	}
	return 0
}

// things reads "The thing I love about Lisbon is the light" and "What I hate is noise", at the subject of the verb.
func (r reader) things(i int) (found, bool) {
	head := i - 1
	if r.low(head) == "that" {
		head--
	}
	from := head
	for from > r.From && !r.mark(from-1) && !joiners[r.Lows[from-1]] {
		from--
	}
	if from < r.From || head-from > maxHead || r.inQuotes(i) || r.low(head) != "what" && (head == from ||
		!clause.Determines(r.low(from)) && r.low(from) != "one") {
		return found{}, false
	}
	a, polarity, next, ok := r.verb(i+1, false)
	if !ok || a.kind != Preference {
		return found{}, false
	}
	for k := next; k < r.To && k < next+maxAbout && (!r.mark(k)); k++ {
		if w := r.Lows[k]; w != "is" && w != "are" && w != "'s" && w != "’s" {
			if points[w] || w == "that" {
				return found{}, false
			}
			continue
		}
		f := found{begin: from, from: k + 1}
		f.Kind, f.Polarity, f.Confidence = Preference, polarity*a.polarity, a.confidence
		a.praise = false
		return r.keep(f, a)
	}
	return found{}, false
}

// favourite reads "My favourite dish is risotto", "Tea is my favourite drink" and "One of my favourite films is Alien",
// at "my" or "one".
func (r reader) favourite(i int) (f found, ok bool) {
	my := i
	if r.Lows[i] == "one" {
		if my += 2; r.low(i+1) != "of" || r.low(my) != "my" {
			return f, false
		}
	}
	at := my + 1
	for at < my+4 && !favourites[r.low(at)] {
		at++
	}
	if !favourites[r.low(at)] || r.inQuotes(i) {
		return f, false
	}
	f.begin, f.Kind, f.Polarity, f.Confidence = i, Preference, 1, sureFavourite
	noun := at + 1
	be := noun
	for be < r.To && be < noun+maxAbout && !r.mark(be) && !beings[r.Lows[be]] {
		be++
	}
	if beings[r.low(be)] && r.assertive(i) {
		if be == noun || partial[r.low(be-1)] && be == noun+1 || negations[r.low(be+1)] {
			return f, false
		}
		f.from = noun
		if !r.stands(Preference, be+1, bounds(r).ends(Preference, be+1)) {
			return f, false
		}
		return r.keep(f, attitude{kind: Preference})
	}
	// What is, stands before it.
	be = i - 1
	if !beings[r.low(be)] || be == r.From || partial[r.low(noun)] && r.low(noun+1) != "of" {
		return f, false
	}
	f.begin = be - 1
	for f.begin > r.From && !r.mark(f.begin-1) && !joiners[r.Lows[f.begin-1]] && !supposes[r.Lows[f.begin-1]] {
		f.begin--
	}
	if f.begin > r.From && !r.mark(f.begin-1) && supposes[r.Lows[f.begin-1]] || clause.Relates(r.Lows[f.begin]) {
		return f, false
	}
	for k := f.begin; k < be; k++ {
		if r.verbal(k) {
			return f, false
		}
	}
	if !r.stands(Preference, f.begin, be) {
		return f, false
	}
	f.Object = text.Span{Start: r.Tokens[f.begin].Start, End: r.Tokens[be-1].End}
	f.end = max(bounds(r).ends(Preference, noun), noun)
	return f, true
}

// assertive tells whether a noun at i is the subject of what is said as it stands.
func (r reader) assertive(i int) bool {
	w := r.low(i - 1)
	return r.mark(i-1) || joiners[w] || asides[w] || leads[w] || w == "that"
}

// keep fills in the object of what was found, unless it is nothing that stands for itself.
func (r reader) keep(f found, a attitude) (found, bool) {
	f.from = bounds(r).begins(f.Kind, f.from)
	f.end = bounds(r).ends(f.Kind, f.from)
	if f.from >= f.end || r.questioned(f.end) || !r.stands(f.Kind, f.from, f.end) {
		return f, false
	}
	if f.Kind == Preference {
		if a.praise && f.Polarity > 0 && r.shown(f.from, f.end) || r.courteous(f.from, f.end, a) {
			return f, false
		}
	} else if !a.clausal && !r.claims(f.from, f.end) {
		return f, false
	}
	if f.Polarity < 0 && f.Kind == Belief && r.low(f.end) == "because" {
		return f, false // it may be the reason that is denied
	}
	f.Object = text.Span{Start: r.Tokens[f.from].Start, End: r.Tokens[f.end-1].End}
	return f, true
}

// questioned tells whether what ends at token end is asked.
func (r reader) questioned(end int) bool {
	for end < r.To && r.mark(end) {
		if r.Lows[end][0] == '?' {
			return r.depth[end-r.From] == 0
		}
		end++
	}
	return false
}

// quote is the span of the tokens [from, to) without what belongs to no sentence: marks of a list, who it is
// addressed to, and pictures behind object's end.
func (r reader) quote(from, to, object int) text.Span {
	r.survey()
	begin := from
	for from < to-1 {
		w := r.Lows[from]
		switch {
		case w == "<" && r.Tokens[from+1].Kind == tagger.Handle && r.low(from+2) == ">" && from+3 < to:
			from += 3
			continue
		case r.Tokens[from].Kind == tagger.Handle, w == "(" && !r.among(from, to, ")"),
			strings.Trim(w, "*-•–—>:,;.+ ") == "", from == begin && from > r.From && joiners[w]:
			from++
			continue
		}
		break
	}
	for k := object; k < to; k++ {
		if r.Lows[k] == "[" && r.spaced(k) && !r.linked(k) {
			to = k
		}
	}
	if to > from+1 && r.Lows[to-1] == ")" && !r.among(from, to, "(") {
		to--
	}
	return text.Span{Start: r.Tokens[from].Start, End: r.Tokens[to-1].End}
}
