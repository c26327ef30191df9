package graph

import (
	"bytes"
	"slices"

	pb "orgmem/proto"
	"orgmem/storage"
)

// Lists read index entries in the order of the list, newest first, and never all records of a partition. The functions
// of this file make every write of a node, an edge or a domain. They keep the entries in step: given what was stored
// before, they write entries and record in the same batch.
//
// What has few values (a node's status and kind, an edge's origin) comes before the time in every entry. A list that
// does not filter by it joins the ranges of all values. So one kind of entry serves every combination of such filters.

// The statuses and kinds of nodes (docs/interface.md, "The graph").
var (
	// NodeStatuses are all statuses of nodes. Nobody changes it, nor the two below.
	NodeStatuses = []string{pb.StatusLive, pb.StatusSuperseded, pb.StatusTombstoned}
	// NodeKinds are all kinds of nodes, in the order of the alphabet.
	NodeKinds = []string{"belief", "document", "entity", "event", "preference", "session"}
	// Standing are the statuses of nodes that lists show unless they are asked
	// for another.
	Standing = NodeStatuses[:2]
)

// EdgeOrigins are where an edge may come from: each has lists of its own. Nobody changes it.
var EdgeOrigins = []string{
	pb.OriginIngest, pb.OriginAsserted, pb.OriginProposal, pb.OriginSupersede,
	pb.OriginCognition,
}

// NodePlace is where a node is in the lists. The zero value is nowhere.
type NodePlace struct {
	status, kind, domain string
	created              int64
}

// PlaceOf is the place of a node as its record says; nil stands nowhere.
func PlaceOf(n *pb.Node) NodePlace {
	if n == nil {
		return NodePlace{}
	}
	return NodePlace{n.GetStatus(), n.GetKind(), n.GetDomain(), n.GetCreatedMs()}
}

// Keys are the entries of a node at a place.
func (p NodePlace) Keys(space storage.Space, id pb.NodeID) []storage.Key {
	if p.status == "" {
		return nil
	}
	if !slices.Contains(NodeStatuses, p.status) || !slices.Contains(NodeKinds, p.kind) {
		//nolint:forbidigo // a bug of ours, found by any test that writes such a node
		panic("a node of status " + p.status + " and kind " + p.kind + " would be in no list")
	}
	keys := []storage.Key{NodeList(space, p.status, p.kind).Child(storage.U64Desc(uint64(p.created)), storage.Str(id))}
	if p.domain != "" {
		keys = append(keys, DomainList(space, p.domain, p.status, p.kind).Child(storage.U64Desc(uint64(p.created)),
			storage.Str(id)))
	}
	return keys
}

// NodeList is the beginning of the entries of all nodes of a status and kind, newest first.
func NodeList(space storage.Space, status, kind string) storage.Key {
	return space.Key(storage.TableNodeByTime, storage.Str(status), storage.Str(kind))
}

// DomainList is the beginning of the entries of the nodes of a status and kind in one domain, newest first. domain is
// the domain's id as text.
func DomainList(space storage.Space, domain, status, kind string) storage.Key {
	return space.Key(storage.TableNodeByDomain, storage.Str(domain), storage.Str(status), storage.Str(kind))
}

// PutNode writes a node. before is the place of the record that is stored, the
// zero value when there is none.
func PutNode(b *storage.Batch, space storage.Space, before NodePlace, after *pb.Node) {
	id := pb.NodeID(after.GetId())
	b.Put(space.Key(storage.TableNode, storage.Str(id)), after)
	if now := PlaceOf(after); now != before {
		moveEntries(b, before.Keys(space, id), now.Keys(space, id))
	}
}

// RemoveNode deletes a node's record with its entries; what else belongs to it
// (content, chunks, edges, history) is its caller's.
func RemoveNode(b *storage.Batch, space storage.Space, before NodePlace, id pb.NodeID) {
	b.Erase(space.Key(storage.TableNode, storage.Str(id)))
	moveEntries(b, before.Keys(space, id), nil)
}

// moveEntries deletes old entries that are not among the new, and writes those.
func moveEntries(b *storage.Batch, before, after []storage.Key) {
	for _, k := range before {
		if !slices.ContainsFunc(after, k.Equal) {
			b.Delete(k)
		}
	}
	for _, k := range after {
		b.PutRaw(k, nil)
	}
}

// edgePlace is the part of an edge's entries that says which lists it is in. A tombstoned edge is only in those of its
// nodes.
func edgePlace(e *pb.Edge) string {
	if e.GetStatus() == pb.StatusTombstoned {
		return pb.StatusTombstoned
	}
	return e.GetOrigin()
}

// EdgesOfSource is the beginning of the entries of the edges that lead from a node, newest first. place is an edge's
// origin, or "tombstoned", as in the three functions below.
func EdgesOfSource(space storage.Space, source pb.NodeID, place string) storage.Key {
	return space.Key(storage.TableEdgeBySource, storage.Str(source), storage.Str(place))
}

// EdgesOfTarget is the beginning of the entries of the edges that lead to a node.
func EdgesOfTarget(space storage.Space, target pb.NodeID, place string) storage.Key {
	return space.Key(storage.TableEdgeByTarget, storage.Str(target), storage.Str(place))
}

// edgesOfType is the beginning of the entries of the edges of a type.
func edgesOfType(space storage.Space, kind EdgeType, place string) storage.Key {
	return space.Key(storage.TableEdgeByType, storage.Str(kind), storage.Str(place))
}

