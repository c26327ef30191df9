package storage

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// ErrOutOfService says that damage was found in a store since the node was opened. Nobody
// gets at it any more, for what can still be read of it may be the older state of what
// cannot. It is in service again when another one has taken its place (Stage.Adopt) or it
// was removed, or when the node is opened again and the damage is not there.
var ErrOutOfService = errors.New("store is out of service")

// outages are the stores in which damage was found. Bounded by the number of stores.
type outages struct {
	found chan struct{} // capacity 1: there is one more

	some atomic.Bool // whether there are any: the look before every request
	mu   sync.Mutex
	why  map[StoreID]string
}

func newOutages() *outages {
	return &outages{found: make(chan struct{}, 1), why: map[StoreID]string{}}
}

// of returns ErrOutOfService when a store is.
func (o *outages) of(id StoreID) error {
	if !o.some.Load() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if why, ok := o.why[id]; ok {
		return fmt.Errorf("%v: %w: %w: %s", id, ErrOutOfService, ErrCorrupt, why)
	}
	return nil
}

// add takes a store out of service and reports whether it was in service.
func (o *outages) add(id StoreID, why string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.why[id]; ok {
		return false
	}
	o.why[id] = why
	o.some.Store(true)
	select {
	case o.found <- struct{}{}:
	default:
	}
	return true
}

func (o *outages) end(id StoreID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.why, id)
	o.some.Store(len(o.why) > 0)
}

// OutOfService returns ErrOutOfService with what was found, when damage was found in a
// store. It costs nothing while no store is damaged.
func (n *Node) OutOfService(id StoreID) error { return n.outages.of(id) }

// Outages returns the stores that are out of service, with what was found in each.
func (n *Node) Outages() map[StoreID]string {
	n.outages.mu.Lock()
	defer n.outages.mu.Unlock()
	return maps.Clone(n.outages.why)
}

// Outage receives when Outages has grown, once for several times. It has one receiver.
func (n *Node) Outage() <-chan struct{} { return n.outages.found }

// damageFound takes a store out of service. It may be called by Pebble, from within a
// read.
func (n *Node) damageFound(id StoreID, err error) {
	n.counts.corruptions.Add(1)
	if n.outages.add(id, err.Error()) {
		n.opts.Logger.Error("storage: damaged data found: the store is out of service", "store", id.String(), "err", err)
	}
}

// optionsOf are the options of one store: damage that is found is reported under its name.
func (n *Node) optionsOf(id StoreID) *pebble.Options {
	o := n.storeOptions()
	o.EventListener.DataCorruption = func(info pebble.DataCorruptionInfo) {
		n.damageFound(id, fmt.Errorf("%s: %w", info.Path, info.Details))
	}
	return o
}
