package graph

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/ground"
	"orgmem/actors/listing"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

func edgeNotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeEdgeNotFound, "There is no such edge.")
}

// getEdge answers one edge of the effective partition.
func getEdge(c *tenant.Call, st *storage.Store, op *pb.GetEdge) (_ *pb.Reply, err error) {
	e, err := readEdge(st, c.Part, pb.EdgeID(op.GetId()))
	var r storage.Reader = st
	if err == nil && len(e.GetGrounds()) > 0 { // it and they are to be of one moment
		snap, failed := st.Snapshot()
		if failed != nil {
			return nil, failed
		}
		defer partition.CloseSnapshot(snap, &err)
		r = snap
		e, err = readEdge(r, c.Part, pb.EdgeID(op.GetId()))
	}
	if err != nil {
		return nil, err
	}
	if e == nil || e.GetStatus() == pb.StatusTombstoned {
		return tenant.Refuse(edgeNotFound()), nil
	}
	return edgeReply(ground.New(r, c.Part, 0), c.Part, e)
}

// edgeReply answers an edge, with what g tells of its grounds.
func edgeReply(g *ground.Reader, part *partition.Ref, e *pb.Edge) (*pb.Reply, error) {
	stale, err := g.OfEdge(e)
	if err != nil {
		return nil, err
	}
	info := &pb.EdgeInfo{Edge: e, Subject: string(part.Subject), Stale: stale}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Edge{Edge: info}}), nil
}

// edgeReply answers an edge as it is after the edit.
func (f *Tx) edgeReply(e *pb.Edge) (*pb.Reply, error) {
	return edgeReply(ground.New(f.Store, f.Part, 0), f.Part, e)
}

// listEdges pages through the edges of a partition, newest first, without those
// that were forgotten.
func listEdges(c *tenant.Call, st *storage.Store, op *pb.ListEdges) (_ *pb.Reply, err error) {
	kind := tenant.CursorKind{
		List: "edges", Partition: c.Part.ID,
		Filters: fmt.Sprintf("%q", []string{op.GetSource(), op.GetTarget(), op.GetNode(), op.GetType(), op.GetOrigin()}),
	}
	after, p := listing.PositionOf(c.Org, kind, op.GetPage())
	if p != nil {
		return tenant.Refuse(p), nil
	}
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	f := edgeFilter{
		source: pb.NodeID(op.GetSource()), target: pb.NodeID(op.GetTarget()), node: pb.NodeID(op.GetNode()),
		kind: EdgeType(op.GetType()), origin: op.GetOrigin(),
	}
	edges, next, err := pageOfEdges(snap, c.Part, f, after, tenant.PageSize(op.GetPage()))
	if err != nil {
		return nil, err
	}
	list := &pb.EdgeList{Subject: string(c.Part.Subject), Edges: edges}
	if list.Stale, err = ground.New(snap, c.Part, 0).OfEdges(edges); err != nil {
		return nil, err
	}
	if next != nil {
		list.NextCursor = tenant.SealCursor(c.Org.Secret, kind, next.Encode())
	}
	c.ReadUnits = tenant.UnitsOf(len(edges))
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Edges{Edges: list}}), nil
}

// edgeFilter says which edges a list shows. A field that is empty does not filter; node is either end.
type edgeFilter struct {
	source, target, node pb.NodeID
	kind                 EdgeType
	origin               string
}

// pageOfEdges gathers a page of edges. An entry under an end tells the type and the other end, so an edge that the
// filter keeps out costs no read of its record.
func pageOfEdges(
	snap *storage.Snapshot, part *partition.Ref, f edgeFilter, after *listing.Position, size int,
) ([]*pb.Edge, *listing.Position, error) {
	above, other, possible, err := f.plan(snap, part)
	if err != nil || !possible {
		return nil, nil, err
	}
	var keep listing.Filter
	if end := f.ends(other); end != (EdgeEnd{}) {
		keep = func(_ string, value []byte) bool { return end.passes(value) }
	}
	return listing.PageOf(listing.NewestFirst(snap, above, listing.AllTime, after, keep), size, tenant.MaxRecordsPerPage,
		func(e listing.Entry) (*pb.Edge, bool, error) {
			edge, err := readEdge(snap, part, pb.EdgeID(e.ID))
			if err == nil && edge == nil {
				err = fmt.Errorf("edge %s: %w", e.ID, tenant.ErrNoRecord)
			}
			return edge, true, err
		})
}

