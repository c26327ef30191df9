package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// ends is the least number of neighbours that a bridge has in each of the two
	// domains: one or two can be a mistake.
	ends = 3
	// leastDomain is the least number of texts in each of the two: what a memory of some
	// dozens of notes falls into are no topics, and what joins them tells nobody anything.
	leastDomain = 12
	// leastSide is the least share of a bridge's ties that lead to the weaker of its
	// two domains, and bothSides of those that lead to the two: what leads
	// everywhere joins nothing in particular.
	leastSide = 0.2
	bothSides = 0.7
)

// side is what ties a node to one domain.
type side struct {
	domain int32
	weight float64
	nodes  []int32 // its neighbours there
}

// bridge is a candidate.
type bridge struct {
	node  int32
	sides [2]side // the lower domain first
	even  float64 // 1 where the two hold it alike
}

// bridges finds the nodes through which two domains hang together, at most one
// for two domains: of all that lead from one to the other the one that holds to
// both most evenly, weighed by how much of what joins the two goes through it
// (Guimerà and Amaral's connectors, with the pair in place of the whole graph).
func bridges(in *Input, ties [][]tie) []Insight {
	between := map[[2]int32]float64{} // weight that joins two domains
	for v := range in.Nodes {
		d := in.domain(int32(v))
		for _, t := range ties[v] {
			if e := in.domain(t.to); d != None && e != None && d < e {
				between[[2]int32{d, e}] += t.weight
			}
		}
	}
	texts := make([]int, len(in.Domains))
	for v := range int32(len(in.Nodes)) {
		if d := in.domain(v); d != None && !in.Nodes[v].Entity {
			texts[d]++
		}
	}
	best := map[[2]int32]Insight{}
	for v := range int32(len(in.Nodes)) {
		if n := &in.Nodes[v]; !n.Entity && n.Bytes < telling {
			continue
		}
		b, ok := in.bridge(v, ties[v])
		if !ok || texts[b.sides[0].domain] < leastDomain || texts[b.sides[1].domain] < leastDomain ||
			in.Domains[b.sides[0].domain].Label == "" || in.Domains[b.sides[1].domain].Label == "" {
			continue
		}
		pair := [2]int32{b.sides[0].domain, b.sides[1].domain}
		through := between[pair]
		carried := 1.0
		if own := in.domain(v); own == pair[0] || own == pair[1] {
			other := b.sides[0]
			if own == pair[0] {
				other = b.sides[1]
			}
			carried = min(other.weight/max(through, other.weight), 1)
		}
		few := float64(min(len(b.sides[0].nodes), len(b.sides[1].nodes)))
		// Evenness is what a bridge is; few ends and little of the traffic take from
		// it, the latter at most half.
		sure := b.even * few / (few + ends) * (0.5 + 0.5*math.Sqrt(carried))
		if old, ok := best[pair]; ok && old.Confidence >= sure {
			continue
		}
		best[pair] = in.tell(&b, carried, sure)
	}
	out := make([]Insight, 0, len(best))
	for _, i := range best {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Insight) int { return slices.Compare(a.Domains, b.Domains) })
	return out
}

// bridge tells whether a node leads from one domain to another.
func (in *Input) bridge(v int32, ties []tie) (bridge, bool) {
	var sides []side
	total := 0.0
	for _, t := range ties {
		d := in.domain(t.to)
		total += t.weight
		if d == None {
			continue
		}
		k := slices.IndexFunc(sides, func(s side) bool { return s.domain == d })
		if k < 0 {
			k = len(sides)
			sides = append(sides, side{domain: d})
		}
		sides[k].weight += t.weight
		if !slices.Contains(sides[k].nodes, t.to) && len(sides[k].nodes) < MaxNodes {
			sides[k].nodes = append(sides[k].nodes, t.to)
		}
	}
	if len(sides) < 2 {
		return bridge{}, false
	}
	slices.SortFunc(sides, func(a, b side) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.domain, b.domain))
	})
	one, two := sides[0], sides[1]
	if two.weight < leastSide*total || one.weight+two.weight < bothSides*total || len(one.nodes) < ends ||
		len(two.nodes) < ends {
		return bridge{}, false
	}
	both := one.weight + two.weight
	p := (one.weight*one.weight + two.weight*two.weight) / (both * both)
	if one.domain > two.domain {
		one, two = two, one
	}
	return bridge{v, [2]side{one, two}, 2 * (1 - p)}, true
}

func (in *Input) tell(b *bridge, carried, sure float64) Insight {
	one, two := &b.sides[0], &b.sides[1]
	i := Insight{
		Kind:       KindBridge,
		Title:      fmt.Sprintf("%s connects %s and %s", in.name(b.node), in.topic(one.domain), in.topic(two.domain)),
		Confidence: sure,
		Nodes:      []int32{b.node},
		Domains:    []int32{one.domain, two.domain},
	}
	i.Detail = fmt.Sprintf("It is tied to %s of the first and %s of the second", counted(len(one.nodes)),
		counted(len(two.nodes)))
	if own := in.domain(b.node); own == one.domain || own == two.domain {
		i.Detail += fmt.Sprintf("; %.0f %% of what joins the two goes through it", 100*carried)
	}
	i.Detail += "."
	for k := range MaxNodes {
		for _, s := range [][]int32{one.nodes, two.nodes} {
			if k < len(s) && len(i.Nodes) < MaxNodes {
				i.Nodes = append(i.Nodes, s[k])
			}
		}
	}
	return i
}

// counted says how many nodes, up to where the counting stops.
func counted(n int) string {
	if n >= MaxNodes {
		return fmt.Sprintf("%d nodes or more", MaxNodes)
	}
	return fmt.Sprintf("%d nodes", n)
}
