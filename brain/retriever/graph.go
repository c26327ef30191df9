package retriever

import (
	"cmp"
	"math"
	"slices"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Document is a node that holds text.
type Document struct {
	ID    pb.NodeID
	Title string
	// Passages are the texts of its chunks, in order.
	Passages []string
}

// Entity is a node that stands for a thing with names.
type Entity struct {
	ID    pb.NodeID
	Names []string
}

// TieKind says what joins two nodes.
type TieKind uint8

// The kinds of ties.
const (
	TieSimilar  TieKind = iota // near in meaning; its weight is the cosine
	TieSequence                // one follows the other
	TieStated                  // a relation that a text states, or a person asserted
	tieKinds
)

// Tie joins two nodes, documents or entities. Weight is in (0, 1]. Direction means
// nothing. A tie is a typed, weighted edge of the walk. It has a name of its own
// because the walk also takes steps along mentions, topics and domains.
type Tie struct {
	From, To pb.NodeID
	Kind     TieKind
	Weight   float32
}

// Domain are the documents and entities of one topic.
type Domain []pb.NodeID

// Former is what a document said before it was superseded, and what by.
type Former struct {
	Document
	By pb.NodeID
}

// Source is what a graph is made of, and questions for it.
type Source struct {
	Documents []Document
	Entities  []Entity
	Ties      []Tie
	Domains   []Domain
	// Former and Accepted are no part of the graph, which holds what is the case:
	// examples are made of them. Accepted are ties that were proposed and that a person
	// has accepted.
	Former   []Former
	Accepted []Tie
}

const (
	// hubPlaces is in how many places a concept may be named and still lead from one to
	// the other: what is everywhere says nothing about where to go.
	hubPlaces = 256
	// maxPlaces bounds the places where one passage names concepts.
	maxPlaces = 64
	// maxSentenceStems bounds what is kept of a sentence.
	maxSentenceStems = 48
)

// Graph is what the brain walks on: passages, concepts that they name or are about,
// and the domains of both. It holds no text: names and words are keyed hashes. Immutable.
// Large because each field is one relation or one column of the graph, and a walk reads all.
type Graph struct {
	docs    []pb.NodeID
	docOf   []int32 // by passage
	first   []int32 // by document: its first passage; len(docs)+1
	byID    map[pb.NodeID]int32
	concept []pb.NodeID // the entity that a concept is; empty: the title of a document only
	names   map[uint64]int32
	longest int    // words of the longest name
	subject []bool // by concept: some document's title is its name

	// named and namedIn are the places where passages name concepts, by passage and
	// by concept.
	named, namedIn lists[place]
	// about and aboutOf are what documents are about, by document and by concept.
	about, aboutOf lists[topic]
	ties           lists[tie] // by node: documents, then concepts
	// belongs are the domains that a node belongs to, by node as ties are. Documents that
	// are alone in theirs have none: it would lead nowhere.
	belongs lists[int32]
	large   []float32 // by domain: log of its documents

	sentences lists[uint32] // ascending stems
	spread    []float32     // by concept: log of the documents that name it
	stems     []uint32      // ascending
	rarity    []float32     // of stems: inverse document frequency, 0 to 1
}

// place is where a passage names a concept.
type place struct {
	other    int32 // the concept, or the passage
	sentence int32
}

// topic says that a document's title names a concept. Share is how much of the
// title that is.
type topic struct {
	other int32
	share float32
}

type tie struct {
	other  int32 // documents, then concepts
	kind   TieKind
	weight float32
}

// lists are many short lists in one slice.
type lists[T any] struct {
	at  []int32
	all []T
}

func (l *lists[T]) of(i int32) []T { return l.all[l.at[i]:l.at[i+1]] }

func (l *lists[T]) size(i int32) int { return int(l.at[i+1] - l.at[i]) }

// turned gives the lists by the other end.
func turned[T any](l *lists[T], n int, swap func(T, int32) (int32, T)) lists[T] {
	out := lists[T]{at: make([]int32, n+1), all: make([]T, len(l.all))}
	for i := range int32(len(l.at) - 1) {
		for _, x := range l.of(i) {
			to, _ := swap(x, i)
			out.at[to+1]++
		}
	}
	for i := range n {
		out.at[i+1] += out.at[i]
	}
	next := slices.Clone(out.at)
	for i := range int32(len(l.at) - 1) {
		for _, x := range l.of(i) {
			to, back := swap(x, i)
			out.all[next[to]] = back
			next[to]++
		}
	}
	return out
}

// builder makes a graph.
type builder struct {
	g   *Graph
	lex lexer
}

// NewGraph makes the graph of a source. The time is linear in its length.
func NewGraph(src *Source, salt Salt) *Graph {
	b := &builder{g: &Graph{byID: map[pb.NodeID]int32{}, names: map[uint64]int32{}}, lex: lexer{salt: salt}}
	b.documents(src)
	b.concepts(src)
	b.topics(src)
	b.places(src)
	at := b.numbers()
	b.ties(src, at)
	b.domains(src, at)
	b.g.turn()
	return b.g
}

// turn derives what is found from the other end.
func (g *Graph) turn() {
	g.aboutOf = turned(&g.about, len(g.concept), func(t topic, doc int32) (int32, topic) {
		return t.other, topic{doc, t.share}
	})
	g.namedIn = turned(&g.named, len(g.concept), func(p place, passage int32) (int32, place) {
		return p.other, place{passage, p.sentence}
	})
	g.spread, g.subject = make([]float32, len(g.concept)), make([]bool, len(g.concept))
	for c := range g.spread {
		g.subject[c] = slices.ContainsFunc(g.aboutOf.of(int32(c)), func(t topic) bool { return t.share == 1 })
		last, n := int32(-1), 0
		for _, p := range g.namedIn.of(int32(c)) {
			if d := g.docOf[p.other]; d != last {
				last, n = d, n+1
			}
		}
		g.spread[c] = float32(math.Log1p(float64(n + g.aboutOf.size(int32(c)))))
	}
	domains := int32(0)
	for _, d := range g.belongs.all {
		domains = max(domains, d+1)
	}
	g.large = make([]float32, domains)
	for doc := range g.docs {
		for _, d := range g.belongs.of(int32(doc)) {
			g.large[d]++
		}
	}
	for d, n := range g.large {
		g.large[d] = float32(math.Log1p(float64(n)))
	}
}

func (b *builder) documents(src *Source) {
	g := b.g
	for i, d := range src.Documents {
		g.docs = append(g.docs, d.ID)
		g.byID[d.ID] = int32(i)
		g.first = append(g.first, int32(len(g.docOf)))
		for range d.Passages {
			g.docOf = append(g.docOf, int32(i))
		}
	}
	g.first = append(g.first, int32(len(g.docOf)))
}

// concepts takes the names of entities and the titles of documents in. Of two
// entities with one name the first keeps it.
func (b *builder) concepts(src *Source) {
	g := b.g
	for _, e := range src.Entities {
		c := int32(len(g.concept))
		known := false
		for _, name := range e.Names {
			ws := b.lex.words(name)
			if !nominal(ws) {
				continue
			}
			h := nameHash(ws)
			if _, taken := g.names[h]; !taken {
				g.names[h] = c
				g.longest = max(g.longest, len(ws))
				known = true
			}
		}
		if known {
			g.concept, g.subject = append(g.concept, e.ID), append(g.subject, false)
		}
	}
	for _, d := range src.Documents {
		for _, name := range titleNames(d.Title) {
			ws := b.lex.words(name)
			if !nominal(ws) {
				continue
			}
			h := nameHash(ws)
			c, known := g.names[h]
			if !known {
				c = int32(len(g.concept))
				g.names[h] = c
				g.longest = max(g.longest, len(ws))
				g.concept, g.subject = append(g.concept, ""), append(g.subject, false)
			}
			g.subject[c] = true
		}
	}
}

// titleNames are what a title may call its subject: the whole, and what stands
// before a bracket, as in "Mercury (planet)".
func titleNames(title string) []string {
	if title == "" {
		return nil
	}
	names := []string{title}
	for i, r := range title {
		if (r == '(' || r == '[') && i > 0 {
			return append(names, title[:i])
		}
	}
	return names
}

// found is a concept that a text names.
type found struct {
	concept int32
	words   int
	start   int
	end     int
}

// find gives the longest names in a text, from left to right. A name must begin with
// a loud word where proper is set: "home" is no film in the middle of a sentence.
func (g *Graph) find(words []word, proper bool, yield func(found)) {
	(&sight{g: g}).find(words, proper, yield)
}

func (b *builder) topics(src *Source) {
	g := b.g
	g.about.at = append(g.about.at, 0)
	for _, d := range src.Documents {
		from := len(g.about.all)
		add := func(c int32, share float32) {
			for i := range g.about.all[from:] {
				if t := &g.about.all[from+i]; t.other == c {
					t.share = max(t.share, share)
					return
				}
			}
			g.about.all = append(g.about.all, topic{c, share})
		}
		for _, name := range titleNames(d.Title) {
			ws := b.lex.words(name)
			if c, ok := g.names[nameHash(ws)]; ok && nominal(ws) {
				add(c, 1)
			}
		}
		ws := b.lex.words(d.Title)
		g.find(ws, true, func(f found) { add(f.concept, float32(f.words)/float32(len(ws))) })
		g.about.at = append(g.about.at, int32(len(g.about.all)))
	}
}

// places reads the passages, sentence by sentence.
func (b *builder) places(src *Source) {
	g := b.g
	g.named.at = append(g.named.at, 0)
	g.sentences.at = append(g.sentences.at, 0)
	count := map[uint32]int32{}
	for _, d := range src.Documents {
		for _, p := range d.Passages {
			from := len(g.named.all)
			for s := range text.Sentences(p) {
				words := b.lex.words(p[s.Start:s.End])
				sentence := int32(len(g.sentences.at) - 1)
				named := false
				g.find(words, true, func(f found) {
					if len(g.named.all)-from < maxPlaces {
						g.named.all = append(g.named.all, place{f.concept, sentence})
						named = true
					}
				})
				stems := stemsOf(words)
				for _, t := range stems {
					count[t]++
				}
				if named {
					g.sentences.all = append(g.sentences.all, stems...)
					g.sentences.at = append(g.sentences.at, int32(len(g.sentences.all)))
				}
			}
			g.named.at = append(g.named.at, int32(len(g.named.all)))
		}
	}
	for t := range count {
		g.stems = append(g.stems, t)
	}
	slices.Sort(g.stems)
	g.rarity = make([]float32, len(g.stems))
	total := math.Log1p(float64(len(g.sentences.at)))
	for i, t := range g.stems {
		g.rarity[i] = float32(max(0, 1-math.Log(float64(count[t]))/total))
	}
}

// stemsOf gives the stems of words, ascending, each once.
func stemsOf(words []word) []uint32 {
	out := make([]uint32, 0, len(words))
	for _, w := range words {
		out = append(out, w.stem)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxSentenceStems)]
}

