package state

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Stores is the machine of a shard: it applies entries to the stores of the
// shard's organizations. It keeps nothing of its own that the log could
// contradict: applied index, epoch and version lie in each store, in the batch
// with the data.
type Stores struct {
	node   *storage.Node
	log    *storage.Log // tombstones lie beside the group's log
	Group  uint32
	shards int
	// FromPeer reports whether a store that is damaged is to come from another node. Nil:
	// none is.
	FromPeer func(storage.StoreID) bool

	mu sync.Mutex
	// removed holds what applyStore has learnt of the stores it met: true for those
	// with a tombstone. It is a copy of what lies on disk, bounded by the number of
	// stores on it.
	removed map[storage.StoreID]bool
	// undeleted are stores with a tombstone whose directory somebody still held open.
	undeleted map[storage.StoreID]struct{}
	// known is how far the stores are that this process has met, so that a manifest
	// need not open them. It is bounded as gone is.
	known map[storage.StoreID]reach
}

// reach is how far a store is: the newest entry that it has looked at, and the
// newest that it must have looked at for the marker to be true, or one in between.
type reach struct{ marked, applied uint64 }

// NewStores returns the machine of a shard, by its group's number and the number of
// shards.
func NewStores(group uint32, shards int, node *storage.Node) *Stores {
	return &Stores{
		node: node, log: node.Log(), Group: group, shards: shards,
		removed: map[storage.StoreID]bool{}, undeleted: map[storage.StoreID]struct{}{}, known: map[storage.StoreID]reach{},
	}
}

// Forget drops what is known of the stores, which have left this node.
func (m *Stores) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.removed)
	clear(m.undeleted)
	clear(m.known)
}

// Apply sorts a batch of entries by store and gives each store its own in one
// Pebble batch. Between stores the order does not matter, since they share
// nothing; within one it is the log's. One store is held open at a time.
func (m *Stores) Apply(entries []Entry) ([]Result, error) {
	results := make([]Result, len(entries))
	var order []storage.StoreID
	byStore := make(map[storage.StoreID][]int, 1)
	for i, e := range entries {
		id, err := m.target(e.Command)
		if err != nil {
			return nil, fmt.Errorf("log entry %d: %w", e.Index, err)
		}
		if _, seen := byStore[id]; !seen {
			order = append(order, id)
		}
		byStore[id] = append(byStore[id], i)
	}
	for _, id := range order {
		if err := m.applyStore(id, entries, byStore[id], results); err != nil {
			return nil, fmt.Errorf("store %v: %w", id, err)
		}
	}
	return results, nil
}

// target returns the store that a command is for.
func (m *Stores) target(cmd *pb.Command) (storage.StoreID, error) {
	var ref *pb.StoreRef
	switch k := cmd.GetKind().(type) {
	case *pb.Command_Open:
		ref = k.Open.GetStore()
	case *pb.Command_Write:
		ref = k.Write.GetStore()
	case *pb.Command_RemoveStore:
		ref = k.RemoveStore.GetStore()
	default:
		return storage.StoreID{}, fmt.Errorf("a shard does not know command %T", k)
	}
	id, err := storage.StoreIDFrom(ref)
	if err == nil {
		err = CheckStore(id)
	}
	if err == nil && wire.ShardOf(id.Org, m.shards) != m.Group {
		err = fmt.Errorf("store %v belongs to group %d", id, wire.ShardOf(id.Org, m.shards))
	}
	return id, err
}

// applyStore carries out the entries of one store, which are those at the given
// positions, up to a REMOVE if there is one.
func (m *Stores) applyStore(id storage.StoreID, entries []Entry, at []int, results []Result) error {
	gone, err := m.IsRemoved(id)
	if err != nil {
		return err
	}
	if !gone {
		live := len(at)
		for n, i := range at {
			if _, ok := entries[i].Command.GetKind().(*pb.Command_RemoveStore); ok {
				live = n
				break
			}
		}
		err := m.write(id, entries, at[:live], results)
		if err != nil && m.node.OutOfService(id) != nil && (m.FromPeer == nil || !m.FromPeer(id)) {
			err = m.setAside(id, entries, at[:live], results)
		}
		if err != nil {
			return err
		}
		if at = at[live:]; len(at) == 0 {
			return nil
		}
		if err := m.remove(id); err != nil {
			return err
		}
	}
	// A removed store refuses everything, for ever, and is not touched: opening it
	// would make its directory anew. This holds for the replay of entries that are
	// older than the REMOVE, too; their effects went with the directory.
	for _, i := range at {
		if _, ok := entries[i].Command.GetKind().(*pb.Command_RemoveStore); !ok {
			results[i] = Result{Err: wire.ErrRemoved}
		}
	}
	return nil
}

