package retriever

import "testing"

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ n, learned, checked int }{
		{0, 0, 0},
		{4, 4, 4},
		{10, 7, 8},
		{50, 35, 40},
		{2000, 1400, 1600},
	} {
		learned, checked := Split(x.n)
		if learned != x.learned || checked != x.checked || x.n-checked != Judges(x.n) {
			t.Errorf("of %d: %d are learned from, %d check and %d judge", x.n, learned, checked-learned, Judges(x.n))
		}
	}
}
