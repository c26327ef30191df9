package commit

import (
	"context"
	"errors"
	"sync"

	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

var (
	// ErrLost means that the organization's lease, and with it its memory, is no
	// longer good: an earlier write has an unknown outcome or was fenced.
	ErrLost = errors.New("organization must be opened again")
	// ErrQueueFull means that too much waits to be committed.
	ErrQueueFull = errors.New("commit queue is full")
)

const (
	// MaxWaitingBytes bounds what one organization may have waiting for its
	// next commit. Requests are at most 10 MiB, so several of the largest fit.
	MaxWaitingBytes = 64 << 20
	// maxGroupBytes closes a group: one raft entry that a neighbour can still
	// receive and apply in a small part of an election timeout. A single larger
	// batch goes alone.
	maxGroupBytes = 4 << 20
	// maxGroupsInFlight lets the next group be on its way to the disk while the
	// last one is applied and answered. Measured: 1 leaves the disk idle a third
	// of the time, more than 2 only makes groups smaller.
	maxGroupsInFlight = 2
)

// Committer is an activation's way to the commit: every write of the
// organization's actor, of its subjects and of their workers goes through
// Submit. While a group is on its way to the disk it gathers what comes into
// the next one, so that a busy organization pays one raft entry and one share
// of an fsync for many requests.
type Committer struct {
	listeners

	ctx   context.Context // never ends: a write that was proposed is not taken back when its caller leaves
	host  *cluster.Host
	trace *tracing.Tracer // nil: nothing is traced
	store storage.StoreID
	Trail *Trail

	mu       sync.Mutex
	lease    cluster.Lease // of the next group to be proposed
	waiting  []write
	bytes    int
	inFlight int
	broken   error
	retired  bool // takes nothing but what reads have cost
	order    leaseOrder
}

// listeners hear what becomes of writes.
type listeners struct {
	lost func() // called once, when the lease is no longer good
	// published gets the events of a committed group, in commit order.
	published func([]*pb.OutboxEvent)
	// moved is called when the store has changed, before the waiting callers get their answers.
	moved func()
}

type write struct {
	*Change
	done func(error)
	// The spans of its commit, and of the entry of the log that has it; nil: nobody traces it.
	commit, raft tracing.Spans
}

// NewCommitter makes the way into a store for the holder of its lease. It calls published with the events of each
// committed group, in commit order; moved when the store has changed, before it answers those who wait for the commit;
// and lost, once, when the lease is no longer good.
func NewCommitter(
	ctx context.Context, host *cluster.Host, tracer *tracing.Tracer, store storage.StoreID, lease cluster.Lease,
	t *Trail, published func([]*pb.OutboxEvent), moved, lost func(),
) *Committer {
	return &Committer{
		listeners: listeners{lost, published, moved},
		ctx:       ctx, host: host, trace: tracer, store: store, lease: lease, Trail: t,
	}
}

// Submit commits a batch that nothing goes with.
func (c *Committer) Submit(batch *storage.Batch, done func(error)) {
	c.SubmitChange(&Change{Batch: batch}, done)
}

// SubmitChange commits a change. done is called exactly once, from another
// goroutine, in the order of the submits; nil means durable and applied. It must
// not block. The caller must not touch the change again.
func (c *Committer) SubmitChange(ch *Change, done func(error)) {
	if err := ch.Check(); err != nil {
		go done(err)
		return
	}
	c.mu.Lock()
	switch {
	case c.broken != nil:
		err := c.broken
		c.mu.Unlock()
		go done(err)
		return
	case c.retired && !ch.Costs:
		c.mu.Unlock()
		go done(ErrLost)
		return
	case c.bytes+ch.Bytes() > MaxWaitingBytes && c.bytes > 0:
		c.mu.Unlock()
		go done(ErrQueueFull)
		return
	}
	w := write{Change: ch, done: done}
	if len(ch.Traces) > 0 {
		c.traced(&w)
	}
	c.waiting = append(c.waiting, w)
	c.bytes += ch.Bytes()
	failed := c.pump()
	c.mu.Unlock()
	for _, f := range failed {
		f()
	}
}

// Commit is Submit that waits for the result.
func (c *Committer) Commit(batch *storage.Batch) error { return c.CommitChange(&Change{Batch: batch}) }

// Finish is Commit for what finishes something that was decided upon (Change.Finishes).
func (c *Committer) Finish(batch *storage.Batch) error {
	return c.CommitChange(&Change{Batch: batch, Finishes: true})
}

// CommitChange is SubmitChange that waits.
func (c *Committer) CommitChange(ch *Change) error {
	result := make(chan error, 1)
	c.SubmitChange(ch, func(err error) { result <- err })
	return <-result
}

// pump proposes waiting groups while there is room. c.mu is held. It returns
// what the caller must call after releasing it.
func (c *Committer) pump() (after []func()) {
	for c.broken == nil && c.inFlight < maxGroupsInFlight && len(c.waiting) > 0 {
		// A second group is worth its own raft entry only when it is large;
		// otherwise letting it grow until the first returns is cheaper.
		if c.inFlight > 0 && c.bytes < maxGroupBytes/16 {
			return after
		}
		n, size := 0, 0
		finishes := c.waiting[0].Finishes
		for n < len(c.waiting) &&
			(n == 0 || size+c.waiting[n].Bytes() <= maxGroupBytes && c.waiting[n].Finishes == finishes) {
			size += c.waiting[n].Bytes()
			n++
		}
		group := c.waiting[:n:n]
		c.waiting = c.waiting[n:]
		c.bytes -= size
		batch, err := c.Trail.stamp(group)
		if err != nil { // the store could not be read: nothing happened
			for _, w := range group {
				after = append(after, func() { w.ended(err); w.done(err) })
			}
			continue
		}
		lease := c.lease
		propose := c.host.ProposeAsync
		if finishes {
			propose = c.host.FinishAsync
		}
		c.proposed(group, size)
		err = propose(c.ctx, c.store, lease, batch, func(version uint64, err error) {
			c.order.applied(lease, version, err)
			c.finished(group, err)
		})
		if err != nil { // not applied: nothing happened, the lease stands
			if c.Trail.unstamp() {
				after = append(after, c.Trail.soon)
			}
			for _, w := range group {
				after = append(after, func() { w.ended(err); w.done(err) })
			}
			continue
		}
		c.lease = lease.Next()
		c.inFlight++
	}
	return after
}

// finished is raft's answer to a group.
func (c *Committer) finished(group []write, err error) {
	c.mu.Lock()
	c.inFlight--
	if c.inFlight == 0 {
		c.Trail.settled()
	}
	var abandoned []write
	var lost bool
	if err != nil {
		// Even a group that was certainly not applied breaks the chain: the
		// version of those behind it was counted on.
		lost = c.broken == nil
		if lost {
			c.broken = ErrLost
		}
		abandoned, c.waiting, c.bytes = c.waiting, nil, 0
	}
	after := c.pump()
	c.mu.Unlock()
	c.moved()
	for _, w := range group {
		w.ended(err)
		if err == nil && len(w.Events) > 0 {
			c.published(w.Events)
		}
		w.done(err)
	}
	clear(group) // the array lives on under those that wait, and done may hold a file
	for _, w := range abandoned {
		w.ended(ErrLost)
		w.done(ErrLost)
	}
	for _, f := range after {
		f()
	}
	if lost {
		c.lost()
	}
}

// LastEvent is the number of the last event that was given one: what happens from
// now on has a higher one.
func (c *Committer) LastEvent() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Trail.events
}

// Idle reports whether nothing waits and nothing is under way.
func (c *Committer) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight == 0 && len(c.waiting) == 0
}

// Retire refuses all that comes, but for what reads have cost: on a planned move the
// log still takes what an activation proposes that has lost its memory, and with it the
// order in which its requests change one entity. What waits and what is under way goes
// on: it was decided before.
func (c *Committer) Retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
}

// Abandon refuses what waits and all that comes. What is under way goes on: it
// was decided before.
func (c *Committer) Abandon() {
	c.mu.Lock()
	if c.broken == nil {
		c.broken = ErrLost
	}
	var abandoned []write
	abandoned, c.waiting, c.bytes = c.waiting, nil, 0
	c.mu.Unlock()
	go func() { // done is never called by a submit, nor by this
		for _, w := range abandoned {
			w.ended(ErrLost)
			w.done(ErrLost)
		}
	}()
}
