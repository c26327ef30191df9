package graph

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxEdgesTaken bounds the edges of a node that are in memory together; some 50 MB
// of records. A node with more cannot be restored or superseded; it can be
// forgotten, some edges after the others.
const maxEdgesTaken = 100_000

// forgetNode erases what a node held, everywhere, and keeps that it was: its id,
// kind, times, domain and, as tombstones, its edges.
func (f *Tx) forgetNode(op *pb.ForgetNode) (*pb.Reply, error) {
	id := pb.NodeID(op.GetId())
	n, err := f.Node(id)
	if err != nil {
		return nil, err
	}
	if n == nil || n.GetStatus() == pb.StatusTombstoned {
		return tenant.Refuse(nodeNotFound()), nil
	}
	if err := f.TombstoneEdges(id); err != nil {
		return nil, err
	}
	text, err := f.Content(id)
	if err != nil {
		return nil, err
	}
	if err := f.eraseQueued(n, text); err != nil {
		return nil, err
	}
	if err := f.Forget(n, text); err != nil {
		return nil, err
	}
	f.Batch.Audit(f.Call.AuditOf("node.forget", op.GetId()))
	if err := AddGraphUpdated(f.Batch, f.Org, f.Part, ChangeForgotten, op.GetId(), 1); err != nil {
		return nil, err
	}
	return f.nodeReply(n, ""), nil
}

