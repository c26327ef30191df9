package packfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// Linear is a layer y = W·x + b as published: W is [out][in], row by row. Of a
// header with weights of four bits, Blocks are W and are stored as they are; of
// a patch they are those that it exchanges, and Taken says which these are, a bit
// for each block, the lowest of a byte first.
type Linear struct {
	W, B   []float32
	Blocks []byte
	Taken  []byte
}

// Norm is a layer norm's gain and offset.
type Norm struct {
	Gamma, Beta []float32
}

// Layer is one transformer block.
type Layer struct {
	Query, Key, Value, Output, Up, Down Linear
	AfterAttention, AfterFFN            Norm
}

// Weights is a model as published.
type Weights struct {
	Vocab     string    // one piece per line, or the section that package unigram opens
	Words     []float32 // [vocab][Dim]
	Blocks    []byte    // instead of Words, of a header with words of four bits: of the tiers in blocks
	Coded     []Coded   // of the other tiers
	Positions []float32 // [MaxTokens or more][Dim]
	TokenType []float32 // [Dim], type 0
	Norm      Norm      // of the embeddings
	Layers    []Layer
	Centre    []float32 // [Centre][Dim], see File.CentreRows
	Heads     []Head    // of a tower
}

// Head is a dense layer behind a tower, by name.
type Head struct {
	Name string
	Linear
	In, Out int
	After   int // how many layers lie before it; 0: all
}

// Geometry shared with package kernel, repeated because packing must not
// depend on assembly.
const (
	panel    = 16
	runLen   = 32 // weights per packed run
	runBytes = 48
	maxQ     = 2047 // largest magnitude of a 12-bit weight
	maxQ8    = 127  // and of one of 8 bits
)

// PackedLen returns the bytes n packed weights take; n is a multiple of 32.
func PackedLen(n int) int { return n / runLen * runBytes }

