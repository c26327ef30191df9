package subject

import (
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// attempt is the one that the slice that runs has begun at the job at the head of the queue.
type attempt struct {
	job   pb.JobID
	noted chan error    // says that its beginning is stored; nil: it was before
	spans tracing.Spans // of the slice, in the traces of its jobs
}

// note stores that the attempts of a slice have begun, without waiting for the commit. If it is lost, so is the commit
// of what the slice does.
func (a *attempt) note(org *tenant.View, b *storage.Batch) {
	a.noted = nil
	if b.Len() > 0 {
		noted := make(chan error, 1)
		a.noted = noted
		org.Committer.Submit(b, func(err error) { noted <- err })
	}
}

// failed counts the attempt as one that failed.
func (a *attempt) failed(org *tenant.View) {
	var err error
	if a.noted != nil {
		err = <-a.noted
	}
	b := storage.NewBatch(org.Store)
	if err == nil {
		err = org.WithStore(func(st *storage.Store) error { return org.FailAttempt(st, b, a.job) })
	}
	if err == nil && b.Len() > 0 {
		err = org.Committer.Commit(b)
	}
	if err != nil && !tenant.Superseded(err) {
		org.System.Log.Warn("a failed attempt is not counted", "org", org.ID.String(), "job", a.job.String(), "err", err)
	}
}
