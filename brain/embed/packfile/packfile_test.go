package packfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orgmem/brain/embed/trellis"
)

func testHeader() Header {
	return Header{
		Name: "test", Layers: 1, Dim: 32, Heads: 1, FFN: 64, MaxTokens: 4, Epsilon: 1e-12,
		Pooling: PoolMean, Tokenizer: TokenizerWordPiece, CLS: 1, SEP: 2,
		Source: Source{Package: "maven:group:artifact", Version: "1", Licence: "MIT", LicenceText: "text"},
	}
}

func testWeights() Weights {
	r := rand.New(rand.NewPCG(1, 2))
	values := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	linear := func(in, out int) Linear { return Linear{W: values(in * out), B: values(out)} }
	norm := func() Norm { return Norm{Gamma: values(32), Beta: values(32)} }
	return Weights{
		Vocab: "[PAD]\n[CLS]\n[SEP]\n[UNK]\nx\n", Words: values(5 * 32), Positions: values(7 * 32),
		TokenType: values(32), Norm: norm(),
		Layers: []Layer{{
			Query: linear(32, 32), Key: linear(32, 32), Value: linear(32, 32), Output: linear(32, 32),
			Up: linear(32, 64), Down: linear(64, 32), AfterAttention: norm(), AfterFFN: norm(),
		}},
	}
}

