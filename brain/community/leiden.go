package community

// cutter cuts one graph, which may be an aggregate of another.
type cutter struct {
	g     *Graph
	gamma float64
	// bound nodes were in a community before: they leave it only for one that gains
	// more by loyalty times their degree. Nil: none is.
	bound []bool
	of    []int32   // community of each node, numbers below len(weight)
	sum   []float64 // degree of each community
	size  []int32   // its nodes

	links   []float64 // scratch: weight from a node to each community
	touched []int32
}

func newCutter(g *Graph, of []int32, gamma float64, bound []bool) *cutter {
	n := g.nodes()
	c := &cutter{
		g: g, gamma: gamma, bound: bound, of: of, sum: make([]float64, n), size: make([]int32, n), links: make([]float64, n),
	}
	for v, k := range of {
		c.sum[k] += g.degree[v]
		c.size[k]++
	}
	return c
}

// gains collects the weights from v to the communities around it.
func (c *cutter) gains(v int32) {
	c.touched = c.touched[:0]
	g := c.g
	for k := g.rows[v]; k < g.rows[v+1]; k++ {
		d := c.of[g.to[k]]
		if c.links[d] == 0 {
			c.touched = append(c.touched, d)
		}
		c.links[d] += g.weight[k]
	}
}

func (c *cutter) forget() {
	for _, d := range c.touched {
		c.links[d] = 0
	}
}

// least is the gain that is worth a move: less is rounding, and the same graph
// would be cut differently by another order of additions.
const least = 1e-9

// move runs the fast local moving of Leiden from the queued nodes on: each goes to
// the neighbouring community, or an empty one, that gains most modularity, and
// wakes its neighbours outside of it. It returns whether anything moved.
func (c *cutter) move(queue []int32) bool {
	g := c.g
	n := g.nodes()
	waiting := make([]bool, n)
	for _, v := range queue {
		waiting[v] = true
	}
	var empty []int32
	for k := range int32(n) {
		if c.size[k] == 0 {
			empty = append(empty, k)
		}
	}
	moved := false
	// Each move gains at least `least`, so the walk ends; the bound keeps one with
	// odd weights from taking long.
	for steps := 0; len(queue) > 0 && steps < maxVisits*n; steps++ {
		v := queue[0]
		queue = queue[1:]
		waiting[v] = false
		own := c.of[v]
		c.gains(v)
		scale := c.gamma * g.degree[v] / g.total
		best, gain := own, c.links[own]-scale*(c.sum[own]-g.degree[v])
		if c.bound != nil && c.bound[v] {
			gain += loyalty * g.degree[v]
		}
		for _, d := range c.touched {
			if d == own {
				continue
			}
			if x := c.links[d] - scale*c.sum[d]; x > gain+least || x > gain-least && best != own && d < best {
				best, gain = d, x
			}
		}
		if gain < -least && c.size[own] > 1 && len(empty) > 0 {
			best = empty[len(empty)-1]
		}
		c.forget()
		if best == own {
			continue
		}
		moved = true
		if c.size[best] == 0 {
			empty = empty[:len(empty)-1]
		}
		c.sum[own] -= g.degree[v]
		c.size[own]--
		if c.size[own] == 0 {
			empty = append(empty, own)
		}
		c.sum[best] += g.degree[v]
		c.size[best]++
		c.of[v] = best
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			if u := g.to[k]; c.of[u] != best && !waiting[u] {
				waiting[u] = true
				queue = append(queue, u)
			}
		}
	}
	return moved
}

// maxVisits bounds how often a node is looked at on average; in practice it is
// below 5.
const maxVisits = 50

