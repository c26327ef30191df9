package embed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
)

func passages(m *Model, texts ...string) [][]float32 {
	dst := make([][]float32, len(texts))
	m.NewEncoder().Passages(dst, texts)
	return dst
}

func TestEveryKernelGivesTheSameVectors(t *testing.T) {
	for _, h := range tinyHeaders() {
		m := tinyModel(t, h)
		r := rand.New(rand.NewPCG(1, 2))
		var texts []string
		for _, n := range []int{0, 1, 2, 3, 13, 14, 15, 47, 48, 49, 100, 200} {
			texts = append(texts, sentence(r, n))
		}
		portable, err := m.WithKernel(KernelPortable)
		if err != nil {
			t.Fatal(err)
		}
		want := passages(portable, texts...)
		for _, k := range kernel.Available() {
			other, err := m.WithKernel(Kernel(k.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range passages(other, texts...) {
				if !slices.Equal(v, want[i]) {
					t.Errorf("%s, %d bits, %s: text %d differs from portable", h.Pooling, h.WordBits, k.Name(), i)
				}
			}
		}
	}
}

func TestAVectorDoesNotDependOnItsBatch(t *testing.T) {
	for _, h := range tinyHeaders() {
		m := tinyModel(t, h)
		r := rand.New(rand.NewPCG(3, 4))
		var texts []string
		for range 40 {
			texts = append(texts, sentence(r, r.IntN(tinyMax)))
		}
		together := passages(m, texts...)
		e := m.NewEncoder()
		for i, text := range texts {
			alone := make([][]float32, 1)
			e.Passages(alone, []string{text})
			if !slices.Equal(alone[0], together[i]) {
				t.Fatalf("%s, %d bits: text %d (%d tokens) changes with its neighbours", h.Pooling, h.WordBits, i,
					m.CountTokens(text))
			}
		}
	}
}

func TestVectorsAreUnitLength(t *testing.T) {
	m := tinyModel(t, tinyHeader())
	for _, text := range []string{"", " \n", "the", "zebra", "\x00\xff", strings.Repeat("plan ", 1000)} {
		v := m.NewEncoder().Query(text)
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if len(v) != m.Dim() || !(math.Abs(sum-1) < 1e-6) {
			t.Errorf("%q: %d values of squared norm %g", text, len(v), sum)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	m := tinyModel(t, tinyHeader())
	r := rand.New(rand.NewPCG(5, 6))
	fits := sentence(r, m.MaxTokens())
	if n := m.CountTokens(fits); n != m.MaxTokens() {
		t.Fatalf("%d tokens, want %d", n, m.MaxTokens())
	}
	v := passages(m, fits, fits+" tea water", sentence(r, m.MaxTokens()))
	if !slices.Equal(v[0], v[1]) {
		t.Error("what follows the limit still counts")
	}
	if slices.Equal(v[0], v[2]) {
		t.Error("different texts have one vector")
	}
	// One token less must matter, or the cut is too early.
	last := strings.LastIndexByte(fits, ' ')
	if shorter := passages(m, fits[:last]); slices.Equal(v[0], shorter[0]) {
		t.Error("the last token within the limit was cut")
	}
}

func TestPrefixesAreText(t *testing.T) {
	h := tinyHeader()
	plain := tinyModel(t, h)
	h.QueryPrefix, h.PassagePrefix = "question: ", "the "
	prefixed := tinyModel(t, h)
	if prefixed.MaxTokens() != plain.MaxTokens()-1 {
		t.Errorf("a prefix of one token leaves room for %d of %d", prefixed.MaxTokens(), plain.MaxTokens())
	}
	want := passages(plain, "question: old key", "the old key")
	if !slices.Equal(prefixed.NewEncoder().Query("old key"), want[0]) {
		t.Error("query prefix")
	}
	if !slices.Equal(passages(prefixed, "old key")[0], want[1]) {
		t.Error("passage prefix")
	}
	if plain.ID() == prefixed.ID() {
		t.Error("models with different prefixes share an id")
	}
}

func TestCosinesAreBroughtToOneRange(t *testing.T) {
	h := tinyHeader()
	if f, o := tinyModel(t, h).CosineLine(); f != 1 || o != 0 {
		t.Errorf("a pack without a range: %g, %g", f, o)
	}
	h.CosineMean, h.CosineSpread = 0.75, 0.03
	f, o := tinyModel(t, h).CosineLine()
	for _, z := range []float64{-2, 0, 3} { // so many spreads from the mean stay so many
		if got, want := float64(f)*(0.75+z*0.03)+float64(o), RangeMean+z*RangeSpread; math.Abs(got-want) > 1e-5 {
			t.Errorf("%g spreads from the mean: %g, want %g", z, got, want)
		}
	}
	for _, bad := range [][2]float64{{0.75, 0}, {0, 2}, {1.5, 0.1}, {0.5, -0.1}, {0.5, 1e-6}} {
		h.CosineMean, h.CosineSpread = bad[0], bad[1]
		if _, err := packfile.Build(h, packfile.Weights{}); !errors.Is(err, ErrPack) ||
			!strings.Contains(err.Error(), "cosines") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestPassagesReuseSlices(t *testing.T) {
	m := tinyModel(t, tinyHeader())
	e := m.NewEncoder()
	r := rand.New(rand.NewPCG(7, 8))
	texts := []string{sentence(r, 100), sentence(r, 30), sentence(r, 100)}
	dst := make([][]float32, len(texts))
	e.Passages(dst, texts)
	first := &dst[0][0]
	// What remains is the closures over a group of rows, per layer.
	if n := testing.AllocsPerRun(20, func() { e.Passages(dst, texts) }); n > 20 {
		t.Errorf("%g allocations per call", n)
	}
	if &dst[0][0] != first {
		t.Error("a slice with room was replaced")
	}
	if n := testing.AllocsPerRun(20, func() { e.Query(texts[1]) }); n > 20 {
		t.Errorf("%g allocations per query", n)
	}
}

func TestScratchSpaceIsBounded(t *testing.T) {
	m := tinyModel(t, tinyHeader())
	e := m.NewEncoder()
	r := rand.New(rand.NewPCG(9, 10))
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = sentence(r, r.IntN(2*tinyMax))
	}
	e.Passages(make([][]float32, len(texts)), texts)
	if limit := batchRows + tinyMax + 2*kernel.RowStep; e.cap > limit {
		t.Errorf("room for %d rows, at most %d are needed", e.cap, limit)
	}
}

func TestWeightsGoWhereThereIsRoom(t *testing.T) {
	h := tinyHeader()
	var given []int16
	m, err := LoadPack(tinyPack(t, h), func(weights int) []int16 {
		if given != nil {
			t.Error("asked for room twice")
		}
		given = make([]int16, weights)
		return given
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := h.Layers * (4*h.Dim*h.Dim + 2*h.Dim*h.FFN); len(given) != want {
		t.Fatalf("asked for room for %d weights of %d", len(given), want)
	}
	if !slices.Equal(m.NewEncoder().Query("old key"), tinyModel(t, h).NewEncoder().Query("old key")) {
		t.Error("the vector depends on where the weights lie")
	}
	clear(given)
	if slices.Equal(m.NewEncoder().Query("old key"), tinyModel(t, h).NewEncoder().Query("old key")) {
		t.Error("the room is not used")
	}
}

func TestADamagedPackIsRefused(t *testing.T) {
	pack := tinyPack(t, tinyHeader())
	for _, at := range []int{0, 7, 8, 39, 40, 43, 44, 200, len(pack) / 2, len(pack) - 1} {
		bad := slices.Clone(pack)
		bad[at] ^= 0x40
		if _, err := LoadPack(bad, nil); !errors.Is(err, ErrPack) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
	for _, n := range []int{0, 8, 40, 44, 100, len(pack) - 1} {
		if _, err := LoadPack(pack[:n], nil); !errors.Is(err, ErrPack) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestUnknownKernel(t *testing.T) {
	m := tinyModel(t, tinyHeader())
	if _, err := m.WithKernel("sse2"); !errors.Is(err, ErrKernel) {
		t.Errorf("%v", err)
	}
	auto, err := m.WithKernel(KernelAuto)
	if err != nil || auto.Kernel() != m.Kernel() {
		t.Errorf("auto is %v (%v), loaded with %v", auto.Kernel(), err, m.Kernel())
	}
}

// TestFourBitsSayNearlyTheSame: the two forms of weights are the same model but for what rounding loses.
func TestFourBitsSayNearlyTheSame(t *testing.T) {
	t.Parallel()
	h := tinyHeader()
	full := tinyModel(t, h)
	h.WeightBits, h.WordBits = 4, 4
	small := tinyModel(t, h)
	if full.ID() == small.ID() {
		t.Error("other weights, the same id")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for range 20 {
		text := sentence(r, 1+r.IntN(50))
		if c := cosine(full.NewEncoder().Query(text), small.NewEncoder().Query(text)); c < 0.95 || c == 1 {
			t.Errorf("%q: cosine %f", text, c)
		}
	}
}

// TestRareWordsInFewerBits: words of two and of one and a half bits are nearly those of four, the common ones the very
// same, on all kernels.
func TestRareWordsInFewerBits(t *testing.T) {
	t.Parallel()
	h := tinyHeader()
	w := packtest.New(11).Weights(h, tinyWords)
	packtest.InBlocks(&h, &w)
	full := modelOf(t, h, w)
	if err := packtest.InTiers(&h, &w); err != nil {
		t.Fatal(err)
	}
	small := modelOf(t, h, w)
	if full.ID() == small.ID() {
		t.Error("other words, the same id")
	}
	common, rare := "the a plan budget tea water the plan", "archive office release noon monday key"
	if !slices.Equal(full.NewEncoder().Query(common), small.NewEncoder().Query(common)) {
		t.Error("common words changed")
	}
	want := small.NewEncoder().Query(rare)
	if c := cosine(full.NewEncoder().Query(rare), want); c < 0.9 || c == 1 {
		t.Errorf("rare words have a cosine of %f to what they were", c)
	}
	for _, k := range []Kernel{KernelPortable, KernelAVX2, KernelVNNI} {
		if on, err := small.WithKernel(k); err == nil && !slices.Equal(on.NewEncoder().Query(rare), want) {
			t.Errorf("%s: other bits", k)
		}
	}
}
