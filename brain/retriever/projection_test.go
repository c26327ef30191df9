package retriever

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

func randomUnit(r *rand.Rand, dim int) []float32 {
	v, length := make([]float32, dim), 0.0
	for i := range v {
		x := r.NormFloat64()
		v[i], length = float32(x), length+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

// TestProjectionGradient compares the derivatives with differences of the loss.
func TestProjectionGradient(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	const dim = 12
	at := make([]float64, 2*projectionRank*dim)
	for i := range at {
		at[i] = 0.3 * r.NormFloat64()
	}
	unit := func() []float32 { return randomUnit(r, dim) }
	c := Confused{Query: unit(), Right: [][]float32{unit(), unit()}, Others: [][]float32{unit(), unit(), unit()}}
	grad := make([]float64, len(at))
	var w projecting
	w.loss(at, &c, grad)
	for k := range at {
		const h = 3e-3 // the vectors are multiplied in float32
		was := at[k]
		at[k] = was + h
		up := w.loss(at, &c, nil)
		at[k] = was - h
		down := w.loss(at, &c, nil)
		at[k] = was
		if want := (up - down) / (2 * h); math.Abs(grad[k]-want) > 2e-3*(1+math.Abs(want)) {
			t.Errorf("number %d: derivative %v, by differences %v", k, grad[k], want)
		}
	}
}

// moved are questions whose answers lie elsewhere than they do, always in the same
// way; with noise they lie anywhere.
func moved(n int, noise bool) (out []Confused) {
	const dim = 16
	r := rand.New(rand.NewPCG(3, 4))
	for range n {
		c := Confused{Query: randomUnit(r, dim)}
		right := slices.Clone(c.Query)
		right[0], right[1] = -right[1], right[0]
		right[2], right[3] = -right[3], right[2]
		if noise {
			right = randomUnit(r, dim)
		}
		c.Right = [][]float32{right}
		for range 6 {
			near := randomUnit(r, dim)
			for i := range near {
				near[i] = 0.8*c.Query[i] + 0.6*near[i]
			}
			c.Others = append(c.Others, near)
		}
		out = append(out, c)
	}
	return out
}

func projected(learn, check []Confused) (*Projection, float64) {
	p := NewProjector(16, learn, check, 5)
	for !p.Step() {
	}
	return p.Projection("model"), p.Gain()
}

// TestProjector: what is always so is learned, the same twice; what is not helps with
// nothing that was held out, and is no projection.
func TestProjector(t *testing.T) {
	t.Parallel()

	all := moved(600, false)
	p, gain := projected(all[:500], all[500:])
	if p == nil || gain < 0.2 {
		t.Fatalf("%v, gained %v", p, gain)
	}
	nearer := 0
	for _, c := range all[500:] {
		to := p.Apply(c.Query)
		length, before, after := 0.0, 0.0, 0.0
		for i, x := range to {
			length += float64(x) * float64(x)
			before += float64(c.Query[i]) * float64(c.Right[0][i])
			after += float64(x) * float64(c.Right[0][i])
		}
		if math.Abs(length-1) > 1e-5 {
			t.Fatalf("a projected vector has length² %v", length)
		}
		if after > before {
			nearer++
		}
	}
	if nearer < 90 {
		t.Errorf("%d of 100 questions are nearer to their answers", nearer)
	}
	if q, _ := projected(all[:500], all[500:]); !slices.Equal(p.at, q.at) {
		t.Error("the same questions gave another projection")
	}
	if p.Apply(make([]float32, 15)) != nil {
		t.Error("a vector of another length is projected")
	}

	if p, gain := projected(nil, all); p != nil || gain != 0 {
		t.Errorf("of nothing: %v, gained %v", p, gain)
	}
	lost := moved(40, true)
	for i := range lost { // those that check know that the answer is where it was
		lost[i].Right = [][]float32{lost[i].Query}
	}
	if p, gain := projected(all[:100], lost); p != nil {
		t.Errorf("of what does not hold for the checks: gained %v", gain)
	}
}

// TestStoredProjection: what is stored is the same projection; what is damaged is
// refused.
func TestStoredProjection(t *testing.T) {
	t.Parallel()

	all := moved(100, false)
	p, _ := projected(all[:80], all[80:])
	raw, err := proto.Marshal(p.Message())
	if err != nil {
		t.Fatal(err)
	}
	var m pb.BrainProjection
	if err := proto.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	read, err := ProjectionFrom(&m)
	if err != nil || read.Model() != "model" || !slices.Equal(read.Apply(all[0].Query), p.Apply(all[0].Query)) {
		t.Errorf("read %v, %v", read, err)
	}
	if none, err := ProjectionFrom((*Projection)(nil).Message()); none != nil || err != nil {
		t.Errorf("none is %v, %v", none, err)
	}
	for what, damage := range map[string]func(m *pb.BrainProjection){
		"model":    func(m *pb.BrainProjection) { m.Model = "" },
		"no dim":   func(m *pb.BrainProjection) { m.Dim, m.Numbers = 0, nil },
		"dim":      func(m *pb.BrainProjection) { m.Dim++ },
		"long":     func(m *pb.BrainProjection) { m.Dim, m.Numbers = 1<<20, make([]float32, 1<<20) },
		"NaN":      func(m *pb.BrainProjection) { m.Numbers[3] = float32(math.NaN()) },
		"infinite": func(m *pb.BrainProjection) { m.Numbers[3] = float32(math.Inf(-1)) },
		"fewer":    func(m *pb.BrainProjection) { m.Numbers = m.Numbers[1:] },
	} {
		c := proto.Clone(p.Message()).(*pb.BrainProjection)
		damage(c)
		if _, err := ProjectionFrom(c); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestFurtherSeeds: what is near to the projected question is walked from and counts,
// but neither behind a shut gate, nor where it counts nothing, nor when it is gone.
func TestFurtherSeeds(t *testing.T) {
	t.Parallel()

	src := village(60, 3)
	g := NewGraph(src, testSalt)
	w := NewWalk(g, testSalt)
	q := asked(g, src, "who kept bees")
	q.Seeds = q.Seeds[:5]
	var far []int32 // what search did not find
	for p := int32(0); len(far) < 12; p++ {
		if !slices.ContainsFunc(q.Seeds, func(s Seed) bool { return s.Passage == p }) {
			far = append(far, p)
		}
	}
	looked := 0
	q.Further = func() (hits []Hit) {
		looked++
		for i, p := range far {
			hits = append(hits, Hit{Passage: p, Likeness: 0.9 - 0.02*float32(i)})
		}
		return hits
	}
	rank := func(p *Parameters) ([]Ranked, int) {
		w.Forward(p, &q)
		return w.Passages(60), looked
	}
	total := func(ranked []Ranked, p int32) float64 {
		for _, r := range ranked {
			if r.Passage == p {
				return r.Total
			}
		}
		return math.Inf(-1)
	}

	p := Prior()
	before, n := rank(&p)
	if n != 0 {
		t.Fatalf("looked %d times for what counts nothing", n)
	}
	for _, counts := range [][furtherFeatures]float64{{furtherStart: 1}, {furtherNear: 1}} {
		p.Further = counts
		after, _ := rank(&p)
		if a, b := total(before, far[0]), total(after, far[0]); b <= a || math.IsInf(b, -1) {
			t.Errorf("%v: the nearest is at %v, and was at %v", counts, b, a)
		}
	}
	p.Further = [furtherFeatures]float64{furtherStart: 1}
	from := false
	rank(&p)
	for _, m := range w.moves {
		from = from || m.step == 2 && w.isPassage(m.from) && w.nodes[m.from] == far[0]
	}
	if !from {
		t.Error("the walk did not go on from the nearest")
	}

	q.Score = func(score func([]int32) []Seed) func([]int32) []Seed {
		return func(ps []int32) []Seed {
			return slices.DeleteFunc(score(ps), func(s Seed) bool { return s.Passage == far[0] })
		}
	}(q.Score)
	if after, _ := rank(&p); !math.IsInf(total(after, far[0]), -1) {
		t.Error("what is gone was found")
	}

	looked = 0
	p.Gate[gateAlways] = -20
	shut, n := rank(&p)
	q.Further = nil
	if without, _ := rank(&p); n != 0 || !slices.Equal(shut, without) {
		t.Errorf("behind a shut gate, looked %d times: %v, and without a projection %v", n, shut, without)
	}
}

// TestTrainingOfFurther: what is near to the projected question counts where it answers
// the checks better. Where it does not it counts nothing, and what else is learned is the
// same either way.
func TestTrainingOfFurther(t *testing.T) {
	t.Parallel()

	src := village(60, 1)
	g := NewGraph(src, testSalt)
	train := func(near func(e *Example, r *rand.Rand) []Hit) (Parameters, *Trainer) {
		var all []Asked
		for i, e := range g.Examples(src, testSalt, 120, 5) {
			a := Asked{Example: e, Question: asked(g, src, e.Text)}
			if near != nil {
				hits := near(&e, rand.New(rand.NewPCG(uint64(i), 1)))
				a.Further = func() []Hit { return hits }
			}
			all = append(all, a)
		}
		tr := NewTrainer(g, testSalt, all[:80], all[80:])
		for last := 0.0; !tr.Step(); last = tr.Progress() {
			if tr.Progress() < last || tr.Progress() >= 1 {
				t.Fatalf("progress %v behind %v", tr.Progress(), last)
			}
		}
		return tr.Best(), tr
	}
	anywhere := func(r *rand.Rand) (hits []Hit) {
		for i, p := range r.Perm(len(g.docOf))[:20] {
			hits = append(hits, Hit{Passage: int32(p), Likeness: 0.5 - 0.01*float32(i)})
		}
		return hits
	}
	without, _ := train(nil)
	useless, tr := train(func(_ *Example, r *rand.Rand) []Hit { return anywhere(r) })
	if useless != without {
		mean, spread := tr.Gained()
		t.Errorf("hits at random count %v, having gained %v ± %v", useless.Further, mean, spread)
	}
	useful, tr := train(func(e *Example, r *rand.Rand) []Hit {
		hits := anywhere(r)
		for i, p := range e.Answers {
			hits = slices.DeleteFunc(hits, func(h Hit) bool { return h.Passage == p })
			hits = slices.Insert(hits, i, Hit{Passage: p, Likeness: 0.8})
		}
		return hits
	})
	if mean, spread := tr.Gained(); !useful.Projects() || mean <= spread {
		t.Errorf("answers count %v, having gained %v ± %v", useful.Further, mean, spread)
	}
	useful.Further = without.Further
	if useful != without {
		t.Error("what else is learned depends on the projection")
	}
}
