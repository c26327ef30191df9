package training

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// eventDelay is the time between the end of a training and its event: the end is observed, as the interface says,
	// on a later sweep.
	eventDelay = time.Second
	// EventRetry is the wait before an event that could not be written is tried again.
	EventRetry = 5 * time.Second
)

// Module runs an organization's trainings, one at a time, and tells of their ends.
type Module struct {
	*tenant.Org
	tenant.NoModule
	Serving  ServingModel // the brain that serves; any goroutine may use it
	training *actor.PID   // the trainer, while a training is queued or running
}

// Handle answers what is known of the brain, and queues a training.
func (o *Module) Handle(c *tenant.Call) bool {
	switch c.Env.GetMind().GetOp().(type) {
	case *pb.MindOp_BrainInfo:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.brainInfo(st) })
	case *pb.MindOp_BrainTrain:
		o.brainTrain(c)
	default:
		return false
	}
	return true
}

// JobKinds are the trainings.
func (o *Module) JobKinds() map[string]tenant.JobKind {
	return map[string]tenant.JobKind{pb.JobBrainTrain: {
		Resume: func(job *pb.Job) (bool, error) { o.train(pb.JobID(job.GetId())); return true, nil },
		Cancel: func(c *tenant.Call, job *pb.Job) bool { o.cancelTraining(c, job); return true },
	}}
}

// brainTrain queues a training, unless one is queued or running.
func (o *Module) brainTrain(c *tenant.Call) {
	o.WithBusyMarkFor(c, func() {
		o.Exclusive(tenant.BrainLock, func(release func()) {
			if !o.StillInUse(c) {
				release()
				return
			}
			fail := func(err error) { release(); c.Fail(err) }
			state := &pb.Training{}
			var artifact *pb.BrainArtifact
			err := o.WithStore(func(st *storage.Store) (err error) {
				if _, err = st.Get(o.Space.Key(storage.TableTraining), state); err == nil {
					artifact, err = o.newestBrain(st)
				}
				return err
			})
			if err != nil {
				fail(err)
				return
			}
			if s := state.GetStatus(); s == pb.JobQueued || s == pb.JobRunning {
				release()
				c.Refuse(tenant.NewProblem(pb.CodeTrainInProgress, "A training is %s already.", s))
				return
			}
			job, err := o.NewJob(pb.JobBrainTrain, c.Principal, c.Part, 1)
			if err != nil {
				fail(err)
				return
			}
			job.Trace = c.RecordedTrace()
			id := pb.JobID(job.GetId())
			ch := commit.New(o.Store)
			tenant.PutJob(ch.Batch, o.Space, job)
			ch.Put(o.Space.Key(storage.TableTraining), &pb.Training{Status: pb.JobQueued, Job: job.GetId()})
			ch.Audit(c.AuditOf("brain.train", id.String()))
			if eventPending(state) { // its state goes with this commit
				if err := addTrained(ch, &o.View, state, artifact); err != nil {
					fail(err)
					return
				}
			}
			r := &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{
				Job:    job.GetId(),
				Status: pb.JobQueued,
			}}}
			c.SettleJob(ch, r, release, func() { o.train(id) })
		})
	})
}

// train begins a queued training, or continues an interrupted one.
func (o *Module) train(id pb.JobID) {
	view, permit := &o.View, o.Serving.permit()
	o.training = o.Context.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return &Trainer{
			module: o, Org: view, id: id,
			permit: permit,
		}
	}, actor.WithSupervisor(tenant.StopFailed)))
}

// trained follows the end of a training, whose child it lets go. One that a purge
// has voided begins anew, unless the purge has ended its job.
func (o *Module) trained(child *actor.PID, id pb.JobID) {
	o.Context.Poison(child)
	if o.training == nil || !o.training.Equal(child) {
		return
	}
	o.training = nil
	o.Exclusive(tenant.BrainLock, func(release func()) { // behind a cancellation that is being written
		defer release()
		job := &pb.Job{}
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job)
			return err
		})
		switch {
		case err != nil:
			o.System.Log.Error("a training's end cannot be read", "org", o.ID.String(), "job", id.String(), "err", err)
			o.Retire()
		case job.GetStatus() == pb.JobQueued, job.GetStatus() == pb.JobRunning:
			o.train(id)
		}
	})
	o.System.Clock.AfterFunc(eventDelay, func() { o.InMailbox(o.PublishTrained) })
}

