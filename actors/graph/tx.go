package graph

import (
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Tx is a transaction over a partition's graph: it gathers what a slice of items, or an edit, does to it. It reads
// through to the store and sees its own changes, since items of one slice may concern the same node. Nothing is stored
// before the partition's worker commits it (Finish, then StagedBatches and Batch). It belongs to one goroutine.
//
// Each part keeps one kind of record and knows the parts below it only. What concerns several of them is a method of
// Tx: applying an item, forgetting a node.
type Tx struct {
	*Pending
	NodeRecords
	EdgeRecords
	External ExternalIDs
	History  History
	Entities Entities
	Traces   Traces
	Index    IndexChange
	Derived  DerivedRecords
	// IsRestore says that nodes come back from an export: that is no update of their domains.
	IsRestore bool
	// HasNews says that cognition has to look at the change. Finish sets it.
	HasNews bool
}

// NewTx begins a transaction on the partition as it is now. The caller sets Store before it uses it, to a store
// that it holds open.
func NewTx(org *tenant.View, part *partition.Ref, now *partition.Index, e partition.Embedder) *Tx {
	p := &Pending{
		Scope: Scope{Org: org, Part: part, NowMs: clock.Millis(org.System.Clock.Now())},
		Batch: commit.New(org.Store), State: partition.CloneState(now.State),
	}
	f := &Tx{
		Pending: p, NodeRecords: newNodeRecords(p),
		External: ExternalIDs{Pending: p, nodes: map[pb.ExternalID]pb.NodeID{}},
		History:  History{Pending: p},
		Traces:   Traces{Pending: p, changed: map[pb.NodeID]*pb.Trace{}, tails: map[string]pb.NodeID{}},
		Index:    IndexChange{Pending: p, model: e.ID()},
		Derived:  newDerivedRecords(p),
	}
	f.EdgeRecords = EdgeRecords{
		Pending: p, nodes: &f.NodeRecords, history: &f.History, current: map[EdgeIdentity]*pb.Edge{},
	}
	f.Entities = newEntities(p, &f.NodeRecords)
	return f
}

// Finish puts into the batch what is written once for the whole transaction: nodes, entities, the numbers of domains,
// and the partition's state. It returns the index that readers are to see once the batch is committed. compute runs a
// task on a CPU worker.
func (f *Tx) Finish(
	now *partition.Index, dim int, compute func(task func(worker int) error) error,
) (*partition.Index, error) {
	if !f.Derives() { // a cycle counts by itself
		if err := f.Derived.countDomains(f.domainChanges(), !f.IsRestore); err != nil {
			return nil, err
		}
	}
	f.writeNodes()
	f.Entities.write()
	snapshot, err := f.Index.next(now.Snapshot, dim, compute)
	if err != nil {
		return nil, err
	}
	f.Index.markForgotten(now)
	f.markForCognition()
	f.Batch.Put(f.Part.Space.Key(storage.TableState), f.State)
	return &partition.Index{Snapshot: snapshot, State: f.State, Stale: now.Stale}, nil
}

// markForCognition notes, where the transaction changes the partition, that cognition has to catch up with it.
func (f *Tx) markForCognition() {
	if f.Org.System.Config.WithoutDerivation || f.Derives() || len(f.changed) == 0 && f.Index.isEmpty() {
		return
	}
	f.HasNews = true
	f.State.Changes++
	if f.Index.takesAway() {
		f.State.Removals++
	}
	f.Batch.PutRaw(f.Org.Space.Key(storage.TableCognitionDue, storage.ID16(f.Part.ID)), nil)
}