func (g *Graph) rarityOf(stem uint32) float32 {
	if i, ok := slices.BinarySearch(g.stems, stem); ok {
		return g.rarity[i]
	}
	return 1
}

// numbers gives the numbers of documents and entities: documents, then concepts.
func (b *builder) numbers() func(pb.NodeID) (int32, bool) {
	g := b.g
	entity := map[pb.NodeID]int32{}
	for c, id := range g.concept {
		if id != "" {
			entity[id] = int32(c)
		}
	}
	return func(id pb.NodeID) (int32, bool) {
		if d, ok := g.byID[id]; ok {
			return d, true
		}
		c, ok := entity[id]
		return int32(len(g.docs)) + c, ok
	}
}

func (b *builder) ties(src *Source, at func(pb.NodeID) (int32, bool)) {
	g := b.g
	type both struct {
		from int32
		tie
	}
	var all []both
	for _, t := range src.Ties {
		from, ok1 := at(t.From)
		to, ok2 := at(t.To)
		if ok1 && ok2 && from != to {
			all = append(all, both{from, tie{to, t.Kind, t.Weight}}, both{to, tie{from, t.Kind, t.Weight}})
		}
	}
	// The caller's order says nothing. Of more than a walk follows the strongest count.
	slices.SortFunc(all, func(x, y both) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(y.weight, x.weight), cmp.Compare(x.kind, y.kind),
			cmp.Compare(x.other, y.other))
	})
	g.ties.at = make([]int32, len(g.docs)+len(g.concept)+1)
	for _, t := range all {
		g.ties.at[t.from+1]++
		g.ties.all = append(g.ties.all, t.tie)
	}
	for i := range len(g.ties.at) - 1 {
		g.ties.at[i+1] += g.ties.at[i]
	}
}

