package manifold

import (
	"cmp"
	"math"
	"slices"

	pb "orgmem/proto"
)

// plotAxes is how many axes a plot shows: a screen has no more.
const plotAxes = 2

// Plot is a manifold as it is drawn: seen along its strongest axes.
type Plot struct {
	// Ratios are the shares of the variance that the axes of the plot hold. There may be one only: everything lies on a
	// line then.
	Ratios []float64
	Places []Place // one for each of the basins, in their order
	Points []Point // in the order of the signals
}

// Place is where a basin lies: the middle of its signals, and the ellipse of two standard deviations around it. Major
// and Minor are its half axes, and Angle is how far the longer one is turned from the first axis of the plot, in
// radians, more than -π/2 and at most π/2.
type Place struct{ X, Y, Major, Minor, Angle float64 }

// Point is where a signal lies.
type Point struct {
	Signal int32 // its index
	X, Y   float64
}

// Plot places all basins, and at most so many of the signals that were refreshed with. Which of them are chosen hangs
// on their keys alone: as signals come and go, the others stay in the picture, and each basin is shown by its share.
func (r *Reading) Plot(signals []Signal, most int) Plot {
	s := State{Mean: r.State.Mean, Axes: r.State.Axes[:min(len(r.State.Axes), plotAxes)]}
	p := Plot{Ratios: r.State.Ratios[:len(s.Axes)]}
	at := make([][2]float64, len(signals))
	sums := make([]moments, len(r.State.Basins))
	for i := range signals {
		for k, x := range s.project(signals[i].Vector) {
			at[i][k] = float64(x)
		}
		sums[r.Of[i]].add(at[i])
	}
	for k := range sums {
		p.Places = append(p.Places, sums[k].place())
	}
	for _, i := range chosen(signals, most) {
		p.Points = append(p.Points, Point{i, at[i][0], at[i][1]})
	}
	return p
}

// chosen are the signals whose keys have the least hashes, at most so many, in their order.
func chosen(signals []Signal, most int) []int32 {
	all := make([]int32, len(signals))
	for i := range all {
		all[i] = int32(i)
	}
	if len(all) <= most {
		return all
	}
	hash := func(i int32) uint64 { return (&chance{signals[i].Key}).next() }
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b)) })
	all = all[:most]
	slices.Sort(all)
	return all
}

// moments are the sums of which a place is made.
type moments struct{ n, x, y, xx, xy, yy float64 }

func (m *moments) add(p [2]float64) {
	m.n++
	m.x, m.y = m.x+p[0], m.y+p[1]
	m.xx, m.xy, m.yy = m.xx+p[0]*p[0], m.xy+p[0]*p[1], m.yy+p[1]*p[1]
}

// place takes the eigenvalues of the two by two covariance.
func (m *moments) place() Place {
	if m.n == 0 {
		return Place{}
	}
	p := Place{X: m.x / m.n, Y: m.y / m.n}
	a, b, c := m.xx/m.n-p.X*p.X, m.xy/m.n-p.X*p.Y, m.yy/m.n-p.Y*p.Y
	middle, half := (a+c)/2, math.Hypot((a-c)/2, b)
	p.Major, p.Minor = 2*math.Sqrt(max(middle+half, 0)), 2*math.Sqrt(max(middle-half, 0))
	if half > 0 {
		p.Angle = math.Atan2(2*b, a-c) / 2
	}
	return p
}

// Forget takes a text out of a plot, and reports whether it was there.
func Forget(plot *pb.ManifoldPlot, node string) bool {
	all := len(plot.GetSignals())
	plot.Signals = slices.DeleteFunc(plot.GetSignals(), func(s *pb.PlotSignal) bool { return s.GetNode() == node })
	return len(plot.Signals) < all
}
