package subject

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// maxQueued bounds the items that one subject may have waiting: two hundred of
// the largest batches, some hours of embedding on one core.
const maxQueued = 200_000

// subjectActor is a partition's end of the organization: it holds the partition's hot state, takes in work, in
// order, and owns the children that do it.
type subjectActor struct {
	queueEnds
	workers

	org      *tenant.View
	part     *partition.Ref
	self     *tenant.Child
	pid      *actor.PID
	hot      *partition.Resident // the partition's hot state; nil: the organization has left memory
	openErr  error               // why the queue could not be read
	handled  uint64              // how much of what the organization has sent was dealt with
	inFlight int                 // accepted jobs whose commit is under way
	timer    clock.Timer
	lastWork time.Time
	dead     bool // it has panicked: another activation goes on
	visited  bool // what it was made for is done, and nobody has asked anything of it since
	sessions sessionTurns
}

// New makes the actor of a subject, which its organization spawns as a child and knows as self.
func New(org *tenant.View, part *partition.Ref, self *tenant.Child) *subjectActor {
	return &subjectActor{org: org, part: part, self: self}
}

type (
	// acceptDone is the end of a job's commit.
	acceptDone struct{}
	// workerProgress says that the worker has done the queue up to an entry.
	workerProgress struct{ upTo uint64 }
	// workerIdle says that the worker found the queue empty after the n-th wake.
	workerIdle struct{ wake uint64 }
	// subjectTick is the time to check whether the subject may leave memory.
	subjectTick struct{}
	// evicted says that the partition's index was dropped to make room for others.
	evicted struct{}
)

// Receive implements actor.Actor.
func (a *subjectActor) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			a.dead = true
			a.org.Panicked("subject actor", r)
			if c, ok := ctx.Message().(*tenant.Call); ok {
				c.Fail(fmt.Errorf("panic: %v", r))
			}
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.start(ctx)
	case *actor.Stopping:
		a.stop(ctx)
	case subjectTick:
		a.tick()
		a.arm()
	case evicted:
		if a.hot == nil || a.hot.Empty() { // else it was read again meanwhile
			a.leave()
		}
	case Changed:
		a.workers.changed(ctx)
	case FollowerIdle:
		if a.workers.followed(m); m.Wrote { // straight to the worker, and so that there may be upkeep
			a.wake(ctx)
		}
		a.leaveSoon()
	case FollowNow:
		a.followerBusy = true
		ctx.Send(a.follower, m)
	case JobCancelled:
		ctx.Send(a.follower, m)
	case *MoveStep:
		a.handled++
		a.begin(ctx)
		a.visited = false
		a.workers.step(ctx, m)
	case Leave:
		a.handled++
		a.visited = true
		a.leaveSoon()
	case tenant.WakeMessage:
		a.handled++
		if !a.begin(ctx) {
			a.wake(ctx)
		}
	case sessionDone:
		a.sessions.next()
	case *SyncedItems:
		a.handled++
		a.begin(ctx)
		a.deliver(ctx.Self(), m)
	case acceptDone:
		a.inFlight--
		a.wake(ctx)
	case workerProgress:
		a.first = max(a.first, m.upTo+1)
	case workerIdle:
		a.idle = m.wake == a.woken
		if a.idle && a.inFlight == 0 {
			a.first = a.next // also what was refused or cancelled waits no more
		}
		a.leaveSoon()
	case *tenant.Call:
		a.handled++
		a.begin(ctx)
		a.handle(ctx, m)
	}
}

// start takes the partition's hot state over from the readers that have loaded it, or makes it.
func (a *subjectActor) start(ctx actor.Context) {
	a.lastWork = a.org.System.Clock.Now()
	a.pid = ctx.Self()
	found := false
	if a.hot, found = a.org.Residents.Adopt(a.part.ID, a); !found {
		a.Evicted() // what a reader had is gone again; where there is work its messages come, too
	}
	a.arm()
}

// stop ends the children, and takes the hot state out of memory.
func (a *subjectActor) stop(ctx actor.Context) {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.sessions.drop()
	a.workers.stop(ctx)
	if a.hot != nil {
		a.hot.Release(a)
	}
}

