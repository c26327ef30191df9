package storage

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// openStores are the stores of a Node that are open, being opened or being closed, and
// who holds them. What ends in Locked wants mu held.
type openStores struct {
	mu      sync.Mutex
	stores  map[StoreID]*openStore
	unheld  *list.List // of *openStore: open, not held; the front was released last
	held    int        // stores with pins
	closing int        // stores on their way out, still in the map
	idle    idleWait
	closed  bool // no further store is opened
}

// openStore is a store in the map: being opened, open, or being closed.
type openStore struct {
	id    StoreID
	node  *Node
	ready chan struct{} // closed when opening has ended, with or without err
	gone  chan struct{} // closed when the store has left the map
	err   error         // set before ready is closed

	holds

	gate   *gate
	db     *instance  // exchanged only while the gate is shut
	apply  sync.Mutex // one writer: Apply, Flush bookkeeping; guards state writes
	erase  sync.Mutex // one erasure or close at a time
	state  atomic.Pointer[State]
	moving atomic.Bool // readers may see more than state says
	growth             // guarded by apply

	snapshots snapshotSet
}

// holds says how a store is held. It is guarded by openStores.mu.
type holds struct {
	pins    int
	closing bool
	element *list.Element // of openStores.unheld
	since   time.Time     // when it was released; of stores in unheld
}

// pinLocked holds a store.
func (o *openStores) pinLocked(s *openStore) {
	if s.pins++; s.pins > 1 {
		return
	}
	o.held++
	if s.element != nil {
		o.unheld.Remove(s.element)
		s.element = nil
	}
}

// surplusLocked takes out of the list the stores that must go for the limit to
// hold: those released longest ago.
func (o *openStores) surplusLocked(limit int) []*openStore {
	var victims []*openStore
	for len(o.stores)-o.closing > limit && o.unheld.Len() > 0 {
		s := o.unheld.Back().Value.(*openStore)
		o.takeLocked(s)
		victims = append(victims, s)
	}
	return victims
}

// takeLocked takes a store that nobody holds out of use; its closing follows.
func (o *openStores) takeLocked(s *openStore) {
	o.unheld.Remove(s.element)
	s.element = nil
	s.closing = true
	o.closing++
}

// forget takes a store that was closed out of the map.
func (o *openStores) forget(s *openStore) {
	o.mu.Lock()
	delete(o.stores, s.id)
	o.closing--
	o.mu.Unlock()
	close(s.gone)
}
