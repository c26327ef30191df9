package graph

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/ground"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// What was derived rests on its grounds. That stands twice: as edges of type derived_from, which lists and walks find,
// and in the record of what rests (Node.grounds, Edge.grounds). So a read that follows grounds reads records only, and
// what rests on nothing costs it nothing. The grounds of an asserted edge are edges that lead from the edge's id.

// RefusedError says why an item is not taken in, to who has sent it. It names nothing that the item holds: job outcomes
// outlive what is forgotten.
type RefusedError struct{ Reason string }

func (e RefusedError) Error() string { return e.Reason }

// groundsNamed finds the nodes that something says it was derived from, by their ids or by external ids. self is the
// node that says so; empty: an edge. faults are the names that cannot be taken.
func (f *Tx) groundsNamed(names []string, self pb.NodeID) (nodes []pb.NodeID, faults []*pb.FieldError, err error) {
	for i, name := range names {
		n, err := f.nodeNamed(name)
		if err != nil {
			return nil, nil, err
		}
		id, why := pb.NodeID(n.GetId()), ""
		switch {
		case n == nil:
			why = "names no node and no document of this memory"
		case id == self:
			why = "is the item itself"
		case self != "":
			circular, err := f.restsOn(id, self)
			if err != nil {
				return nil, nil, err
			}
			if circular {
				why = "was itself derived from the item"
			}
		}
		if why != "" {
			faults = append(faults, &pb.FieldError{Field: fmt.Sprintf("derivedFrom[%d]", i), Message: why})
			continue
		}
		if !slices.Contains(nodes, id) {
			nodes = append(nodes, id)
		}
	}
	return nodes, faults, nil
}

// nodeNamed is the node that a name means now: its own id, or else an external id. Nil for a forgotten one, too: nobody
// is to learn that it was there.
func (f *Tx) nodeNamed(name string) (*pb.Node, error) {
	n, err := f.Node(pb.NodeID(name))
	if err != nil {
		return nil, err
	}
	if n == nil {
		id, err := f.External.Resolve(pb.ExternalID(name))
		if err != nil || id == "" {
			return nil, err
		}
		if n, err = f.Node(id); err != nil {
			return nil, err
		}
	}
	if n.GetStatus() == pb.StatusTombstoned {
		return nil, nil //nolint:nilnil // as documented
	}
	return n, nil
}

// restsOn reports whether a node rests on another, by any number of steps. Beyond as many nodes as a reader follows it
// says no: who reads passes through a circle once.
func (f *Tx) restsOn(id, on pb.NodeID) (bool, error) {
	seen := map[pb.NodeID]bool{id: true}
	for ahead := []pb.NodeID{id}; len(ahead) > 0; ahead = ahead[1:] {
		n, err := f.Node(ahead[0])
		if err != nil {
			return false, err
		}
		for _, g := range n.GetGrounds() {
			to := pb.NodeID(g.GetNode())
			switch {
			case g.GetGone() != "" || seen[to]:
			case to == on:
				return true, nil
			case len(seen) < ground.MaxClosure:
				seen[to] = true
				ahead = append(ahead, to)
			}
		}
	}
	return false, nil
}

// refusedGrounds is the fault of an item's grounds, nil for none.
func refusedGrounds(faults []*pb.FieldError) error {
	if len(faults) == 0 {
		return nil
	}
	return RefusedError{faults[0].GetField() + " " + faults[0].GetMessage()}
}

// invalidGrounds is the problem of a request whose grounds cannot be taken.
func invalidGrounds(faults []*pb.FieldError) *pb.Problem {
	p := tenant.Invalid(faults[0].GetField(), faults[0].GetMessage())
	p.Errors = faults
	return p
}

