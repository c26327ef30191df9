package account

import (
	"cmp"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// purgeWork is what a purge writes: as a rule one commit. Where an organization
// has more than one takes, it is several, each of which leaves it whole: first
// outcomes go, then jobs end as if they had been cancelled, then memories go. The
// first spends the token and says that the purge is decided upon, the last that it
// is done: whatever comes between, it is carried to its end (complete).
type purgeWork struct {
	org   *tenant.View
	purge *purge
	now   int64
	parts map[pb.PartitionID]*partition.Ref
	*commit.Change
	ending []pb.JobID // with this commit
	ended  []pb.JobID
	// waited are the events that coding sessions count as waiting and that will not
	// be taken in: their jobs end with this commit.
	waited map[pb.PartitionID]uint64
}

func newPurgeWork(o *tenant.View, p *purge) *purgeWork {
	d := &purgeWork{org: o, purge: p, now: clock.Millis(o.System.Clock.Now()), parts: map[pb.PartitionID]*partition.Ref{}}
	for _, part := range p.parts {
		d.parts[part.ID] = part
	}
	d.begin()
	tenant.ModuleOf[*training.Module](o).Serving.Void() // what a training under way has read may be what goes
	return d
}

func (d *purgeWork) begin() {
	d.Change, d.ending, d.waited = commit.New(d.org.Store), nil, map[pb.PartitionID]uint64{}
	d.User = d.purge.run.GetUser()
}

func (d *purgeWork) run(counts map[string]uint64) error {
	err := d.org.WithStore(func(st *storage.Store) error {
		if err := d.eraseOutcomes(st); err != nil {
			return err
		}
		return d.endJobs(st)
	})
	for _, part := range d.purge.parts {
		if err != nil {
			return err
		}
		before, behind := part.Space.All().Around(part.Space.Key(storage.TableSettings)) // they are no memory
		d.EraseRange(before)
		d.EraseRange(behind)
		err = d.spill()
	}
	if err != nil {
		return err
	}
	if d.purge.org {
		d.Delete(d.org.Space.Key(storage.TableTraining))
		d.EraseRange(d.org.Space.Prefix(storage.TableBrain))
		d.EraseRange(d.org.Space.Prefix(storage.TableBrainPiece))
		d.EraseRange(d.org.Space.Prefix(storage.TableOrgQuality))
		err = graph.AddGraphUpdated(d.Change, d.org, nil, graph.ChangePurged, "", int(counts["vault_nodes"]))
	} else {
		if err := d.forgetCheckpoint(); err != nil {
			return err
		}
		err = graph.AddGraphUpdated(d.Change, d.org, d.purge.parts[0], graph.ChangePurged, "", int(counts["vault_nodes"]))
	}
	if err != nil {
		return err
	}
	run := d.purge.run
	d.Audit(&pb.Audit{
		AtMs: d.now, KeyHash: run.GetKeyHash(), User: run.GetUser(), Partition: run.GetActsFor(), Action: pb.ActionPurge,
		Target:    d.purge.target(),
		RequestId: run.GetRequest(),
	})
	err = d.org.WithStore(func(st *storage.Store) error { return d.org.Modules.BeforeForget(d.Batch, st, d.purge.of()) })
	if err != nil {
		return err
	}
	d.decide()
	d.purge.finish(d.Batch, d.now)
	return d.commit()
}

// decide puts the decision into the first commit.
func (d *purgeWork) decide() {
	if d.purge.decided {
		return
	}
	d.Delete(d.purge.ticket)
	d.Put(d.purge.key, d.purge.run)
}

// forgetCheckpoint lets a training that is under way begin anew: what it has learned
// so far it may have learned of what goes.
func (d *purgeWork) forgetCheckpoint() error {
	return d.org.WithStore(func(st *storage.Store) error {
		key, state := d.org.Space.Key(storage.TableTraining), &pb.Training{}
		if _, err := st.Get(key, state); err != nil || state.GetCheckpoint() == nil {
			return err
		}
		state.Checkpoint, state.Progress = nil, 0
		d.Put(key, state)
		return nil
	})
}

// spill commits what is gathered where that is much: what comes then needs room,
// too.
func (d *purgeWork) spill() error {
	if d.Bytes() < cmp.Or(d.org.System.Config.PieceBytes, graph.MaxPieceBytes) && len(d.Events) < purgeEvents {
		return nil
	}
	err := d.org.WithStore(func(st *storage.Store) error {
		for id, n := range d.waited {
			if err := subject.AddToCounter(st, d.Batch, d.parts[id], subject.CounterDone, n, 0, d.now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.decide()
	if err := d.commit(); err != nil {
		return err
	}
	d.begin()
	return nil
}

func (d *purgeWork) commit() error {
	d.Finishes = d.purge.decided // nobody may see it half done, also where the disk has filled up meanwhile
	if err := d.org.Committer.CommitChange(d.Change); err != nil {
		return err
	}
	d.purge.decided = true
	d.ended = append(d.ended, d.ending...)
	return nil
}

// eraseOutcomes erases what requests to the memories were answered.
func (d *purgeWork) eraseOutcomes(st storage.Reader) error {
	for rec, err := range storage.ScanRecords(st, d.org.Space.Prefix(storage.TableIdempotency), storage.ScanOptions{},
		func() *pb.Idempotency { return &pb.Idempotency{} }) {
		if err != nil {
			return err
		}
		part, err := pb.PartitionIDFrom(rec.Value.GetPartition())
		if err != nil {
			return err
		}
		if ref := d.parts[part]; ref != nil && tenant.EraseOf(d.Batch, rec.Key, rec.Value, ref) {
			if err := d.spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// endJobs cancels the memories' jobs. The records stay, without the words of an
// error, which may quote what is gone.
func (d *purgeWork) endJobs(st storage.Reader) error {
	for rec, err := range storage.ScanRecords(st, d.org.Space.Prefix(storage.TableJob), storage.ScanOptions{},
		func() *pb.Job { return &pb.Job{} }) {
		if err != nil {
			return err
		}
		job := rec.Value
		id, err := pb.PartitionIDFrom(job.GetPartition())
		if err != nil {
			return err
		}
		part, open := d.parts[id], !tenant.Terminal(job.GetStatus())
		if part == nil || job.GetType() == pb.JobSubjectErase || job.GetType() == pb.JobExport ||
			job.GetType() == pb.JobQuality || !open && job.GetErrorDetail() == "" {
			continue
		}
		d.Erase(rec.Key) // the record that is written behind it is the only one that is left
		if job.ErrorDetail != "" {
			job.ErrorDetail = "The memory was purged."
		}
		if open {
			err = d.endJob(part, job)
		} else {
			tenant.UpdateJob(d.Batch, d.org.Space, job)
		}
		if err == nil {
			err = d.spill()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endJob cancels a job, whose entries leave the queue with it.
func (d *purgeWork) endJob(part *partition.Ref, job *pb.Job) error {
	job.Status, job.FinishedMs = pb.JobCancelled, d.now
	if job.GetType() != pb.JobCognition { // which has nothing in the queue
		d.DeleteRange(subject.QueuedOf(part, job)) // the bytes leave the files with the memory
	}
	if job.GetSession() {
		d.waited[part.ID] += job.GetTotal() - job.GetDone()
	}
	d.ending = append(d.ending, pb.JobID(job.GetId()))
	return tenant.EndJob(d.Change, d.org, job)
}
