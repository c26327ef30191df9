package graph

import (
	"fmt"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// forgetNode erases what a node held, everywhere. Its id, kind, times and domain stay, and its edges as tombstones.
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
	if err := f.announce("node.forget", ChangeForgotten, op.GetId(), 1); err != nil {
		return nil, err
	}
	return f.nodeReply(n, "")
}

// Forget makes a tombstone of a live or superseded node, which holds text. Before it the caller forgets the node's
// edges (TombstoneEdges) and what of it waits in the queue (EraseQueuedItems).
func (f *Tx) Forget(n *pb.Node, text string) error {
	id := pb.NodeID(n.GetId())
	for _, erase := range []func() error{
		func() error { return f.UpdateContentKey(n, text, "") },
		func() error { return f.unlink(n, true) },
		func() error { return f.Derived.eraseWords(n, text) },
		func() error { return f.Index.eraseChunks(n) },
		func() error { return f.External.erase(n) },
		func() error { return f.eraseFileNames(n) },
		func() error { return f.History.erase(id) },
		func() error { return f.History.eraseReasons(id) },
		func() error { return f.Derived.erase(id) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	// The record too: its earlier versions hold the title.
	f.Batch.Erase(f.Part.Space.Key(storage.TableNode, storage.Str(id)))
	f.Batch.Erase(f.Part.Space.Key(storage.TableContent, storage.Str(id)))
	f.TouchesExports = true
	f.Index.forgotten = append(f.Index.forgotten, id)
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
	f.History.note(id, ActionForgotten, "")
	return nil
}

// undeleteNode brings a forgotten node back to its place, without its content. The node comes before its edges, so that
// no edge ever leads to a forgotten node. As long as edges are missing the node keeps the time until which it can be
// restored, so that the request, repeated after a crash, restores the rest.
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
	f.History.note(id, ActionRestored, "")
	if err := f.announce("node.undelete", changeRestored, op.GetId(), 1); err != nil {
		return nil, err
	}
	return f.nodeReply(n, "")
}

// removeTombstone removes the forgotten node in the place of one that is being created. Its edges cannot be restored
// any more.
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
