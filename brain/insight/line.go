package insight

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/claim"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

// word is one word of a sentence. A contraction is two: "I'll" is "i" and "will".
type word struct {
	claim.Word
	capital bool
}

// line is one sentence as the rules read it.
type line struct {
	note  int // its place among the notes
	place int // its place in the note
	of    *temporal.Note
	span  text.Span
	words []word
	asks  bool
	code  string // of its language, where that is another than English
	back  int    // see mark
}

// contractions are what hangs on a word with an apostrophe.
var contractions = map[string]string{"ll": "will", "m": "am", "re": "are", "ve": "have", "d": "would", "s": "'s"}

// linesOf takes the sentences of a note.
func linesOf(note int, n *temporal.Note) []line {
	lines := make([]line, 0, len(n.Claims))
	for i := range n.Claims {
		c := &n.Claims[i]
		l := line{note: note, place: i, of: n, span: c.Span, asks: c.Asks, words: make([]word, 0, len(c.Words)+2)}
		shown := picture(n.Text, c.Span)
		for k := range c.Words {
			w := c.Words[k]
			if int(w.Start) >= shown {
				break
			}
			l.words = append(l.words, word{w, capital(n.Text[w.Start:])})
			rest := strings.TrimPrefix(n.Text[w.End:c.Span.End], "'")
			rest = strings.TrimPrefix(rest, "’")
			if len(rest) == c.Span.End-int(w.End) {
				continue
			}
			hung := rest[:letters(rest)]
			if form, ok := contractions[strings.ToLower(hung)]; ok {
				l.words = append(l.words, word{
					Word: claim.Word{
						Form: form, Stem: form, Kind: claim.Function, Not: w.Not, Start: w.End,
						End: int32(c.Span.End - len(rest) + len(hung)),
					},
				})
			}
		}
		l.back = l.mark()
		lines = append(lines, l)
	}
	return lines
}

// picture is where a sentence only shows something, in brackets behind it: "[shares image: a cat]". A link is not one,
// nor what stands in brackets before all else.
func picture(s string, sp text.Span) int {
	for at := sp.Start + 1; at < sp.End; at++ {
		if s[at] != '[' || s[at-1] != ' ' || strings.Trim(s[sp.Start:at], " *-•>") == "" {
			continue
		}
		end := strings.IndexByte(s[at:sp.End], ']')
		if end < 0 || strings.HasPrefix(s[at+end:], "](") || strings.TrimSpace(s[at+1:at+end]) == "" {
			continue
		}
		return at
	}
	return sp.End
}

// letters is how many bytes of letters a text begins with.
func letters(s string) int {
	for i, c := range s {
		if !unicode.IsLetter(c) {
			return i
		}
	}
	return len(s)
}

func capital(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c)
}

// form is word i in lower case; empty outside of the sentence.
func (l *line) form(i int) string {
	if i < 0 || i >= len(l.words) {
		return ""
	}
	return l.words[i].Form
}

// gap is what stands between words i-1 and i.
func (l *line) gap(i int) string {
	if i <= 0 || i >= len(l.words) {
		return ""
	}
	return l.of.Text[l.words[i-1].End:max(l.words[i].Start, l.words[i-1].End)]
}

// broken tells whether a mark parts words i-1 and i, as a comma does.
func (l *line) broken(i int) bool {
	if i <= 0 || i >= len(l.words) {
		return true
	}
	gap := l.gap(i)
	return gap != " " && (strings.ContainsAny(gap, ",;:()[]—–\n\"“”!?") || strings.Contains(gap, ". ") ||
		strings.Contains(gap, " - "))
}

// between is the text of the words [from, to).
func (l *line) between(from, to int) string {
	if from >= to || from < 0 || to > len(l.words) {
		return ""
	}
	return l.of.Text[l.words[from].Start:l.words[to-1].End]
}

// says tells whether the words from i on are these, given with blanks between them.
func (l *line) says(i int, phrase string) bool {
	for more := true; more; i++ {
		var f string
		if f, phrase, more = strings.Cut(phrase, " "); l.form(i) != f {
			return false
		}
	}
	return true
}

// phrases are sequences of words, by the first of each.
type phrases map[string][]string

func phrasesOf(all ...string) phrases {
	m := phrases{}
	for _, p := range all {
		first, _, _ := strings.Cut(p, " ")
		m[first] = append(m[first], p)
	}
	return m
}

// saysAny is the phrase that begins at word i; empty where none does.
func (l *line) saysAny(i int, all phrases) string {
	for _, p := range all[l.form(i)] {
		if l.says(i, p) {
			return p
		}
	}
	return ""
}

// holds tells whether a phrase stands anywhere in [from, to).
func (l *line) holds(from, to int, phrase string) bool {
	n := strings.Count(phrase, " ") + 1
	for i := from; i+n <= to; i++ {
		if l.says(i, phrase) {
			return true
		}
	}
	return false
}

// holdsAny is holds for the first of several phrases.
func (l *line) holdsAny(from, to int, all phrases) bool {
	for i := from; i < to; i++ {
		for _, p := range all[l.form(i)] {
			if i+strings.Count(p, " ") < to && l.says(i, p) {
				return true
			}
		}
	}
	return false
}

