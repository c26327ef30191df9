package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// ErrCorrupt is returned for bytes that are not an intact segment or liveness
// record of a known version.
var ErrCorrupt = errors.New("index: corrupt")

// The layout of a segment: a header of fixed size, then sections, each beginning
// at a multiple of 8 bytes, in this order. All numbers are little-endian, and
// arrays are used where they lie. n chunks, d nodes, t terms.
//
//	seqs      n × u64   ascending
//	scales    n × f32   0: no vector
//	nodeOf    n × u32   ordinal of the chunk's node
//	lens      n × u8    length code (see lengthCode)
//	seqOff    (n+1) × u32  offsets into words
//	vectors   n × stride × i8
//	terms     t × u64   ascending
//	pointers  t × u32   offset into postings, or the single posting itself
//	created   d × i64   milliseconds
//	occurred  d × i64   milliseconds, 0: unknown
//	idHash    d × u64   ascending
//	idNode    d × u32   the node of that hash
//	idOff     (d+1) × u32  offsets into ids
//	attrOff   (d+1) × u32  offsets into attrs, counted in values
//	kindOf    d × u8    ordinal of the kind
//	turns     d × u8    1: a message (see Node.Turn)
//	attrs     u64       ascending within a node
//	kindOff   (k+1) × u32  offsets into kinds
//	words, postings, ids, kinds, model: bytes
const (
	magic   = 0x58494d4f // "OMIX"
	version = 1

	headerSize   = 128
	sectionCount = 22
	// hashedFrom: the checksum covers everything behind itself.
	hashedFrom = 16
)

// Bounds of a segment. A segment that would exceed one is refused by Build and
// Merge; the merge policy stays far below.
const (
	// MaxChunks: a posting pointer holds a chunk in 24 bits.
	MaxChunks = 1 << 24
	// MaxDim keeps the integer dot product of a 13-bit query and 8-bit rows
	// within 31 bits; embedders have 256 to 3,072 dimensions.
	MaxDim = 4096
	// MaxKinds: kinds are a closed list of less than ten in the interface.
	MaxKinds = 256
	// maxPostings: an offset has 31 bits.
	maxPostings = 1 << 31
	// rowAlign is the unit of the kernels; rows are padded with zeros.
	rowAlign = 32
)

// header is the decoded form of the first bytes.
type header struct {
	analysis                                  uint32
	langs                                     uint32
	chunks, nodes, terms, dim                 uint32
	words                                     uint64 // sum of lengths, for the average
	attrs, kinds                              uint32
	postingBytes                              uint32
	idBytes, kindBytes, modelBytes, wordBytes uint32
}

func stride(dim int) int { return (dim + rowAlign - 1) / rowAlign * rowAlign }

// sections gives the sizes in bytes of the sections, in order.
func (h *header) sections() [sectionCount]uint64 {
	n, d, t := uint64(h.chunks), uint64(h.nodes), uint64(h.terms)
	return [sectionCount]uint64{
		n * 8, n * 4, n * 4, n, (n + 1) * 4, n * uint64(stride(int(h.dim))),
		t * 8, t * 4,
		d * 8, d * 8, d * 8, d * 4, (d + 1) * 4, (d + 1) * 4, d, d,
		uint64(h.attrs) * 8, (uint64(h.kinds) + 1) * 4,
		uint64(h.wordBytes), uint64(h.postingBytes), uint64(h.idBytes), uint64(h.kindBytes) + uint64(h.modelBytes),
	}
}

func (h *header) size() uint64 {
	total := uint64(headerSize)
	for _, s := range h.sections() {
		total += align8(s)
	}
	return total
}

func align8(n uint64) uint64 { return (n + 7) &^ 7 }

func (h *header) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], magic)
	le.PutUint32(b[4:], version)
	le.PutUint64(b[16:], h.size())
	for i, v := range h.fields() {
		le.PutUint32(b[32+4*i:], *v)
	}
	le.PutUint64(b[24:], h.words)
}

func (h *header) fields() [13]*uint32 {
	return [...]*uint32{
		&h.analysis, &h.langs, &h.chunks, &h.nodes, &h.terms, &h.dim, &h.attrs, &h.kinds,
		&h.postingBytes, &h.idBytes, &h.kindBytes, &h.modelBytes, &h.wordBytes,
	}
}

