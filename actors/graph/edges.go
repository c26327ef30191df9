package graph

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Edge returns the record of an edge, or nil.
func (f *Tx) Edge(id pb.EdgeID) (*pb.Edge, error) { return readEdge(f.Store, f.Part, id) }

// EdgeByIdentity returns the edge that an edge is, forgotten or not, nil when there
// is none.
func (f *Tx) EdgeByIdentity(t EdgeIdentity) (*pb.Edge, error) {
	raw, found, err := f.Store.GetRaw(t.Key(f.Part.Space))
	if err != nil || !found {
		return nil, err
	}
	return f.Edge(pb.EdgeID(raw))
}

func readEdge(r storage.Reader, part *partition.Ref, id pb.EdgeID) (*pb.Edge, error) {
	e := &pb.Edge{}
	found, err := r.Get(part.Space.Key(storage.TableEdge, storage.Str(id)), e)
	if err != nil || !found {
		return nil, err
	}
	if e.GetSealed() != nil {
		if kind, _, err := part.Opener.Unseal(edgeTypes, e.GetSealed(), []byte(e.GetId())); err == nil {
			e.Type = string(kind)
		} else if !errors.Is(err, tenant.ErrSealed) { // else it does not come back with its node
			return nil, err
		}
	}
	return e, nil
}

// edgeTypes seals the types of forgotten edges.
const edgeTypes = "orgmem type of a forgotten edge"

// sealEdge takes the type out of an edge that was forgotten with a node, where a client
// has chosen the word: like the rest of what the node was it is not to be read any more,
// and unlike the rest it comes back with the node. What names the type outside of the
// record leaves the files.
func (f *Tx) sealEdge(before, e *pb.Edge) (*pb.Edge, error) {
	if e.GetStatus() != pb.StatusTombstoned {
		e.Sealed = nil
		return e, nil
	}
	if e.GetOrigin() != pb.OriginAsserted || e.GetTombstonedWith() == "" || e.GetType() == "" ||
		!f.Org.System.Config.Host.Speaks(wire.SealedVersion) {
		return e, nil
	}
	sealed, err := f.Org.Seal(edgeTypes, []byte(e.GetType()), []byte(e.GetId()))
	if err != nil {
		return nil, err
	}
	stored := proto.CloneOf(e)
	stored.Type, stored.Sealed = "", sealed
	if before != nil && before.GetSealed() == nil {
		source, target, lists := EdgeKeys(f.Part.Space, before)
		for _, key := range append(lists, source, target, EdgeIdentityOf(before).Key(f.Part.Space)) {
			f.Batch.Erase(key)
		}
	}
	return stored, nil
}

// PutEdge writes an edge and keeps the degrees of its nodes. before is the stored
// record under the same id, or nil; it must not be the same
// message as after.
func (f *Tx) PutEdge(before, after *pb.Edge) error {
	counted := func(e *pb.Edge) bool { return e != nil && e.GetStatus() != pb.StatusTombstoned }
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
	drift.MoveEdge(f.State, before, after)
	stored, err := f.sealEdge(before, after)
	if err != nil {
		return err
	}
	PutEdge(f.Batch.Batch, f.Part.Space, before, stored)
	return nil
}

// addDegree counts an edge at its nodes, or no longer.
func (f *Tx) addDegree(by int, e *pb.Edge) error {
	for _, id := range []string{e.GetSource(), e.GetTarget()} {
		n, err := f.Node(pb.NodeID(id))
		if err != nil {
			return err
		}
		if n != nil {
			n.Degree = uint32(int(n.GetDegree()) + by)
			f.PutNodeRecord(n)
		}
	}
	return nil
}

// EdgeAt reads the edge of an entry under one of its ends; nil when it was
// removed since.
func EdgeAt(r storage.Reader, part *partition.Ref, entry storage.Key) (*pb.Edge, error) {
	parts := entry.Parts()
	_, _, _ = parts.Str(), parts.Str(), parts.U64Desc()
	id := pb.EdgeID(parts.Str())
	if err := parts.Done(); err != nil {
		return nil, err
	}
	return readEdge(r, part, id)
}