// domains takes in which nodes belong together, as far as two documents do.
func (b *builder) domains(src *Source, at func(pb.NodeID) (int32, bool)) {
	g := b.g
	var of [][2]int32 // the node and its domain
	next := int32(0)
	for _, members := range src.Domains {
		from, documents := len(of), 0
		for _, id := range members {
			if n, ok := at(id); ok {
				of = append(of, [2]int32{n, next})
				if int(n) < len(g.docs) {
					documents++
				}
			}
		}
		if documents < 2 {
			of = of[:from]
			continue
		}
		next++
	}
	slices.SortFunc(of, func(x, y [2]int32) int { return slices.Compare(x[:], y[:]) })
	of = slices.Compact(of)
	g.belongs.at = make([]int32, len(g.docs)+len(g.concept)+1)
	for _, x := range of {
		g.belongs.at[x[0]+1]++
		g.belongs.all = append(g.belongs.all, x[1])
	}
	for i := range len(g.belongs.at) - 1 {
		g.belongs.at[i+1] += g.belongs.at[i]
	}
}

// Documents gives the documents; a passage's is Document(passage).
func (g *Graph) Documents() []pb.NodeID { return g.docs }

// Document gives the document of a passage, as an index of Documents.
func (g *Graph) Document(passage int32) int { return int(g.docOf[passage]) }

// PassagesOf gives the passages of a document, from first to before end.
func (g *Graph) PassagesOf(doc int) (first, end int32) { return g.first[doc], g.first[doc+1] }

// Size tells how large the graph is.
func (g *Graph) Size() Size {
	return Size{
		Documents: len(g.docs), Passages: len(g.docOf), Concepts: len(g.concept), Domains: len(g.large),
		Edges: len(g.named.all) + len(g.about.all) + len(g.ties.all) + len(g.belongs.all),
	}
}

// Size is how large a graph is.
type Size struct{ Documents, Passages, Concepts, Domains, Edges int }
