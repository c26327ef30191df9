package cluster

import (
	"fmt"
	"sync"

	pb "orgmem/proto"
	"orgmem/storage"
)

// stores is the machine of a shard: it applies entries to the stores of the
// shard's organizations.
type stores struct {
	node *storage.Node
	log  *storage.Log // tombstones live beside the group's log
	id   uint32

	// dirty are the stores with effects that no flush has covered yet.
	mu    sync.Mutex
	dirty map[storage.StoreID]struct{}
}

func newStores(group uint32, node *storage.Node) *stores {
	return &stores{node: node, log: node.Log(), id: group, dirty: map[storage.StoreID]struct{}{}}
}

// apply sorts a batch of entries by store and gives each store its effects in
// one Pebble batch. Between stores the order does not matter, since they share
// nothing; within one it is the log's.
func (m *stores) apply(entries []entry) ([]result, error) {
	results := make([]result, len(entries))
	order := make([]storage.StoreID, 0, 8)
	byStore := make(map[storage.StoreID][]int, 8)
	for i, e := range entries {
		var ref *pb.StoreRef
		switch k := e.cmd.GetKind().(type) {
		case *pb.Command_Open:
			ref = k.Open.GetStore()
		case *pb.Command_Write:
			ref = k.Write.GetStore()
		case *pb.Command_RemoveStore:
			ref = k.RemoveStore.GetStore()
		default:
			return nil, fmt.Errorf("log entry %d: a shard does not know command %T", e.index, k)
		}
		id, err := storage.StoreIDFrom(ref)
		if err == nil {
			err = checkStore(id)
		}
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

// applyStore carries out the entries of one store: those at the given positions.
func (m *stores) applyStore(id storage.StoreID, entries []entry, at []int, results []result) error {
	// A removed store refuses everything, for ever, and is not touched: opening it
	// would make its directory anew. That holds for the replay of entries that are
	// older than the removal too; their effects are gone with the directory.
	removed, err := m.removed(id)
	if err != nil {
		return err
	}
	if removed {
		for _, i := range at {
			results[i] = m.afterRemoval(entries[i])
		}
		// The removal may have been cut short between its tombstone and its end.
		return m.node.Remove(id)
	}
	for n, i := range at {
		if _, ok := entries[i].cmd.GetKind().(*pb.Command_RemoveStore); !ok {
			continue
		}
		// What came before the removal gets its answer as if it had been applied; its
		// effects are not worth a write.
		if err := m.write(id, entries, at[:n], results); err != nil {
			return err
		}
		if err := m.remove(id, entries[i].index); err != nil {
			return err
		}
		for _, j := range at[n:] {
			results[j] = m.afterRemoval(entries[j])
		}
		return nil
	}
	return m.write(id, entries, at, results)
}
