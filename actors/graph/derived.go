package graph

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/ground"
	"orgmem/actors/tenant"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What a cognition cycle derives rests on nodes, and is removed with them. The functions of this file write each such
// record together with an entry under every node that it rests on, by which forgetting a node finds it.

// The names of the views in storage.TableView.
const (
	// ViewIdentity is the view of who the partition's person is.
	ViewIdentity = "identity"
	// ViewTemporal is the view of the partition's time as a whole: its trends and its cadence.
	ViewTemporal = "temporal"
	// ViewPlot is the plot of the manifold that ViewIdentity has.
	ViewPlot = "plot"
)

// PutInsight writes an insight under its time of creation, with an entry under each node that it rests on.
func PutInsight(b *storage.Batch, space storage.Space, i *pb.Insight) {
	key := space.Key(storage.TableInsight, storage.U64Desc(uint64(i.GetCreatedMs())),
		storage.ID16(pb.DerivedID(i.GetId())))
	b.Put(key, i)
	ground.RestOn(b, space, pb.DerivedID(i.GetId()), key, i.GetNodes()...)
}

// PutMoment writes a moment of the timeline, with an entry under the node that it rests on.
func PutMoment(b *storage.Batch, space storage.Space, m *pb.Moment) {
	key := space.Key(storage.TableMoment, storage.I64Desc(m.GetAtMs()), storage.ID16(pb.DerivedID(m.GetId())))
	b.Put(key, m)
	ground.RestOn(b, space, pb.DerivedID(m.GetId()), key, m.GetNode())
}

// PutContradiction writes an open contradiction under its time of detection, with an entry under both of its nodes.
func PutContradiction(b *storage.Batch, space storage.Space, x *pb.Contradiction) {
	key := space.Key(storage.TableContradiction, storage.U64Desc(uint64(x.GetDetectedMs())),
		storage.ID16(pb.DerivedID(x.GetId())))
	b.Put(key, x)
	ground.RestOn(b, space, pb.DerivedID(x.GetId()), key, x.GetNodeA(), x.GetNodeB())
}

// PutProposal writes a new proposal. Its pair must not have been proposed
// before (ProposedBefore): what was rejected is not proposed again.
func PutProposal(b *storage.Batch, space storage.Space, p *pb.Proposal) {
	id := pb.DerivedID(p.GetId())
	key := tenant.ProposalKey(space, id)
	b.Put(key, p)
	b.PutRaw(space.Key(storage.TableProposalByTime, storage.U64Desc(uint64(p.GetCreatedMs())), storage.ID16(id)), nil)
	b.PutRaw(pairKey(space, p), id[:])
	ground.RestOn(b, space, id, key, append([]string{p.GetSource(), p.GetTarget()}, p.GetThrough()...)...)
}

// Unnamed is the rationale of a proposal after a node that it named was forgotten.
const Unnamed = "Both are linked to the same nodes, of which one was forgotten since."

// pairKey is the same in both directions: a person who rejects that a leads to b does not want to be asked about b and
// a.
func pairKey(space storage.Space, p *pb.Proposal) storage.Key {
	return space.Key(storage.TableProposalByPair, storage.Str(min(p.GetSource(), p.GetTarget())),
		storage.Str(max(p.GetSource(), p.GetTarget())))
}

// ProposedBefore reports whether an edge between the ends of p was ever
// proposed, whatever became of it.
func ProposedBefore(r storage.Reader, space storage.Space, p *pb.Proposal) (bool, error) {
	_, found, err := r.GetRaw(pairKey(space, p))
	return found, err
}

// leaveOthers deletes the entries of an insight that is being erased, under all nodes that it rests on.
func leaveOthers(r storage.Reader, b *storage.Batch, space storage.Space, key storage.Key) error {
	i := &pb.Insight{}
	found, err := r.Get(key, i)
	if err != nil || !found {
		return err
	}
	for _, n := range i.GetNodes() {
		b.Delete(space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(pb.DerivedID(i.GetId()))))
	}
	return nil
}

