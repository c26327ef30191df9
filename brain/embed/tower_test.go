package embed

import (
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
)

// tinyTower is a tower of its own layers over a tiny model, with one head and weights of so many bits.
func tinyTower(t testing.TB, base *Model, bits int) []byte {
	t.Helper()
	h := tinyHeader()
	h.WeightBits = bits
	h.Name, h.Base = "tower", hex.EncodeToString(base.hash[:])
	w := packtest.New(21).Weights(h, tinyWords)
	w.Heads = []packfile.Head{{
		Name: "out", In: h.Dim, Out: 2,
		Linear: packfile.Linear{W: make([]float32, 2*h.Dim), B: []float32{1, 2}},
	}}
	pack, err := packfile.Build(h, w)
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

func tinySequences(tower *Tower, n int) (all [][]int32) {
	r := rand.New(rand.NewPCG(5, 6))
	begin, end := tower.Marks()
	for range n {
		ids := tower.AppendTokens([]int32{begin}, sentence(r, 1+r.IntN(50)), 50)
		all = append(all, append(ids, end))
	}
	return all
}

func states(tower *Tower, sequences [][]int32) (all [][]float32) {
	tower.NewEncoder().States(sequences, func(i int, states []float32) {
		if i != len(all) {
			panic("out of order")
		}
		all = append(all, slices.Clone(states))
	})
	return all
}

// TestTowerStates: each sequence's states come in order, and are the same bits alone, in a batch, and on every kernel.
func TestTowerStates(t *testing.T) {
	base := tinyModel(t, tinyHeader())
	tower, err := LoadTower(tinyTower(t, base, 0), base, nil)
	if err != nil {
		t.Fatal(err)
	}
	sequences := tinySequences(tower, 30)
	together := states(tower, sequences)
	if len(together) != len(sequences) {
		t.Fatalf("%d of %d sequences", len(together), len(sequences))
	}
	for i, s := range sequences {
		if len(together[i]) != len(s)*tower.Dim() {
			t.Fatalf("sequence %d: %d values for %d tokens", i, len(together[i]), len(s))
		}
		if alone := states(tower, [][]int32{s}); !slices.Equal(alone[0], together[i]) {
			t.Errorf("sequence %d differs alone", i)
		}
	}
	for _, k := range kernel.Available() {
		other, err := tower.WithKernel(Kernel(k.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range states(other, sequences) {
			if !slices.Equal(s, together[i]) {
				t.Errorf("%s: sequence %d differs", k.Name(), i)
			}
		}
	}
	if len(states(tower, nil)) != 0 {
		t.Error("states of nothing")
	}
}

// TestTowerOfEightBits: its states are those of twelve bits but for what four bits are worth.
func TestTowerOfEightBits(t *testing.T) {
	base := tinyModel(t, tinyHeader())
	full, err := LoadTower(tinyTower(t, base, 0), base, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := LoadTower(tinyTower(t, base, 8), base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if full.ID() == small.ID() {
		t.Error("other weights, the same id")
	}
	sequences := tinySequences(full, 20)
	a, b := states(full, sequences), states(small, sequences)
	for i := range a {
		var dot, aa, bb float64
		for j, x := range a[i] {
			y := float64(b[i][j])
			dot, aa, bb = dot+float64(x)*y, aa+float64(x)*float64(x), bb+y*y
		}
		if cos := dot / math.Sqrt(aa*bb); cos < 0.995 || cos == 1 {
			t.Errorf("sequence %d: cosine %f", i, cos)
		}
	}
}

// TestTowerKnowsItsBase: a tower runs over the model that it was made for, and is no model by itself.
func TestTowerKnowsItsBase(t *testing.T) {
	base := tinyModel(t, tinyHeader())
	pack := tinyTower(t, base, 0)
	h := tinyHeader()
	h.Name = "another"
	if _, err := LoadTower(pack, tinyModel(t, h), nil); !errors.Is(err, ErrPack) {
		t.Errorf("over another model: %v", err)
	}
	if _, err := LoadPack(pack, nil); !errors.Is(err, ErrPack) {
		t.Errorf("as a model: %v", err)
	}
	if _, err := LoadTower(tinyPack(t, tinyHeader()), base, nil); !errors.Is(err, ErrPack) {
		t.Errorf("a model as a tower: %v", err)
	}
	tower, err := LoadTower(pack, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tower.ID() == base.ID() {
		t.Error("it has its base's id")
	}
	if head, err := tower.Head("out", tower.Dim(), 2); err != nil || !slices.Equal(head.B, []float32{1, 2}) {
		t.Errorf("%v, %v", head.B, err)
	}
	if _, err := tower.Head("out", tower.Dim(), 3); !errors.Is(err, ErrPack) {
		t.Errorf("a head of another shape: %v", err)
	}
	if _, err := tower.Head("other", tower.Dim(), 2); !errors.Is(err, ErrPack) {
		t.Errorf("a head that is not there: %v", err)
	}
}

// patchOf is the part of layers in blocks that lies beside a model, every third block, as a patch has it; and these
// layers whole, with the others of the model in between.
func patchOf(own, under packfile.Linear) (patch, whole packfile.Linear) {
	n := len(own.Blocks) / packfile.BlockBytes
	patch, whole = packfile.Linear{B: own.B, Taken: make([]byte, n/8)}, packfile.Linear{B: own.B}
	for i := range n {
		at := i * packfile.BlockBytes
		if i%3 != 0 {
			whole.Blocks = append(whole.Blocks, under.Blocks[at:at+packfile.BlockBytes]...)
			continue
		}
		patch.Taken[i/8] |= 1 << (i % 8)
		patch.Blocks = append(patch.Blocks, own.Blocks[at:at+packfile.BlockBytes]...)
		whole.Blocks = append(whole.Blocks, own.Blocks[at:at+packfile.BlockBytes]...)
	}
	return patch, whole
}

// TestPatch: a patch over a model computes what a tower with all of its layers does, and lies over nothing else.
func TestPatch(t *testing.T) {
	t.Parallel()
	inBlocks := func(seed uint64) (packfile.Header, packfile.Weights) {
		h := tinyHeader()
		h.WeightBits, h.WordBits = 4, 4
		w := packtest.New(seed).Weights(h, tinyWords)
		packtest.InBlocks(&h, &w)
		return h, w
	}
	h, under := inBlocks(11)
	base := modelOf(t, h, under)
	_, own := inBlocks(21)
	patched, whole := own, own
	patched.Layers, whole.Layers = slices.Clone(own.Layers), slices.Clone(own.Layers)
	linears := func(l *packfile.Layer) []*packfile.Linear {
		return []*packfile.Linear{&l.Query, &l.Key, &l.Value, &l.Output, &l.Up, &l.Down}
	}
	for i := range own.Layers {
		for k, of := range linears(&own.Layers[i]) {
			patch, all := patchOf(*of, *linears(&under.Layers[i])[k])
			*linears(&patched.Layers[i])[k], *linears(&whole.Layers[i])[k] = patch, all
		}
	}
	h.Name, h.Base, h.WordBits, h.Tiers = "tower", hex.EncodeToString(base.hash[:]), 0, nil
	load := func(h packfile.Header, w packfile.Weights, base *Model) (*Tower, error) {
		pack, err := packfile.Build(h, w)
		if err != nil {
			t.Fatal(err)
		}
		return LoadTower(pack, base, nil)
	}
	want, err := load(h, whole, base)
	if err != nil {
		t.Fatal(err)
	}
	h.Patch = true
	tower, err := load(h, patched, base)
	if err != nil {
		t.Fatal(err)
	}
	sequences := tinySequences(want, 10)
	for i, s := range states(tower, sequences) {
		if !slices.Equal(s, states(want, sequences[i:i+1])[0]) {
			t.Errorf("sequence %d differs", i)
		}
	}
	missing := patched
	missing.Layers = slices.Clone(patched.Layers)
	missing.Layers[1].Up.Taken = nil
	if _, err := packfile.Build(h, missing); !errors.Is(err, ErrPack) {
		t.Errorf("without what is taken: %v", err)
	}
	other := h
	other.WeightBits = 0
	if _, err := packfile.Build(other, patched); !errors.Is(err, ErrPack) {
		t.Errorf("a patch of twelve bits: %v", err)
	}
	full := tinyModel(t, tinyHeader())
	h.Base = hex.EncodeToString(full.hash[:])
	if _, err := load(h, patched, full); !errors.Is(err, ErrPack) {
		t.Errorf("over a model that is in no blocks: %v", err)
	}
}
