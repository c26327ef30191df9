package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// TestMatchesAgainstReference holds Matches to its words: the nodes that hold
// every word in any of their chunks, newest first, from the position on. Nodes
// lie in several segments, in part gone or hidden.
func TestMatchesAgainstReference(t *testing.T) {
	vocabulary := []string{"figs", "oven", "boat", "lamp", "moon"}
	rapid.Check(t, func(rt *rapid.T) {
		type chunk struct {
			seq   uint64
			node  int
			words []string
			gone  bool
		}
		kinds := []string{"document", "belief"}
		nodes := rapid.IntRange(1, 8).Draw(rt, "nodes")
		created := make([]int64, nodes)
		kind := make([]string, nodes)
		hidden := make([]bool, nodes)
		for i := range nodes {
			created[i] = rapid.Int64Range(1, 4).Draw(rt, "created") // many at one time
			kind[i] = rapid.SampledFrom(kinds).Draw(rt, "kind")
		}
		id := func(node int) pb.NodeID { return pb.NodeID(fmt.Sprintf("n%d", node)) }
		var analyzer text.Analyzer
		var chunks []*chunk
		snapshot := &Snapshot{}
		for range rapid.IntRange(1, 4).Draw(rt, "segments") {
			b := NewBuilder("m", 0)
			for range rapid.IntRange(1, 6).Draw(rt, "chunks") {
				c := &chunk{
					seq: uint64(len(chunks) + 1), node: rapid.IntRange(0, nodes-1).Draw(rt, "node"),
					words: rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(rt, "words"),
				}
				chunks = append(chunks, c)
				title, body := "", strings.Join(c.words, " ")
				if rapid.Bool().Draw(rt, "title") {
					title, body = c.words[0], strings.Join(c.words[1:], " ")
				}
				err := b.Add(Entry{
					Seq: c.seq, Node: Node{ID: id(c.node), Kind: kind[c.node], CreatedMs: created[c.node]},
					Passage: analyzer.Passage(title, body),
				})
				if err != nil {
					rt.Fatal(err)
				}
			}
			seg, err := b.Build()
			if err != nil {
				rt.Fatal(err)
			}
			snapshot = snapshot.With(0, seg)
		}
		for _, c := range chunks {
			if c.gone = rapid.IntRange(0, 3).Draw(rt, "gone") == 0; c.gone {
				snapshot = snapshot.ForgetSeqs(c.seq)
			}
		}
		for i := range nodes {
			if hidden[i] = rapid.IntRange(0, 3).Draw(rt, "hidden") == 0; hidden[i] {
				snapshot = snapshot.Hide(id(i))
			}
		}
		var m Matcher
		for range 3 { // the matcher is used again
			words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 3).Draw(rt, "query")
			q := &WordQuery{
				Terms: analyzer.Query(strings.Join(words, " "), snapshot.Langs()),
				Live:  rapid.Bool().Draw(rt, "live"), Superseded: rapid.Bool().Draw(rt, "superseded"),
			}
			if rapid.Bool().Draw(rt, "one kind") {
				q.Kinds = []string{rapid.SampledFrom(kinds).Draw(rt, "of kind")}
			}
			if rapid.Bool().Draw(rt, "window") {
				q.Created = &Window{rapid.Int64Range(0, 4).Draw(rt, "from"), rapid.Int64Range(1, 6).Draw(rt, "until")}
			}
			var after *Match
			if rapid.Bool().Draw(rt, "after") {
				after = &Match{
					Node:      id(rapid.IntRange(0, nodes).Draw(rt, "after node")),
					CreatedMs: rapid.Int64Range(0, 5).Draw(rt, "after time"),
				}
			}
			var want []Match
			for i := range nodes {
				held := map[string]bool{}
				for _, c := range chunks {
					for _, w := range c.words {
						held[w] = held[w] || c.node == i && !c.gone
					}
				}
				match := Match{Node: id(i), CreatedMs: created[i]}
				if slices.ContainsFunc(words, func(w string) bool { return !held[w] }) ||
					hidden[i] && !q.Superseded || !hidden[i] && !q.Live ||
					len(q.Kinds) > 0 && kind[i] != q.Kinds[0] ||
					q.Created != nil && (created[i] < q.Created.FromMs || created[i] >= q.Created.UntilMs) ||
					after != nil && match.Compare(*after) <= 0 {
					continue
				}
				want = append(want, match)
			}
			slices.SortFunc(want, Match.Compare)
			var got []Match
			m.Find(snapshot, q)
			for match := range m.Matches(after) {
				c := chunks[match.Seq-1]
				if id(c.node) != match.Node || c.gone ||
					!slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(words, w) }) {
					rt.Fatalf("node %s is shown by chunk %d, of %s, with %q", match.Node, match.Seq, id(c.node), c.words)
				}
				match.Seq = 0
				got = append(got, match)
			}
			for i := range nodes {
				match := Match{Node: id(i), CreatedMs: created[i]}
				seq, holds := m.Holds(match.Node)
				if slices.Contains(want, match) && !holds || holds && (chunks[seq-1].node != i || chunks[seq-1].gone) {
					rt.Fatalf("node %d holds %q: %v, by chunk %d", i, words, holds, seq)
				}
				if holds && len(q.Kinds) == 0 && q.Created == nil && after == nil && !slices.Contains(want, match) {
					rt.Fatalf("node %d holds %q, and is no match", i, words)
				}
			}
			m.Release()
			if !slices.Equal(got, want) {
				rt.Fatalf("%q in %+v: got %v, want %v", words, q, got, want)
			}
		}
	})
}

