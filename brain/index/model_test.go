package index

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
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
	lift  float32 // of what is of the time that is asked about; neighbours get nothing of it
}

// search scores everything with exact vectors and sorts.
func (r *reference) search(q *Query, topK int) []scored {
	ws, n, avg := r.statistics(q)
	var all []*scored
	matched := map[*refChunk]*scored{}
	alive := make([][]*scored, len(r.parts))
	r.each(func(part int, c *refChunk) {
		if c.gone || c.hidden && !q.IncludeSuperseded {
			return
		}
		s := &scored{Hit: Hit{Seq: c.Seq, Node: c.Node.ID, Part: int32(part)}, chunk: c}
		r.scoreOne(s, q, ws, n, avg)
		alive[part] = append(alive[part], s)
		if (s.Keyword > 0 || q.Mode != KeywordOnly && q.Vectors["m"] != nil && len(c.Vector) > 0) &&
			r.passes(part, c, &q.Filter) {
			all = append(all, s)
			matched[c] = s
		}
	})
	byScore := func(a, b *scored) int {
		return cmp.Or(cmp.Compare(b.Score+b.lift, a.Score+a.lift), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Seq, b.Seq))
	}
	slices.SortFunc(all, byScore)
	if q.Mode == Hybrid && len(all) > 0 {
		floor := max(0, q.Config.ContextFloor*(all[0].Score+all[0].lift))
		for part := range alive {
			for _, s := range r.context(alive[part], matched, floor, q) {
				if r.passes(part, s.chunk, &q.Filter) {
					all = append(all, s)
				}
			}
		}
		slices.SortFunc(all, byScore)
	}
	type key struct {
		part int32
		id   pb.NodeID
	}
	seen := map[key]bool{}
	var out []scored
	for _, s := range all {
		if k := (key{s.Part, s.Node}); !seen[k] {
			seen[k] = true
			s.Score += s.lift
			out = append(out, *s)
		}
	}
	return out[:min(topK, len(out))]
}

type refWord struct {
	q  text.QueryTerm
	df int
}

func (w refWord) idf(n int) float64 {
	df := float64(min(w.df, n))
	return math.Log1p((float64(n) - df + 0.5) / (df + 0.5))
}

func holds(c *refChunk, t text.Term) (text.TermFreq, bool) {
	for _, f := range c.Passage.Terms {
		if f.Term == t {
			return f, true
		}
	}
	return text.TermFreq{}, false
}

func (r *reference) statistics(q *Query) (ws []refWord, n int, avg float64) {
	for _, t := range q.Terms {
		ws = append(ws, refWord{q: t})
	}
	r.each(func(_ int, c *refChunk) {
		n++
		avg += float64(c.Passage.Words + c.Passage.TitleWords)
		for i := range ws {
			for _, a := range ws[i].q.Alts {
				if _, ok := holds(c, a); ok {
					ws[i].df++
				}
			}
		}
	})
	return ws, n, max(1, avg/float64(n))
}

