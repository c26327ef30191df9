package community

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// karate is Zachary's club (1977), the graph that every method is tried on; its
// best modularity is 0.4198. Each line is a member and those known to it before.
const karate = `1 0
2 0 1
3 0 1 2
4 0
5 0
6 0 4 5
7 0 1 2 3
8 0 2
9 2
10 0 4 5
11 0
12 0 3
13 0 1 2 3
16 5 6
17 0 1
19 0 1
21 0 1
25 23 24
27 2 23 24
28 2
29 23 26
30 1 8
31 0 24 25 28
32 2 8 14 15 18 20 22 23 29 30 31
33 8 9 13 14 15 18 19 20 22 23 26 27 28 29 30 31 32`

func TestKarateClub(t *testing.T) {
	var edges []Edge
	for line := range strings.Lines(karate) {
		var ends []int32
		for f := range strings.FieldsSeq(line) {
			v, err := strconv.Atoi(f)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, int32(v))
		}
		for _, v := range ends[1:] {
			edges = append(edges, Edge{ends[0], v, Related, 1})
		}
	}
	if len(edges) != 78 {
		t.Fatalf("%d ties", len(edges))
	}
	for seed := range uint64(20) {
		p := Find(NewGraph(34, edges), Earlier{}, Options{Resolution: 1, Seed: seed})
		if p.Modularity < 0.4155 || p.Modularity > 0.4199 {
			t.Errorf("seed %d: modularity %.4f", seed, p.Modularity)
		}
	}
}

// planted makes groups of nodes whose members are mostly tied among themselves.
func planted(r *rand.Rand, groups, size, ties int, stray float64) (int, []Edge) {
	n := groups * size
	var edges []Edge
	for v := range n {
		for range ties {
			u := v/size*size + r.IntN(size)
			if r.Float64() < stray {
				u = r.IntN(n)
			}
			edges = append(edges, Edge{int32(v), int32(u), Similar, float32(0.6 + 0.3*r.Float64())})
		}
	}
	return n, edges
}

func TestPlantedTopicsAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const size = 40
	n, edges := planted(r, 25, size, 8, 0.15)
	p := Find(NewGraph(n, edges), Earlier{}, Options{})
	if len(p.Communities) != 25 {
		t.Fatalf("%d communities, 25 were planted", len(p.Communities))
	}
	wrong := 0
	for v := range n {
		if p.Of[v] != p.Of[v/size*size+1] {
			wrong++
		}
	}
	if wrong > n/100 {
		t.Errorf("%d of %d nodes are not with their group", wrong, n)
	}
	for i, c := range p.Communities {
		if c.Before != None || c.Cohesion < 0.7 || len(c.Top) != min(TopNodes, c.Nodes) || len(c.Names) != 0 {
			t.Errorf("community %d: %+v", i, c)
		}
	}
}

// What everything mentions does not make one topic of everything; what one group
// mentions belongs to it.
func TestHubDoesNotGlue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	n, edges := planted(r, 10, 30, 6, 0.02)
	for v := range n {
		edges = append(edges, Edge{int32(v), int32(n), Mentions, 1})
	}
	for v := range 20 {
		edges = append(edges, Edge{int32(v), int32(n + 1), Mentions, 1})
	}
	p := Find(NewGraph(n+2, edges), Earlier{}, Options{})
	if len(p.Communities) != 10 {
		t.Errorf("%d communities, 10 were planted", len(p.Communities))
	}
	if p.Of[n+1] == None || p.Of[n+1] != p.Of[0] {
		t.Fatalf("the entity of the first group is in community %d, not in %d", p.Of[n+1], p.Of[0])
	}
	home := p.Communities[p.Of[n+1]]
	if !slices.Contains(home.Names, int32(n+1)) || slices.Contains(home.Top, int32(n+1)) {
		t.Errorf("the entity is not among its community's names: %+v", home)
	}
}

// grow adds nodes to a graph of which the first were planted, each with ties into
// one of their groups.
func grow(r *rand.Rand, n, planted, size, more int, edges []Edge) (int, []Edge) {
	edges = slices.Clone(edges)
	for v := n; v < n+more; v++ {
		home := r.IntN(planted) / size * size
		for range 6 {
			edges = append(edges, Edge{int32(v), int32(home + r.IntN(size)), Similar, float32(0.6 + 0.3*r.Float64())})
		}
	}
	return n + more, edges
}

// later is what is known of a partition's last cut when nodes have been added.
func later(p Partition, nodes int, fresh bool) Earlier {
	e := Earlier{Of: slices.Clone(p.Of), Settled: p.Settled}
	for v := len(p.Of); v < nodes; v++ {
		e.Of = append(e.Of, None)
		if fresh {
			e.Fresh = append(e.Fresh, int32(v))
		}
	}
	return e
}

