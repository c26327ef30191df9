package state

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// Entry is one committed command, in log order.
type Entry struct {
	Index   uint64
	Command *pb.Command
}

// Result answers one entry. It is a function of the log alone: every replica,
// and every replay, comes to the same one.
type Result struct {
	Index   uint64 // of the entry
	Epoch   uint64
	Version uint64
	Err     error
}

// Machine is what a group does with its entries: stores for a shard, Directory
// for the meta group.
type Machine interface {
	// Apply carries out entries in order and returns as many results. It is called
	// from one goroutine. Effects are idempotent under replay: an entry whose effect
	// is already in a store is skipped. An error means that the machine cannot go
	// on.
	Apply(entries []Entry) ([]Result, error)
	// Flush makes durable every effect that was applied before the call. It may run
	// beside apply.
	Flush() error

	// Mark notes how far each store is: the next marker promises as much. It is
	// called from apply's goroutine.
	Mark()
	// Stores returns the machine's stores, each with an entry that it must hold at
	// the newest marker (or more than it must), and those that were removed.
	Stores() (there map[storage.StoreID]uint64, removed []storage.StoreID, err error)
	// Holds returns the newest entry that a store has looked at, 0 when there is no
	// such store.
	Holds(id storage.StoreID) (uint64, error)
	// Replace puts a store that came from another node in the place of the machine's.
	// It is called instead of apply.
	Replace(id storage.StoreID, stage *storage.Stage, atLeast uint64) error
	// RemoveAll removes stores that another replica has removed.
	RemoveAll(ids []storage.StoreID) error
}
