package tenant

import (
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
	// EraseRetry is the wait before an erasure is tried again.
	EraseRetry = 5 * time.Second
	// maxJobsPerScan bounds the records that one page of a filtered list reads;
	// a page may then be short, and its cursor goes on.
	maxJobsPerScan = 5000
	// JobRetention is how long a finished job can be read.
	JobRetention = 90 * 24 * time.Hour
	// MaxSweep bounds what one sweep deletes of each kind: some 10 ms of the
	// mailbox.
	MaxSweep = 2000
	// SweepPause is the time between two sweeps while there is more: a million
	// records are gone within ten minutes, at one percent of the mailbox's time.
	SweepPause = time.Second
)

// Terminal reports whether a job of that status has ended.
func Terminal(status string) bool {
	return status == pb.JobSucceeded || status == pb.JobFailed || status == pb.JobCancelled
}

// settingsOf are the settings of a partition, for a caller that holds no store.
func (o *View) settingsOf(part *partition.Ref) (s partition.Settings, err error) {
	err = o.WithStore(func(st *storage.Store) error {
		s, err = o.Residents.Settings(st, part)
		return err
	})
	return s, err
}

// NewJob makes a job of the member who caused it: it is listed for that member, and what
// it costs is counted for that key.
func (o *View) NewJob(kind string, who Principal, part *partition.Ref, total int) (*pb.Job, error) {
	id, err := o.System.NewUUID()
	if err != nil {
		return nil, err
	}
	s, err := o.settingsOf(part)
	if err != nil {
		return nil, err
	}
	return &pb.Job{
		Id: id[:], Type: kind, Status: pb.JobQueued, User: who.User.Bytes(), Key: who.Key[:],
		Partition: part.ID.Bytes(), Subject: string(part.Subject), Unlearned: !s.Learn,
		Total: uint64(total), CreatedMs: clock.Millis(o.System.Clock.Now()),
	}, nil
}

// PutJob writes a new job and its indexes.
func PutJob(b *storage.Batch, space storage.Space, job *pb.Job) {
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

// UpdateJob writes a job that is not finished.
func UpdateJob(b *storage.Batch, space storage.Space, job *pb.Job) {
	orderTimes(job)
	b.Put(space.Key(storage.TableJob, storage.ID16(pb.JobID(job.GetId()))), job)
}

// EndJob writes a job in its terminal state, and what its end causes: the event,
// and what the modules say.
func EndJob(c *commit.Change, o *View, job *pb.Job) error {
	job.Begun, job.Unclean = "", nil
	UpdateJob(c.Batch, o.Space, job)
	c.Delete(o.Space.Key(storage.TableJobOpen, storage.ID16(pb.JobID(job.GetId()))))
	user, before := c.User, len(c.Events)
	c.User = job.GetUser()
	defer func() {
		c.User = user
		for _, e := range c.Events[before:] {
			e.Trace = job.GetTrace()
		}
	}()
	if job.GetType() == pb.JobSubjectErase {
		return addJobCompleted(c, o, nil, job)
	}
	part, err := o.PartitionOf(job)
	if err == nil {
		err = addJobCompleted(c, o, part, job)
	}
	for _, m := range o.Modules {
		if err == nil {
			err = m.JobEnded(c, part, job)
		}
	}
	return err
}

// PartitionOf is the partition that a job is of, as far as the job says.
func (o *View) PartitionOf(job *pb.Job) (*partition.Ref, error) {
	id, err := pb.PartitionIDFrom(job.GetPartition())
	if err != nil {
		return nil, err
	}
	return &partition.Ref{
		ID: id, Subject: pb.SubjectKey(job.GetSubject()), Store: o.Store,
		Space: storage.PartitionSpace(o.Store, id),
	}, nil
}

// Accepted is the answer to a request whose work goes on as a job: 202, with the id of the job.
func Accepted(job *pb.Job) *pb.Reply {
	return &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{
		Job:    job.GetId(),
		Status: pb.JobPending,
	}}}
}

// mayReadJob: a job belongs to the member who caused it, or, for a provisioned
// subject, to the whole team.
func mayReadJob(who Principal, job *pb.Job) bool {
	return job.GetSubject() != "" || string(job.GetUser()) == string(who.User[:])
}

// FindJob returns a job that the caller may read, or nil.
func (o *View) FindJob(r storage.Reader, who Principal, id string) (*pb.Job, error) {
	job := &pb.Job{}
	jobID, err := pb.ParseJobID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no job
	}
	found, err := r.Get(o.Space.Key(storage.TableJob, storage.ID16(jobID)), job)
	if err != nil || !found || !mayReadJob(who, job) {
		return nil, err
	}
	return job, nil
}