func build(t testing.TB) []byte {
	t.Helper()
	pack, err := Build(testHeader(), testWeights())
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

// unpack is the format's description turned into code.
func unpack(packed []byte) []int {
	var out []int
	for ; len(packed) > 0; packed = packed[48:] {
		var run [32]int
		for i := range run {
			low := packed[32+i%16] >> (4 * (i / 16)) & 15
			run[i] = int(int8(packed[i]))<<4 | int(low)
		}
		out = append(out, run[:]...)
	}
	return out
}

func TestWeightsComeBackWithinHalfAStep(t *testing.T) {
	w := testWeights()
	f, err := Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	within := func(what string, q int, scale, want float32) {
		t.Helper()
		if d := math.Abs(float64(q)*float64(scale) - float64(want)); d > 0.5001*float64(scale) || q < -2047 || q > 2047 {
			t.Fatalf("%s: %d steps of %g for %g", what, q, scale, want)
		}
	}

	packed, scale, err := f.Words(5)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range unpack(packed) {
		within("words", q, scale[i/32], w.Words[i])
	}

	p, err := f.Linear(LayerName(0, MatDown), 64, 32)
	if err != nil {
		t.Fatal(err)
	}
	qs := unpack(p.Weights)
	largest := make([]int, 32) // sums of magnitudes by output
	for i, q := range qs {
		in := i/32%32*2 + i%2
		out := i/(64*16)*16 + i/2%16
		within("down", q, p.Scale[out], w.Layers[0].Down.W[out*64+in])
		largest[out] += max(q, -q)
	}
	if !slices.Equal(p.Bias, w.Layers[0].Down.B) {
		t.Error("bias changed")
	}
	if l1 := slices.Max(largest); l1*p.ActMax > math.MaxInt32 || p.ActMax < min(math.MaxInt16, math.MaxInt32/l1) {
		t.Errorf("inputs up to %d with weights that sum to %d", p.ActMax, l1)
	}

	qkv, err := f.Linear(LayerName(0, MatQKV), 32, 96)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(qkv.Bias[32:64], w.Layers[0].Key.B) {
		t.Error("keys are not the second third")
	}

	pos, err := f.PositionVectors()
	if err != nil {
		t.Fatal(err)
	}
	if len(pos) != 4*32 || pos[33] != w.Positions[33]+w.TokenType[1] {
		t.Error("positions")
	}
	for _, norm := range []func() (Norm, error){
		f.EmbeddingNorm, func() (Norm, error) { return f.AttentionNorm(0) }, func() (Norm, error) { return f.FFNNorm(0) },
	} {
		if n, err := norm(); err != nil || len(n.Gamma) != 32 || len(n.Beta) != 32 {
			t.Errorf("norm: %v", err)
		}
	}
	if vocab, err := f.Vocab(); err != nil || vocab != w.Vocab || f.Source.LicenceText != "text" {
		t.Errorf("vocabulary or licence changed: %v", err)
	}
}

// opened is a pack, and what it is opened as.
func opened(t *testing.T, h Header, w Weights) ([]byte, *File) {
	t.Helper()
	pack, err := Build(h, w)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(pack)
	if err != nil {
		t.Fatal(err)
	}
	return pack, f
}

func TestWeightsOfEightBitsTakeAByteEach(t *testing.T) {
	h, w := testHeader(), testWeights()
	h.WeightBits = 8
	_, f := opened(t, h, w)
	p, err := f.Linear(LayerName(0, MatDown), 64, 32)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bits != 8 || len(p.Weights) != 64*32 {
		t.Fatalf("%d bytes of %d weights of %d bits", len(p.Weights), 64*32, p.Bits)
	}
	for i, b := range p.Weights {
		in := i/32%32*2 + i%2
		out := i/(64*16)*16 + i/2%16
		q, want := float64(int8(b)), float64(w.Layers[0].Down.W[out*64+in])
		if d := math.Abs(q*float64(p.Scale[out]) - want); d > 0.5001*float64(p.Scale[out]) {
			t.Fatalf("%g steps of %g for %g", q, p.Scale[out], want)
		}
	}
	if words, _, err := f.Words(5); err != nil || len(words) != PackedLen(5*32) {
		t.Errorf("words of %d bytes, want twelve bits each (%v)", len(words), err)
	}
	h.WeightBits = 7
	if _, err := Build(h, w); !errors.Is(err, ErrPack) {
		t.Errorf("seven bits: %v", err)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	a, b := build(t), build(t)
	if !bytes.Equal(a, b) {
		t.Fatal("two builds differ")
	}
	h := testHeader()
	h.QueryPrefix = "q"
	c, err := Build(h, testWeights())
	if err != nil {
		t.Fatal(err)
	}
	fa, errA := Open(a)
	fc, errC := Open(c)
	if errA != nil || errC != nil || fa.Hash() == fc.Hash() {
		t.Errorf("another header, the same hash (%v, %v)", errA, errC)
	}
}

func TestBuildRefusesWhatDoesNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*Header, *Weights){
		"layers":      func(h *Header, _ *Weights) { h.Layers = 2 },
		"heads":       func(h *Header, _ *Weights) { h.Heads = 3 },
		"epsilon":     func(h *Header, _ *Weights) { h.Epsilon = 0 },
		"pooling":     func(h *Header, _ *Weights) { h.Pooling = "max" },
		"tokenizer":   func(h *Header, _ *Weights) { h.Tokenizer = "bpe" },
		"name":        func(h *Header, _ *Weights) { h.Name = "" },
		"words":       func(_ *Header, w *Weights) { w.Words = w.Words[1:] },
		"matrix":      func(_ *Header, w *Weights) { w.Layers[0].Up.W = w.Layers[0].Up.W[1:] },
		"bias":        func(_ *Header, w *Weights) { w.Layers[0].Up.B = nil },
		"norm":        func(_ *Header, w *Weights) { w.Layers[0].AfterFFN.Gamma = nil },
		"positions":   func(_ *Header, w *Weights) { w.Positions = w.Positions[:3*32] },
		"token type":  func(_ *Header, w *Weights) { w.TokenType = nil },
		"not numbers": func(_ *Header, w *Weights) { w.Norm.Beta[3] = float32(math.NaN()) },
		"infinite":    func(_ *Header, w *Weights) { w.Layers[0].Up.W[3] = float32(math.Inf(1)) },
	} {
		h, w := testHeader(), testWeights()
		spoil(&h, &w)
		if _, err := Build(h, w); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rehash makes a changed file pass the first check, as its maker could.
func rehash(pack []byte) []byte {
	if len(pack) >= headerStart {
		copy(pack, magic)
		sum := sha256.Sum256(pack[lengthAt:])
		copy(pack[hashAt:], sum[:])
	}
	return pack
}

func FuzzOpen(f *testing.F) {
	pack := build(f)
	f.Add(pack)
	f.Add(pack[:headerStart])
	huge := slices.Clone(pack)
	binary.LittleEndian.PutUint32(huge[lengthAt:], math.MaxUint32)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(rehash(slices.Clone(data)))
		if err != nil {
			if !errors.Is(err, ErrPack) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		// Whatever the header says, sections are of the size asked for.
		if packed, scale, err := file.Words(5); err == nil && (len(packed) != PackedLen(5*file.Dim) || len(scale) != 5) {
			t.Fatal("words of another size")
		}
		if p, err := file.Linear(LayerName(0, MatUp), file.Dim, file.FFN); err == nil &&
			len(p.Weights) != PackedLen(file.Dim*file.FFN) {
			t.Fatal("weights of another size")
		}
		if n, err := file.EmbeddingNorm(); err == nil && len(n.Gamma) != file.Dim {
			t.Fatal("norm of another size")
		}
	})
}

// TestTower: a tower has layers and heads, none of its base's sections, and heads come back as they were.
func TestTower(t *testing.T) {
	h, w := testHeader(), testWeights()
	h.Base = "abc"
	w.Heads = []Head{{Name: "out", In: 32, Out: 3, Linear: Linear{W: w.Words[:96], B: w.Words[96:99]}}}
	pack, f := opened(t, h, w)
	if f.Base != "abc" || len(pack) >= len(build(t)) {
		t.Errorf("base %q, %d bytes", f.Base, len(pack))
	}
	if _, _, err := f.Words(5); !errors.Is(err, ErrPack) {
		t.Errorf("a tower's words: %v", err)
	}
	head, err := f.Head("out", 32, 3)
	if err != nil || !slices.Equal(head.W, w.Words[:96]) || !slices.Equal(head.B, w.Words[96:99]) {
		t.Errorf("the head: %v", err)
	}
	for what, change := range map[string]func(*Header, *Weights){
		"a head without a base":     func(h *Header, _ *Weights) { h.Base = "" },
		"a head of another shape":   func(_ *Header, w *Weights) { w.Heads[0].Out = 4 },
		"a head that is not finite": func(_ *Header, w *Weights) { w.Heads[0].B = []float32{1, 2, float32(math.NaN())} },
		"more heads than are kept":  func(_ *Header, w *Weights) { w.Heads = make([]Head, maxHeads+1) },
	} {
		h, w := h, w
		w.Heads = slices.Clone(w.Heads)
		change(&h, &w)
		if _, err := Build(h, w); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// fourBits are weights in blocks of chance, for a header that asks for them.
func fourBits(h *Header, w *Weights) {
	r := rand.New(rand.NewPCG(3, 4))
	blocks := func(n int) []byte {
		b := make([]byte, BlocksLen(n))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for at := 0; at < len(b); at += BlockBytes {
			b[at+1] = b[at+1]&0x83 | 0x20 // scales around 0.01, of both signs
		}
		return b
	}
	h.WeightBits, h.WordBits = 4, 4
	w.Words, w.Blocks = nil, blocks(5*32)
	l := &w.Layers[0]
	for _, m := range []*Linear{&l.Query, &l.Key, &l.Value, &l.Output, &l.Up, &l.Down} {
		m.W, m.Blocks = nil, blocks(len(m.W))
	}
}

func TestBlocksAreStoredAsPublished(t *testing.T) {
	h, w := testHeader(), testWeights()
	fourBits(&h, &w)
	pack, f := opened(t, h, w)
	if words, err := f.WordTiers(5); err != nil || len(words) != 1 || words[0].Code != nil ||
		!bytes.Equal(words[0].Rows, w.Blocks) {
		t.Errorf("words changed: %v", err)
	}
	if _, err := f.WordTiers(6); !errors.Is(err, ErrPack) {
		t.Errorf("more words than there are: %v", err)
	}
	if _, _, err := f.Words(5); !errors.Is(err, ErrPack) {
		t.Errorf("blocks as words of twelve bits: %v", err)
	}
	l := &w.Layers[0]
	for _, m := range []struct {
		part    string
		in, out int
		want    []byte
	}{
		{MatQKV, 32, 96, concat(l.Query.Blocks, l.Key.Blocks, l.Value.Blocks)},
		{MatDown, 64, 32, l.Down.Blocks},
	} {
		p, err := f.Linear(LayerName(0, m.part), m.in, m.out)
		if err != nil || p.Bits != 4 || p.Scale != nil || len(p.Bias) != m.out || !bytes.Equal(p.Weights, m.want) {
			t.Errorf("%s changed: %+v, %v", m.part, p.Matrix, err)
		}
	}
	again, err := Build(h, w)
	if err != nil || !bytes.Equal(pack, again) {
		t.Errorf("two builds differ (%v)", err)
	}
	for what, change := range map[string]func(*Header, *Weights){
		"no words":         func(_ *Header, w *Weights) { w.Blocks = nil },
		"half a row":       func(_ *Header, w *Weights) { w.Blocks = w.Blocks[:BlockBytes-1] },
		"a matrix missing": func(_ *Header, w *Weights) { w.Layers[0].Up.Blocks = nil },
		"not a number":     func(_ *Header, w *Weights) { w.Layers[0].Up.Blocks[1] = 0x7f },
		"words of 8 bits":  func(h *Header, _ *Weights) { h.WordBits = 8 },
	} {
		h, w := testHeader(), testWeights()
		fourBits(&h, &w)
		change(&h, &w)
		if _, err := Build(h, w); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// coded are words of which the first two stay in blocks, two have three bits a pair and one has four.
func coded(t *testing.T, h *Header, w *Weights) {
	t.Helper()
	fourBits(h, w)
	h.Tiers = []Tier{{Pieces: 2}, {Pieces: 2, PairBits: 3}, {Pieces: 1, PairBits: 4}}
	all, at := w.Blocks, 2
	w.Blocks = all[:BlocksLen(2*32)]
	for _, tier := range h.Tiers[1:] {
		blocks := all[BlocksLen(at*32):][:BlocksLen(tier.Pieces*32)]
		rows := trellis.Rows{N: tier.Pieces, Row: func(x []float32, i int) { FillFromBlocks(x, blocks[BlocksLen(i*32):]) }}
		code, err := trellis.Learn(rows, 32, tier.PairBits)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := code.Encode(rows)
		w.Coded = append(w.Coded, Coded{Code: code, Rows: data})
		at += tier.Pieces
	}
}

func TestTiersOfWords(t *testing.T) {
	t.Parallel()
	h, w := testHeader(), testWeights()
	coded(t, &h, &w)
	_, f := opened(t, h, w)
	tiers, err := f.WordTiers(5)
	if err != nil || len(tiers) != 3 || tiers[0].Code != nil || !bytes.Equal(tiers[0].Rows, w.Blocks) {
		t.Fatalf("%d tiers: %v", len(tiers), err)
	}
	for i, tier := range tiers[1:] {
		want := w.Coded[i]
		if tier.Pieces != h.Tiers[i+1].Pieces || !bytes.Equal(tier.Rows, want.Rows) ||
			!bytes.Equal(tier.Code.Append(nil), want.Code.Append(nil)) {
			t.Errorf("tier %d changed", i+1)
		}
	}
	for _, n := range []int{4, 6} {
		if _, err := f.WordTiers(n); !errors.Is(err, ErrPack) {
			t.Errorf("%d of 5 words: %v", n, err)
		}
	}
	for what, change := range map[string]func(*Header, *Weights){
		"a tier too few":       func(_ *Header, w *Weights) { w.Coded = w.Coded[:1] },
		"a tier too many":      func(_ *Header, w *Weights) { w.Coded = append(w.Coded, w.Coded[0]) },
		"other bits":           func(h *Header, _ *Weights) { h.Tiers[1].PairBits = 4 },
		"other pieces":         func(h *Header, _ *Weights) { h.Tiers[2].Pieces = 2 },
		"blocks too few":       func(_ *Header, w *Weights) { w.Blocks = w.Blocks[BlockBytes:] },
		"blocks too many":      func(_ *Header, w *Weights) { w.Blocks = append(w.Blocks, w.Blocks...) },
		"no pieces":            func(h *Header, _ *Weights) { h.Tiers[0].Pieces = 0 },
		"bits out of range":    func(h *Header, _ *Weights) { h.Tiers[1].PairBits = 7 },
		"tiers of twelve bits": func(h *Header, _ *Weights) { h.WordBits = 0 },
	} {
		h, w := h, w
		h.Tiers, w.Coded = slices.Clone(h.Tiers), slices.Clone(w.Coded)
		change(&h, &w)
		if _, err := Build(h, w); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestABlockStandsForItsWeights(t *testing.T) {
	block := []byte{0x00, 0xb8} // -0.5
	for i := range byte(16) {
		block = append(block, i|(15-i)<<4)
	}
	x := make([]float32, BlockLen)
	FillFromBlocks(x, block)
	for i := range 16 {
		if lo, hi := -0.5*float32(i-8), -0.5*float32(7-i); x[i] != lo || x[i+16] != hi {
			t.Errorf("weights %d and %d are %g and %g, want %g and %g", i, i+16, x[i], x[i+16], lo, hi)
		}
	}
}
