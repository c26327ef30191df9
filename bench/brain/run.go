package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// asked is a question with what search says to it.
type asked struct {
	retriever.Question
	m    *memory
	v    []float32
	hits []retriever.Hit // what is nearest to it when it is projected
	near map[int32]retriever.Seed
}

// ask searches for some texts.
func (m *memory) ask(all []string) ([]*asked, error) {
	vectors, err := m.embed(all, true)
	if err != nil {
		return nil, err
	}
	out := make([]*asked, len(all))
	model := index.ModelID(m.encoder.ID())
	inParallel(len(all), 16, func() func(int, int) {
		var scratch index.Scratch
		var analyzer text.Analyzer
		return func(from, to int) {
			for i := from; i < to; i++ {
				a := &asked{m: m, v: vectors[i], near: map[int32]retriever.Seed{}}
				a.Text, a.Score = all[i], a.score
				q := &index.Query{
					Terms: analyzer.Query(all[i], m.snapshot.Langs()), Config: index.DefaultConfig(), N: brainCandidates,
					Vectors: map[index.ModelID][]float32{model: vectors[i]}, Lines: map[index.ModelID]index.Line{model: m.line},
				}
				for _, c := range scratch.Candidates([]*index.Snapshot{m.snapshot}, q) {
					s := retriever.Seed{Passage: int32(c.Seq - 1), Cosine: c.Vector, Keyword: c.Keyword, Score: c.Score}
					a.near[s.Passage] = s
					a.Seeds = append(a.Seeds, s)
				}
				scratch.Reset()
				slices.SortStableFunc(a.Seeds, func(x, y retriever.Seed) int {
					return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Passage, y.Passage))
				})
				a.Seeds = a.Seeds[:min(len(a.Seeds), brainSeeds)]
				out[i] = a
			}
		}
	})
	return out, nil
}

func (a *asked) score(passages []int32) []retriever.Seed {
	out := make([]retriever.Seed, 0, len(passages))
	for _, p := range passages {
		s, ok := a.near[p]
		if !ok {
			s = retriever.Seed{Passage: p, Cosine: a.m.line.Factor*data.Dot(a.v, a.m.vectors[p]) + a.m.line.Offset}
			s.Score = s.Cosine
			a.near[p] = s
		}
		out = append(out, s)
	}
	return out
}

// byCosine gives the documents that are nearest in meaning.
func (a *asked) byCosine() []int32 {
	type near struct {
		p int32
		c float32
	}
	all := make([]near, len(a.m.vectors))
	for p, v := range a.m.vectors {
		all[p] = near{int32(p), data.Dot(a.v, v)}
	}
	slices.SortFunc(all, func(x, y near) int { return cmp.Or(cmp.Compare(y.c, x.c), cmp.Compare(x.p, y.p)) })
	out := make([]int32, brainSeeds)
	for i := range out[:min(len(out), len(all))] {
		out[i] = all[i].p
	}
	return a.m.documents(out)
}

// bySearch gives the documents that hybrid search finds.
func (a *asked) bySearch() []int32 {
	var out []int32
	for _, s := range a.Seeds {
		out = append(out, s.Passage)
	}
	return a.m.documents(out)
}

// documents gives the first ten documents of some passages.
func (m *memory) documents(passages []int32) []int32 {
	const most = 10
	var out []int32
	for _, p := range passages {
		if d := m.docOf[p]; !slices.Contains(out, d) && len(out) < most {
			out = append(out, d)
		}
	}
	return out
}

// result is what a variant is worth.
type result struct {
	marks
	judges         retriever.Marks
	training, walk time.Duration
	kinds          []kind
	calibration    string
	projection     projected
	// beyond is what the walk is worth beyond search, on each question.
	beyond []marks
}

// projected is what the projection of the last training has come to.
type projected struct {
	alone          float64 // by how many nats it alone makes the answers likelier, on the checks
	gained, spread float64 // and behind the gate, with the standard error
	counts         [2]float64
	recall5        float64 // of the projected questions by likeness alone
}

func (p projected) String() string {
	return fmt.Sprintf("    projection: %+.4f nats by itself, %+.5f ± %.5f in the walk, counts %.3f and %.3f; recall@5 "+
		"by it alone %.3f\n", p.alone, p.gained, p.spread, p.counts[0], p.counts[1], p.recall5)
}

