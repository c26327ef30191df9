package cognition

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxWait is how long new content waits for a cycle at most while more of it keeps coming (docs/cognition.md). A
	// longer Config.CognitionQuiet takes its place.
	MaxWait = 5 * time.Minute
)

type (
	// quietOver and latestOver end the waits for a cycle.
	quietOver  struct{}
	latestOver struct{}
	// cycleDone is the end of a cycle, from its goroutine.
	cycleDone struct {
		more bool // there is more to look at
		err  error
	}
)

// cognitionActor is a subject's cognition child. It waits until its partition has come to rest, and then looks at what
// is new: one cycle at a time, beside the worker, on snapshots. The worker writes what a cycle finds, as it writes
// edits, and checks again whatever may have changed meanwhile.
type cognitionActor struct {
	org    *tenant.View
	part   *partition.Ref
	parent *actor.PID
	worker *actor.PID
	ctx    actor.Context

	waits    cycleWaits
	failures int // in a row
	running  bool
	again    bool // changed while running
	now      bool // asked for while running
	newest   uint64
	stopped  atomic.Bool
	stop     chan struct{} // closed with stopped
	current  currentCycle
	dead     bool
}

// cycleWaits are the timers that a cycle begins by; nil: it does not wait for that.
type cycleWaits struct {
	quiet, latest clock.Timer
	backOff       clock.Timer // after a failed cycle
}

// currentCycle is the cycle that runs.
type currentCycle struct {
	ended     chan struct{} // closed when it has ended
	quit      chan struct{} // closed when it is cancelled
	cancelled atomic.Bool
	job       atomic.Pointer[pb.JobID]
}

func newCognitionActor(org *tenant.View, part *partition.Ref, parent, worker *actor.PID) *cognitionActor {
	return &cognitionActor{org: org, part: part, parent: parent, worker: worker, stop: make(chan struct{})}
}

// Receive implements actor.Actor.
func (m *cognitionActor) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			m.dead = true
			m.halt()
			m.org.Panicked("cognition", r)
		}
	}()
	if m.dead {
		return
	}
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		m.ctx = ctx
		m.resume()
	case *actor.Stopping:
		m.halt()
		if m.current.ended != nil {
			<-m.current.ended
		}
		m.disarm()
		if m.waits.backOff != nil {
			m.waits.backOff.Stop()
		}
	case subject.Changed:
		m.newest = max(m.newest, msg.N)
		m.arm()
	case subject.FollowNow:
		m.now = true
		m.start()
	case quietOver, latestOver:
		m.start()
	case subject.BackOffEnded:
		m.waits.backOff = nil
		m.start()
	case subject.JobCancelled:
		if id := m.current.job.Load(); id != nil && *id == msg.Job && m.current.cancelled.CompareAndSwap(false, true) {
			close(m.current.quit)
		}
	case cycleDone:
		m.done(msg)
	}
}

// halt ends the cycle that runs, soon.
func (m *cognitionActor) halt() {
	if m.stopped.CompareAndSwap(false, true) {
		close(m.stop)
	}
}

// resume continues what a stop or a crash interrupted.
func (m *cognitionActor) resume() {
	state, cog := &pb.PartitionState{}, &pb.Cognition{}
	err := m.org.WithStore(func(st *storage.Store) error {
		if _, err := st.Get(m.part.Space.Key(storage.TableState), state); err != nil {
			return err
		}
		_, err := st.Get(m.part.Space.Key(storage.TableCognition), cog)
		return err
	})
	switch {
	case err != nil:
		m.done(cycleDone{err: err})
	case len(cog.GetJob()) > 0 || len(cog.GetFinalizes()) > 0:
		m.start()
	case state.GetChanges() != cog.GetChanges():
		m.arm()
	default:
		m.rest(false)
	}
}

// rest reports to the subject that there is nothing to do.
func (m *cognitionActor) rest(wrote bool) {
	m.ctx.Send(m.parent, subject.FollowerIdle{N: m.newest, Wrote: wrote})
}

// arm begins the waits for a cycle: that for quiet anew.
func (m *cognitionActor) arm() {
	if m.running || m.waits.backOff != nil {
		m.again = true
		return
	}
	self, root, c := m.ctx.Self(), m.org.System.ActorRoot, m.org.System.Clock
	if m.waits.quiet != nil {
		m.waits.quiet.Stop()
	}
	m.waits.quiet = c.AfterFunc(m.org.System.Config.CognitionQuiet, func() { root.Send(self, quietOver{}) })
	if m.waits.latest == nil {
		m.waits.latest = c.AfterFunc(max(MaxWait, m.org.System.Config.CognitionQuiet),
			func() { root.Send(self, latestOver{}) })
	}
}

