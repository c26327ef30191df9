package actors

import (
	"fmt"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// eraseLimit bounds one attempt of an erasure: compacting some gigabytes.
	eraseLimit = 10 * time.Minute
	// stopTries is how often the end of a subject's actor is waited for, 10 s each.
	stopTries = 30
	// eraseRetry is the wait before an erasure is tried again.
	eraseRetry = 5 * time.Second
	// maxJobsPerScan bounds the records that one page of a filtered list reads;
	// a page may then be short, and its cursor goes on.
	maxJobsPerScan = 5000
	// jobRetention is how long a finished job can be read.
	jobRetention = 90 * 24 * time.Hour
	// maxSweep bounds what one sweep deletes of each kind: some 10 ms of the
	// mailbox.
	maxSweep = 2000
	// sweepPause is the time between two sweeps while there is more: a million
	// records are gone within ten minutes, at one percent of the mailbox's time.
	sweepPause = time.Second
)

func terminal(status string) bool {
	return status == pb.JobSucceeded || status == pb.JobFailed || status == pb.JobCancelled
}

// newJob makes a job of whoever caused it: it is listed for that member, and what
// it costs is counted for that key.
func (o *orgView) newJob(kind string, who principal, part *partition.Ref, total int) (*pb.Job, error) {
	id, err := o.sys.newUUID()
	if err != nil {
		return nil, err
	}
	s, err := o.settingsOf(part)
	if err != nil {
		return nil, err
	}
	return &pb.Job{
		Id: id[:], Type: kind, Status: pb.JobQueued, User: who.user.Bytes(), Key: who.key[:],
		Partition: part.ID.Bytes(), Subject: string(part.Subject), Unlearned: !s.Learn,
		Total: uint64(total), CreatedMs: clock.Millis(o.sys.clock.Now()),
	}, nil
}

// putJob writes a new job and its indexes.
func putJob(b *storage.Batch, space storage.Space, job *pb.Job) {
	orderTimes(job)
	id := pb.JobID(job.GetId())
	b.Put(space.Key(storage.TableJob, storage.ID16(id)), job)
	b.PutRaw(space.Key(storage.TableJobByTime, storage.U64Desc(uint64(job.GetCreatedMs())), storage.ID16(id)), nil)
	b.PutRaw(space.Key(storage.TableJobOpen, storage.ID16(id)), nil)
}

// orderTimes keeps a job's times in the order of its states. They may come from
// different clocks, of two nodes or of one that was put back, and a moment that was
// read before the job was made may stamp its beginning.
func orderTimes(job *pb.Job) {
	if job.GetStartedMs() != 0 {
		job.StartedMs = max(job.GetStartedMs(), job.GetCreatedMs())
	}
	if job.GetFinishedMs() != 0 {
		job.FinishedMs = max(job.GetFinishedMs(), job.GetStartedMs(), job.GetCreatedMs())
	}
}

// updateJob writes a job that is not finished.
func updateJob(b *storage.Batch, space storage.Space, job *pb.Job) {
	orderTimes(job)
	b.Put(space.Key(storage.TableJob, storage.ID16(pb.JobID(job.GetId()))), job)
}

// endJob writes a job in its terminal state, and what its end causes: the event,
// and what the modules say.
func endJob(c *commit.Change, o *orgView, job *pb.Job) error {
	job.Begun, job.Unclean = "", nil
	updateJob(c.Batch, o.space, job)
	c.Delete(o.space.Key(storage.TableJobOpen, storage.ID16(pb.JobID(job.GetId()))))
	user := c.User
	c.User = job.GetUser()
	defer func() { c.User = user }()
	if job.GetType() == pb.JobSubjectErase {
		return addJobCompleted(c, o, nil, job)
	}
	part, err := o.partitionOf(job)
	if err == nil {
		err = addJobCompleted(c, o, part, job)
	}
	for _, m := range o.modules {
		if err == nil {
			err = m.JobEnded(c, part, job)
		}
	}
	return err
}

// partitionOf is the partition that a job is of, as far as the job says.
func (o *orgView) partitionOf(job *pb.Job) (*partition.Ref, error) {
	id, err := pb.PartitionIDFrom(job.GetPartition())
	if err != nil {
		return nil, err
	}
	return &partition.Ref{ID: id, Subject: pb.SubjectKey(job.GetSubject()), Store: o.store, Space: storage.PartitionSpace(o.store, id)}, nil
}

func accepted(job *pb.Job) *pb.Reply {
	return &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: job.GetId(), Status: pb.JobPending}}}
}

