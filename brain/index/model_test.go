package index

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// The reference: what the index promises, said as plainly as possible.

type refChunk struct {
	Entry
	gone, hidden bool
}

// refSegment is a physical segment: its dead chunks count in the statistics
// until a merge drops them.
type refSegment []*refChunk

type reference struct {
	parts [][]refSegment // per partition
}

func (r *reference) each(f func(part int, c *refChunk)) {
	for part, segs := range r.parts {
		for _, seg := range segs {
			for _, c := range seg {
				f(part, c)
			}
		}
	}
}

type scored struct {
	Hit
	chunk *refChunk
}

// search scores everything with exact vectors and sorts.
func (r *reference) search(q *Query, topK int) []scored {
	type word struct {
		q  text.QueryTerm
		df int
	}
	holds := func(c *refChunk, t text.Term) (text.TermFreq, bool) {
		for _, f := range c.Passage.Terms {
			if f.Term == t {
				return f, true
			}
		}
		return text.TermFreq{}, false
	}
	var ws []word
	n, length := 0, 0.0
	for _, t := range q.Terms {
		ws = append(ws, word{q: t})
	}
	r.each(func(_ int, c *refChunk) {
		n++
		length += float64(c.Passage.Words + c.Passage.TitleWords)
		for i := range ws {
			for _, a := range ws[i].q.Alts {
				if _, ok := holds(c, a); ok {
					ws[i].df++
				}
			}
		}
	})
	avg := max(1, length/float64(n))
	var all []scored
	r.each(func(part int, c *refChunk) {
		if c.gone || c.hidden && !q.IncludeSuperseded || !r.passes(part, c, &q.Filter) {
			return
		}
		k1, b := float64(q.Config.K1), float64(q.Config.B)
		var kw, possible float64
		for _, w := range ws {
			idf := math.Log1p((float64(n) - float64(w.df) + 0.5) / (float64(w.df) + 0.5))
			if w.df > n {
				idf = math.Log1p(0.5 / (float64(n) + 0.5))
			}
			if w.df > 0 || !w.q.Optional {
				possible += idf * float64(w.q.Weight)
			}
			for _, a := range w.q.Alts {
				if f, ok := holds(c, a); ok {
					tf := float64(min(f.Body, maxBodyTF)) + float64(q.Config.TitleWeight)*float64(min(f.Title, maxTitleTF))
					dl := float64(c.Passage.Words + c.Passage.TitleWords)
					kw += idf * float64(w.q.Weight) * tf / (tf + k1*(1-b+b*dl/avg))
				}
			}
		}
		if possible > 0 {
			kw /= possible
		}
		var vec float64
		if v := q.Vectors["m"]; v != nil && len(c.Vector) > 0 && q.Mode != KeywordOnly {
			vec = float64(cosine(v, c.Vector))
		}
		if q.Mode == VectorOnly {
			kw = 0
		}
		if kw == 0 && (len(c.Vector) == 0 || q.Vectors["m"] == nil || q.Mode == KeywordOnly || zero(c.Vector)) {
			return
		}
		h := Hit{Seq: c.Seq, Node: c.Node.ID, Part: int32(part), Vector: float32(vec), Keyword: float32(kw)}
		h.Score = q.fuse(h.Keyword, h.Vector)
		all = append(all, scored{h, c})
	})
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Seq, b.Seq))
	})
	type key struct {
		part int32
		id   pb.NodeID
	}
	seen := map[key]bool{}
	var out []scored
	for _, s := range all {
		if k := (key{s.Part, s.Node}); !seen[k] {
			seen[k] = true
			out = append(out, s)
		}
	}
	return out[:min(topK, len(out))]
}

func zero(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

func (r *reference) passes(part int, c *refChunk, f *Filter) bool {
	// The latest entry of a node in its segment says what the node is.
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, c.Node.Kind) {
		return false
	}
	if f.Created != nil && (c.Node.CreatedMs < f.Created.FromMs || c.Node.CreatedMs >= f.Created.UntilMs) {
		return false
	}
	for _, a := range f.Attrs {
		if !slices.Contains(c.Node.Attrs, a) {
			return false
		}
	}
	return f.Node == nil || f.Node(part, c.Node.ID)
}

