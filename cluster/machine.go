package cluster

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// entry is one committed command, in log order.
type entry struct {
	index uint64
	cmd   *pb.Command
}

// result answers one entry. It is a function of the log alone: every replica,
// and every replay, comes to the same one.
type result struct {
	index   uint64 // of the entry
	epoch   uint64
	version uint64
	err     error
}

// machine is what a group does with its entries: stores for a shard, Directory
// for the meta group.
type machine interface {
	// apply carries out entries in order and returns as many results. It is called
	// from one goroutine. Effects are idempotent under replay: an entry whose effect
	// is already in a store is skipped. An error means that the machine cannot go
	// on.
	apply(entries []entry) ([]result, error)
	// flush makes durable every effect that was applied before the call. It may run
	// beside apply.
	flush() error

	// mark notes how far each store is: the next marker promises as much. It is
	// called from apply's goroutine.
	mark()
	// stores returns the machine's stores, each with an entry that it must hold at
	// the newest marker (or more than it must), and those that were removed.
	stores() (there map[storage.StoreID]uint64, removed []storage.StoreID, err error)
	// holds returns the newest entry that a store has looked at, 0 when there is no
	// such store.
	holds(id storage.StoreID) (uint64, error)
	// replace puts a store that came from another node in the place of the machine's.
	// It is called instead of apply.
	replace(id storage.StoreID, stage *storage.Stage, atLeast uint64) error
	// entomb removes stores that another replica has removed.
	entomb(ids []storage.StoreID) error
}