// begin makes the children the first time that there is something to do, and reports whether it did.
func (a *subjectActor) begin(ctx actor.Context) bool {
	if a.work != nil {
		return false
	}
	a.workers.spawn(ctx, a.org, a.part)
	a.openErr = a.open()
	a.wake(ctx) // there may be work from before
	return true
}

// handle begins what a call asks for.
func (a *subjectActor) handle(ctx actor.Context, c *tenant.Call) {
	a.visited = false
	a.lastWork = a.org.System.Clock.Now()
	if a.openErr != nil { // what was wrong then may have passed
		a.openErr = a.open()
	}
	switch {
	case a.dead:
		c.Fail(commit.ErrLost)
		return
	case a.openErr != nil:
		c.Fail(a.openErr)
		return
	case graph.EditOf(c) != nil:
		ctx.Send(a.work, c)
		a.wake(ctx) // behind it there may be upkeep
		return
	}
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_Link:
		if !a.link(ctx.Self(), c, op.Link) {
			c.Fail(fmt.Errorf("operation %T is unknown to a subject", op.Link.GetOp()))
		}
	case *pb.Envelope_Ingest:
		a.accept(ctx.Self(), c, op.Ingest)
	case *pb.Envelope_CancelJob:
		ctx.Send(a.work, cancel{c, op.CancelJob})
	default:
		c.Fail(fmt.Errorf("operation %T is unknown to a subject", op))
	}
}

// tick checks whether the subject may leave memory. Reads do not look at the clock: one counts as done at the tick
// after it.
func (a *subjectActor) tick() {
	now := a.org.System.Clock.Now()
	if a.hot != nil && a.hot.WasRead() {
		a.lastWork = now
	}
	if now.Sub(a.lastWork) >= a.org.System.Config.IdleSubject {
		a.leave()
	}
}

// arm begins the wait for the next tick.
func (a *subjectActor) arm() {
	self, root := a.pid, a.org.System.ActorRoot
	a.timer = a.org.System.Clock.AfterFunc(a.org.System.Config.IdleSubject, func() { root.Send(self, subjectTick{}) })
}

// leave asks the organization to let the actor leave memory, unless it has work.
func (a *subjectActor) leave() {
	if a.workers.atRest() && a.inFlight == 0 {
		a.org.AskRelease(a.part.ID, a.self, a.handled)
	}
}

// leaveSoon lets the actor leave memory where what it was made for is done, and nothing was sent to it since. Who reads
// the partition meanwhile loads it again: the worker's own looks count as reads, so they cannot be told apart.
func (a *subjectActor) leaveSoon() {
	if a.visited {
		a.leave()
	}
}

// Evicted implements partition.Owner.
func (a *subjectActor) Evicted() { a.org.System.ActorRoot.Send(a.pid, evicted{}) }

// SyncedItems is what a sync hands to the actor of a partition: a change that is to be
// committed together with the items of its job.
type SyncedItems struct {
	Change *commit.Change
	Job    *pb.Job
	Items  []*pb.IngestItem
	Done   func(error)
}

// The durable queue of a partition, at its entrance: a job becomes a record and entries of the queue in one commit,
// which the worker takes from there (worker.go).

// queueEnds are the ends of a partition's queue, as the subject's actor knows them.
type queueEnds struct {
	next  uint64 // sequence number of the next queue entry
	first uint64 // lower bound of the oldest that waits
}

// full reports whether the queue has no room for so many items.
func (q *queueEnds) full(items int) bool { return q.next-q.first+uint64(items) > maxQueued }

// open finds the ends of the queue.
func (a *subjectActor) open() error {
	queue := a.part.Space.Prefix(storage.TableQueue)
	return a.org.WithStore(func(st *storage.Store) error {
		for _, end := range []struct {
			reverse bool
			set     func(uint64)
		}{{false, func(s uint64) { a.first = s }}, {true, func(s uint64) { a.next = s + 1 }}} {
			for item, err := range st.Scan(queue, storage.ScanOptions{Reverse: end.reverse, Limit: 1}) {
				if err != nil {
					return err
				}
				seq, err := queueSeq(item.Key)
				if err != nil {
					return err
				}
				end.set(seq)
			}
		}
		a.first, a.next = max(a.first, 1), max(a.next, 1) // 0 stands for "none"
		return nil
	})
}

