package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// cpuTime is the CPU this process has used. The machine is shared, so elapsed
// time says little; benchmarks report cpu-ns/op beside it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs f as the body of a benchmark and reports CPU per operation.
func measure(b *testing.B, per int, unit string, f func()) {
	b.Helper()
	b.ReportAllocs()
	f()
	runtime.GC()
	from, n := cpuTime(), 0
	for b.Loop() {
		f()
		n++
	}
	b.ReportMetric(float64((cpuTime()-from).Nanoseconds())/float64(n*per), unit)
}

const benchDim = 384

// benchEntries makes chunks with about a hundred words of a Zipf distribution,
// of which the fifty most frequent count as stop words, and random vectors.
func benchEntries(n int, turns bool) []Entry {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	zipf := rand.NewZipf(r, 1.1, 4, 400_000)
	out := make([]Entry, n)
	for i := range out {
		counts := map[text.Term]int{}
		p := text.Passage{Langs: 1 << text.English}
		for range 60 + r.IntN(100) {
			z := zipf.Uint64()
			t := benchTerm(z)
			counts[t]++
			if z >= 50 {
				p.Words++
				p.Sequence = append(p.Sequence, t)
			}
		}
		for t, c := range counts {
			p.Terms = append(p.Terms, text.TermFreq{Term: t, Body: uint16(c)})
		}
		slices.SortFunc(p.Terms, func(x, y text.TermFreq) int {
			if x.Term < y.Term {
				return -1
			}
			return 1
		})
		v := make([]float32, benchDim)
		for k := range v {
			v[k] = float32(r.NormFloat64())
		}
		doc := i / 3
		if turns {
			doc = i
		}
		out[i] = Entry{Seq: uint64(i + 1), Vector: v, Passage: p, Node: Node{
			ID: pb.NodeID(fmt.Sprintf("document:8c0f6a52-7b7e-4f0c-9b68-3f4d8e1b2a%06x", doc)), Kind: "document",
			CreatedMs: int64(i), Attrs: []uint64{AttrHash("team", fmt.Sprint(doc%10))}, Turn: turns,
		}}
	}
	return out
}

func benchTerm(z uint64) text.Term { return text.Term((z + 1) * 0x9E3779B97F4A7C15) }

func benchQuery(r *rand.Rand, mode Mode) *Query {
	q := &Query{Mode: mode, Config: DefaultConfig()}
	for range 5 {
		q.Terms = append(q.Terms, text.QueryTerm{Alts: []text.Term{benchTerm(50 + uint64(r.IntN(3000)))}, Weight: 1})
	}
	v := make([]float32, benchDim)
	for k := range v {
		v[k] = float32(r.NormFloat64())
	}
	q.Vectors = map[ModelID][]float32{"m": v}
	return q
}

var benchCache sync.Map

func benchSegment(b *testing.B, n int, turns bool) *Segment {
	type key struct {
		n     int
		turns bool
	}
	if s, ok := benchCache.Load(key{n, turns}); ok {
		return s.(*Segment)
	}
	bld := NewBuilder("m", benchDim)
	for _, e := range benchEntries(n, turns) {
		if err := bld.Add(e); err != nil {
			b.Fatal(err)
		}
	}
	s, err := bld.Build()
	if err != nil {
		b.Fatal(err)
	}
	benchCache.Store(key{n, turns}, s)
	return s
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		for name, mode := range map[string]Mode{"hybrid": Hybrid, "keyword": KeywordOnly, "vector": VectorOnly} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				snaps := []*Snapshot{(&Snapshot{}).With(0, benchSegment(b, n, false))}
				r := rand.New(rand.NewPCG(2, 2))
				queries := make([]*Query, 64)
				for i := range queries {
					queries[i] = benchQuery(r, mode)
				}
				var sc Scratch
				i := 0
				measure(b, 1, "cpu-ns/op", func() {
					q := queries[i%len(queries)]
					i++
					Fuse(sc.Candidates(snaps, q), nil, q, 10)
				})
			})
		}
	}
}