// mayReadJob: a job belongs to the member who caused it, or, for a provisioned
// subject, to the whole team.
func mayReadJob(who principal, job *pb.Job) bool {
	return job.GetSubject() != "" || string(job.GetUser()) == string(who.user[:])
}

// findJob returns a job that the caller may read, or nil.
func (o *orgView) findJob(r storage.Reader, who principal, id string) (*pb.Job, error) {
	job := &pb.Job{}
	jobID, err := pb.ParseJobID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no job
	}
	found, err := r.Get(o.space.Key(storage.TableJob, storage.ID16(jobID)), job)
	if err != nil || !found || !mayReadJob(who, job) {
		return nil, err
	}
	return job, nil
}

func jobNotFound() *pb.Problem { return problem(pb.CodeJobNotFound, "There is no such job of yours.") }

// jobReader answers one job with its items' outcomes. A subject that is selected
// on a subject-aware route is confined to the jobs of its own partition.
func jobReader(c *call, id string, confined bool) func(*storage.Store) (*pb.Reply, error) {
	return func(st *storage.Store) (r *pb.Reply, err error) {
		snap, err := st.Snapshot() // a job and its items of one moment
		if err != nil {
			return nil, err
		}
		defer partition.CloseSnapshot(snap, &err)
		job, err := c.org.findJob(snap, c.who, id)
		if err != nil {
			return nil, err
		}
		if job == nil || confined && string(job.GetPartition()) != string(c.part.ID[:]) {
			return refuse(jobNotFound()), nil
		}
		if err := c.org.readItems(snap, job); err != nil {
			return nil, err
		}
		job.Attempts = attemptsShown(job)
		if terminal(job.GetStatus()) && job.GetType() != pb.JobSubjectErase {
			err = c.org.awaitShown(snap, job)
		}
		return &pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}}, err
	}
}

// awaitShown waits until a search finds what an ended job has brought.
func (o *orgView) awaitShown(r storage.Reader, job *pb.Job) error {
	part, err := o.partitionOf(job)
	if err != nil {
		return err
	}
	state := &pb.PartitionState{}
	if _, err := r.Get(part.Space.Key(storage.TableState), state); err != nil {
		return err
	}
	o.sys.parts.AwaitShown(part, state.GetIndexVersion(), o.sys.clock)
	return nil
}

// readItems fills in the outcomes of a job's items. They lie in the partition,
// so that they are erased with it.
func (o *orgView) readItems(r storage.Reader, job *pb.Job) error {
	if job.GetType() == pb.JobSubjectErase {
		return nil // its partition is gone
	}
	part, err := pb.PartitionIDFrom(job.GetPartition())
	if err != nil {
		return err
	}
	items := storage.PartitionSpace(o.store, part).Prefix(storage.TableJobItem, storage.ID16(pb.JobID(job.GetId())))
	for rec, err := range storage.ScanRecords(r, items, storage.ScanOptions{}, func() *pb.JobItem { return &pb.JobItem{} }) {
		if err != nil {
			return err
		}
		job.Items = append(job.Items, rec.Value)
	}
	return nil
}

// listJobs pages through the jobs that the caller may read, newest first.
func (o *orgView) listJobs(r storage.Reader, who principal, op *pb.ListJobs) (*pb.Reply, error) {
	all := o.space.Prefix(storage.TableJobByTime)
	// The caller is part of the filter: members see different lists.
	kind := cursorKind{list: "jobs", filters: op.GetType() + "\x00" + op.GetStatus() + "\x00" + who.user.String()}
	entries, next, p, err := pageOfKeys(o, r, all, kind, op.GetPage(), maxJobsPerScan, func(item storage.Item) (*pb.Job, bool, error) {
		parts := item.Key.Parts()
		parts.U64Desc()
		id := pb.JobID(parts.ID16())
		if err := parts.Done(); err != nil {
			return nil, false, err
		}
		job := &pb.Job{}
		found, err := r.Get(o.space.Key(storage.TableJob, storage.ID16(id)), job)
		job.Attempts = attemptsShown(job)
		return job, found && mayReadJob(who, job) &&
			(op.GetType() == "" || job.GetType() == op.GetType()) && (op.GetStatus() == "" || job.GetStatus() == op.GetStatus()), err
	})
	if p != nil {
		return refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Jobs{Jobs: &pb.JobList{Jobs: entries, NextCursor: next}}}, err
}

// jobModule answers what became of jobs, and cancels them.
type jobModule struct {
	*orgActor
	noModule
}

