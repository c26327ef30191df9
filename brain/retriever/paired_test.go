package retriever

import (
	"math"
	"slices"
	"testing"
)

// TestPairs: a ranking is worse by its means, or by losing more questions than chance
// explains although a few great gains make up for them in the mean.
func TestPairs(t *testing.T) {
	t.Parallel()

	repeat := func(n int, m Marks) (out []Marks) {
		for range n {
			out = append(out, m)
		}
		return out
	}
	for name, c := range map[string]struct {
		mine, theirs []Marks
		won, lost    int
		chance       float64
		worse        bool
	}{
		"nothing":  {nil, nil, 0, 0, 1, false},
		"equal":    {repeat(9, Marks{1, 0.5}), repeat(9, Marks{1, 0.5}), 0, 0, 1, false},
		"better":   {repeat(4, Marks{1, 1}), repeat(4, Marks{0.5, 1}), 4, 0, 1, false},
		"higher":   {repeat(1, Marks{1, 1}), repeat(1, Marks{1, 0.5}), 1, 0, 1, false},
		"by means": {repeat(2, Marks{0.5, 1}), repeat(2, Marks{1, 1}), 0, 2, 0.25, true},
		"by numbers": {
			append(repeat(2, Marks{1, 1}), repeat(8, Marks{0.9, 0.9})...),
			append(repeat(2, Marks{0, 0}), repeat(8, Marks{1, 1})...), 2, 8, 56.0 / 1024, false,
		},
		"by many": {
			append(repeat(2, Marks{1, 1}), repeat(10, Marks{0.9, 0.9})...),
			append(repeat(2, Marks{0, 0}), repeat(10, Marks{1, 1})...), 2, 10, 79.0 / 4096, true,
		},
	} {
		p := Pair(c.mine, c.theirs)
		if p.Won != c.won || p.Lost != c.lost || math.Abs(p.Chance()-c.chance) > 1e-9 || p.Worse() != c.worse {
			t.Errorf("%s: %+v, chance %v, worse %v", name, p, p.Chance(), p.Worse())
		}
	}
}

// TestEqualMarksAreNotWorse: rankings with the same marks, added up in another order,
// are equals, and a mean of ones is one.
func TestEqualMarksAreNotWorse(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 300; n++ {
		ones, mine := make([]Marks, n), make([]Marks, n)
		for i := range ones {
			ones[i] = Marks{1, 1}
			mine[i] = Marks{float64(i%10) / 10, 1 / float64(1+i%7)}
		}
		if p := Pair(ones, ones); p.Mine != (Marks{1, 1}) {
			t.Fatalf("%d questions that are all found: %v", n, p.Mine)
		}
		theirs := slices.Clone(mine)
		slices.Reverse(theirs)
		p := Pair(mine, theirs)
		if p.FindsLess() || !p.Loses() && p.Worse() {
			t.Fatalf("%d questions: %v is worse than %v", n, p.Mine, p.Theirs)
		}
	}
}
