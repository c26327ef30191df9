package insight

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// memory builds an input: domains of texts that hold together.
type memory struct{ Input }

func (m *memory) domain(label string, texts int) (d int32) {
	d = int32(len(m.Domains))
	m.Domains = append(m.Domains, Domain{Label: label})
	from := int32(len(m.Nodes))
	r := rand.New(rand.NewPCG(uint64(d), 7))
	for v := range int32(texts) {
		m.text(d, int64(v)*dayMS+1)
		for range min(v, 4) {
			m.tie(from+v, from+r.Int32N(v), 0.4+0.3*r.Float32())
		}
	}
	return d
}

func (m *memory) text(d int32, at int64) int32 {
	v := int32(len(m.Nodes))
	m.Nodes = append(m.Nodes, Node{Title: fmt.Sprintf("text %d", v), Domain: d, AtMS: at, Bytes: 500})
	m.NowMS = max(m.NowMS, at)
	return v
}

func (m *memory) tie(a, b int32, w float32) { m.Edges = append(m.Edges, Edge{a, b, w}) }

func kinds(all []Insight, kind string) (out []Insight) {
	for _, i := range all {
		if i.Kind == kind {
			out = append(out, i)
		}
	}
	return out
}

// Ten texts a day for a hundred days: one domain comes up, one goes down, the
// others only vary.
func TestRisingAndFading(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m memory
	for d := range 6 {
		m.Domains = append(m.Domains, Domain{Label: fmt.Sprintf("topic %d", d)})
	}
	for day := range 100 {
		for range 10 {
			d := 2 + r.Int32N(4)
			switch x := r.Float64(); {
			case day >= 80 && x < 0.3:
				d = 0
			case day < 80 && x < 0.2:
				d = 1
			}
			m.text(d, int64(day)*dayMS+1+r.Int64N(dayMS))
		}
	}
	all := Find(m.Input)
	up, down := kinds(all, KindRising), kinds(all, KindFading)
	if len(up) != 1 || up[0].Domains[0] != 0 || up[0].Title != "“topic 0” is rising" || up[0].Confidence < 0.9 {
		t.Errorf("rising: %+v", up)
	}
	if len(down) != 1 || down[0].Domains[0] != 1 || down[0].ByNode() {
		t.Errorf("fading: %+v", down)
	}
	if !strings.Contains(up[0].Detail, "last 20 days") || !strings.Contains(up[0].Detail, "nothing") {
		t.Errorf("detail %q", up[0].Detail)
	}
	for _, i := range slices.Concat(up, down) {
		for _, v := range i.Nodes {
			if m.Nodes[v].Domain != i.Domains[0] {
				t.Errorf("%q rests on a text of another domain", i.Title)
			}
		}
	}
	// What is dated in the future has not been written.
	m.NowMS = 60 * dayMS
	if got := kinds(Find(m.Input), KindRising); len(got) != 0 {
		t.Errorf("on day 60: %+v", got)
	}
}

// Where all grows alike, and by chance alone, nothing rises or fades: of 100 such
// memories with ten domains each, twenty or so may say otherwise.
func TestChanceIsNoTrend(t *testing.T) {
	said := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		var m memory
		for range 10 {
			m.Domains = append(m.Domains, Domain{})
		}
		for range 400 {
			m.text(r.Int32N(10), 1+int64(math.Sqrt(r.Float64())*100*dayMS))
		}
		all := Find(m.Input)
		if len(kinds(all, KindRising))+len(kinds(all, KindFading)) > 0 {
			said++
		}
	}
	if said > 30 {
		t.Errorf("%d of 100 memories without trends have one", said)
	}
}

func TestOutlier(t *testing.T) {
	var m memory
	m.domain("Sailing", 60)
	if got := kinds(Find(m.Input), KindOutlier); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	odd := m.text(None, 9)
	short := m.text(None, 9)
	m.Nodes[short].Bytes = 10
	got := kinds(Find(m.Input), KindOutlier)
	if len(got) != 1 || got[0].Nodes[0] != odd || !got[0].ByNode() || got[0].Confidence < 0.5 {
		t.Fatalf("%+v", got)
	}
	// An entity that only it mentions is no company, and where many stand alone
	// nobody stands out.
	e := int32(len(m.Nodes))
	m.Nodes = append(m.Nodes, Node{Entity: true, Domain: None})
	m.tie(odd, e, 1)
	if got := kinds(Find(m.Input), KindOutlier); len(got) != 1 || len(got[0].Nodes) != 1 {
		t.Errorf("%+v", got)
	}
	for range 100 {
		m.text(None, 9)
	}
	if got := kinds(Find(m.Input), KindOutlier); len(got) != 0 {
		t.Errorf("%d outliers where most stand alone", len(got))
	}
}

