package retriever

import (
	"math"
	"slices"
	"testing"
)

// valley is Rosenbrock's function with its derivatives.
func valley(x []float64) (float64, []float64) {
	a, b := 1-x[0], x[1]-x[0]*x[0]
	return a*a + 100*b*b, []float64{-2*a - 400*x[0]*b, 200 * b}
}

// descend goes down a function until that ends, or after some evaluations, and gives all
// places where it was evaluated. behind is called behind each move.
func descend(d *descent, of func([]float64) (float64, []float64), most int, behind func()) (at [][]float64) {
	x := make([]float64, 2)
	for out := d.goOn(); out != ended && len(at) < most; {
		d.next(x)
		at = append(at, slices.Clone(x))
		if out = d.tell(of(x)); out == arrived {
			behind()
			out = d.goOn()
		}
	}
	return at
}

func startAt(of func([]float64) (float64, []float64), x ...float64) *descent {
	value, slope := of(x)
	return newDescent(x, []float64{1, 2}, value, slope)
}

// TestDescent: it comes to the bottom, and from wherever it is stored to the same places.
func TestDescent(t *testing.T) {
	t.Parallel()

	var kept [][]spot
	d := startAt(valley, -1.2, 1)
	var scale []float64
	moves := 0
	all := descend(d, valley, 100, func() {
		kept, scale = append(kept, slices.Clone(d.trail)), d.scale
		moves++
	})
	if last := all[len(all)-1]; math.Hypot(last[0]-1, last[1]-1) > 1e-6 || len(all) == 100 {
		t.Fatalf("after %d evaluations at %v, not at (1, 1)", len(all), last)
	}
	for k := 0; k < moves-1; k += 3 {
		rest := descend(resumeDescent(scale, kept[k]), valley, 100, func() {})
		if len(rest) == 0 || len(rest) >= len(all) || !slices.EqualFunc(rest, all[len(all)-len(rest):], slices.Equal) {
			t.Errorf("from move %d it went another way: %d evaluations of %d", k, len(rest), len(all))
		}
	}
}

// TestDescentEnds: where there is no way down, or no number, it says so soon.
func TestDescentEnds(t *testing.T) {
	t.Parallel()

	for name, of := range map[string]func([]float64) (float64, []float64){
		"flat":   func([]float64) (float64, []float64) { return 1, []float64{0, 0} },
		"nan":    func(x []float64) (float64, []float64) { return 1 - x[0] + math.Log(0.1-x[0]), []float64{-1, 0} },
		"cliff":  func(x []float64) (float64, []float64) { return math.Ceil(10 * math.Abs(x[0])), []float64{-1, 0} },
		"uphill": func(x []float64) (float64, []float64) { return x[0], []float64{-1, 0} },
	} {
		n := 0
		d := newDescent([]float64{0, 0}, []float64{1, 1}, 0, []float64{0, 0})
		if v, slope := of([]float64{0, 0}); name != "flat" {
			d = newDescent([]float64{0, 0}, []float64{1, 1}, v, slope)
		}
		at := descend(d, of, 100, func() { n++ })
		if len(at) > maxTried*(n+1) || n > 0 {
			t.Errorf("%s: %d moves, %d evaluations", name, n, len(at))
		}
	}
}