// marks are what a ranking is worth, on one question or in the mean.
type marks struct{ recall5, mrr, ndcg float64 }

type kind struct {
	name   string
	n      int
	recall float64
}

func (r *result) add(x result, share float64) {
	r.recall5 += share * x.recall5
	r.mrr += share * x.mrr
	r.ndcg += share * x.ndcg
	r.judges.Recall += share * x.judges.Recall
	r.judges.Reciprocal += share * x.judges.Reciprocal
	r.training += time.Duration(share * float64(x.training))
	r.walk += time.Duration(share * float64(x.walk))
	r.kinds, r.calibration, r.beyond, r.projection = x.kinds, x.calibration, x.beyond, x.projection
}

// paired tells what the walk gains beyond search, with the standard error over the
// questions.
func (r *result) paired() string {
	if len(r.beyond) == 0 {
		return ""
	}
	one := func(of func(marks) float64) string {
		n := float64(len(r.beyond))
		mean, square, won, lost := 0.0, 0.0, 0, 0
		for _, x := range r.beyond {
			v := of(x)
			mean += v / n
			square += v * v / n
			if v > 0 {
				won++
			} else if v < 0 {
				lost++
			}
		}
		return fmt.Sprintf("%+.4f ± %.4f (won %d, lost %d)", mean, math.Sqrt((square-mean*mean)/n), won, lost)
	}
	return fmt.Sprintf("    beyond search: recall@5 %s, MRR@10 %s, nDCG@10 %s\n",
		one(func(m marks) float64 { return m.recall5 }), one(func(m marks) float64 { return m.mrr }),
		one(func(m marks) float64 { return m.ndcg }))
}

const (
	// Those of the service (actors/training/brain_train.go).
	maxExamples        = 2000
	examplesPerPassage = 8
	judgeTenths        = 2
	checkTenths        = 1
)

// run trains a variant and asks it the set's questions.
func (m *memory) run(v variant, seed uint64) result {
	if v.rank != nil {
		var r result
		questions := m.questioned()
		for i, q := range questions {
			r.mark(&m.questions[i], m.names(v.rank(q)))
		}
		r.mean(len(questions))
		return r
	}
	src := m.source
	src.Documents, src.Entities, src.Ties = slices.Clone(src.Documents), slices.Clone(src.Entities), slices.Clone(src.Ties)
	if v.source != nil {
		v.source(&src)
	}
	began := time.Now()
	g := retriever.NewGraph(&src, salt)
	whole := g
	examples := whole.Examples(&src, salt, min(maxExamples, examplesPerPassage*len(m.docOf)), seed)
	if v.graph != nil {
		g = v.graph(g)
	}
	var texts []string
	for _, e := range examples {
		texts = append(texts, e.Text)
	}
	made, err := m.ask(texts)
	exitOn(err)
	judges, checks := len(made)*judgeTenths/10, len(made)*checkTenths/10
	learn := len(made) - judges - checks
	questions := m.questioned()
	var r result
	if !v.plain {
		var p *retriever.Projection
		p, r.projection.alone = m.project(g, examples, made[:learn], made[learn:learn+checks], seed)
		m.further(made, p)
		m.further(questions, p)
	}
	all := make([]retriever.Asked, len(made))
	for i, a := range made {
		all[i] = retriever.Asked{Example: examples[i], Question: a.Question}
	}
	params := retriever.Prior()
	if !v.untrained {
		t := retriever.NewTrainer(g, salt, all[:learn], all[learn:learn+checks])
		for !t.Step() {
		}
		params = t.Best()
		r.projection.gained, r.projection.spread = t.Gained()
		r.projection.counts = params.Further
	}
	if v.gate != 0 {
		params.Gate = [len(params.Gate)]float64{v.gate}
	}
	r.training = time.Since(began)
	w := retriever.NewWalk(g, salt)
	for i := range all[len(all)-judges:] {
		mark := w.Mark(&params, &all[len(all)-judges+i])
		r.judges.Recall += mark.Recall / float64(judges)
		r.judges.Reciprocal += mark.Reciprocal / float64(judges)
	}
	took := make([]time.Duration, 0, len(questions))
	var gate calibration
	for i, q := range questions {
		q.Budget = walkBudget
		began := time.Now()
		w.Forward(&params, &q.Question)
		found := w.Passages(10)
		took = append(took, time.Since(began))
		docs := make([]int32, len(found))
		for k, x := range found {
			docs[k] = m.docOf[x.Passage]
		}
		mine := r.mark(&m.questions[i], m.names(docs))
		var alone result
		search := alone.mark(&m.questions[i], m.names(q.bySearch()))
		gate.add(w.Confidence(), mine.recall5, search.recall5)
		if len(q.hits) > 0 {
			r.projection.recall5 += alone.mark(&m.questions[i], m.names(q.byProjection())).recall5 / float64(len(questions))
		}
		r.beyond = append(r.beyond, marks{mine.recall5 - search.recall5, mine.mrr - search.mrr, mine.ndcg - search.ndcg})
	}
	slices.Sort(took)
	r.walk = took[len(took)/2]
	r.mean(len(questions))
	if v.name == "full" {
		r.calibration = gate.String()
	}
	return r
}

