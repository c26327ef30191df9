package embed

import (
	"encoding/hex"
	"fmt"
	"slices"

	"orgmem/brain/embed/packfile"
)

// Tower is layers of their own over a model's words: what a task other than likeness is
// computed with. It is immutable and safe for concurrent use.
type Tower struct {
	m *Model
	f *packfile.File
}

// LoadTower opens a tower's pack over the model that it was made for; the weights are
// unpacked into room (nil: the heap). The pack must not change while the tower is in
// use. Errors wrap ErrPack, as with a model that the tower was not made for.
func LoadTower(pack []byte, base *Model, room Room) (*Tower, error) {
	f, err := openTower(pack, base)
	if err != nil {
		return nil, fmt.Errorf("embed: load tower: %w", err)
	}
	m := *base
	m.id = idOf(f)
	m.header.Pooling, m.eight = f.Pooling, f.InBlocks()
	if m.layers, err = openLayers(f, m.kern, room); err != nil {
		return nil, fmt.Errorf("embed: load tower: %w", err)
	}
	return &Tower{m: &m, f: f}, nil
}

// CheckTower tells whether a tower's pack is whole and was made for a model, without unpacking anything. Errors are
// those of LoadTower.
func CheckTower(pack []byte, base *Model) error {
	if _, err := openTower(pack, base); err != nil {
		return fmt.Errorf("embed: check tower: %w", err)
	}
	return nil
}

func openTower(pack []byte, base *Model) (*packfile.File, error) {
	f, err := packfile.Open(pack)
	if err != nil {
		return nil, err
	}
	h := &base.header
	if f.Base != hex.EncodeToString(base.hash[:]) || f.Dim != h.Dim || f.FFN != h.FFN || f.MaxTokens != h.MaxTokens {
		return nil, fmt.Errorf("%w: %s was not made for %s", ErrPack, f.Name, base.id)
	}
	if f.Patch {
		err = f.Over(base.file)
	}
	return f, err
}

// ID names the tower, its pack and the arithmetic that texts go through.
func (t *Tower) ID() ModelID { return t.m.id }

// Dim is the width of a state.
func (t *Tower) Dim() int { return t.m.Dim() }

// MaxTokens is the longest sequence, marks included.
func (t *Tower) MaxTokens() int { return t.m.header.MaxTokens }

// Head returns a task's dense layer of the announced shape.
func (t *Tower) Head(name string, in, out int) (packfile.Linear, error) {
	return t.f.Head(name, in, out)
}

// head finds a head by its name, of whatever shape.
func (t *Tower) head(name string) (h packfile.TaskHead, ok bool) {
	i := slices.IndexFunc(t.f.TaskHeads, func(h packfile.TaskHead) bool { return h.Name == name })
	if i < 0 {
		return h, false
	}
	return t.f.TaskHeads[i], true
}

// HeadOut is how many values a head gives; 0 where the pack holds none of the name.
func (t *Tower) HeadOut(name string) int {
	h, _ := t.head(name)
	return h.Out
}

// HasHead tells whether the pack holds a head of the name, of whatever shape.
func (t *Tower) HasHead(name string) bool {
	_, ok := t.head(name)
	return ok
}

// Before is the part of the tower that a head reads from: its first layers, or all of them.
func (t *Tower) Before(head string) *Tower {
	if h, _ := t.head(head); h.After > 0 && h.After < len(t.m.layers) {
		m := *t.m
		m.layers = m.layers[:h.After]
		return &Tower{m: &m, f: t.f}
	}
	return t
}

// WithKernel returns the same tower on another kernel, for tests. It fails with ErrKernel when the machine cannot run
// it.
func (t *Tower) WithKernel(k Kernel) (*Tower, error) {
	m, err := t.m.WithKernel(k)
	if err != nil {
		return nil, err
	}
	return &Tower{m: m, f: t.f}, nil
}

// AppendTokens adds the tokens of a text to ids, at most most of them, without marks.
func (t *Tower) AppendTokens(ids []int32, text string, most int) []int32 {
	return t.m.tok.Append(ids, text, most)
}

// Marks are the tokens that begin a sequence and that end each of its parts.
func (t *Tower) Marks() (begin, end int32) { return t.m.header.CLS, t.m.header.SEP }

// TowerEncoder runs a tower on one core, with the scratch space of [Encoder]; make one per worker.
type TowerEncoder struct{ e *Encoder }

// NewEncoder returns an encoder with empty scratch space.
func (t *Tower) NewEncoder() *TowerEncoder { return &TowerEncoder{t.m.NewEncoder()} }

// States passes sequences of at most MaxTokens tokens through the tower, many at a time, and gives for each, in
// order, the states of its tokens [len(sequence)][Dim], which are overwritten afterwards. The states of a sequence are
// the same bits on every machine, alone or in any batch.
func (x *TowerEncoder) States(sequences [][]int32, each func(i int, states []float32)) {
	x.Marked(sequences, nil, nil, each)
}

// Marked is States with something added to each token before the first layer: the row of table [kinds][Dim] that
// kinds names for it, which has the tokens of all sequences end to end; nothing where table is nil.
func (x *TowerEncoder) Marked(
	sequences [][]int32, kinds []uint8, table []float32, each func(i int, states []float32),
) {
	e, first := x.e, 0
	e.empty() // of what a call before left that ended in a panic
	flush := func(next int) {
		e.layers()
		for i, s := range e.seqs {
			each(first+i, e.hidden[s.begin*e.m.Dim():s.end*e.m.Dim()])
		}
		e.empty()
		first = next
	}
	for i, ids := range sequences {
		e.ids = append(e.ids, ids...)
		if table != nil {
			e.marks.kinds, e.marks.table = append(e.marks.kinds, kinds[:len(ids)]...), table
			kinds = kinds[len(ids):]
		}
		e.end(nil)
		if e.rows >= batchRows {
			flush(i + 1)
		}
	}
	flush(len(sequences))
}
