package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestSketchKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, MaxDim/rowAlign).Draw(t, "blocks") * rowAlign
		blocks := rapid.IntRange(0, 3).Draw(t, "of rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		q := make([]int16, dim)
		for i := range q {
			q[i] = int16(r.IntN(2*maxQuery+1) - maxQuery)
			if rapid.Bool().Draw(t, "extreme") {
				q[i] = maxQuery // all entries are as large as can be
			}
		}
		var l lookup
		l.prepare(q, 1)
		codes := make([]byte, blocks*len(l.table))
		for i := range codes {
			codes[i] = byte(r.Uint32())
		}
		a, b := make([]uint16, blocks*sketchRows), make([]uint16, blocks*sketchRows)
		sketchDots(l.table, codes, a)
		sketchDotsPortable(l.table, codes, b)
		if !slices.Equal(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
		for row := range b { // nothing has wrapped
			sum := 0
			for j := 0; j < len(l.table); j += 16 {
				c := codes[row/sketchRows*len(l.table)+j+row%16]
				sum += int(l.table[j+int(c>>(row%sketchRows/16*4)&15)])
			}
			if sum != int(b[row]) {
				t.Fatalf("row %d: %d, want %d", row, b[row], sum)
			}
		}
	})
}

func TestDotSomeAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 20).Draw(t, "blocks") * rowAlign
		n := rapid.IntRange(1, 20).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		q, rows := make([]int16, dim), make([]int8, dim*n)
		for i := range q {
			q[i] = int16(r.IntN(2*maxQuery+1) - maxQuery)
		}
		for i := range rows {
			rows[i] = int8(r.IntN(2*maxRow+1) - maxRow)
		}
		var docs []int32
		for range rapid.IntRange(0, 12).Draw(t, "docs") {
			docs = append(docs, int32(r.IntN(n)))
		}
		a, b, all := make([]int32, len(docs)), make([]int32, len(docs)), make([]int32, n)
		dotSome(q, rows, docs, a)
		dotSomePortable(q, rows, docs, b)
		dotRows(q, rows, all)
		if !slices.Equal(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
		for i, doc := range docs {
			if a[i] != all[doc] {
				t.Fatalf("row %d: %d, want %d", doc, a[i], all[doc])
			}
		}
	})
}

// A row's bits are those of the numbers that its components are nearest to.
func TestSketchRowByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := make([]int8, rapid.IntRange(1, 6).Draw(t, "blocks")*rowAlign)
		bytes := raw(row)
		for i := range row {
			row[i] = int8(rapid.IntRange(-maxRow, maxRow).Draw(t, "component"))
		}
		middle := rapid.IntRange(1, maxRow).Draw(t, "middle")
		place := rapid.IntRange(0, sketchRows-1).Draw(t, "place")
		codes := make([]byte, tableLen(len(row)))
		got := sketchRow(bytes, uint8(middle), codes[place%16:], place/16*4)
		var want int32
		for i, x := range row {
			group := codes[i/4*16+place%16] >> (place / 16 * 4) >> (i % 4) & 1
			lower := codes[4*len(row)+i/4*16+place%16] >> (place / 16 * 4) >> (i % 4) & 1
			l := 4*int32(group) + 2*int32(lower) - 3
			near := int32(1)
			if int(max(x, -x)) >= middle {
				near = 3
			}
			if x < 0 {
				near = -near
			}
			if l != near {
				t.Fatalf("component %d is %d: %d, want %d", i, x, l, near)
			}
			want += int32(x) * l
		}
		if got != want {
			t.Fatalf("product %d, want %d", got, want)
		}
	})
}

// sketched makes a segment that has a sketch, of vectors around a few centres as
// those of texts about a few subjects are.
func sketched(t *testing.T, n, dim int) (*Segment, [][]float32) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(dim)))
	centres := make([][]float32, 12)
	for i := range centres {
		centres[i] = make([]float32, dim)
		for k := range centres[i] {
			centres[i][k] = float32(r.NormFloat64())
		}
	}
	entries := benchEntries(n, false)
	b := NewBuilder("m", dim)
	for i, e := range entries {
		e.Vector = make([]float32, dim)
		for k := range e.Vector {
			e.Vector[k] = centres[i%len(centres)][k] + float32(r.NormFloat64())
		}
		if i%50 == 7 {
			e.Vector = nil
		}
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.sketch.inverse) == 0 {
		t.Fatal("no sketch")
	}
	return s, centres
}

// What is found by way of sketches is what is found without them.
func TestSketchesMissNothing(t *testing.T) {
	const n, dim, queries = 4500, 128, 40
	s, centres := sketched(t, n, dim)
	plain := *s
	plain.sketch = sketch{}
	opened, err := OpenSegment(s.AppendBinary(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(opened.sketch.codes, s.sketch.codes) || !slices.Equal(opened.sketch.inverse, s.sketch.inverse) {
		t.Error("an opened segment has another sketch than a built one")
	}
	forgotten := []uint64{3, 100, 101, 4000}
	with, without := (&Snapshot{}).With(0, opened).ForgetSeqs(forgotten...),
		(&Snapshot{}).With(0, &plain).ForgetSeqs(forgotten...)
	r := rand.New(rand.NewPCG(9, 9))
	var sc, ref Scratch
	missed, all := 0, 0
	for i := range queries {
		q := benchQuery(r, []Mode{Hybrid, VectorOnly}[i%2])
		v := make([]float32, dim)
		for k := range v {
			v[k] = centres[i%len(centres)][k] + float32(r.NormFloat64())
		}
		q.Vectors = map[ModelID][]float32{"m": v}
		if i%4 > 1 {
			q.Lines = map[ModelID]Line{"m": {Factor: 1.5, Offset: -0.2}}
		}
		got := map[uint64]Candidate{}
		for _, c := range sc.Candidates([]*Snapshot{with}, q) {
			got[c.Seq] = c
		}
		for _, want := range ref.Candidates([]*Snapshot{without}, q) {
			all++
			c, ok := got[want.Seq]
			if !ok {
				missed++
				continue
			}
			if math.Abs(float64(c.Score-want.Score)) > 1e-6 || c.Vector != want.Vector {
				t.Fatalf("query %d, chunk %d: %+v, want %+v", i, want.Seq, c, want)
			}
		}
		for _, seq := range forgotten {
			if _, ok := got[seq]; ok {
				t.Fatalf("query %d finds the forgotten chunk %d", i, seq)
			}
		}
	}
	if 1000*missed > 2*all {
		t.Errorf("%d of %d are missed", missed, all)
	}
}
