package community

import (
	"cmp"
	"math"
	"slices"
)

const (
	// coldRounds and warmRounds bound the rounds of Leiden. The third of a cut from
	// scratch gains less than a thousandth of modularity.
	coldRounds = 4
	warmRounds = 2
	// regrown is the growth after which a cut from scratch is tried: what was
	// grafted on bit by bit may by then hide another shape.
	regrown = 1.5
	// worthwhile is by how much modularity the cut from scratch has to be better to
	// be taken: people know their domains, and a little is not worth confusion.
	worthwhile = 0.02
	// loyalty is the share of its ties by which another domain has to hold a node,
	// or part of a domain, more than its own before it moves there. In a chat with a
	// twentieth more messages strewn in, 99 % keep their domain by it, 94 % without.
	loyalty = 0.1
	// perResolution and maxResolution set the resolution to the root of nodes by
	// 500, from 1 to 3: domains of the size that people name. At 1, 3,000 passages of
	// meetings fall into six parts that mix topics, at 3 into 25 that do not; but at
	// 3, a partition of two topics would fall to pieces, since nothing can be more
	// than a third of the whole.
	perResolution = 500
	maxResolution = 3
)

// resolution for a graph of this size.
func (g *Graph) resolution() float64 {
	size := float64(g.nodes()) / perResolution
	if g.texts > 0 {
		size = float64(g.texts) / textsPerResolution
	}
	return min(max(math.Sqrt(size), 1), maxResolution)
}

// Find cuts the graph into communities.
func Find(g *Graph, earlier Earlier, opts Options) Partition {
	n := g.nodes()
	gamma, least := opts.Resolution, opts.MinNodes
	if gamma <= 0 {
		gamma = g.resolution()
	}
	if least <= 0 {
		least = 3
	}
	before := earlier.Of
	if len(before) != n {
		before = nil
	}
	chance := &chance{opts.Seed}
	of := singles(n)
	settled := earlier.Settled
	if g.total > 0 {
		if before != nil {
			of = follow(g, earlier, gamma, chance)
		}
		if before == nil || float64(n) > regrown*float64(settled) {
			fresh := singles(n)
			leiden(g, fresh, chance.order(n), gamma, nil, coldRounds, chance)
			if before == nil || modularity(g, fresh, gamma) > modularity(g, of, gamma)+worthwhile {
				of = fresh
			}
			settled = n
		}
	}
	p := Partition{Modularity: modularity(g, of, gamma), Settled: settled}
	pieces(g, of)
	p.Of = of
	p.describe(g, before, least)
	return p
}

// singles puts each node in a community of its own.
func singles(n int) []int32 {
	of := make([]int32, n)
	for v := range of {
		of[v] = int32(v)
	}
	return of
}

// follow fits what is fresh into the earlier communities.
func follow(g *Graph, earlier Earlier, gamma float64, chance *chance) []int32 {
	n := g.nodes()
	of := slices.Clone(earlier.Of)
	known := renumber(of)
	next := int32(known)
	bound := make([]bool, n)
	for v, c := range of {
		bound[v] = c != None
		if c == None {
			of[v] = next
			next++
		}
	}
	if earlier.Fresh == nil {
		leiden(g, of, chance.order(n), gamma, bound, warmRounds, chance)
		return of
	}
	// A node whose edges changed may move, and so may its neighbours; the others
	// have no reason to until one of these moves (Sahu's dynamic frontier).
	woken := make([]bool, n)
	var queue []int32
	wake := func(v int32) {
		if !woken[v] {
			woken[v] = true
			queue = append(queue, v)
		}
	}
	for _, v := range earlier.Fresh {
		if v < 0 || int(v) >= n {
			continue
		}
		wake(v)
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			wake(g.to[k])
		}
	}
	leiden(g, of, queue, gamma, bound, 1, chance)
	return of
}

// pieces takes communities apart that do not hang together: an earlier one may
// have lost what joined it.
func pieces(g *Graph, of []int32) {
	n := g.nodes()
	piece := make([]int32, n)
	for v := range piece {
		piece[v] = None
	}
	next := int32(0)
	var stack []int32
	for v := range int32(n) {
		if piece[v] != None {
			continue
		}
		piece[v] = next
		stack = append(stack[:0], v)
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for k := g.rows[u]; k < g.rows[u+1]; k++ {
				if t := g.to[k]; of[t] == of[u] && piece[t] == None {
					piece[t] = next
					stack = append(stack, t)
				}
			}
		}
		next++
	}
	copy(of, piece)
}

// describe numbers the communities that are large enough, the largest first, and
// says of each what it continues and what it is like.
func (p *Partition) describe(g *Graph, before []int32, least int) {
	count := renumber(p.Of)
	members, first := byGroup(p.Of, count)
	if adopt(g, p.Of, members, first, least) {
		count = renumber(p.Of)
		members, first = byGroup(p.Of, count)
	}
	p.number(g, before, members, first, least)
}