// EdgesOf is the beginning of the entries of all edges.
func EdgesOf(space storage.Space, place string) storage.Key {
	return space.Key(storage.TableEdgeByTime, storage.Str(place))
}

// EdgeType is an edge's type, a word that clients choose.
type EdgeType string

// EdgeEnd is what an entry under one end of an edge tells, without a read of the record.
type EdgeEnd struct {
	Kind  EdgeType
	Other pb.NodeID
}

// Encode is the value of an entry. A type holds no NUL, which ends it here.
func (e EdgeEnd) Encode() []byte { return []byte(string(e.Kind) + "\x00" + string(e.Other)) }

// DecodeEdgeEnd reads what Encode has made.
func DecodeEdgeEnd(raw []byte) EdgeEnd {
	kind, other, _ := bytes.Cut(raw, []byte{0})
	return EdgeEnd{EdgeType(kind), pb.NodeID(other)}
}

// passes reports whether an entry's value has what e names. Empty fields of e match anything.
func (e EdgeEnd) passes(value []byte) bool {
	kind, other, _ := bytes.Cut(value, []byte{0})
	return (e.Kind == "" || string(kind) == string(e.Kind)) && (e.Other == "" || string(other) == string(e.Other))
}

// EdgeIdentity identifies an edge: there is at most one of each source, target, type and origin.
type EdgeIdentity struct {
	Source, Target pb.NodeID
	Kind           EdgeType
	Origin         string
}

// EdgeIdentityOf is which edge a record is of.
func EdgeIdentityOf(e *pb.Edge) EdgeIdentity {
	return EdgeIdentity{pb.NodeID(e.GetSource()), pb.NodeID(e.GetTarget()), EdgeType(e.GetType()), e.GetOrigin()}
}

// Key is the entry that leads from an identity to the id of its edge.
func (t EdgeIdentity) Key(space storage.Space) storage.Key {
	return space.Key(storage.TableEdgeOf, storage.Str(t.Source), storage.Str(t.Target), storage.Str(t.Kind),
		storage.Str(t.Origin))
}

// EdgeKeys are the entries of an edge but that of its identity: those under its ends, then those in lists.
func EdgeKeys(space storage.Space, e *pb.Edge) (source, target storage.Key, lists []storage.Key) {
	id, at, place := pb.EdgeID(e.GetId()), storage.U64Desc(uint64(e.GetCreatedMs())), edgePlace(e)
	source = EdgesOfSource(space, pb.NodeID(e.GetSource()), place).Child(at, storage.Str(id))
	target = EdgesOfTarget(space, pb.NodeID(e.GetTarget()), place).Child(at, storage.Str(id))
	if place != pb.StatusTombstoned {
		lists = []storage.Key{
			EdgesOf(space, place).Child(at, storage.Str(id)),
			edgesOfType(space, EdgeType(e.GetType()), place).Child(at, storage.Str(id)),
		}
	}
	return source, target, lists
}

// PutEdge writes an edge. before is the record that is stored under its id, or nil. An edge keeps its id, ends, type
// and origin. The degrees of its nodes are the caller's (EdgeRecords.PutEdge).
func PutEdge(b *storage.Batch, space storage.Space, before, after *pb.Edge) {
	id := pb.EdgeID(after.GetId())
	b.Put(space.Key(storage.TableEdge, storage.Str(id)), after)
	if before != nil && edgePlace(before) == edgePlace(after) && before.GetCreatedMs() == after.GetCreatedMs() {
		return
	}
	if before != nil {
		dropEdgeEntries(b, space, before)
	}
	triple := EdgeIdentityOf(after)
	source, target, lists := EdgeKeys(space, after)
	if after.GetSealed() == nil { // else nobody asks for it by its type
		b.PutRaw(triple.Key(space), []byte(id))
	}
	b.PutRaw(source, EdgeEnd{triple.Kind, triple.Target}.Encode())
	b.PutRaw(target, EdgeEnd{triple.Kind, triple.Source}.Encode())
	moveEntries(b, nil, lists)
}

// RemoveEdge deletes an edge with its entries. The degrees of its nodes are the caller's.
func RemoveEdge(b *storage.Batch, space storage.Space, e *pb.Edge) {
	b.Erase(space.Key(storage.TableEdge, storage.Str(e.GetId())))
	if e.GetSealed() == nil {
		b.Delete(EdgeIdentityOf(e).Key(space))
	}
	dropEdgeEntries(b, space, e)
}

func dropEdgeEntries(b *storage.Batch, space storage.Space, e *pb.Edge) {
	source, target, lists := EdgeKeys(space, e)
	b.Delete(source)
	b.Delete(target)
	moveEntries(b, lists, nil)
}

// PutDomain writes a domain, which keeps its id and its time.
func PutDomain(b *storage.Batch, space storage.Space, d *pb.Domain) {
	b.Put(space.Key(storage.TableDomain, storage.ID16(pb.DomainID(d.GetId()))), d)
	b.PutRaw(DomainByTime(space, d), nil)
}

// DomainByTime is the entry of a domain in the list of domains, newest first.
func DomainByTime(space storage.Space, d *pb.Domain) storage.Key {
	return space.Key(storage.TableDomainByTime, storage.U64Desc(uint64(d.GetCreatedMs())),
		storage.ID16(pb.DomainID(d.GetId())))
}
