package index

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// plain makes a segment of n chunks without vectors, one node each.
func plain(t interface{ Fatal(...any) }, model ModelID, from, n int) *Segment {
	b := NewBuilder(model, 0)
	for i := range n {
		seq := uint64(from + i)
		p := text.Passage{Words: 1, Terms: []text.TermFreq{{Term: text.Term(seq % 7), Body: 1}}}
		if err := b.Add(Entry{Seq: seq, Node: Node{ID: pb.NodeID(fmt.Sprint("n", seq))}, Passage: p}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCompactKeepsUp adds small segments for a long time and merges whatever is
// proposed: few segments remain, and no chunk is rewritten often.
func TestCompactKeepsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := MergePolicy{
			Fanout: rapid.IntRange(0, 10).Draw(t, "fanout"), MaxChunks: rapid.SampledFrom([]int{0, 200, 5000}).Draw(t, "max"),
		}
		p := policy.defaults()
		snap := &Snapshot{}
		added, written := 0, 0
		for range rapid.IntRange(1, 150).Draw(t, "segments") {
			n := rapid.IntRange(1, 12).Draw(t, "size")
			snap = snap.With(0, plain(t, "m", added+1, n))
			added += n
			for {
				plan, ok := snap.Compact(policy)
				if !ok {
					break
				}
				merged, err := Merge(plan.Views)
				if err != nil {
					t.Fatal(err)
				}
				if merged.Len() > p.MaxChunks {
					t.Fatalf("a merge of %d chunks", merged.Len())
				}
				written += merged.Len()
				if snap, ok = snap.Replace(plan, 1, merged); !ok {
					t.Fatal("the plan does not fit")
				}
			}
		}
		if snap.Len() != added {
			t.Fatalf("%d chunks of %d", snap.Len(), added)
		}
		tiers := bits.Len(uint(added))/(bits.Len(uint(p.Fanout))-1) + 1
		if limit := p.Fanout*tiers + 2*added/p.MaxChunks; len(snap.Views) > limit {
			t.Fatalf("%d segments of %d chunks, at most %d", len(snap.Views), added, limit)
		}
		if written > added*(tiers+1) {
			t.Fatalf("%d chunks written for %d in %d tiers", written, added, tiers)
		}
	})
}

func TestCompactDropsTheDead(t *testing.T) {
	snap := (&Snapshot{}).With(3, plain(t, "m", 1, 8)).Forget("n1")
	if _, ok := snap.Compact(MergePolicy{}); ok {
		t.Fatal("one of eight is not worth a merge")
	}
	snap = snap.Forget("n2").Hide("n3")
	plan, ok := snap.Compact(MergePolicy{})
	if !ok {
		t.Fatal("a quarter is")
	}
	merged, err := Merge(plan.Views)
	if err != nil {
		t.Fatal(err)
	}
	next, ok := snap.Forget("n4").Replace(plan, 9, merged)
	if !ok {
		t.Fatal("the plan does not fit")
	}
	type summary struct {
		Merged, Live, Gone, Hidden int
		ID                         uint64
	}
	v := next.Views[0]
	has := summary{Merged: merged.Len(), Live: next.Len(), Gone: v.Gone(), Hidden: v.Hidden(), ID: v.ID}
	if diff := cmp.Diff(summary{Merged: 6, Live: 5, Gone: 1, Hidden: 1, ID: 9}, has); diff != "" {
		t.Fatalf("what is left (-want +got):\n%s", diff)
	}
	all := snap.Forget("n3", "n4", "n5", "n6", "n7", "n8")
	plan, _ = all.Compact(MergePolicy{})
	if merged, err = Merge(plan.Views); err != nil {
		t.Fatal(err)
	}
	if next, ok = all.Replace(plan, 1, merged); !ok || len(next.Views) != 0 {
		t.Fatalf("something is left of nothing: %+v", next)
	}
	if _, ok := next.Replace(plan, 1, merged); ok {
		t.Fatal("a plan was carried out twice")
	}
}

func TestModelsAreNotMixed(t *testing.T) {
	snap := &Snapshot{}
	for i := range 20 {
		snap = snap.With(0, plain(t, ModelID([]string{"old", "new"}[i%2]), 1+10*i, 3))
	}
	plan, ok := snap.Compact(MergePolicy{})
	if !ok {
		t.Fatal("ten of each are enough")
	}
	for _, v := range plan.Views {
		if v.Segment.Model() != plan.Views[0].Segment.Model() {
			t.Fatal("a plan mixes models")
		}
	}
	if _, err := Merge(snap.Views); !errors.Is(err, ErrInput) {
		t.Fatalf("a merge mixes models: %v", err)
	}
	if _, err := Merge([]View{snap.Views[0], snap.Views[0]}); !errors.Is(err, ErrInput) {
		t.Fatalf("a chunk is merged twice: %v", err)
	}
	if _, err := Merge(nil); !errors.Is(err, ErrInput) {
		t.Fatalf("a merge of nothing: %v", err)
	}
}

