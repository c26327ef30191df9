package actors

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// edge returns the record of an edge, nil when there is none.
func (f *effect) edge(id pb.EdgeID) (*pb.Edge, error) { return readEdge(f.st, f.part, id) }

// edgeOfTriple returns the edge that an edge is, forgotten or not, nil when there
// is none.
func (f *effect) edgeOfTriple(t edgeTriple) (*pb.Edge, error) {
	raw, found, err := f.st.GetRaw(t.key(f.part.space))
	if err != nil || !found {
		return nil, err
	}
	return f.edge(pb.EdgeID(raw))
}

func readEdge(r storage.Reader, part *partitionRef, id pb.EdgeID) (*pb.Edge, error) {
	e := &pb.Edge{}
	found, err := r.Get(part.space.Key(storage.TableEdge, storage.Str(id)), e)
	if err != nil || !found {
		return nil, err
	}
	return e, nil
}

// putEdge writes an edge and keeps the degrees of its nodes. before is the stored
// record under the same id, nil when there is none; it must not be the same
// message as after.
func (f *effect) putEdge(before, after *pb.Edge) error {
	counted := func(e *pb.Edge) bool { return e != nil && e.GetStatus() != statusTombstoned }
	by := 0
	if counted(before) {
		by--
	}
	if counted(after) {
		by++
	}
	if by != 0 {
		if err := f.addDegree(by, after); err != nil {
			return err
		}
	}
	moveEdge(f.state, before, after)
	putEdge(f.batch.Batch, f.part.space, before, after)
	return nil
}

// addDegree counts an edge at its nodes, or no longer.
func (f *effect) addDegree(by int, e *pb.Edge) error {
	for _, id := range []string{e.GetSource(), e.GetTarget()} {
		n, err := f.node(pb.NodeID(id))
		if err != nil {
			return err
		}
		if n != nil {
			n.Degree = uint32(int(n.GetDegree()) + by)
			f.keep(n)
		}
	}
	return nil
}