// Segment is an immutable piece of an index. Large because each field is one section of the
// stored form, in its order, seen in place.
type Segment struct {
	data []byte
	header
	model ModelID

	seqs     []uint64
	scales   []float32
	nodeOf   []uint32
	lens     []uint8
	seqOff   []uint32
	vectors  []int8
	dict     []uint64
	pointers []uint32
	created  []int64
	occurred []int64
	idHash   []uint64
	idNode   []uint32
	idOff    []uint32
	attrOff  []uint32
	kindOf   []uint8
	turns    []uint8
	attrs    []uint64
	kindOff  []uint32
	wordSeqs []byte
	postings []byte
	ids      []byte
	kindStr  []byte

	sketch sketch // not stored
}

// littleEndian tells whether this machine can use the arrays in place.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// lay points the segment's arrays into data, whose header is h.
func lay(data []byte, h header) *Segment {
	s := &Segment{data: data, header: h}
	at := uint64(headerSize)
	k := 0
	sizes := h.sections()
	next := func() []byte {
		n := sizes[k]
		b := data[at : at+n : at+n]
		at += align8(n)
		k++
		return b
	}
	s.seqs, s.scales, s.nodeOf, s.lens = array[uint64](next()), array[float32](next()), array[uint32](next()), next()
	s.seqOff, s.vectors = array[uint32](next()), array[int8](next())
	s.dict, s.pointers = array[uint64](next()), array[uint32](next())
	s.created, s.occurred, s.idHash = array[int64](next()), array[int64](next()), array[uint64](next())
	s.idNode, s.idOff, s.attrOff = array[uint32](next()), array[uint32](next()), array[uint32](next())
	s.kindOf, s.turns = next(), next()
	s.attrs, s.kindOff = array[uint64](next()), array[uint32](next())
	s.wordSeqs, s.postings, s.ids = next(), next(), next()
	names := next()
	s.kindStr = names[:h.kindBytes]
	s.model = ModelID(names[h.kindBytes:])
	return s
}

// OpenSegment checks data and uses it in place (a copy, if it is not aligned to
// 8 bytes). All that searching relies on is checked here, once, so that the
// inner loops need not.
func OpenSegment(data []byte) (*Segment, error) {
	if !littleEndian {
		return nil, fmt.Errorf("segment on a big-endian machine: %w", errors.ErrUnsupported)
	}
	if len(data) < headerSize {
		return nil, fmt.Errorf("segment of %d bytes: %w", len(data), ErrCorrupt)
	}
	le := binary.LittleEndian
	if le.Uint32(data) != magic {
		return nil, fmt.Errorf("segment magic: %w", ErrCorrupt)
	}
	if v := le.Uint32(data[4:]); v != version {
		return nil, fmt.Errorf("segment version %d: %w", v, ErrCorrupt)
	}
	if le.Uint64(data[8:]) != xxhash.Sum64(data[hashedFrom:]) {
		return nil, fmt.Errorf("segment checksum: %w", ErrCorrupt)
	}
	var h header
	for i, f := range h.fields() {
		*f = le.Uint32(data[32+4*i:])
	}
	h.words = le.Uint64(data[24:])
	if h.chunks > MaxChunks || h.nodes > h.chunks || h.dim > MaxDim || h.kinds > MaxKinds ||
		h.postingBytes >= maxPostings || h.size() != uint64(len(data)) || le.Uint64(data[16:]) != h.size() {
		return nil, fmt.Errorf("segment header: %w", ErrCorrupt)
	}
	if !aligned(data) {
		data = append(alignedBytes(len(data))[:0], data...)
	}
	s := lay(data, h)
	if err := s.check(); err != nil {
		return nil, err
	}
	s.sketch = newSketch(s)
	return s, nil
}

