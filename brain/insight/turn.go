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
	// apart is how long a domain has to rest for what comes next to be another visit
	// to it: a hundred messages of one evening are one occasion, and a test that
	// takes them for a hundred finds a trend in each.
	apart = 6 * 60 * 60 * 1000
	// leastVisits is the least number of visits to domains in each of the two times.
	leastVisits = 10
	// leastTurn is the least number of visits to a domain in the time in which it is
	// strong.
	leastTurn = 5
	// turned is by what factor a domain's share has to change: what is certain can
	// still be too little to tell.
	turned = 1.5
	// doubt is the share of what is shown that may be chance: each says how sure it
	// is, and a reader wants to hear of what is likely, too.
	doubt = 0.2
)

// period counts what lies in one of the two times.
type period struct {
	texts, visits       []float64 // of each domain
	allTexts, allVisits float64
}

func newPeriod(domains int) *period {
	return &period{texts: make([]float64, domains), visits: make([]float64, domains)}
}

// turns finds the domains whose share of what was written lately is clearly
// another than before. Shares, since a partition in which all grows has no rising
// topic. The test is the likelihood ratio of two binomial rates (Dunning 1993) of
// visits, over all domains at once (Benjamini and Hochberg 1995).
func turns(in *Input, kind string) []Insight {
	var dated []int32
	for v := range int32(len(in.Nodes)) {
		if in.dated(v) {
			dated = append(dated, v)
		}
	}
	if len(dated) == 0 {
		return nil
	}
	slices.SortStableFunc(dated, func(a, b int32) int { return cmp.Compare(in.Nodes[a].AtMS, in.Nodes[b].AtMS) })
	first, last := in.Nodes[dated[0]].AtMS, in.Nodes[dated[len(dated)-1]].AtMS
	window := max((last-first)/lately, leastLately)
	border := last - window
	before, now := newPeriod(len(in.Domains)), newPeriod(len(in.Domains))
	seen := make([]int64, len(in.Domains)) // when a text of the domain came last
	for _, v := range dated {
		p, at := before, in.Nodes[v].AtMS
		if at > border {
			p = now
		}
		p.allTexts++
		d := in.domain(v)
		if d == None {
			continue
		}
		p.texts[d]++
		if seen[d] == 0 || at-seen[d] > apart {
			p.visits[d]++
			p.allVisits++
		}
		seen[d] = at
	}
	if before.allVisits < leastVisits || now.allVisits < leastVisits {
		return nil
	}
	odds := make([]float64, len(in.Domains))
	for d := range odds {
		odds[d] = chanceOf(before.visits[d], before.allVisits, now.visits[d], now.allVisits)
	}
	odds = among(odds)
	var out []Insight
	for d := range in.Domains {
		was, is := before.visits[d]/before.allVisits, now.visits[d]/now.allVisits
		strong := now.visits[d]
		wrote, writes := before.texts[d]/before.allTexts, now.texts[d]/now.allTexts
		from, to := wrote, writes
		if kind == KindFading {
			was, is, from, to = is, was, to, from
			strong = before.visits[d] * min(1, now.allVisits/before.allVisits) // as many as lately there would be
		}
		if strong < leastTurn || is < turned*was || to < turned*from {
			continue
		}
		if odds[d] > doubt {
			continue
		}
		out = append(out, in.turn(kind, int32(d), wrote, writes, border, window, 1-odds[d]))
	}
	return out
}

// dated holds for texts of which it is known when they were written, not after
// now.
func (in *Input) dated(v int32) bool {
	n := &in.Nodes[v]
	return !n.Entity && n.AtMS > 0 && n.AtMS <= in.NowMS
}

func (in *Input) turn(kind string, d int32, was, is float64, border, window int64, sure float64) Insight {
	days := (window + dayMS/2) / dayMS
	i := Insight{
		Kind: kind, Confidence: min(sure, 0.99), Domains: []int32{d}, Nodes: in.latest(d, border, kind == KindRising),
	}
	words := in.shapeWordsOf(i.Nodes)
	when := words.day
	if days != 1 {
		when = fmt.Sprintf(words.days, days)
	}
	i.Title = fmt.Sprintf(words.rising, in.topic(words, d))
	if kind == KindFading {
		i.Title = fmt.Sprintf(words.fading, in.topic(words, d))
	}
	i.Detail = fmt.Sprintf(words.share, when, words.percent(is), words.percent(was))
	return i
}

// latest lists the newest texts of a domain: of those after the border, or up to
// it.
func (in *Input) latest(d int32, border int64, after bool) []int32 {
	var out []int32
	for v := range int32(len(in.Nodes)) {
		if in.dated(v) && in.domain(v) == d && (in.Nodes[v].AtMS > border) == after {
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

// among turns probabilities that chance alone would go so far into the share of
// chance among all that go as far or farther (Benjamini and Hochberg's adjustment).
func among(odds []float64) []float64 {
	order := make([]int, len(odds))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(odds[a], odds[b]) })
	out := make([]float64, len(odds))
	least := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = min(least, odds[i]*float64(len(odds))/float64(rank))
		out[i] = least
	}
	return out
}

func lean(seen, expected float64) float64 {
	if seen <= 0 || expected <= 0 {
		return 0
	}
	return seen * math.Log(seen/expected)
}