// kept counts the nodes whose community continues the one they were in.
func kept(before []int32, p Partition) (same, of int) {
	for v, b := range before {
		if b == None {
			continue
		}
		of++
		if c := p.Of[v]; c != None && p.Communities[c].Before == b {
			same++
		}
	}
	return same, of
}

func TestCommunitiesContinue(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		t.Run(fmt.Sprintf("fresh=%v", fresh), func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			const size = 50
			n, edges := planted(r, 20, size, 7, 0.3) // blurred: a cut anew would differ
			p := Find(NewGraph(n, edges), Earlier{}, Options{})
			for step := range 10 {
				before := p
				m, more := grow(r, n, 1000, size, n/20, edges)
				p = Find(NewGraph(m, more), later(before, m, fresh), Options{Seed: uint64(step)})
				same, of := kept(before.Of, p)
				if float64(same) < 0.97*float64(of) {
					t.Errorf("step %d: %d of %d nodes keep their community", step, same, of)
				}
				for v := n; v < m; v++ {
					if p.Of[v] == None {
						t.Errorf("step %d: node %d is in no community", step, v)
					}
				}
				n, edges = m, more
			}
			if p.Settled == n {
				t.Error("ten small steps have been settled at the last one")
			}
		})
	}
}

// When a graph has doubled it is cut from scratch; what is found again keeps its
// number all the same.
func TestCutAnewKeepsNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const size = 40
	n, edges := planted(r, 10, size, 8, 0.1)
	p := Find(NewGraph(n, edges), Earlier{}, Options{})
	m, more := grow(r, n, n, size, n, edges)
	q := Find(NewGraph(m, more), later(p, m, false), Options{Seed: 9})
	if q.Settled != m {
		t.Errorf("settled at %d nodes of %d", q.Settled, m)
	}
	if same, of := kept(p.Of, q); same < of*9/10 {
		t.Errorf("%d of %d nodes keep their community", same, of)
	}
}

// The larger part of what falls apart stays what it was.
func TestSplit(t *testing.T) {
	clique := func(from, size int32) (edges []Edge) {
		for a := from; a < from+size; a++ {
			for b := from; b < a; b++ {
				edges = append(edges, Edge{a, b, Similar, 0.8})
			}
		}
		return edges
	}
	edges := slices.Concat(clique(0, 8), clique(8, 5))
	before := Earlier{Of: make([]int32, 13), Settled: 13} // all were one, joined by what is gone
	p := Find(NewGraph(13, edges), before, Options{})
	if len(p.Communities) != 2 || p.Communities[0].Before != 0 || p.Communities[0].Nodes != 8 ||
		p.Communities[1].Before != None {
		t.Errorf("%+v", p.Communities)
	}
}

func TestNothingHoldsToNothing(t *testing.T) {
	p := Find(NewGraph(0, nil), Earlier{}, Options{})
	if len(p.Of) != 0 || len(p.Communities) != 0 {
		t.Errorf("%+v", p)
	}
	p = Find(NewGraph(5, []Edge{{0, 1, Similar, 0.9}, {2, 2, Related, 1}, {3, 9, Related, 1}, {3, 4, Similar, 0.1}}),
		Earlier{Settled: 5, Of: make([]int32, 5)}, Options{})
	if len(p.Communities) != 0 || !slices.Equal(p.Of, []int32{None, None, None, None, None}) {
		t.Errorf("%+v", p)
	}
}

func drawGraph(t *rapid.T) (int, []Edge) {
	n := rapid.IntRange(1, 40).Draw(t, "nodes")
	return n, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
		return Edge{
			A: rapid.Int32Range(-1, int32(n)).Draw(t, "a"), B: rapid.Int32Range(-1, int32(n)).Draw(t, "b"),
			Tie:    Tie(rapid.IntRange(0, int(tieCount)-1).Draw(t, "tie")),
			Weight: rapid.Float32Range(-0.1, 1).Draw(t, "weight"),
		}
	}), 0, 150).Draw(t, "edges")
}

func TestPartitionHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		g := NewGraph(n, edges)
		earlier := Earlier{}
		if rapid.Bool().Draw(t, "earlier") {
			earlier.Of = rapid.SliceOfN(rapid.Int32Range(None, 5), n, n).Draw(t, "of")
			earlier.Settled = rapid.IntRange(0, n).Draw(t, "settled")
			if rapid.Bool().Draw(t, "fresh") {
				earlier.Fresh = rapid.SliceOf(rapid.Int32Range(-1, int32(n))).Draw(t, "fresh")
			}
		}
		opts := Options{Seed: rapid.Uint64().Draw(t, "seed")}
		given := slices.Clone(earlier.Of)
		p := Find(g, earlier, opts)
		if !slices.Equal(given, earlier.Of) {
			t.Fatal("the earlier communities were written to")
		}
		again := Find(NewGraph(n, edges), earlier, opts)
		if !slices.Equal(p.Of, again.Of) || p.Modularity != again.Modularity {
			t.Fatal("the same input gave another answer")
		}
		checkPartition(t, g, earlier.Of, p)
	})
}