// any tells whether one of some words stands in [from, to).
func (l *line) any(from, to int, forms map[string]bool) bool {
	for i := max(from, 0); i < min(to, len(l.words)); i++ {
		if forms[l.words[i].Form] {
			return true
		}
	}
	return false
}

// stems are what the content words of [from, to) share with their other forms.
func (l *line) stems(from, to int) map[string]bool {
	m := map[string]bool{}
	for i := max(from, 0); i < min(to, len(l.words)); i++ {
		if w := &l.words[i]; w.Kind == claim.Content && len(w.Form) > 1 && !empty[w.Form] {
			m[stemOf(w)] = true
		}
	}
	return m
}

// stemOf is a word's stem, with the verbs that change inside.
func stemOf(w *word) string {
	if s, ok := irregular[w.Form]; ok {
		return s
	}
	return w.Stem
}

// clauseFrom is where the clause begins that holds word i, and clauseTo where it ends:
// at a mark that parts, or at a word that begins another.
func (l *line) clauseFrom(i int) int {
	for i > 0 && !l.broken(i) && !conjunctions[l.form(i-1)] {
		i--
	}
	return i
}

func (l *line) clauseTo(i int) int {
	for i++; i < len(l.words); i++ {
		if l.broken(i) || subordinate[l.form(i)] || conjunctions[l.form(i)] && l.subjectAt(i+1) {
			return i
		}
	}
	return len(l.words)
}

// meant tells whether a word only stands for something that was said before.
func meant(form string) bool { return pronouns[form] }

var pronouns = text.Set("it they them he she him this that these those")

// told is the clause [from, to) of a sentence, with the sentence before it where it would
// not be understood alone.
func (g *gatherer) told(l *line, from, to int) string {
	s := l.between(from, to)
	alone := true
	for i := from; i < to && i < from+4; i++ {
		if i+1 < to && l.broken(i+1) && i > from {
			break
		}
		if meant(l.form(i)) && !(l.words[i].Form == "that" && i > from) &&
			!(determining[l.form(i)] && i+1 < to && l.words[i+1].Kind == claim.Content && !l.broken(i+1)) {
			alone = false
		}
	}
	if alone {
		return s
	}
	if from > 0 { // what it stands for is in the clause before
		return l.between(0, to)
	}
	if l.place == 0 || g.of[l.note][l.place-1].asks {
		return s
	}
	prev := &g.of[l.note][l.place-1]
	return l.of.Text[prev.span.Start:prev.span.End] + " " + s
}

var determining = text.Set("this that these those")

// subjectAt tells whether what begins at i is who does something: "and I do the laundry".
func (l *line) subjectAt(i int) bool {
	switch l.form(i) {
	case "i", "we", "he", "she", "they", "it", "you":
		return true
	case "":
		return false
	}
	return l.words[i].capital && verbal(l.form(i+1)) && l.words[i].Kind == claim.Content
}

var (
	conjunctions = text.Set("and but so because since while then that or")
	subordinate  = text.Set("while when whenever until unless because since if but as which who although though whether " +
		"where so")
)

// empty are content words by form that say nothing of what a sentence is about.
var empty = text.Set(`new old good bad nice big small great little more less next last first second third time times
	day days
week weeks month months year years today tomorrow yesterday tonight morning evening night afternoon noon now later soon
again once twice ever always usually already still please thanks thank ok okay yes maybe perhaps really well back much
lot lots bit thing things way make makes made get gets got go goes went going come comes came take takes took put puts
see say says said tell told want wants wanted need needs needed know known think look looks looked let use used whole
half both own same other another mr mrs ms dr part end start begins begin far long short only even everything everybody
everyone nobody nothing something somebody around almost nearly quite instead january february april june july august
september october november december till until`)

// irregular are verbs whose forms share no stem.
var irregular = map[string]string{
	"fell": "fall", "fallen": "fall", "broke": "break", "broken": "break", "lost": "lose", "left": "leave", "sent": "send",
	"paid": "pay", "wrote": "write",
	"written": "write", "bought": "buy", "brought": "bring", "built": "build", "held": "hold", "kept": "keep",
	"met": "meet", "ran": "run", "sold": "sell",
	"spoke": "speak", "spoken": "speak", "stuck": "stick", "taught": "teach", "gave": "give", "given": "give",
	"drew": "draw", "drawn": "draw", "froze": "freeze",
	"frozen": "freeze", "leaked": "leak", "stolen": "steal", "stole": "steal", "did": "do", "done": "do",
	"chose": "choose", "chosen": "choose", "forgot": "forget",
	"forgotten": "forget", "woke": "wake", "grew": "grow", "rose": "rise", "risen": "rise", "sang": "sing", "sung": "sing",
	"swam": "swim", "flew": "fly",
}

var lexicon = sync.OnceValue(func() *tagger.Model {
	m, err := tagger.Load()
	if err != nil {
		panic(err) //nolint:forbidigo // it is embedded in the binary, and a test opens it
	}
	return m
})

func classOf(form string) tagger.Class {
	e, _ := lexicon().Find(form)
	return e.Class
}

