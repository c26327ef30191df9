package index

import (
	"cmp"
	"slices"

	pb "orgmem/proto"
)

// latest is a node in the order of [Snapshot.Latest].
type latest struct {
	at, created int64
	seq         uint64
	id          pb.NodeID
	kind        string
}

// before tells whether x comes before y.
func (x *latest) before(y *latest) bool {
	return cmp.Or(cmp.Compare(y.at, x.at), cmp.Compare(y.created, x.created), cmp.Compare(y.seq, x.seq)) < 0
}

// Latest are the ids of the nodes, at most so many of those that keep wants, that were last by the time that they are
// of: when their content happened, else when it was recorded. Of one time, as of all notes of one day, the last
// recorded comes first. What is of a time to come is as of now. The ids are the caller's own.
func (s *Snapshot) Latest(most int, nowMS int64, keep func(id pb.NodeID, kind string) bool) []pb.NodeID {
	if most <= 0 {
		return nil
	}
	best, bound := make([]latest, 0, 2*most), (*latest)(nil)
	for _, v := range slices.Backward(s.Views) {
		// Backward: of many of one time the last is the first, and the others are passed over.
		for doc := v.Segment.Len() - 1; doc >= 0; doc-- {
			if v.IsGone(doc) || v.IsHidden(doc) {
				continue
			}
			d := v.Segment.nodeOf[doc]
			x := latest{at: v.Segment.occurred[d], created: v.Segment.created[d], seq: v.Segment.seqs[doc]}
			x.at = min(cmp.Or(x.at, x.created), nowMS)
			if bound != nil && !x.before(bound) {
				continue
			}
			x.id, x.kind = v.Segment.nodeID(d), v.Segment.kind(int(v.Segment.kindOf[d]))
			if !keep(x.id, x.kind) {
				continue
			}
			if best = append(best, x); len(best) == cap(best) {
				if best = bestOf(best, most); len(best) == most {
					worst := best[most-1]
					bound = &worst
				}
			}
		}
	}
	best = bestOf(best, most)
	ids := make([]pb.NodeID, len(best))
	for i := range best {
		ids[i] = pb.NodeID([]byte(best[i].id))
	}
	return ids
}

// bestOf are the best of some, in order, at most so many. Of a text of several passages the last one counts.
func bestOf(some []latest, most int) []latest {
	slices.SortFunc(some, func(x, y latest) int {
		if x.before(&y) {
			return -1
		}
		return 1
	})
	seen := map[pb.NodeID]bool{}
	some = slices.DeleteFunc(some, func(x latest) bool {
		had := seen[x.id]
		seen[x.id] = true
		return had
	})
	return some[:min(len(some), most)]
}