// What is said in a talk does not stand alone: it is about what was said a minute before. A day is no such time.
func TestNothingStandsAloneInATalk(t *testing.T) {
	const minute = 60_000
	for _, x := range []struct {
		odd, before int64
		alone       bool
	}{
		{5*dayMS + 90*minute, 5*dayMS + 89*minute, false},
		{5*dayMS + 90*minute, 5*dayMS + 9*minute, true},
		{5 * dayMS, 5 * dayMS, true},
		{0, 0, true},
	} {
		var m memory
		m.domain("Sailing", 60)
		odd := m.text(None, 9)
		m.Nodes[odd].SaidMS, m.Nodes[3].SaidMS = x.odd, x.before
		if got := kinds(Find(m.Input), KindOutlier); len(got) == 1 != x.alone {
			t.Errorf("said at %d, another text at %d: %+v", x.odd, x.before, got)
		}
	}
}

func TestEmptyMemory(t *testing.T) {
	if got := Find(Input{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := Find(Input{Nodes: make([]Node, 50), NowMS: 1}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestInsightsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 80).Draw(t, "nodes")
		domains := rapid.IntRange(0, 5).Draw(t, "domains")
		in := Input{Domains: make([]Domain, domains), NowMS: rapid.Int64Range(0, 100*dayMS).Draw(t, "now")}
		for i := range in.Domains {
			in.Domains[i].Label = fmt.Sprint("d", i)
		}
		for range n {
			in.Nodes = append(in.Nodes, Node{
				Domain: rapid.Int32Range(None, int32(domains)).Draw(t, "domain"),
				AtMS:   rapid.Int64Range(-1, 100*dayMS).Draw(t, "at"),
				Entity: rapid.Bool().Draw(t, "entity"), Bytes: rapid.SampledFrom([]int{0, 200}).Draw(t, "bytes"),
			})
		}
		for range rapid.IntRange(0, 200).Draw(t, "edges") {
			in.Edges = append(in.Edges, Edge{
				rapid.Int32Range(-1, int32(n)).Draw(t, "a"), rapid.Int32Range(-1, int32(n)).Draw(t, "b"),
				rapid.Float32Range(-0.1, 1).Draw(t, "w"),
			})
		}
		all := Find(in)
		counts := map[string]int{}
		seen := map[string]bool{}
		for k, i := range all {
			counts[i.Kind]++
			if counts[i.Kind] > MaxPerKind || !(i.Confidence > 0 && i.Confidence <= 1) || i.Title == "" || i.Detail == "" ||
				len(i.Nodes) == 0 || len(i.Nodes) > MaxNodes {
				t.Fatalf("%+v", i)
			}
			if k > 0 && all[k-1].Kind == i.Kind && all[k-1].Confidence < i.Confidence {
				t.Fatal("the surest do not come first")
			}
			for _, v := range i.Nodes {
				if v < 0 || int(v) >= n {
					t.Fatalf("node %d", v)
				}
			}
			for _, d := range i.Domains {
				if d < 0 || int(d) >= domains {
					t.Fatalf("domain %d", d)
				}
			}
			key := fmt.Sprint(i.Kind, i.Domains)
			if i.Kind == KindOutlier {
				key = fmt.Sprint(i.Kind, i.Nodes[0])
			}
			if seen[key] {
				t.Fatalf("%s was told twice", key)
			}
			seen[key] = true
		}
		if fmt.Sprint(Find(in)) != fmt.Sprint(all) {
			t.Fatal("the same memory gave other insights")
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var m memory
	for d := range 60 {
		m.domain(fmt.Sprint(d), 170)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 60_000 {
		m.tie(r.Int32N(int32(len(m.Nodes))), r.Int32N(int32(len(m.Nodes))), 0.3)
	}
	for b.Loop() {
		Find(m.Input)
	}
}
