package index

import (
	"math/bits"
	"slices"
)

// MergePolicy says when segments are merged.
type MergePolicy struct {
	// Fanout is how many segments of about one size make a merge; 0 means
	// DefaultFanout.
	Fanout int
	// MaxChunks is the size that no merge exceeds; 0 means DefaultMaxChunks.
	MaxChunks int
	// GonePercent is the share of gone chunks from which on a segment is
	// rewritten by itself; 0 means DefaultGonePercent.
	GonePercent int
}

const (
	// DefaultFanout is 8: each chunk is rewritten log₈(n) times, six times until
	// 100,000, and a search visits at most about 7 segments per size.
	DefaultFanout = 8
	// DefaultMaxChunks keeps a merge below half a second of CPU and 70 MB.
	DefaultMaxChunks = 100_000
	// DefaultGonePercent bounds what dead chunks cost in memory and scan.
	DefaultGonePercent = 25
)

// Plan is a merge to be done.
type Plan struct {
	// Views are as they stood when the plan was made.
	Views []View
}

func (p MergePolicy) defaults() MergePolicy {
	if p.Fanout < 2 {
		p.Fanout = DefaultFanout
	}
	if p.MaxChunks <= 0 {
		p.MaxChunks = DefaultMaxChunks
	}
	if p.GonePercent <= 0 {
		p.GonePercent = DefaultGonePercent
	}
	return p
}

// tier is the size class of a view: a factor of about Fanout from one to the
// next, by live chunks, since that is what a merge writes.
func (p MergePolicy) tier(v View) int {
	return bits.Len(uint(v.Segment.Len()-v.Gone())) / (bits.Len(uint(p.Fanout)) - 1)
}

// Compact proposes the most useful merge of views of the same model, or false.
// After a merge there may be another one to do.
//
// It is tiered (O'Neil et al., The Log-Structured Merge-Tree, 1996, with several
// segments per level): a segment with many dead chunks is rewritten first, then
// the smallest tier that has a full set is merged into one.
func (s *Snapshot) Compact(p MergePolicy) (Plan, bool) {
	p = p.defaults()
	for _, v := range s.Views {
		if g := v.Gone(); g > 0 && g*100 >= v.Segment.Len()*p.GonePercent {
			return Plan{Views: []View{v}}, true
		}
	}
	type group struct {
		model    ModelID
		analysis uint32
		tier     int
	}
	groups := make(map[group][]View)
	var best group
	var merge []View
	for _, v := range s.Views {
		live := v.Segment.Len() - v.Gone()
		if live*2 > p.MaxChunks {
			continue // two of these would not fit
		}
		g := group{v.Segment.model, v.Segment.analysis, p.tier(v)}
		groups[g] = append(groups[g], v)
		// Views are visited in order, so which group is full first does not
		// depend on the order of a map.
		if len(groups[g]) >= p.Fanout && (merge == nil || g.tier < best.tier) {
			best, merge = g, groups[g]
		}
	}
	if merge == nil {
		return Plan{}, false
	}
	merge = groups[best]
	total := 0
	for i, v := range merge {
		if total += v.Segment.Len() - v.Gone(); total > p.MaxChunks {
			merge = merge[:i]
			break
		}
	}
	if len(merge) < 2 {
		return Plan{}, false
	}
	return Plan{Views: slices.Clone(merge)}, true
}

// Replace returns the snapshot in which merged, the result of Merge(p.Views),
// stands for the plan's views. What was forgotten or hidden in them since the
// plan was made is forgotten or hidden in the result too. false: the plan's
// views are no longer all there, and the merge is in vain.
func (s *Snapshot) Replace(p Plan, id uint64, merged *Segment) (*Snapshot, bool) {
	at := make([]int, 0, len(p.Views))
	for _, v := range p.Views {
		i := slices.IndexFunc(s.Views, func(w View) bool { return w.Segment == v.Segment })
		if i < 0 {
			return s, false
		}
		at = append(at, i)
	}
	if len(at) == 0 {
		return s, false
	}
	gone := edit{size: merged.Len()}
	hidden := edit{size: merged.Len()}
	for _, i := range at {
		v := s.Views[i]
		for doc, seq := range v.Segment.seqs {
			isGone, isHidden := v.gone.has(doc), v.hidden.has(doc)
			if !isGone && !isHidden {
				continue
			}
			to, ok := merged.Find(seq)
			if !ok {
				continue
			}
			// A chunk that is gone in one of the views may be live in another,
			// which replaced it; the live one is what was merged.
			if isGone && !s.liveElsewhere(at, i, seq) {
				gone.set(to, true)
			}
			if isHidden && !isGone {
				hidden.set(to, true)
			}
		}
	}
	out := &Snapshot{Views: make([]View, 0, len(s.Views))}
	for i, v := range s.Views {
		if i == at[0] && merged.Len() > 0 {
			out.Views = append(out.Views, View{Segment: merged, ID: id, gone: gone.result(), hidden: hidden.result()})
		}
		if !slices.Contains(at, i) {
			out.Views = append(out.Views, v)
		}
	}
	return out, true
}

// liveElsewhere tells whether seq is live in another view of the set.
func (s *Snapshot) liveElsewhere(at []int, but int, seq uint64) bool {
	for _, i := range at {
		if i == but {
			continue
		}
		v := s.Views[i]
		if doc, ok := v.Segment.Find(seq); ok && !v.gone.has(doc) {
			return true
		}
	}
	return false
}
