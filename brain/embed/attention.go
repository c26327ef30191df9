package embed

import "orgmem/brain/embed/internal/kernel"

// attention is the scratch space of one sequence's attention. Both products,
// queries with keys and probabilities with values, run on the same integer
// kernel as the weights: keys and values are packed into panels as if they
// were weights.
type attention struct {
	rows int // largest sequence, padded to whole panels

	q      []int16   // [rows][dim], scaled by token and head
	qScale []float32 // [heads][rows]
	kScale []float32 // [heads][rows]
	keys   []int16   // [heads][rows/16] panels of [16 pairs of dimensions][16 tokens][2]
	values []int16   // [dim/16] panels of [rows/2 pairs of tokens][16 dimensions][2]
	mask   []float32 // [rows], 0 for a token and masked for padding

	vMax, vInv, vScale []float32 // [dim], values are scaled by dimension
	zero               []float32 // [dim], a bias that adds nothing, a row of padding
	unit               []float32 // [queryRows], undoes the scale of probabilities
	scores             []float32 // [queryRows][rows]
	probs              []int16   // [queryRows][rows]
}

func (a *attention) grow(rows, dim, heads int) {
	rows = roundUp(rows, kernel.Panel)
	a.rows = rows
	a.q = make([]int16, rows*dim)
	a.qScale, a.kScale = make([]float32, heads*rows), make([]float32, heads*rows)
	a.keys, a.values = make([]int16, rows*dim), make([]int16, rows*dim)
	a.mask = make([]float32, rows)
	a.vMax, a.vInv, a.vScale = make([]float32, dim), make([]float32, dim), make([]float32, dim)
	a.zero = make([]float32, dim)
	a.unit = make([]float32, queryRows)
	for i := range a.unit {
		a.unit[i] = 1.0 / kernel.MaxInt16
	}
	a.scores = make([]float32, queryRows*rows)
	a.probs = make([]int16, queryRows*rows)
}

// attend mixes the values of one sequence's rows into mixed.
//
// An odd number of query rows is rounded up. What the extra row computes is
// meaningless but finite, and lands in a row of mixed that belongs to the next
// sequence, which overwrites it in its turn, or in the padding after the last.
// Sequences must therefore be attended in order.
func (e *Encoder) attend(s sequence) {
	a, k, h := &e.attn, e.m.kern, &e.m.header
	dim, n := h.Dim, s.end-s.begin
	padded := roundUp(n, kernel.Panel)
	e.scaleHeads(s, padded)
	e.packValues(s, padded)
	for i := range padded {
		a.mask[i] = masked
		if i < n {
			a.mask[i] = 0
		}
	}
	for head := range h.Heads {
		keys := a.keys[head*a.rows*headDim:]
		for r := 0; r < n; r += queryRows {
			rows := min(queryRows, n-r)
			even := roundUp(rows, kernel.RowStep)
			for t := 0; t < padded; t += kernel.Panel {
				k.Gemm(a.scores[t:], padded, a.q[r*dim+head*headDim:], dim, keys[t*headDim:], headDim/2, even,
					a.qScale[head*a.rows+r:], a.kScale[head*a.rows+t:], a.mask[t:])
			}
			k.Softmax(a.probs, a.scores[:even*padded], padded)
			// A row of probabilities sums to at most MaxInt16 + n/2, values
			// are at most MaxInt16: the products stay below 2^31 up to tens of
			// thousands of tokens.
			for d := head * headDim; d < (head+1)*headDim; d += kernel.Panel {
				k.Gemm(e.mixed[(s.begin+r)*dim+d:], dim, a.probs, padded, a.values[d*a.rows:], padded/2, even,
					a.unit, a.vScale[d:], a.zero[d:])
			}
		}
	}
}

// scaleHeads makes queries and keys integers and packs the keys. The factor
// 1/sqrt(32) of attention rides on the queries' scales.
func (e *Encoder) scaleHeads(s sequence, padded int) {
	a, k, h := &e.attn, e.m.kern, &e.m.header
	dim, n := h.Dim, s.end-s.begin
	const factor = 0.17677669529663687
	for t := n; t < padded; t++ {
		for head := range h.Heads {
			a.kScale[head*a.rows+t] = 0
		}
	}
	if n < padded {
		for head := range h.Heads {
			clear(a.keys[(head*a.rows+padded-kernel.Panel)*headDim:][:kernel.Panel*headDim])
		}
	}
	for t := range n {
		row := e.qkv[(s.begin+t)*3*dim:]
		k.QuantHeads(a.q[t*dim:], a.qScale[t:], a.rows, row[:dim], headMax, factor)
		k.QuantKeys(a.keys[t/kernel.Panel*kernel.Panel*headDim+2*(t%kernel.Panel):], a.rows*headDim, a.kScale[t:], a.rows,
			row[dim:2*dim], headMax)
	}
}

// packValues makes values integers, scaled by dimension over the sequence.
func (e *Encoder) packValues(s sequence, padded int) {
	a, k, dim := &e.attn, e.m.kern, e.m.header.Dim
	n := s.end - s.begin
	value := func(t int) []float32 {
		if t >= n {
			return a.zero
		}
		return e.qkv[(s.begin+t)*3*dim+2*dim:][:dim]
	}
	clear(a.vMax)
	for t := range n {
		k.ColAbsMax(a.vMax, value(t))
	}
	for i, v := range a.vMax {
		v = max(v, kernel.TinyMax)
		a.vInv[i] = kernel.MaxInt16 / v
		a.vScale[i] = v / kernel.MaxInt16
	}
	for t := 0; t < padded; t += 2 {
		k.PackPair(a.values[t*kernel.Panel:], a.rows*kernel.Panel, value(t), value(t+1), a.vInv)
	}
}
