package subject

import (
	"slices"
	"sync/atomic"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// cancel is a request to cancel a job.
type cancel struct {
	call *tenant.Call
	op   *pb.CancelJob
}

// cancellations are the requests that wait for the slice that runs to end.
type cancellations struct {
	waiting   []cancel
	requested atomic.Pointer[[]pb.JobID] // their jobs, for the slice to see
}

// request tells the slice that runs to end, if it has items of the job.
func (c *cancellations) request(id pb.JobID) {
	ids := []pb.JobID{id}
	if before := c.requested.Load(); before != nil {
		ids = append(ids, *before...)
	}
	c.requested.Store(&ids)
}

// concern reports whether a job of the slice is to be cancelled. It may be called from any goroutine.
func (c *cancellations) concern(items []graph.Prepared) bool {
	requested := c.requested.Load()
	return requested != nil && slices.ContainsFunc(items, func(it graph.Prepared) bool {
		return slices.Contains(*requested, pb.JobID(it.GetJob()))
	})
}

// each has all that wait answered.
func (c *cancellations) each(answer func(cancel)) {
	for _, m := range c.waiting {
		answer(m)
	}
	c.waiting = nil
}

// settleCancels carries out cancellations between two slices.
func (w *worker) settleCancels() {
	w.cancels.each(w.cancelNow)
}

// QueuedOf is where the entries of a job lie in the queue.
func QueuedOf(part *partition.Ref, job *pb.Job) storage.Range {
	return storage.Between(
		part.Space.Key(storage.TableQueue, storage.U64(job.GetQueueSeq())),
		part.Space.Key(storage.TableQueue, storage.U64(job.GetQueueSeq()+job.GetTotal())),
	)
}

// cancelNow ends a job. What it has done stays, and the rest of its entries leave the queue.
func (w *worker) cancelNow(m cancel) {
	c := m.call
	var job *pb.Job
	err := w.org.WithStore(func(st *storage.Store) (err error) {
		if job, err = w.org.FindJob(st, c.Principal, m.op.GetId()); err == nil && job != nil {
			err = w.org.ReadItems(st, job)
		}
		return err
	})
	switch {
	case err != nil:
		c.Fail(err)
		return
	case job == nil:
		c.Refuse(tenant.JobNotFound())
		return
	case tenant.Terminal(job.GetStatus()):
		c.Refuse(tenant.NotCancellable(job))
		return
	}
	items := job.Items
	job.Items = nil
	job.Status, job.FinishedMs = pb.JobCancelled, clock.Millis(w.org.System.Clock.Now())
	b := commit.New(w.org.Store)
	if err := tenant.EndJob(b, w.org, job); err != nil {
		c.Fail(err)
		return
	}
	if job.GetType() != pb.JobCognition { // which has nothing in the queue
		b.DeleteRange(QueuedOf(w.part, job))
	}
	if job.GetSession() {
		err := w.org.WithStore(func(st *storage.Store) error {
			return AddToCounter(st, b.Batch, w.part, CounterDone, job.GetTotal()-job.GetDone(), 0, job.GetFinishedMs())
		})
		if err != nil {
			c.Fail(err)
			return
		}
	}
	// Waiting here is short, and nothing else may touch the job meanwhile.
	if err := w.org.Committer.CommitChange(b); err != nil {
		c.Fail(err)
		return
	}
	w.org.JobsEnded(pb.JobID(job.GetId()))
	if job.GetType() == pb.JobCognition {
		w.ctx.Send(w.parent, JobCancelled{pb.JobID(job.GetId())})
	}
	job.Items = items
	c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
}