func (r *reference) scoreOne(s *scored, q *Query, ws []refWord, n int, avg float64) {
	k1, b := float64(q.Config.K1), float64(q.Config.B)
	c := s.chunk
	var kw, possible float64
	for _, w := range ws {
		idf := w.idf(n)
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
	if possible > 0 && q.Mode != VectorOnly {
		s.Keyword = float32(kw / possible)
	}
	if v := q.Vectors["m"]; v != nil && len(c.Vector) > 0 && q.Mode != KeywordOnly {
		s.Vector = cosine(v, c.Vector)
	}
	s.Score = q.fuse(s.Keyword, s.Vector)
	if q.Mode == Hybrid && s.Keyword > 0 {
		s.Score += q.Config.PhraseWeight * float32(phraseShare(c, ws, n))
	}
	if q.Mode == Hybrid {
		words := float64(c.Passage.Words + c.Passage.TitleWords)
		s.Score -= q.Config.BrevityWeight * float32(math.Exp(-words/8))
		if at := cmp.Or(c.Node.OccurredMs, c.Node.CreatedMs); slices.ContainsFunc(q.When.Windows, func(w Window) bool {
			return w.FromMs <= at && at < w.UntilMs
		}) || len(q.When.Windows) > 0 && q.When.Mentioned != nil && q.When.Mentioned(int(s.Part), c.Node.ID) {
			s.lift = q.Config.TimeWeight
		}
	}
}

// phraseShare looks for the query's pairs in the chunk's words, as bytes.
func phraseShare(c *refChunk, ws []refWord, n int) float64 {
	var found, total float64
	var last *refWord
	for i := range ws {
		w := &ws[i]
		if w.q.Optional {
			continue
		}
		if last != nil {
			weight := (last.idf(n) + w.idf(n)) / 2
			total += weight
			if slices.ContainsFunc(last.q.Alts, func(a text.Term) bool {
				return slices.ContainsFunc(w.q.Alts, func(b text.Term) bool {
					for k := 1; k < len(c.Passage.Sequence); k++ {
						if wordByte(c.Passage.Sequence[k-1]) == wordByte(a) && wordByte(c.Passage.Sequence[k]) == wordByte(b) {
							return true
						}
					}
					return false
				})
			}) {
				found += weight
			}
		}
		last = w
	}
	if total == 0 {
		return 0
	}
	return found / total
}

// context adds to the living chunks of a partition what their linked neighbours
// give, and gives the best chunks of runs that come in by it alone.
func (r *reference) context(alive []*scored, matched map[*refChunk]*scored, floor float32, q *Query) []*scored {
	slices.SortFunc(alive, func(a, b *scored) int { return cmp.Compare(a.Seq, b.Seq) })
	var runs [][]*scored
	for i, s := range alive {
		if i == 0 || alive[i-1].Node != s.Node {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], s)
	}
	best := func(run []*scored) *scored {
		b := run[0]
		for _, s := range run {
			if s.Score > b.Score {
				b = s
			}
		}
		return b
	}
	linked := func(i int) bool { // i and i+1
		if i < 0 || i+1 >= len(runs) {
			return false
		}
		a, b := runs[i][0].chunk.Node, runs[i+1][0].chunk.Node
		return a.Turn && b.Turn && (a.OccurredMs == 0) == (b.OccurredMs == 0) &&
			max(a.OccurredMs-b.OccurredMs, b.OccurredMs-a.OccurredMs) <= q.Config.ContextGapMs
	}
	around := func(i int, f func(k, at int)) {
		for k := 1; k <= 3 && linked(i-k); k++ {
			f(k, i-k)
		}
		for k := 1; k <= 3 && linked(i+k-1); k++ {
			f(k, i+k)
		}
	}
	wanted := map[int]bool{}
	for i, run := range runs {
		if run[0].chunk.Node.Turn && slices.ContainsFunc(run, func(s *scored) bool {
			return matched[s.chunk] != nil && s.Score+s.lift > floor
		}) {
			wanted[i] = true
			around(i, func(_, at int) { wanted[at] = true })
		}
	}
	add := map[int]float32{}
	for i := range wanted {
		around(i, func(k, at int) { add[i] += q.Config.Context[k-1] * max(0, best(runs[at]).Score-floor) })
	}
	var in []*scored
	for i := range wanted {
		b, found := best(runs[i]), false
		for _, s := range runs[i] {
			found = found || matched[s.chunk] != nil
		}
		if !found {
			in = append(in, b)
		}
	}
	for i, c := range add {
		for _, s := range runs[i] {
			s.Score += c
		}
	}
	return in
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
	for range rapid.IntRange(0, 6).Draw(t, "sequence") {
		term := text.Break
		if k := rapid.IntRange(0, len(p.Terms)).Draw(t, "word"); k < len(p.Terms) {
			term = p.Terms[k].Term
		}
		p.Sequence = append(p.Sequence, term)
	}
	return p
}

