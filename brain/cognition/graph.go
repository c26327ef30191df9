package cognition

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"orgmem/brain/community"
	pb "orgmem/proto"
)

// The kinds of nodes and the types of edges that decide what a cycle does with them.
const (
	KindEntity   = "entity"
	KindSession  = "session"
	EdgeSimilar  = "similar_to" // joins two texts of near meaning
	EdgeMentions = "mentions"   // text → entity
	EdgeFollows  = "follows"    // text → the one before it in its sequence
	EdgeStatedIn = "stated_in"  // preference or belief → text
)

// LeastSimilar is the least cosine of two texts that EdgeSimilar joins, in the range of embed.RangeModel: a
// quarter of all pairs of texts about one thing lie below it, and one in two
// hundred of the others above.
const LeastSimilar = 0.42

// Node is a live node that may be learned from. Times are Unix milliseconds.
type Node struct {
	ID      pb.NodeID
	Kind    string
	Title   string
	Domain  string
	Placed  bool
	AtMS    int64 // when it happened, else when it was written down
	ValidMS int64 // when the client says that it happened; 0: it does not
	Chunks  []uint64
	Own     bool // what the partition's person wrote
	Bytes   int  // of its text
	Person  bool // an entity that is surely one
}

// Entity reports whether the node stands for a thing that texts name.
func (n *Node) Entity() bool { return n.Kind == KindEntity }

// OwnWriting reports whether the node holds words of the partition's person: what is
// derived is not written by anybody, and in a coding session others speak, too.
func (n *Node) OwnWriting(metadata []byte) bool {
	if n.Entity() || len(n.Chunks) == 0 {
		return false
	}
	return n.Kind != KindSession || bytes.Contains(metadata, []byte(`"role":"user"`))
}

// Edge is a live edge between two nodes, which are places in [Graph.Nodes]. Its weight
// is in (0, 1].
type Edge struct {
	A, B   int32
	Kind   string
	Weight float64
}

// Chunk is a passage by its sequence number, with the place of its node.
type Chunk struct {
	Seq  uint64
	Node int32
}

// Graph is a partition's graph in memory.
type Graph struct {
	Nodes []Node
	At    map[pb.NodeID]int32 // the place of each node
	Edges []Edge
	named map[int32][]int32 // see people; nil until it is asked for
}

// TieOf is the tie (community.Tie) that a type of edge counts as when communities are
// found: any type that is not named here is a relation.
func TieOf(kind string) community.Tie {
	switch kind {
	case EdgeSimilar:
		return community.Similar
	case EdgeMentions:
		return community.Mentions
	case EdgeFollows:
		return community.Follows
	}
	return community.Related
}

// Ties are the edges as package community takes them.
func (g *Graph) Ties() []community.Edge {
	edges := make([]community.Edge, 0, len(g.Edges))
	for _, e := range g.Edges {
		if e.Weight > 0 {
			edges = append(edges, community.Edge{A: e.A, B: e.B, Tie: TieOf(e.Kind), Weight: float32(min(e.Weight, 1))})
		}
	}
	return edges
}

// People are for each text the persons that it names: they belong to a topic, and are
// none. It is gathered when it is first asked for.
func (g *Graph) People() map[int32][]int32 {
	if g.named == nil {
		g.named = map[int32][]int32{}
		for _, e := range g.Edges {
			if e.Kind == EdgeMentions && g.Nodes[e.B].Person {
				g.named[e.A] = append(g.named[e.A], e.B)
			}
		}
	}
	return g.named
}

// Touched are the nodes whose edges changed with some fresh chunks: those of the chunks,
// those that are in no domain yet, and the neighbours of either.
func (g *Graph) Touched(fresh []Chunk) []int32 {
	begun := g.of(fresh)
	for i := range g.Nodes { // also derived ones
		if g.Nodes[i].Domain == "" {
			begun[i] = true
		}
	}
	near := slices.Clone(begun)
	for _, e := range g.Edges {
		if begun[e.A] {
			near[e.B] = true
		}
		if begun[e.B] {
			near[e.A] = true
		}
	}
	return places(near)
}

// of marks the nodes of some chunks.
func (g *Graph) of(chunks []Chunk) []bool {
	marked := make([]bool, len(g.Nodes))
	for _, c := range chunks {
		marked[c.Node] = true
	}
	return marked
}

// places lists what is marked.
func places(marked []bool) (all []int32) {
	for i, yes := range marked {
		if yes {
			all = append(all, int32(i))
		}
	}
	return all
}

// around are the nodes within some steps of those that are marked, these included, at
// most so many.
func (g *Graph) around(from []bool, steps, most int) []int32 {
	in := slices.Clone(from)
	n := 0
	for _, yes := range in {
		if yes {
			n++
		}
	}
	for range steps {
		next := make([]bool, len(in))
		for _, e := range g.Edges {
			if in[e.A] != in[e.B] {
				next[e.A], next[e.B] = true, true
			}
		}
		for i := range next {
			if n >= most {
				break
			}
			if next[i] && !in[i] {
				in[i] = true
				n++
			}
		}
	}
	return places(in)
}

