package graph

import (
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What a text said leaves the graph with it.

// unlink takes out of the graph what only this text said. With forget the text's own edges are left: they are
// tombstoned with it.
func (f *Tx) unlink(n *pb.Node, forget bool) error {
	id := pb.NodeID(n.GetId())
	if !forget { // contradictions, moments and recurrences were of the words that it had
		if err := eraseFindings(f.Store, f.Batch.Batch, f.Part.Space, id); err != nil {
			return err
		}
	}
	trace, err := f.Traces.Stored(id)
	if err != nil || trace == nil {
		return err
	}
	f.Batch.Erase(f.Traces.key(id))
	for _, edge := range trace.GetRelations() {
		if err := f.dropEvidence(pb.EdgeID(edge), id); err != nil {
			return err
		}
	}
	if !forget {
		if err := f.removeOwnEdges(id, trace); err != nil {
			return err
		}
	}
	why := pb.StaleEnded
	if forget {
		why = pb.StaleForgotten
	}
	for _, x := range trace.GetEntities() {
		if err := f.RemoveName(x, id, why); err != nil {
			return err
		}
	}
	return nil
}

// RemoveName takes back that a text names an entity. An entity that no other text names is removed, which is why what
// was derived from it is stale.
func (f *Tx) RemoveName(x *pb.TraceEntity, text pb.NodeID, why string) error {
	id := pb.NodeID(x.GetNode())
	rec, err := f.Entities.Get(id)
	if err != nil || rec == nil {
		return err
	}
	if rec.GetMentions() <= 1 {
		return f.DropDerived(id, text, why)
	}
	before := rec.GetType()
	return f.PutRenamed(rec, resolve.Unnote(rec, x), before)
}

// PutRenamed writes an entity that fewer texts name than before. gone are the names by which no text calls it any more.
func (f *Tx) PutRenamed(rec *pb.Entity, gone []string, before string) error {
	id := pb.NodeID(rec.GetNode())
	// Its earlier versions hold the names that are gone.
	f.Batch.Erase(f.Part.Space.Key(storage.TableEntity, storage.Str(id)))
	f.Entities.Put(rec)
	if len(gone) == 0 && before == rec.GetType() {
		return nil
	}
	f.Entities.eraseKeys(id, before, gone...)
	if n, err := f.Node(id); err != nil || n == nil {
		return err
	}
	f.Batch.Erase(f.Part.Space.Key(storage.TableNode, storage.Str(id)))
	if err := f.Derived.removeQuotes(id, gone); err != nil {
		return err
	}
	return f.Entities.describe(rec, before)
}

// DropDerived removes a node that was read out of texts, of which the last is going. The caller removes the edges
// between the node and that text. why is the reason for which what rests on the node is stale from now on.
func (f *Tx) DropDerived(id, text pb.NodeID, why string) error {
	n, err := f.Node(id)
	if err != nil || n == nil {
		return err
	}
	rec, err := f.Entities.Get(id)
	if err != nil {
		return err
	}
	if err := f.removeEdgesBut(id, text, why); err != nil {
		return err
	}
	f.Entities.drop(rec, id, n.GetTitle())
	return f.remove(n)
}

// remove takes a node away for good, as if it had never been. Where a person has edited it, it has a content like a
// text, with chunks and with what was read out of it: those go too.
func (f *Tx) remove(n *pb.Node) error {
	id := pb.NodeID(n.GetId())
	text, err := f.Content(id)
	if err != nil {
		return err
	}
	for _, erase := range []func() error{
		func() error { return f.UpdateContentKey(n, text, "") },
		func() error { return f.unlink(n, true) },
		func() error { return f.Derived.eraseWords(n, text) },
		func() error { return f.Index.eraseChunks(n) },
		func() error { return f.Derived.erase(id) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	f.Batch.Erase(f.Part.Space.Key(storage.TableContent, storage.Str(id)))
	f.Batch.EraseRange(f.Part.Space.Prefix(storage.TableHistory, storage.Str(id)))
	if n.GetStatus() == pb.StatusTombstoned {
		f.Batch.Delete(f.Tombstone(n))
	} else {
		f.State.Nodes--
	}
	f.dropNode(n)
	return nil
}