func BenchmarkSearchVariants(b *testing.B) {
	const n = 10_000
	r := rand.New(rand.NewPCG(3, 3))
	for name, f := range map[string]func() ([]*Snapshot, func(q *Query)){
		"turns": func() ([]*Snapshot, func(q *Query)) {
			return []*Snapshot{(&Snapshot{}).With(0, benchSegment(b, n, true))}, nil
		},
		"team": func() ([]*Snapshot, func(q *Query)) {
			return []*Snapshot{(&Snapshot{}).With(0, benchSegment(b, n, false))}, func(q *Query) {
				q.Filter.Attrs = []uint64{AttrHash("team", "3")}
			}
		},
		"forgot": func() ([]*Snapshot, func(q *Query)) {
			return []*Snapshot{(&Snapshot{}).With(0, benchSegment(b, n, false)).ForgetSeqs(5, 500, 5000)}, nil
		},
		"1000x10": func() ([]*Snapshot, func(q *Query)) {
			bld := NewBuilder("m", benchDim)
			for _, e := range benchEntries(10, false) {
				if err := bld.Add(e); err != nil {
					b.Fatal(err)
				}
			}
			seg, err := bld.Build()
			if err != nil {
				b.Fatal(err)
			}
			return slices.Repeat([]*Snapshot{(&Snapshot{}).With(0, seg)}, 1000), nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			snaps, edit := f()
			queries := make([]*Query, 64)
			for i := range queries {
				queries[i] = benchQuery(r, Hybrid)
				if edit != nil {
					edit(queries[i])
				}
			}
			var sc Scratch
			i := 0
			measure(b, 1, "cpu-ns/op", func() {
				q := queries[i%len(queries)]
				i++
				Fuse(sc.Candidates(snaps, q), nil, q, 10)
			})
		})
	}
}

func BenchmarkFuseExact(b *testing.B) {
	snaps := []*Snapshot{(&Snapshot{}).With(0, benchSegment(b, 10_000, false))}
	q := benchQuery(rand.New(rand.NewPCG(4, 4)), Hybrid)
	var sc Scratch
	cands := sc.Candidates(snaps, q)
	exact := make([][]float32, 50)
	for i := range exact {
		exact[i] = q.Vectors["m"]
	}
	measure(b, 1, "cpu-ns/op", func() { Fuse(cands, exact, q, 10) })
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			entries := benchEntries(n, false)
			measure(b, n, "cpu-ns/chunk", func() {
				bld := NewBuilder("m", benchDim)
				for _, e := range entries {
					if err := bld.Add(e); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := bld.Build(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	entries := benchEntries(16_000, false)
	var s Snapshot
	snap := &s
	for from := 0; from < len(entries); from += 2000 {
		bld := NewBuilder("m", benchDim)
		for _, e := range entries[from : from+2000] {
			if err := bld.Add(e); err != nil {
				b.Fatal(err)
			}
		}
		seg, err := bld.Build()
		if err != nil {
			b.Fatal(err)
		}
		snap = snap.With(0, seg)
	}
	measure(b, len(entries), "cpu-ns/chunk", func() {
		if _, err := Merge(snap.Views); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := benchSegment(b, n, false)
			b.ReportMetric(float64(s.Size())/float64(n), "B/chunk")
			measure(b, 1, "cpu-ns/op", func() {
				if _, err := OpenSegment(s.data); err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(s.Size())/float64(n), "B/chunk")
			b.ReportMetric(float64(len(s.postings))/float64(n), "postings-B/chunk")
			b.ReportMetric(float64(12*len(s.dict))/float64(n), "dict-B/chunk")
			b.ReportMetric(float64(len(s.wordSeqs))/float64(n), "words-B/chunk")
		})
	}
}
