package manifold

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

// keyed gives each signal a key of its own.
func keyed(signals []Signal, from uint64) []Signal {
	for i := range signals {
		signals[i].Key = from + uint64(i)
	}
	return signals
}

// The places of a plot are where the basins' centroids are projected to, its points where the signals are, and most
// points of a basin lie in its ellipse.
func TestPlotShowsTheBasins(t *testing.T) {
	th := newThemes(11, 3)
	signals := keyed(slices.Concat(th.say(0, 60), th.say(1, 50), th.say(2, 40)), 1)
	r := refresh(t, State{}, signals)
	p := r.Plot(signals, 1000)
	if len(p.Places) != 3 || len(r.State.Basins) != 3 || len(p.Points) != len(signals) || len(p.Ratios) != 2 ||
		p.Ratios[0] != r.State.Ratios[0] || p.Ratios[1] != r.State.Ratios[1] {
		t.Fatalf("%d places, %d points, shares %v", len(p.Places), len(p.Points), p.Ratios)
	}
	inside := 0
	for k, at := range p.Places {
		c := r.State.project(r.State.Basins[k].Centroid)
		if math.Hypot(at.X-float64(c[0]), at.Y-float64(c[1])) > 1e-4 {
			t.Errorf("basin %d at %.3f %.3f, its centroid at %.3f %.3f", k, at.X, at.Y, c[0], c[1])
		}
		if at.Major < at.Minor || at.Minor <= 0 || math.Abs(at.Angle) > math.Pi/2 {
			t.Errorf("basin %d spreads %+v", k, at)
		}
	}
	for i, point := range p.Points {
		if point.Signal != int32(i) {
			t.Fatalf("point %d is of signal %d", i, point.Signal)
		}
		at := p.Places[r.Of[i]]
		dx, dy := point.X-at.X, point.Y-at.Y
		along := dx*math.Cos(at.Angle) + dy*math.Sin(at.Angle)
		across := dy*math.Cos(at.Angle) - dx*math.Sin(at.Angle)
		if along*along/(at.Major*at.Major)+across*across/(at.Minor*at.Minor) <= 1 {
			inside++
		}
	}
	if share := float64(inside) / float64(len(signals)); share < 0.75 || share > 0.97 {
		t.Errorf("%.2f of the points are inside", share)
	}
	if again := r.Plot(signals, 1000); !slices.Equal(again.Points, p.Points) || !slices.Equal(again.Places, p.Places) {
		t.Error("the same manifold is drawn in two ways")
	}
}

// A cloud that is known to lie aslant has that ellipse.
func TestEllipse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := rapid.Float64Range(-1.5, 1.5).Draw(t, "turn")
		long := rapid.Float64Range(0.2, 3).Draw(t, "long")
		short := long * rapid.Float64Range(0, 0.8).Draw(t, "narrowness")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var m moments
		for range 4000 {
			a, b := long*r.NormFloat64(), short*r.NormFloat64()
			m.add([2]float64{5 + a*math.Cos(turn) - b*math.Sin(turn), a*math.Sin(turn) + b*math.Cos(turn) - 2})
		}
		p := m.place()
		off := math.Remainder(p.Angle-turn, math.Pi)
		if math.Abs(p.X-5) > 0.3*long || math.Abs(p.Y+2) > 0.3*long || math.Abs(p.Major/long-2) > 0.2 ||
			math.Abs(p.Minor-2*short) > 0.2*short+1e-5*long || math.Abs(off) > 0.15 {
			t.Fatalf("%+v of a cloud of %.2f by %.2f, turned by %.2f", p, long, short, turn)
		}
	})
	var one moments
	one.add([2]float64{0.3, -0.4})
	if p := one.place(); p != (Place{X: 0.3, Y: -0.4}) {
		t.Errorf("one point spreads: %+v", p)
	}
}

// What lies on a line has one axis, and is drawn on a line.
func TestPlotOfALine(t *testing.T) {
	signals := make([]Signal, 30)
	for i := range signals {
		v := make([]float32, dims)
		v[3] = float32(i%2) + float32(i)/100
		signals[i] = Signal{Vector: v, AtMS: int64(i), Key: uint64(i)}
	}
	r := refresh(t, State{}, signals)
	p := r.Plot(signals, 1000)
	if len(p.Ratios) != 1 || len(p.Points) != 30 {
		t.Fatalf("shares %v, %d points", p.Ratios, len(p.Points))
	}
	for _, point := range p.Points {
		if point.Y != 0 {
			t.Fatalf("a point beside the line: %+v", point)
		}
	}
	for _, at := range p.Places {
		if at.Y != 0 || at.Minor != 0 || at.Angle != 0 || at.Major <= 0 {
			t.Errorf("a place beside the line: %+v", at)
		}
	}
}

// At most so many signals are drawn; as others come and go, the rest of the picture stays.
func TestPlotChoosesTheSameSignals(t *testing.T) {
	th := newThemes(7, 2)
	signals := keyed(slices.Concat(th.say(0, 150), th.say(1, 50)), 1)
	r := refresh(t, State{}, signals)
	const most = 60
	keys := func(p Plot, of []Signal) map[uint64]bool {
		all := map[uint64]bool{}
		for _, point := range p.Points {
			all[of[point.Signal].Key] = true
		}
		return all
	}
	first := r.Plot(signals, most)
	shown := keys(first, signals)
	if len(first.Points) != most || len(shown) != most ||
		!slices.IsSortedFunc(first.Points, func(a, b Point) int { return int(a.Signal - b.Signal) }) {
		t.Fatalf("%d points", len(first.Points))
	}
	of := 0
	for _, point := range first.Points {
		if r.Of[point.Signal] == r.Of[0] {
			of++
		}
	}
	if of < most/2 || of > most-5 {
		t.Errorf("%d of %d points are of three quarters of the signals", of, most)
	}

	more := slices.Concat(signals, keyed(th.say(1, 20), 1000))
	r = refresh(t, r.State, more)
	left := 0
	for key := range keys(r.Plot(more, most), more) {
		if key < 1000 && !shown[key] {
			t.Errorf("signal %d is shown since others came", key)
		}
		if shown[key] {
			left++
		}
	}
	if left < most-20 {
		t.Errorf("of %d points %d are left after 20 signals came", most, left)
	}

	gone := first.Points[17].Signal
	fewer := slices.Delete(slices.Clone(signals), int(gone), int(gone)+1)
	r = refresh(t, State{}, fewer)
	now := keys(r.Plot(fewer, most), fewer)
	delete(shown, signals[gone].Key)
	for key := range shown {
		if !now[key] {
			t.Errorf("signal %d went with another", key)
		}
	}
	if len(now) != most {
		t.Errorf("%d points, though there are more signals", len(now))
	}
}

func TestForgetInAPlot(t *testing.T) {
	plot := &pb.ManifoldPlot{Signals: []*pb.PlotSignal{{Node: "a"}, {Node: "b"}, {Node: "a"}}}
	if Forget(plot, "c") || len(plot.GetSignals()) != 3 {
		t.Error("another text went")
	}
	if !Forget(plot, "a") || len(plot.GetSignals()) != 1 || plot.GetSignals()[0].GetNode() != "b" {
		t.Errorf("left: %v", plot.GetSignals())
	}
}