func queueSeq(k storage.Key) (uint64, error) {
	parts := k.Parts()
	seq := parts.U64()
	return seq, parts.Done()
}

// accept makes a job durable and answers 202.
func (a *subjectActor) accept(self *actor.PID, c *tenant.Call, op *pb.Ingest) {
	kind := pb.JobIngest
	if op.GetBatch() {
		kind = pb.JobIngestBatch
	}
	a.enqueue(self, c, kind, queueOf(op.GetItems()), commit.New(a.org.Store),
		func(job *pb.Job) (*pb.Reply, error) { return tenant.Accepted(job), nil }, nil)
}

// queueOf makes an entry of the queue for each item.
func queueOf(items []*pb.IngestItem) []*pb.QueueEntry {
	entries := make([]*pb.QueueEntry, 0, len(items))
	for _, item := range items {
		entries = append(entries, &pb.QueueEntry{Item: item})
	}
	return entries
}

// enqueue commits a job with its entries of the queue and what else is in the change, and answers the call. prepare may
// change the job, and returns the answer. then, which may be nil, is called with the outcome known, before the call is
// answered.
func (a *subjectActor) enqueue(
	self *actor.PID, c *tenant.Call, kind string, entries []*pb.QueueEntry, ch *commit.Change,
	prepare func(*pb.Job) (*pb.Reply, error), then func(),
) {
	n := len(entries)
	fail := func(err error) {
		if then != nil {
			then()
		}
		c.Fail(err)
	}
	if a.full(n) {
		fail(commit.ErrQueueFull)
		return
	}
	job, err := a.org.NewJob(kind, c.Principal, a.part, n)
	if err != nil {
		fail(err)
		return
	}
	job.QueueSeq, job.Trace = a.next, c.RecordedTrace()
	r, err := prepare(job)
	if err != nil {
		fail(err)
		return
	}
	tenant.PutJob(ch.Batch, a.org.Space, job)
	if err := c.Idempotency.Record(ch.Batch, r); err != nil {
		fail(err)
		return
	}
	a.queue(self, job, entries, ch.In(job.GetTrace()), func(err error) {
		if err != nil {
			fail(err)
			return
		}
		c.JobOpen = false // it is the worker's now
		if then != nil {
			then()
		}
		c.Reply(r)
	})
}

// queue commits a change with the entries of a job, which begin at a.next.
func (a *subjectActor) queue(
	self *actor.PID, job *pb.Job, entries []*pb.QueueEntry, ch *commit.Change, then func(error),
) {
	for i, e := range entries {
		e.Job, e.Index, e.Last = job.GetId(), uint32(i), i == len(entries)-1
		ch.Put(a.part.Space.Key(storage.TableQueue, storage.U64(a.next+uint64(i))), e)
	}
	a.next += uint64(len(entries))
	a.inFlight++
	root := a.org.System.ActorRoot
	a.org.Committer.SubmitChange(ch, func(err error) {
		root.Send(self, acceptDone{})
		then(err)
	})
}

// deliver queues what a sync has fetched.
func (a *subjectActor) deliver(self *actor.PID, d *SyncedItems) {
	a.lastWork = a.org.System.Clock.Now()
	if a.openErr != nil {
		a.openErr = a.open()
	}
	switch {
	case a.dead:
		d.Done(commit.ErrLost)
	case a.openErr != nil:
		d.Done(a.openErr)
	case a.full(len(d.Items)):
		d.Done(commit.ErrQueueFull)
	default:
		entries := queueOf(d.Items)
		d.Job.Total, d.Job.QueueSeq = uint64(len(entries)), a.next
		tenant.UpdateJob(d.Change.Batch, a.org.Space, d.Job)
		a.queue(self, d.Job, entries, d.Change, d.Done)
	}
}
