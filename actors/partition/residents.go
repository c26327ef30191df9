package partition

import (
	"fmt"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Residents are the partitions of one store that are in memory, for as long as one activation of the organization
// lives: another activation has its own, so nothing that was read before an OPEN is seen behind it. Its methods may be
// called from any goroutine.
type Residents struct {
	memory *Memory
	store  storage.StoreID
	asked  func(*Ref)
	all    map[pb.PartitionID]*Resident // nil once they are closed; guarded by memory.mu
}

// NewResidents makes the table of a store's partitions. asked is called, from any goroutine, with a partition that is
// in memory and has no owner yet; it must not block.
func (m *Memory) NewResidents(store storage.StoreID, asked func(*Ref)) *Residents {
	return &Residents{memory: m, store: store, asked: asked, all: map[pb.PartitionID]*Resident{}}
}

// find returns a partition's resident as one that is read now, and makes a missing one; nil once they are closed.
func (r *Residents) find(part *Ref) *Resident {
	m := r.memory
	m.mu.Lock()
	e := r.all[part.ID]
	if e != nil {
		e.read = true
		if e.place != nil {
			m.order.MoveToFront(e.place)
		}
		m.mu.Unlock()
		return e
	}
	if r.all == nil {
		m.mu.Unlock()
		return nil
	}
	e = r.add(part.ID)
	e.place = m.order.PushFront(e)
	m.mu.Unlock()
	r.asked(part)
	return e
}

// add makes a resident. memory.mu is held, and they are not closed.
func (r *Residents) add(id pb.PartitionID) *Resident {
	e := &Resident{of: r, id: id, bytes: residentOverhead, read: true}
	r.all[id] = e
	r.memory.bytes += e.bytes
	r.memory.count++
	return e
}

// Get returns the partition's hot state, reading it from the store when it is not in memory.
func (r *Residents) Get(st *storage.Store, part *Ref, dim func(model string) int) (*Index, error) {
	e := r.find(part)
	if e == nil { // the organization has left memory; its last readers keep nothing
		return r.memory.read(st, part, dim)
	}
	if now := e.now.Load(); now != nil {
		return now, nil
	}
	e.load.Lock()
	defer e.load.Unlock()
	if now := e.now.Load(); now != nil {
		return now, nil
	}
	turn := e.currentTurn()
	now, err := r.memory.read(st, part, dim)
	if err != nil {
		return nil, err
	}
	r.memory.show(e, now, turn)
	return now, nil
}

func (m *Memory) read(st *storage.Store, part *Ref, dim func(string) int) (*Index, error) {
	now, err := loadPartition(st, part, dim, m.usable)
	if err != nil {
		return nil, fmt.Errorf("load partition %s: %w", part.ID, err)
	}
	m.Loads.Add(1)
	return now, nil
}

// peek returns a partition's resident, nil where it is not in memory, without counting as a reader, and the turn that
// it has.
func (r *Residents) peek(id pb.PartitionID) (e *Resident, turn uint64) {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	if e = r.all[id]; e != nil {
		turn = e.turn
	}
	return e, turn
}

// Publish makes next what readers see, once its changes are committed. Where the index is not in memory nothing is
// shown, and one that is not next's predecessor is taken away: the next reader loads what the store says.
func (r *Residents) Publish(part *Ref, next *Index) {
	e, turn := r.peek(part.ID)
	if e == nil {
		return
	}
	e.load.Lock()
	defer e.load.Unlock()
	now := e.now.Load()
	if now == nil {
		return
	}
	// A reader may have loaded before the commit (the version before) or after it
	// (the same version): next holds all of both.
	switch v := now.State.GetIndexVersion(); next.State.GetIndexVersion() {
	case v, v + 1:
		r.memory.show(e, next, turn)
	default:
		r.memory.mu.Lock()
		defer r.memory.mu.Unlock()
		if e.turn == turn {
			r.memory.empty(e)
		}
	}
}

// ShownWithin bounds the wait for what is committed to be shown: microseconds, where the
// processors are taken some more. Who lost its lease in between shows nothing.
const ShownWithin = time.Second

// AwaitShown waits until readers see a committed version of a partition's index: the worker
// shows it right behind its commit, and a caller that has read in the store that a job has
// ended must find what it brought. What is not in memory is loaded from the store.
func (r *Residents) AwaitShown(part *Ref, version uint64, c clock.Clock) {
	news := r.behind(part, version)
	if news == nil {
		return
	}
	late := c.NewTimer(ShownWithin)
	defer late.Stop()
	for ; news != nil; news = r.behind(part, version) {
		select {
		case <-news:
		case <-late.C():
			return
		}
	}
}

// behind returns what is closed when something else is shown, where a partition's index
// is in memory and older than a version; else nil.
func (r *Residents) behind(part *Ref, version uint64) <-chan struct{} {
	r.memory.mu.Lock()
	e, news := r.all[part.ID], r.memory.news
	r.memory.mu.Unlock()
	if e == nil {
		return nil
	}
	if now := e.now.Load(); now == nil || now.State.GetIndexVersion() >= version {
		return nil
	}
	return news
}

// Adopt makes an actor the owner of its partition's hot state, and returns that: nil once they are closed. Another
// owner, which is about to end, loses it. found says that readers had it in memory, or are loading it.
func (r *Residents) Adopt(id pb.PartitionID, owner Owner) (e *Resident, found bool) {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.all == nil {
		return nil, false
	}
	if e, found = r.all[id]; !found {
		e = r.add(id)
		e.read = false
	}
	e.owner = owner
	return e, found
}

// Unowned reports whether a partition is in memory and has no owner.
func (r *Residents) Unowned(id pb.PartitionID) bool {
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	e := r.all[id]
	return e != nil && e.owner == nil
}

// Drop forgets what is in memory of a partition. An owner stays, and its readers load anew.
func (r *Residents) Drop(id pb.PartitionID) {
	m := r.memory
	m.Queries.forgetPartition(r.store, id)
	m.mu.Lock()
	e := r.all[id]
	if e != nil {
		m.empty(e)
		e.turn++
		if e.owner == nil {
			m.remove(e)
		}
	}
	m.mu.Unlock()
	if e != nil {
		e.setting.Lock() // settings that are being read are those of the past
		e.settings.Store(nil)
		e.setting.Unlock()
	}
}

// Close forgets all of them, and keeps none from now on.
func (r *Residents) Close() {
	m := r.memory
	m.Queries.forgetStore(r.store)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range r.all {
		m.empty(e)
		m.remove(e)
	}
	r.all = nil
}
