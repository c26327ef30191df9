package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	pb "orgmem/proto"
	"orgmem/storage"
)

// stores is the machine of a shard: it applies entries to the stores of the
// shard's organizations. It keeps nothing of its own that the log could
// contradict: applied index, epoch and version lie in each store, in the batch
// with the data.
type stores struct {
	node   *storage.Node
	log    *storage.Log // tombstones lie beside the group's log
	group  uint32
	shards int
	// others reports whether a store that is damaged is to come from another node. Nil:
	// none is.
	others func(storage.StoreID) bool

	mu sync.Mutex
	// gone holds what applyStore has learnt of the stores it met: true for those
	// with a tombstone. It is a copy of what lies on disk, bounded by the number of
	// stores on it.
	gone map[storage.StoreID]bool
	// doomed are stores with a tombstone whose directory somebody still held open.
	doomed map[storage.StoreID]struct{}
	// known is how far the stores are that this process has met, so that a manifest
	// need not open them. It is bounded as gone is.
	known map[storage.StoreID]reach
}

// reach is how far a store is: the newest entry that it has looked at, and the
// newest that it must have looked at for the marker to be true, or one in between.
type reach struct{ marked, applied uint64 }

func newStores(group uint32, shards int, node *storage.Node) *stores {
	return &stores{
		node: node, log: node.Log(), group: group, shards: shards,
		gone: map[storage.StoreID]bool{}, doomed: map[storage.StoreID]struct{}{}, known: map[storage.StoreID]reach{},
	}
}

// forget drops what is known of the stores, which have left this node.
func (m *stores) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.gone)
	clear(m.doomed)
	clear(m.known)
}