// JobNotFound is the refusal for a job that does not exist, or that the caller may not read.
func JobNotFound() *pb.Problem {
	return NewProblem(pb.CodeJobNotFound, "There is no such job of yours.")
}

// jobReader answers one job with its items' outcomes. A subject that is selected
// on a subject-aware route is confined to the jobs of its own partition.
func jobReader(c *Call, id string, confined bool) func(*storage.Store) (*pb.Reply, error) {
	return func(st *storage.Store) (r *pb.Reply, err error) {
		snap, err := st.Snapshot() // a job and its items of one moment
		if err != nil {
			return nil, err
		}
		defer partition.CloseSnapshot(snap, &err)
		job, err := c.Org.FindJob(snap, c.Principal, id)
		if err != nil {
			return nil, err
		}
		if job == nil || confined && string(job.GetPartition()) != string(c.Part.ID[:]) {
			return Refuse(JobNotFound()), nil
		}
		if err := c.Org.ReadItems(snap, job); err != nil {
			return nil, err
		}
		job.Attempts = attemptsShown(job)
		if Terminal(job.GetStatus()) && job.GetType() != pb.JobSubjectErase {
			err = c.Org.awaitShown(snap, job)
		}
		return &pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}}, err
	}
}

// awaitShown waits until a search finds what an ended job has brought.
func (o *View) awaitShown(r storage.Reader, job *pb.Job) error {
	part, err := o.PartitionOf(job)
	if err != nil {
		return err
	}
	state := &pb.PartitionState{}
	if _, err := r.Get(part.Space.Key(storage.TableState), state); err != nil {
		return err
	}
	o.Residents.AwaitShown(part, state.GetIndexVersion(), o.System.Clock)
	return nil
}

// ReadItems fills in the outcomes of a job's items. They lie in the partition,
// so that they are erased with it.
func (o *View) ReadItems(r storage.Reader, job *pb.Job) error {
	if job.GetType() == pb.JobSubjectErase {
		return nil // its partition is gone
	}
	part, err := pb.PartitionIDFrom(job.GetPartition())
	if err != nil {
		return err
	}
	items := storage.PartitionSpace(o.Store, part).Prefix(storage.TableJobItem, storage.ID16(pb.JobID(job.GetId())))
	for rec, err := range storage.ScanRecords(r, items, storage.ScanOptions{},
		func() *pb.JobItem { return &pb.JobItem{} }) {
		if err != nil {
			return err
		}
		job.Items = append(job.Items, rec.Value)
	}
	return nil
}

// listJobs pages through the jobs that the caller may read, newest first.
func (o *View) listJobs(r storage.Reader, who Principal, op *pb.ListJobs) (*pb.Reply, error) {
	all := o.Space.Prefix(storage.TableJobByTime)
	// The caller is part of the filter: members see different lists.
	kind := CursorKind{List: "jobs", Filters: op.GetType() + "\x00" + op.GetStatus() + "\x00" + who.User.String()}
	entries, next, p, err := PageOfKeys(o, r, all, kind, op.GetPage(), maxJobsPerScan,
		func(item storage.Item) (*pb.Job, bool, error) {
			parts := item.Key.Parts()
			parts.U64Desc()
			id := pb.JobID(parts.ID16())
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			job := &pb.Job{}
			found, err := r.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job)
			job.Attempts = attemptsShown(job)
			return job, found && mayReadJob(who, job) &&
				(op.GetType() == "" || job.GetType() == op.GetType()) &&
				(op.GetStatus() == "" || job.GetStatus() == op.GetStatus()), err
		})
	if p != nil {
		return Refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Jobs{Jobs: &pb.JobList{Jobs: entries, NextCursor: next}}}, err
}

// JobModule answers what became of jobs, and cancels them.
type JobModule struct {
	*Org
	NoModule
}

// Handle answers the reads of jobs, and cancels jobs.
func (o *JobModule) Handle(c *Call) bool {
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_JobStatus:
		o.Read(c, jobReader(c, op.JobStatus.GetId(), c.Env.GetHasSubject()))
	case *pb.Envelope_GetJob:
		o.Read(c, jobReader(c, op.GetJob.GetId(), false))
	case *pb.Envelope_ListJobs:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return c.Org.listJobs(st, c.Principal, op.ListJobs) })
	case *pb.Envelope_CancelJob:
		o.cancelJob(c, op.CancelJob)
	default:
		return false
	}
	return true
}