const testDim = 40

// world is the index and the reference side by side.
type world struct {
	ref   reference
	snaps []*Snapshot
	next  []uint64
	nodes map[pb.NodeID]Node
}

func drawPassage(t *rapid.T) text.Passage {
	freqs := rapid.MapOfN(rapid.Uint64Range(1, 30), rapid.Uint16Range(0, 40), 0, 8).Draw(t, "terms")
	var p text.Passage
	for _, term := range slices.Sorted(maps.Keys(freqs)) {
		f := text.TermFreq{Term: text.Term(term * 0x9E3779B97F4A7C15), Body: freqs[term], Title: uint16(term % 3)}
		if f.Body+f.Title == 0 {
			f.Body = 1
		}
		p.Terms = append(p.Terms, f)
		p.Words += uint32(f.Body)
		p.TitleWords += uint32(f.Title)
	}
	slices.SortFunc(p.Terms, func(a, b text.TermFreq) int { return cmp.Compare(a.Term, b.Term) })
	// Exact lengths only, so that the reference need not know the code.
	p.Words = min(p.Words, exactLength-1-p.TitleWords)
	p.Langs = 1 << text.English
	return p
}

func drawVector(t *rapid.T) []float32 {
	if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
		return nil
	}
	seed := rapid.Uint64().Draw(t, "vector")
	v := make([]float32, testDim)
	for i := range v {
		seed = seed*6364136223846793005 + 1442695040888963407
		v[i] = float32(int32(seed>>32)) / (1 << 31)
	}
	return v
}

func (w *world) drawEntries(t *rapid.T, part int) []Entry {
	n := rapid.IntRange(1, 12).Draw(t, "chunks")
	var out []Entry
	for range n {
		w.next[part] += rapid.Uint64Range(1, 3).Draw(t, "gap")
		id := pb.NodeID(fmt.Sprintf("node-%d-%d", part, rapid.IntRange(0, 25).Draw(t, "node")))
		out = append(out, Entry{Seq: w.next[part], Node: w.node(t, id), Vector: drawVector(t), Passage: drawPassage(t)})
	}
	return out
}

// node gives each id one description for all time, as nodes in a segment share it.
func (w *world) node(t *rapid.T, id pb.NodeID) Node {
	if n, ok := w.nodes[id]; ok {
		return n
	}
	n := Node{ID: id, Kind: rapid.SampledFrom([]string{"document", "belief", "event"}).Draw(t, "kind"),
		CreatedMs: rapid.Int64Range(-50, 50).Draw(t, "created")}
	for _, v := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "attrs") {
		n.Attrs = append(n.Attrs, AttrHash("team", v))
	}
	w.nodes[id] = n
	return n
}

