package actors

import (
	"bytes"
	"slices"

	pb "orgmem/proto"
	"orgmem/storage"
)

// Lists read index entries in the order of a list, newest first, never the
// records of a whole partition. Whoever writes a node, an edge or a domain does
// it by a function of this file, which keeps the entries in step: they are
// written in the same batch, given what was stored before.
//
// What has few values (a node's status and kind, an edge's origin) stands in
// front of the time in every entry, and a list that does not filter by it joins
// the ranges of all values. So any combination of such filters is one kind of
// entry.

// The statuses and kinds of nodes (docs/interface.md, "The graph").
var (
	nodeStatuses = []string{pb.StatusLive, pb.StatusSuperseded, pb.StatusTombstoned}
	nodeKinds    = []string{"belief", "document", "entity", "event", "preference", "session"}
	// standing are the statuses of nodes that lists show unless they are asked
	// for another.
	standing = nodeStatuses[:2]
)

var edgeOrigins = []string{pb.OriginIngest, pb.OriginAsserted, pb.OriginProposal, pb.OriginSupersede, pb.OriginCognition}

// nodePlace is where a node stands in the lists; the zero value: nowhere.
type nodePlace struct {
	status, kind, domain string
	created              int64
}

func placeOf(n *pb.Node) nodePlace {
	if n == nil {
		return nodePlace{}
	}
	return nodePlace{n.GetStatus(), n.GetKind(), n.GetDomain(), n.GetCreatedMs()}
}

// keys are the entries of a node at a place.
func (p nodePlace) keys(space storage.Space, id pb.NodeID) []storage.Key {
	if p.status == "" {
		return nil
	}
	if !slices.Contains(nodeStatuses, p.status) || !slices.Contains(nodeKinds, p.kind) {
		panic("a node of status " + p.status + " and kind " + p.kind + " would be in no list") //nolint:forbidigo // a bug of ours, found by any test that writes such a node
	}
	keys := []storage.Key{nodeList(space, p.status, p.kind).Child(storage.U64Desc(uint64(p.created)), storage.Str(id))}
	if p.domain != "" {
		keys = append(keys, domainList(space, p.domain, p.status, p.kind).Child(storage.U64Desc(uint64(p.created)), storage.Str(id)))
	}
	return keys
}

func nodeList(space storage.Space, status, kind string) storage.Key {
	return space.Key(storage.TableNodeByTime, storage.Str(status), storage.Str(kind))
}

func domainList(space storage.Space, domain, status, kind string) storage.Key {
	return space.Key(storage.TableNodeByDomain, storage.Str(domain), storage.Str(status), storage.Str(kind))
}

// putNode writes a node. before is the place of the record that is stored, the
// zero value when there is none.
func putNode(b *storage.Batch, space storage.Space, before nodePlace, after *pb.Node) {
	id := pb.NodeID(after.GetId())
	b.Put(space.Key(storage.TableNode, storage.Str(id)), after)
	if now := placeOf(after); now != before {
		moveEntries(b, before.keys(space, id), now.keys(space, id))
	}
}