// ends is what an entry under an end must have to pass the filter.
func (f edgeFilter) ends(other pb.NodeID) EdgeEnd {
	if f.source == "" && f.target == "" && f.node == "" {
		return EdgeEnd{} // the walk is by type, or of all
	}
	return EdgeEnd{f.kind, other}
}

// plan chooses the ranges of entries to walk, and the other end that an entry in them must have. possible is false when
// no edge can pass.
func (f edgeFilter) plan(
	r storage.Reader, part *partition.Ref,
) (above []storage.Key, other pb.NodeID, possible bool, err error) {
	source, target := f.source, f.target
	switch {
	case f.node == "", f.node == source, f.node == target:
	case source == "" && target == "":
	case source != "" && target == "":
		target = f.node
	case source == "" && target != "":
		source = f.node
	default: // both ends are named, and it is neither
		return nil, "", false, nil
	}
	if source != "" && target != "" {
		// The end with fewer edges is walked.
		s, t := &pb.Node{}, &pb.Node{}
		for id, n := range map[pb.NodeID]*pb.Node{source: s, target: t} {
			if _, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(id)), n); err != nil {
				return nil, "", false, err
			}
		}
		if s.GetDegree() <= t.GetDegree() {
			other, target = target, ""
		} else {
			other, source = source, ""
		}
	}
	origins := EdgeOrigins
	if f.origin != "" {
		origins = []string{f.origin}
	}
	for _, origin := range origins {
		switch {
		case source != "":
			above = append(above, EdgesOfSource(part.Space, source, origin))
		case target != "":
			above = append(above, EdgesOfTarget(part.Space, target, origin))
		case f.node != "": // no edge leads from a node to itself
			above = append(above, EdgesOfSource(part.Space, f.node, origin), EdgesOfTarget(part.Space, f.node, origin))
		case f.kind != "":
			above = append(above, edgesOfType(part.Space, f.kind, origin))
		default:
			above = append(above, EdgesOf(part.Space, origin))
		}
	}
	return above, other, true, nil
}

const (
	// MaxAssertedWeight caps the weight of what a person asserts: what was found in texts weighs more (docs/interface.md,
	// "The graph").
	MaxAssertedWeight = 0.4
	// typeSupersededBy is the service's own: superseding a node makes such edges.
	typeSupersededBy = "superseded_by"
)

// asserted is a weight or confidence as it is stored.
func asserted(v float64) float64 { return min(v, MaxAssertedWeight) }

// assertEdge makes an edge, or updates the one that was asserted before. An update changes only the fields that it
// names. A new edge gets the highest weight and confidence that an assertion may have, unless it names lower ones.
func assertEdge(f *Tx, op *pb.AssertEdge) (*pb.Reply, error) {
	for _, id := range []string{op.GetSource(), op.GetTarget()} {
		n, err := f.Node(pb.NodeID(id))
		if err != nil {
			return nil, err
		}
		if n.GetStatus() != pb.StatusLive {
			return tenant.Refuse(nodeNotFound()), nil
		}
	}
	grounds, p, err := f.groundsAsserted(op)
	if err != nil || p != nil {
		return tenant.Refuse(p), err
	}
	triple := EdgeIdentity{pb.NodeID(op.GetSource()), pb.NodeID(op.GetTarget()), EdgeType(op.GetType()), pb.OriginAsserted}
	before, err := f.EdgeByIdentity(triple)
	if err != nil {
		return nil, err
	}
	if before.GetStatus() == pb.StatusTombstoned { // it comes back as a new one
		RemoveEdge(f.Batch.Batch, f.Part.Space, before)
		before = nil
	}
	var e *pb.Edge
	status := uint32(200)
	if before != nil {
		e = proto.CloneOf(before)
		if e.GetStatus() == pb.StatusSuperseded { // it had ended with a node that was superseded
			e.Status, e.ValidFromMs, e.ValidToMs = pb.StatusLive, f.NowMs, 0
		}
	} else {
		id, err := f.Org.NewID()
		if err != nil {
			return nil, err
		}
		status = 201
		e = &pb.Edge{
			Id: id.String(), Source: op.GetSource(), Target: op.GetTarget(), Type: op.GetType(), Origin: pb.OriginAsserted,
			Weight: MaxAssertedWeight, Confidence: MaxAssertedWeight, Status: pb.StatusLive, ValidFromMs: f.NowMs,
			CreatedMs: f.NowMs,
		}
	}
	if op.Weight != nil {
		e.Weight = asserted(op.GetWeight())
	}
	if op.Confidence != nil {
		e.Confidence = asserted(op.GetConfidence())
	}
	if op.Note != nil {
		e.Note = op.GetNote()
	}
	e.UpdatedMs = f.NowMs
	if err := f.putAsserted(before, e, op.DerivedFrom != nil, grounds); err != nil {
		return nil, err
	}
	f.History.noteEdge(ActionEdgeAsserted, "", before, e)
	if err := f.announce("edge.assert", changeEdgeAsserted, e.GetId(), 2); err != nil {
		return nil, err
	}
	r, err := f.edgeReply(e)
	if err != nil {
		return nil, err
	}
	r.Status = status
	return r, nil
}

