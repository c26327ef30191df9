package index

import (
	"cmp"
	"slices"
)

// viewState is a view in the course of a search.
type viewState struct {
	View
	part, view int32
	base       int // where its chunks begin in kw and vec
	// allow is where its bits begin in passing.allow; -1: all chunks pass.
	allow int
	model int // index into cosines.models, -1: no vectors
	// rough: vec holds estimates, save of the chunks whose bit is set from sure on
	// in cosines.sure. doubt is by how much they may be too low.
	rough bool
	sure  int
	doubt float32
	// The views of its partition, and whether it shares its range of Seq with
	// none of them; filled in by relate.
	firstView, lastView int32
	alone               bool
}

// views are those of a search: of each partition together, and there in order of Seq.
type views []viewState

// list adds the views of all snapshots that hold chunks, and gives the number of these.
func (vs views) list(snapshots []*Snapshot) (listed views, total int) {
	for part, snap := range snapshots {
		if snap == nil {
			continue
		}
		from := len(vs)
		for i, v := range snap.Views {
			if v.Segment.Len() > 0 {
				vs = append(vs, viewState{View: v, part: int32(part), view: int32(i), allow: -1, model: -1})
			}
		}
		// In order of Seq, so that ties fall alike however the chunks are
		// spread over segments.
		slices.SortFunc(vs[from:], func(a, b viewState) int {
			return cmp.Compare(a.Segment.seqs[0], b.Segment.seqs[0])
		})
	}
	for i := range vs {
		vs[i].base = total
		total += vs[i].Segment.Len()
	}
	return vs, total
}

// place is a chunk in the course of a search.
type place struct{ view, doc int32 }

// alive tells whether the chunk is part of the conversation. Filters do not
// matter: what they keep from being a hit still explains its neighbours.
func (vs views) alive(p place, q *Query) bool {
	v := &vs[p.view]
	return !v.gone.has(int(p.doc)) && (q.IncludeSuperseded || !v.hidden.has(int(p.doc)))
}

func (vs views) nodeAt(p place) (*Segment, uint32) {
	s := vs[p.view].Segment
	return s, s.nodeOf[p.doc]
}

func (vs views) sameNode(a, b place) bool {
	sa, na := vs.nodeAt(a)
	sb, nb := vs.nodeAt(b)
	if sa == sb {
		return na == nb
	}
	return sa.nodeID(na) == sb.nodeID(nb)
}

// step gives the next living chunk of the partition in the direction of dir, by
// Seq. In a view that shares its range with no other that is its neighbour.
func (vs views) step(p place, dir int32, q *Query) (place, bool) {
	for {
		v := &vs[p.view]
		next := place{p.view, p.doc + dir}
		if !v.alone || next.doc < 0 || int(next.doc) >= v.Segment.Len() {
			var ok bool
			if next, ok = vs.stepOver(p, dir); !ok {
				return place{}, false
			}
		}
		if vs.alive(next, q) {
			return next, true
		}
		p = next
	}
}

// stepOver looks for the next chunk in all views of the partition.
func (vs views) stepOver(p place, dir int32) (best place, ok bool) {
	from := &vs[p.view]
	seq := from.Segment.seqs[p.doc]
	var bestSeq uint64
	for i := from.firstView; i < from.lastView; i++ {
		s := vs[i].Segment
		first, last := s.SeqRange()
		if dir > 0 && (last <= seq || ok && first > bestSeq) || dir < 0 && (first >= seq || ok && last < bestSeq) {
			continue
		}
		doc, found := s.Find(seq)
		if dir < 0 {
			doc--
		} else if found {
			doc++
		}
		// A Seq in two views is gone in the older one; either place leads on.
		if got := s.seqs[doc]; !ok || dir > 0 && got < bestSeq || dir < 0 && got > bestSeq {
			best, bestSeq, ok = place{i, int32(doc)}, got, true
		} else if got == bestSeq && vs[best.view].gone.has(int(best.doc)) {
			best = place{i, int32(doc)}
		}
	}
	return best, ok
}

// relate notes for each view which others belong to its partition, and
// whether it shares its range of Seq with any of them.
func (vs views) relate() {
	for i := 0; i < len(vs); {
		k := i + 1
		for k < len(vs) && vs[k].part == vs[i].part {
			k++
		}
		for a := i; a < k; a++ {
			v := &vs[a]
			v.firstView, v.lastView, v.alone = int32(i), int32(k), true
			first, last := v.Segment.SeqRange()
			for b := i; b < k; b++ {
				if f, l := vs[b].Segment.SeqRange(); b != a && f <= last && l >= first {
					v.alone = false
				}
			}
		}
		i = k
	}
}

// at is the place of a chunk among all.
func (vs views) at(p place) int { return vs[p.view].base + int(p.doc) }
