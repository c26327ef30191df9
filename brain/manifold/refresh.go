package manifold

import (
	"cmp"
	"slices"
)

const (
	// regrown is the growth of the signals after which the axes are laid anew.
	regrown = 1.1
	// recent is the half-life of a signal's say in where the person is, in signals
	// that came after it; after four half-lives the rest is not asked.
	recent = 6
	// moved is the share of that say which another basin needs to be the person's:
	// a majority that one stray signal does not make.
	moved = 0.6
	// seed of what is chosen by chance: the same signals give the same basins.
	seed = 0x6f72676d656d
)

// Refresh brings the state up to the signals: all of them, each time, in any
// order. It returns false below [MinSignals], and where all signals are one point.
func Refresh(last State, signals []Signal, nowMS int64) (Reading, bool) {
	if len(signals) < MinSignals {
		return Reading{}, false
	}
	order := byTime(signals)
	s := last
	fresh := stale(&last, signals)
	if fresh {
		vectors := make([][]float32, len(order))
		for i, k := range order {
			vectors[i] = signals[k].Vector
		}
		s.Mean, s.Axes, s.Ratios = lay(thin(vectors, maxLaid))
		if len(s.Axes) == 0 {
			return Reading{}, false
		}
		s.Fitted = len(signals)
		s.Version++
	}
	s.Refreshes++
	if s.DiscoveredMS == 0 {
		s.DiscoveredMS = nowMS
	}
	points := make([][]float32, len(order)) // in the order of time
	for i, k := range order {
		points[i] = s.project(signals[k].Vector)
	}
	centers := make([][]float32, len(last.Basins)) // of the last time
	for i, b := range last.Basins {
		centers[i] = s.project(b.Centroid)
	}
	before := centers
	if fresh {
		centers, s.Silhouette = choose(points, before, &chance{seed})
	} else {
		centers = slices.Clone(centers)
		lloyd(points, centers, 2) // follow the new signals
	}
	of, centers := populated(assign(points, centers), centers)
	r := Reading{Of: make([]int32, len(signals))}
	s.settle(signals, order, of, len(centers))
	s.number(&last, points, before, of)
	times := make([]int64, len(order))
	for i, k := range order {
		times[i] = min(signals[k].AtMS, nowMS)
	}
	r.place(&s, &last, of, times)
	for i, k := range order {
		r.Of[k] = of[i]
	}
	r.central(order, points, of, centers)
	r.State = s
	return r, true
}

// byTime lists the signals' indices, the earliest first.
func byTime(signals []Signal) []int32 {
	order := make([]int32, len(signals))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(signals[a].AtMS, signals[b].AtMS) })
	return order
}

// stale tells that the axes do not fit the signals any more.
func stale(s *State, signals []Signal) bool {
	n := len(signals)
	return s.Fitted == 0 || len(s.Axes) == 0 || len(s.Basins) == 0 || len(s.Mean) != len(signals[0].Vector) ||
		n < s.Fitted || float64(n) > regrown*float64(s.Fitted)
}

// populated drops the centers to which no point is nearest.
func populated(of []int32, centers [][]float32) ([]int32, [][]float32) {
	as := make([]int32, len(centers))
	for _, k := range of {
		as[k] = 1
	}
	var out [][]float32
	for k, c := range centers {
		if as[k] == 1 {
			as[k] = int32(len(out))
			out = append(out, c)
		}
	}
	for i, k := range of {
		of[i] = as[k]
	}
	return of, out
}

// settle computes the basins of the assignment in of, which is in the order of
// time.
func (s *State) settle(signals []Signal, order, of []int32, groups int) {
	vectors := make([][]float32, len(order))
	counts := make([]int, groups)
	for i, k := range order {
		vectors[i] = signals[k].Vector
		counts[of[i]]++
	}
	basins := make([]Basin, groups)
	for k, m := range middles(vectors, of, groups) {
		basins[k] = Basin{Centroid: m, Share: float64(counts[k]) / float64(len(order))}
	}
	s.Basins = basins
}

