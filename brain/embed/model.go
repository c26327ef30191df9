package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// ModelID names a model, the exact bytes of its pack and the arithmetic that
// they go through, such as "all-minilm-l6-v2@0123456789ab". Vectors with
// different ids must not be compared.
type ModelID string

// arithmetic changes with every change of the bits that a pack's model computes.
// 1: weights of 12 bits. 2: of 10, spread by output, inputs between their ends.
// Of a pack in blocks: 3, inputs of 8 bits; 4, with a step for each 32 of them.
const (
	arithmetic       = 2
	arithmeticBlocks = 4
)

// Kernel names an implementation of the inner loops. All return the same bits.
type Kernel string

// The kernels. KernelAuto is the fastest the machine has.
const (
	KernelAuto     Kernel = "auto"
	KernelPortable Kernel = "portable"
	KernelAVX2     Kernel = "avx2"
	KernelAVX2AMD  Kernel = "avx2-float-sums"
	KernelVNNI     Kernel = "avx512-vnni"
)

// ErrKernel reports a kernel this machine cannot run.
var ErrKernel = errors.New("embed: kernel not available on this machine")

// ErrPack reports weights that are damaged or of an unknown kind.
var ErrPack = packfile.ErrPack

// Model is a loaded model. It is immutable and safe for concurrent use. Word
// vectors stay packed where they were loaded from; the layers' weights are
// unpacked, two bytes each (21 MB for all-MiniLM-L6-v2).
type Model struct {
	id     ModelID
	header packfile.Header
	tok    tokenizer
	kern   kernel.Kernels

	file      *packfile.File    // for what is laid over it
	hash      [sha256.Size]byte // of the pack
	words     wordVectors
	positions []float32
	norm      packfile.Norm
	layers    []layer
	centre    centre
	eight     bool // the layers' inputs have eight bits, see matrix8

	// [CLS] and the prefix of each kind, ready to copy.
	query, passage []int32
}

type layer struct {
	qkv, output, up, down    linear
	attentionNorm, finalNorm packfile.Norm
}

// Room gives memory for weights, so many int16, all zero, to keep as long as the
// model lives: once a model. A text passes all of its weights (21 MB of
// all-MiniLM-L6-v2, 12 MB of a model in blocks of twice the layers), so a caller
// that has large pages saves a query thousands of translations of addresses.
type Room func(n int) []int16

// LoadPack opens a pack and chooses the fastest kernel; the weights are unpacked
// into room (nil: the heap). The pack must not change while the model is in use.
// Errors wrap ErrPack.
func LoadPack(pack []byte, room Room) (*Model, error) {
	m, err := openPack(pack, room)
	if err != nil {
		return nil, fmt.Errorf("embed: load model: %w", err)
	}
	return m, nil
}

func openPack(pack []byte, room Room) (*Model, error) {
	f, err := packfile.Open(pack)
	if err != nil {
		return nil, err
	}
	if f.Base != "" {
		return nil, fmt.Errorf("%w: %s is a tower, which needs its base", ErrPack, f.Name)
	}
	m := &Model{
		id:     idOf(f),
		header: f.Header,
		file:   f,
		hash:   f.Hash(),
		eight:  f.InBlocks(),
		kern:   kernel.Available()[0],
	}
	if m.tok, err = openTokenizer(f); err != nil {
		return nil, err
	}
	if m.words, err = openWords(f, m.tok.Len()); err != nil {
		return nil, err
	}
	if m.positions, err = f.PositionVectors(); err != nil {
		return nil, err
	}
	if m.norm, err = f.EmbeddingNorm(); err != nil {
		return nil, err
	}
	if m.layers, err = openLayers(f, m.kern, room); err != nil {
		return nil, err
	}
	if m.centre, err = openCentre(f); err != nil {
		return nil, err
	}
	for _, id := range []int32{f.CLS, f.SEP} {
		if id < 0 || int(id) >= m.tok.Len() {
			return nil, fmt.Errorf("%w: special token %d of %d", ErrPack, id, m.tok.Len())
		}
	}
	m.query = m.tok.Append([]int32{f.CLS}, f.QueryPrefix, f.MaxTokens)
	m.passage = m.tok.Append([]int32{f.CLS}, f.PassagePrefix, f.MaxTokens)
	if max(len(m.query), len(m.passage))+2 > f.MaxTokens {
		return nil, fmt.Errorf("%w: prefixes leave no room for text", ErrPack)
	}
	return m, nil
}

// layerRoom is the room that the weights of a layer's four matrices take.
func layerRoom(f *packfile.File) int {
	return roomOf(f, f.Dim, 4*f.Dim) + roomOf(f, f.Dim, f.FFN) + roomOf(f, f.FFN, f.Dim)
}