// eraseFindings erases what was derived from the words of a node that is getting others. Records that a person decided
// on, and those that the node is only a part of, stay.
func eraseFindings(r storage.Reader, b *storage.Batch, space storage.Space, node pb.NodeID) error {
	for item, err := range r.Scan(space.Prefix(storage.TableDerivedByNode, storage.Str(node)), storage.ScanOptions{}) {
		if err != nil {
			return err
		}
		key, err := space.All().ParseKey(item.Value)
		if err != nil {
			return err
		}
		if t := key.Table(); t == storage.TableContradiction || t == storage.TableMoment ||
			t == storage.TableRecurrence || t == storage.TableInsight {
			if t == storage.TableInsight {
				if err := leaveOthers(r, b, space, key); err != nil {
					return err
				}
			}
			b.Erase(key)
			b.Delete(item.Key)
		}
	}
	return nil
}

// DerivedReply answers with something that was derived from a memory: the family that the wire calls
// mind (proto/mind.proto).
func DerivedReply(r *pb.MindResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Mind{Mind: r}} }

// dayOf is a day as people write it.
func dayOf(ms int64) string { return time.UnixMilli(ms).UTC().Format("2 January 2006") }

// DerivedRecords are the records that cognition has derived, as a transaction changes them. It remembers those that
// several of its nodes may concern.
type DerivedRecords struct {
	*Pending
	domains    map[string]*pb.Domain    // by raw id: those that words were taken from
	views      map[string]proto.Message // by name
	withdrawn  map[string]bool          // by key: the proposals that went with one of their ends
	shapesGone bool                     // the insights that are not of one text are gone
}

func newDerivedRecords(p *Pending) DerivedRecords {
	return DerivedRecords{
		Pending: p, domains: map[string]*pb.Domain{}, views: map[string]proto.Message{}, withdrawn: map[string]bool{},
	}
}

// erase removes what was derived from a node, bytes included. A proposal that only names the node stays, without the
// name, since a decision on it must be kept: what was rejected is not proposed again.
func (dr *DerivedRecords) erase(node pb.NodeID) error {
	b, space := dr.Batch.Batch, dr.Part.Space
	keys, err := ground.RestingOn(dr.Store, space, node, 0)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.Table() == storage.TableDomain {
			continue // it stays, without the node and its words (eraseWords)
		}
		if key.Table() == storage.TableProposal {
			p := &pb.Proposal{}
			found, err := dr.Store.Get(key, p)
			if err != nil {
				return err
			}
			if !found || dr.withdrawn[string(key.Bytes())] {
				continue // it went with an end
			}
			if id := string(node); p.GetSource() != id && p.GetTarget() != id {
				for _, other := range p.GetThrough() {
					b.Delete(space.Key(storage.TableDerivedByNode, storage.Str(other), storage.ID16(pb.DerivedID(p.GetId()))))
				}
				p.Rationale, p.Through = Unnamed, nil
				b.Erase(key)
				b.Put(key, p)
				continue
			}
			dr.withdrawn[string(key.Bytes())] = true
			b.Delete(space.Key(storage.TableProposalByTime, storage.U64Desc(uint64(p.GetCreatedMs())),
				storage.ID16(pb.DerivedID(p.GetId()))))
			b.Delete(pairKey(space, p))
		}
		if key.Table() == storage.TableInsight {
			if err := leaveOthers(dr.Store, b, space, key); err != nil {
				return err
			}
		}
		b.Erase(key)
	}
	b.DeleteRange(space.Prefix(storage.TableDerivedByNode, storage.Str(node)))
	return nil
}

