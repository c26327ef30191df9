package search

import (
	"math"

	"orgmem/actors/partition"
	"orgmem/actors/training"
	"orgmem/brain/extract/asked"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// timelyCandidates are looked at at least where a question asks about a time: what is of that time may stand far
	// behind what is more like the question.
	timelyCandidates = 400
	// maxMoments bounds the moments that are read for a question, of all partitions and times together, the latest first:
	// some 2 ms.
	maxMoments = 1000
)

// askForTime has what is of the time that a question asks about ranked higher, if it asks about one.
func (o *Module) askForTime(st *storage.Store, parts []*partition.Ref, q *training.Lookup, question string) error {
	if q.Mode != index.Hybrid {
		return nil
	}
	for _, d := range asked.Times(question, clock.Millis(o.System.Clock.Now())) {
		q.When.Windows = append(q.When.Windows, index.Window{FromMs: d.FromMs, UntilMs: d.UntilMs})
	}
	if len(q.When.Windows) == 0 {
		return nil
	}
	mentioned, left := map[NodeRef]bool{}, maxMoments
	for _, part := range parts {
		for _, w := range q.When.Windows {
			if left--; left <= 0 { // to look for them costs as much as to read one
				break
			}
			// Times are in descending order: from the last that lies in the window to the first.
			at := storage.Between(part.Space.Key(storage.TableMoment, storage.I64Desc(w.UntilMs-1)),
				part.Space.Key(storage.TableMoment, storage.I64Desc(max(w.FromMs, math.MinInt64+1)-1)))
			for item, err := range st.Scan(at, storage.ScanOptions{Limit: left}) {
				if err != nil {
					return err
				}
				m := &pb.Moment{}
				if err := item.Decode(m); err != nil {
					return err
				}
				mentioned[NodeRef{part.ID, pb.NodeID(m.GetNode())}] = true
				left--
			}
		}
	}
	if len(mentioned) > 0 {
		q.When.Mentioned = func(part int, id pb.NodeID) bool { return mentioned[NodeRef{parts[part].ID, id}] }
	}
	return nil
}