// write gives a store its OPENs and WRITEs. Storage judges each by the store's
// applied index, epoch and version (see storage.Store.ApplyBatch).
func (m *Stores) write(id storage.StoreID, entries []Entry, at []int, results []Result) error {
	if len(at) == 0 {
		return nil
	}
	batch := make([]storage.Entry, len(at))
	for n, i := range at {
		e := storage.Entry{Index: entries[i].Index, Kind: storage.EntryOpen}
		if w := entries[i].Command.GetWrite(); w != nil {
			e.Kind = storage.EntryWrite
			e.Epoch, e.Version, e.Changes = w.GetEpoch(), w.GetExpectedVersion(), w.GetChanges()
		}
		batch[n] = e
	}
	store, err := m.node.AcquireForApply(id)
	if err != nil {
		return err
	}
	defer store.Release()
	before := store.Applied()
	answers, err := store.ApplyBatch(batch)
	if err != nil {
		return err
	}
	m.mu.Lock()
	r, known := m.known[id]
	if !known {
		r.marked = before
	}
	r.applied = store.Applied()
	m.known[id] = r
	m.mu.Unlock()
	for n, i := range at {
		if results[i], err = fromStorage(answers[n]); err != nil {
			return fmt.Errorf("log entry %d: %w", entries[i].Index, err)
		}
	}
	return nil
}

// fromStorage turns a store's answer into ours.
func fromStorage(a storage.Result) (Result, error) {
	switch a.Outcome {
	case storage.OutcomeApplied:
		return Result{Epoch: a.Epoch, Version: a.Version}, nil
	case storage.OutcomeReplayed:
		// Nobody waits for it: its proposer ended with an earlier process.
		return Result{Err: wire.Unknown(errReplayed)}, nil
	case storage.OutcomeFenced:
		return Result{Err: fmt.Errorf("%w: the store is now at epoch %d", wire.ErrFenced, a.Epoch)}, nil
	case storage.OutcomeStale:
		return Result{Err: fmt.Errorf("%w: the store is at version %d", wire.ErrFenced, a.Version)}, nil
	default:
		return Result{}, fmt.Errorf("outcome %v of a batch that was checked when it was proposed", a.Outcome)
	}
}

var errReplayed = errors.New("entry was applied before a restart")

// tombstonePrefix begins the stable key that says that a store was removed; the
// store's name follows.
const tombstonePrefix = "orgmem/removed/"

// IsRemoved reports whether a store has a tombstone.
func (m *Stores) IsRemoved(id storage.StoreID) (bool, error) {
	m.mu.Lock()
	gone, known := m.removed[id]
	m.mu.Unlock()
	if known {
		return gone, nil
	}
	b, _, err := m.log.GetStable(m.Group, []byte(tombstonePrefix+id.String()))
	if err != nil {
		return false, fmt.Errorf("read tombstone of %v: %w", id, err)
	}
	gone = len(b) > 0
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.removed[id] { // buried meanwhile
		return true, nil
	}
	m.removed[id] = gone
	return gone, nil
}

// remove writes a store's tombstone, durably, and then deletes its directory.
func (m *Stores) remove(id storage.StoreID) error {
	if err := m.log.SetStable(m.Group, []byte(tombstonePrefix+id.String()), []byte{1}); err != nil {
		return fmt.Errorf("write tombstone: %w", err)
	}
	m.mu.Lock()
	m.removed[id] = true
	m.undeleted[id] = struct{}{}
	delete(m.known, id)
	m.mu.Unlock()
	if err := m.dropAside(id); err != nil {
		return err
	}
	return m.DeleteRemoved()
}

// DeleteRemoved deletes the directories of removed stores. One that an actor
// still reads is left for the next call; its tombstone keeps it from being
// written, and the actor learns of the removal at its next proposal.
func (m *Stores) DeleteRemoved() error {
	m.mu.Lock()
	ids := make([]storage.StoreID, 0, len(m.undeleted))
	for id := range m.undeleted {
		ids = append(ids, id)
	}
	m.mu.Unlock()
	for _, id := range ids {
		err := m.node.Remove(id)
		if errors.Is(err, storage.ErrInUse) {
			continue
		}
		if err != nil {
			return err
		}
		m.mu.Lock()
		delete(m.undeleted, id)
		m.mu.Unlock()
	}
	return nil
}

