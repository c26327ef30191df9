package packfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// ErrPack reports a file that is not a pack this binary can use: wrong magic,
// wrong hash, unknown format or impossible shapes.
var ErrPack = errors.New("packfile: bad model pack")

const (
	magic       = "OMEMBED1"
	hashAt      = len(magic)
	lengthAt    = hashAt + sha256.Size
	headerStart = lengthAt + 4

	// maxHeader bounds what is parsed as JSON: a 48-layer model with its
	// licence text takes a tenth of it.
	maxHeader = 1 << 20
)

// Names of sections and matrices.
const (
	secVocab     = "vocab"
	secWords     = "words"
	secPositions = "positions"
	secNorm      = "norm"
	secCentre    = "centre"

	MatQKV    = "qkv"
	MatOutput = "output"
	MatUp     = "up"
	MatDown   = "down"

	normAttention = "attention-norm"
	normFFN       = "ffn-norm"

	suffixScale  = ".scale"
	suffixWeight = ".weight"
	suffixBias   = ".bias"
	suffixGamma  = ".gamma"
	suffixBeta   = ".beta"
	suffixCode   = ".code"
	suffixTaken  = ".taken"
)

// LayerName returns the name of a part of layer i.
func LayerName(i int, part string) string { return "layer" + strconv.Itoa(i) + "." + part }

// File is an opened pack. It refers to the bytes it was opened from, which
// must not change.
type File struct {
	Header
	hash     [sha256.Size]byte
	sections map[string][]byte
	base     *File // of a patch, once it is laid over it
}

// Open checks the hash and the shapes. Errors wrap ErrPack.
func Open(data []byte) (*File, error) {
	if len(data) < headerStart || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, fmt.Errorf("%w: not a model pack", ErrPack)
	}
	f := &File{}
	copy(f.hash[:], data[hashAt:])
	if sha256.Sum256(data[lengthAt:]) != f.hash {
		return nil, fmt.Errorf("%w: content does not match its hash", ErrPack)
	}
	n := int(binary.LittleEndian.Uint32(data[lengthAt:]))
	if n > maxHeader || headerStart+n > len(data) {
		return nil, fmt.Errorf("%w: header of %d bytes", ErrPack, n)
	}
	if err := json.Unmarshal(data[headerStart:headerStart+n], &f.Header); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrPack, err)
	}
	if err := f.validate(); err != nil {
		return nil, err
	}
	body := data[min(len(data), (headerStart+n+align-1)/align*align):]
	f.sections = make(map[string][]byte, len(f.Sections))
	for _, s := range f.Sections {
		if s.Offset < 0 || s.Length < 0 || s.Offset > len(body) || s.Length > len(body)-s.Offset {
			return nil, fmt.Errorf("%w: section %q lies outside the file", ErrPack, s.Name)
		}
		f.sections[s.Name] = body[s.Offset : s.Offset+s.Length : s.Offset+s.Length]
	}
	return f, nil
}

// Hash identifies the content.
func (f *File) Hash() [sha256.Size]byte { return f.hash }

func (f *File) section(name string, want int) ([]byte, error) {
	s, ok := f.sections[name]
	if !ok || want >= 0 && len(s) != want {
		return nil, fmt.Errorf("%w: section %q has %d bytes, want %d", ErrPack, name, len(s), want)
	}
	return s, nil
}

// Vocab returns the vocabulary of a wordpiece tokenizer, one piece per line.
func (f *File) Vocab() (string, error) {
	s, err := f.section(secVocab, -1)
	return string(s), err
}

// Unigram returns the section that package unigram opens. It refers to the file.
func (f *File) Unigram() ([]byte, error) { return f.section(secVocab, -1) }

// floats copies n values: the file need not be aligned in memory.
func (f *File) floats(name string, n int) ([]float32, error) {
	s, err := f.section(name, 4*n)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
	}
	return out, nil
}

