package retriever

import (
	"math/rand/v2"
	"slices"
	"strings"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Kind says how an example was made.
type Kind uint8

// The kinds of examples. Their shares are in makers.
const (
	KindSentence   Kind = iota // some words of a sentence: its passage
	KindTitle                  // a title and some words of the document: the passage
	KindTwoHop                 // what names a concept, and what is about it, without its name
	KindThreeHop               // one step further
	KindComparison             // two documents that are near each other
	KindFormer                 // what a document said before: what says it now
	KindAccepted               // two documents of which a person has said that they belong together
	kinds
)

// Example is a question that the organization's own content asks, and the passages
// that answer it.
type Example struct {
	Kind    Kind
	Text    string
	Answers []int32
}

// makers are the shares of the kinds, in percent. What people have decided takes its
// share from all of them, where there is such; told is how much each kind of it takes.
var makers = [kinds]int{KindSentence: 25, KindTitle: 15, KindTwoHop: 40, KindThreeHop: 10, KindComparison: 10}

const told = 5

const (
	// maxTries of an example: not every passage has what its kind needs.
	maxTries = 12
	// rare is in how many places a name leads from one to the other that is nobody's
	// title. Of subjectsTo1 hops from a passage that names subjects one takes such a
	// name: a question about what lies two documents away mostly goes by way of what
	// one of them is about, and there are many more other names.
	rare        = 8
	subjectsTo1 = 8
	// commonTenths of a sentence's words, the commonest, are what is left of it in two
	// of three questions of a sentence.
	commonTenths = 6
	// around is how many words beside a name say how it is meant.
	around = 6
)

// Examples makes up to n questions from a source and its graph. The same source
// and seed give the same questions.
func (g *Graph) Examples(src *Source, salt Salt, n int, seed uint64) []Example {
	if len(g.docOf) == 0 {
		return nil
	}
	m := &maker{
		g: g, src: src, lex: lexer{salt: salt},
		rand: rand.New(rand.NewPCG(seed, 0x6272_6169_6e)), //nolint:gosec // to be repeatable is the point
	}
	for _, f := range src.Former {
		if m.holds(f.By) && len(f.Passages) > 0 {
			m.former = append(m.former, f)
		}
	}
	for _, t := range src.Accepted {
		if m.holds(t.From) && m.holds(t.To) {
			m.accepted = append(m.accepted, t)
		}
	}
	var out []Example
	asked := map[string]bool{}
	for range n {
		kind := m.kind()
		for range maxTries {
			e, ok := m.make(kind)
			if ok && !asked[e.Text] {
				asked[e.Text] = true
				e.Kind = kind
				out = append(out, e)
				break
			}
		}
	}
	return out
}

type maker struct {
	g    *Graph
	src  *Source
	lex  lexer
	rand *rand.Rand
	// former and accepted are those whose ends are in the graph.
	former   []Former
	accepted []Tie
}

// holds says that the graph has passages of a node.
func (m *maker) holds(id pb.NodeID) bool {
	d, ok := m.g.byID[id]
	return ok && m.g.first[d] < m.g.first[d+1]
}

func (m *maker) kind() Kind {
	x := m.rand.IntN(100)
	if len(m.former) > 0 && m.rand.IntN(100) < told {
		return KindFormer
	}
	if len(m.accepted) > 0 && m.rand.IntN(100) < told {
		return KindAccepted
	}
	for k, share := range makers {
		if x -= share; x < 0 {
			return Kind(k)
		}
	}
	return KindSentence
}

func (m *maker) make(k Kind) (Example, bool) {
	switch k {
	case KindTitle:
		return m.title()
	case KindTwoHop:
		return m.hops(1)
	case KindThreeHop:
		return m.hops(2)
	case KindComparison:
		return m.comparison()
	case KindFormer:
		return m.formerly()
	case KindAccepted:
		return m.belonging()
	default:
		return m.sentence()
	}
}

func (m *maker) passage() int32 { return int32(m.rand.IntN(len(m.g.docOf))) }

func (m *maker) text(p int32) string {
	d := m.g.docOf[p]
	return m.src.Documents[d].Passages[p-m.g.first[d]]
}

func (m *maker) titleOf(p int32) string {
	t := m.src.Documents[m.g.docOf[p]].Title
	if names := titleNames(t); len(names) > 1 && m.rand.IntN(2) == 0 {
		return strings.TrimSpace(names[1])
	}
	return t
}

// spoken is a sentence taken apart.
type spoken struct {
	text  string
	words []word
	names []found
}

func (m *maker) sentences(p int32) []spoken { return m.sentencesOf(m.text(p)) }

func (m *maker) sentencesOf(t string) []spoken {
	var out []spoken
	for s := range text.Sentences(t) {
		x := spoken{text: t[s.Start:s.End]}
		x.words = slices.Clone(m.lex.words(x.text))
		m.g.find(x.words, true, func(f found) { x.names = append(x.names, f) })
		out = append(out, x)
	}
	return out
}

// some picks words in the order of the text, each with a chance, none of which
// without reports.
func (m *maker) some(s spoken, most int, keep func(i int, w word) bool) string {
	var at []int
	for i, w := range s.words {
		if keep(i, w) {
			at = append(at, i)
		}
	}
	m.rand.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
	at = at[:min(most, len(at))]
	slices.Sort(at)
	out := make([]string, 0, len(at))
	for _, i := range at {
		out = append(out, s.text[s.words[i].start:s.words[i].end])
	}
	return strings.Join(out, " ")
}

func (m *maker) sentence() (Example, bool) {
	p := m.passage()
	all := m.sentences(p)
	if len(all) == 0 {
		return Example{}, false
	}
	s := all[m.rand.IntN(len(all))]
	if len(s.words) < 6 {
		return Example{}, false
	}
	drop := len(s.names) > 0 && m.rand.IntN(2) == 0
	plain := func(_ int, w word) bool {
		return !drop || !slices.ContainsFunc(s.names, func(f found) bool { return w.start >= f.start && w.end <= f.end })
	}
	if m.rand.IntN(3) == 0 {
		t := m.some(s, 4+m.rand.IntN(len(s.words)), plain)
		return Example{Text: t, Answers: []int32{p}}, t != ""
	}
	// Who asks in other words than the text's does not know its rare ones: they would
	// give the passage away, and the question would teach nothing.
	rarities := make([]float32, len(s.words))
	for i, w := range s.words {
		rarities[i] = m.g.rarityOf(w.stem)
	}
	sorted := slices.Clone(rarities)
	slices.Sort(sorted)
	most := sorted[len(sorted)*commonTenths/10]
	t := m.some(s, 3+m.rand.IntN(6), func(i int, w word) bool { return plain(i, w) && rarities[i] <= most })
	return Example{Text: t, Answers: []int32{p}}, t != ""
}

func (m *maker) title() (Example, bool) {
	p := m.passage()
	all := m.sentences(p)
	title := m.titleOf(p)
	if len(all) == 0 || title == "" {
		return Example{}, false
	}
	s := all[m.rand.IntN(len(all))]
	return Example{Text: join(title, m.some(s, 1+m.rand.IntN(4), anyWord)), Answers: []int32{p}}, true
}

func anyWord(int, word) bool { return true }

func join(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

// hops follows names from passage to passage: what the first is called, how it
// speaks of the next without naming it, and some words of the last.
func (m *maker) hops(n int) (Example, bool) {
	at := m.passage()
	e := Example{Answers: []int32{at}}
	parts := []string{m.titleOf(at)}
	for range n {
		p, said, ok := m.hop(at, e.Answers)
		if !ok {
			return Example{}, false
		}
		parts = append(parts, said)
		e.Answers = append(e.Answers, p)
		at = p
	}
	all := m.sentences(at)
	if len(all) == 0 {
		return Example{}, false
	}
	last := all[m.rand.IntN(len(all))]
	title := m.g.about.of(m.g.docOf[at])
	parts = append(parts, m.some(last, 1+m.rand.IntN(3), func(_ int, w word) bool {
		return !slices.ContainsFunc(last.names, func(f found) bool {
			return w.start >= f.start && w.end <= f.end &&
				slices.ContainsFunc(title, func(t topic) bool { return t.other == f.concept })
		})
	}))
	if parts[0] == "" { // nothing is called by a title here: the words around the first name must do
		parts = parts[1:]
	}
	e.Text = join(parts...)
	return e, e.Text != ""
}

// hop takes a name in a passage to another passage.
func (m *maker) hop(from int32, been []int32) (to int32, said string, ok bool) {
	all := m.sentences(from)
	type choice struct {
		s spoken
		f found
	}
	var subjects, others []choice
	for _, s := range all {
		for _, f := range s.names {
			switch {
			case m.g.subject[f.concept]:
				subjects = append(subjects, choice{s, f})
			case m.g.namedIn.size(f.concept) <= rare:
				others = append(others, choice{s, f})
			}
		}
	}
	choices := others
	if len(subjects) > 0 && (len(others) == 0 || m.rand.IntN(subjectsTo1) > 0) {
		choices = subjects
	}
	if len(choices) == 0 {
		return 0, "", false
	}
	c := choices[m.rand.IntN(len(choices))]
	var ends []int32
	for _, t := range m.g.aboutOf.of(c.f.concept) {
		if m.g.first[t.other] < m.g.first[t.other+1] {
			ends = append(ends, m.g.first[t.other])
		}
	}
	if len(ends) == 0 || m.rand.IntN(4) == 0 {
		for _, p := range m.g.namedIn.of(c.f.concept) {
			ends = append(ends, p.other)
		}
	}
	ends = slices.DeleteFunc(ends, func(p int32) bool {
		return slices.ContainsFunc(been, func(b int32) bool { return m.g.docOf[b] == m.g.docOf[p] })
	})
	if len(ends) == 0 {
		return 0, "", false
	}
	at := slices.IndexFunc(c.s.words, func(w word) bool { return w.start == c.f.start })
	said = m.some(c.s, 1+m.rand.IntN(3), func(i int, w word) bool {
		return (w.end <= c.f.start || w.start >= c.f.end) && i >= at-around && i < at+c.f.words+around
	})
	return ends[m.rand.IntN(len(ends))], said, true
}

func (m *maker) comparison() (Example, bool) {
	p := m.passage()
	var near []int32 // the first passages of documents that are tied to this one
	for _, t := range m.g.ties.of(m.g.docOf[p]) {
		if int(t.other) < len(m.g.docs) && m.g.first[t.other] < m.g.first[t.other+1] {
			near = append(near, m.g.first[t.other])
		}
	}
	var q int32
	if len(near) > 0 {
		q = near[m.rand.IntN(len(near))]
	} else {
		q = m.passage()
	}
	one, two := m.titleOf(p), m.titleOf(q)
	if one == "" || two == "" || m.g.docOf[p] == m.g.docOf[q] {
		return Example{}, false
	}
	all := m.sentences(p)
	if len(all) == 0 {
		return Example{}, false
	}
	said := m.some(all[m.rand.IntN(len(all))], m.rand.IntN(3), anyWord)
	return Example{Text: join(one, two, said), Answers: []int32{p, q}}, true
}
