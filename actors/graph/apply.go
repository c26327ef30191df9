package graph

import (
	"cmp"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// ErrNotPrepared says that an item needs its chunks, and they were not computed,
// because another item of the same slice has changed what it meets. The slice
// ends before it; at the head of the next one it is prepared for what is stored.
var ErrNotPrepared = errors.New("item is not prepared")

// Apply makes one item's document true and says what happened to it. With
// ErrNotPrepared, and with a RefusedError, it has changed nothing.
func (f *Tx) Apply(it *Prepared) (status string, err error) {
	if len(it.GetItem().GetDerivedFrom()) == 0 {
		return f.applyText(it)
	}
	grounds, faults, err := f.groundsNamed(it.GetItem().GetDerivedFrom(), it.Node)
	if err == nil {
		err = refusedGrounds(faults)
	}
	if err != nil {
		return "", err
	}
	if status, err = f.applyText(it); err != nil {
		return "", err
	}
	n := f.Nodes[it.Node]
	if status == pb.ItemUnchanged && (n.GetStatus() != pb.StatusLive ||
		n.GetEdited() && f.Part.NodeFor(it.GetItem().GetContent()) == it.Node) {
		return status, nil // a person has said something else: what stands was not derived from that
	}
	changed, err := f.derive(n, grounds)
	if err != nil || !changed || status != pb.ItemUnchanged {
		return status, err
	}
	f.putUpdated(n)
	f.History.note(it.Node, ActionUpdated, "")
	return pb.ItemSuperseded, nil
}

// applyText is Apply without what the item was derived from.
func (f *Tx) applyText(it *Prepared) (status string, err error) {
	item := it.GetItem()
	ext := pb.ExternalID(item.GetExternalId())
	var before pb.NodeID // what the external id meant so far
	if ext != "" {
		if before, err = f.External.Resolve(ext); err != nil {
			return "", err
		}
	}
	stands, err := f.standsByHand(before, item.GetContent())
	if err != nil {
		return "", err
	}
	if stands {
		it.Node = before
		return pb.ItemUnchanged, nil
	}
	n, err := f.Node(it.Node)
	if err != nil {
		return "", err
	}
	absent := n == nil || n.GetStatus() == pb.StatusTombstoned
	anew := !absent && (Redescribes(n, item) || n.GetErased())
	if it.Known && (absent || anew) || it.Stands || it.Unread && !absent && !n.GetUnlearned() {
		return "", ErrNotPrepared
	}
	if !absent && n.GetUnlearned() {
		if err := f.learnFrom(it, n, anew); err != nil {
			return "", err
		}
	}
	switch {
	case absent:
		status, err = pb.ItemCreated, f.create(it)
	case n.GetStatus() == pb.StatusSuperseded:
		status, err = pb.ItemRevived, f.revive(it, n, anew)
	case n.GetErased(): // restored, and now it has its content again
		status, err = pb.ItemRevived, f.redescribe(it, n)
		f.History.note(it.Node, ActionRevived, "")
	case anew: // its external id is its own already
		was := proto.CloneOf(n)
		err = f.redescribe(it, n)
		f.History.note(it.Node, ActionUpdated, "", described(was, n)...)
		return pb.ItemSuperseded, err
	default:
		status = pb.ItemUnchanged
	}
	if err != nil {
		return "", err
	}
	if n = f.Nodes[it.Node]; ext == "" && !n.GetSource().GetAnonymous() {
		n.Source.Anonymous = true
		f.putUpdated(n)
	}
	if ext == "" || before == it.Node {
		return status, nil
	}
	if err := f.moveExternalID(ext, before, n); err != nil {
		return "", err
	}
	if before != "" && status != pb.ItemRevived {
		status = pb.ItemSuperseded
	}
	return status, nil
}

// learnFrom lets a node that was only to be searched be learned from, where its content is now sent for that. One that
// is described anew is read then.
func (f *Tx) learnFrom(it *Prepared, n *pb.Node, anew bool) error {
	learned, err := f.mayLearn()
	if err != nil || !learned {
		return err
	}
	n.Unlearned = false
	f.putUpdated(n)
	if anew {
		return nil
	}
	return f.link(it, n)
}

// revive brings a superseded node back, whose content was sent again. The external ids that have moved on to other
// content do not come back with it.
func (f *Tx) revive(it *Prepared, n *pb.Node, anew bool) error {
	if err := f.External.keepCurrent(n); err != nil {
		return err
	}
	if err := f.markActive(n, f.validFrom(it.GetItem())); err != nil || !anew {
		return err
	}
	return f.redescribe(it, n)
}

// moveExternalID makes an external id mean a node, in place of another or of none.
func (f *Tx) moveExternalID(ext pb.ExternalID, before pb.NodeID, n *pb.Node) error {
	id := pb.NodeID(n.GetId())
	if !slices.Contains(n.GetSource().GetExternalIds(), string(ext)) {
		n.Source.ExternalIds = append(n.Source.ExternalIds, string(ext))
		f.putUpdated(n)
	}
	f.External.Put(ext, id)
	if before == "" {
		return nil
	}
	if err := f.supersede(before, id, ext); err != nil {
		return err
	}
	// What a person had put in the place of the document's old content held against
	// that, and not against what the document says now.
	successor, err := f.successor(before)
	if err != nil || successor == "" || successor == id {
		return err
	}
	return f.supersede(successor, id, ext)
}

// supersede takes an external id from the node that it meant. A node that no
// other document holds leaves search, and stays readable.
func (f *Tx) supersede(old, by pb.NodeID, ext pb.ExternalID) error {
	n, err := f.Node(old)
	if err != nil || n == nil || n.GetStatus() != pb.StatusLive {
		return err
	}
	held := n.GetSource().GetAnonymous() // it was also sent for itself
	if !held {
		if held, err = f.External.heldByAnother(n, ext); err != nil {
			return err
		}
	}
	if held {
		n.Source.ExternalIds = slices.DeleteFunc(n.Source.ExternalIds, func(s string) bool { return s == string(ext) })
		f.putUpdated(n)
		return nil
	}
	f.markSuperseded(n, by, "")
	return nil
}

// markSuperseded takes a live node out of search, in favour of another.
func (f *Tx) markSuperseded(n *pb.Node, by pb.NodeID, reason string) {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidToMs = pb.StatusSuperseded, string(by), f.NowMs
	f.Index.Hide(id)
	f.putUpdated(n)
	f.History.note(id, ActionSuperseded, reason, described(was, n)...)
}

// markActive makes a superseded node live again, with a new validity.
func (f *Tx) markActive(n *pb.Node, since int64) error {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidFromMs, n.ValidToMs = pb.StatusLive, "", since, 0
	f.Index.show(id)
	f.putUpdated(n)
	f.History.note(id, ActionRevived, "", described(was, n)...)
	return f.endSupersession(id, pb.NodeID(was.GetSupersededBy()))
}

// create writes a new node with its chunks.
func (f *Tx) create(it *Prepared) error {
	item := it.GetItem()
	if err := f.removeTombstone(it.Node); err != nil {
		return err
	}
	n := &pb.Node{
		Id: string(it.Node), Authority: 0.5, Confidence: 1, Status: pb.StatusLive,
		Source:    &pb.Source{Type: cmp.Or(item.GetSource(), pb.SourceIngest), Job: it.GetJob()},
		CreatedMs: f.NowMs,
	}
	learned, err := f.mayLearn()
	if err != nil {
		return err
	}
	n.Unlearned = !learned
	if item.GetExternalId() != "" {
		n.Source.ExternalIds = []string{item.GetExternalId()}
	}
	f.describe(n, item)
	f.PutContent(n, item.GetContent())
	if it.Variant {
		f.Batch.PutRaw(f.Part.ContentKey(item.GetContent()), []byte(it.Node))
	}
	f.State.Nodes++
	f.History.note(it.Node, ActionCreated, "")
	f.Derived.tellSignal(n, item)
	return f.PutChunks(it, n)
}

// describe sets what a document says of its content.
func (f *Tx) describe(n *pb.Node, item *pb.IngestItem) {
	n.Kind, n.Title, n.Metadata = kindOf(item), text.Title(item.GetTitle(), item.GetContent()), item.GetMetadata()
	n.OccurredMs, n.ValidFromMs = item.GetOccurredMs(), f.validFrom(item)
	n.Curated = false
}

// redescribe gives a node another title, kind, time or metadata, and its content back where it was erased. Titles are
// part of what is embedded, so its chunks are made anew.
func (f *Tx) redescribe(it *Prepared, n *pb.Node) error {
	if err := f.unlink(n, false); err != nil {
		return err
	}
	if err := f.Index.removeChunks(n); err != nil {
		return err
	}
	if n.GetErased() {
		f.PutContent(n, it.GetItem().GetContent())
	}
	f.describe(n, it.GetItem())
	return f.PutChunks(it, n)
}

// PutChunks writes a node's chunks and the node, and what its text says.
func (f *Tx) PutChunks(it *Prepared, n *pb.Node) error {
	f.Index.putChunks(it, n)
	f.putUpdated(n)
	return f.link(it, n)
}
