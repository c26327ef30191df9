package subject

import (
	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

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
	job.QueueSeq = a.next
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
	a.queue(self, job, entries, ch, func(err error) {
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