// groundsAsserted finds what an edge that is being asserted was derived from, or why it cannot be: also where the edge
// itself says so of its source, which then must not lead back to it.
func (f *Tx) groundsAsserted(op *pb.AssertEdge) ([]pb.NodeID, *pb.Problem, error) {
	if op.GetType() == pb.EdgeDerivedFrom {
		n, err := f.Node(pb.NodeID(op.GetSource()))
		if err != nil {
			return nil, nil, err
		}
		if len(n.GetGrounds()) >= ground.MaxGrounds && !slices.Contains(groundIDs(n.GetGrounds()), op.GetTarget()) {
			return nil, tenant.Invalid("source", fmt.Sprintf("was derived from %d nodes already", ground.MaxGrounds)), nil
		}
		circular, err := f.restsOn(pb.NodeID(op.GetTarget()), pb.NodeID(op.GetSource()))
		if err != nil {
			return nil, nil, err
		}
		if circular {
			return nil, tenant.Invalid("target", "was itself derived from source"), nil
		}
	}
	grounds, faults, err := f.groundsNamed(op.GetDerivedFrom().GetIds(), "")
	if err != nil {
		return nil, nil, err
	}
	if len(faults) > 0 {
		return nil, invalidGrounds(faults), nil
	}
	return grounds, nil, nil
}

// putAsserted writes an asserted edge and, where the request says so anew, what it was derived from.
func (f *Tx) putAsserted(before, e *pb.Edge, derived bool, grounds []pb.NodeID) error {
	if derived {
		e.Grounds = nil
		for _, id := range grounds {
			e.Grounds = append(e.Grounds, &pb.Ground{Node: string(id)})
		}
		if before != nil {
			if err := f.removeGroundsOf(before, grounds...); err != nil {
				return err
			}
		}
	}
	if err := f.PutCurrent(before, e); err != nil {
		return err
	}
	return f.PutGroundsOf(e)
}

// forgetEdge tombstones an edge. Its note and evidence are erased. The tombstone stays, so that nothing derives the
// edge again.
func forgetEdge(f *Tx, op *pb.ForgetEdge) (*pb.Reply, error) {
	before, err := f.Edge(pb.EdgeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	if before == nil || before.GetStatus() == pb.StatusTombstoned {
		return tenant.Refuse(edgeNotFound()), nil
	}
	e := proto.CloneOf(before)
	e.Status, e.TombstonedMs, e.UpdatedMs = pb.StatusTombstoned, f.NowMs, f.NowMs
	e.Note, e.Evidence, e.Grounds = "", nil, nil
	f.TouchesExports = true
	f.eraseNote(before)
	if err := f.PutCurrent(before, e); err != nil {
		return nil, err
	}
	if err := f.removeGroundsOf(before); err != nil {
		return nil, err
	}
	if before.GetOfEdge() {
		if err := f.forgetGround(before); err != nil {
			return nil, err
		}
	}
	f.History.noteEdge(ActionEdgeForgotten, "", before, nil)
	if err := f.announce("edge.forget", changeEdgeForgotten, e.GetId(), 2); err != nil {
		return nil, err
	}
	return f.edgeReply(e)
}
