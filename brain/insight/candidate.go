package insight

import (
	"cmp"
	"slices"
	"strings"

	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

// The kinds of insights that come from what notes say.
const (
	KindResponsibility = "responsibility"
	KindChange         = "change"
	KindDue            = "due"
	KindRecurrence     = "recurrence"
	KindCommitment     = "commitment"
	KindQuestion       = "open_question"
)

// Candidate is what may be an insight: found by rules that would rather find too much,
// judged by a [Judge].
type Candidate struct {
	Kind   string
	Title  string // of the text's own words, on one line
	Detail string
	// Who is responsible, or is to do it; empty where nobody is named.
	Who string
	// About are the stems of what it is about, in order: two candidates of one kind
	// about the same are one.
	About []string
	// AtMS is when it was said, and UntilMS when it is over, as what is due is; 0:
	// it is not.
	AtMS, UntilMS int64
	// Notes are the evidence, the ground first: all that the words are taken from are
	// among them.
	Notes []int
	// Grounds are what a judge goes by.
	Grounds Grounds
}

// Grounds are what speaks for a candidate, as numbers.
type Grounds struct {
	Form     float64 // how surely the wording means it, 0 to 1: what rule found it
	Named    bool    // who, or what, is named and not only meant
	Concrete int     // content words of what it is about
	Words    int     // of the title
	Days     int     // on which it was said
	Marked   int     // times that the text itself says that it comes back
	Regular  bool    // it comes on one day of the week
	Long     bool    // the texts are documents, which argue, and no notes
}

// said is a stretch of a note, without a picture behind it.
func said(n *temporal.Note, sp text.Span) string { return plain(n.Text[sp.Start:picture(n.Text, sp)]) }

// plain is a text on one line, without marks around it.
func plain(s string) string {
	return strings.Trim(strings.Join(strings.Fields(s), " "), " ,;:-–—*#>")
}

// sentence begins with a capital.
func sentence(s string) string {
	s = strings.TrimRight(plain(s), ".!")
	for i, c := range s {
		if i == 0 {
			return strings.ToUpper(string(c)) + s[len(string(c)):]
		}
	}
	return s
}

// maxQuote bounds a quoted sentence, and maxName a title, in bytes.
const (
	maxQuote = 220
	maxName  = 140
)

// maxSaid is how many words a sentence may have that states a fact: longer ones argue, or
// are a listing.
const maxSaid = 32

func quote(s string) string { return "“" + text.Truncate(plain(s), maxQuote) + "”" }

// keysOf are stems in order.
func keysOf(stems map[string]bool) []string {
	keys := make([]string, 0, len(stems))
	for s := range stems {
		keys = append(keys, s)
	}
	slices.Sort(keys)
	return keys
}

// shared is how many stems two have in common.
func shared(a map[string]bool, b map[string]bool) (n int) {
	for s := range a {
		if b[s] {
			n++
		}
	}
	return n
}

// alike is shared, with "delivery" for "deliver".
func alike(a, b map[string]bool) (n int) {
	for s := range a {
		hit := b[s]
		for t := range b {
			hit = hit || min(len(s), len(t)) >= leastAlike && (strings.HasPrefix(s, t) || strings.HasPrefix(t, s))
		}
		if hit {
			n++
		}
	}
	return n
}

// leastAlike is how many letters two stems of one family share.
const leastAlike = 5

func asSet(keys []string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}

// gatherer reads notes.
type gatherer struct {
	notes  []temporal.Note
	lines  []line
	of     [][]line // of each note
	stems  []map[string]bool
	people map[string]bool
	out    []Candidate
	// foreign are the lines of notes in other languages than English, of which lines have no words.
	foreign []line
	// conversation: so much is said in a day that it is talk, or people take turns; long: the texts are no notes
	// but documents.
	conversation, long bool
}

const (
	// talk is how many texts a day make a conversation, where there are leastTalk at all:
	// what is asked there is answered there, and what is spoken of is no news.
	talk, leastTalk = 10, 100
	// reply is how soon the next to speak answers who speaks: where half of what is said is said so, it is talk, too.
	reply, leastTurns = 15 * 60 * 1000, 20
	// noteWords is how many words a note has at most, in the mean.
	noteWords = 80
)

// look sees what sort of texts these are.
func (g *gatherer) look() {
	days, sources, words := map[int64]bool{}, map[int32]bool{}, 0
	for i := range g.notes {
		days[floorDay(g.notes[i].AtMs)], sources[g.notes[i].Source] = true, true
	}
	for i := range g.lines {
		words += len(g.lines[i].words)
	}
	g.conversation = len(sources) >= leastTalk && len(sources) >= talk*len(days) || g.takesTurns()
	g.long = words > noteWords*len(sources)
}

// takesTurns tells whether most texts answer the one before, by somebody else, within minutes.
func (g *gatherer) takesTurns() bool {
	texts, replies := 0, 0
	for i := range g.notes {
		n := &g.notes[i]
		if i > 0 && n.Source == g.notes[i-1].Source {
			continue
		}
		texts++
		if i > 0 && n.Speaker != "" && g.notes[i-1].Speaker != "" && n.Speaker != g.notes[i-1].Speaker &&
			n.AtMs-g.notes[i-1].AtMs <= reply {
			replies++
		}
	}
	return texts >= leastTurns && 2*replies >= texts
}

// Gather finds what notes may tell: who is responsible for what, what has changed, what
// is due, what keeps coming back, what was promised and what was asked. The notes are in
// the order in which they were said.
func Gather(notes []temporal.Note) []Candidate {
	g := &gatherer{notes: notes}
	codes := languagesOf(notes)
	for i := range notes {
		from := len(g.lines)
		lines := linesOf(i, &notes[i])
		for k := range lines {
			if lines[k].code = codes[i]; codes[i] != "" {
				g.foreign = append(g.foreign, lines[k])
				lines[k].words = nil // the rules for English find nothing in them
			}
		}
		g.lines = append(g.lines, lines...)
		g.of = append(g.of, g.lines[from:len(g.lines):len(g.lines)])
	}
	g.look()
	g.people = peopleOf(g.lines)
	for i := range g.lines {
		l := &g.lines[i]
		g.stems = append(g.stems, l.stems(0, len(l.words)))
	}
	responsible := g.responsibilities()
	changes := g.changes()
	g.out = append(g.out, responsible...)
	g.out = append(g.out, changes...)
	g.out = append(g.out, g.dues(changes)...)
	g.out = append(g.out, g.recurrences()...)
	g.out = append(g.out, g.questions()...)
	g.out = append(g.out, abroad(g)...)
	for i := range g.out {
		g.out[i].Grounds.Long = g.long
	}
	return g.out
}

// index of a line among all.
func (g *gatherer) index(l *line) int {
	i, _ := slices.BinarySearchFunc(g.lines, l, func(a line, b *line) int {
		return cmp.Or(cmp.Compare(a.note, b.note), cmp.Compare(a.place, b.place))
	})
	return i
}

// leastAsked is how many words a question has that can be asked again.
const leastAsked = 4

// addressed words are of what one asks another in a conversation, which is over with it.
var addressed = text.Set("you your yours wanna huh anyone anybody everyone guys right")

// questions are those that nobody answered, and that are of a thing and not of the other.
func (g *gatherer) questions() (out []Candidate) {
	if g.conversation || g.long {
		return nil
	}
	for _, q := range temporal.OpenQuestions(g.notes) {
		n := &g.notes[q.Note]
		k := slices.IndexFunc(g.of[q.Note], func(l line) bool { return l.span == q.Span })
		if k < 0 {
			continue
		}
		l := &g.of[q.Note][k]
		if l.code != "" {
			if c, ok := questionAbroad(q, l); ok {
				out = append(out, c)
			}
			continue
		}
		stems := l.stems(0, len(l.words))
		if strings.ContainsAny(n.Text[q.Span.Start:q.Span.End], "=[]{}`<>") || l.any(0, len(l.words), addressed) ||
			len(l.words) > maxSaid || !l.concrete(0, len(l.words)) {
			continue
		}
		asked := said(n, q.Span)
		if at := strings.LastIndex(asked, ". "); at >= 0 { // small letters hide where a sentence begins
			asked = asked[at+2:]
		}
		if len(strings.Fields(asked)) < leastAsked {
			continue
		}
		out = append(out, Candidate{
			Kind: KindQuestion, Title: "Open question: " + text.Truncate(asked, maxName), About: keysOf(stems),
			Detail: "Asked on " + dayOf(n.AtMs) + "; nothing that was written since answers it.", AtMS: n.AtMs,
			Notes:   []int{q.Note},
			Grounds: Grounds{Form: q.Confidence, Concrete: len(stems), Words: len(l.words), Days: 1},
		})
	}
	return out
}
