package partition

import (
	"container/list"
	"sync"
	"sync/atomic"

	"orgmem/brain/index"
	pb "orgmem/proto"
)

// Memory is the node's account of the hot state of all partitions, which may take so many bytes. Where it is over them,
// the subjects that were read least recently have to leave: what they hold is out of sight at once, and Memory
// asks their actors to passivate. Its methods may be called from any goroutine.
type Memory struct {
	budget  int64
	usable  func(index.View) bool // whether a stored segment can serve
	Queries *QueryCache
	Loads   atomic.Uint64

	mu    sync.Mutex
	order list.List // of *Resident that can be evicted, most recently read first
	bytes int64
	going int64 // of bytes: those of actors that were asked to leave
	count int
	news  chan struct{} // closed and replaced when something else is shown
}

// residentOverhead is what a partition in memory costs without its index: the actor of its subject with its place in
// the tables, and what the index is held in. Measured (BenchmarkResidentSubject): 2.4 KB for an actor that only holds
// what is read, 6.0 KB for one with a worker. It counts as the latter, since any may become one.
const residentOverhead = 6 << 10

// NewMemory makes an account of so many bytes. usable says which stored segments serve as they are.
func NewMemory(budget int64, usable func(index.View) bool) *Memory {
	return &Memory{budget: budget, usable: usable, Queries: newQueryCache(), news: make(chan struct{})}
}

// Use returns the bytes in use and the number of partitions in memory.
func (m *Memory) Use() (bytes int64, partitions int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes, m.count
}

// show makes an index what readers of a partition see, accounts its size, and evicts what is over the budget. It does
// nothing where the partition was dropped since turn.
func (m *Memory) show(e *Resident, next *Index, turn uint64) {
	size := int64(residentOverhead + next.Snapshot.Bytes())
	m.mu.Lock()
	if e.turn != turn {
		m.mu.Unlock()
		return
	}
	m.stay(e)
	e.now.Store(next)
	m.bytes += size - e.bytes
	e.bytes = size
	if e.place == nil {
		e.place = m.order.PushFront(e)
	}
	var told []Owner
	for back := m.order.Back(); m.bytes-m.going > m.budget && back != nil; {
		victim := back.Value.(*Resident)
		back = back.Prev()
		if victim == e {
			break // what is in use now stays, even above the budget
		}
		m.empty(victim)
		if victim.owner == nil {
			m.remove(victim)
			continue
		}
		victim.going = true
		m.going += victim.bytes
		told = append(told, victim.owner)
	}
	m.announce()
	m.mu.Unlock()
	for _, owner := range told {
		owner.Evicted()
	}
}

// empty takes a partition's index out of sight, and out of the account. m.mu is held.
func (m *Memory) empty(e *Resident) {
	if e.place != nil {
		m.order.Remove(e.place)
		e.place = nil
	}
	m.bytes -= e.bytes - residentOverhead
	e.bytes = residentOverhead
	e.now.Store(nil)
	m.announce()
}

// stay counts an actor among those that were not told to leave. m.mu is held.
func (m *Memory) stay(e *Resident) {
	if e.going {
		e.going = false
		m.going -= e.bytes
	}
}

// remove ends a resident that is empty. m.mu is held. A load that is under way finishes, and is kept by nobody.
func (m *Memory) remove(e *Resident) {
	m.stay(e)
	delete(e.of.all, e.id)
	e.turn++
	m.bytes -= e.bytes
	m.count--
}

// announce wakes those who wait in AwaitShown. m.mu is held.
func (m *Memory) announce() {
	close(m.news)
	m.news = make(chan struct{})
}

// Owner is the actor of a subject, to which its partition's hot state belongs.
type Owner interface {
	// Evicted tells the actor that its partition's index had to leave memory. It must not block.
	Evicted()
}

// Resident is the hot state of a partition in memory. It belongs to the actor of the partition's subject, and leaves
// memory with it; a reader that comes before the actor makes it, and has the actor made. Readers take the index behind
// the pointer, and meet no mailbox.
type Resident struct {
	of *Residents
	id pb.PartitionID

	// Guarded by Memory.mu.
	place *list.Element // nil: nothing of it can be evicted
	bytes int64
	owner Owner  // nil: the actor is not made yet
	read  bool   // since the owner asked
	going bool   // the owner was asked to leave
	turn  uint64 // counts what makes an index that was read before it one of the past

	load sync.Mutex // one load, or one publication, at a time
	now  atomic.Pointer[Index]

	setting  sync.Mutex // one read, or one change, of settings at a time
	settings atomic.Pointer[Settings]
}

// WasRead reports whether the partition was read since the last time that it was asked.
func (e *Resident) WasRead() bool {
	m := e.of.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	was := e.read
	e.read = false
	return was
}

// Empty reports whether nothing of the index is in memory.
func (e *Resident) Empty() bool { return e.now.Load() == nil }

// Release takes the partition out of memory with its owner, unless another has taken its place.
func (e *Resident) Release(owner Owner) {
	m := e.of.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.owner == owner && e.of.all[e.id] == e {
		m.empty(e)
		m.remove(e)
	}
}

// currentTurn is what show is to be called with for what is read from now on.
func (e *Resident) currentTurn() uint64 {
	m := e.of.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	return e.turn
}