func build(t interface{ Fatal(...any) }, entries []Entry) *Segment {
	b := NewBuilder("m", testDim)
	for _, e := range entries {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reopen(t interface{ Fatal(...any) }, s *Snapshot) *Snapshot {
	out := &Snapshot{}
	for _, v := range s.Views {
		seg, err := OpenSegment(v.Segment.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		view, err := OpenView(v.ID, seg, v.AppendLiveness(nil))
		if err != nil {
			t.Fatal(err)
		}
		out.Views = append(out.Views, view)
	}
	return out
}

func (w *world) step(t *rapid.T, op string) {
	part := rapid.IntRange(0, len(w.snaps)-1).Draw(t, "part")
	snap := &w.snaps[part]
	id := pb.NodeID(fmt.Sprintf("node-%d-%d", part, rapid.IntRange(0, 25).Draw(t, "id")))
	other := pb.NodeID(fmt.Sprintf("node-%d-%d", part, rapid.IntRange(0, 25).Draw(t, "id2")))
	mark := func(f func(c *refChunk)) {
		for _, seg := range w.ref.parts[part] {
			for _, c := range seg {
				if c.Node.ID == id || c.Node.ID == other {
					f(c)
				}
			}
		}
	}
	switch op {
	case "add":
		entries := w.drawEntries(t, part)
		*snap = (*snap).With(0, build(t, entries))
		w.ref.parts[part] = append(w.ref.parts[part], refs(entries))
	case "replace":
		var entries []Entry
		for _, seg := range w.ref.parts[part] {
			for _, c := range seg {
				if !c.gone && c.Node.ID == id && !slices.ContainsFunc(entries, func(e Entry) bool { return e.Seq == c.Seq }) {
					e := c.Entry
					e.Vector = drawVector(t)
					entries = append(entries, e)
					c.gone = true
				}
			}
		}
		if len(entries) > 0 {
			slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
			*snap = (*snap).With(0, build(t, entries))
			w.ref.parts[part] = append(w.ref.parts[part], refs(entries))
		}
	case "forget":
		*snap = (*snap).Forget(id, other)
		mark(func(c *refChunk) { c.gone = true })
	case "forgetSeqs":
		seq := rapid.Uint64Range(0, w.next[part]).Draw(t, "seq")
		*snap = (*snap).ForgetSeqs(seq)
		for _, seg := range w.ref.parts[part] {
			for _, c := range seg {
				c.gone = c.gone || c.Seq == seq
			}
		}
	case "hide":
		*snap = (*snap).Hide(id, other)
		mark(func(c *refChunk) { c.hidden = true })
	case "show":
		*snap = (*snap).Show(id, other)
		mark(func(c *refChunk) { c.hidden = false })
	case "merge":
		plan, ok := (*snap).Compact(MergePolicy{Fanout: 2, MaxChunks: 60})
		if !ok {
			return
		}
		seg, err := Merge(plan.Views)
		if err != nil {
			t.Fatal(err)
		}
		// The reference merges now; the index only after something else
		// has happened.
		w.refMerge(part, plan)
		w.step(t, rapid.SampledFrom([]string{"forget", "hide", "show", "forgetSeqs", "replace", "add"}).Draw(t, "meanwhile"))
		next, ok := (*snap).Replace(plan, 7, seg)
		if !ok {
			t.Fatal("the plan's views are gone")
		}
		*snap = next
	case "reopen":
		*snap = reopen(t, *snap)
	}
}

// refMerge joins the segments of a plan, known by their chunks' Seqs.
func (w *world) refMerge(part int, plan Plan) {
	var merged refSegment
	var rest []refSegment
	for i, v := range w.snaps[part].Views {
		if slices.ContainsFunc(plan.Views, func(p View) bool { return p.Segment == v.Segment }) {
			for _, c := range w.ref.parts[part][i] {
				if !c.gone {
					merged = append(merged, c)
				}
			}
		}
	}
	placed := len(merged) == 0
	for i, v := range w.snaps[part].Views {
		if !slices.ContainsFunc(plan.Views, func(p View) bool { return p.Segment == v.Segment }) {
			rest = append(rest, w.ref.parts[part][i])
		} else if !placed {
			rest = append(rest, merged)
			placed = true
		}
	}
	w.ref.parts[part] = rest
}

func refs(entries []Entry) refSegment {
	var out refSegment
	for _, e := range entries {
		out = append(out, &refChunk{Entry: e})
	}
	return out
}

func drawQuery(t *rapid.T) *Query {
	q := &Query{Mode: rapid.SampledFrom([]Mode{Hybrid, VectorOnly, KeywordOnly}).Draw(t, "mode"), Config: DefaultConfig(), N: MaxCandidates}
	for _, term := range rapid.SliceOfNDistinct(rapid.Uint64Range(1, 33), 0, 5, rapid.ID[uint64]).Draw(t, "words") {
		alts := []text.Term{text.Term(term * 0x9E3779B97F4A7C15)}
		if term%5 == 0 {
			alts = append(alts, text.Term((term+100)*0x9E3779B97F4A7C15))
		}
		q.Terms = append(q.Terms, text.QueryTerm{Alts: alts, Weight: float32(term%3+1) / 2, Optional: term%4 == 0})
	}
	if v := drawVector(t); v != nil {
		q.Vectors = map[ModelID][]float32{"m": v}
	}
	q.IncludeSuperseded = rapid.Bool().Draw(t, "superseded")
	if rapid.Bool().Draw(t, "filter") {
		f := &q.Filter
		f.Kinds = rapid.SliceOfN(rapid.SampledFrom([]string{"document", "event", "none"}), 0, 2).Draw(t, "kinds")
		if rapid.Bool().Draw(t, "window") {
			from := rapid.Int64Range(-60, 60).Draw(t, "from")
			f.Created = &Window{from, from + rapid.Int64Range(0, 80).Draw(t, "width")}
		}
		if rapid.Bool().Draw(t, "attr") {
			f.Attrs = []uint64{AttrHash("team", "b")}
		}
		if rapid.Bool().Draw(t, "domain") {
			f.Node = func(_ int, id pb.NodeID) bool { return id[len(id)-1]%2 == 0 }
		}
	}
	return q
}

func (w *world) compare(t *rapid.T, sc *Scratch, q *Query) {
	topK := rapid.IntRange(1, 20).Draw(t, "topK")
	cands := sc.Candidates(w.snaps, q)
	exact := make([][]float32, len(cands))
	for i, c := range cands {
		w.ref.each(func(part int, r *refChunk) {
			if q.Mode != KeywordOnly && int32(part) == c.Part && r.Seq == c.Seq && !r.gone {
				exact[i] = r.Vector
				if math.Abs(float64(c.Vector-cosineOr0(q.Vectors["m"], r.Vector))) > 0.02 {
					t.Fatalf("chunk %d: int8 cosine %v", c.Seq, c.Vector)
				}
			}
		})
	}
	got := Fuse(cands, exact, q, topK)
	want := w.ref.search(q, topK)
	if len(got) != len(want) {
		t.Fatalf("%d hits, want %d\n got %+v\nwant %+v", len(got), len(want), got, want)
	}
	const eps = 2e-5
	for i := range got {
		g, r := got[i], want[i].Hit
		if math.Abs(float64(g.Score-r.Score)) > eps {
			t.Fatalf("hit %d: %+v, want %+v", i, g, r)
		}
		// Equal scores may change places; otherwise it is the same hit.
		alone := (i == 0 || want[i-1].Score-r.Score > 2*eps) && (i+1 == len(want) || r.Score-want[i+1].Score > 2*eps)
		if alone && i+1 < len(want) && (g.Seq != r.Seq || g.Part != r.Part || g.Node != r.Node ||
			math.Abs(float64(g.Keyword-r.Keyword)) > eps || math.Abs(float64(g.Vector-r.Vector)) > eps) {
			t.Fatalf("hit %d: %+v, want %+v", i, g, r)
		}
	}
}

func cosineOr0(a, b []float32) float32 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	return cosine(a, b)
}

func TestIndexAgainstReference(t *testing.T) {
	ops := []string{"add", "add", "add", "replace", "forget", "forgetSeqs", "hide", "show", "merge", "merge", "reopen"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 3).Draw(t, "parts")
		w := &world{snaps: make([]*Snapshot, parts), next: make([]uint64, parts), nodes: map[pb.NodeID]Node{}}
		w.ref.parts = make([][]refSegment, parts)
		for i := range w.snaps {
			w.snaps[i] = &Snapshot{}
		}
		var sc Scratch
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			w.step(t, rapid.SampledFrom(ops).Draw(t, "op"))
			if rapid.IntRange(0, 2).Draw(t, "search") == 0 {
				w.compare(t, &sc, drawQuery(t))
			}
		}
		w.compare(t, &sc, drawQuery(t))
		for part, s := range w.snaps {
			live := 0
			for _, seg := range w.ref.parts[part] {
				for _, c := range seg {
					if !c.gone {
						live++
					}
				}
			}
			if s.Len() != live {
				t.Fatalf("part %d: %d chunks, want %d", part, s.Len(), live)
			}
		}
	})
}
