package quality

import (
	"context"
	"errors"
	"slices"
	"sync"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxOpen bounds an organization's evaluations that are queued or running.
	MaxOpen = 20
	// MaxReports bounds the reports that are kept of a memory, and of an organization; the oldest goes for a new one.
	MaxReports = 100
)

// run is an evaluation that is queued or running. Its fields are guarded by Module.mu, but for the first three, which
// do not change.
type run struct {
	id   pb.JobID
	part *partition.Ref // whose memory; for all memories of the organization nil
	// owner is the partition of its job: the evaluation goes with it.
	owner pb.PartitionID
	// stale says that something it may have counted was forgotten since its attempt began; gone, that it is not to be
	// carried on.
	stale, gone bool
	cancel      context.CancelFunc // nil while it is queued
	finished    bool               // its last commit is on its way
}

// Feature is what a node has once for evaluations.
type Feature struct {
	tenant.NoFeature
	askers []*search.Asker // one for each CPU worker
}

// New makes the feature of a node.
func New(cfg *tenant.Config) Feature {
	f := Feature{askers: make([]*search.Asker, cfg.Workers)}
	for i := range f.askers {
		f.askers[i] = search.NewAsker()
	}
	return f
}

// Module makes the module of an organization.
func (f Feature) Module(o *tenant.Org) tenant.Module { return &Module{Org: o, askers: f.askers} }

// Module evaluates an organization's memories, one at a time.
type Module struct {
	*tenant.Org
	tenant.NoModule
	askers []*search.Asker
	mu     sync.Mutex
	runs   []*run // in the order in which they were queued
}

// Handle begins an evaluation, or answers the reports of those that have ended.
func (o *Module) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetMind().GetOp().(type) {
	case *pb.MindOp_EvaluateQuality:
		o.evaluate(c, op.EvaluateQuality.GetOrgScope())
	case *pb.MindOp_ListQuality:
		if !refuseSubject(c, op.ListQuality.GetOrgScope()) {
			o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.list(st, c, op.ListQuality) })
		}
	default:
		return false
	}
	return true
}

// JobKinds has the job of an evaluation, which is the module's from its begin to its end.
func (o *Module) JobKinds() map[string]tenant.JobKind {
	return map[string]tenant.JobKind{pb.JobQuality: {
		Resume: func(job *pb.Job) (bool, error) { return true, o.resume(job) },
		Cancel: func(c *tenant.Call, job *pb.Job) bool { o.cancelRun(c, job); return true },
	}}
}

// refuseSubject refuses a subject what is the organization's.
func refuseSubject(c *tenant.Call, org bool) bool {
	if !org || !c.Env.GetHasSubject() {
		return false
	}
	c.Refuse(tenant.NewProblem(pb.CodePermissionDenied,
		"A subject knows its own memory only; scope org needs a request without X-Svc-Subject."))
	return true
}

// evaluate queues an evaluation and answers 202.
func (o *Module) evaluate(c *tenant.Call, org bool) {
	if refuseSubject(c, org) {
		return
	}
	o.WithBusyMarkFor(c, func() {
		o.Exclusive(tenant.QualityLock, func(release func()) {
			if !o.StillInUse(c) {
				release()
				return
			}
			fail := func(err error) { release(); c.Fail(err) }
			o.mu.Lock()
			open := len(o.runs)
			same := slices.ContainsFunc(o.runs, func(r *run) bool {
				return (r.part == nil) == org && (org || r.part.ID == c.Part.ID)
			})
			o.mu.Unlock()
			switch {
			case same:
				release()
				c.Refuse(tenant.NewProblem(pb.CodeConflict, "An evaluation of this memory is queued or running already."))
				return
			case open >= MaxOpen:
				fail(commit.ErrQueueFull)
				return
			}
			job, err := o.NewJob(pb.JobQuality, c.Principal, c.Part, 1)
			if err != nil {
				fail(err)
				return
			}
			job.Trace = c.RecordedTrace()
			r := &run{id: pb.JobID(job.GetId()), part: c.Part, owner: c.Part.ID}
			if org {
				r.part = nil
			}
			ch := commit.New(o.Store)
			ch.Put(o.runKey(r.id), &pb.QualityRun{Org: org})
			tenant.PutJob(ch.Batch, o.Space, job)
			ch.Audit(c.AuditOf("quality.evaluate", r.id.String()))
			reply := &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{
				Job: job.GetId(), Status: pb.JobQueued,
			}}}
			c.SettleJob(ch, reply, release, func() { o.queue(r) })
		})
	})
}

func (o *Module) runKey(id pb.JobID) storage.Key {
	return o.Space.Key(storage.TableQualityRun, storage.ID16(id))
}

// reportsOf are the reports of a memory; nil: of the organization.
func (o *Module) reportsOf(part *partition.Ref) storage.Range {
	if part == nil {
		return o.Space.Prefix(storage.TableOrgQuality)
	}
	return part.Space.Prefix(storage.TableQuality)
}

func (o *Module) reportKey(part *partition.Ref, r *pb.QualityReport) storage.Key {
	at, id := storage.U64Desc(uint64(r.GetAtMs())), storage.ID16(pb.JobID(r.GetJob()))
	if part == nil {
		return o.Space.Key(storage.TableOrgQuality, at, id)
	}
	return part.Space.Key(storage.TableQuality, at, id)
}

