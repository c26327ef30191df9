package graph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

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

// OtherEnd is the node at the other end of an edge of a node.
func OtherEnd(e *pb.Edge, id pb.NodeID) pb.NodeID {
	if e.GetSource() == string(id) {
		return pb.NodeID(e.GetTarget())
	}
	return pb.NodeID(e.GetSource())
}

// edgeTypes seals the types of forgotten edges.
const edgeTypes = "orgmem type of a forgotten edge"

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

// EdgeRecords are the edges of a transaction. It writes each edge at once, with the degrees of its nodes. Those that
// texts are the evidence of it also remembers, since many texts of one slice may speak for the same.
type EdgeRecords struct {
	*Pending
	nodes   *NodeRecords
	history *History
	current map[EdgeIdentity]*pb.Edge // that the transaction has put or removed (nil) by PutCurrent, RemoveUnsupported
}

// Edge returns the record of an edge, or nil.
func (r *EdgeRecords) Edge(id pb.EdgeID) (*pb.Edge, error) { return readEdge(r.Store, r.Part, id) }

// EdgeByIdentity returns the edge with an identity as it is stored, forgotten or not; nil when there is none.
func (r *EdgeRecords) EdgeByIdentity(t EdgeIdentity) (*pb.Edge, error) {
	raw, found, err := r.Store.GetRaw(t.Key(r.Part.Space))
	if err != nil || !found {
		return nil, err
	}
	return r.Edge(pb.EdgeID(raw))
}

// Current is EdgeByIdentity with what the transaction itself has put by PutCurrent or removed by RemoveUnsupported.
func (r *EdgeRecords) Current(triple EdgeIdentity) (*pb.Edge, error) {
	if e, ok := r.current[triple]; ok {
		return e, nil
	}
	return r.EdgeByIdentity(triple)
}

// PutEdge writes an edge and keeps the degrees of its nodes. before is the stored
// record under the same id, or nil; it must not be the same
// message as after.
func (r *EdgeRecords) PutEdge(before, after *pb.Edge) error {
	counted := func(e *pb.Edge) bool { return e != nil && e.GetStatus() != pb.StatusTombstoned }
	by := 0
	if counted(before) {
		by--
	}
	if counted(after) {
		by++
	}
	if by != 0 {
		if err := r.addDegree(by, after); err != nil {
			return err
		}
	}
	drift.MoveEdge(r.State, before, after)
	stored, err := r.sealEdge(before, after)
	if err != nil {
		return err
	}
	PutEdge(r.Batch.Batch, r.Part.Space, before, stored)
	return r.noteGround(after)
}

// PutCurrent is PutEdge for an edge that came from Current, or that Current may be asked for. Current sees the change.
func (r *EdgeRecords) PutCurrent(before, after *pb.Edge) error {
	r.current[EdgeIdentityOf(after)] = after
	return r.PutEdge(before, after)
}

// RemoveUnsupported removes an edge that nothing speaks for any more.
func (r *EdgeRecords) RemoveUnsupported(e *pb.Edge) error {
	if e.GetStatus() != pb.StatusTombstoned {
		if err := r.addDegree(-1, e); err != nil {
			return err
		}
	}
	r.current[EdgeIdentityOf(e)] = nil
	drift.MoveEdge(r.State, e, nil)
	RemoveEdge(r.Batch.Batch, r.Part.Space, e)
	return r.removeGroundsOf(e)
}

// sealEdge returns an edge as it is stored. Of an edge that was forgotten with a node it seals the type, where a client
// has chosen the word: nobody is to read it any more, but unlike the rest of what the node was it comes back with the
// node. The keys that name the type leave the files.
func (r *EdgeRecords) sealEdge(before, e *pb.Edge) (*pb.Edge, error) {
	if e.GetStatus() != pb.StatusTombstoned {
		e.Sealed = nil
		return e, nil
	}
	if e.GetOrigin() != pb.OriginAsserted || e.GetTombstonedWith() == "" || e.GetType() == "" ||
		e.GetType() == pb.EdgeDerivedFrom || // the service's own word
		!r.Org.System.Config.Host.Speaks(wire.SealedVersion) {
		return e, nil
	}
	sealed, err := r.Org.Seal(edgeTypes, []byte(e.GetType()), []byte(e.GetId()))
	if err != nil {
		return nil, err
	}
	stored := proto.CloneOf(e)
	stored.Type, stored.Sealed = "", sealed
	if before != nil && before.GetSealed() == nil {
		source, target, lists := EdgeKeys(r.Part.Space, before)
		for _, key := range append(lists, source, target, EdgeIdentityOf(before).Key(r.Part.Space)) {
			r.Batch.Erase(key)
		}
	}
	return stored, nil
}