// refine cuts each community into well connected parts, so that what hangs
// together by a node that has left falls apart (Traag and others, algorithm A.2).
// It takes the best merge in place of a random one: the answer must not depend on
// chance, and over several rounds it costs no quality that could be measured. It
// returns the parts, numbered from 0, and how many there are.
func (c *cutter) refine(order []int32) ([]int32, int) {
	g := c.g
	n := g.nodes()
	part := make([]int32, n)
	sum := make([]float64, n)    // degree of the part
	within := make([]float64, n) // weight from the part to the rest of its community
	alone := make([]bool, n)
	for v := range int32(n) {
		part[v], sum[v], alone[v] = v, g.degree[v], true
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			if c.of[g.to[k]] == c.of[v] {
				within[v] += g.weight[k]
			}
		}
	}
	scale := c.gamma / g.total
	for _, v := range order {
		whole := c.sum[c.of[v]]
		if !alone[v] || within[v] < scale*g.degree[v]*(whole-g.degree[v])-least {
			continue
		}
		c.touched = c.touched[:0]
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			u := g.to[k]
			if c.of[u] != c.of[v] {
				continue
			}
			d := part[u]
			if c.links[d] == 0 {
				c.touched = append(c.touched, d)
			}
			c.links[d] += g.weight[k]
		}
		best, gain := v, least
		for _, d := range c.touched {
			if d == v || within[d] < scale*sum[d]*(whole-sum[d])-least {
				continue
			}
			if x := c.links[d] - scale*g.degree[v]*sum[d]; x > gain {
				best, gain = d, x
			}
		}
		if best != v {
			part[v], alone[v], alone[best] = best, false, false
			sum[best] += g.degree[v]
			within[best] += within[v] - 2*c.links[best]
			sum[v] = 0
		}
		c.forget()
	}
	return part, renumber(part)
}

// renumber makes the numbers of the groups dense, in the order of their first
// members, and returns how many there are. None stays.
func renumber(of []int32) int {
	top := int32(0)
	for _, c := range of {
		top = max(top, c+1)
	}
	as := make([]int32, top)
	next := int32(0)
	for v, c := range of {
		if c == None {
			continue
		}
		if as[c] == 0 {
			next++
			as[c] = next
		}
		of[v] = as[c] - 1
	}
	return int(next)
}

// leiden improves the communities in of, which are numbered below g.nodes(), until
// nothing changes or the rounds are used up. Of the first round only the queued
// nodes are looked at.
func leiden(g *Graph, of, queue []int32, gamma float64, bound []bool, rounds int, chance *chance) {
	for round := range rounds {
		renumber(of)
		if !improve(g, of, queue, gamma, bound, chance, 0) && round > 0 {
			return
		}
		queue = chance.order(g.nodes())
	}
}

// improve is one round: move, refine, aggregate, and the same on the aggregate.
func improve(g *Graph, of, queue []int32, gamma float64, bound []bool, chance *chance, level int) bool {
	c := newCutter(g, of, gamma, bound)
	moved := c.move(queue)
	if level == maxLevels {
		return moved
	}
	parts, count := c.refine(chance.order(g.nodes()))
	if count == g.nodes() {
		return moved
	}
	a := g.aggregate(parts, count)
	upper := make([]int32, count)
	var held []bool
	if bound != nil {
		held = make([]bool, count)
	}
	for v, p := range parts {
		upper[p] = of[v]
		if bound != nil && bound[v] {
			held[p] = true
		}
	}
	renumber(upper)
	moved = improve(a, upper, chance.order(count), gamma, held, chance, level+1) || moved
	for v, p := range parts {
		of[v] = upper[p]
	}
	return moved
}

// maxLevels bounds the aggregation, which shrinks the graph by a factor each time.
const maxLevels = 20

// modularity of a cut, with the resolution gamma.
func modularity(g *Graph, of []int32, gamma float64) float64 {
	if g.total == 0 {
		return 0
	}
	inside, sum := 0.0, make([]float64, g.nodes())
	for v := range g.nodes() {
		inside += 2 * g.loops[v]
		sum[of[v]] += g.degree[v]
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			if of[g.to[k]] == of[v] {
				inside += g.weight[k]
			}
		}
	}
	q := inside / g.total
	for _, s := range sum {
		q -= gamma * (s / g.total) * (s / g.total)
	}
	return q
}

// chance is a seeded source of orders (SplitMix64, Steele and others 2014).
type chance struct{ state uint64 }

func (c *chance) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// order is a shuffled list of the numbers below n.
func (c *chance) order(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		k := int(c.next() % uint64(i+1))
		out[i] = out[k]
		out[k] = int32(i)
	}
	return out
}
