package reader_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"orgmem/brain/embed"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
)

func small(t *testing.T) *reader.Reader {
	t.Helper()
	r, err := readertest.Reader()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func drawnPairs(n int) (pairs []reader.Pair) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var words []string
		for range 1 + r.IntN(12) {
			words = append(words, readertest.Words[r.IntN(len(readertest.Words))])
		}
		return strings.Join(words, " ")
	}
	for range n {
		pairs = append(pairs, reader.Pair{A: text(), B: text()})
	}
	return pairs
}

// TestVerdicts: a verdict is a distribution, belongs to its pair, and is the same alone and among others.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	r := small(t)
	pairs := drawnPairs(60)
	together := r.NewWorker().Read(nil, pairs)
	if len(together) != len(pairs) {
		t.Fatalf("%d verdicts of %d pairs", len(together), len(pairs))
	}
	w, different := r.NewWorker(), map[reader.Verdict]bool{}
	for i, p := range pairs {
		v := together[i]
		if sum := v.Contradict + v.Entail + v.Neutral; math.Abs(sum-1) > 1e-9 ||
			min(v.Contradict, v.Entail, v.Neutral) < 0 {
			t.Errorf("%v is no distribution", v)
		}
		if alone := w.Read(nil, []reader.Pair{p}); alone[0] != v {
			t.Errorf("%v: %v alone, %v among others", p, alone[0], v)
		}
		different[v] = true
	}
	if len(different) < len(pairs)/2 {
		t.Errorf("%d different verdicts of %d pairs", len(different), len(pairs))
	}
	before := []reader.Verdict{{Contradict: 1}}
	if got := w.Read(before, pairs[:1]); len(got) != 2 || got[0] != before[0] || got[1] != together[0] {
		t.Errorf("%v appended to %v", got, before)
	}
}

// TestLongStatements: what is beyond MaxStatement tokens is not read, on either side.
func TestLongStatements(t *testing.T) {
	t.Parallel()
	r := small(t)
	w, long := r.NewWorker(), strings.Repeat("open ", reader.MaxStatement)
	pairs := []reader.Pair{{A: long, B: long}, {A: long + "closed monday", B: long + "berlin"}}
	if v := w.Read(nil, pairs); v[0] != v[1] {
		t.Errorf("%v and %v", v[0], v[1])
	}
	if got := w.Cost(pairs[1]); got != 2*reader.MaxStatement+3 {
		t.Errorf("a pair of long statements costs %d tokens", got)
	}
	if got := w.Cost(reader.Pair{}); got != 3 {
		t.Errorf("an empty pair costs %d tokens", got)
	}
}

// TestLoadPackRefuses: a pack without the heads, or made for another model.
func TestLoadPackRefuses(t *testing.T) {
	t.Parallel()
	base, hash, err := readertest.Base()
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		base  string
		heads []int // that are left
	}{
		"made for another model": {strings.Repeat("0", 64), []int{0, 1}},
		"without the last head":  {hash, []int{0}},
		"without the first head": {hash, []int{1}},
	} {
		w := readertest.Weights(2)
		heads := w.Heads
		w.Heads = nil
		for _, i := range c.heads {
			w.Heads = append(w.Heads, heads[i])
		}
		pack, err := readertest.Pack(c.base, w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.LoadPack(pack, base, nil); !errors.Is(err, embed.ErrPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCertain: the small reader that other packages test with gives the verdict that they ask for.
func TestCertain(t *testing.T) {
	t.Parallel()
	r, err := readertest.Certain([3]float32{20, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.NewWorker().Read(nil, drawnPairs(3)) {
		if v.Contradict < 0.999 {
			t.Errorf("%v", v)
		}
	}
}

func TestStatementStandsBehindTheWordsThatLeadUpToIt(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("word ", 100)
	for _, test := range []struct{ lead, statement, want string }{
		{"", "It rains.", "It rains."},
		{" \n", "It rains.", "It rains."},
		{"Tuesday,\n after lunch: ", "It rains.", "Tuesday,\n after lunch: | It rains."},
		{strings.Repeat("部屋は三階です。", 40), "雨です。", strings.Repeat("部屋は三階です。", 10) + " | 雨です。"},
		{many + "the end.", "It rains.", strings.Repeat("word ", 38) + "the end. | It rains."},
	} {
		if got := reader.InNote(test.lead, test.statement); got != test.want {
			t.Errorf("behind %q: %q", test.lead, got)
		}
	}
}
