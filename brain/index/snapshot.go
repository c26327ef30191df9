package index

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// View is a segment and what of it is no longer current. It is immutable.
type View struct {
	Segment *Segment
	// ID is the caller's name of the stored segment; 0 while it is in memory
	// only.
	ID uint64

	gone, hidden *bitset
}

// Gone is the number of chunks forgotten or replaced.
func (v View) Gone() int { return v.gone.len() }

// Hidden is the number of chunks that are superseded, gone or not.
func (v View) Hidden() int { return v.hidden.len() }

// IsGone tells whether the chunk at position doc is forgotten or replaced.
func (v View) IsGone(doc int) bool { return v.gone.has(doc) }

// IsHidden tells whether the chunk at position doc is superseded.
func (v View) IsHidden(doc int) bool { return v.hidden.has(doc) }

// livenessVersion begins a liveness record.
const livenessVersion = 1

// AppendLiveness appends the gone and hidden sets in a form that OpenView reads;
// eleven bytes when both are empty, a bit per chunk for each that is not.
func (v View) AppendLiveness(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, livenessVersion)
	dst = v.gone.append(dst)
	dst = v.hidden.append(dst)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[from:]))
}

// OpenView joins a segment and its liveness (empty: everything is live).
func OpenView(id uint64, s *Segment, liveness []byte) (View, error) {
	v := View{Segment: s, ID: id}
	if len(liveness) == 0 {
		return v, nil
	}
	body := len(liveness) - 8
	if body < 1 || liveness[0] != livenessVersion ||
		xxhash.Sum64(liveness[:body]) != binary.LittleEndian.Uint64(liveness[body:]) {
		return View{}, fmt.Errorf("liveness record: %w", ErrCorrupt)
	}
	gone, rest, err := readSet(liveness[1:body], s.Len())
	if err != nil {
		return View{}, err
	}
	hidden, rest, err := readSet(rest, s.Len())
	if err != nil {
		return View{}, err
	}
	if len(rest) != 0 {
		return View{}, fmt.Errorf("liveness has %d bytes too many: %w", len(rest), ErrCorrupt)
	}
	v.gone, v.hidden = gone, hidden
	return v, nil
}

// Snapshot is the whole index of a partition at one moment. It is immutable;
// the zero value is the empty index. Views are in the order of addition.
type Snapshot struct {
	Views []View
}

// Len is the number of chunks that are not gone.
func (s *Snapshot) Len() int {
	n := 0
	for _, v := range s.Views {
		n += v.Segment.Len() - v.Gone()
	}
	return n
}

// Bytes is the memory of the segments.
func (s *Snapshot) Bytes() int {
	n := 0
	for _, v := range s.Views {
		n += v.Segment.Size() + v.Segment.sketch.size()
	}
	return n
}

// Langs are the languages of all views, for text.Analyzer.Query.
func (s *Snapshot) Langs() text.LangSet {
	var l text.LangSet
	for _, v := range s.Views {
		l |= v.Segment.Langs()
	}
	return l
}

// edited returns the snapshot in which f has edited the gone and hidden sets of
// each view; s itself when nothing changed.
func (s *Snapshot) edited(f func(v View, gone, hidden *edit)) *Snapshot {
	var views []View
	for i, v := range s.Views {
		gone := edit{old: v.gone, size: v.Segment.Len()}
		hidden := edit{old: v.hidden, size: v.Segment.Len()}
		f(v, &gone, &hidden)
		if gone.new == nil && hidden.new == nil {
			continue
		}
		if views == nil {
			views = slices.Clone(s.Views)
		}
		views[i].gone, views[i].hidden = gone.result(), hidden.result()
	}
	if views == nil {
		return s
	}
	return &Snapshot{Views: views}
}

// With returns the snapshot with a segment more. Chunks of older views whose
// Seq the segment holds too are gone in the result: the newest wins, which is
// how a chunk is embedded anew or gets other metadata. An empty segment adds
// nothing.
func (s *Snapshot) With(id uint64, seg *Segment) *Snapshot {
	if seg.Len() == 0 {
		return s
	}
	first, last := seg.SeqRange()
	s = s.edited(func(v View, gone, _ *edit) {
		if f, l := v.Segment.SeqRange(); l < first || f > last {
			return
		}
		for _, seq := range seg.seqs {
			if doc, ok := v.Segment.Find(seq); ok {
				gone.set(doc, true)
			}
		}
	})
	return &Snapshot{Views: append(slices.Clip(s.Views), View{Segment: seg, ID: id})}
}

// nodeDocs calls f for each chunk of the nodes in a view.
func nodeDocs(v View, ids []pb.NodeID, f func(doc int)) {
	var ords []uint32
	for _, id := range ids {
		if ord, ok := v.Segment.findNode(id); ok {
			ords = append(ords, ord)
		}
	}
	switch len(ords) {
	case 0:
	case 1:
		for doc, ord := range v.Segment.nodeOf {
			if ord == ords[0] {
				f(doc)
			}
		}
	default:
		wanted := make([]bool, v.Segment.Nodes())
		for _, ord := range ords {
			wanted[ord] = true
		}
		for doc, ord := range v.Segment.nodeOf {
			if wanted[ord] {
				f(doc)
			}
		}
	}
}

// Forget returns the snapshot in which all chunks of the nodes are gone.
func (s *Snapshot) Forget(nodes ...pb.NodeID) *Snapshot {
	return s.edited(func(v View, gone, _ *edit) {
		nodeDocs(v, nodes, func(doc int) { gone.set(doc, true) })
	})
}

// ForgetSeqs returns the snapshot in which the given chunks are gone.
func (s *Snapshot) ForgetSeqs(seqs ...uint64) *Snapshot {
	return s.edited(func(v View, gone, _ *edit) {
		for _, seq := range seqs {
			if doc, ok := v.Segment.Find(seq); ok {
				gone.set(doc, true)
			}
		}
	})
}

// Hide returns the snapshot in which the nodes' chunks are found only by
// queries with IncludeSuperseded.
func (s *Snapshot) Hide(nodes ...pb.NodeID) *Snapshot { return s.hide(nodes, true) }

// Show undoes Hide.
func (s *Snapshot) Show(nodes ...pb.NodeID) *Snapshot { return s.hide(nodes, false) }

func (s *Snapshot) hide(nodes []pb.NodeID, on bool) *Snapshot {
	return s.edited(func(v View, _, hidden *edit) {
		nodeDocs(v, nodes, func(doc int) { hidden.set(doc, on) })
	})
}
