package graph

import (
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Traces say of each text what was read out of it, and of each coding session which of its events is the last. Both are
// needed again within a transaction, before they are stored.
type Traces struct {
	*Pending
	// Known says that the text at hand was read before: its document brings its trace.
	Known   bool
	changed map[pb.NodeID]*pb.Trace // that Get has returned
	tails   map[string]pb.NodeID    // by session
}

// Stored returns what was read out of a text, as it is stored; nil when nothing was.
func (t *Traces) Stored(id pb.NodeID) (*pb.Trace, error) {
	trace := &pb.Trace{}
	found, err := t.Store.Get(t.key(id), trace)
	if err != nil || !found {
		return nil, err
	}
	return trace, nil
}

// Get is Stored for a caller that changes the trace, perhaps several times in one transaction.
func (t *Traces) Get(id pb.NodeID) (*pb.Trace, error) {
	trace := t.changed[id]
	if trace == nil {
		var err error
		if trace, err = t.Stored(id); err != nil || trace == nil {
			return nil, err
		}
		t.changed[id] = trace
	}
	return trace, nil
}

// Put writes what was read out of a text.
func (t *Traces) Put(id pb.NodeID, trace *pb.Trace) { t.Batch.Put(t.key(id), trace) }

// follow makes an event the last of its session, and returns the one before it, "" when it is the first.
func (t *Traces) follow(session string, id pb.NodeID) (before pb.NodeID, err error) {
	key := t.Part.Counter(CounterSequence + session)
	before, known := t.tails[session]
	if !known {
		raw, _, err := t.Store.GetRaw(key)
		if err != nil {
			return "", err
		}
		before = pb.NodeID(raw)
	}
	t.tails[session] = id
	t.Batch.PutRaw(key, []byte(id))
	return before, nil
}

func (t *Traces) key(id pb.NodeID) storage.Key {
	return t.Part.Space.Key(storage.TableTrace, storage.Str(id))
}

// spansOf reads where the stored chunks of a node stand in its text.
func (t *Traces) spansOf(n *pb.Node) (spans []text.Chunk, err error) {
	for _, seq := range n.GetChunks() {
		c := &pb.Chunk{}
		if _, err := t.Store.Get(t.Part.Space.Key(storage.TableChunk, storage.U64(seq)), c); err != nil {
			return nil, err
		}
		spans = append(spans, text.Chunk{Start: int(c.GetStart()), End: int(c.GetEnd())})
	}
	return spans, nil
}

// CounterSequence begins the names of the counters that hold the last event of a
// session.
const CounterSequence = "sequence."