// check holds the arrays to what lay and the searches take for granted.
func (s *Segment) check() error {
	bad := func(what string) error { return fmt.Errorf("segment %s: %w", what, ErrCorrupt) }
	for i := range s.seqs {
		if i > 0 && s.seqs[i] <= s.seqs[i-1] {
			return bad("sequence")
		}
		if s.nodeOf[i] >= s.nodes {
			return bad("node ordinal")
		}
		if f := float64(s.scales[i]); f < 0 || math.IsNaN(f) || math.IsInf(f, 0) {
			return bad("scale")
		}
	}
	if !offsets(s.seqOff, s.wordBytes) || !offsets(s.idOff, s.idBytes) || !offsets(s.attrOff, s.header.attrs) ||
		!offsets(s.kindOff, s.kindBytes) {
		return bad("offsets")
	}
	for i := range s.idHash {
		if i > 0 && s.idHash[i] < s.idHash[i-1] || s.idNode[i] >= s.nodes || uint32(s.kindOf[i]) >= s.kinds {
			return bad("nodes")
		}
	}
	for i := range s.dict {
		if i > 0 && s.dict[i] <= s.dict[i-1] {
			return bad("dictionary")
		}
		if !s.checkPostings(s.pointers[i]) {
			return bad("postings")
		}
	}
	return nil
}

// offsets tells whether o ascends from 0 to end.
func offsets(o []uint32, end uint32) bool {
	if o[0] != 0 || o[len(o)-1] != end {
		return false
	}
	for i := 1; i < len(o); i++ {
		if o[i] < o[i-1] {
			return false
		}
	}
	return true
}

// AppendBinary appends the segment's bytes, which OpenSegment reads. The same
// entries always give the same bytes.
func (s *Segment) AppendBinary(dst []byte) []byte { return append(dst, s.data...) }

// Size is the number of bytes AppendBinary appends. Snapshot.Bytes is what the
// segments take in memory.
func (s *Segment) Size() int { return len(s.data) }

// Len is the number of chunks, dead or alive.
func (s *Segment) Len() int { return int(s.chunks) }

// Nodes is the number of nodes.
func (s *Segment) Nodes() int { return int(s.nodes) }

// Model names the model of the vectors.
func (s *Segment) Model() ModelID { return s.model }

// Dim is the dimension of the vectors.
func (s *Segment) Dim() int { return int(s.dim) }

// SeqRange gives the smallest and largest Seq; both 0 when empty.
func (s *Segment) SeqRange() (first, last uint64) {
	if len(s.seqs) == 0 {
		return 0, 0
	}
	return s.seqs[0], s.seqs[len(s.seqs)-1]
}

// Langs are the languages of the segment's terms.
func (s *Segment) Langs() text.LangSet { return text.LangSet(s.langs) }

// Current tells whether the segment was built by today's text analysis. One
// that was not must be built again from the chunk texts.
func (s *Segment) Current() bool { return s.analysis == text.AnalysisVersion }

// Seq of the chunk at position doc, 0 ≤ doc < Len.
func (s *Segment) Seq(doc int) uint64 { return s.seqs[doc] }

// NodeOf gives the node of the chunk at position doc. The id and the kind share
// the segment's memory; Attrs belong to it.
func (s *Segment) NodeOf(doc int) Node {
	d := s.nodeOf[doc]
	return s.node(d)
}

func (s *Segment) node(d uint32) Node {
	return Node{
		ID: s.nodeID(d), Kind: s.kind(int(s.kindOf[d])), CreatedMs: s.created[d], Attrs: s.nodeAttrs(d),
		Turn: s.turns[d] != 0, OccurredMs: s.occurred[d],
	}
}

// Vector gives the chunk's quantised unit vector: component i is row[i]*scale.
// The row belongs to the segment; scale is 0 when the chunk has no vector.
func (s *Segment) Vector(doc int) (row []int8, scale float32) {
	w := stride(s.Dim())
	return s.vectors[doc*w : doc*w+s.Dim() : doc*w+s.Dim()], s.scales[doc]
}

func (s *Segment) nodeID(d uint32) pb.NodeID {
	return pb.NodeID(str(s.ids[s.idOff[d]:s.idOff[d+1]]))
}

func (s *Segment) kind(k int) string { return str(s.kindStr[s.kindOff[k]:s.kindOff[k+1]]) }

func (s *Segment) nodeAttrs(d uint32) []uint64 {
	return s.attrs[s.attrOff[d]:s.attrOff[d+1]:s.attrOff[d+1]]
}

// seal writes the checksum.
func seal(data []byte) {
	binary.LittleEndian.PutUint64(data[8:], xxhash.Sum64(data[hashedFrom:]))
}
