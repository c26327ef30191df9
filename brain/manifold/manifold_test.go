package manifold

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const dims = 48

// themes are directions far from each other, around which signals are made.
type themes struct {
	r       *rand.Rand
	centers [][]float32
	at      int64
}

func newThemes(seed uint64, n int) *themes {
	t := &themes{r: rand.New(rand.NewPCG(seed, 1))}
	for range n {
		t.centers = append(t.centers, t.around(nil, 1))
	}
	return t
}

// around is a random direction, drawn to a center the more the less the spread.
func (t *themes) around(center []float32, spread float64) []float32 {
	v := make([]float32, dims)
	length := 0.0
	for i := range v {
		x := t.r.NormFloat64() / math.Sqrt(dims) * spread
		if center != nil {
			x += float64(center[i])
		}
		v[i] = float32(x)
		length += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

// say makes n signals of one theme, later than all before.
func (t *themes) say(theme, n int) []Signal {
	out := make([]Signal, n)
	for i := range out {
		t.at += 60_000
		out[i] = Signal{Vector: t.around(t.centers[theme], 0.8), AtMS: t.at}
	}
	return out
}

func refresh(t *testing.T, last State, signals []Signal) Reading {
	t.Helper()
	r, ok := Refresh(last, signals, 77)
	if !ok {
		t.Fatal("no manifold")
	}
	return r
}

func TestBasinsAreTheThemes(t *testing.T) {
	for n := 2; n <= 6; n++ {
		th := newThemes(uint64(n), n)
		var signals []Signal
		for round := range 40 {
			for k := range n {
				signals = append(signals, th.say(k, 1+round%2)...)
			}
		}
		r := refresh(t, State{}, signals)
		if len(r.State.Basins) != n {
			t.Errorf("%d basins of %d themes", len(r.State.Basins), n)
			continue
		}
		if r.State.Silhouette < 0.2 || r.State.Silhouette > 1 {
			t.Errorf("silhouette %.3f", r.State.Silhouette)
		}
		theme := make([]int32, len(signals))
		for i, s := range signals {
			theme[i], _ = nearest(s.Vector, th.centers)
			for k := range i {
				if (theme[i] == theme[k]) != (r.Of[i] == r.Of[k]) {
					t.Fatalf("%d themes: signals %d and %d", n, i, k)
				}
			}
		}
	}
}

// One cloud is one basin, however often k-means could cut it.
func TestOneCloudIsOneBasin(t *testing.T) {
	for seed := range uint64(10) {
		th := newThemes(seed, 1)
		r := refresh(t, State{}, th.say(0, 150))
		if len(r.State.Basins) != 1 || r.State.Silhouette != 0 || r.State.Basins[0].Share != 1 {
			t.Errorf("seed %d: %d basins, silhouette %.3f", seed, len(r.State.Basins), r.State.Silhouette)
		}
	}
}

// On a plane in space the two axes of the plane explain all, in known shares.
func TestAxesOfAPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 400} { // fewer and more than the dimensions
		points := make([][]float32, n)
		for i := range points {
			a, b := 3*r.NormFloat64(), r.NormFloat64()
			points[i] = make([]float32, dims)
			points[i][4], points[i][9], points[i][20] = float32(a), float32(b), 5
		}
		mean, axes, ratios := lay(points)
		if len(axes) == 0 || len(axes) > 2 || math.Abs(float64(mean[20])-5) > 1e-5 {
			t.Fatalf("%d axes, mean %v", len(axes), mean[20])
		}
		if axes[0][4] < 0.99 || ratios[0] < 0.75 || ratios[0] > 1 {
			t.Errorf("first axis %.3f of the longer side, share %.3f", axes[0][4], ratios[0])
		}
	}
}

func TestFieldsOfTheInterface(t *testing.T) {
	th := newThemes(3, 3)
	signals := slices.Concat(th.say(0, 40), th.say(1, 30), th.say(2, 30))
	r := refresh(t, State{}, signals)
	s := r.State
	if s.Version != 1 || s.Refreshes != 1 || s.DiscoveredMS != 77 || s.Fitted != 100 {
		t.Errorf("%+v", s)
	}
	if s.Dimensions() < 2 || s.Dimensions() > maxAxes || len(s.Ratios) != s.Dimensions() {
		t.Errorf("%d dimensions, %d ratios", s.Dimensions(), len(s.Ratios))
	}
	sum := 0.0
	for i, x := range s.Ratios {
		if x <= 0 || i > 0 && x > s.Ratios[i-1]+1e-12 {
			t.Errorf("ratios %v", s.Ratios)
		}
		sum += x
	}
	if c := s.Cumulative(); math.Abs(c-min(sum, 1)) > 1e-12 || c > 1 {
		t.Errorf("cumulative %v of %v", c, sum)
	}
	shares := 0.0
	for k, b := range s.Basins {
		shares += b.Share
		if len(r.Central[k]) == 0 || len(r.Central[k]) > CentralSignals || r.Of[r.Central[k][0]] != int32(k) {
			t.Errorf("basin %d is shown by %v", k, r.Central[k])
		}
	}
	if math.Abs(shares-1) > 1e-9 {
		t.Errorf("shares sum to %v", shares)
	}
}