// drawVector gives a vector of whole numbers up to peak, which is reached: then
// quantisation loses nothing, and the comparison may be sharp.
func drawVector(t *rapid.T, peak int32) []float32 {
	if rapid.IntRange(0, 9).Draw(t, "none") == 0 {
		return nil
	}
	seed := rapid.Uint64().Draw(t, "vector")
	v := make([]float32, testDim)
	for i := range v {
		seed = seed*6364136223846793005 + 1442695040888963407
		v[i] = float32(int32(seed>>33) % (peak + 1))
		if seed>>32&1 == 0 {
			v[i] = -v[i]
		}
	}
	v[int(seed%testDim)] = float32(peak)
	return v
}

func (w *world) drawEntries(t *rapid.T, part int) []Entry {
	n := rapid.IntRange(1, 12).Draw(t, "chunks")
	var out []Entry
	for range n {
		w.next[part] += rapid.Uint64Range(1, 3).Draw(t, "gap")
		id := pb.NodeID(fmt.Sprintf("node-%d-%d", part, rapid.IntRange(0, 25).Draw(t, "node")))
		out = append(out, Entry{
			Seq: w.next[part], Node: w.node(t, id), Vector: drawVector(t, maxRow), Passage: drawPassage(t),
		})
	}
	return out
}

// node gives each id one description for all time, as nodes in a segment share it.
func (w *world) node(t *rapid.T, id pb.NodeID) Node {
	if n, ok := w.nodes[id]; ok {
		return n
	}
	n := Node{
		ID: id, Kind: rapid.SampledFrom([]string{"document", "belief", "event"}).Draw(t, "kind"),
		CreatedMs: rapid.Int64Range(-50, 50).Draw(t, "created"),
	}
	for _, v := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "attrs") {
		n.Attrs = append(n.Attrs, AttrHash("team", v))
	}
	n.Turn = rapid.IntRange(0, 2).Draw(t, "turn") > 0
	if rapid.IntRange(0, 3).Draw(t, "timed") > 0 {
		n.OccurredMs = rapid.Int64Range(1, 4).Draw(t, "occurred") * 2_000_000
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
					e.Vector = drawVector(t, maxRow)
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
	q := &Query{
		Mode: rapid.SampledFrom([]Mode{Hybrid, VectorOnly, KeywordOnly}).Draw(t, "mode"), Config: DefaultConfig(),
		N: MaxCandidates,
	}
	for range rapid.IntRange(0, 2).Draw(t, "windows") {
		from := rapid.SampledFrom([]int64{-50, 0, 2_000_000, 5_000_000}).Draw(t, "from")
		until := from + rapid.SampledFrom([]int64{30, 1_000_000, 4_000_000}).Draw(t, "long")
		q.When.Windows = append(q.When.Windows, Window{FromMs: from, UntilMs: until})
	}
	if rapid.Bool().Draw(t, "mentioned") {
		q.When.Mentioned = func(part int, id pb.NodeID) bool { return part == 0 && strings.HasSuffix(string(id), "3") }
	}
	q.Config.ContextDocs = MaxCandidates // bounds are for speed; the reference has none
	for _, term := range rapid.SliceOfNDistinct(rapid.Uint64Range(1, 33), 0, 5, rapid.ID[uint64]).Draw(t, "words") {
		alts := []text.Term{text.Term(term * 0x9E3779B97F4A7C15)}
		if term%5 == 0 {
			alts = append(alts, text.Term((term+100)*0x9E3779B97F4A7C15))
		}
		q.Terms = append(q.Terms, text.QueryTerm{Alts: alts, Weight: float32(term%3+1) / 2, Optional: term%4 == 0})
	}
	if v := drawVector(t, maxQuery); v != nil {
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
				if math.Abs(float64(c.Vector-cosineOr0(q.Vectors["m"], r.Vector))) > 1e-5 {
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