func (m *cognitionActor) disarm() {
	for _, t := range []*clock.Timer{&m.waits.quiet, &m.waits.latest} {
		if *t != nil {
			(*t).Stop()
			*t = nil
		}
	}
}

// start begins a cycle, unless one is under way or a failed one is waited for.
func (m *cognitionActor) start() {
	if m.running || m.waits.backOff != nil || m.org.System.Config.WithoutDerivation {
		return
	}
	m.disarm()
	m.running, m.again, m.now = true, false, false
	m.current.cancelled.Store(false)
	m.current.ended, m.current.quit = make(chan struct{}), make(chan struct{})
	ended := m.current.ended
	self, root := m.ctx.Self(), m.org.System.ActorRoot
	m.org.System.BackgroundTasks.Go(func() {
		defer close(ended)
		done := m.guardedCycle()
		if tenant.IsWorkFailure(done.err) {
			m.noteFailure()
		}
		root.Send(self, done)
	})
}

// guardedCycle is cycle; a panic is an error.
func (m *cognitionActor) guardedCycle() (done cycleDone) {
	defer func() {
		if r := recover(); r != nil {
			done = cycleDone{err: node.PanicError("cognition cycle", r)}
		}
	}()
	done.more, done.err = m.cycle()
	return done
}

// noteFailure notes that the attempt of the cycle that ran has failed.
func (m *cognitionActor) noteFailure() {
	id := m.current.job.Load()
	if id == nil {
		return // it never began
	}
	err := m.write(func(f *graph.Tx) error { return f.Org.FailAttempt(f.Store, f.Batch.Batch, *id) })
	if err != nil && !tenant.Superseded(err) {
		m.org.System.Log.Warn("a failed attempt is not counted", "org", m.org.ID.String(), "job", id.String(), "err", err)
	}
}

// done decides what follows a cycle.
func (m *cognitionActor) done(d cycleDone) {
	m.running = false
	m.current.job.Store(nil)
	self, root := m.ctx.Self(), m.org.System.ActorRoot
	var pause tenant.WaitError
	switch {
	case m.stopped.Load(), tenant.Superseded(d.err): // another activation continues
	case errors.As(d.err, &pause):
		m.waits.backOff = m.org.System.Clock.AfterFunc(pause.Wait, func() { root.Send(self, subject.BackOffEnded{}) })
	case d.err != nil:
		m.failures++
		m.org.System.Log.Error("a cognition cycle failed; it is tried again", "org", m.org.ID.String(), "partition",
			m.part.ID.String(), "failures", m.failures, "err", d.err)
		m.waits.backOff = m.org.System.Clock.AfterFunc(min(m.org.System.Config.MaxBackOff, cycleBackOff<<min(m.failures-1,
			10)), func() { root.Send(self, subject.BackOffEnded{}) })
	case m.now || d.more:
		m.failures = 0
		m.start()
	case m.again:
		m.failures = 0
		m.arm()
	default:
		m.failures = 0
		m.rest(true)
	}
}

// cycleBackOff is the wait after a first failure; it doubles up to tenant.MaxBackOff.
const cycleBackOff = time.Second

// goOn returns an error when the cycle is to end. It is called between two steps.
func (m *cognitionActor) goOn() error {
	switch {
	case m.stopped.Load():
		return node.ErrClosing
	case m.current.cancelled.Load():
		return tenant.ErrCancelled
	default:
		return nil
	}
}

// compute runs tasks on the CPU workers, behind all ingestion.
func (m *cognitionActor) compute(tasks []func(worker int) error) error {
	for i, task := range tasks {
		tasks[i] = func(worker int) error {
			if err := m.goOn(); err != nil {
				return err
			}
			return task(worker)
		}
	}
	return errors.Join(m.org.System.CPU.Background(m.org.ID, tasks)...)
}