// addDegree counts an edge at its nodes, or no longer.
func (r *EdgeRecords) addDegree(by int, e *pb.Edge) error {
	for _, id := range []string{e.GetSource(), e.GetTarget()} {
		n, err := r.nodes.Node(pb.NodeID(id))
		if err != nil {
			return err
		}
		if n != nil {
			n.Degree = uint32(int(n.GetDegree()) + by)
			r.nodes.PutNodeRecord(n)
		}
	}
	return nil
}

// maxEdgesTaken bounds the edges of a node that are in memory together; some 50 MB
// of records. A node with more cannot be restored or superseded; it can be
// forgotten, some edges after the others.
const maxEdgesTaken = 100_000

// EdgesOfNode lists all of a node's edges at some places (origins, or "tombstoned").
// None leads from a node to itself, so each is there once.
func (r *EdgeRecords) EdgesOfNode(id pb.NodeID, places ...string) ([]*pb.Edge, error) {
	edges, more, err := r.someEdges(id, places...)
	if more {
		err = fmt.Errorf("more than %d edges: %w", len(edges), storage.ErrBatchTooLarge)
	}
	return edges, err
}

// someEdges is EdgesOfNode for a caller that asks for more once it has taken these from their places. more says that
// there are some.
func (r *EdgeRecords) someEdges(id pb.NodeID, places ...string) (edges []*pb.Edge, more bool, err error) {
	for _, place := range places {
		for _, end := range []storage.Key{EdgesOfSource(r.Part.Space, id, place), EdgesOfTarget(r.Part.Space, id, place)} {
			for item, err := range r.Store.Scan(end.Children(), storage.ScanOptions{}) {
				if err != nil {
					return nil, false, err
				}
				if len(edges) == cmp.Or(r.Org.System.Config.EdgesPerPiece, maxEdgesTaken) {
					return edges, true, nil
				}
				e, err := EdgeAt(r.Store, r.Part, item.Key)
				if err != nil {
					return nil, false, err
				}
				edges = append(edges, e)
			}
		}
	}
	return edges, false, nil
}

// dropEvidence takes a text's passages out of an edge's evidence, and removes the edge where no other evidence is left.
func (r *EdgeRecords) dropEvidence(edge pb.EdgeID, text pb.NodeID) error {
	before, err := r.Edge(edge)
	if err != nil || before == nil {
		return err
	}
	if w, ok := r.current[EdgeIdentityOf(before)]; ok {
		before = w
	}
	if before == nil || before.GetStatus() == pb.StatusTombstoned {
		return nil
	}
	after := proto.CloneOf(before)
	after.Evidence = slices.DeleteFunc(after.Evidence, func(chunk string) bool {
		return strings.HasPrefix(chunk, string(text)+":")
	})
	if len(after.GetEvidence()) == 0 {
		return r.RemoveUnsupported(before)
	}
	after.UpdatedMs = r.NowMs
	return r.PutCurrent(before, after)
}

// removeEdgesBut removes all edges of a node that is being removed, but those that lead to or from a text. why is what
// becomes of the node for those that rest on it.
func (r *EdgeRecords) removeEdgesBut(id, text pb.NodeID, why string) error {
	edges, err := r.EdgesOfNode(id, append([]string{pb.StatusTombstoned}, EdgeOrigins...)...)
	if err != nil {
		return err
	}
	for _, e := range edges {
		// A text that stays may have been derived from the node.
		own := OtherEnd(e, id) == text && (e.GetType() != pb.EdgeDerivedFrom || why == pb.StaleForgotten)
		if now, ok := r.current[EdgeIdentityOf(e)]; ok && now == nil || own {
			continue // it is removed already, or is the text's own
		}
		if err := r.RemoveUnsupported(e); err != nil {
			return err
		}
		if e.GetTarget() == string(id) {
			if err := r.loseGround(e, why, r.NowMs); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeOwnEdges removes the edges between a text and what was read out of it.
func (r *EdgeRecords) removeOwnEdges(id pb.NodeID, trace *pb.Trace) error {
	var triples []EdgeIdentity
	for _, x := range trace.GetEntities() {
		triples = append(triples,
			EdgeIdentity{id, pb.NodeID(x.GetNode()), EdgeMentions, pb.OriginIngest},
			EdgeIdentity{pb.NodeID(x.GetNode()), id, edgeStatedIn, pb.OriginIngest})
	}
	if trace.GetFollows() != "" {
		triples = append(triples, EdgeIdentity{id, pb.NodeID(trace.GetFollows()), EdgeFollows, pb.OriginIngest})
	}
	for _, triple := range triples {
		e, err := r.Current(triple)
		if err != nil {
			return err
		}
		if e != nil && e.GetStatus() != pb.StatusTombstoned {
			if err := r.RemoveUnsupported(e); err != nil {
				return err
			}
		}
	}
	return nil
}
