package temporal

import (
	"cmp"
	"math"
	"slices"
)

// Series are the times at which a topic was touched.
type Series struct {
	Topic string
	AtMs  []int64
}

// Trend is how often a topic comes up, over time.
type Trend struct {
	Series    int    // its place in the arguments
	Direction string // Rising, Falling, Steady
	// Change is that of the later half of the time to the earlier, relative: 1 is
	// twice as often, −0.5 half. It is at most maxChange.
	Change float64
	// Confidence is 1 − p of the Mann–Kendall test.
	Confidence      float64
	FromMs, UntilMs int64
}

// The directions of a trend.
const (
	Rising  = "rising"
	Falling = "falling"
	Steady  = "steady"
)

const (
	// stretches is into how many equal parts the time is cut. The test needs some
	// eight values to reach significance at all, and more than a dozen leave most
	// topics with stretches of nothing.
	stretches = 10
	// leastTouches is how often a topic must have come up for a trend to be reported.
	leastTouches = 5
	// leastConfidence tells a trend from chance.
	leastConfidence = 0.9
	// leastChange is how much more or less often it must be: a tenth is noise to a
	// reader whatever the test says.
	leastChange = 0.3
	maxChange   = 10
)

// Trends tells for each series whether it rises or falls between fromMs and
// untilMs, in the order of the arguments; series with fewer than five times are
// left out, and so are those that have changed as chance may change them. total are the times
// of everything that was written: a topic rises when its share does, not when all write more.
func Trends(series []Series, total []int64, fromMs, untilMs int64) []Trend {
	if untilMs <= fromMs {
		return nil
	}
	all := counts(total, fromMs, untilMs)
	var out []Trend
	for i, s := range series {
		n := counts(s.AtMs, fromMs, untilMs)
		touches := 0.0
		for _, v := range n {
			touches += v
		}
		if touches < leastTouches {
			continue
		}
		var share []float64
		for k := range n {
			if all[k] > 0 {
				share = append(share, n[k]/all[k])
			}
		}
		t := Trend{Series: i, Direction: Steady, FromMs: fromMs, UntilMs: untilMs}
		t.Change = change(n, all)
		var sign float64
		sign, t.Confidence = mannKendall(share)
		if t.Confidence >= leastConfidence && math.Abs(t.Change) >= leastChange && sign*t.Change > 0 {
			if t.Direction = Rising; sign < 0 {
				t.Direction = Falling
			}
		}
		if t.Direction == Steady && math.Abs(t.Change) >= leastChange {
			continue // it has changed, and chance may be why: report neither
		}
		out = append(out, t)
	}
	return out
}

// counts is how many times fall into each stretch.
func counts(times []int64, fromMs, untilMs int64) (n [stretches]float64) {
	for _, t := range times {
		if t >= fromMs && t < untilMs {
			n[int(float64(t-fromMs)/float64(untilMs-fromMs)*stretches)]++
		}
	}
	return n
}

// change compares the share in the later half with that in the earlier. Half a
// touch is added to both, so that what is new rises by a number.
func change(n, all [stretches]float64) float64 {
	var part, whole [2]float64
	for k := range n {
		part[k*2/stretches] += n[k]
		whole[k*2/stretches] += all[k]
	}
	earlier, later := (part[0]+0.5)/(whole[0]+1), (part[1]+0.5)/(whole[1]+1)
	return min(later/earlier-1, maxChange)
}

// mannKendall tests for a monotonic trend: its sign, and 1 − p of the two-sided
// test with the normal approximation, ties corrected.
func mannKendall(x []float64) (sign, confidence float64) {
	n := float64(len(x))
	if n < 4 {
		return 0, 0
	}
	s := 0
	for i := range x {
		for k := i + 1; k < len(x); k++ {
			s += cmp.Compare(x[k], x[i])
		}
	}
	variance := n * (n - 1) * (2*n + 5)
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	for i := 0; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		t := float64(k - i)
		variance -= t * (t - 1) * (2*t + 5)
		i = k
	}
	if variance <= 0 || s == 0 {
		return 0, 0
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(variance/18)
	return math.Copysign(1, float64(s)), math.Erf(z / math.Sqrt2)
}

// Rhythm is how regularly something comes.
type Rhythm struct {
	// EveryMs is the median gap between two times that follow each other.
	EveryMs int64
	// Regularity is from 0 (any gap) to 1 (always the same).
	Regularity float64
	// Times is how many there were.
	Times int
}

// leastRhythm is how many times a rhythm needs at least: three gaps.
const leastRhythm = 4

// Cadence measures the gaps between times; ok is false with fewer than four
// different ones.
func Cadence(atMs []int64) (r Rhythm, ok bool) {
	times := slices.Clone(atMs)
	slices.Sort(times)
	times = slices.Compact(times)
	if len(times) < leastRhythm {
		return Rhythm{}, false
	}
	gaps := make([]int64, len(times)-1)
	for i := range gaps {
		gaps[i] = times[i+1] - times[i]
	}
	middle := median(gaps)
	off := make([]int64, len(gaps))
	for i, g := range gaps {
		off[i] = max(g-middle, middle-g)
	}
	return Rhythm{
		EveryMs: middle, Regularity: 1 - min(1, float64(median(off))/float64(max(1, middle))), Times: len(times),
	}, true
}

func median(x []int64) int64 {
	slices.Sort(x)
	return x[len(x)/2]
}
