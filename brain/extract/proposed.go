package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typing"
	reading "orgmem/brain/reader"
)

// The bounds were chosen on what is held out of train/data (DESIGN.md). The reader's vocabulary has no capitals, so
// that where spelling speaks for a name it needs to say little, and where it speaks against one, much.
const (
	// leastProposed is how likely a span must be to become a name.
	leastProposed = 0.5
	// sureSmall is the same for one without a capital: people drop them, but not often.
	sureSmall = 0.9
	// leastName is how likely a word must be a name's at least, so that a name of the rules stands.
	leastName = 0.5
	// leastSpelled is the same for one whose spelling says so, too: a capital inside of a sentence, or no word of the
	// dictionary.
	leastSpelled = 0.3
	// leastBeside is how likely a capitalised word beside a name must be part of a name to be added to it.
	leastBeside = 0.01
	// maxPost is how long a post is at most, in bytes: accounts in longer texts are those of minutes and tickets.
	maxPost = 500
)

// proposable are the types of what names something.
var proposable = map[reading.Type]bool{
	reading.Person: true, reading.Organization: true, reading.Product: true, reading.Place: true, reading.Project: true,
	reading.Event: true,
}

// proposer finds the names of a block that the reader proposes.
type proposer struct {
	*reader
	cased bool // capitals mean names there
	begun bool // sentences begin with one
}

// proposerOf is one for the block that is read.
func proposerOf(r *reader) proposer {
	sentences, capitals := 0, 0
	for i, t := range r.tokens {
		if t.First && t.Kind == tagger.Word {
			sentences++
			if r.word(i) != r.lows[i] {
				capitals++
			}
		}
	}
	return proposer{r, r.prose(), 2*capitals > sentences}
}

// propose puts the reader's names of the block in the place of those that the rules found there, and drops of the
// others what the reader takes for no name.
func (r proposer) propose() {
	if r.tagged.Tagged == nil || len(r.tokens) == 0 || len(r.text) <= maxPost && r.post() { // of which the rules know more
		return
	}
	t := r.typed()
	listed := doubt.Accounts(&t)
	var proposed []span
	for _, s := range r.tagged.in(r.tokens[0].Start, r.tokens[len(r.tokens)-1].End) {
		if proposable[s.Type] && s.P >= leastProposed && !within(listed, s.Start) {
			proposed = r.proposal(proposed, s)
		}
	}
	kept := r.found[:0]
	for _, f := range r.found {
		if within(listed, r.tokens[f.from].Start) {
			kept = append(kept, f)
			continue
		}
		if !slices.ContainsFunc(proposed, func(p span) bool { return p.from < f.to && f.from < p.to }) && r.stands(f) {
			kept = append(kept, f)
		}
	}
	r.found = append(kept, proposed...)
	slices.SortFunc(r.found, func(a, b span) int { return a.from - b.from })
}

// within tells whether an offset is in one of some stretches.
func within(all []Span, at int) bool {
	return slices.ContainsFunc(all, func(s Span) bool { return s.Start <= at && at < s.End })
}

// stands tells whether a name that only the rules find is one: the reader takes a word of it for a name's at least, and
// it for nothing else.
func (r proposer) stands(f span) bool {
	if r.nameless(f) {
		return false
	}
	start, end := r.tokens[f.from].Start, r.tokens[f.to-1].End
	least := leastName
	if r.cased && r.spelled(f) {
		least = leastSpelled
	}
	name, _ := r.tagged.likeliest(start, end)
	return name >= least && !slices.ContainsFunc(r.tagged.in(start, end), func(s reading.Span) bool {
		return !proposable[s.Type] && s.P >= leastProposed
	})
}

// spelled tells whether a name is one by its spelling.
func (r proposer) spelled(f span) bool {
	for i := f.from; i < f.to; i++ {
		if !r.capital(i) || r.plain(i) {
			continue
		}
		e, _ := r.model.Find(r.word(i))
		if e.Class&tagger.Common == 0 {
			return true
		}
	}
	return false
}