// ErasePartition erases the records of a partition's jobs, and what its requests were answered.
func (o *JobModule) ErasePartition(ref *partition.Ref) error {
	if err := o.eraseJobRecords(ref); err != nil {
		return err
	}
	return o.eraseOutcomes(ref)
}

// cancelJob hands a cancellation to the worker that owns the job's progress.
func (o *JobModule) cancelJob(c *Call, op *pb.CancelJob) {
	var job *pb.Job
	var part *partition.Ref
	err := o.WithStore(func(st *storage.Store) (err error) {
		job, err = o.FindJob(st, c.Principal, op.GetId())
		return err
	})
	if err == nil && job != nil && !Terminal(job.GetStatus()) {
		if cancel := o.kindOfJob(job).Cancel; cancel != nil && cancel(c, job) {
			return
		}
		var id pb.PartitionID
		if id, err = pb.PartitionIDFrom(job.GetPartition()); err == nil {
			part, err = o.LoadPartition(id)
		}
	}
	switch {
	case err != nil:
		c.Fail(err)
	case job == nil:
		c.Refuse(JobNotFound())
	case part == nil:
		c.Refuse(NotCancellable(job))
	default:
		o.Forward(c, part)
	}
}

// NotCancellable is the refusal to cancel a job that has ended, or that is of a type that cannot be cancelled.
func NotCancellable(job *pb.Job) *pb.Problem {
	if Terminal(job.GetStatus()) {
		return NewProblem(pb.CodeJobNotCancellable, "The job has already ended: %s.", job.GetStatus())
	}
	return NewProblem(pb.CodeJobNotCancellable, "A job of type %s cannot be cancelled.", job.GetType())
}

// JobsEnded counts jobs whose end is committed.
func (o *View) JobsEnded(ids ...pb.JobID) {
	if len(ids) == 0 {
		return
	}
	o.CountJobs(-len(ids))
	for _, id := range ids {
		o.System.Config.JobFinished(id)
	}
}

// addJobCompleted adds the event that the end of a job causes. part is nil where the
// job has erased its partition: there is nobody left whom it would concern but the
// organization.
func addJobCompleted(c *commit.Change, o *View, part *partition.Ref, job *pb.Job) error {
	return c.Event(o, pb.EventJobCompleted, part, map[string]any{
		"jobId": pb.JobID(job.GetId()).String(), "jobType": job.GetType(), "status": job.GetStatus(),
		"subject": part.EventSubject(),
	})
}

// eraseJobRecords erases the records of a partition's jobs, the unfinished ones
// too, but for those that erase it.
func (o *View) eraseJobRecords(ref *partition.Ref) error {
	dropped := 0
	empty := func() *pb.Job { return &pb.Job{} }
	return EraseRecords(o, storage.TableJob, empty, func(b *storage.Batch, key storage.Key, job *pb.Job) (bool, error) {
		if string(job.GetPartition()) != string(ref.ID[:]) || job.GetType() == pb.JobSubjectErase {
			return false, nil
		}
		id, err := pb.JobIDFrom(job.GetId())
		if err != nil {
			return false, err
		}
		if !Terminal(job.GetStatus()) {
			dropped++
		}
		b.Erase(key)
		b.Delete(o.Space.Key(storage.TableJobByTime, storage.U64Desc(uint64(job.GetCreatedMs())), storage.ID16(id)))
		b.Delete(o.Space.Key(storage.TableJobOpen, storage.ID16(id)))
		return true, nil
	}, func() {
		n := dropped
		dropped = 0
		o.CountJobs(-n)
	})
}

// SettleJob is Settle for a change that holds a new job of a module's. It also lets go of the entity that the caller
// has (Exclusive), counts the job as open and has the module begin it before it answers, in the mailbox. Where the
// commit fails, nothing is begun.
func (c *Call) SettleJob(ch *commit.Change, r *pb.Reply, release, begin func()) {
	if err := c.Idempotency.Record(ch.Batch, r); err != nil {
		release()
		c.Fail(err)
		return
	}
	ch.In(c.RecordedTrace())
	c.Org.Committer.SubmitChange(ch, func(err error) { c.Org.send(jobSettled{c, r, release, begin, err}) })
}

func (m jobSettled) apply(o *Org) {
	m.release()
	if m.err != nil {
		m.call.Fail(m.err)
		return
	}
	o.JobOpened()
	m.begin()
	m.call.Reply(m.reply)
}