// Flush makes everything durable that was applied to the shard's stores: those
// that are open; the others were flushed when they were closed. It cannot be
// given up half way by a caller's context: raft waits for it.
func (m *Stores) Flush() error {
	ctx := context.Background() //nolint:forbidigo // see above
	return m.node.FlushStores(ctx, m.Owns)
}

// Owns reports whether a store is one of the shard's.
func (m *Stores) Owns(id storage.StoreID) bool {
	return id != storage.MetaStore && wire.ShardOf(id.Org, m.shards) == m.Group
}

// Mark is machine's.
func (m *Stores) Mark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.known {
		r.marked = r.applied
		m.known[id] = r
	}
}

// Stores is machine's. A store that this process has not met is opened: some 20
// ms each, on a node that sends a snapshot soon after its start.
func (m *Stores) Stores() (map[storage.StoreID]uint64, []storage.StoreID, error) {
	ids, err := m.node.Stores()
	if err != nil {
		return nil, nil, err
	}
	there := map[storage.StoreID]uint64{}
	for _, id := range ids {
		if !m.Owns(id) {
			continue
		}
		gone, err := m.IsRemoved(id)
		if err != nil {
			return nil, nil, err
		}
		if gone {
			continue
		}
		r, err := m.reach(id)
		if err != nil {
			return nil, nil, err
		}
		there[id] = r.marked
	}
	set, err := m.Asides(AsidePrefix)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range set { // behind the marker, and not in the store here
		if at, ok := there[a.store]; ok {
			there[a.store] = max(at, a.Index)
		}
	}
	removed, err := m.tombstones()
	return there, removed, err
}

// reach returns how far a store is that exists.
func (m *Stores) reach(id storage.StoreID) (reach, error) {
	m.mu.Lock()
	r, known := m.known[id]
	m.mu.Unlock()
	if known {
		return r, nil
	}
	store, err := m.node.AcquireForApply(id)
	if err != nil {
		return r, err
	}
	defer store.Release()
	at := store.Applied()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, known = m.known[id]; !known {
		r = reach{marked: at, applied: at}
		m.known[id] = r
	}
	return r, nil
}

// Holds is machine's.
func (m *Stores) Holds(id storage.StoreID) (uint64, error) {
	if !m.Owns(id) {
		return 0, fmt.Errorf("store %v is none of group %d", id, m.Group)
	}
	there, err := m.node.Exists(id)
	if err != nil || !there {
		return 0, err
	}
	r, err := m.reach(id)
	if errors.Is(err, storage.ErrOutOfService) || err == nil && m.node.OutOfService(id) != nil {
		r, err = reach{}, nil // nobody can read how far it is: it has to come anew
	}
	return r.applied, err
}

// Replace is machine's.
func (m *Stores) Replace(id storage.StoreID, stage *storage.Stage, atLeast uint64) error {
	if err := stage.Adopt(atLeast); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.known, id)
	m.mu.Unlock()
	return m.dropAside(id)
}

// tombstones returns the stores that were removed.
func (m *Stores) tombstones() ([]storage.StoreID, error) {
	keys, err := m.log.StableKeys(m.Group, []byte(tombstonePrefix))
	if err != nil {
		return nil, err
	}
	ids := make([]storage.StoreID, len(keys))
	for i, key := range keys {
		if ids[i], err = storage.ParseStoreID(string(key[len(tombstonePrefix):])); err != nil {
			return nil, fmt.Errorf("tombstone: %w", err)
		}
	}
	return ids, nil
}

// RemoveAll is machine's.
func (m *Stores) RemoveAll(ids []storage.StoreID) error {
	for _, id := range ids {
		if !m.Owns(id) {
			return fmt.Errorf("store %v is none of group %d", id, m.Group)
		}
		gone, err := m.IsRemoved(id)
		if err == nil && !gone {
			err = m.remove(id)
		}
		if err != nil {
			return fmt.Errorf("store %v: %w", id, err)
		}
	}
	return nil
}

// CheckStore refuses the meta store, which only the directory writes.
func CheckStore(id storage.StoreID) error {
	if err := id.Check(); err != nil {
		return err
	}
	if id == storage.MetaStore {
		return fmt.Errorf("%v: %w", id, storage.ErrBadStoreID)
	}
	return nil
}