// derive makes a node rest on what its item names, in place of what earlier items named, and reports whether that is
// something else. What a person has asserted stays.
func (f *Tx) derive(n *pb.Node, from []pb.NodeID) (changed bool, err error) {
	for _, g := range slices.Clone(n.GetGrounds()) {
		if slices.Contains(from, pb.NodeID(g.GetNode())) {
			continue
		}
		did, err := f.retractGround(n, g)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	for _, id := range from {
		did, err := f.putGround(n.GetId(), id, pb.OriginIngest)
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

// derivation is the identity of the edge that says what something was derived from.
func derivation(source string, from pb.NodeID, origin string) EdgeIdentity {
	return EdgeIdentity{pb.NodeID(source), from, pb.EdgeDerivedFrom, origin}
}

// newGround is the edge that says that a node or edge was derived from a node.
func (r *EdgeRecords) newGround(source string, from pb.NodeID, origin string) *pb.Edge {
	id := r.Part.DerivedID(pb.EdgeDerivedFrom, source, string(from), origin)
	return &pb.Edge{
		Id: id.String(), Source: source, Target: string(from), Type: pb.EdgeDerivedFrom, Origin: origin,
		Weight: MaxAssertedWeight, Confidence: MaxAssertedWeight, Status: pb.StatusLive,
		ValidFromMs: r.NowMs, CreatedMs: r.NowMs, UpdatedMs: r.NowMs,
	}
}

// putGround writes that a node was derived from another, and reports whether that is new. It undoes that somebody
// forgot it: the client says it again.
func (r *EdgeRecords) putGround(source string, from pb.NodeID, origin string) (bool, error) {
	before, err := r.Current(derivation(source, from, origin))
	if err != nil || before.GetStatus() == pb.StatusLive {
		return false, err
	}
	if before.GetStatus() == pb.StatusTombstoned {
		if err := r.RemoveUnsupported(before); err != nil {
			return false, err
		}
		before = nil
	}
	return true, r.PutCurrent(before, r.newGround(source, from, origin))
}

// retractGround takes back what an item said of a node, and reports whether one had.
func (r *EdgeRecords) retractGround(n *pb.Node, g *pb.Ground) (bool, error) {
	t := derivation(n.GetId(), pb.NodeID(g.GetNode()), pb.OriginIngest)
	e, err := r.Current(t)
	if err != nil {
		return false, err
	}
	switch {
	case e != nil:
		if err := r.RemoveUnsupported(e); err != nil {
			return false, err
		}
	case g.GetGone() == "":
		return false, nil // only a person has said it
	}
	return true, r.dropGround(t)
}

// dropGround takes a ground out of the record of a node, unless another edge says it, too.
func (r *EdgeRecords) dropGround(t EdgeIdentity) error {
	for _, origin := range []string{pb.OriginIngest, pb.OriginAsserted} {
		if origin == t.Origin {
			continue
		}
		also, err := r.Current(derivation(string(t.Source), t.Target, origin))
		if err != nil || also.GetStatus() == pb.StatusLive || also.GetTombstonedWith() != "" {
			return err
		}
	}
	n, err := r.nodes.Node(t.Source)
	if err != nil || n == nil {
		return err
	}
	n.Grounds = slices.DeleteFunc(n.Grounds, func(g *pb.Ground) bool { return g.GetNode() == string(t.Target) })
	r.nodes.PutNodeRecord(n)
	return nil
}

// noteGround keeps the record of a node in step with an edge that is being written and says what it was derived from.
func (r *EdgeRecords) noteGround(e *pb.Edge) error {
	if e.GetType() != pb.EdgeDerivedFrom || e.GetOfEdge() {
		return nil
	}
	now := &pb.Ground{Node: e.GetTarget()}
	switch {
	case e.GetStatus() == pb.StatusLive:
	case e.GetTombstonedWith() == "": // by hand
		return r.dropGround(EdgeIdentityOf(e))
	case e.GetTombstonedWith() == e.GetTarget():
		now.Gone, now.GoneMs = pb.StaleForgotten, e.GetTombstonedMs()
		gone, err := r.nodes.Node(pb.NodeID(e.GetTarget()))
		if err != nil {
			return err
		}
		if gone.GetTombstonedMs() != 0 { // the edge may have gone with its other end first
			now.GoneMs = gone.GetTombstonedMs()
		}
	}
	n, err := r.nodes.Node(pb.NodeID(e.GetSource()))
	if err != nil || n == nil {
		return err
	}
	at := slices.IndexFunc(n.GetGrounds(), func(g *pb.Ground) bool { return g.GetNode() == now.GetNode() })
	if at < 0 {
		n.Grounds = append(n.Grounds, now)
	} else {
		n.Grounds[at] = now
	}
	r.nodes.PutNodeRecord(n)
	return nil
}

// loseGround notes in the record of what rests on a node, by an edge that is being removed, that the node is not there
// any more, why, and since when.
func (r *EdgeRecords) loseGround(e *pb.Edge, why string, since int64) error {
	if e.GetType() != pb.EdgeDerivedFrom {
		return nil
	}
	lose := func(grounds []*pb.Ground) {
		for _, g := range grounds {
			if g.GetNode() == e.GetTarget() && g.GetGone() == "" {
				g.Gone, g.GoneMs = why, since
			}
		}
	}
	if !e.GetOfEdge() {
		n, err := r.nodes.Node(pb.NodeID(e.GetSource()))
		if err != nil || n == nil || n.GetStatus() == pb.StatusTombstoned { // it may be on its way out itself
			return err
		}
		lose(n.Grounds)
		r.nodes.PutNodeRecord(n)
		return nil
	}
	before, err := r.currentByID(pb.EdgeID(e.GetSource()))
	if err != nil || before == nil || before.GetStatus() == pb.StatusTombstoned {
		return err
	}
	after := proto.CloneOf(before)
	lose(after.Grounds)
	return r.PutCurrent(before, after)
}

// currentByID is Edge with what the transaction itself has put by PutCurrent or removed by RemoveUnsupported.
func (r *EdgeRecords) currentByID(id pb.EdgeID) (*pb.Edge, error) {
	e, err := r.Edge(id)
	if err != nil || e == nil {
		return nil, err
	}
	if now, ok := r.current[EdgeIdentityOf(e)]; ok {
		return now, nil
	}
	return e, nil
}

// PutGroundsOf writes the edges that say what an asserted edge was derived from.
func (r *EdgeRecords) PutGroundsOf(e *pb.Edge) error {
	for _, g := range e.GetGrounds() {
		from := pb.NodeID(g.GetNode())
		n, err := r.nodes.Node(from)
		if err != nil {
			return err
		}
		if n == nil || g.GetGone() != "" {
			continue
		}
		before, err := r.Current(derivation(e.GetId(), from, pb.OriginAsserted))
		if err != nil {
			return err
		}
		if before != nil {
			if before.GetStatus() == pb.StatusLive || before.GetTombstonedWith() != "" {
				continue
			}
			if err := r.RemoveUnsupported(before); err != nil { // somebody forgot it, and the client says it again
				return err
			}
		}
		after := r.newGround(e.GetId(), from, pb.OriginAsserted)
		after.OfEdge = true
		if n.GetStatus() == pb.StatusTombstoned {
			after.Status, after.TombstonedMs, after.TombstonedWith = pb.StatusTombstoned, n.GetTombstonedMs(), n.GetId()
		}
		if err := r.PutCurrent(nil, after); err != nil {
			return err
		}
	}
	return nil
}

// removeGroundsOf removes the edges that say what an asserted edge was derived from, but those to some nodes. The edge
// itself remembers what they said, and where it comes back, so do they.
func (r *EdgeRecords) removeGroundsOf(e *pb.Edge, but ...pb.NodeID) error {
	for _, g := range e.GetGrounds() {
		from := pb.NodeID(g.GetNode())
		if slices.Contains(but, from) {
			continue
		}
		told, err := r.Current(derivation(e.GetId(), from, pb.OriginAsserted))
		if err != nil {
			return err
		}
		if told != nil {
			if err := r.RemoveUnsupported(told); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetGround takes out of an asserted edge what the edge that is being forgotten said of it.
func (r *EdgeRecords) forgetGround(e *pb.Edge) error {
	before, err := r.currentByID(pb.EdgeID(e.GetSource()))
	if err != nil || before == nil {
		return err
	}
	after := proto.CloneOf(before)
	after.Grounds = slices.DeleteFunc(after.Grounds, func(g *pb.Ground) bool { return g.GetNode() == e.GetTarget() })
	return r.PutCurrent(before, after)
}

// groundIDs are the nodes that something was derived from.
func groundIDs(grounds []*pb.Ground) (ids []string) {
	for _, g := range grounds {
		ids = append(ids, g.GetNode())
	}
	return ids
}