func TestNoManifoldWithoutEvidence(t *testing.T) {
	th := newThemes(1, 2)
	if _, ok := Refresh(State{}, th.say(0, MinSignals-1), 1); ok {
		t.Error("a manifold of too few signals")
	}
	if _, ok := Refresh(State{}, slices.Repeat(th.say(0, 1), 50), 1); ok {
		t.Error("a manifold of one point")
	}
}

func numbers(s State) (out []uint32) {
	for _, b := range s.Basins {
		out = append(out, b.Number)
	}
	slices.Sort(out)
	return out
}

// Signals come in, some beyond a tenth: the axes are laid anew now and then, and
// the basins keep their numbers; a new theme gets a new one.
func TestBasinsKeepTheirNumbers(t *testing.T) {
	th := newThemes(9, 4)
	signals := slices.Concat(th.say(0, 60), th.say(1, 60), th.say(2, 60))
	r := refresh(t, State{}, signals)
	first := numbers(r.State)
	byTheme := map[int]uint32{}
	for k := range 3 {
		byTheme[k] = r.State.Basins[r.Of[60*k]].Number
	}
	for round := range 12 {
		for k := range 3 {
			signals = append(signals, th.say(k, 4)...)
		}
		r = refresh(t, r.State, signals)
		if !slices.Equal(numbers(r.State), first) {
			t.Fatalf("round %d: basins %v were %v", round, numbers(r.State), first)
		}
		for k := range 3 {
			if n := r.State.Basins[r.Of[60*k]].Number; n != byTheme[k] {
				t.Fatalf("round %d: theme %d is basin %d, was %d", round, k, n, byTheme[k])
			}
		}
	}
	if r.State.Version < 2 || r.State.Version > 8 || r.State.Refreshes != 13 {
		t.Errorf("version %d after %d refreshes", r.State.Version, r.State.Refreshes)
	}
	signals = append(signals, th.say(3, 80)...)
	r = refresh(t, r.State, signals)
	if got := numbers(r.State); len(got) != 4 || !slices.Equal(got[:3], first) || got[3] != 4 {
		t.Errorf("basins %v after a fourth theme, %v before", got, first)
	}
}

// After a forget the vectors of the state are gone, but for what the caller hands
// in: the numbers hold on by the basins' centroids.
func TestNumbersOutliveTheAxes(t *testing.T) {
	th := newThemes(10, 3)
	signals := slices.Concat(th.say(0, 50), th.say(1, 50), th.say(2, 50))
	was := refresh(t, State{}, signals)
	s := was.State
	s.Fitted, s.Axes, s.Mean = 0, nil, nil
	r := refresh(t, s, signals[10:])
	if !slices.Equal(numbers(r.State), numbers(was.State)) || r.State.Version != 2 {
		t.Errorf("basins %v were %v", numbers(r.State), numbers(was.State))
	}
}

func TestShift(t *testing.T) {
	th := newThemes(11, 2)
	signals := slices.Concat(th.say(1, 60), th.say(0, 60))
	r := refresh(t, State{}, signals)
	if r.Shift != nil {
		t.Fatal("a person shifted into their first basin")
	}
	home, other := r.State.Basins[r.Of[60]].Number, r.State.Basins[r.Of[0]].Number
	if r.State.At != home || r.Confidence < 0.9 {
		t.Fatalf("at %d with %.2f, home is %d", r.State.At, r.Confidence, home)
	}
	// A stray signal moves nobody.
	signals = append(signals, th.say(1, 1)...)
	if r = refresh(t, r.State, signals); r.Shift != nil || r.State.At != home {
		t.Fatalf("one signal moved to %d", r.State.At)
	}
	shifts := 0
	for range 10 {
		signals = append(signals, th.say(1, 2)...)
		r = refresh(t, r.State, signals)
		if r.Shift != nil {
			shifts++
			if *r.Shift != (Shift{home, other, r.Confidence}) || r.Confidence < moved {
				t.Errorf("shift %+v", *r.Shift)
			}
		}
	}
	if shifts != 1 || r.State.At != other {
		t.Errorf("%d shifts, at %d", shifts, r.State.At)
	}
}