func (o *jobModule) Handle(c *call) bool {
	switch op := c.env.GetOp().(type) {
	case *pb.Envelope_JobStatus:
		o.read(c, jobReader(c, op.JobStatus.GetId(), c.env.GetHasSubject()))
	case *pb.Envelope_GetJob:
		o.read(c, jobReader(c, op.GetJob.GetId(), false))
	case *pb.Envelope_ListJobs:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.listJobs(st, c.who, op.ListJobs) })
	case *pb.Envelope_CancelJob:
		o.cancelJob(c, op.CancelJob)
	default:
		return false
	}
	return true
}

// ErasePartition erases the records of a partition's jobs, and what its requests were answered.
func (o *jobModule) ErasePartition(ref *partition.Ref) error {
	if err := o.eraseJobRecords(ref); err != nil {
		return err
	}
	return o.eraseOutcomes(ref)
}

// cancelJob hands a cancellation to the worker that owns the job's progress.
func (o *jobModule) cancelJob(c *call, op *pb.CancelJob) {
	var job *pb.Job
	var part *partition.Ref
	err := o.withStore(func(st *storage.Store) (err error) {
		job, err = o.findJob(st, c.who, op.GetId())
		return err
	})
	if err == nil && job != nil && !terminal(job.GetStatus()) {
		if cancel := o.kindOfJob(job).cancel; cancel != nil && cancel(c, job) {
			return
		}
		var id pb.PartitionID
		if id, err = pb.PartitionIDFrom(job.GetPartition()); err == nil {
			part, err = o.loadPartition(id)
		}
	}
	switch {
	case err != nil:
		c.fail(err)
	case job == nil:
		c.refuse(jobNotFound())
	case part == nil:
		c.refuse(notCancellable(job))
	default:
		o.forward(c, part)
	}
}

func notCancellable(job *pb.Job) *pb.Problem {
	if terminal(job.GetStatus()) {
		return problem(pb.CodeJobNotCancellable, "The job has already ended: %s.", job.GetStatus())
	}
	return problem(pb.CodeJobNotCancellable, "A job of type %s cannot be cancelled.", job.GetType())
}

