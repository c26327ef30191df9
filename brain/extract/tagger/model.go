package tagger

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// Tag is a label of a token.
type Tag uint8

// The tags: outside, and beginning and inside of each class of names.
const (
	Outside Tag = iota
	BeginPerson
	InPerson
	BeginPlace
	InPlace
	BeginOrganization
	InOrganization
	BeginWork // products and works
	InWork
	// Tags is how many there are.
	Tags = 9
)

// Begins tells whether a name begins with t.
func (t Tag) Begins() bool { return t&1 == 1 }

// Inside is the tag of the further tokens of a name that begins with t, or that
// t is inside of.
func (t Tag) Inside() Tag { return (t + 1) &^ 1 }

// Allowed tells whether b may follow a.
func Allowed(a, b Tag) bool { return b == Outside || b.Begins() || a.Inside() == b }

// ErrModel is wrapped by the errors about a packed model.
var ErrModel = errors.New("name tagger model")

const (
	magic = "orgmem names 1\n\n"
	// maxEntries bounds the lexicon and the features of a model: the file is ours,
	// but a damaged count must not ask for all memory.
	maxEntries = 1 << 20
	// maxClusters is more than any recipe makes.
	maxClusters = 1 << 12
)

// Model is a lexicon and the weights of a tagger. It is immutable and shared.
type Model struct {
	words    table
	entries  []Entry
	coarses  []uint8 // of each cluster
	features table
	weights  []int8 // [feature][Tags]
	moves    [Tags][Tags]int32
	scale    float64 // a weight of 1 is so much
}

// Contents is what a model is packed from.
type Contents struct {
	Lexicon map[uint32]Entry // by PhraseKey; prefixes of phrases are marked here
	Coarse  []uint8          // the coarse cluster of each cluster
	Weights map[uint32]*[Tags]int8
	Moves   [Tags][Tags]int16
	Scale   float64 // the value of a weight of 1
}

// Pack writes a model; the same contents give the same bytes.
func Pack(c Contents) []byte {
	b := []byte(magic)
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	words, features := keysOf(c.Lexicon), keysOf(c.Weights)
	u32(uint32(len(words)))
	u32(uint32(len(c.Coarse)))
	u32(uint32(len(features)))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Scale))
	for _, row := range c.Moves {
		for _, v := range row {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
	}
	b = append(b, c.Coarse...)
	for _, k := range words {
		u32(k)
	}
	for _, k := range words {
		b = binary.LittleEndian.AppendUint16(b, uint16(c.Lexicon[k].Class))
		b = binary.LittleEndian.AppendUint16(b, c.Lexicon[k].Cluster)
	}
	for _, k := range features {
		u32(k)
	}
	for _, k := range features {
		for _, w := range c.Weights[k] {
			b = append(b, byte(w))
		}
	}
	return b
}

func keysOf[V any](m map[uint32]V) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Open reads a packed model. Errors wrap ErrModel.
func Open(data []byte) (*Model, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("%w: not one, or of another version", ErrModel)
	}
	take := func(n int) []byte {
		if n > len(rest) {
			rest = nil
			return make([]byte, n)
		}
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	u32s := func(n int) []uint32 {
		raw, out := take(4*n), make([]uint32, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
		return out
	}
	counts := u32s(3)
	words, clusters, features := counts[0], counts[1], counts[2]
	if words > maxEntries || clusters > maxClusters || features > maxEntries {
		return nil, fmt.Errorf("%w: %d words, %d clusters, %d features", ErrModel, words, clusters, features)
	}
	const fixed = 8 + 2*Tags*Tags
	if want := fixed + int(clusters) + 8*int(words) + (4+Tags)*int(features); len(rest) != want {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrModel, len(rest), want)
	}
	m := &Model{scale: math.Float64frombits(binary.LittleEndian.Uint64(take(8)))}
	for a := range m.moves {
		for b := range m.moves[a] {
			m.moves[a][b] = int32(int16(binary.LittleEndian.Uint16(take(2))))
		}
	}
	m.coarses = take(int(clusters))
	m.words = newTable(u32s(int(words)))
	raw := take(4 * int(words))
	m.entries = make([]Entry, words)
	for i := range m.entries {
		m.entries[i] = Entry{Class(binary.LittleEndian.Uint16(raw[4*i:])), binary.LittleEndian.Uint16(raw[4*i+2:])}
	}
	m.features = newTable(u32s(int(features)))
	raw = take(Tags * int(features))
	m.weights = make([]int8, len(raw))
	for i, v := range raw {
		m.weights[i] = int8(v)
	}
	return m, nil
}

//go:embed weights/names.model.gz
var packed []byte

// Load opens the model that is built in, once.
var Load = sync.OnceValues(func() (*Model, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return Open(data)
})

// find looks a word or phrase up.
func (m *Model) find(key uint32) (Entry, bool) {
	i, ok := m.words.find(key)
	if !ok {
		return Entry{}, false
	}
	return m.entries[i], true
}

// Find looks a word or phrase up, in any case.
func (m *Model) Find(phrase string) (Entry, bool) { return m.find(PhraseKey(phrase)) }

func (m *Model) coarse(cluster uint16) uint8 {
	if cluster == 0 || int(cluster) > len(m.coarses) {
		return 0
	}
	return m.coarses[cluster-1]
}

// table maps keys to their places by open addressing: a feature costs one cache
// line where a binary search costs seventeen.
type table struct {
	slots []slot
	shift uint
}

type slot struct{ key, place uint32 } // place counts from 1; 0 is free

func newTable(keys []uint32) table {
	bits := uint(4)
	for 1<<bits < 2*len(keys) {
		bits++
	}
	t := table{slots: make([]slot, 1<<bits), shift: 32 - bits}
	for i, k := range keys {
		at := t.home(k)
		for t.slots[at].place != 0 {
			at = (at + 1) & uint32(len(t.slots)-1)
		}
		t.slots[at] = slot{k, uint32(i) + 1}
	}
	return t
}

func (t *table) home(key uint32) uint32 { return key * 0x9e3779b1 >> t.shift }

func (t *table) find(key uint32) (int, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := t.home(key); ; at = (at + 1) & uint32(len(t.slots)-1) {
		s := t.slots[at]
		if s.place == 0 {
			return 0, false
		}
		if s.key == key {
			return int(s.place - 1), true
		}
	}
}

// Contents are what the model's lexicon was packed from, to train new weights on.
func (m *Model) Contents() Contents {
	c := Contents{Lexicon: make(map[uint32]Entry, len(m.entries)), Coarse: m.coarses, Scale: m.scale}
	for _, s := range m.words.slots {
		if s.place != 0 {
			c.Lexicon[s.key] = m.entries[s.place-1]
		}
	}
	return c
}