// roomOf is the room that a matrix takes.
func roomOf(f *packfile.File, in, out int) int {
	if f.InBlocks() {
		return room8(in, out)
	}
	return in * out
}

// idOf names what a pack computes.
func idOf(f *packfile.File) ModelID {
	packHash := f.Hash()
	number := byte(arithmetic)
	if f.InBlocks() {
		number = arithmeticBlocks
	}
	hash := sha256.Sum256(append(packHash[:], number))
	return ModelID(f.Name + "@" + hex.EncodeToString(hash[:6]))
}

// openLayers unpacks all layers into room.
func openLayers(f *packfile.File, k kernel.Kernels, room Room) ([]layer, error) {
	if room == nil {
		room = func(n int) []int16 { return make([]int16, n) }
	}
	each := layerRoom(f)
	weights := room(f.Layers * each)
	var layers []layer
	for i := range f.Layers {
		l, err := openLayer(f, i, k, weights[i*each:(i+1)*each])
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// openLayer unpacks layer i, its matrices one behind the other into weights.
func openLayer(f *packfile.File, i int, k kernel.Kernels, weights []int16) (l layer, err error) {
	for _, m := range []struct {
		to      *linear
		part    string
		in, out int
	}{
		{&l.qkv, packfile.MatQKV, f.Dim, 3 * f.Dim},
		{&l.output, packfile.MatOutput, f.Dim, f.Dim},
		{&l.up, packfile.MatUp, f.Dim, f.FFN},
		{&l.down, packfile.MatDown, f.FFN, f.Dim},
	} {
		packed, err := f.Linear(packfile.LayerName(i, m.part), m.in, m.out)
		if err != nil {
			return layer{}, err
		}
		n := roomOf(f, m.in, m.out)
		if f.InBlocks() {
			*m.to = newMatrix8(&packed, weights[:n])
		} else {
			*m.to = newMatrix(k, &packed, weights[:n])
		}
		weights = weights[n:]
	}
	if l.attentionNorm, err = f.AttentionNorm(i); err != nil {
		return layer{}, err
	}
	l.finalNorm, err = f.FFNNorm(i)
	return l, err
}

// WithKernel returns the same model on another kernel, for tests and for
// diagnosis. It fails with ErrKernel when the machine cannot run it.
func (m *Model) WithKernel(k Kernel) (*Model, error) {
	for _, have := range kernel.Available() {
		if k == KernelAuto || have.Name() == string(k) {
			c := *m
			c.kern = have
			return &c, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrKernel, k)
}

// ID names the model and its pack.
func (m *Model) ID() ModelID { return m.id }

// Kernel names the inner loops in use.
func (m *Model) Kernel() Kernel { return Kernel(m.kern.Name()) }

// Source tells where the weights come from and under which licence.
func (m *Model) Source() packfile.Source { return m.header.Source }

// Dim is the length of a vector.
func (m *Model) Dim() int { return m.header.Dim }

// The range of all-MiniLM-L6-v2's cosines over the sample of cmd/modelpack (a
// test there holds the two). Scores that add a cosine to something else were
// made for it.
const (
	RangeModel  = "all-minilm-l6-v2"
	RangeMean   = 0.0917
	RangeSpread = 0.1233
)

// CosineLine is the line that brings the model's cosines to the range of
// RangeModel's: factor*cosine + offset. Models differ in it a lot: unrelated
// texts have 0.7 under e5 and 0.1 under all-MiniLM-L6-v2.
func (m *Model) CosineLine() (factor, offset float32) {
	h := &m.header
	if h.CosineSpread == 0 {
		return 1, 0
	}
	f := RangeSpread / h.CosineSpread
	return float32(f), float32(RangeMean - f*h.CosineMean)
}

// MaxTokens is the longest passage, in tokens as CountTokens counts them, that
// is embedded whole. Room for [CLS], [SEP] and the passage prefix is already
// taken off.
func (m *Model) MaxTokens() int { return m.header.MaxTokens - len(m.passage) - 1 }

// CountTokens returns the number of tokens of text, without [CLS], [SEP] and
// prefix. Texts joined by white space have the sum of their counts, so a
// chunker may count sentences once. It costs about 0.2 µs per token.
func (m *Model) CountTokens(text string) int { return m.tok.Count(text) }

// appendTokens adds a whole input sequence: prefix, text, [SEP].
func (m *Model) appendTokens(ids, prefix []int32, text string) []int32 {
	ids = append(ids, prefix...)
	ids = m.tok.Append(ids, text, m.header.MaxTokens-len(prefix)-1)
	return append(ids, m.header.SEP)
}
