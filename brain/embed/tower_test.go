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
