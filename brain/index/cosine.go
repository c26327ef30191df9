package index

import (
	"math"
	"math/bits"
	"slices"
)

// scanBlock is how many rows the kernel gets at once: their results stay in the
// first-level cache until they are scaled.
const scanBlock = 256

// sparseView is up to which part of a segment's chunks, as a divisor, a filter
// makes it cheaper to scan the rows that pass than the sketches of all.
const sparseView = 4

// sparseWord is up to how many of 64 chunks are scanned one by one when a filter
// or liveness keeps out the others: a single row costs twice its share of four.
const sparseWord = 24

// modelQuery is the query's vector under one model.
type modelQuery struct {
	id    ModelID
	dim   int
	scale float32
	ints  []int16
	line  Line
	// look is for sketches, made at the first.
	look  lookup
	looks bool
}

// cosines are those of the query with all chunks of a search. In a large segment they are
// estimates first, and certain for the chunks that these let come into question.
type cosines struct {
	vec    []float32 // of all chunks of all views, one after the other
	models []modelQuery
	sure   []uint64 // as many words per rough view as its chunks need
	docs   []int32  // of a view, to be looked at closer
	exact  []int32  // the products of their rows with the query
	dots   [scanBlock]int32
	sums   [scanBlock]uint16
}

// model finds or quantises the query's vector for a segment.
func (c *cosines) model(s *Segment, q *Query) int {
	i := slices.IndexFunc(c.models, func(m modelQuery) bool { return m.id == s.model && m.dim == s.Dim() })
	if i >= 0 {
		if c.models[i].scale == 0 {
			return -1
		}
		return i
	}
	m := modelQuery{id: s.model, dim: s.Dim()}
	if n := len(c.models); n < cap(c.models) { // the ints of an earlier search
		m.ints, m.look.table = c.models[:n+1][n].ints, c.models[:n+1][n].look.table
	}
	if v := q.Vectors[s.model]; len(v) == s.Dim() && len(v) > 0 {
		m.ints = slices.Grow(m.ints[:0], stride(m.dim))[:stride(m.dim)]
		m.scale = quantizeQuery(m.ints, v)
		m.line = q.line(s.model)
	}
	c.models = append(c.models, m)
	if m.scale == 0 {
		return -1
	}
	return len(c.models) - 1
}

// scan fills vec: with estimates in a view that is rough afterwards, otherwise
// with cosines. A chunk without vector, or of a model for which there is no query
// vector, gets 0; one that may be no candidate is left as it was.
func (c *cosines) scan(vs views, pass *passing, total int) {
	c.vec, c.sure = resize(c.vec, total), c.sure[:0]
	for i := range vs {
		v := &vs[i]
		n := v.Segment.Len()
		vec := c.vec[v.base : v.base+n]
		if v.model < 0 {
			clear(vec)
			continue
		}
		m := &c.models[v.model]
		if len(v.Segment.sketch.inverse) > 0 && (v.allow < 0 || pass.count(v) > n/sparseView) {
			c.estimate(v, m, vec)
			continue
		}
		if v.allow < 0 {
			for from := 0; from < n; from += scanBlock {
				c.scanRows(v, m, vec, from, min(from+scanBlock, n))
			}
			continue
		}
		for from := 0; from < n; from += 64 {
			word := pass.allow[v.allow+from>>6]
			switch some := bits.OnesCount64(word); {
			case some > sparseWord:
				c.scanRows(v, m, vec, from, min(from+64, n))
			case some > 0:
				for ; word != 0; word &= word - 1 {
					if doc := from + bits.TrailingZeros64(word); doc < n {
						c.scanRows(v, m, vec, doc, doc+1)
					}
				}
			}
		}
	}
}

// estimate writes what the sketches say of the cosines.
func (c *cosines) estimate(v *viewState, m *modelQuery, vec []float32) {
	if !m.looks {
		m.look.prepare(m.ints, m.scale)
		m.looks = true
	}
	k, n := &v.Segment.sketch, v.Segment.Len()
	v.rough, v.sure = true, len(c.sure)
	v.doubt = m.line.Factor * sketchDoubt / float32(math.Sqrt(float64(m.dim)))
	words := (n + 63) / 64
	c.sure = slices.Grow(c.sure, words)[:v.sure+words]
	clear(c.sure[v.sure:])
	perRow := len(m.look.table) / sketchRows
	for from := 0; from < n; from += scanBlock {
		to := min(from+scanBlock, len(k.inverse))
		sums := c.sums[:to-from]
		sketchDots(m.look.table, k.codes[from*perRow:to*perRow], sums)
		out := vec[from:min(to, n)]
		inverse := k.inverse[from:][:len(out)]
		if m.line == (Line{Factor: 1}) {
			for i := range out {
				out[i] = (float32(m.look.step*float32(sums[i])) - m.look.base) * inverse[i]
			}
			continue
		}
		for i := range out {
			if out[i] = 0; inverse[i] > 0 {
				out[i] = m.line.at((float32(m.look.step*float32(sums[i])) - m.look.base) * inverse[i])
			}
		}
	}
}

// isSure tells whether a chunk's cosine is known in a rough view.
func (c *cosines) isSure(v *viewState, doc int) bool {
	return c.sure[v.sure+doc>>6]>>(doc&63)&1 != 0
}

// ascertain replaces the estimates of c.docs in a rough view by their cosines.
func (c *cosines) ascertain(v *viewState) {
	m, s := &c.models[v.model], v.Segment
	c.exact = slices.Grow(c.exact[:0], len(c.docs))[:len(c.docs)]
	dotSome(m.ints, s.vectors, c.docs, c.exact)
	for i, doc := range c.docs {
		c.vec[v.base+int(doc)] = m.cosine(c.exact[i], s.scales[doc])
		c.sure[v.sure+int(doc>>6)] |= 1 << (doc & 63)
	}
}

// scanRows writes the cosines of the chunks from ≤ doc < to, at most scanBlock.
func (c *cosines) scanRows(v *viewState, m *modelQuery, vec []float32, from, to int) {
	w := len(m.ints)
	dots := c.dots[:to-from]
	dotRows(m.ints, v.Segment.vectors[from*w:to*w], dots)
	scales, out := v.Segment.scales[from:to], vec[from:to]
	if m.line == (Line{Factor: 1}) {
		for k, d := range dots {
			out[k] = float32(d) * m.scale * scales[k]
		}
		return
	}
	for k, d := range dots {
		out[k] = m.cosine(d, scales[k])
	}
}

// cosine is that of a row by its product with the query, 0 of one without vector.
func (m *modelQuery) cosine(dot int32, scale float32) float32 {
	if scale == 0 {
		return 0
	}
	return m.line.at(float32(dot) * m.scale * scale)
}

// cosineOf gives the cosine of a chunk, which is certain afterwards.
func (c *cosines) cosineOf(v *viewState, doc int) float32 {
	switch {
	case v.model < 0:
		return 0
	case v.rough:
		if !c.isSure(v, doc) {
			c.docs = append(c.docs[:0], int32(doc))
			c.ascertain(v)
		}
		return c.vec[v.base+doc]
	case v.allow < 0: // the scan had them all
		return c.vec[v.base+doc]
	default:
		m, s := &c.models[v.model], v.Segment
		w := len(m.ints)
		dotRows(m.ints, s.vectors[doc*w:(doc+1)*w], c.dots[:1])
		return m.cosine(c.dots[0], s.scales[doc])
	}
}

// resize gives a slice of n values of any content.
func resize(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }
