package storage

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	pb "orgmem/proto"
)

// EntryKind says how a log entry is checked before its changes are written.
type EntryKind uint8

const (
	// EntryOpen changes no records: it makes its own log index the epoch, so
	// that batches of every earlier holder are refused from then on.
	EntryOpen EntryKind = iota + 1
	// EntryWrite is applied only under the current epoch and version.
	EntryWrite
	// EntryPlain is applied unconditionally. It is for the meta store, whose
	// commands carry conditions of their own that the state machine has checked.
	EntryPlain
)

// Entry is one committed log entry, for one store.
type Entry struct {
	// Index is its log index. Entries at or below the store's applied index are
	// skipped, so a log may be replayed from any earlier point.
	Index uint64
	Kind  EntryKind
	// Epoch and Version are what the proposer believes; EntryWrite only.
	Epoch, Version uint64
	Changes        []*pb.Change
}

// Outcome is what became of an entry. It depends only on the store's state and
// the entry, so every replica reaches the same one.
type Outcome uint8

const (
	// OutcomeApplied says that the changes are in the store.
	OutcomeApplied Outcome = iota + 1
	// OutcomeReplayed says that the entry was applied, or refused, before a restart. It
	// is not told which; nobody waits for it any more.
	OutcomeReplayed
	// OutcomeFenced says that another OPEN came later than the proposer's. Nothing was
	// changed.
	OutcomeFenced
	// OutcomeStale says that the epoch is right and the version is not: an earlier batch
	// of the same holder was refused or never arrived. Nothing was changed.
	OutcomeStale
	// OutcomeInvalid says that a change could not have come from a Batch. Nothing was
	// changed.
	OutcomeInvalid
)

func (o Outcome) String() string {
	names := [...]string{"", "applied", "replayed", "fenced", "stale", "invalid"}
	if int(o) < len(names) && o > 0 {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// Result is the answer to one entry: what became of it, and the store's epoch
// and version behind it.
type Result struct {
	Outcome        Outcome
	Epoch, Version uint64
}

// Apply is ApplyBatch with one entry.
func (h *Store) Apply(e Entry) (Result, error) {
	results, err := h.ApplyBatch([]Entry{e})
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// ApplyBatch writes committed entries, in log order, and returns one result for
// each. It is the only writer of a store and is called only by the replica's
// state machine, one call at a time per store (others wait).
//
// All entries go into ONE Pebble batch together with the resulting State:
//
//   - The applied index lies with the data, per store. An index kept anywhere
//     else can become durable before the data does; then a crash loses
//     acknowledged writes, because raft never replays them.
//   - Epoch and version lie there too, so after a crash and replay every entry
//     is refused or applied exactly as the first time.
//   - A refused entry moves the applied index and nothing else.
//
// The batch is not durable on return: the raft log is, and Flush makes it so
// here. It is visible to every reader on return.
//
// An error means that the store could not be written at all; nothing of the
// call was applied, and the caller must not go on.
func (h *Store) ApplyBatch(entries []Entry) ([]Result, error) {
	h.grow()
	db, err := h.begin()
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	defer h.s.gate.leave()
	h.s.apply.Lock()
	defer h.s.apply.Unlock()

	st := *h.s.state.Load()
	results := make([]Result, 0, len(entries))
	size := batchBytes(entries)
	batch := db.NewBatchWithSize(size)
	defer closeBatch(batch)
	erasures, before := 0, uint64(0)
	for i := range entries {
		e := &entries[i]
		if e.Index <= before {
			return nil, fmt.Errorf("apply: log index %d after %d", e.Index, before)
		}
		before = e.Index
		outcome := st.judge(e)
		if outcome == OutcomeApplied && e.Kind != EntryOpen {
			n, err := appendChanges(batch, e)
			if err != nil {
				return nil, wrapPebble("apply", err)
			}
			erasures += n
		}
		st = st.after(e, outcome)
		results = append(results, Result{Outcome: outcome, Epoch: st.Epoch, Version: st.Version})
	}
	if st == *h.s.state.Load() {
		return results, nil // all replayed
	}
	if err := batch.Set(stateKey, st.encode(), nil); err != nil {
		return nil, wrapPebble("apply", err)
	}
	if erasures > 0 {
		// Before the batch: a store must not hold a pending erasure that a
		// restarted node does not know of.
		if err := h.s.node.log.noteErasure(h.s.id); err != nil {
			return nil, err
		}
	}
	h.s.moving.Store(true)
	defer h.s.moving.Store(false)
	if err := db.Apply(batch, pebble.NoSync); err != nil {
		return nil, wrapPebble("apply", err)
	}
	h.s.node.disk.Guard()
	h.s.state.Store(&st)
	h.s.taken += size
	if erasures > 0 {
		h.s.node.eraser.wake()
	}
	return results, nil
}

// judge decides what becomes of an entry. It looks at nothing but its inputs.
func (st State) judge(e *Entry) Outcome {
	if e.Index <= st.Applied {
		return OutcomeReplayed
	}
	switch e.Kind {
	case EntryOpen:
		return OutcomeApplied
	case EntryWrite:
		if e.Epoch != st.Epoch {
			return OutcomeFenced
		}
		if e.Version != st.Version {
			return OutcomeStale
		}
	case EntryPlain:
	default:
		return OutcomeInvalid
	}
	for _, c := range e.Changes {
		if checkChange(c) != nil {
			return OutcomeInvalid
		}
	}
	return OutcomeApplied
}

// Step is what an entry does to a store, without its changes: what becomes of it,
// and the state behind it. It is the very decision that ApplyBatch makes, for
// simulations of the log.
func (st State) Step(e Entry) (State, Outcome) {
	o := st.judge(&e)
	return st.after(&e, o), o
}

// after is the state behind an entry.
func (st State) after(e *Entry, o Outcome) State {
	if o == OutcomeReplayed {
		return st
	}
	st.Applied = e.Index
	if o != OutcomeApplied {
		return st
	}
	if e.Kind == EntryOpen {
		st.Epoch = e.Index
		return st
	}
	st.Version++
	return st
}

// appendChanges adds an entry's effects and, for every erasure, a record of what
// must still leave the files. It returns the number of erasures.
func appendChanges(b *pebble.Batch, e *Entry) (erasures int, err error) {
	for i, c := range e.Changes {
		switch c.GetOp() {
		case pb.Change_PUT:
			err = b.Set(c.GetKey(), c.GetValue(), nil)
		case pb.Change_DELETE:
			err = b.Delete(c.GetKey(), nil)
		case pb.Change_DELETE_RANGE:
			err = b.DeleteRange(c.GetKey(), c.GetEnd(), nil)
		case pb.Change_ERASE_RANGE:
			erasures++
			if err = b.DeleteRange(c.GetKey(), c.GetEnd(), nil); err == nil {
				err = b.Set(pendingKey(e.Index, uint32(i)), encodeSpan(c.GetKey(), c.GetEnd()), nil)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return erasures, nil
}

func batchBytes(entries []Entry) int {
	n := 256
	for i := range entries {
		for _, c := range entries[i].Changes {
			n += len(c.GetKey()) + len(c.GetValue()) + len(c.GetEnd()) + changeOverhead
		}
	}
	return n
}

func pendingKey(index uint64, i uint32) []byte {
	b := []byte{ownSpace, pendingPrefix}
	b = binary.BigEndian.AppendUint64(b, index)
	return binary.BigEndian.AppendUint32(b, i)
}