// Unite makes one of communities that turn out to be: into gives each the one that it becomes a part of, which may be
// itself. g and before are those that the partition was found in.
func (p *Partition) Unite(g *Graph, before, into []int32) {
	for v, c := range p.Of {
		if c != None {
			p.Of[v] = into[c]
		}
	}
	if len(before) != len(p.Of) {
		before = nil
	}
	count := renumber(p.Of)
	members, first := byGroup(p.Of, count)
	p.number(g, before, members, first, 1)
}

// number numbers the communities that have at least so many members, and portrays them.
func (p *Partition) number(g *Graph, before, members, first []int32, least int) {
	count := len(first) - 1
	order := make([]int32, 0, count)
	for c := range int32(count) {
		if int(first[c+1]-first[c]) >= least {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(first[b+1]-first[b], first[a+1]-first[a]),
			cmp.Compare(members[first[a]], members[first[b]]))
	})
	as := make([]int32, count)
	for c := range as {
		as[c] = None
	}
	p.Communities = make([]Community, len(order))
	for i, c := range order {
		as[c] = int32(i)
	}
	for v, c := range p.Of {
		if c != None {
			p.Of[v] = as[c]
		}
	}
	inner := make([]float64, g.nodes())
	for i, c := range order {
		p.Communities[i] = portray(g, p.Of, members[first[c]:first[c+1]], inner)
	}
	p.inherit(before)
}

// kin is the share of its ties by which a group that is too small for a community
// has to hold to one to be taken in.
const kin = 0.25

// adopt gives groups that are too small to the community that they hold to most,
// and returns whether there were any.
func adopt(g *Graph, of, members, first []int32, least int) bool {
	links := make([]float64, len(first)-1)
	var touched []int32
	large := func(c int32) bool { return int(first[c+1]-first[c]) >= least }
	type adoption struct{ small, into int32 }
	var all []adoption
	for c := range int32(len(first) - 1) {
		if large(c) {
			continue
		}
		degree := 0.0
		for _, v := range members[first[c]:first[c+1]] {
			degree += g.degree[v]
			for k := g.rows[v]; k < g.rows[v+1]; k++ {
				d := of[g.to[k]]
				if !large(d) {
					continue
				}
				if links[d] == 0 {
					touched = append(touched, d)
				}
				links[d] += g.weight[k]
			}
		}
		best, most := None, kin*degree
		for _, d := range touched {
			if links[d] > most {
				best, most = d, links[d]
			}
			links[d] = 0
		}
		touched = touched[:0]
		if best != None {
			all = append(all, adoption{c, best})
		}
	}
	for _, a := range all {
		for _, v := range members[first[a.small]:first[a.small+1]] {
			of[v] = a.into
		}
	}
	return len(all) > 0
}

// portray describes the community of the given members, all of one number in of.
func portray(g *Graph, of, members []int32, inner []float64) Community {
	c := Community{Before: None, Nodes: len(members)}
	inside, all := 0.0, 0.0
	for _, v := range members {
		inner[v] = 0
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			if of[g.to[k]] == of[v] {
				inner[v] += g.weight[k]
				c.Edges++
			}
		}
		inside += inner[v]
		all += g.degree[v]
	}
	c.Edges /= 2 // seen from both ends
	if all > 0 {
		c.Cohesion = min(inside/all, 1)
	}
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b int32) int { return cmp.Or(cmp.Compare(inner[b], inner[a]), cmp.Compare(a, b)) })
	for _, v := range sorted {
		switch {
		case g.named[v] && len(c.Names) < TopNames:
			c.Names = append(c.Names, v)
		case !g.named[v] && len(c.Top) < TopNodes:
			c.Top = append(c.Top, v)
		}
	}
	return c
}

// overlap is what a community and an earlier one share.
type overlap struct{ now, before, nodes int32 }

// inherit gives each community the earlier one that it mostly is: by the nodes
// they share, the most first, and at least half of one of the two.
func (p *Partition) inherit(before []int32) {
	if before == nil {
		return
	}
	top := int32(0)
	for _, b := range before {
		top = max(top, b+1)
	}
	was := make([]int32, top)
	shared := map[[2]int32]int32{}
	for v, b := range before {
		if b < 0 {
			continue
		}
		was[b]++
		if c := p.Of[v]; c != None {
			shared[[2]int32{c, b}]++
		}
	}
	pairs := make([]overlap, 0, len(shared))
	for k, n := range shared {
		pairs = append(pairs, overlap{k[0], k[1], n})
	}
	slices.SortFunc(pairs, func(a, b overlap) int {
		return cmp.Or(cmp.Compare(b.nodes, a.nodes), cmp.Compare(a.now, b.now), cmp.Compare(a.before, b.before))
	})
	taken := make([]bool, top)
	for _, o := range pairs {
		c := &p.Communities[o.now]
		if c.Before != None || taken[o.before] || 2*o.nodes < was[o.before] && 2*int(o.nodes) < c.Nodes {
			continue
		}
		c.Before, taken[o.before] = o.before, true
	}
}
