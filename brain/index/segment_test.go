package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// sample is a small segment with everything in it.
func sample(t interface{ Fatal(...any) }) *Segment {
	var a text.Analyzer
	b := NewBuilder("m", 4)
	for i, s := range []string{
		"The pump failed on Monday.", "Ana replaced the pump and the valve.", "Nothing else was found.",
	} {
		err := b.Add(Entry{
			Seq: uint64(10 + i), Vector: []float32{1, float32(i), -2, 0.5}, Passage: a.Passage("Log", s),
			Node: Node{
				ID: pb.NodeID("node:" + s[:3]), Kind: "document", CreatedMs: int64(i), Attrs: []uint64{9, 3}, Turn: i == 1,
				OccurredMs: 77,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSegmentRemembers(t *testing.T) {
	s := sample(t)
	data := s.AppendBinary(nil)
	if len(data) != s.Size() || !bytes.Equal(data, sample(t).AppendBinary(nil)) {
		t.Fatal("the same entries give other bytes")
	}
	// From an odd address, too.
	odd := append(make([]byte, 1, len(data)+1), data...)[1:]
	got, err := OpenSegment(odd)
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Chunks, Nodes    int
		First, Last      uint64
		Model            ModelID
		Dim              int
		Current, English bool
	}
	has := summary{
		Chunks: got.Len(), Nodes: got.Nodes(), Model: got.Model(), Dim: got.Dim(),
		Current: got.Current(), English: got.Langs().Has(text.English),
	}
	has.First, has.Last = got.SeqRange()
	want := summary{Chunks: 3, Nodes: 3, First: 10, Last: 12, Model: "m", Dim: 4, Current: true, English: true}
	if diff := cmp.Diff(want, has); diff != "" {
		t.Fatalf("the segment (-want +got):\n%s", diff)
	}
	doc, ok := got.Find(11)
	if !ok || got.Seq(doc) != 11 {
		t.Fatal("chunk 11 is lost")
	}
	ana := Node{ID: "node:Ana", Kind: "document", CreatedMs: 1, Attrs: []uint64{3, 9}, Turn: true, OccurredMs: 77}
	if diff := cmp.Diff(ana, got.NodeOf(doc)); diff != "" {
		t.Fatalf("its node (-want +got):\n%s", diff)
	}
	row, scale := got.Vector(doc)
	norm := math.Sqrt(1 + 1 + 4 + 0.25)
	for i, want := range []float64{1, 1, -2, 0.5} {
		if math.Abs(float64(row[i])*float64(scale)-want/norm) > 0.005 {
			t.Errorf("component %d is %v", i, float32(row[i])*scale)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	ok := Entry{Seq: 5, Node: Node{ID: "n"}, Vector: []float32{1, 2}}
	for name, bad := range map[string]Entry{
		"seq again":   {Seq: 5, Node: Node{ID: "n"}},
		"seq back":    {Seq: 4, Node: Node{ID: "n"}},
		"dimension":   {Seq: 6, Vector: []float32{1}},
		"NaN":         {Seq: 6, Vector: []float32{1, float32(math.NaN())}},
		"infinity":    {Seq: 6, Vector: []float32{1, float32(math.Inf(-1))}},
		"terms order": {Seq: 6, Passage: text.Passage{Terms: []text.TermFreq{{Term: 2, Body: 1}, {Term: 2, Body: 1}}}},
	} {
		b := NewBuilder("m", 2)
		if err := b.Add(ok); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(bad); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if b.Len() != 1 {
			t.Errorf("%s: a refused entry was kept", name)
		}
	}
	if err := NewBuilder("m", MaxDim+1).Add(Entry{Seq: 1}); !errors.Is(err, ErrInput) {
		t.Errorf("too many dimensions: %v", err)
	}
	b := NewBuilder("m", 1)
	for i := range MaxKinds + 1 {
		if err := b.Add(Entry{
			Seq: uint64(i), Node: Node{ID: pb.NodeID(rune('a' + i)), Kind: string(rune('a' + i))},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Build(); !errors.Is(err, ErrInput) {
		t.Errorf("too many kinds: %v", err)
	}
}

func TestEmptySegment(t *testing.T) {
	s, err := NewBuilder("m", 3).Build()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = OpenSegment(s.AppendBinary(nil)); err != nil || s.Len() != 0 {
		t.Fatal(s, err)
	}
	if snap := (&Snapshot{}).With(1, s); len(snap.Views) != 0 {
		t.Fatal("an empty segment became a view")
	}
}

func TestCorruptBytesAreRefused(t *testing.T) {
	data := sample(t).AppendBinary(nil)
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(data)
			bad[i] ^= bit
			if _, err := OpenSegment(bad); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
		if _, err := OpenSegment(data[:i]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
}

// FuzzOpenSegment damages a segment and repairs its checksum: what is then
// accepted must be searchable.
func FuzzOpenSegment(f *testing.F) {
	f.Add([]byte{}, 0, uint64(0))
	data := sample(f).AppendBinary(nil)
	for i := 16; i < len(data); i += 7 {
		f.Add([]byte{0xFF}, i, uint64(1))
	}
	f.Fuzz(func(t *testing.T, patch []byte, at int, word uint64) {
		bad := bytes.Clone(data)
		at = int(uint(at) % uint(len(bad)))
		copy(bad[at:], patch)
		if at2 := at &^ 7; word != 0 && at2+8 <= len(bad) {
			binary.LittleEndian.PutUint64(bad[at2:], word)
		}
		binary.LittleEndian.PutUint64(bad[8:], xxhash.Sum64(bad[hashedFrom:]))
		s, err := OpenSegment(bad)
		if err != nil {
			return
		}
		snap := (&Snapshot{}).With(0, s).Forget("node:Ana")
		q := &Query{Config: DefaultConfig(), Vectors: map[ModelID][]float32{s.Model(): make([]float32, s.Dim())}}
		for i := range q.Vectors[s.Model()] {
			q.Vectors[s.Model()][i] = 1
		}
		for _, d := range s.dict {
			q.Terms = append(q.Terms, text.QueryTerm{Alts: []text.Term{text.Term(d)}, Weight: 1})
		}
		var sc Scratch
		Fuse(sc.Candidates([]*Snapshot{snap}, q), nil, q, 10)
		if len(snap.Views) > 0 {
			if _, err := Merge(snap.Views); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzOpenView(f *testing.F) {
	s := sample(f)
	snap := (&Snapshot{}).With(0, s).Forget("node:Ana").Hide("node:The")
	f.Add(snap.Views[0].AppendLiveness(nil))
	f.Add(View{Segment: s}.AppendLiveness(nil))
	f.Add([]byte{1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 8 {
			data = bytes.Clone(data)
			binary.LittleEndian.PutUint64(data[len(data)-8:], xxhash.Sum64(data[:len(data)-8]))
		}
		v, err := OpenView(1, s, data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again, err := OpenView(1, s, v.AppendLiveness(nil))
		if err != nil || again.Gone() != v.Gone() || again.Hidden() != v.Hidden() {
			t.Fatal(err)
		}
	})
}

func TestLiveness(t *testing.T) {
	s := sample(t)
	before := (&Snapshot{}).With(4, s)
	after := before.Forget("node:Ana", "node:none").Hide("node:The")
	if before.Views[0].Gone() != 0 || before.Len() != 3 {
		t.Fatal("a published snapshot changed")
	}
	v, err := OpenView(4, s, after.Views[0].AppendLiveness(nil))
	if err != nil {
		t.Fatal(err)
	}
	gone, hidden := make([]bool, s.Len()), make([]bool, s.Len())
	for doc := range s.Len() {
		gone[doc], hidden[doc] = v.IsGone(doc), v.IsHidden(doc)
	}
	if diff := cmp.Diff([]bool{false, true, false}, gone); diff != "" || v.Gone() != 1 {
		t.Fatalf("%d chunks are gone (-want +got):\n%s", v.Gone(), diff)
	}
	if diff := cmp.Diff([]bool{true, false, false}, hidden); diff != "" || v.Hidden() != 1 {
		t.Fatalf("%d chunks are hidden (-want +got):\n%s", v.Hidden(), diff)
	}
	if v.ID != 4 {
		t.Fatalf("the view is of segment %d", v.ID)
	}
	if same := after.Forget("node:Ana"); same != after {
		t.Error("a change that changes nothing made a new snapshot")
	}
	if shown := after.Show("node:The"); shown.Views[0].hidden != nil {
		t.Error("an empty set is kept")
	}
	data := after.Views[0].AppendLiveness(nil)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 4
		if _, err := OpenView(4, s, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

func TestFindTerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, n := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "n")
		shift := rapid.SampledFrom([]int{0, 8, 40, 60}).Draw(t, "shift") // crowded at one end, too
		set := map[uint64]uint32{}
		for i := range n {
			seed = seed*6364136223846793005 + 1442695040888963407
			set[seed>>shift] = uint32(i)
		}
		s := &Segment{}
		for k := range set {
			s.dict = append(s.dict, k)
		}
		slices.Sort(s.dict)
		for _, k := range s.dict {
			s.pointers = append(s.pointers, set[k])
		}
		for k, want := range set {
			if got, ok := s.findTerm(text.Term(k)); !ok || got != want {
				t.Fatalf("term %#x: %d, %v", k, got, ok)
			}
			for _, other := range []uint64{k + 1, k - 1, ^k} {
				if _, there := set[other]; there {
					continue
				}
				if _, ok := s.findTerm(text.Term(other)); ok {
					t.Fatalf("term %#x is not there", other)
				}
			}
		}
	})
}

func TestPostingsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOfN(rapid.Uint32Range(0, MaxChunks-1), rapid.Uint8(), 1, 50).Draw(t, "postings")
		var ps []posting
		for doc, code := range m {
			ps = append(ps, newPosting(code, doc))
		}
		slices.Sort(ps)
		s := &Segment{header: header{chunks: MaxChunks}}
		var ptr uint32
		s.postings, ptr = appendPostings([]byte{0xAA}, ps)
		if !s.checkPostings(ptr) {
			t.Fatal("sound postings are refused")
		}
		if got := s.decode(nil, ptr); !slices.Equal(got, ps) || s.docFreq(ptr) != len(ps) {
			t.Fatalf("%v\n%v", got, ps)
		}
	})
}

func TestLengthCodes(t *testing.T) {
	for n := range uint32(30_000) {
		got := float64(lengths[lengthCode(n)])
		if n < exactLength && got != float64(n) || math.Abs(got-float64(n)) > 0.0225*float64(n) {
			t.Fatalf("length %d becomes %v", n, got)
		}
	}
	if lengthCode(math.MaxUint32) != 255 {
		t.Fatal("the longest has another code")
	}
}

func TestAttrHashKeepsPairsApart(t *testing.T) {
	seen := map[uint64]string{}
	for _, p := range [][2]string{{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""}, {"a", "b"}} {
		h := AttrHash(p[0], p[1])
		if other, dup := seen[h]; dup {
			t.Errorf("%q and %s", p, other)
		}
		seen[h] = p[0] + "=" + p[1]
	}
}

// TestQuantisation holds the int8 cosine to its error: what exact rerank mends.
func TestQuantisation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 512).Draw(t, "dim")
		seed := rapid.Uint64().Draw(t, "seed")
		draw := func() []float32 {
			v := make([]float32, dim)
			for i := range v {
				seed = seed*6364136223846793005 + 1442695040888963407
				v[i] = float32(int32(seed>>32)) / (1 << 31)
			}
			return v
		}
		a, b := draw(), draw()
		row, q := make([]int8, stride(dim)), make([]int16, stride(dim))
		scale, qs := quantizeRow(row, a), quantizeQuery(q, b)
		dots := make([]int32, 1)
		dotRows(q, row, dots)
		if got, want := float64(dots[0])*float64(scale)*float64(qs), float64(cosine(a, b)); math.Abs(got-want) > 0.01 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if quantizeRow(make([]int8, 32), make([]float32, 4)) != 0 ||
		quantizeQuery(make([]int16, 32), make([]float32, 4)) != 0 {
		t.Error("a vector without direction has a scale")
	}
}