// leads tells whether a token has its capital for the place where it stands: at the head of a sentence, a line, or what
// stands behind a mark.
func (r proposer) leads(i int) bool {
	return i == 0 || r.tokens[i].First || r.tokens[i-1].Kind == tagger.Mark && r.lows[i-1] != "&"
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
	if from < end && r.tokens[from].Start < s.Start && strings.IndexByte("-.", r.text[s.Start-1]) >= 0 {
		return to // the end of a word: "Re-enable", ".mjs"
	}
	for i := from; i < end; {
		part := i + 1
		for part < end && !r.ended(part) && !(s.Type == reading.Person && r.divides(part, end)) {
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
		switch {
		case f.from == f.to || !r.proper(f) || !r.numbered(&f):
		case len(to) > 0 && to[len(to)-1].to == f.from && !r.ended(f.from) && r.headed(f):
			to[len(to)-1].to, to[len(to)-1].said, to[len(to)-1].tag = f.to, f.said, f.tag
		default:
			to = append(to, f)
		}
		for i = max(part, f.to); i < end && !r.nameable(i) || i < end && r.lows[i] == "and"; i++ {
		}
	}
	return to
}

// headed tells whether a name is the end of the one that it touches: what the two are, its first word says, which names
// nothing by itself ("Heron", "Foundation").
func (r proposer) headed(f span) bool {
	t := r.typed()
	return (f.said == reading.Organization || f.said == reading.Event) && r.capital(f.from) &&
		doubt.Common(&t, f.from, f.from+1)
}

// tagOf is the tagger's class of a type of the reader's.
var tagOf = map[reading.Type]tagger.Tag{
	reading.Person: tagger.BeginPerson, reading.Organization: tagger.BeginOrganization,
	reading.Place: tagger.BeginPlace, reading.Product: tagger.BeginWork,
}

// ended tells whether a sentence ends before a token. That of "L. Niia" and of "St. Olave" does not.
func (r proposer) ended(i int) bool {
	if !r.tokens[i].First {
		return false
	}
	before := strings.TrimSuffix(r.word(i-1), ".")
	return strings.Contains(r.text[r.tokens[i-1].Start:r.tokens[i].Start], "\n") ||
		!(utf8.RuneCountInString(before) == 1 && r.capital(i-1) || before == "St" || before == "Mt" || r.address(i-1))
}

// divides tells whether a token stands between two people.
func (r proposer) divides(i, end int) bool {
	switch r.lows[i] {
	case "and", "&", ",", "/", "+", "or":
		return i+1 < end
	}
	return false
}

// widenLeft and widenRight are where a name ends that a span cuts: with the capitals beside it that may be a name's,
// over the small words that names hold.
func (r proposer) widenLeft(from, last int) int {
	for from > last && !r.tokens[from].First {
		switch {
		case r.continues(from - 1):
			from--
		case from-1 > last && !r.tokens[from-1].First && doubt.Bridges[r.lows[from-1]] && r.continues(from-2):
			from -= 2
		default:
			return from
		}
	}
	return from
}

func (r proposer) widenRight(to int) int {
	for to < len(r.tokens) && !r.tokens[to].First {
		switch {
		case r.continues(to), r.capital(to) && r.capital(to-1) && typing.Firm(r.lows[to]):
			to++
		case to+1 < len(r.tokens) && !r.tokens[to+1].First && r.continues(to+1) &&
			(doubt.Bridges[r.lows[to]] || r.tokens[to].Kind == tagger.Suffix && strings.HasSuffix(r.lows[to], "s")):
			to += 2
		default:
			return to
		}
	}
	return to
}

// continues tells whether a token beside a name is part of it.
func (r proposer) continues(i int) bool {
	if !r.capital(i) || r.plain(i) || r.address(i) || typing.Role(r.lows[i]) {
		return false
	}
	least := leastName
	if e, _ := r.model.Find(r.word(i)); r.cased && (e.Class&tagger.Common == 0 || !r.leads(i)) {
		least = leastBeside
	}
	t := r.tokens[i]
	name, _ := r.tagged.likeliest(t.Start, t.End)
	return name >= least && !slices.ContainsFunc(r.tagged.in(t.Start, t.End), func(s reading.Span) bool {
		return s.P >= leastProposed
	})
}

// strip takes off a name what belongs to its sentence: an article, a greeting, a form of address, and words in small
// letters at either end, but for those that say what an event or a project is ("World Cup final").
func (r proposer) strip(f *span) {
	capitals := r.cased && r.anyCapital(*f)
	for f.from < f.to-1 && (doubt.Interjections[r.lows[f.from]] || clause.Determines(r.lows[f.from]) ||
		r.lows[f.from] == "dear" || !r.nameable(f.from) ||
		f.said == reading.Person && (r.address(f.from) || typing.Role(r.lows[f.from])) ||
		capitals && r.small(f.from) && !doubt.Particles[r.lows[f.from]]) {
		f.from++
	}
	for capitals && f.from < f.to-1 && r.small(f.to-1) && !typing.EndsSmall(r.lows[f.to-1]) {
		f.to--
	}
}

// small tells whether a token is a word in small letters.
func (r proposer) small(i int) bool {
	return r.tokens[i].Kind == tagger.Word && r.word(i) == r.lows[i]
}

// address tells whether a word is a form of address, perhaps with its dot.
func (r proposer) address(i int) bool {
	e, _ := r.model.Find(strings.TrimSuffix(r.word(i), "."))
	return e.Class.Part() == tagger.Honorific || r.title(i)
}

// numbered takes the word that says what is numbered into a name that is only a number or a letter: "room 412",
// "Block D". It returns false where no such word is there.
func (r proposer) numbered(f *span) bool {
	for i := f.from; i < f.to; i++ {
		if r.tokens[i].Kind != tagger.Number && r.tokens[i].Kind != tagger.Mark && len(r.word(i)) > 1 {
			return true
		}
	}
	if f.from == 0 || r.tokens[f.from].First || !typing.Numbered(r.lows[f.from-1]) {
		return false
	}
	f.from--
	return true
}

// proper tells whether a name may be one for its spelling. In small letters the reader must be sure, and where capitals
// are used, the words must be none of the dictionary.
func (r proposer) proper(f span) bool {
	if r.nameless(f) {
		return false
	}
	if r.anyCapital(f) {
		return true
	}
	if f.p < sureSmall {
		return false
	}
	for i := f.from; i < f.to; i++ {
		e, _ := r.model.Find(r.word(i))
		if e.Class&tagger.Common == 0 && (e.Class != 0 || !strings.Contains(r.word(i), "-")) {
			return true
		}
	}
	return !r.begun
}

// nameless tells whether a name is one word that names nothing: a greeting, a nation, a form of address, a currency.
func (r proposer) nameless(f span) bool {
	if f.to-f.from != 1 {
		return false
	}
	e, _ := r.model.Find(r.word(f.from))
	return doubt.Interjections[r.lows[f.from]] || doubt.Greetings[r.lows[f.from]] || e.Class.Part() == tagger.Demonym ||
		r.address(f.from) || r.currency(f.from) || doubt.Month(r.lows[f.from])
}

// currency tells whether a token is that of a sum.
func (r proposer) currency(i int) bool {
	return doubt.Currencies[r.lows[i]] && (i > 0 && r.tokens[i-1].Kind == tagger.Number ||
		i+1 < len(r.tokens) && r.tokens[i+1].Kind == tagger.Number)
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