// apply sorts a batch of entries by store and gives each store its own in one
// Pebble batch. Between stores the order does not matter, since they share
// nothing; within one it is the log's. One store is held open at a time.
func (m *stores) apply(entries []entry) ([]result, error) {
	results := make([]result, len(entries))
	var order []storage.StoreID
	byStore := make(map[storage.StoreID][]int, 1)
	for i, e := range entries {
		id, err := m.target(e.cmd)
		if err != nil {
			return nil, fmt.Errorf("log entry %d: %w", e.index, err)
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
func (m *stores) target(cmd *pb.Command) (storage.StoreID, error) {
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
		err = checkStore(id)
	}
	if err == nil && shardOf(id.Org, m.shards) != m.group {
		err = fmt.Errorf("store %v belongs to group %d", id, shardOf(id.Org, m.shards))
	}
	return id, err
}

// applyStore carries out the entries of one store, which are those at the given
// positions, up to a REMOVE if there is one.
func (m *stores) applyStore(id storage.StoreID, entries []entry, at []int, results []result) error {
	gone, err := m.isGone(id)
	if err != nil {
		return err
	}
	if !gone {
		live := len(at)
		for n, i := range at {
			if _, ok := entries[i].cmd.GetKind().(*pb.Command_RemoveStore); ok {
				live = n
				break
			}
		}
		err := m.write(id, entries, at[:live], results)
		if err != nil && m.node.OutOfService(id) != nil && (m.others == nil || !m.others(id)) {
			err = m.setAside(id, entries, at[:live], results)
		}
		if err != nil {
			return err
		}
		if at = at[live:]; len(at) == 0 {
			return nil
		}
		if err := m.bury(id); err != nil {
			return err
		}
	}
	// A removed store refuses everything, for ever, and is not touched: opening it
	// would make its directory anew. This holds for the replay of entries that are
	// older than the REMOVE, too; their effects went with the directory.
	for _, i := range at {
		if _, ok := entries[i].cmd.GetKind().(*pb.Command_RemoveStore); !ok {
			results[i] = result{err: ErrRemoved}
		}
	}
	return nil
}

// write gives a store its OPENs and WRITEs. Storage judges each by the store's
// applied index, epoch and version (see storage.Store.ApplyBatch).
func (m *stores) write(id storage.StoreID, entries []entry, at []int, results []result) error {
	if len(at) == 0 {
		return nil
	}
	batch := make([]storage.Entry, len(at))
	for n, i := range at {
		e := storage.Entry{Index: entries[i].index, Kind: storage.EntryOpen}
		if w := entries[i].cmd.GetWrite(); w != nil {
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
			return fmt.Errorf("log entry %d: %w", entries[i].index, err)
		}
	}
	return nil
}

// fromStorage turns a store's answer into ours.
func fromStorage(a storage.Result) (result, error) {
	switch a.Outcome {
	case storage.OutcomeApplied:
		return result{epoch: a.Epoch, version: a.Version}, nil
	case storage.OutcomeReplayed:
		// Nobody waits for it: whoever proposed it went with an earlier process.
		return result{err: unknown(errReplayed)}, nil
	case storage.OutcomeFenced:
		return result{err: fmt.Errorf("%w: the store is now at epoch %d", ErrFenced, a.Epoch)}, nil
	case storage.OutcomeStale:
		return result{err: fmt.Errorf("%w: the store is at version %d", ErrFenced, a.Version)}, nil
	default:
		return result{}, fmt.Errorf("outcome %v of a batch that was checked when it was proposed", a.Outcome)
	}
}

var errReplayed = errors.New("entry was applied before a restart")

// tombstonePrefix begins the stable key that says that a store was removed; the
// store's name follows.
const tombstonePrefix = "orgmem/removed/"

// isGone reports whether a store has a tombstone.
func (m *stores) isGone(id storage.StoreID) (bool, error) {
	m.mu.Lock()
	gone, known := m.gone[id]
	m.mu.Unlock()
	if known {
		return gone, nil
	}
	b, _, err := m.log.GetStable(m.group, []byte(tombstonePrefix+id.String()))
	if err != nil {
		return false, fmt.Errorf("read tombstone of %v: %w", id, err)
	}
	gone = len(b) > 0
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone[id] { // buried meanwhile
		return true, nil
	}
	m.gone[id] = gone
	return gone, nil
}

// bury writes a store's tombstone, durably, and then deletes its directory.
func (m *stores) bury(id storage.StoreID) error {
	if err := m.log.SetStable(m.group, []byte(tombstonePrefix+id.String()), []byte{1}); err != nil {
		return fmt.Errorf("write tombstone: %w", err)
	}
	m.mu.Lock()
	m.gone[id] = true
	m.doomed[id] = struct{}{}
	delete(m.known, id)
	m.mu.Unlock()
	if err := m.dropAside(id); err != nil {
		return err
	}
	return m.removeDoomed()
}

// removeDoomed deletes the directories of removed stores. One that an actor
// still reads is left for the next call; its tombstone keeps it from being
// written, and the actor learns of the removal at its next proposal.
func (m *stores) removeDoomed() error {
	m.mu.Lock()
	ids := make([]storage.StoreID, 0, len(m.doomed))
	for id := range m.doomed {
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
		delete(m.doomed, id)
		m.mu.Unlock()
	}
	return nil
}

// flush makes everything durable that was applied to the shard's stores: those
// that are open; the others were flushed when they were closed. It cannot be
// given up half way by a caller's context: raft waits for it.
func (m *stores) flush() error {
	ctx := context.Background() //nolint:forbidigo // see above
	return m.node.FlushStores(ctx, m.owns)
}

// owns reports whether a store is one of the shard's.
func (m *stores) owns(id storage.StoreID) bool {
	return id != storage.MetaStore && shardOf(id.Org, m.shards) == m.group
}

// mark is machine's.
func (m *stores) mark() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.known {
		r.marked = r.applied
		m.known[id] = r
	}
}

// stores is machine's. A store that this process has not met is opened: some 20
// ms each, on a node that sends a snapshot soon after its start.
func (m *stores) stores() (map[storage.StoreID]uint64, []storage.StoreID, error) {
	ids, err := m.node.Stores()
	if err != nil {
		return nil, nil, err
	}
	there := map[storage.StoreID]uint64{}
	for _, id := range ids {
		if !m.owns(id) {
			continue
		}
		gone, err := m.isGone(id)
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
	set, err := m.asides(asidePrefix)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range set { // behind the marker, and not in the store here
		if at, ok := there[a.store]; ok {
			there[a.store] = max(at, a.index)
		}
	}
	removed, err := m.tombstones()
	return there, removed, err
}

// reach returns how far a store is that exists.
func (m *stores) reach(id storage.StoreID) (reach, error) {
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

// holds is machine's.
func (m *stores) holds(id storage.StoreID) (uint64, error) {
	if !m.owns(id) {
		return 0, fmt.Errorf("store %v is none of group %d", id, m.group)
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

// replace is machine's.
func (m *stores) replace(id storage.StoreID, stage *storage.Stage, atLeast uint64) error {
	if err := stage.Adopt(atLeast); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.known, id)
	m.mu.Unlock()
	return m.dropAside(id)
}

// tombstones returns the stores that were removed.
func (m *stores) tombstones() ([]storage.StoreID, error) {
	keys, err := m.log.StableKeys(m.group, []byte(tombstonePrefix))
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

// entomb is machine's.
func (m *stores) entomb(ids []storage.StoreID) error {
	for _, id := range ids {
		if !m.owns(id) {
			return fmt.Errorf("store %v is none of group %d", id, m.group)
		}
		gone, err := m.isGone(id)
		if err == nil && !gone {
			err = m.bury(id)
		}
		if err != nil {
			return fmt.Errorf("store %v: %w", id, err)
		}
	}
	return nil
}

// checkStore refuses the meta store, which only the directory writes.
func checkStore(id storage.StoreID) error {
	if err := id.Check(); err != nil {
		return err
	}
	if id == storage.MetaStore {
		return fmt.Errorf("%v: %w", id, storage.ErrBadStoreID)
	}
	return nil
}