// TestTwoModelsServe embeds half of the chunks anew: each segment is asked with
// its own vector, and a chunk is found once.
func TestTwoModelsServe(t *testing.T) {
	snap := &Snapshot{}
	add := func(model ModelID, dim int, seqs ...uint64) {
		b := NewBuilder(model, dim)
		for _, seq := range seqs {
			v := make([]float32, dim)
			v[int(seq)%dim] = 1
			if err := b.Add(Entry{Seq: seq, Node: Node{ID: pb.NodeID(fmt.Sprint("n", seq))}, Vector: v}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		snap = snap.With(0, s)
	}
	add("old", 4, 1, 2, 3)
	add("new", 8, 2)
	q := &Query{
		Mode: VectorOnly, Config: DefaultConfig(),
		Vectors: map[ModelID][]float32{"old": {0, 1, 0, 0}, "new": {0, 0, 1, 0, 0, 0, 0, 0}},
	}
	var sc Scratch
	hits := Fuse(sc.Candidates([]*Snapshot{nil, snap}, q), nil, q, 10)
	want := []Hit{
		{Seq: 1, Node: "n1", Part: 1, Score: 1, Vector: 1},
		{Seq: 2, Node: "n2", Part: 1, Score: 1, Vector: 1},
		{Seq: 3, Node: "n3", Part: 1},
	}
	if diff := cmp.Diff(want, hits, cmpopts.EquateApprox(0, 0.01)); diff != "" {
		t.Fatalf("hits (-want +got):\n%s", diff)
	}
	delete(q.Vectors, "new")
	if hits = Fuse(sc.Candidates([]*Snapshot{snap}, q), nil, q, 10); len(hits) != 2 {
		t.Fatalf("without a vector of the new model: %+v", hits)
	}
}

// TestSmallNIsAPrefix: the heap keeps what the full order begins with.
func TestSmallNIsAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{snaps: []*Snapshot{{}, {}}, next: make([]uint64, 2), nodes: map[pb.NodeID]Node{}}
		w.ref.parts = make([][]refSegment, 2)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			w.step(t, rapid.SampledFrom([]string{"add", "add", "forget", "hide"}).Draw(t, "op"))
		}
		q := drawQuery(t)
		q.Config.PhraseWeight, q.Config.BrevityWeight, q.Config.TimeWeight, q.Config.ContextDocs = 0, 0, 0, 0
		var a, b Scratch
		full := a.Candidates(w.snaps, q)
		q.N = rapid.IntRange(1, 20).Draw(t, "n")
		part := b.Candidates(w.snaps, q)
		if !slices.Equal(part, full[:min(q.N, len(full))]) {
			t.Fatalf("%+v\n%+v", part, full)
		}
	})
}

func TestReadersShareSnapshots(t *testing.T) {
	s := sample(t)
	snap := (&Snapshot{}).With(1, s)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var sc Scratch
			var a text.Analyzer
			for range 50 {
				q := &Query{
					Terms: a.Query("pump valve", snap.Langs()), Vectors: map[ModelID][]float32{"m": {1, 1, 1, 1}},
					Config: DefaultConfig(),
				}
				if hits := Fuse(sc.Candidates([]*Snapshot{snap}, q), nil, q, 3); len(hits) != 3 {
					t.Errorf("%d hits", len(hits))
				}
				sc.Reset()
				snap.Forget("node:Ana").Hide("node:The")
			}
		})
	}
	wg.Wait()
	if snap.Bytes() != s.Size() {
		t.Errorf("%d bytes", snap.Bytes())
	}
}

// TestContextFindsTheAnswer is the reason for context: the answer shares no word
// with the question, but stands after a message that does.
func TestContextFindsTheAnswer(t *testing.T) {
	var a text.Analyzer
	build := func(turn bool) *Snapshot {
		b := NewBuilder("m", 0)
		for i, s := range []string{
			"Did the courier bring the spare gaskets?", "On Thursday, around nine.", "The canteen has soup.", "It rains.",
			"My bike is blue.", "Lunch?",
		} {
			e := Entry{Seq: uint64(i + 1), Node: Node{ID: pb.NodeID(fmt.Sprint(i)), Turn: turn}, Passage: a.Passage("", s)}
			if err := b.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		s, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return (&Snapshot{}).With(0, s)
	}
	var sc Scratch
	for _, turn := range []bool{true, false} {
		snap := build(turn)
		q := &Query{Terms: a.Query("courier gaskets", snap.Langs()), Config: DefaultConfig()}
		hits := Fuse(sc.Candidates([]*Snapshot{snap}, q), nil, q, 10)
		if turn && (len(hits) < 2 || hits[0].Node != "0" || hits[1].Node != "1") {
			t.Errorf("the answer is not second: %+v", hits)
		}
		if !turn && len(hits) != 1 {
			t.Errorf("documents explain each other: %+v", hits)
		}
	}
}
