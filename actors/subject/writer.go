package subject

import (
	"errors"
	"fmt"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// The one writer of a partition. A transaction (graph.Tx) gathers what the queue and the edits come to. Here it is
// committed: nodes, index, outcomes, jobs and the removal from the queue in one batch. Then readers see it.

// apply commits the transaction of a slice, with outcomes and the removal from the queue, and publishes the index. It
// returns the index, and the number of items that are done.
func (w *worker) apply(
	now *partition.Index, e partition.Embedder, items []graph.Prepared, jobs map[pb.JobID]*pb.Job,
) (n int, next *partition.Index, err error) {
	var f *graph.Tx
	var finished []pb.JobID
	err = w.org.WithStore(func(st *storage.Store) (err error) {
		f, n, finished, err = w.effects(st, now, e, items, jobs)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	if next, err = w.settle(f, now, e); err != nil {
		return 0, nil, err
	}
	w.org.System.Counters.ItemsIngested.Add(uint64(n))
	w.org.JobsEnded(finished...)
	return n, next, nil
}

// settle commits a transaction, and then shows readers the index that follows from it.
func (w *worker) settle(f *graph.Tx, now *partition.Index, e partition.Embedder) (next *partition.Index, err error) {
	compute := func(task func(int) error) error { return causedByItems(w.index.compute(task)) }
	spans := w.org.System.Config.Tracer.StartAll(f.Batch.Traces, tracing.StepIndex)
	next, err = f.Finish(now, e.Dim(), compute)
	spans.FailedIf(err)
	spans.End()
	if err != nil {
		return nil, err
	}
	for _, b := range f.StagedBatches {
		if err := w.org.Committer.Commit(b); err != nil {
			return nil, err
		}
		w.org.System.Config.PieceCommitted()
	}
	if f.TouchesExports {
		err := w.org.WithStore(func(st *storage.Store) error { return w.org.Modules.BeforeForget(f.Batch.Batch, st, w.part) })
		if err != nil {
			return nil, err
		}
		defer w.org.Modules.AfterForget(w.part) // whatever comes of the commit
	}
	if err := w.org.Committer.CommitChange(f.Batch); errors.Is(err, storage.ErrBatchTooLarge) {
		return nil, itemError{err}
	} else if err != nil {
		return nil, err
	}
	w.index.show(next)
	if f.HasNews {
		w.org.System.ActorRoot.Send(w.parent, Changed{})
	}
	return next, nil
}

// causedByItems makes an error of a computation that of the items it was about, unless the service is closing.
func causedByItems(err error) error {
	if err == nil || errors.Is(err, node.ErrClosing) {
		return err
	}
	return itemError{err}
}

// effects applies items until one is not prepared. It returns how many those were, and the jobs that are finished with
// them.
func (w *worker) effects(
	st *storage.Store, now *partition.Index, e partition.Embedder, items []graph.Prepared, jobs map[pb.JobID]*pb.Job,
) (_ *graph.Tx, n int, finished []pb.JobID, err error) {
	f := graph.NewTx(w.org, w.part, now, e)
	f.Store, f.State.Model = st, e.ID()
	f.Batch.User = jobs[pb.JobID(items[0].GetJob())].GetUser()
	f.Batch.Traces = w.attempt.spans.Contexts()
	var sessionEvents, sessionNodes uint64
	for i := range items {
		it := &items[i]
		id := pb.JobID(it.GetJob())
		job := jobs[id]
		f.Job, f.History.ImportFile = job, it.GetItem().GetFile()
		outcome := &pb.JobItem{Index: it.GetIndex(), ExternalId: it.GetItem().GetExternalId()}
		if it.GetForgotten() {
			outcome.Status, outcome.Error = pb.ItemFailed, "its content was forgotten before it was stored"
			job.ErrorCode, job.ErrorDetail = pb.ErrorForgotten, outcome.Error
		} else if reason := it.GetItem().GetRefused(); reason != "" {
			outcome.Status, outcome.Error = pb.ItemFailed, reason
			job.ErrorCode, job.ErrorDetail = pb.CodeValidation, outcome.Error
		} else if it.Err != nil {
			outcome.Status, outcome.Error = pb.ItemFailed,
				fmt.Sprintf("the item could not be processed in %d attempts", tenant.MaxAttempts)
			switch {
			case errors.Is(it.Err, tenant.ErrUnclean):
				outcome.Error = tenant.ErrUnclean.Error()
			case errors.Is(it.Err, errUnknownWork):
				outcome.Error = "it is work of a kind that this version of the service does not know"
			case it.GetWork() == pb.JobSessionFinalize:
				outcome.Error = fmt.Sprintf("the coding sessions could not be finalized in %d attempts", tenant.MaxAttempts)
			}
			job.ErrorCode, job.ErrorDetail = pb.CodeInternal, outcome.Error
		} else {
			status, err := f.Apply(it)
			if errors.Is(err, graph.ErrNotPrepared) && i > 0 {
				break
			}
			if refused, ok := errors.AsType[graph.RefusedError](err); ok {
				outcome.Status, outcome.Error = pb.ItemFailed, refused.Reason
				job.ErrorCode, job.ErrorDetail = pb.CodeValidation, outcome.Error
			} else if err != nil {
				return nil, 0, nil, fmt.Errorf("apply item %d of job %s: %w", it.GetIndex(), id, err)
			} else {
				outcome.Status, outcome.Node = status, string(it.Node)
				f.Charge(pb.CapabilityIngest, pb.KeyHash(job.GetKey()))
			}
		}
		n++
		if outcome.Status == pb.ItemCreated {
			job.Created++
		}
		if job.GetSession() {
			sessionEvents++
			if outcome.Status == pb.ItemCreated {
				sessionNodes++
			}
		}
		f.Batch.Put(w.part.Space.Key(storage.TableJobItem, storage.ID16(id), storage.U32(it.GetIndex())), outcome)
		f.Batch.Delete(w.part.Space.Key(storage.TableQueue, storage.U64(it.Seq)))
		job.Done++
		w.org.NoteProgress(job)
		if job.GetDone() == job.GetTotal() && it.Err != nil && !errors.Is(it.Err, tenant.ErrUnclean) {
			job.Attempts = tenant.MaxAttempts
		}
		if outcome.Status == pb.ItemFailed {
			job.Failed++
		}
	}
	if err := countSessions(f, sessionEvents, sessionNodes); err != nil {
		return nil, 0, nil, err
	}
	for id, job := range jobs {
		if job.GetDone() < job.GetTotal() {
			tenant.UpdateJob(f.Batch.Batch, w.org.Space, job)
			continue
		}
		finished = append(finished, id)
		job.FinishedMs = f.NowMs
		job.Status = pb.JobSucceeded
		if job.GetFailed() == job.GetTotal() {
			job.Status = pb.JobFailed
		} else {
			job.ErrorCode, job.ErrorDetail = "", "" // the items tell
		}
		if err := tenant.EndJob(f.Batch, w.org, job); err != nil {
			return nil, 0, nil, err
		}
	}
	if err := f.History.Announce(jobs); err != nil {
		return nil, 0, nil, err
	}
	return f, n, finished, nil
}