// removeQuotes removes names that an entity has lost from the rationales of proposals.
func (dr *DerivedRecords) removeQuotes(entity pb.NodeID, names []string) error {
	keys, err := ground.RestingOn(dr.Store, dr.Part.Space, entity, 0)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.Table() != storage.TableProposal || dr.withdrawn[string(key.Bytes())] {
			continue
		}
		p := &pb.Proposal{}
		found, err := dr.Store.Get(key, p)
		if err != nil {
			return err
		}
		if found && slices.ContainsFunc(names, func(name string) bool {
			return strings.Contains(p.GetRationale(), "“"+name+"”")
		}) {
			p.Rationale = Unnamed
			dr.Batch.Erase(key)
			dr.Batch.Put(key, p)
		}
	}
	return nil
}

// DropInsight removes an insight and the entries under the nodes that it rests on.
func (dr *DerivedRecords) DropInsight(key storage.Key, i *pb.Insight) {
	for _, n := range i.GetNodes() {
		dr.Batch.Delete(dr.Part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(pb.DerivedID(i.GetId()))))
	}
	dr.Batch.Erase(key)
}

// PutDomain writes a domain, with entries under the nodes that it is named by.
func (dr *DerivedRecords) PutDomain(before, after *pb.Domain) {
	id := pb.DerivedID(after.GetId())
	for _, n := range before.GetNamedBy() {
		if !slices.Contains(after.GetNamedBy(), n) {
			dr.Batch.Delete(dr.Part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(id)))
		}
	}
	ground.RestOn(dr.Batch.Batch, dr.Part.Space, id, dr.Part.Space.Key(storage.TableDomain,
		storage.ID16(pb.DomainID(after.GetId()))), after.GetNamedBy()...)
	// Its earlier versions may hold a label that is gone.
	dr.Batch.Erase(dr.Part.Space.Key(storage.TableDomain, storage.ID16(pb.DomainID(after.GetId()))))
	PutDomain(dr.Batch.Batch, dr.Part.Space, after)
}

// Has reports whether a record that rests on a node is there already.
func (dr *DerivedRecords) Has(on pb.NodeID, id pb.DerivedID) (bool, error) {
	_, found, err := dr.Store.GetRaw(dr.Part.Space.Key(storage.TableDerivedByNode, storage.Str(on), storage.ID16(id)))
	return found, err
}

// tellSignal writes the insight of a signal whose node is being created.
func (dr *DerivedRecords) tellSignal(n *pb.Node, item *pb.IngestItem) {
	if item.GetSource() != pb.SourceSignal || n.GetUnlearned() {
		return
	}
	session, _, _ := strings.Cut(item.GetScope(), "\x00")
	at := cmp.Or(item.GetOccurredMs(), dr.NowMs)
	id := dr.Part.DerivedID(pb.InsightSignal, n.GetId())
	PutInsight(dr.Batch.Batch, dr.Part.Space, &pb.Insight{
		Id: id[:], Kind: pb.InsightSignal, Title: text.OneLine(n.GetTitle()),
		Detail:     "On " + dayOf(at) + ", in the coding session " + text.OneLine(session) + ".",
		Confidence: 1, Nodes: []string{n.GetId()}, CreatedMs: max(min(at, dr.NowMs), 1),
	})
}

// countDomains adds the changes in the numbers of live nodes to their domains.
func (dr *DerivedRecords) countDomains(changes map[string]int, isUpdate bool) error {
	if len(changes) == 0 {
		return nil
	}
	return dr.Org.WithStore(func(st *storage.Store) error {
		for name, change := range changes {
			id, err := pb.ParseDomainID(name)
			if err != nil || change == 0 {
				continue
			}
			d := dr.domains[string(id[:])]
			found := d != nil
			if !found {
				d = &pb.Domain{}
				if found, err = st.Get(dr.Part.Space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
					return err
				}
			}
			if !found {
				continue
			}
			d.Nodes = uint32(max(0, int(d.GetNodes())+change))
			if isUpdate {
				d.UpdatedMs = dr.NowMs
			}
			PutDomain(dr.Batch.Batch, dr.Part.Space, d)
		}
		return nil
	})
}
