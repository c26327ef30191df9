package actors

import (
	"fmt"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	pb "orgmem/proto"
	"orgmem/storage"
)

// maxQueued bounds the items that one subject may have waiting: two hundred of
// the largest batches, some hours of embedding on one core.
const maxQueued = 200_000

// subjectActor is a partition's end of the organization: it takes in work, in
// order, and owns the child that does it.
type subjectActor struct {
	org   *orgView
	part  *partitionRef
	self  *child
	ctx   actor.Context
	next  uint64 // sequence number of the next queue entry
	first uint64 // lower bound of the oldest that waits
	bad   error  // why the queue could not be read
	work  *actor.PID
	busy  bool // the worker has something to do
}

func newSubjectActor(org *orgView, part *partitionRef, self *child) *subjectActor {
	return &subjectActor{org: org, part: part, self: self}
}

// workerIdle is the worker's word that its queue is empty up to an entry.
type workerIdle struct{ upTo uint64 }

// Receive implements actor.Actor.
func (a *subjectActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.ctx = ctx
		a.bad = a.open()
		props := actor.PropsFromProducer(func() actor.Actor { return newWorker(a.org, a.part, ctx.Self()) })
		a.work = ctx.Spawn(props)
		ctx.SetReceiveTimeout(a.org.sys.cfg.IdleSubject)
		if a.next > a.first || a.bad == nil {
			a.busy = true // the worker looks at the queue once in any case
		}
	case *actor.ReceiveTimeout:
		if !a.busy {
			id, self := a.part.id, a.self
			a.org.tell(func(o *orgActor) { o.releaseSubject(id, self) })
		}
	case workerIdle:
		if m.upTo+1 == a.next || a.next == 0 {
			a.busy = false
			a.first = a.next
		} else {
			ctx.Send(a.work, wake{})
		}
	case *call:
		defer func() {
			if r := recover(); r != nil {
				a.org.sys.log.Error("subject actor panicked", "org", a.org.id.String(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				m.fail(fmt.Errorf("panic: %v", r))
				panic(r)
			}
		}()
		if a.bad != nil {
			m.fail(a.bad)
			return
		}
		switch op := m.env.GetOp().(type) {
		case *pb.Envelope_Ingest:
			a.accept(m, op.Ingest)
		case *pb.Envelope_CancelJob:
			a.busy = true
			ctx.Send(a.work, cancel{m, op.CancelJob})
		default:
			m.fail(fmt.Errorf("operation %T is unknown to a subject", op))
		}
	}
}

// open finds the ends of the queue.
func (a *subjectActor) open() error {
	queue := a.part.space.Prefix(storage.TableQueue)
	return a.org.withStore(func(st *storage.Store) error {
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
func (a *subjectActor) accept(c *call, op *pb.Ingest) {
	n := len(op.GetItems())
	if a.next-a.first+uint64(n) > maxQueued {
		c.fail(errCommitQueueFull)
		return
	}
	kind := jobIngest
	if op.GetBatch() {
		kind = jobIngestBatch
	}
	job, err := a.org.newJob(kind, c.who.user, a.part, n)
	if err != nil {
		c.fail(err)
		return
	}
	job.QueueSeq = a.next
	b := storage.NewBatch(a.org.store)
	putJob(b, a.org.space, job)
	for i, item := range op.GetItems() {
		b.Put(a.part.space.Key(storage.TableQueue, storage.U64(a.next+uint64(i))), &pb.QueueEntry{
			Job: job.GetId(), Index: uint32(i), Last: i == n-1, Item: item,
		})
	}
	r := accepted(job)
	if err := c.idem.record(b, r); err != nil {
		c.fail(err)
		return
	}
	a.next += uint64(n)
	a.busy = true
	root, work := a.org.sys.root, a.work
	a.org.committer.submit(b, func(err error) {
		if err != nil {
			c.fail(err)
			return
		}
		c.jobOpen = false // it is the worker's now
		root.Send(work, wake{})
		c.reply(r)
	})
}
