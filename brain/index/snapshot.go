package index

import (
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// View is a segment and what of it is no longer current. It is immutable.
type View struct {
	Segment *Segment
	// ID is the caller's name of the stored segment; 0 while it is in memory
	// only.
	ID uint64

	gone, hidden *bits
}

type bits struct{}

// Live is the number of chunks that are neither gone nor hidden; Gone the
// number of those that are gone.
func (v View) Live() int { panic("not yet") }

// Gone is the number of chunks forgotten or replaced.
func (v View) Gone() int { panic("not yet") }

// AppendLiveness appends the gone and hidden sets in a form that OpenView reads;
// a few bytes when both are empty.
func (v View) AppendLiveness(dst []byte) []byte { panic("not yet") }

// OpenView joins a segment and its liveness (nil: everything is live).
func OpenView(id uint64, s *Segment, liveness []byte) (View, error) { panic("not yet") }

// Snapshot is the whole index of a partition at one moment. It is immutable;
// the zero value is the empty index. Views are in the order of addition.
type Snapshot struct {
	Views []View
}

// With returns the snapshot with a segment more. Chunks of older views whose
// Seq the segment holds too are gone in the result: the newest wins, which is
// how a chunk is embedded anew or gets other metadata.
func (s *Snapshot) With(id uint64, seg *Segment) *Snapshot { panic("not yet") }

// Forget returns the snapshot in which all chunks of the nodes are gone.
func (s *Snapshot) Forget(nodes ...pb.NodeID) *Snapshot { panic("not yet") }

// ForgetSeqs returns the snapshot in which the given chunks are gone.
func (s *Snapshot) ForgetSeqs(seqs ...uint64) *Snapshot { panic("not yet") }

// Hide returns the snapshot in which the nodes' chunks are found only by
// queries with IncludeSuperseded.
func (s *Snapshot) Hide(nodes ...pb.NodeID) *Snapshot { panic("not yet") }

// Show undoes Hide.
func (s *Snapshot) Show(nodes ...pb.NodeID) *Snapshot { panic("not yet") }

// Len is the number of chunks that are not gone.
func (s *Snapshot) Len() int { panic("not yet") }

// Bytes is the memory of the segments.
func (s *Snapshot) Bytes() int { panic("not yet") }

// Langs are the languages of all views, for text.Analyzer.Query.
func (s *Snapshot) Langs() text.LangSet { panic("not yet") }

// MergePolicy says when segments are merged.
type MergePolicy struct {
	// Fanout is how many segments of about one size make a merge; 0 means 8.
	Fanout int
	// MaxChunks is the size that no merge exceeds; 0 means 100,000.
	MaxChunks int
	// GonePercent is the share of gone chunks above which a segment is
	// rewritten by itself; 0 means 25.
	GonePercent int
}

// Plan is a merge to be done: the views of a snapshot, consecutive.
type Plan struct {
	Views []View
}

// Compact proposes the most useful merge of views of the same model, or false.
// After a merge there may be another one to do.
func (s *Snapshot) Compact(p MergePolicy) (Plan, bool) { panic("not yet") }

// Merge makes one segment of views of one model, without what is gone, in
// ascending order of Seq. When nothing is left, the segment is empty.
func Merge(views []View) (*Segment, error) { panic("not yet") }

// Replace returns the snapshot in which merged stands for the plan's views.
// What was forgotten or hidden in them since the plan was made is forgotten or
// hidden in the result too. false: the plan's views are no longer all there.
func (s *Snapshot) Replace(p Plan, id uint64, merged *Segment) (*Snapshot, bool) { panic("not yet") }