func checkPartition(t *rapid.T, g *Graph, before []int32, p Partition) {
	counts := make([]int, len(p.Communities))
	for _, c := range p.Of {
		if c != None {
			counts[c]++
		}
	}
	claimed := map[int32]bool{}
	for i, c := range p.Communities {
		if counts[i] != c.Nodes || c.Nodes < 3 || i > 0 && c.Nodes > p.Communities[i-1].Nodes {
			t.Fatalf("community %d of %d nodes says %d", i, counts[i], c.Nodes)
		}
		if !(c.Cohesion >= 0 && c.Cohesion <= 1) || c.Edges < c.Nodes-1 {
			t.Fatalf("community %d: cohesion %v, %d edges", i, c.Cohesion, c.Edges)
		}
		if c.Before != None {
			if claimed[c.Before] || !slices.Contains(before, c.Before) {
				t.Fatalf("community %d continues %d", i, c.Before)
			}
			claimed[c.Before] = true
		}
		for _, v := range slices.Concat(c.Top, c.Names) {
			if p.Of[v] != int32(i) {
				t.Fatalf("node %d is shown for community %d", v, i)
			}
		}
	}
	if math.IsNaN(p.Modularity) || p.Modularity < -maxResolution || p.Modularity > 1 {
		t.Fatalf("modularity %v", p.Modularity)
	}
	// Connected: nothing changes by taking pieces apart once more.
	of := slices.Clone(p.Of)
	next := int32(len(p.Communities))
	for v, c := range of {
		if c == None {
			of[v] = next
			next++
		}
	}
	was := slices.Clone(of)
	pieces(g, of)
	for v := range of {
		for u := range v {
			if (was[v] == was[u]) != (of[v] == of[u]) {
				t.Fatalf("the community of %d and %d does not hang together", u, v)
			}
		}
	}
}

// A later cut is no worse than what it began with.
func TestFollowingDoesNotSpoil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t)
		g := NewGraph(n, edges)
		of := rapid.SliceOfN(rapid.Int32Range(0, 5), n, n).Draw(t, "of")
		renumber(of)
		was := modularity(g, of, g.resolution())
		if g.total == 0 {
			return
		}
		if p := Find(g, Earlier{Of: of, Settled: n}, Options{}); p.Modularity < was-1e-9 {
			t.Fatalf("modularity %v became %v", was, p.Modularity)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		r := rand.New(rand.NewPCG(1, 1))
		n, edges := planted(r, size/200, 200, 10, 0.3)
		b.Run(fmt.Sprintf("nodes=%d/first", n), func(b *testing.B) {
			for b.Loop() {
				Find(NewGraph(n, edges), Earlier{}, Options{})
			}
		})
		p := Find(NewGraph(n, edges), Earlier{}, Options{})
		m, more := grow(r, n, n, 200, 50, edges)
		for _, fresh := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d/later/fresh=%v", m, fresh), func(b *testing.B) {
				for b.Loop() {
					Find(NewGraph(m, more), later(p, m, fresh), Options{})
				}
			})
		}
	}
}

// Communities that turn out to be one keep the id of the larger, and what is in none stays there.
func TestUnite(t *testing.T) {
	t.Parallel()
	var edges []Edge
	for c := range int32(3) { // three cliques of 5, 4 and 3, and somebody alone
		for a := range 5 - c {
			for b := range a {
				edges = append(edges, Edge{10*c + a, 10*c + b, Related, 1})
			}
		}
	}
	g := NewGraph(31, edges)
	p := Find(g, Earlier{}, Options{})
	if len(p.Communities) != 3 {
		t.Fatalf("%d communities", len(p.Communities))
	}
	before := slices.Clone(p.Of)
	p.Unite(g, before, []int32{0, 1, 1})
	if len(p.Communities) != 2 || p.Of[9] != None {
		t.Fatalf("%+v", p)
	}
	big, small := p.Communities[0], p.Communities[1]
	if big.Nodes != 7 || big.Edges != 9 || big.Before != 1 || small.Nodes != 5 || small.Before != 0 {
		t.Errorf("%+v and %+v", big, small)
	}
	for _, v := range []int{10, 13, 20, 22} {
		if p.Of[v] != 0 {
			t.Errorf("%d is in %d", v, p.Of[v])
		}
	}
}
