package embed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
)

// centredPack is the tiny model with a centre of a mean and one direction, the second axis.
func centredPack(t *testing.T, mean []float32) []byte {
	t.Helper()
	h := tinyHeader()
	h.Centre = 2
	w := packtest.New(11).Weights(h, tinyWords)
	w.Centre = append(slices.Clone(mean), make([]float32, h.Dim)...)
	w.Centre[h.Dim+1] = 1
	pack, err := packfile.Build(h, w)
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

func TestCentreIsTakenOut(t *testing.T) {
	t.Parallel()
	plain := tinyModel(t, tinyHeader()).NewEncoder()
	mean := make([]float32, 64)
	for i := range mean {
		mean[i] = 0.01 * float32(i%5)
	}
	m, err := LoadPack(centredPack(t, mean), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		text := sentence(r, 1+r.IntN(12))
		got, want := m.NewEncoder().Query(text), plain.Query(text)
		norm := 0.0
		for i := range want {
			want[i] -= mean[i]
		}
		want[1] = 0
		for _, x := range want {
			norm += float64(x) * float64(x)
		}
		for i, x := range want {
			if d := math.Abs(float64(got[i]) - float64(x)/math.Sqrt(norm)); d > 1e-6 {
				t.Fatalf("%q: value %d is off by %g", text, i, d)
			}
		}
	}
}

// A vector that is the mean itself has no direction left: it stays what it was rather than becoming noise or NaN.
func TestCentreOfTheMeanItself(t *testing.T) {
	t.Parallel()
	mean := tinyModel(t, tinyHeader()).NewEncoder().Query("the plan")
	m, err := LoadPack(centredPack(t, mean), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.NewEncoder().Query("the plan"); !slices.Equal(got, mean) {
		t.Errorf("got %v, want the vector itself", got[:4])
	}
}

func TestCentreOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()
	h := tinyHeader()
	h.Centre = 2
	w := packtest.New(11).Weights(h, tinyWords)
	w.Centre = make([]float32, h.Dim)
	if _, err := packfile.Build(h, w); !errors.Is(err, ErrPack) {
		t.Errorf("one row for two: %v", err)
	}
	h.Centre = 1000
	if _, err := packfile.Build(h, w); !errors.Is(err, ErrPack) {
		t.Errorf("a thousand rows: %v", err)
	}
}
