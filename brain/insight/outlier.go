package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// leastAmong is the least number of texts among which one can stand out.
	leastAmong = 30
	// telling is the least length in bytes of a text that stands out, or joins:
	// short ones hold to nothing, or to anything, because they say nothing.
	telling = 120
	// aside is how many deviations below the middle a text's ties have to be
	// (Iglewicz and Hoaglin's 3.5 for the modified score).
	aside = 3.5
	// rare is the share of texts beyond which they are no outliers, but the way of
	// this partition.
	rare = 0.02
)

// outliers finds texts that hold to nothing else, by the sum of their ties
// against those of the others. The middle and the deviation are medians, which
// the outliers themselves do not move. What is said in a talk is about what was
// said before it, in whatever words, and does not stand alone.
func outliers(in *Input, ties [][]tie) []Insight {
	var texts []int32
	strength := make([]float64, len(in.Nodes))
	for v := range int32(len(in.Nodes)) {
		n := &in.Nodes[v]
		if n.Entity || n.Bytes < telling {
			continue
		}
		sum := 0.0
		for _, t := range ties[v] {
			if !in.Nodes[t.to].Entity { // an entity that only it mentions is no company
				sum += t.weight
			}
		}
		// The root: sums of ties are skewed, and the deviation is to be one of both
		// sides.
		strength[v] = math.Sqrt(sum)
		texts = append(texts, v)
	}
	if len(texts) < leastAmong {
		return nil
	}
	values := make([]float64, len(texts))
	for i, v := range texts {
		values[i] = strength[v]
	}
	middle := median(values)
	for i, v := range texts {
		values[i] = math.Abs(strength[v] - middle)
	}
	deviation := 1.4826 * median(values) // of a normal distribution
	if deviation <= 0 {
		return nil
	}
	spoken := in.spoken()
	var out []Insight
	for _, v := range texts {
		score := (middle - strength[v]) / deviation
		if score < aside || spoken[v] {
			continue
		}
		near := in.nearest(ties[v])
		i := Insight{Kind: KindOutlier, Confidence: score / (score + aside), Nodes: append([]int32{v}, near...)}
		words := in.shapeWordsOf([]int32{v})
		i.Title = fmt.Sprintf(words.alone, in.name(words, v))
		i.Detail = words.unlike
		if len(near) > 0 {
			i.Detail = words.hardly
		}
		if d := in.domain(v); d != None {
			i.Domains = []int32{d}
			i.Detail += fmt.Sprintf(words.nearest, in.topic(words, d))
		}
		out = append(out, i)
	}
	if float64(len(out)) > max(rare*float64(len(texts)), 1) {
		slices.SortStableFunc(out, func(a, b Insight) int { return cmp.Compare(b.Confidence, a.Confidence) })
		out = out[:int(max(rare*float64(len(texts)), 1))]
	}
	return out
}

// spoken marks the texts of which another was said within minutes. A time without an
// hour, of several texts of one day, says nothing of that.
func (in *Input) spoken() []bool {
	const day = 24 * 60 * 60 * 1000
	var timed []int32
	for v := range in.Nodes {
		if n := &in.Nodes[v]; !n.Entity && n.SaidMS%day != 0 {
			timed = append(timed, int32(v))
		}
	}
	slices.SortFunc(timed, func(a, b int32) int { return cmp.Compare(in.Nodes[a].SaidMS, in.Nodes[b].SaidMS) })
	spoken := make([]bool, len(in.Nodes))
	for i := range timed[min(1, len(timed)):] {
		a, b := timed[i], timed[i+1]
		if in.Nodes[b].SaidMS-in.Nodes[a].SaidMS <= reply {
			spoken[a], spoken[b] = true, true
		}
	}
	return spoken
}

// nearest lists a text's strongest neighbours, which show what it is compared to.
func (in *Input) nearest(ties []tie) []int32 {
	sorted := slices.DeleteFunc(slices.Clone(ties), func(t tie) bool { return in.Nodes[t.to].Entity })
	slices.SortFunc(sorted, func(a, b tie) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.to, b.to))
	})
	var out []int32
	for _, t := range sorted {
		if !slices.Contains(out, t.to) && len(out) < 3 {
			out = append(out, t.to)
		}
	}
	return out
}

// median of the values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}
