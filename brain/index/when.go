package index

import (
	"cmp"

	pb "orgmem/proto"
)

// When is the time that a query asks about.
type When struct {
	// Windows are its stretches. A node that occurred in one of them is of that time; where it is not known when it
	// occurred, one that was taken in then.
	Windows []Window
	// Mentioned tells whether a node speaks of that time, whenever it was written; nil: of none it is known. part is the
	// position of the snapshot in the call to Candidates. The id shares the segment's memory.
	Mentioned func(part int, id pb.NodeID) bool
}

// timely is 1 of a node of the time that the query asks about, else 0.
func (q *Query) timely(v *viewState, node uint32) float32 {
	if len(q.When.Windows) == 0 {
		return 0
	}
	s := v.Segment
	at := cmp.Or(s.occurred[node], s.created[node])
	for _, w := range q.When.Windows {
		if at >= w.FromMs && at < w.UntilMs {
			return 1
		}
	}
	if q.When.Mentioned != nil && q.When.Mentioned(int(v.part), s.nodeID(node)) {
		return 1
	}
	return 0
}