// A person is in a basin since the time of the text that brought them there, and not since the cycle that saw it.
func TestSinceTheTextsThatBroughtThem(t *testing.T) {
	th := newThemes(11, 2)
	signals := slices.Concat(th.say(1, 60), th.say(0, 60))
	const looked = int64(1) << 50
	r, ok := Refresh(State{}, signals, looked)
	if at := r.State.SinceMS; !ok || at < signals[60].AtMS || at > signals[70].AtMS {
		t.Errorf("since %d, the texts of the basin begin at %d", at, signals[60].AtMS)
	}
	first := r.State.SinceMS
	if r, _ = Refresh(r.State, append(signals, th.say(0, 5)...), looked); r.State.SinceMS != first {
		t.Errorf("who stays is there since %d, was since %d", r.State.SinceMS, first)
	}
	if r, _ = Refresh(State{}, signals[60:], looked); r.State.SinceMS < signals[60].AtMS || r.State.SinceMS > first {
		t.Errorf("who never was elsewhere is there since %d", r.State.SinceMS)
	}
	if r, _ = Refresh(State{}, signals, 5); r.State.SinceMS != 5 {
		t.Errorf("of texts of a time to come, since %d", r.State.SinceMS)
	}
}

func TestOrderOfSignalsDoesNotMatter(t *testing.T) {
	th := newThemes(12, 3)
	signals := slices.Concat(th.say(0, 30), th.say(1, 30), th.say(2, 30))
	r := refresh(t, State{}, signals)
	mixed := slices.Clone(signals)
	perm := th.r.Perm(len(mixed))
	for i, k := range perm {
		mixed[i] = signals[k]
	}
	m := refresh(t, State{}, mixed)
	for i, k := range perm {
		if m.Of[i] != r.Of[k] {
			t.Fatalf("signal %d is in another basin", k)
		}
	}
	if m.State.At != r.State.At || m.State.Silhouette != r.State.Silhouette {
		t.Error("another state")
	}
}

func TestReadingHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th := newThemes(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 4).Draw(t, "themes"))
		var signals []Signal
		var s State
		known := map[uint32]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "refreshes") {
			for range rapid.IntRange(0, 4).Draw(t, "bursts") {
				signals = append(signals, th.say(rapid.IntRange(0, len(th.centers)-1).Draw(t, "theme"),
					rapid.IntRange(0, 15).Draw(t, "n"))...)
			}
			if len(signals) > 0 && rapid.Bool().Draw(t, "forget") {
				signals = signals[rapid.IntRange(0, len(signals)-1).Draw(t, "gone"):]
			}
			r, ok := Refresh(s, signals, 5)
			if ok != (len(signals) >= MinSignals) {
				t.Fatalf("a manifold of %d signals: %v", len(signals), ok)
			}
			if !ok {
				continue
			}
			if len(r.Of) != len(signals) || len(r.Central) != len(r.State.Basins) || r.Confidence < 0 || r.Confidence > 1 {
				t.Fatalf("%+v", r)
			}
			now := map[uint32]bool{}
			for _, b := range r.State.Basins {
				if now[b.Number] || b.Number == 0 || b.Number >= r.State.NextBasin || b.Share <= 0 || len(b.Centroid) != dims {
					t.Fatalf("basin %d of %v", b.Number, numbers(r.State))
				}
				if !known[b.Number] && b.Number < s.NextBasin {
					t.Fatalf("the number %d was given twice", b.Number)
				}
				now[b.Number] = true
			}
			if !now[r.State.At] {
				t.Fatalf("at %d of %v", r.State.At, numbers(r.State))
			}
			if r.Shift != nil && (r.Shift.To != r.State.At || r.Shift.From != s.At || !now[r.Shift.From]) {
				t.Fatalf("shift %+v", *r.Shift)
			}
			s, known = r.State, now
		}
	})
}

func BenchmarkRefresh(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{500, 10_000} {
		signals := make([]Signal, n+50)
		for i := range signals {
			v := make([]float32, 384)
			for k := range v {
				v[k] = float32(r.NormFloat64()) / 20
			}
			v[i%5] += 0.5
			signals[i] = Signal{Vector: v, AtMS: int64(i)}
		}
		b.Run(fmt.Sprintf("signals=%d/first", n), func(b *testing.B) {
			for b.Loop() {
				Refresh(State{}, signals[:n], 1)
			}
		})
		last, _ := Refresh(State{}, signals[:n], 1)
		b.Run(fmt.Sprintf("signals=%d/later", n+50), func(b *testing.B) {
			for b.Loop() {
				if n < 1000 {
					last.State.Fitted = n + 50
				}
				Refresh(last.State, signals, 1)
			}
		})
	}
}