// number gives the basins their numbers: that of the last basin that most of
// their signals would have been in, if that holds for half of one of the two, else
// a new one.
func (s *State) number(last *State, points, before [][]float32, of []int32) {
	if s.NextBasin == 0 {
		s.NextBasin = 1
	}
	type share struct{ now, then, signals int }
	shares := make([]share, len(s.Basins)*len(before))
	sizes, were := make([]int, len(s.Basins)), make([]int, len(before))
	for i, p := range points {
		sizes[of[i]]++
		if len(before) == 0 {
			continue
		}
		then, _ := nearest(p, before)
		were[then]++
		x := &shares[int(of[i])*len(before)+int(then)]
		x.signals++
	}
	for i := range shares {
		shares[i].now, shares[i].then = i/len(before), i%len(before)
	}
	slices.SortFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.signals, a.signals), cmp.Compare(a.now, b.now), cmp.Compare(a.then, b.then))
	})
	taken := make([]bool, len(before))
	for _, x := range shares {
		b := &s.Basins[x.now]
		if b.Number != 0 || taken[x.then] || 2*x.signals < sizes[x.now] && 2*x.signals < were[x.then] || x.signals == 0 {
			continue
		}
		b.Number, taken[x.then] = last.Basins[x.then].Number, true
	}
	for k := range s.Basins {
		if s.Basins[k].Number == 0 {
			s.Basins[k].Number = s.NextBasin
			s.NextBasin++
		}
	}
}

// place says which basin the person is in by the latest signals, and whether that
// is another one than before. A basin that was cut away is not left by anybody.
func (r *Reading) place(s, last *State, of []int32, times []int64) {
	say := make([]float64, len(s.Basins))
	weight, sum := 1.0, 0.0
	for i := len(of) - 1; i >= 0 && i >= len(of)-4*recent; i-- {
		say[of[i]] += weight
		sum += weight
		weight *= halfLife
	}
	best := 0
	at := -1
	for k := range say {
		say[k] /= sum
		if say[k] > say[best] {
			best = k
		}
		if s.Basins[k].Number == last.At {
			at = k
		}
	}
	switch {
	case at < 0:
		at = best
	case at != best && say[best] >= moved:
		r.Shift = &Shift{From: last.At, To: s.Basins[best].Number, Confidence: say[best]}
		at = best
	}
	if s.At = s.Basins[at].Number; s.At != last.At {
		s.SinceMS = times[cameBy(of, int32(at), len(s.Basins))]
	}
	r.Confidence = say[at]
}

// cameBy is the signal by which the person came into a basin: that after which they were last placed there, had they
// been placed after each of the signals. It is the latest where the basin is theirs by that alone.
func cameBy(of []int32, basin int32, basins int) int {
	say, sum := make([]float64, basins), 0.0
	at, came := of[0], 0
	for i, k := range of {
		for b := range say {
			say[b] *= halfLife
		}
		sum = sum*halfLife + 1
		if say[k]++; k != at && say[k] >= moved*sum { // only the basin of this signal has gained
			at, came = k, i
		}
	}
	if at != basin {
		return len(of) - 1
	}
	return came
}

// halfLife is a half to the power of 1/recent.
const halfLife = 0.8908987181403393

// central finds the signals nearest to the middle of each basin.
func (r *Reading) central(order []int32, points [][]float32, of []int32, centers [][]float32) {
	members := make([][]int32, len(centers)) // positions in the order of time
	for i, k := range of {
		members[k] = append(members[k], int32(i))
	}
	r.Central = make([][]int32, len(centers))
	for k, m := range members {
		slices.SortStableFunc(m, func(a, b int32) int {
			return cmp.Compare(distance(points[a], centers[k]), distance(points[b], centers[k]))
		})
		for _, i := range m[:min(len(m), CentralSignals)] {
			r.Central[k] = append(r.Central[k], order[i])
		}
	}
}
