package centring_test

import (
	"errors"
	"math"
	"testing"

	"orgmem/brain/embed/centring"
)

// language are vectors around a mean, whose differences cancel.
func language(mean ...float32) [][]float32 {
	var out [][]float32
	for _, by := range []float32{-0.5, 0.5} {
		v := make([]float32, len(mean))
		for i, x := range mean {
			v[i] = x + by
		}
		out = append(out, v)
	}
	return out
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	// Languages lie apart along the first axis by 2, along the second by 1, and not along the third.
	passages := [][][]float32{
		language(3, 0.5, 7), language(3, -0.5, 7), language(1, 0.5, 7), language(1, -0.5, 7),
	}
	questions := [][][]float32{
		language(3, 0.5, 9), language(3, -0.5, 9), language(1, 0.5, 9), language(1, -0.5, 9),
	}
	rows, err := centring.Measure(2, passages, questions)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{2, 0, 8 /* mean */, 1, 0, 0, 0, 1, 0}
	if len(rows) != len(want) {
		t.Fatalf("%d values, want %d", len(rows), len(want))
	}
	for i, w := range want {
		got := float64(rows[i])
		if i >= 3 {
			got = math.Abs(got) // a direction may point either way
		}
		if math.Abs(got-w) > 1e-6 {
			t.Errorf("value %d is %g, want %g", i, got, w)
		}
	}
}

func TestMeasureOfTooLittle(t *testing.T) {
	t.Parallel()
	one := [][][]float32{language(1, 2, 3)}
	if _, err := centring.Measure(2, one); !errors.Is(err, centring.ErrNothing) {
		t.Errorf("two directions of one language: %v", err)
	}
	same := [][][]float32{language(1, 2, 3), language(1, 2, 3), language(1, 2, 3)}
	if _, err := centring.Measure(1, same); !errors.Is(err, centring.ErrNothing) {
		t.Errorf("languages that do not differ: %v", err)
	}
}