// list answers a page of reports, newest first.
func (o *Module) list(st *storage.Store, c *tenant.Call, op *pb.ListQuality) (*pb.Reply, error) {
	part := c.Part
	kind := tenant.CursorKind{List: "quality", Filters: part.ID.String()}
	if op.GetOrgScope() {
		part, kind.Filters = nil, pb.QualityScopeOrg
	}
	reports, next, p, err := tenant.PageOfKeys(&o.View, st, o.reportsOf(part), kind, op.GetPage(),
		tenant.MaxRecordsPerPage, func(item storage.Item) (*pb.QualityReport, bool, error) {
			r := &pb.QualityReport{}
			return r, true, item.Decode(r)
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Mind{Mind: &pb.MindResult{Result: &pb.MindResult_Quality{
		Quality: &pb.QualityList{Reports: reports, NextCursor: next},
	}}}}, err
}

// resume queues an evaluation that a stop or a crash interrupted.
func (o *Module) resume(job *pb.Job) error {
	r, stored := &run{id: pb.JobID(job.GetId()), owner: pb.PartitionID(job.GetPartition())}, &pb.QualityRun{}
	err := o.WithStore(func(st *storage.Store) error {
		_, err := st.Get(o.runKey(r.id), stored)
		return err
	})
	if err != nil {
		return err
	}
	part, err := o.LoadPartition(r.owner)
	if err != nil {
		return err
	}
	if part == nil {
		return nil // it is being erased, and this evaluation with it
	}
	if !stored.GetOrg() {
		r.part = part
	}
	o.queue(r)
	return nil
}

// queue makes an evaluation known, and begins it when none is running. It runs in the mailbox.
func (o *Module) queue(r *run) {
	o.mu.Lock()
	o.runs = append(o.runs, r)
	o.mu.Unlock()
	o.next()
}

// next begins the evaluation that has waited longest, unless one is running.
func (o *Module) next() {
	if o.Retired || o.System.Lifetime.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.runs) == 0 || slices.ContainsFunc(o.runs, func(r *run) bool { return r.cancel != nil }) {
		return
	}
	r := o.runs[0]
	ctx, cancel := context.WithCancel(o.System.Lifetime)
	r.cancel = cancel
	o.System.BackgroundTasks.Go(func() {
		defer cancel()
		o.carryOut(ctx, r)
	})
}

// remove forgets a run. Its caller has the lock.
func (o *Module) remove(r *run) {
	o.runs = slices.DeleteFunc(o.runs, func(x *run) bool { return x == r })
}

// Forgetting sends evaluations back to their begin that may have counted what is forgotten.
func (o *Module) Forgetting(_ *storage.Batch, _ storage.Reader, part *partition.Ref) error {
	o.Forgot(part)
	return nil
}

// Forgot is Forgetting for those that began in between.
func (o *Module) Forgot(part *partition.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		if !r.finished && (part == nil || r.part == nil || r.part.ID == part.ID) {
			r.stale = true
		}
	}
}

// ErasePartition ends the evaluations whose jobs are erased with a partition. Its reports lie in it.
func (o *Module) ErasePartition(ref *partition.Ref) error {
	b := storage.NewBatch(o.Store)
	o.mu.Lock()
	for _, r := range slices.Clone(o.runs) {
		if r.owner != ref.ID || r.finished {
			continue
		}
		r.gone = true
		if r.cancel != nil {
			r.cancel()
		}
		o.remove(r)
		b.Erase(o.runKey(r.id))
	}
	o.mu.Unlock()
	if b.Len() == 0 {
		return nil
	}
	err := o.Committer.Commit(b)
	o.InMailbox(o.next)
	return err
}

// cancelRun ends an evaluation that is queued or running.
func (o *Module) cancelRun(c *tenant.Call, job *pb.Job) {
	id := pb.JobID(job.GetId())
	o.Exclusive(tenant.QualityLock, func(release func()) {
		o.mu.Lock()
		at := slices.IndexFunc(o.runs, func(r *run) bool { return r.id == id })
		if at < 0 || o.runs[at].finished {
			o.mu.Unlock()
			release()
			c.Refuse(tenant.NotCancellable(job)) // it has just ended
			return
		}
		r := o.runs[at]
		r.gone = true
		if r.cancel != nil {
			r.cancel()
		}
		o.remove(r)
		o.mu.Unlock()
		job.Status, job.FinishedMs = pb.JobCancelled, clock.Millis(o.System.Clock.Now())
		ch := commit.New(o.Store)
		ch.Erase(o.runKey(id))
		if err := tenant.EndJob(ch, &o.View, job); err != nil {
			release()
			c.Fail(err)
			return
		}
		ch.Audit(c.AuditOf("job.cancel", id.String()))
		o.Committer.SubmitChange(ch, func(err error) {
			o.InMailbox(func() {
				release()
				if err != nil {
					o.queue(&run{id: id, part: r.part, owner: r.owner}) // it continues
					c.Fail(err)
					return
				}
				o.JobsEnded(id)
				o.next()
				c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
			})
		})
	})
}

var (
	// errStale means that something it may have counted was forgotten: it begins anew.
	errStale = errors.New("the evaluation must begin anew")
	// errGone means that the evaluation was cancelled or erased.
	errGone = errors.New("the evaluation has ended")
)

// commit commits a part of an evaluation, or its end, unless it must not go on: nothing of it enters the commit behind
// what ends it.
func (o *Module) commit(r *run, ch *commit.Change, last bool) error {
	o.mu.Lock()
	switch {
	case r.gone:
		o.mu.Unlock()
		return errGone
	case r.stale:
		o.mu.Unlock()
		return errStale
	}
	r.finished = last
	result := make(chan error, 1)
	o.Committer.SubmitChange(ch, func(err error) { result <- err })
	o.mu.Unlock()
	err := <-result
	if err != nil && last {
		o.mu.Lock()
		r.finished = false
		o.mu.Unlock()
	}
	return err
}
