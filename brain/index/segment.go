package index

import (
	"errors"

	pb "orgmem/proto"

	"orgmem/brain/text"
)

// ErrCorrupt is returned for bytes that are not an intact segment or liveness
// record of a known version.
var ErrCorrupt = errors.New("index: corrupt")

// ErrInput is returned for an entry that cannot be indexed: a vector of another
// dimension or with a non-finite component, a Seq out of order, too much of
// something that has a bound.
var ErrInput = errors.New("index: bad input")

// ModelID names the embedding model that made a vector.
type ModelID string

// Node is what filters and collapsing need to know of a chunk's node.
type Node struct {
	ID        pb.NodeID
	Kind      string
	CreatedMs int64 // record time, milliseconds since 1970
	// Attrs are AttrHash values of its metadata, in any order.
	Attrs []uint64
}

// Entry is one chunk to be indexed.
type Entry struct {
	// Seq is the chunk's key in the store, unique in the partition.
	Seq  uint64
	Node Node
	// Vector is the embedding, not necessarily of length 1; nil when the chunk
	// has none (it is then found by its words only).
	Vector  []float32
	Passage text.Passage
}

// AttrHash is the identity of a metadata pair for filters.
func AttrHash(key, value string) uint64 { panic("not yet") }

// Builder collects entries for one segment.
type Builder struct{}

// NewBuilder starts a segment whose vectors come from the given model.
func NewBuilder(model ModelID, dim int) *Builder { panic("not yet") }

// Add takes the next entry; Seq must ascend. The entry's slices are copied.
func (b *Builder) Add(e Entry) error { panic("not yet") }

// Len is the number of entries added.
func (b *Builder) Len() int { panic("not yet") }

// Build makes the segment. The builder is empty afterwards.
func (b *Builder) Build() (*Segment, error) { panic("not yet") }

// Segment is an immutable piece of an index.
type Segment struct{}

// OpenSegment checks data and uses it in place.
func OpenSegment(data []byte) (*Segment, error) { panic("not yet") }

// AppendBinary appends the segment's bytes, which OpenSegment reads. The same
// entries always give the same bytes.
func (s *Segment) AppendBinary(dst []byte) []byte { panic("not yet") }

// Size is the number of bytes AppendBinary appends and, nearly, the memory the
// segment takes.
func (s *Segment) Size() int { panic("not yet") }

// Len is the number of chunks, dead or alive.
func (s *Segment) Len() int { panic("not yet") }

// Nodes is the number of nodes.
func (s *Segment) Nodes() int { panic("not yet") }

// Model names the model of the vectors; Dim is their dimension.
func (s *Segment) Model() ModelID { panic("not yet") }

// Dim is the dimension of the vectors.
func (s *Segment) Dim() int { panic("not yet") }

// SeqRange gives the smallest and largest Seq; both 0 when empty.
func (s *Segment) SeqRange() (first, last uint64) { panic("not yet") }

// Langs are the languages of the segment's terms.
func (s *Segment) Langs() text.LangSet { panic("not yet") }

// Current tells whether the segment was built by today's text analysis. One
// that was not must be built again from the chunk texts.
func (s *Segment) Current() bool { panic("not yet") }

// Seq of the chunk at position doc, 0 ≤ doc < Len.
func (s *Segment) Seq(doc int) uint64 { panic("not yet") }

// Find gives the position of the chunk seq.
func (s *Segment) Find(seq uint64) (doc int, ok bool) { panic("not yet") }

// NodeOf gives the node of the chunk at position doc. The id and the kind share
// the segment's memory; Attrs is nil.
func (s *Segment) NodeOf(doc int) Node { panic("not yet") }

// Vector gives the chunk's quantised unit vector: component i is row[i]*scale.
// The row belongs to the segment; scale is 0 when the chunk has no vector.
func (s *Segment) Vector(doc int) (row []int8, scale float32) { panic("not yet") }
