package graph

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// eraseQueued empties the entries of the queue whose content a node being forgotten holds, or that its id was made
// from. They were sent before the request to forget, and must not bring the node back. Entries that were taken from the
// queue already leave the files as well.
func (p *Pending) eraseQueued(n *pb.Node, text string) error {
	id := pb.NodeID(n.GetId())
	holder, err := NodeOfContent(p.Store, p.Part, text)
	if err != nil {
		return err
	}
	edited := n.GetEdited()
	return p.EraseQueuedItems(func(item *pb.IngestItem) bool {
		switch content, scope := item.GetContent(), item.GetScope(); {
		case content != text && !edited:
			return false
		case scope != "": // equal words outside of a session are another node's
			return p.Part.NodeIn(scope, content) == id
		case content == text && holder == id:
			return true
		default:
			return edited && p.Part.NodeFor(content) == id
		}
	})
}

// EraseQueuedItems empties the entries of the queue whose items match.
func (p *Pending) EraseQueuedItems(match func(*pb.IngestItem) bool) error {
	queue := p.Part.Space.Prefix(storage.TableQueue)
	first := p.Part.Space.Key(storage.TableQueue, storage.U64(^uint64(0)))
	begun := false
	for rec, err := range storage.ScanRecords(p.Store, queue, storage.ScanOptions{},
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
		p.Batch.Erase(rec.Key)
		p.Batch.Put(rec.Key, rec.Value)
	}
	p.Batch.EraseRange(storage.Between(p.Part.Space.Key(storage.TableQueue, storage.U64(0)), first))
	return nil
}
