package canon

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFigures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ x, measure, score float64 }{
		{0.9999999999999992, 1, 1},
		{0.1 + 0.2, 0.3, 0.3},
		{float64(float32(0.8)), 0.8, 0.8},
		{1.0 / 3, 0.333333, 0.333333},
		{1.0 / 61, 0.016393, 0.0163934},
		{0.0000001234567, 0, 0.000000123457},
		{-0.0000001, 0, -0.0000001},
		{0.71875, 0.71875, 0.71875},
		{12345678, 12345678, 12345700},
		{1e15 + 0.5, 1e15 + 0.5, 1e15},
		{-2.5000004, -2.5, -2.5},
		{0, 0, 0},
	} {
		if got := Measure(c.x); got != c.measure || math.Signbit(got) != math.Signbit(c.measure) {
			t.Errorf("Measure(%v) = %v, want %v", c.x, got, c.measure)
		}
		if got := Score(c.x); got != c.score {
			t.Errorf("Score(%v) = %v, want %v", c.x, got, c.score)
		}
	}
	if got := Measure(math.Copysign(0, -1)); math.Signbit(got) {
		t.Error("-0 is shown")
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} { // no rounding hides them
		if m, s := Measure(x), Score(x); !(m == x || m != m && x != x) || !(s == x || s != s && x != x) {
			t.Errorf("%v: %v, %v", x, m, s)
		}
	}
}

// TestFiguresKeepTheirOrder: rounding is monotone, as short as it says, and done once.
func TestFiguresKeepTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1e6, 1e6).Draw(t, "a"), rapid.Float64Range(-1e6, 1e6).Draw(t, "b")
		for name, round := range map[string]func(float64) float64{"Measure": Measure, "Score": Score} {
			if a <= b && round(a) > round(b) {
				t.Fatalf("%s turns %v and %v round", name, a, b)
			}
			if again := round(round(a)); again != round(a) {
				t.Fatalf("%s rounds %v twice, to %v", name, round(a), again)
			}
		}
		if _, decimals, _ := strings.Cut(strconv.FormatFloat(Measure(a), 'f', -1, 64), "."); len(decimals) > measureDecimals {
			t.Fatalf("%v is shown as %v", a, Measure(a))
		}
	})
}

// TestSharesAddUp: the rounded parts of a whole are the rounded whole.
func TestSharesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 60).Draw(t, "parts")
		total := 0.0
		for _, p := range parts {
			total += p
		}
		for i := range parts {
			parts[i] /= max(total, 1)
		}
		sum, units := 0.0, 0.0
		for i, s := range Shares(parts) {
			sum += parts[i]
			units += math.Round(s * 1e6)
			if math.Abs(s-parts[i]) > 1.0000001e-6 {
				t.Fatalf("%v becomes %v", parts[i], s)
			}
		}
		if units != math.Round(sum*1e6) {
			t.Fatalf("%v add up to %v", parts, units/1e6)
		}
	})
	if got := Shares(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