// JoinSimilar joins each fresh text with the nearest others; alike has for each fresh
// chunk what was found near to it. It returns the new edges, which are added to the graph.
func (g *Graph) JoinSimilar(fresh []Chunk, alike [][]community.Neighbour) []Edge {
	best := map[int32]community.Neighbours{}
	for i, near := range alike {
		from := fresh[i].Node
		for _, x := range near {
			if best[from] == nil {
				best[from] = community.Neighbours{}
			}
			best[from].Add(x)
		}
	}
	before := len(g.Edges)
	joined := map[[2]int32]bool{}
	for _, f := range fresh {
		near := best[f.Node]
		delete(best, f.Node) // a text has several chunks
		for _, x := range near.Nearest() {
			pair := [2]int32{min(f.Node, x.Other), max(f.Node, x.Other)}
			if joined[pair] {
				continue
			}
			joined[pair] = true
			g.Edges = append(g.Edges, Edge{f.Node, x.Other, EdgeSimilar, min(x.Cosine, 1)})
		}
	}
	return g.Edges[before:]
}

// Written are the texts of the partition's person, the latest first.
func (g *Graph) Written() (own []int32) {
	for i := range g.Nodes {
		if g.Nodes[i].Own {
			own = append(own, int32(i))
		}
	}
	g.latestFirst(own)
	return own
}

// latestFirst sorts texts by their times.
func (g *Graph) latestFirst(texts []int32) {
	slices.SortFunc(texts, func(i, k int32) int {
		a, b := &g.Nodes[i], &g.Nodes[k]
		return cmp.Or(cmp.Compare(b.AtMS, a.AtMS), cmp.Compare(b.Chunks[0], a.Chunks[0]))
	})
}

// ids are the ids of some nodes.
func (g *Graph) ids(places []int32) (ids []string) {
	for _, i := range places {
		ids = append(ids, string(g.Nodes[i].ID))
	}
	return ids
}

// OwnPassages are the passages of the partition's person that were written last, at most
// so many, in the order in which they were written.
func (g *Graph) OwnPassages(most int) []Chunk {
	said := g.passages(func(n *Node) bool { return n.Own })
	slices.SortFunc(said, func(a, b Chunk) int { return cmp.Compare(b.Seq, a.Seq) })
	said = said[:min(len(said), most)]
	slices.Reverse(said) // of one moment the last that was written is the latest
	return said
}

// NewestPassages are the passages of the newest texts, at most so many, in the order in
// which they were said.
func (g *Graph) NewestPassages(most int) []Chunk {
	newest := g.passages(func(n *Node) bool { return !n.Entity() })
	slices.SortFunc(newest, func(a, b Chunk) int {
		return cmp.Or(cmp.Compare(g.Nodes[b.Node].AtMS, g.Nodes[a.Node].AtMS), cmp.Compare(b.Seq, a.Seq))
	})
	newest = newest[:min(len(newest), most)]
	slices.Reverse(newest)
	return newest
}

func (g *Graph) passages(keep func(*Node) bool) (all []Chunk) {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; keep(n) {
			for _, seq := range n.Chunks {
				all = append(all, Chunk{seq, int32(i)})
			}
		}
	}
	return all
}

// SessionEdges counts the edges of coding sessions.
func (g *Graph) SessionEdges() (n uint64) {
	for _, e := range g.Edges {
		if g.Nodes[e.A].Kind == KindSession || g.Nodes[e.B].Kind == KindSession {
			n++
		}
	}
	return n
}

// DomainsOf counts the domains that some nodes are in.
func (g *Graph) DomainsOf(nodes []int32) int {
	domains := map[string]bool{}
	for _, i := range nodes {
		if d := g.Nodes[i].Domain; d != "" {
			domains[d] = true
		}
	}
	return len(domains)
}

// ChunkNamed is the chunk that an edge names as evidence, which is a node's id and the place
// of a chunk among the node's; ok is false where the text is gone.
func (g *Graph) ChunkNamed(ref string) (seq uint64, ok bool) {
	cut := strings.LastIndexByte(ref, ':')
	if cut < 0 {
		return 0, false
	}
	place, known := g.At[pb.NodeID(ref[:cut])]
	ordinal, err := strconv.Atoi(ref[cut+1:])
	if !known || err != nil || ordinal < 0 || ordinal >= len(g.Nodes[place].Chunks) {
		return 0, false
	}
	return g.Nodes[place].Chunks[ordinal], true
}

// GivenTitle is what a chunk stands under: the title of its text, unless that was made
// from its beginning: of a transcript that is somebody's "Mm-hm".
func GivenTitle(title string, chunk *pb.Chunk) string {
	if path := chunk.GetTitlePath(); len(path) == 0 ||
		!strings.HasPrefix(strings.Join(strings.Fields(title), " "), path[0]) {
		return ""
	}
	if chunk.GetOrdinal() == 0 && strings.HasPrefix(strings.TrimLeft(chunk.GetText(), "#*->= \t\n"),
		strings.TrimSuffix(title, "…")) {
		return ""
	}
	return title
}