// removeNode deletes a node's record with its entries; what else belongs to it
// (content, chunks, edges, history) is its caller's.
func removeNode(b *storage.Batch, space storage.Space, before nodePlace, id pb.NodeID) {
	b.Erase(space.Key(storage.TableNode, storage.Str(id)))
	moveEntries(b, before.keys(space, id), nil)
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

// edgePlace is the part of an edge's entries that says what kind of list it is
// in: a tombstoned edge is in none but those of its nodes.
func edgePlace(e *pb.Edge) string {
	if e.GetStatus() == pb.StatusTombstoned {
		return pb.StatusTombstoned
	}
	return e.GetOrigin()
}

// edgesOfSource, edgesOfTarget, edgesOfType and edgesOf are the beginnings of an
// edge's entries.
func edgesOfSource(space storage.Space, source pb.NodeID, place string) storage.Key {
	return space.Key(storage.TableEdgeBySource, storage.Str(source), storage.Str(place))
}

func edgesOfTarget(space storage.Space, target pb.NodeID, place string) storage.Key {
	return space.Key(storage.TableEdgeByTarget, storage.Str(target), storage.Str(place))
}

func edgesOfType(space storage.Space, kind edgeType, place string) storage.Key {
	return space.Key(storage.TableEdgeByType, storage.Str(kind), storage.Str(place))
}

func edgesOf(space storage.Space, place string) storage.Key {
	return space.Key(storage.TableEdgeByTime, storage.Str(place))
}

// edgeType is an edge's type, a word that clients choose.
type edgeType string

// edgeEnd is what an entry under one end of an edge tells without the record.
type edgeEnd struct {
	kind  edgeType
	other pb.NodeID
}

// A type holds no NUL.
func (e edgeEnd) encode() []byte { return []byte(string(e.kind) + "\x00" + string(e.other)) }

func decodeEdgeEnd(raw []byte) edgeEnd {
	kind, other, _ := bytes.Cut(raw, []byte{0})
	return edgeEnd{edgeType(kind), pb.NodeID(other)}
}

// passes reports whether an entry's value has what e names; what e leaves empty
// may be anything.
func (e edgeEnd) passes(value []byte) bool {
	kind, other, _ := bytes.Cut(value, []byte{0})
	return (e.kind == "" || string(kind) == string(e.kind)) && (e.other == "" || string(other) == string(e.other))
}

// edgeTriple says which edge an edge is: there is one of each.
type edgeTriple struct {
	source, target pb.NodeID
	kind           edgeType
	origin         string
}

func tripleOf(e *pb.Edge) edgeTriple {
	return edgeTriple{pb.NodeID(e.GetSource()), pb.NodeID(e.GetTarget()), edgeType(e.GetType()), e.GetOrigin()}
}

func (t edgeTriple) key(space storage.Space) storage.Key {
	return space.Key(storage.TableEdgeOf, storage.Str(t.source), storage.Str(t.target), storage.Str(t.kind), storage.Str(t.origin))
}

// edgeKeys are the entries of an edge, but that of its triple: those under its
// ends, then the others.
func edgeKeys(space storage.Space, e *pb.Edge) (source, target storage.Key, lists []storage.Key) {
	id, at, place := pb.EdgeID(e.GetId()), storage.U64Desc(uint64(e.GetCreatedMs())), edgePlace(e)
	source = edgesOfSource(space, pb.NodeID(e.GetSource()), place).Child(at, storage.Str(id))
	target = edgesOfTarget(space, pb.NodeID(e.GetTarget()), place).Child(at, storage.Str(id))
	if place != pb.StatusTombstoned {
		lists = []storage.Key{
			edgesOf(space, place).Child(at, storage.Str(id)),
			edgesOfType(space, edgeType(e.GetType()), place).Child(at, storage.Str(id)),
		}
	}
	return source, target, lists
}

// putEdge writes an edge. before is the record that is stored under its id, nil
// when there is none; an edge keeps its id, ends, type and origin. It leaves the
// degrees of its nodes alone: effect.putEdge sees to those.
func putEdge(b *storage.Batch, space storage.Space, before, after *pb.Edge) {
	id := pb.EdgeID(after.GetId())
	b.Put(space.Key(storage.TableEdge, storage.Str(id)), after)
	if before != nil && edgePlace(before) == edgePlace(after) && before.GetCreatedMs() == after.GetCreatedMs() {
		return
	}
	if before != nil {
		dropEdgeEntries(b, space, before)
	}
	triple := tripleOf(after)
	source, target, lists := edgeKeys(space, after)
	if after.GetSealed() == nil { // else nobody asks for it by its type
		b.PutRaw(triple.key(space), []byte(id))
	}
	b.PutRaw(source, edgeEnd{triple.kind, triple.target}.encode())
	b.PutRaw(target, edgeEnd{triple.kind, triple.source}.encode())
	moveEntries(b, nil, lists)
}

// removeEdge deletes an edge with its entries. It leaves degrees alone, since an
// edge is removed with one of its nodes, and was tombstoned with it.
func removeEdge(b *storage.Batch, space storage.Space, e *pb.Edge) {
	b.Erase(space.Key(storage.TableEdge, storage.Str(e.GetId())))
	if e.GetSealed() == nil {
		b.Delete(tripleOf(e).key(space))
	}
	dropEdgeEntries(b, space, e)
}

func dropEdgeEntries(b *storage.Batch, space storage.Space, e *pb.Edge) {
	source, target, lists := edgeKeys(space, e)
	b.Delete(source)
	b.Delete(target)
	moveEntries(b, lists, nil)
}

// putDomain writes a domain, which keeps its id and its time.
func putDomain(b *storage.Batch, space storage.Space, d *pb.Domain) {
	b.Put(space.Key(storage.TableDomain, storage.ID16(pb.DomainID(d.GetId()))), d)
	b.PutRaw(domainByTime(space, d), nil)
}

func domainByTime(space storage.Space, d *pb.Domain) storage.Key {
	return space.Key(storage.TableDomainByTime, storage.U64Desc(uint64(d.GetCreatedMs())), storage.ID16(pb.DomainID(d.GetId())))
}