// write has the worker carry out an edit and waits for it. run may be called more than once (edit.run).
func (m *cognitionActor) write(run func(f *graph.Tx) error) error {
	c := tenant.NewCall(&pb.Envelope{})
	c.Org, c.Part = m.org, m.part
	var running sync.Mutex // guards left, and what run shares with its cycle
	left := false
	c.Payload = &graph.Edit{Derived: true, Run: func(f *graph.Tx) (*pb.Reply, error) {
		running.Lock()
		defer running.Unlock()
		if left {
			return nil, node.ErrClosing
		}
		return &pb.Reply{Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}, run(f)
	}}
	m.org.System.ActorRoot.Send(m.worker, c)
	var r *pb.Reply
	select {
	case r = <-c.Done:
	case <-m.stop: // the worker may be gone already; what it has run may still be committed, whole in itself
		running.Lock()
		defer running.Unlock()
		left = true
		return node.ErrClosing
	}
	if p := r.GetProblem(); p != nil {
		if m.stopped.Load() || p.GetCode() == pb.CodeServiceDraining {
			return node.ErrClosing
		}
		err := fmt.Errorf("%w: %s %s", errNotWritten, p.GetCode(), p.GetDetail())
		if p.GetCode() == pb.CodeServiceDegraded { // a full disk, too much to do, a lease that is lost
			err = tenant.Degraded(err)
		}
		return err
	}
	m.org.System.Config.CycleWrote(func() { m.current.cancelled.Store(true) })
	return nil
}

// errNotWritten wraps what a worker answers to a cycle.
var errNotWritten = errors.New("what a cycle found could not be written")