// resumeJobs wakes the subjects whose jobs a stop or a crash interrupted.
func (o *orgActor) resumeJobs() error {
	if o.record == nil {
		return o.lookBack(nil)
	}
	var open []*pb.Job
	err := o.withStore(func(st *storage.Store) error {
		for item, err := range st.Scan(o.space.Prefix(storage.TableJobOpen), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			id := pb.JobID(parts.ID16())
			if err := parts.Done(); err != nil {
				return err
			}
			job := &pb.Job{}
			found, err := st.Get(o.space.Key(storage.TableJob, storage.ID16(id)), job)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("open job %s: %w", id, errNoRecord)
			}
			open = append(open, job)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("resume jobs: %w", err)
	}
	o.openJobs = len(open)
	if err := o.lookBack(open); err != nil {
		return fmt.Errorf("resume jobs: %w", err)
	}
	for _, job := range open {
		id, err := pb.PartitionIDFrom(job.GetPartition())
		if err != nil {
			return fmt.Errorf("resume jobs: %w", err)
		}
		if resume := o.kindOfJob(job).resume; resume != nil {
			mine, err := resume(job)
			if err != nil {
				return fmt.Errorf("resume jobs: %w", err)
			}
			if mine {
				continue
			}
		}
		part, err := o.loadPartition(id)
		if err != nil {
			return fmt.Errorf("resume jobs: %w", err)
		}
		if part != nil { // nil: it is being erased, and its jobs with it
			o.child(part)
		}
	}
	return nil
}

// expire deletes what has expired: outcomes for replay, finished jobs, and what the
// modules say. Where that is more than one sweep takes, it goes on soon.
func (o *orgActor) expire() {
	if o.failed != nil || o.lost || o.record == nil || o.sweeping {
		return
	}
	now := o.sys.clock.Now()
	b := storage.NewBatch(o.store)
	most := 0
	err := o.withStore(func(st *storage.Store) error {
		outcomes, err := o.sweepOutcomes(st, b, now.Add(-idempotencyRetention))
		if err != nil {
			return err
		}
		jobs, err := o.sweepJobs(st, b, now.Add(-jobRetention))
		if err != nil {
			return err
		}
		most = max(outcomes, jobs)
		for _, m := range o.modules {
			n, err := m.Sweep(st, b, now)
			if err != nil {
				return err
			}
			most = max(most, n)
		}
		return nil
	})
	if err != nil {
		o.sys.log.Error("sweep failed; it is tried again", "org", o.id.String(), "err", err)
		return
	}
	if b.Len() == 0 {
		return
	}
	o.sweeping = true
	o.committer.Submit(b, func(err error) {
		if err != nil {
			o.sys.log.Warn("sweep was not committed; it is tried again", "org", o.id.String(), "err", err)
		} else {
			o.later(func() {
				for _, m := range o.modules {
					m.Swept()
				}
			})
		}
		again := func() { o.tell(func(o *orgActor) { o.sweeping = false; o.expire() }) }
		if err == nil && most == maxSweep {
			o.sys.clock.AfterFunc(sweepPause, again)
			return
		}
		o.tell(func(o *orgActor) { o.sweeping = false })
	})
}

// sweepOutcomes deletes outcomes for replay from before a time, and returns how
// many it has looked at.
func (o *orgActor) sweepOutcomes(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	for item, err := range st.Scan(o.space.Prefix(storage.TableIdempotencyByTime), storage.ScanOptions{Limit: maxSweep}) {
		if err != nil {
			return n, err
		}
		parts := item.Key.Parts()
		at, key := parts.U64(), parts.Hash32()
		if err := parts.Done(); err != nil {
			return n, err
		}
		if int64(at) > before.UnixMilli() {
			break
		}
		n++
		if _, underway := o.idem[idemKey(key)]; underway {
			continue // it is being used again; its new record may be on its way
		}
		b.Delete(item.Key)
		// A key used again after its first record expired has a newer one.
		rec := &pb.Idempotency{}
		recKey := o.space.Key(storage.TableIdempotency, storage.Hash32(key))
		if found, err := st.Get(recKey, rec); err != nil {
			return n, err
		} else if found && rec.GetCreatedMs() == int64(at) {
			b.Delete(recKey)
		}
	}
	return n, nil
}

// sweepJobs deletes finished jobs that began before a time, and returns how many
// it has looked at.
func (o *orgActor) sweepJobs(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	for item, err := range st.Scan(o.space.Prefix(storage.TableJobByTime), storage.ScanOptions{Reverse: true, Limit: maxSweep}) {
		if err != nil {
			return n, err
		}
		parts := item.Key.Parts()
		at, id := parts.U64Desc(), pb.JobID(parts.ID16())
		if err := parts.Done(); err != nil {
			return n, err
		}
		if int64(at) > before.UnixMilli() {
			break
		}
		n++
		job := &pb.Job{}
		if found, err := st.Get(o.space.Key(storage.TableJob, storage.ID16(id)), job); err != nil {
			return n, err
		} else if !found || !terminal(job.GetStatus()) {
			continue
		}
		b.Delete(item.Key)
		b.Delete(o.space.Key(storage.TableJob, storage.ID16(id)))
		if part, err := pb.PartitionIDFrom(job.GetPartition()); err == nil {
			b.DeleteRange(storage.PartitionSpace(o.store, part).Prefix(storage.TableJobItem, storage.ID16(id)))
		}
	}
	return n, nil
}

// jobsEnded counts jobs whose end is committed.
func (o *orgView) jobsEnded(ids ...pb.JobID) {
	if len(ids) == 0 {
		return
	}
	o.tell(func(o *orgActor) { o.openJobs -= len(ids) })
	for _, id := range ids {
		o.sys.cfg.jobFinished(id)
	}
}

// addJobCompleted adds the event that the end of a job causes. part is nil where the
// job has erased its partition: there is nobody left whom it would concern but the
// organization.
func addJobCompleted(c *commit.Change, o *orgView, part *partition.Ref, job *pb.Job) error {
	return c.Event(o, pb.EventJobCompleted, part, map[string]any{
		"jobId": pb.JobID(job.GetId()).String(), "jobType": job.GetType(), "status": job.GetStatus(), "subject": part.EventSubject(),
	})
}

// eraseJobRecords erases the records of a partition's jobs, the unfinished ones
// too, but for those that erase it.
func (o *orgView) eraseJobRecords(ref *partition.Ref) error {
	dropped := 0
	return eraseRecords(o, storage.TableJob, func() *pb.Job { return &pb.Job{} }, func(b *storage.Batch, key storage.Key, job *pb.Job) (bool, error) {
		if string(job.GetPartition()) != string(ref.ID[:]) || job.GetType() == pb.JobSubjectErase {
			return false, nil
		}
		id, err := pb.JobIDFrom(job.GetId())
		if err != nil {
			return false, err
		}
		if !terminal(job.GetStatus()) {
			dropped++
		}
		b.Erase(key)
		b.Delete(o.space.Key(storage.TableJobByTime, storage.U64Desc(uint64(job.GetCreatedMs())), storage.ID16(id)))
		b.Delete(o.space.Key(storage.TableJobOpen, storage.ID16(id)))
		return true, nil
	}, func() {
		n := dropped
		dropped = 0
		o.tell(func(o *orgActor) { o.openJobs -= n })
	})
}