// questioned searches for the set's questions.
func (m *memory) questioned() []*asked {
	texts := make([]string, len(m.questions))
	for i, q := range m.questions {
		texts[i] = q.text
	}
	out, err := m.ask(texts)
	exitOn(err)
	return out
}

func (m *memory) names(docs []int32) []pb.NodeID {
	out := make([]pb.NodeID, len(docs))
	for i, d := range docs {
		out[i] = m.source.Documents[d].ID
	}
	return out
}

// mark adds what a ranking is worth, and gives it.
func (r *result) mark(q *question, docs []pb.NodeID) marks {
	recall, first, dcg := 0.0, 0.0, 0.0
	for i, d := range docs {
		g := q.grades[d]
		if g <= 0 {
			continue
		}
		if i < 5 {
			recall += 1 / float64(len(q.grades))
		}
		if first == 0 {
			first = 1 / float64(i+1)
		}
		dcg += g / math.Log2(float64(i+2))
	}
	var ideal []float64
	for _, g := range q.grades {
		ideal = append(ideal, g)
	}
	slices.SortFunc(ideal, func(a, b float64) int { return cmp.Compare(b, a) })
	best := 0.0
	for i, g := range ideal[:min(10, len(ideal))] {
		best += g / math.Log2(float64(i+2))
	}
	one := marks{recall, first, dcg / best}
	r.recall5 += one.recall5
	r.mrr += one.mrr
	r.ndcg += one.ndcg
	i := slices.IndexFunc(r.kinds, func(k kind) bool { return k.name == q.kind })
	if i < 0 {
		i, r.kinds = len(r.kinds), append(r.kinds, kind{name: q.kind})
	}
	r.kinds[i].n++
	r.kinds[i].recall += recall
	return one
}

func (r *result) mean(n int) {
	r.recall5 /= float64(n)
	r.mrr /= float64(n)
	r.ndcg /= float64(n)
}

// calibration says whether the gate stands open where walking helps.
type calibration struct{ rows []calibrated }

type calibrated struct{ open, walked, alone float64 }

func (c *calibration) add(open, walked, alone float64) {
	c.rows = append(c.rows, calibrated{open, walked, alone})
}

// String gives the recall@5 with and without the walk by fifths of the gate.
func (c *calibration) String() string {
	slices.SortFunc(c.rows, func(a, b calibrated) int { return cmp.Compare(a.open, b.open) })
	var out strings.Builder
	const parts = 5
	for i := range parts {
		rows := c.rows[i*len(c.rows)/parts : (i+1)*len(c.rows)/parts]
		if len(rows) == 0 {
			continue
		}
		var walked, alone float64
		for _, r := range rows {
			walked += r.walked / float64(len(rows))
			alone += r.alone / float64(len(rows))
		}
		_, _ = fmt.Fprintf(&out, "    gate %.2f to %.2f: recall@5 %.3f, search alone %.3f\n", rows[0].open,
			rows[len(rows)-1].open, walked, alone)
	}
	return out.String()
}