// verbal tells whether a word can be a verb in the third person, or one of the helpers.
func verbal(form string) bool {
	if form == "'s" {
		return false
	}
	if helpers[form] {
		return true
	}
	switch p := classOf(form).Part(); p {
	case tagger.Verb, tagger.Past:
		return true
	case tagger.Noun, tagger.Plural:
		return strings.HasSuffix(form, "s")
	default:
		return strings.HasSuffix(form, "s") && p != tagger.Function && p != tagger.Adverb
	}
}

var helpers = text.Set("is are was were has have had will would can could does do did must should shall may might am")

// sorts of subjects.
type sort int

const (
	nobody  sort = iota
	speaker      // I, we
	person       // by name
	group        // a team, a role
)

// adverbs stand between a subject and its verb.
var adverbs = text.Set("now also still always usually then already currently officially today only both just " +
	"generally " +
	"finally therefore")

// subject reads who stands in front of word i, and where that begins.
func (g *gatherer) subject(l *line, i int) (who string, from int, is sort) {
	j := i - 1
	for j >= 0 && adverbs[l.form(j)] {
		j--
	}
	if j < 0 || l.broken(i) || l.broken(j+1) {
		return "", i, nobody
	}
	w := &l.words[j]
	switch {
	case w.Form == "i" || w.Form == "we":
		return l.of.Speaker, j, speaker
	case w.capital && w.Kind != claim.Function || g.people[w.Form]:
		k := j
		for k > 0 && (l.words[k-1].capital && l.words[k-1].Kind == claim.Content && l.gap(k) == " " ||
			titles[l.form(k-1)] && strings.TrimLeft(l.gap(k), ".") == " ") {
			k--
		}
		// "Today Emil": the capital of a sentence
		if k < j && !g.personal(l, k) && l.words[k].Form != "the" && k == 0 && !titles[l.form(k)] {
			if c := classOf(l.form(k)); c&tagger.Common != 0 && c&tagger.FirstName == 0 {
				k++
			}
		}
		// "Priya Nair of Lumen Cycles is our contact": who belongs to whom.
		if k >= 2 && l.form(k-1) == "of" && l.words[k-2].capital {
			if name, start, is := g.subject(l, k-1); is == person {
				return name, start, is
			}
		}
		if before := l.form(k - 1); governs[before] && !l.broken(k) {
			return "", i, nobody
		}
		if g.personal(l, k) || k < j && g.personal(l, j) {
			return l.between(k, j+1), k, person
		}
		return "", i, nobody
	}
	// "the landlord", "our lawyer", "the platform team".
	for k := j - 1; k >= 0 && k >= j-3 && !l.broken(k+1); k-- {
		if articles[l.form(k)] {
			if governs[l.form(k-1)] && !l.broken(k) {
				break
			}
			if groups[w.Form] || classOf(w.Form).Part() == tagger.Actor {
				return l.between(k, j+1), k, group
			}
			break
		}
	}
	return "", i, nobody
}

var (
	titles   = text.Set("mr mrs ms miss dr prof sir")
	articles = text.Set("the our my his her their")
	// governs are words that make what follows no subject.
	governs = text.Set(`to with for of by from if whether unless asked ask asks should let than like about hope hopes wish
		before after`)
	groups = text.Set(`team office department company committee board bank council school firm agency group crew staff
management landlord neighbour neighbours neighbor neighbors mother father brother sister son daughter grandmother
grandfather husband wife parents family accountant practice supplier treasurer secretary chair chairman caretaker
cleaner plumber teacher coach nurse cook lawyer auditors supplier customer museum`)
)

// personal tells whether the name that begins at word i can be of who does something: a
// person's, or a firm's. Many names are those of places, too, and places do nothing.
func (g *gatherer) personal(l *line, i int) bool {
	w := &l.words[i]
	if titles[w.Form] || g.people[w.Form] {
		return true
	}
	c := classOf(w.Form)
	switch c.Part() {
	case tagger.Calendar, tagger.Function, tagger.Adverb, tagger.Demonym:
		return false
	default:
	}
	if c&tagger.FirstName != 0 && (c&tagger.Common == 0 || w.capital) {
		return true
	}
	return (c&tagger.Common == 0 || w.Name) && w.Kind == claim.Content && !strings.ContainsAny(w.Form, "0123456789-_")
}

// peopleOf are the first names that stand with a capital anywhere, and who writes: in
// notes of small letters they are known again.
func peopleOf(lines []line) map[string]bool {
	people := map[string]bool{}
	for i := range lines {
		l := &lines[i]
		for k := range strings.FieldsSeq(l.of.Speaker) {
			if c := classOf(k); c&tagger.Common == 0 || c&tagger.FirstName != 0 {
				people[strings.ToLower(k)] = true
			}
		}
		for k := range l.words {
			if w := &l.words[k]; w.capital && w.Kind == claim.Content && len(w.Form) > 2 {
				if c := classOf(w.Form); c&tagger.FirstName != 0 && c&tagger.Common == 0 && c.Part() != tagger.Calendar {
					people[w.Form] = true
				}
			}
		}
	}
	return people
}