// Forget makes a tombstone of a node that is none yet, and holds text. Its edges are the caller's,
// before it, and what of it waits in the queue.
func (f *Tx) Forget(n *pb.Node, text string) error {
	id := pb.NodeID(n.GetId())
	for _, erase := range []func() error{
		func() error { return f.UpdateContentKey(n, text, "") },
		func() error { return f.unlink(n, true) },
		func() error { return f.eraseWords(n, text) },
		func() error { return f.eraseChunks(n) },
		func() error { return f.eraseExternalIDs(n) },
		func() error { return f.eraseFileNames(n) },
		func() error { return f.eraseHistory(id) },
		func() error { return f.eraseReasons(id) },
		func() error { return f.eraseDerived(id) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	// The record too: its earlier versions hold the title.
	f.Batch.Erase(f.Part.Space.Key(storage.TableNode, storage.Str(id)))
	f.Batch.Erase(f.Part.Space.Key(storage.TableContent, storage.Str(id)))
	f.TouchesExports = true
	f.Forgotten = append(f.Forgotten, id)
	n.Was, n.Status = n.GetStatus(), pb.StatusTombstoned
	n.Title, n.Metadata, n.ContentBytes, n.Chunks = "", nil, 0, nil
	n.Turn, n.Edited, n.Curated, n.Erased, n.Facts = false, false, false, true, nil
	n.Source = &pb.Source{Type: n.GetSource().GetType(), Job: n.GetSource().GetJob()}
	n.TombstonedMs = f.NowMs
	n.RestorableMs = f.NowMs + f.Org.System.Config.TombstoneRetention.Milliseconds()
	f.putUpdated(n)
	f.State.Nodes--
	f.Batch.PutRaw(f.Tombstone(n), nil)
	f.Batch.PutRaw(f.Org.Space.Key(storage.TableTombstoneDue, storage.U64(uint64(n.RestorableMs)),
		storage.ID16(f.Part.ID)), nil)
	f.note(id, ActionForgotten, "")
	return nil
}

// Tombstone is a forgotten node's place in the order of removal.
func (f *Tx) Tombstone(n *pb.Node) storage.Key {
	return f.Part.Space.Key(storage.TableTombstone, storage.U64(uint64(n.GetRestorableMs())), storage.Str(n.GetId()))
}

// eraseChunks takes a node's passages out of the store and the index.
func (f *Tx) eraseChunks(n *pb.Node) error {
	models, err := f.vectorModels()
	if err != nil {
		return err
	}
	space := f.Part.Space
	seqs := n.GetChunks()
	for len(seqs) > 0 {
		run := 1 // a node's chunks have numbers in a row
		for run < len(seqs) && seqs[run] == seqs[0]+uint64(run) {
			run++
		}
		first, end := storage.U64(seqs[0]), storage.U64(seqs[0]+uint64(run))
		f.Batch.EraseRange(storage.Between(space.Key(storage.TableChunk, first), space.Key(storage.TableChunk, end)))
		f.Batch.DeleteRange(storage.Between(space.Key(storage.TableUnsealed, first), space.Key(storage.TableUnsealed, end)))
		for _, model := range models {
			f.Batch.EraseRange(storage.Between(
				space.Key(storage.TableVector, storage.Str(model), first), space.Key(storage.TableVector, storage.Str(model), end)))
		}
		seqs = seqs[run:]
	}
	f.RemovedChunks = append(f.RemovedChunks, n.GetChunks()...)
	f.State.Chunks -= uint64(len(n.GetChunks()))
	return nil
}

// vectorModels lists the models that there are vectors of: the one that serves,
// and perhaps one that the partition is being embedded anew with, or was once.
func (f *Tx) vectorModels() (models []string, err error) {
	if f.vectors != nil {
		return f.vectors, nil
	}
	models = []string{}
	opts := storage.ScanOptions{Limit: 1}
	for {
		found := false
		for item, err := range f.Store.Scan(f.Part.Space.Prefix(storage.TableVector), opts) {
			if err != nil {
				return nil, err
			}
			parts := item.Key.Parts()
			model := parts.Str()
			parts.U64()
			if err := parts.Done(); err != nil {
				return nil, err
			}
			models, found = append(models, model), true
			opts.After = f.Part.Space.Key(storage.TableVector, storage.Str(model), storage.U64(^uint64(0)))
		}
		if !found {
			f.vectors = models
			return models, nil
		}
	}
}

// eraseExternalIDs takes a node's external ids out of the store: what leads from
// them to it, and what outcomes of jobs name them: also those of another node, which
// a document held before and which does not know of it any more.
func (f *Tx) eraseExternalIDs(n *pb.Node) error {
	ids := n.GetSource().GetExternalIds()
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		current, err := f.ResolveExternal(pb.ExternalID(id))
		if err != nil {
			return err
		}
		if string(current) == n.GetId() { // else it has moved on to another content
			f.Batch.Erase(f.Part.Space.Key(storage.TableExternalID, storage.Str(id)))
		}
	}
	for rec, err := range storage.ScanRecords(f.Store, f.Part.Space.Prefix(storage.TableJobItem), storage.ScanOptions{},
		func() *pb.JobItem { return &pb.JobItem{} }) {
		if err != nil {
			return err
		}
		if ext := rec.Value.GetExternalId(); ext != "" && (rec.Value.GetNode() == n.GetId() || slices.Contains(ids, ext)) {
			rec.Value.ExternalId = ""
			f.Batch.Erase(rec.Key)
			f.Batch.Put(rec.Key, rec.Value)
		}
	}
	return nil
}

// eraseQueued empties what waits in the queue with a content of a node that is
// being forgotten, what it holds or what its id was made from: it was sent before,
// and must not bring it back. What was taken from the queue already leaves the
// files as well.
func (f *Tx) eraseQueued(n *pb.Node, text string) error {
	id := pb.NodeID(n.GetId())
	holder, err := NodeOfContent(f.Store, f.Part, text)
	if err != nil {
		return err
	}
	edited := n.GetEdited()
	return f.EraseQueuedItems(func(item *pb.IngestItem) bool {
		switch content, scope := item.GetContent(), item.GetScope(); {
		case content != text && !edited:
			return false
		case scope != "": // equal words outside of a session are another node's
			return f.Part.NodeIn(scope, content) == id
		case content == text && holder == id:
			return true
		default:
			return edited && f.Part.NodeFor(content) == id
		}
	})
}

// EraseQueuedItems is eraseQueued for the items that match.
func (f *Tx) EraseQueuedItems(match func(*pb.IngestItem) bool) error {
	queue := f.Part.Space.Prefix(storage.TableQueue)
	first := f.Part.Space.Key(storage.TableQueue, storage.U64(^uint64(0)))
	begun := false
	for rec, err := range storage.ScanRecords(f.Store, queue, storage.ScanOptions{},
		func() *pb.QueueEntry { return &pb.QueueEntry{} }) {
		if err != nil {
			return err
		}
		if !begun {
			begun, first = true, rec.Key
		}
		if rec.Value.GetItem() == nil || !match(rec.Value.GetItem()) {
			continue
		}
		rec.Value.Item, rec.Value.Forgotten = nil, true
		f.Batch.Erase(rec.Key)
		f.Batch.Put(rec.Key, rec.Value)
	}
	f.Batch.EraseRange(storage.Between(f.Part.Space.Key(storage.TableQueue, storage.U64(0)), first))
	return nil
}

// TombstoneEdges forgets a node's edges with it, so that they come back with it,
// but for what was noted of them. It comes before the rest of the node, which stands
// until nothing of its edges is left: a hub's are more than one commit takes.
func (f *Tx) TombstoneEdges(id pb.NodeID) error {
	edges, more, err := f.someEdges(id, EdgeOrigins...)
	if err != nil {
		return err
	}
	f.TouchesExports = true // what exports hold of the notes
	for _, e := range edges {
		if f.IsFull() {
			return ErrUnfinished
		}
		other, err := f.Node(OtherEnd(e, id))
		if err != nil {
			return err
		}
		if other.GetStatus() == pb.StatusTombstoned {
			continue // it went with the other one, in this very transaction
		}
		gone := proto.CloneOf(e)
		gone.Status, gone.TombstonedMs, gone.TombstonedWith, gone.UpdatedMs = pb.StatusTombstoned, f.NowMs, string(id),
			f.NowMs
		gone.Note, gone.Evidence = "", nil
		f.eraseNote(e)
		if e.GetOrigin() == pb.OriginAsserted {
			if err := f.eraseTypes(OtherEnd(e, id), id); err != nil {
				return err
			}
		}
		if err := f.PutEdge(e, gone); err != nil {
			return err
		}
	}
	if more {
		return ErrUnfinished
	}
	return nil
}

// eraseNote erases what was noted of an edge from the earlier versions of its
// record. It stands nowhere else: outcomes hold no notes (Record of an idempotent request).
func (f *Tx) eraseNote(e *pb.Edge) {
	if e.GetOrigin() == pb.OriginAsserted || e.GetNote() != "" {
		f.Batch.Erase(f.Part.Space.Key(storage.TableEdge, storage.Str(e.GetId())))
	}
}

// EdgesOfNode lists all of a node's edges at some places (origins, or "tombstoned").
// None leads from a node to itself, so each is there once.
func (f *Tx) EdgesOfNode(id pb.NodeID, places ...string) ([]*pb.Edge, error) {
	edges, more, err := f.someEdges(id, places...)
	if more {
		err = fmt.Errorf("more than %d edges: %w", len(edges), storage.ErrBatchTooLarge)
	}
	return edges, err
}

// someEdges is EdgesOfNode for a caller that handles the rest once these are gone
// from their places.
func (f *Tx) someEdges(id pb.NodeID, places ...string) (edges []*pb.Edge, more bool, err error) {
	for _, place := range places {
		for _, end := range []storage.Key{EdgesOfSource(f.Part.Space, id, place), EdgesOfTarget(f.Part.Space, id, place)} {
			for item, err := range f.Store.Scan(end.Children(), storage.ScanOptions{}) {
				if err != nil {
					return nil, false, err
				}
				if len(edges) == cmp.Or(f.Org.System.Config.EdgesPerPiece, maxEdgesTaken) {
					return edges, true, nil
				}
				e, err := EdgeAt(f.Store, f.Part, item.Key)
				if err != nil {
					return nil, false, err
				}
				edges = append(edges, e)
			}
		}
	}
	return edges, false, nil
}

// IsFull reports whether an edit's transaction is as large as one commit should be: what
// is left of the edit goes into another.
func (f *Tx) IsFull() bool {
	return f.Batch.Bytes()+f.changedBytes > cmp.Or(f.Org.System.Config.PieceBytes, MaxPieceBytes)
}

// undeleteNode brings a forgotten node back to its place, without its content. The
// node comes first, so that no edge ever leads to a forgotten one. While edges are
// missing it keeps the time until which it can be restored: repeated after a crash,
// the request goes on.
func (f *Tx) undeleteNode(op *pb.UndeleteNode) (*pb.Reply, error) {
	id := pb.NodeID(op.GetId())
	n, err := f.Node(id)
	switch {
	case err != nil:
		return nil, err
	case n == nil:
		return tenant.Refuse(nodeNotFound()), nil
	case n.GetStatus() != pb.StatusTombstoned && n.GetRestorableMs() == 0:
		return tenant.Refuse(tenant.NewProblem(pb.CodeNodeNotForgotten,
			"The node is %s; only a forgotten one can be restored.", n.GetStatus())), nil
	case n.GetStatus() == pb.StatusTombstoned && f.NowMs > n.GetRestorableMs():
		return tenant.Refuse(tenant.NewProblem(pb.CodeUndeleteWindowPassed,
			"The node was forgotten too long ago; it is about to be removed.")), nil
	}
	if n.GetStatus() == pb.StatusTombstoned {
		f.Batch.Delete(f.Tombstone(n))
		n.Status, n.Was, n.TombstonedMs = n.GetWas(), "", 0
		f.State.Nodes++
	}
	f.putUpdated(n)
	edges, err := f.EdgesOfNode(id, pb.StatusTombstoned)
	if err != nil {
		return nil, err
	}
	for _, e := range edges {
		if e.GetTombstonedWith() != op.GetId() {
			continue // by hand, or with its other node
		}
		if f.IsFull() {
			return nil, ErrUnfinished
		}
		if err := f.restoreEdge(id, e); err != nil {
			return nil, err
		}
	}
	n.RestorableMs = 0
	f.note(id, ActionRestored, "")
	f.Batch.Audit(f.Call.AuditOf("node.undelete", op.GetId()))
	if err := AddGraphUpdated(f.Batch, f.Org, f.Part, changeRestored, op.GetId(), 1); err != nil {
		return nil, err
	}
	return f.nodeReply(n, ""), nil
}

// restoreEdge brings an edge back with its node, or leaves it to the return of
// its other node, if that is forgotten too.
func (f *Tx) restoreEdge(id pb.NodeID, e *pb.Edge) error {
	other, err := f.Node(OtherEnd(e, id))
	if err != nil || other == nil {
		return err
	}
	if e.GetSealed() != nil {
		if e.GetType() == "" {
			return nil // nobody can open it
		}
		same, err := f.EdgeByIdentity(EdgeIdentityOf(e))
		if err != nil || same != nil {
			return err // it was asserted anew while a crash left this one behind
		}
	}
	back := proto.CloneOf(e)
	if other.GetStatus() == pb.StatusTombstoned {
		back.TombstonedWith = other.GetId()
		return f.PutEdge(e, back)
	}
	back.Status, back.TombstonedMs, back.TombstonedWith, back.UpdatedMs = pb.StatusLive, 0, "", f.NowMs
	if back.GetValidToMs() != 0 {
		back.Status = pb.StatusSuperseded
	}
	return f.PutEdge(e, back)
}

// OtherEnd is the node at the other end of an edge of a node.
func OtherEnd(e *pb.Edge, id pb.NodeID) pb.NodeID {
	if e.GetSource() == string(id) {
		return pb.NodeID(e.GetTarget())
	}
	return pb.NodeID(e.GetSource())
}

// removeTombstone makes way for a node that is created anew where a forgotten one lies:
// the place of that one is lost.
func (f *Tx) removeTombstone(id pb.NodeID) error {
	n, err := f.Node(id)
	if err != nil || n == nil {
		return err
	}
	more, err := f.RemoveEdges(id)
	if more {
		err = fmt.Errorf("more than %d edges: %w", maxEdgesTaken, storage.ErrBatchTooLarge)
	}
	f.Batch.Delete(f.Tombstone(n))
	return err
}

// RemoveEdges removes the edges of a forgotten node. Those of a hub go ahead in
// commits of their own, in which there is nothing else: nobody sees them any more,
// and the tombstone, which goes behind them, leads to what a crash leaves. There may
// be more than it takes at a time.
func (f *Tx) RemoveEdges(id pb.NodeID) (more bool, err error) {
	edges, more, err := f.someEdges(id, pb.StatusTombstoned)
	if err != nil {
		return false, err
	}
	b := storage.NewBatch(f.Org.Store)
	for _, e := range edges {
		RemoveEdge(b, f.Part.Space, e)
		if b.Bytes() > cmp.Or(f.Org.System.Config.PieceBytes, MaxPieceBytes) {
			f.StagedBatches = append(f.StagedBatches, b)
			b = storage.NewBatch(f.Org.Store)
		}
	}
	if f.Batch.Bytes()+b.Bytes() > cmp.Or(f.Org.System.Config.PieceBytes, MaxPieceBytes) { // so do those of many nodes
		f.StagedBatches = append(f.StagedBatches, b)
		return more, nil
	}
	f.Batch.Append(b)
	return more, nil
}
