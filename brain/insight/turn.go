package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	dayMS = 24 * 60 * 60 * 1000
	// lately is the share of the whole time that counts as now, and leastLately its
	// least: within a day there are no trends.
	lately      = 5 // a fifth
	leastLately = dayMS
	// leastDated is the least number of dated texts in each of the two times.
	leastDated = 10
	// leastTurn is the least number of texts of a domain in the time in which it is
	// strong.
	leastTurn = 5
	// turned is by what factor a domain's share has to change: what is certain can
	// still be too little to tell.
	turned = 1.5
	// doubt is the probability up to which chance is not held responsible, over all
	// domains together.
	doubt = 0.05
)

// turns finds the domains whose share of what was written lately is clearly
// another than before. Shares, since a partition in which all grows has no rising
// topic. The test is the likelihood ratio of two binomial rates (Dunning 1993),
// its probability multiplied by the number of domains looked at.
func turns(in *Input, kind string) []Insight {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	dated := func(n *Node) bool { return !n.Entity && n.AtMS > 0 && n.AtMS <= in.NowMS }
	for i := range in.Nodes {
		if n := &in.Nodes[i]; dated(n) {
			first, last = min(first, n.AtMS), max(last, n.AtMS)
		}
	}
	if first >= last {
		return nil
	}
	window := max((last-first)/lately, leastLately)
	border := last - window
	before, now := make([]float64, len(in.Domains)), make([]float64, len(in.Domains))
	allBefore, allNow := 0.0, 0.0
	for i := range in.Nodes {
		n := &in.Nodes[i]
		if !dated(n) {
			continue
		}
		count, all := before, &allBefore
		if n.AtMS > border {
			count, all = now, &allNow
		}
		*all++
		if d := in.domain(int32(i)); d != None {
			count[d]++
		}
	}
	if allBefore < leastDated || allNow < leastDated {
		return nil
	}
	var out []Insight
	for d := range in.Domains {
		was, is := before[d]/allBefore, now[d]/allNow
		strong := now[d]
		if kind == KindFading {
			was, is = is, was
			strong = before[d] * min(1, allNow/allBefore) // as many as lately there would be
		}
		if strong < leastTurn || is < turned*was {
			continue
		}
		p := chanceOf(before[d], allBefore, now[d], allNow) * float64(len(in.Domains))
		if p > doubt {
			continue
		}
		out = append(out, in.turn(kind, int32(d), before[d]/allBefore, now[d]/allNow, border, window, 1-p))
	}
	return out
}

func (in *Input) turn(kind string, d int32, was, is float64, border, window int64, sure float64) Insight {
	days := (window + dayMS/2) / dayMS
	when := fmt.Sprintf("the last %d days", days)
	if days == 1 {
		when = "the last day"
	}
	i := Insight{Kind: kind, Confidence: min(sure, 0.99), Domains: []int32{d}, Nodes: in.latest(d, border, kind == KindRising)}
	i.Title = in.topic(d) + " is rising"
	if kind == KindFading {
		i.Title = in.topic(d) + " is fading"
	}
	i.Detail = fmt.Sprintf("Of what was written in %s, %s is about it; before that, %s.", when, percent(is), percent(was))
	return i
}

func percent(share float64) string {
	switch {
	case share == 0:
		return "nothing"
	case share < 0.001:
		return "less than 0.1 %"
	case share < 0.1:
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// latest lists the newest texts of a domain: of those after the border, or up to
// it.
func (in *Input) latest(d int32, border int64, after bool) []int32 {
	var out []int32
	for v := range int32(len(in.Nodes)) {
		n := &in.Nodes[v]
		if in.domain(v) == d && !n.Entity && n.AtMS > 0 && n.AtMS <= in.NowMS && (n.AtMS > border) == after {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(in.Nodes[b].AtMS, in.Nodes[a].AtMS), cmp.Compare(a, b))
	})
	return out[:min(len(out), MaxNodes)]
}

// chanceOf is the probability that two rates, a of n and b of m, differ so much
// or more by chance.
func chanceOf(a, n, b, m float64) float64 {
	p := (a + b) / (n + m)
	g := 2 * (lean(a, n*p) + lean(n-a, n*(1-p)) + lean(b, m*p) + lean(m-b, m*(1-p)))
	return math.Erfc(math.Sqrt(max(g, 0) / 2)) // of chi-square with one degree of freedom
}

func lean(seen, expected float64) float64 {
	if seen <= 0 || expected <= 0 {
		return 0
	}
	return seen * math.Log(seen/expected)
}