// Resume sees to the event of a training that ended before a stop or a crash.
func (o *Module) Resume() error {
	return o.WithStore(func(st *storage.Store) error {
		state := &pb.Training{}
		found, err := st.Get(o.Space.Key(storage.TableTraining), state)
		if err == nil && found && eventPending(state) {
			o.System.Clock.AfterFunc(eventDelay, func() { o.InMailbox(o.PublishTrained) })
		}
		return err
	})
}

// eventPending reports whether a training has ended and nobody has been told.
func eventPending(state *pb.Training) bool { return state.GetFinishedMs() != 0 && !state.GetTold() }

// addTrained emits the event of a training that has ended. One that failed has trained
// nothing: there is no time at which it did.
func addTrained(c *commit.Change, o *tenant.View, state *pb.Training, artifact *pb.BrainArtifact) error {
	var at any
	if state.GetStatus() != pb.TrainingFailed {
		at = time.UnixMilli(state.GetFinishedMs()).UTC().Format(tenant.EventTime)
	}
	return c.Event(o, pb.EventBrainTrained, nil, map[string]any{
		"status": state.GetStatus(), "trainedAt": at, "nodes": artifact.GetNodes(), "edges": artifact.GetEdges(),
	})
}

// PublishTrained writes the event of the latest training, unless it is written already. Where that fails it tries again
// after EventRetry.
func (o *Module) PublishTrained() {
	if o.Retired || o.Record() == nil {
		return
	}
	o.Exclusive(tenant.BrainLock, func(release func()) {
		state := &pb.Training{}
		var artifact *pb.BrainArtifact
		err := o.WithStore(func(st *storage.Store) (err error) {
			if _, err = st.Get(o.Space.Key(storage.TableTraining), state); err == nil {
				artifact, err = o.newestBrain(st)
			}
			return err
		})
		if err == nil && !eventPending(state) {
			release()
			return
		}
		again := func() { // one that is lost leaves it to the next, by resume
			release()
			o.System.Clock.AfterFunc(EventRetry, func() { o.InMailbox(o.PublishTrained) })
		}
		if err != nil {
			again()
			return
		}
		state.Told = true
		ch := commit.New(o.Store)
		ch.Put(o.Space.Key(storage.TableTraining), state)
		if err = addTrained(ch, &o.View, state, artifact); err != nil {
			again()
			return
		}
		o.Committer.SubmitChange(ch, func(err error) {
			if err != nil {
				again()
				return
			}
			release()
		})
	})
}

// cancelTraining ends a training that is queued or running.
func (o *Module) cancelTraining(c *tenant.Call, job *pb.Job) {
	o.Exclusive(tenant.BrainLock, func(release func()) {
		if !o.Serving.Void() {
			release()
			c.Refuse(tenant.NotCancellable(job)) // it has just ended
			return
		}
		now := clock.Millis(o.System.Clock.Now())
		job.Status, job.FinishedMs = pb.JobCancelled, now
		ch := commit.New(o.Store)
		// The states of a training know no cancellation: the reason tells.
		ch.Put(o.Space.Key(storage.TableTraining), &pb.Training{
			Status: pb.TrainingFailed, Job: job.GetId(), StartedMs: job.GetStartedMs(), FinishedMs: now,
			Reason: "It was cancelled.",
		})
		ch.Audit(c.AuditOf("job.cancel", pb.JobID(job.GetId()).String()))
		if err := tenant.EndJob(ch, &o.View, job); err != nil {
			release()
			c.Fail(err)
			return
		}
		o.Committer.SubmitChange(ch, func(err error) {
			o.InMailbox(func() {
				release()
				if o.training != nil {
					o.trained(o.training, pb.JobID(job.GetId())) // after a failure it goes on
				}
				if err != nil {
					c.Fail(err)
					return
				}
				o.JobsEnded(pb.JobID(job.GetId()))
				c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
			})
		})
	})
}

// brainInfo reads what is loaded and the latest training.
func (o *Module) brainInfo(r storage.Reader) (*pb.Reply, error) {
	state := &pb.BrainState{Training: &pb.Training{}}
	if _, err := r.Get(o.Space.Key(storage.TableTraining), state.Training); err != nil {
		return nil, err
	}
	if curve := state.Training.GetCheckpoint().GetCurve(); len(curve) > 0 { // of one that runs
		state.Training.Report = &pb.BrainReport{Curve: curve}
	}
	state.Training.Checkpoint = nil
	if state.Training.GetStatus() == "" {
		state.Training.Status = pb.TrainingNone
	}
	var err error
	if state.Artifact, err = o.newestBrain(r); err != nil {
		return nil, err
	}
	if sameBrain(o.Serving.broken.Load(), state.Artifact) {
		state.Artifact = nil // it is there, but serves nobody
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Brain{Brain: state}}), nil
}
