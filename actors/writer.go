package actors

import (
	"errors"
	"fmt"

	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

// The one writer of a partition. What the queue and the edits come to is gathered in an effect; here it is made true:
// nodes, index, outcomes, jobs and the removal from the queue in one commit, then what readers see.

// apply commits the effects of a slice, its outcomes and its removal from the
// queue in one batch, and publishes the new index, which it returns with the
// number of items that it dealt with.
func (w *worker) apply(now *partition.Index, e partition.Embedder, items []prepared, jobs map[pb.JobID]*pb.Job) (n int, next *partition.Index, err error) {
	var f *effect
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

// settle makes an effect true: its nodes, the index that follows from it and the
// head of the partition in one commit, then what readers see.
func (w *worker) settle(f *effect, now *partition.Index, e partition.Embedder) (next *partition.Index, err error) {
	if !f.derives() { // a cycle counts by itself
		if err := f.countDomains(); err != nil {
			return nil, err
		}
	}
	for _, id := range f.changed {
		drift.MoveNode(f.state, f.shares[id], drift.ShareOf(f.nodes[id]))
		if f.nodes[id] == nil {
			continue // it is removed
		}
		putNode(f.batch.Batch, w.part.Space, f.places[id], f.nodes[id])
	}
	f.putEntities()
	next = &partition.Index{Snapshot: now.Snapshot, State: f.state, Stale: now.Stale}
	if len(f.entries)+len(f.hide)+len(f.show)+len(f.gone) > 0 {
		snapshot := now.Snapshot.ForgetSeqs(f.gone...)
		if len(f.entries) > 0 {
			var seg *index.Segment
			err := w.compute(func(int) (err error) {
				seg, err = f.segment(e.Dim())
				return err
			})
			switch {
			case errors.Is(err, node.ErrClosing):
				return nil, err
			case err != nil:
				return nil, itemError{err}
			}
			snapshot = snapshot.With(0, seg)
		}
		next.Snapshot = snapshot.Hide(f.hide...).Show(f.show...)
		putLiveness(f.batch.Batch, w.part, now.Snapshot, next.Snapshot)
		f.state.IndexVersion++
	}
	if len(f.forgotten) > 0 {
		f.markForgotten(now)
	}
	f.leaveWork()
	f.batch.Put(w.part.Space.Key(storage.TableState), f.state)
	for _, b := range f.stage {
		if err := w.org.Committer.Commit(b); err != nil {
			return nil, err
		}
		w.org.System.Config.PieceDone()
	}
	if f.forgets {
		err := w.org.WithStore(func(st *storage.Store) error { return w.org.BeforeForget(f.batch.Batch, st, w.part) })
		if err != nil {
			return nil, err
		}
		defer w.org.AfterForget(w.part) // whatever comes of the commit
	}
	if err := w.org.Committer.CommitChange(f.batch); errors.Is(err, storage.ErrBatchTooLarge) {
		return nil, itemError{err}
	} else if err != nil {
		return nil, err
	}
	w.show(next)
	if f.state.GetChanges() != f.changesBefore {
		w.org.System.Root.Send(w.parent, changed{})
	}
	return next, nil
}

// effects applies items until one is not prepared, and returns how many that
// were and which jobs are finished by them.
func (w *worker) effects(st *storage.Store, now *partition.Index, e partition.Embedder, items []prepared, jobs map[pb.JobID]*pb.Job) (_ *effect, n int, finished []pb.JobID, err error) {
	f := newEffect(w.org, w.part, now, e)
	f.st, f.state.Model = st, e.ID()
	f.batch.User = jobs[pb.JobID(items[0].GetJob())].GetUser()
	var sessionEvents, sessionNodes uint64
	for i := range items {
		it := &items[i]
		id := pb.JobID(it.GetJob())
		job := jobs[id]
		f.job, f.file = job, it.GetItem().GetFile()
		outcome := &pb.JobItem{Index: it.GetIndex(), ExternalId: it.GetItem().GetExternalId()}
		if it.GetForgotten() {
			outcome.Status, outcome.Error = pb.ItemFailed, "its content was forgotten before it was stored"
			job.ErrorCode, job.ErrorDetail = pb.ErrorForgotten, outcome.Error
		} else if reason := it.GetItem().GetRefused(); reason != "" {
			outcome.Status, outcome.Error = pb.ItemFailed, reason
			job.ErrorCode, job.ErrorDetail = pb.CodeValidation, outcome.Error
		} else if it.err != nil {
			outcome.Status, outcome.Error = pb.ItemFailed, fmt.Sprintf("the item could not be processed in %d attempts", tenant.MaxAttempts)
			switch {
			case errors.Is(it.err, tenant.ErrUnclean):
				outcome.Error = tenant.ErrUnclean.Error()
			case errors.Is(it.err, errUnknownWork):
				outcome.Error = "it is work of a kind that this version of the service does not know"
			case it.GetWork() == workSessionFinalize:
				outcome.Error = fmt.Sprintf("the coding sessions could not be finalized in %d attempts", tenant.MaxAttempts)
			}
			job.ErrorCode, job.ErrorDetail = pb.CodeInternal, outcome.Error
		} else {
			status, err := f.apply(it)
			if errors.Is(err, errNotPrepared) && i > 0 {
				break
			}
			if err != nil {
				return nil, 0, nil, fmt.Errorf("apply item %d of job %s: %w", it.GetIndex(), id, err)
			}
			outcome.Status, outcome.Node = status, string(it.node)
			f.charge(pb.CapabilityIngest, pb.KeyHash(job.GetKey()))
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
		f.batch.Put(w.part.Space.Key(storage.TableJobItem, storage.ID16(id), storage.U32(it.GetIndex())), outcome)
		f.batch.Delete(w.part.Space.Key(storage.TableQueue, storage.U64(it.seq)))
		job.Done++
		w.org.GotOn(job)
		if job.GetDone() == job.GetTotal() && it.err != nil && !errors.Is(it.err, tenant.ErrUnclean) {
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
			tenant.UpdateJob(f.batch.Batch, w.org.Space, job)
			continue
		}
		finished = append(finished, id)
		job.FinishedMs = f.now
		job.Status = pb.JobSucceeded
		if job.GetFailed() == job.GetTotal() {
			job.Status = pb.JobFailed
		} else {
			job.ErrorCode, job.ErrorDetail = "", "" // the items tell
		}
		if err := tenant.EndJob(f.batch, w.org, job); err != nil {
			return nil, 0, nil, err
		}
	}
	if err := f.announce(jobs); err != nil {
		return nil, 0, nil, err
	}
	return f, n, finished, nil
}