func TestMatchesOfNoWord(t *testing.T) {
	var m Matcher
	var analyzer text.Analyzer
	b := NewBuilder("m", 0)
	if err := b.Add(Entry{
		Seq: 1, Node: Node{ID: "n", CreatedMs: 1}, Passage: analyzer.Passage("", "The oven is not lit."),
	}); err != nil {
		t.Fatal(err)
	}
	seg, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"": 0, "?!": 0, "the": 1, "ovens": 1, "oven the": 1, "oven lamp": 0} {
		n := 0
		m.Find(new(Snapshot).With(0, seg), &WordQuery{Terms: analyzer.Query(query, seg.Langs()), Live: true})
		for range m.Matches(nil) {
			n++
		}
		m.Release()
		if n != want {
			t.Errorf("%q matches %d nodes, want %d", query, n, want)
		}
	}
}

// TestManyMatchesComeInOrder: more than are gathered at a time, in another order
// than that of their chunks, many of one time.
func TestManyMatchesComeInOrder(t *testing.T) {
	var m Matcher
	var analyzer text.Analyzer
	const nodes = 3*gathered + 7
	b := NewBuilder("m", 0)
	var want []Match
	for i := range nodes {
		n := Node{ID: pb.NodeID(fmt.Sprintf("n%d", i)), CreatedMs: int64(i * 7919 % nodes / 5)}
		if err := b.Add(Entry{Seq: uint64(i + 1), Node: n, Passage: analyzer.Passage("", "figs")}); err != nil {
			t.Fatal(err)
		}
		want = append(want, Match{Node: n.ID, CreatedMs: n.CreatedMs, Seq: uint64(i + 1)})
	}
	seg, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, Match.Compare)
	if got := m.Find(new(Snapshot).With(0, seg),
		&WordQuery{Terms: analyzer.Query("figs", seg.Langs()), Live: true}); got != nodes {
		t.Errorf("%d chunks hold the word", got)
	}
	if got := slices.Collect(m.Matches(nil)); !slices.Equal(got, want) {
		t.Errorf("%d matches, %d wanted, or in another order", len(got), len(want))
	}
	if got := slices.Collect(m.Matches(&want[gathered])); !slices.Equal(got, want[gathered+1:]) {
		t.Errorf("behind a position: %d matches", len(got))
	}
}