// writeAll is write for many small changes, as many in one commit as it takes.
func (m *cognitionActor) writeAll(changes []func(f *graph.Tx) error) error {
	for len(changes) > 0 {
		if err := m.goOn(); err != nil {
			return err
		}
		n := 0
		err := m.write(func(f *graph.Tx) error {
			for n = 0; n < len(changes) && n < maxFoundPerCommit; n++ {
				if f.IsFull() {
					return nil
				}
				if err := changes[n](f); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// maxFoundPerCommit bounds the findings of one commit: an edit or a slice of ingestion waits behind it, some 50 ms.
const maxFoundPerCommit = 500

// cycle looks at what is new in the partition. It returns whether there is more.
func (m *cognitionActor) cycle() (more bool, err error) {
	cog, job, why, err := m.begin()
	if err != nil || job == nil {
		return false, err
	}
	if why != nil {
		m.org.System.Log.Error("a cognition cycle is given up", "org", m.org.ID.String(), "partition", m.part.ID.String(),
			"job", pb.JobID(job.GetId()).String(), "err", why)
		return false, m.end(cog, job, pb.JobFailed, why)
	}
	m.org.System.Config.JobWorkBegan(pb.JobCognition, m.stopped.Load)
	c := newCycle(m, cog, job)
	switch err := c.run(); {
	case errors.Is(err, tenant.ErrCancelled):
		return false, m.end(cog, job, pb.JobCancelled, nil)
	case err != nil:
		return false, err
	}
	if err := m.end(c.cog, job, pb.JobSucceeded, nil); err != nil {
		return false, err
	}
	m.org.System.Counters.Cycles.Add(1)
	return c.more, nil
}

// begin finds out what is to be done, and notes that a cycle is under way: nil when there is nothing. A cycle that a
// crash has ended continues under its old job. why is the reason where it is given up; the error is a tenant.WaitError
// where it has to wait.
func (m *cognitionActor) begin() (cog *pb.Cognition, job *pb.Job, why, err error) {
	opened := false
	err = m.write(func(f *graph.Tx) error {
		cog, job, why, opened = &pb.Cognition{}, nil, nil, false
		if _, err := f.Store.Get(cognitionKey(f), cog); err != nil {
			return err
		}
		due := f.Org.Space.Key(storage.TableCognitionDue, storage.ID16(m.part.ID))
		if f.State.GetChanges() == cog.GetChanges() && len(cog.GetJob()) == 0 && len(cog.GetFinalizes()) == 0 {
			f.Batch.Delete(due)
			return nil
		}
		if len(cog.GetJob()) > 0 {
			job = &pb.Job{}
			found, err := f.Store.Get(f.Org.Space.Key(storage.TableJob, storage.ID16(pb.JobID(cog.GetJob()))), job)
			if err != nil {
				return err
			}
			if !found || tenant.Terminal(job.GetStatus()) {
				job = nil
			}
		}
		if job == nil {
			if job, err = f.Org.NewJob(pb.JobCognition, tenant.Principal{User: pb.UserID(m.part.ID)}, m.part,
				Stages); err != nil {
				return err
			}
			job.Status, job.StartedMs, opened = pb.JobRunning, f.NowMs, true
			tenant.PutJob(f.Batch.Batch, f.Org.Space, job)
		}
		id := pb.JobID(job.GetId())
		m.current.job.Store(&id) // from the commit on it may be cancelled
		why = f.Org.BeginAttempt(job)
		job.Done = 0
		tenant.UpdateJob(f.Batch.Batch, f.Org.Space, job)
		cog.Job = job.GetId()
		f.Batch.Put(cognitionKey(f), cog)
		f.Batch.PutRaw(due, nil)
		cog.Changes, cog.Removals = f.State.GetChanges(), f.State.GetRemovals() // as it will be after the cycle
		return nil
	})
	if err == nil && opened {
		m.org.CountJobs(1)
	}
	if wait, waits := errors.AsType[tenant.WaitError](why); err == nil && waits {
		return nil, nil, nil, wait
	}
	return cog, job, why, err
}

func cognitionKey(f *graph.Tx) storage.Key { return f.Part.Space.Key(storage.TableCognition) }

// end ends the cycle's job, and the finalizations that have waited for it, with the cycle's last commit.
func (m *cognitionActor) end(cog *pb.Cognition, job *pb.Job, status string, why error) error {
	var ended []pb.JobID
	err := m.write(func(f *graph.Tx) error {
		ended = nil
		now := &pb.Cognition{} // finalizations may have come since
		if _, err := f.Store.Get(cognitionKey(f), now); err != nil {
			return err
		}
		if status != pb.JobSucceeded { // the next cycle must still see that something was taken away
			cog.Removals = now.GetRemovals()
		}
		waited := cog.GetFinalizes()
		cog.Job, cog.Finalizes = nil, nil
		for _, id := range now.GetFinalizes() {
			if !slices.ContainsFunc(waited, func(w []byte) bool { return string(w) == string(id) }) {
				cog.Finalizes = append(cog.Finalizes, id)
			}
		}
		for _, id := range append([][]byte{job.GetId()}, waited...) {
			j := &pb.Job{}
			found, err := f.Store.Get(f.Org.Space.Key(storage.TableJob, storage.ID16(pb.JobID(id))), j)
			if err != nil {
				return err
			}
			if !found || tenant.Terminal(j.GetStatus()) { // cancelled meanwhile
				continue
			}
			j.Status, j.FinishedMs, j.Done = status, f.NowMs, j.GetTotal()
			if status == pb.JobFailed {
				j.ErrorCode, j.ErrorDetail = pb.ErrorCognition, tenant.GivenUp("The cycle", why)+
					"; the next change of the memory begins another."
			}
			if err := tenant.EndJob(f.Batch, f.Org, j); err != nil {
				return err
			}
			ended = append(ended, pb.JobID(id))
		}
		f.Batch.Put(cognitionKey(f), cog)
		if cog.GetChanges() == f.State.GetChanges() && len(cog.GetFinalizes()) == 0 {
			f.Batch.Delete(f.Org.Space.Key(storage.TableCognitionDue, storage.ID16(m.part.ID)))
		}
		cog.Finalizes = waited // should this be called again
		return nil
	})
	if err == nil {
		m.org.JobsEnded(ended...)
	}
	return err
}

// Module sees to it that the cycles of an organization's partitions catch up.
type Module struct {
	*tenant.Org
	tenant.NoModule
}

// Follow returns the actor that runs the cycles of a partition. worker is the partition's worker, which writes what a
// cycle finds; parent is the subject's actor, which hears when all cycles have caught up.
func (o *Module) Follow(org *tenant.View, part *partition.Ref, parent, worker *actor.PID) actor.Actor {
	return newCognitionActor(org, part, parent, worker)
}

// Handle leaves every request to the other modules: what cognition has found is read from the store.
func (o *Module) Handle(*tenant.Call) bool { return false }

// Resume wakes the partitions that a stop or a crash has left behind.
func (o *Module) Resume() error {
	if o.System.Config.WithoutDerivation {
		return nil
	}
	gone := storage.NewBatch(o.Store)
	err := o.WithStore(func(st *storage.Store) error {
		for item, err := range st.Scan(o.Space.Prefix(storage.TableCognitionDue),
			storage.ScanOptions{Limit: maxResumedCognition}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			id := pb.PartitionID(parts.ID16())
			if err := parts.Done(); err != nil {
				return err
			}
			part, err := o.LoadPartition(id)
			if err != nil {
				return err
			}
			if part == nil { // it is erased
				gone.Delete(item.Key)
				continue
			}
			o.Child(part)
		}
		return nil
	})
	if err == nil && gone.Len() > 0 {
		o.Committer.Submit(gone, func(error) {}) // otherwise the next opening does it
	}
	return err
}

// maxResumedCognition bounds the partitions that are woken together: one that is not among them catches up when it is
// used, or the organization opens again.
const maxResumedCognition = 256
