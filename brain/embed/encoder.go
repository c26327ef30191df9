package embed

import (
	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// batchRows is how many tokens of short texts are pushed through the layers
// together. Each weight panel is fetched once per batch, so more rows are
// cheaper, until their activations leave the second-level cache (1 MB on the
// machine measured); the curve is flat from 100 to 260.
const batchRows = 192

// groupRows bounds the rows that pass a weight matrix together: the widest
// input, 132 rows of 1536 int16, is 400 KB and stays in the second-level cache
// while the panels stream by.
const groupRows = 132

// queryRows bounds the query rows whose attention scores are held at once, so
// that the scores of a 512-token text take 96 KB and not 1 MB.
const queryRows = 48

// headDim is the width of an attention head; the pack guarantees it.
const headDim = 32

// headMax is the largest integer a query or key is scaled to: 32 products of
// 8191*8191 are just below 2^31.
const headMax = 8191

// masked is added to the score of a key that is only padding; its exponential
// is zero by definition (kernel.Softmax).
const masked = -1e30

// Encoder runs a model on one core. It owns scratch space (about 6 MB for the
// widest batch, allocated on first use and kept) and serves one call at a
// time; make one per worker.
type Encoder struct {
	m *Model

	ids    []int32 // of the batch, all sequences end to end
	marks  marks
	seqs   []sequence
	rows   int       // of the batch
	cap    int       // rows the buffers below hold
	hidden []float32 // [cap][dim]
	inputs inputs    // of a matrix
	qkv    []float32 // [cap][3*dim]
	mixed  []float32 // [cap][dim], attention's result, then a matrix's
	wide   []float32 // [groupRows][ffn]
	word   []int16   // one unpacked word vector

	// One sequence's attention, see attend.
	attn attention
}

// inputs are the rows that pass a matrix together, as integers.
type inputs struct {
	acts  []int16      // [groupRows][ffn], of a matrix, or
	terms []kernel.Row // [groupRows], what undoes the scaling of acts
	acts8 []uint8      // [groupRows][ffn], blocks of inputs, of a matrix8
	steps []float32    // [groupRows], of acts8
	sums  []int32      // scratch of kernel.Linear or kernel.Linear8
}

// marks are what is added to the tokens of a batch before the first layer.
type marks struct {
	kinds []uint8   // of each token, the row of table; empty: nothing is added
	table []float32 // [kinds][dim]
}

// sequence is one text in a batch.
type sequence struct {
	begin, end int // rows
	out        []float32
}

// NewEncoder returns an encoder with empty scratch space.
func (m *Model) NewEncoder() *Encoder { return &Encoder{m: m} }

// Query returns the vector of a question. The slice is the caller's.
func (e *Encoder) Query(text string) []float32 {
	out := make([]float32, e.m.Dim())
	e.add(e.m.query, text, out)
	e.run()
	return out
}

// Passages sets dst[i] to the vector of texts[i], into the slice that is there
// if it has room for Dim values and into a new one otherwise. dst must be at
// least as long as texts.
func (e *Encoder) Passages(dst [][]float32, texts []string) {
	dim := e.m.Dim()
	dst = dst[:len(texts)]
	for i, text := range texts {
		if cap(dst[i]) < dim {
			dst[i] = make([]float32, dim)
		}
		dst[i] = dst[i][:dim]
		e.add(e.m.passage, text, dst[i])
		if e.rows >= batchRows {
			e.run()
		}
	}
	e.run()
}

// add appends a text to the batch. A batch holds fewer than batchRows rows
// before its last text, which bounds it to batchRows plus one longest text.
func (e *Encoder) add(prefix []int32, text string, out []float32) {
	e.ids = e.m.appendTokens(e.ids, prefix, text)
	e.end(out)
}

// end makes a sequence of the ids that were added since the last one.
func (e *Encoder) end(out []float32) {
	e.seqs = append(e.seqs, sequence{begin: e.rows, end: len(e.ids), out: out})
	e.rows = len(e.ids)
}

// empty begins another batch.
func (e *Encoder) empty() {
	e.ids, e.marks.kinds, e.seqs, e.rows = e.ids[:0], e.marks.kinds[:0], e.seqs[:0], 0
}

// run pushes the batch through the model, makes a vector of each sequence and empties it.
func (e *Encoder) run() {
	e.layers()
	for _, s := range e.seqs {
		e.pool(s)
	}
	e.empty()
}

// layers pushes the batch through the layers. Of a model with CLS pooling one row a sequence is left.
func (e *Encoder) layers() {
	if e.rows == 0 {
		return
	}
	e.grow(e.rows)
	e.embed()
	last := len(e.m.layers) - 1
	for i := range e.m.layers {
		l := &e.m.layers[i]
		e.project(l)
		for _, s := range e.seqs {
			e.attend(s)
		}
		if i == last && e.m.header.Pooling == packfile.PoolCLS {
			e.keepFirstRows()
		}
		e.feedForward(l)
	}
}

// roundUp returns the least multiple of step that is at least n.
func roundUp(n, step int) int { return (n + step - 1) / step * step }

// grow makes room for a batch, and for the row or two by which an odd number
// of rows is rounded up in the products.
func (e *Encoder) grow(rows int) {
	rows = roundUp(rows, kernel.RowStep) + kernel.RowStep
	if rows <= e.cap {
		return
	}
	rows = max(rows, batchRows)
	h := &e.m.header
	e.cap = rows
	e.hidden = make([]float32, rows*h.Dim)
	if e.m.eight {
		e.inputs.acts8 = make([]uint8, groupRows*max(h.Dim, h.FFN)/kernel.BlockLen*kernel.InputBytes)
		e.inputs.steps = make([]float32, groupRows)
	} else {
		e.inputs.acts = make([]int16, groupRows*max(h.Dim, h.FFN))
		e.inputs.terms = make([]kernel.Row, groupRows)
	}
	e.inputs.sums = make([]int32, max(groupRows*kernel.Panel, kernel.Scratch8(groupRows)))
	e.qkv = make([]float32, rows*3*h.Dim)
	e.mixed = make([]float32, rows*h.Dim)
	e.wide = make([]float32, groupRows*h.FFN)
	e.word = make([]int16, h.Dim)
	e.attn.grow(min(rows, h.MaxTokens+kernel.RowStep), h.Dim, h.Heads)
}

// embed fills hidden with the normed sum of word and position vectors, and what is added to it.
func (e *Encoder) embed() {
	m, dim := e.m, e.m.header.Dim
	for _, s := range e.seqs {
		for r := s.begin; r < s.end; r++ {
			x := e.hidden[r*dim:][:dim]
			m.words.fill(e, x, int(e.ids[r]))
			at := m.positions[(r-s.begin)*dim:][:dim]
			m.kern.AddNorm(x, at, m.norm.Gamma, m.norm.Beta, m.header.Epsilon)
			if len(e.marks.kinds) > 0 {
				for i, v := range e.marks.table[int(e.marks.kinds[r])*dim:][:dim] {
					x[i] += v
				}
			}
		}
	}
}

// groups calls f for runs of rows that pass a matrix together, of nearly equal
// size, so that no run is so short that fetching the weights outweighs it.
func (e *Encoder) groups(f func(begin, end int)) {
	n := (e.rows + groupRows - 1) / groupRows
	step := roundUp((e.rows+n-1)/n, kernel.RowStep)
	for r := 0; r < e.rows; r += step {
		f(r, min(r+step, e.rows))
	}
}

// span is the range of a row of inputs, where the layers' arithmetic asks for it.
func (e *Encoder) span(x []float32) (lo, hi float32) {
	if e.m.eight {
		return 0, 0
	}
	return e.m.kern.Range(x)
}

// project computes queries, keys and values of all rows.
func (e *Encoder) project(l *layer) {
	dim := e.m.header.Dim
	e.groups(func(begin, end int) {
		for r := begin; r < end; r++ {
			x := e.hidden[r*dim:][:dim]
			lo, hi := e.span(x)
			l.qkv.quantize(e, r-begin, x, lo, hi)
		}
		l.qkv.multiply(e, e.qkv[begin*3*dim:], end-begin)
	})
}

// feedForward is the rest of a layer after attention: the output projection,
// the two-layer network, and a residual and norm after each.
func (e *Encoder) feedForward(l *layer) {
	h, k := &e.m.header, e.m.kern
	e.groups(func(begin, end int) {
		for r := begin; r < end; r++ {
			x := e.mixed[r*h.Dim:][:h.Dim]
			lo, hi := e.span(x)
			l.output.quantize(e, r-begin, x, lo, hi)
		}
		out := e.wide
		l.output.multiply(e, out, end-begin)
		for r := begin; r < end; r++ {
			x := e.hidden[r*h.Dim:][:h.Dim]
			lo, hi := k.AddNorm(x, out[(r-begin)*h.Dim:][:h.Dim], l.attentionNorm.Gamma, l.attentionNorm.Beta, h.Epsilon)
			l.up.quantize(e, r-begin, x, lo, hi)
		}
		l.up.multiply(e, e.wide, end-begin)
		for r := range end - begin {
			x := e.wide[r*h.FFN:][:h.FFN]
			lo, hi := k.Gelu(x)
			l.down.quantize(e, r, x, lo, hi)
		}
		l.down.multiply(e, out, end-begin)
		for r := begin; r < end; r++ {
			k.AddNorm(e.hidden[r*h.Dim:][:h.Dim], out[(r-begin)*h.Dim:][:h.Dim], l.finalNorm.Gamma, l.finalNorm.Beta, h.Epsilon)
		}
	})
}

// keepFirstRows drops all rows but each sequence's [CLS], the only one a model
// with CLS pooling looks at after its last attention.
func (e *Encoder) keepFirstRows() {
	dim := e.m.header.Dim
	for i := range e.seqs {
		s := &e.seqs[i]
		copy(e.hidden[i*dim:][:dim], e.hidden[s.begin*dim:][:dim])
		copy(e.mixed[i*dim:][:dim], e.mixed[s.begin*dim:][:dim])
		s.begin, s.end = i, i+1
	}
	e.rows = len(e.seqs)
}

// pool writes a sequence's unit vector. For CLS pooling one row is left, and
// its mean is itself.
func (e *Encoder) pool(s sequence) {
	dim := e.m.header.Dim
	out := s.out[:dim]
	copy(out, e.hidden[s.begin*dim:])
	for r := s.begin + 1; r < s.end; r++ {
		for i, v := range e.hidden[r*dim:][:dim] {
			out[i] += v
		}
	}
	unit(out) // the mean's divisor cancels
	e.m.centre.takeOut(out)
}