// Build packs a model, or a tower if h has a base: then only the layers and heads of w are
// used. TaskHeads, Matrices and Sections of h are ignored and filled in.
func Build(h Header, w Weights) ([]byte, error) {
	h.Format = FormatVersion
	h.TaskHeads, h.Matrices, h.Sections = nil, nil, nil
	if err := h.validate(); err != nil {
		return nil, err
	}
	if len(w.Layers) != h.Layers {
		return nil, fmt.Errorf("%w: %d layers given, %d announced", ErrPack, len(w.Layers), h.Layers)
	}
	b := builder{h: &h}
	if h.Base == "" {
		b.section(secVocab, []byte(w.Vocab))
		b.words(w)
		b.positions(w.Positions, w.TokenType)
		b.norm(secNorm, w.Norm)
		if h.Centre > 0 {
			b.floats(secCentre, w.Centre, h.Centre*h.Dim)
		}
	}
	for i, l := range w.Layers {
		qkv := Linear{
			W: concat(l.Query.W, l.Key.W, l.Value.W),
			B: concat(l.Query.B, l.Key.B, l.Value.B),

			Blocks: concat(l.Query.Blocks, l.Key.Blocks, l.Value.Blocks),
			Taken:  concat(l.Query.Taken, l.Key.Taken, l.Value.Taken),
		}
		b.linear(LayerName(i, MatQKV), qkv, h.Dim, 3*h.Dim)
		b.linear(LayerName(i, MatOutput), l.Output, h.Dim, h.Dim)
		b.norm(LayerName(i, normAttention), l.AfterAttention)
		b.linear(LayerName(i, MatUp), l.Up, h.Dim, h.FFN)
		b.linear(LayerName(i, MatDown), l.Down, h.FFN, h.Dim)
		b.norm(LayerName(i, normFFN), l.AfterFFN)
	}
	for _, head := range w.Heads {
		b.head(head)
	}
	if err := h.validate(); b.err == nil {
		b.err = err
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.finish()
}

type builder struct {
	h    *Header
	body bytes.Buffer
	err  error
}

const align = 64

// section appends data at the next multiple of 64.
func (b *builder) section(name string, data []byte) {
	for b.body.Len()%align != 0 {
		b.body.WriteByte(0)
	}
	b.h.Sections = append(b.h.Sections, Section{Name: name, Offset: b.body.Len(), Length: len(data)})
	b.body.Write(data)
}

func (b *builder) floats(name string, x []float32, want int) {
	if len(x) != want && b.err == nil {
		b.err = fmt.Errorf("%w: %s has %d values, want %d", ErrPack, name, len(x), want)
	}
	out := make([]byte, 0, 4*len(x))
	for _, v := range x {
		if f := float64(v); (math.IsNaN(f) || math.IsInf(f, 0)) && b.err == nil {
			b.err = fmt.Errorf("%w: %s holds %g", ErrPack, name, v)
		}
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	b.section(name, out)
}

func (b *builder) norm(name string, n Norm) {
	b.floats(name+suffixGamma, n.Gamma, b.h.Dim)
	b.floats(name+suffixBeta, n.Beta, b.h.Dim)
}

// positions stores the sum of position and type vectors, because every token
// is of type 0, for as many positions as the model uses: some were trained with
// a shorter limit than their architecture has.
func (b *builder) positions(pos, typ []float32) {
	dim := b.h.Dim
	if len(typ) != dim {
		b.err = fmt.Errorf("%w: type vector of %d values, want %d", ErrPack, len(typ), dim)
		return
	}
	pos = pos[:min(len(pos), b.h.MaxTokens*dim)]
	sum := make([]float32, len(pos))
	for i, v := range pos {
		sum[i] = v + typ[i%dim]
	}
	b.floats(secPositions, sum, b.h.MaxTokens*dim)
}

func (b *builder) words(w Weights) {
	x, dim := w.Words, b.h.Dim
	if b.h.WordBits == bits4 {
		if len(w.Blocks)+len(w.Coded) == 0 {
			b.fail("no word vectors")
		}
		b.tiers(w)
		return
	}
	if len(x) == 0 || len(x)%dim != 0 {
		b.err = fmt.Errorf("%w: word vectors of %d values", ErrPack, len(x))
		return
	}
	q, scale, _ := quantRows(x, dim, maxQ)
	b.section(secWords, packRuns(q))
	b.floats(secWords+suffixScale, scale, len(x)/dim)
}

func (b *builder) linear(name string, l Linear, in, out int) {
	if b.h.WeightBits == bits4 {
		if b.h.Patch {
			b.patch(name, l, in*out)
		} else {
			b.blocks(name, l.Blocks, in*out)
		}
		b.floats(name+suffixBias, l.B, out)
		b.h.Matrices = append(b.h.Matrices, Matrix{Name: name, In: in, Out: out})
		return
	}
	if len(l.W) != in*out {
		if b.err == nil {
			b.err = fmt.Errorf("%w: %s has %d weights, want %d", ErrPack, name, len(l.W), in*out)
		}
		return
	}
	largest, pack := maxQ, packRuns
	if b.h.WeightBits == bits8 {
		largest, pack = maxQ8, packBytes
	}
	q, scale, maxL1 := quantRows(l.W, in, largest)
	tiled := make([]int16, len(q))
	i := 0
	for p := 0; p < out; p += panel {
		for k := 0; k < in; k += 2 {
			for o := p; o < p+panel; o++ {
				tiled[i], tiled[i+1] = q[o*in+k], q[o*in+k+1]
				i += 2
			}
		}
	}
	b.section(name, pack(tiled))
	b.floats(name+suffixScale, scale, out)
	b.floats(name+suffixBias, l.B, out)
	b.h.Matrices = append(b.h.Matrices, Matrix{
		Name: name, In: in, Out: out,
		ActMax: min(math.MaxInt16, math.MaxInt32/max(maxL1, 1)),
	})
}

// head stores a dense layer as it is: heads are small, and what they say is a number that a threshold cuts.
func (b *builder) head(x Head) {
	b.floats(x.Name+suffixWeight, x.W, x.In*x.Out)
	b.floats(x.Name+suffixBias, x.B, x.Out)
	b.h.TaskHeads = append(b.h.TaskHeads, TaskHead{Name: x.Name, In: x.In, Out: x.Out, After: x.After})
}

// quantRows scales each row to ±largest and returns the integers, the factors
// that undo it, and the largest sum of magnitudes of any row.
func quantRows(x []float32, cols, largest int) (q []int16, scale []float32, maxL1 int) {
	q = make([]int16, len(x))
	for r := 0; r < len(x); r += cols {
		row := x[r : r+cols]
		m := 0.0
		for _, v := range row {
			m = max(m, math.Abs(float64(v)))
		}
		s := float32(m / float64(largest))
		scale = append(scale, s)
		if s == 0 {
			continue
		}
		l1 := 0
		for i, v := range row {
			n := int(math.RoundToEven(float64(v) / float64(s)))
			n = min(max(n, -largest), largest)
			q[r+i] = int16(n)
			l1 += max(n, -n)
		}
		maxL1 = max(maxL1, l1)
	}
	return q, scale, maxL1
}

// packBytes stores 8-bit integers one behind the other.
func packBytes(q []int16) []byte {
	out := make([]byte, len(q))
	for i, v := range q {
		out[i] = byte(v)
	}
	return out
}

// packRuns stores 12-bit integers as described in the package comment.
func packRuns(q []int16) []byte {
	out := make([]byte, 0, PackedLen(len(q)))
	for r := 0; r < len(q); r += runLen {
		run := q[r : r+runLen]
		for _, v := range run {
			out = append(out, byte(v>>4))
		}
		for i := range runLen / 2 {
			out = append(out, byte(run[i]&15|run[i+runLen/2]&15<<4))
		}
	}
	return out
}

func concat[T any](parts ...[]T) []T {
	var all []T
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// finish puts the header before the sections. Offsets count from the first
// section, or the header's length would depend on the offsets it contains.
func (b *builder) finish() ([]byte, error) {
	head, err := json.Marshal(b.h)
	if err != nil {
		return nil, fmt.Errorf("packfile: write header: %w", err)
	}
	out := make([]byte, headerStart, headerStart+len(head)+align+b.body.Len())
	copy(out, magic)
	binary.LittleEndian.PutUint32(out[lengthAt:], uint32(len(head)))
	out = append(out, head...)
	for len(out)%align != 0 {
		out = append(out, 0)
	}
	out = append(out, b.body.Bytes()...)
	sum := sha256.Sum256(out[lengthAt:])
	copy(out[hashAt:], sum[:])
	return out, nil
}