// Words returns the packed word vectors of a vocabulary of n pieces, row by
// row, and their scales, of a header whose words have 12 bits.
func (f *File) Words(n int) (packed []byte, scale []float32, err error) {
	if f.WordBits != 0 {
		return nil, nil, fmt.Errorf("%w: words of %d bits", ErrPack, f.WordBits)
	}
	if packed, err = f.section(secWords, PackedLen(n*f.Dim)); err != nil {
		return nil, nil, err
	}
	scale, err = f.floats(secWords+suffixScale, n)
	return packed, scale, err
}

// PositionVectors returns [MaxTokens][Dim], the type vector added.
func (f *File) PositionVectors() ([]float32, error) {
	return f.floats(secPositions, f.MaxTokens*f.Dim)
}

// EmbeddingNorm returns the layer norm after the embeddings.
func (f *File) EmbeddingNorm() (Norm, error) { return f.norm(secNorm) }

// CentreRows returns [Centre][Dim]: the mean of all vectors, then directions of length 1 that stand upright on each other.
func (f *File) CentreRows() ([]float32, error) {
	if f.Centre == 0 {
		return nil, nil
	}
	return f.floats(secCentre, f.Centre*f.Dim)
}

// AttentionNorm returns the layer norm after layer i's attention.
func (f *File) AttentionNorm(i int) (Norm, error) { return f.norm(LayerName(i, normAttention)) }

// FFNNorm returns the layer norm after layer i's feed-forward part.
func (f *File) FFNNorm(i int) (Norm, error) { return f.norm(LayerName(i, normFFN)) }

func (f *File) norm(name string) (n Norm, err error) {
	if n.Gamma, err = f.floats(name+suffixGamma, f.Dim); err != nil {
		return Norm{}, err
	}
	n.Beta, err = f.floats(name+suffixBeta, f.Dim)
	return n, err
}

// Head returns a task's dense layer of the announced shape, its weights [out][in].
func (f *File) Head(name string, in, out int) (l Linear, err error) {
	if !slices.ContainsFunc(f.TaskHeads, func(h TaskHead) bool { return h.Name == name && h.In == in && h.Out == out }) {
		return Linear{}, fmt.Errorf("%w: no head %q of %d by %d", ErrPack, name, in, out)
	}
	if l.W, err = f.floats(name+suffixWeight, in*out); err != nil {
		return Linear{}, err
	}
	l.B, err = f.floats(name+suffixBias, out)
	return l, err
}

// Packed is a linear layer in the file's panels, or in blocks, output by output.
type Packed struct {
	Matrix
	Bits        int    // of a weight: 12 in runs, 8 in bytes, or 4 in blocks, which have no Scale
	Weights     []byte // refers to the file
	Scale, Bias []float32
}

// Linear returns a layer of the announced shape.
func (f *File) Linear(name string, in, out int) (p Packed, err error) {
	for _, m := range f.Matrices {
		if m.Name == name {
			p.Matrix = m
		}
	}
	blocks := f.WeightBits == bits4
	if p.In != in || p.Out != out || !blocks && (p.ActMax < 1 || p.ActMax > math.MaxInt16) {
		return Packed{}, fmt.Errorf("%w: %q is %d by %d, want %d by %d", ErrPack, name, p.In, p.Out, in, out)
	}
	length := PackedLen(in * out)
	switch p.Bits = cmp.Or(f.WeightBits, bits12); p.Bits {
	case bits8:
		length = in * out
	case bits4:
		length = BlocksLen(in * out)
	}
	if f.Patch {
		p.Weights, err = f.patched(name, in, out)
	} else {
		p.Weights, err = f.section(name, length)
	}
	if err != nil {
		return Packed{}, err
	}
	if !blocks {
		if p.Scale, err = f.floats(name+suffixScale, out); err != nil {
			return Packed{}, err
		}
	}
	p.Bias, err = f.floats(name+suffixBias, out)
	return p, err
}
