package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// tellTrained is how long after its end a training is told of: it is observed, as
// the interface says, on a later sweep.
// tellRetry is the wait before that is tried again.
const (
	tellTrained = time.Second
	tellRetry   = 5 * time.Second
)

// trainingModule runs an organization's trainings, one at a time, and tells of their ends.
type trainingModule struct {
	*orgActor
	noModule
	serving  servingModel // the brain that serves; any goroutine may use it
	training *actor.PID   // the trainer, while a training is queued or running
}

func (o *trainingModule) Handle(c *call) bool {
	switch c.env.GetMind().GetOp().(type) {
	case *pb.MindOp_BrainInfo:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return o.brainInfo(st) })
	case *pb.MindOp_BrainTrain:
		o.brainTrain(c)
	default:
		return false
	}
	return true
}

func (o *trainingModule) JobKinds() map[string]jobKind {
	return map[string]jobKind{pb.JobBrainTrain: {
		resume: func(job *pb.Job) (bool, error) { o.train(pb.JobID(job.GetId())); return true, nil },
		cancel: func(c *call, job *pb.Job) bool { o.cancelTraining(c, job); return true },
	}}
}

// brainTrain queues a training, unless one is queued or running.
func (o *trainingModule) brainTrain(c *call) {
	o.whenBusyFor(c, func() {
		o.exclusive(brainLock, func(release func()) {
			if !o.inUse(c) {
				release()
				return
			}
			fail := func(err error) { release(); c.fail(err) }
			state := &pb.Training{}
			var artifact *pb.BrainArtifact
			err := o.withStore(func(st *storage.Store) (err error) {
				if _, err = st.Get(o.space.Key(storage.TableTraining), state); err == nil {
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
				c.refuse(problem(pb.CodeTrainInProgress, "A training is %s already.", s))
				return
			}
			job, err := o.newJob(pb.JobBrainTrain, c.who, c.part, 1)
			if err != nil {
				fail(err)
				return
			}
			id := pb.JobID(job.GetId())
			ch := commit.New(o.store)
			putJob(ch.Batch, o.space, job)
			ch.Put(o.space.Key(storage.TableTraining), &pb.Training{Status: pb.JobQueued, Job: job.GetId()})
			ch.Audit(c.auditOf("brain.train", id.String()))
			if untold(state) { // its state goes with this commit
				if err := addTrained(ch, &o.orgView, state, artifact); err != nil {
					fail(err)
					return
				}
			}
			r := &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: job.GetId(), Status: pb.JobQueued}}}
			if err := c.idem.record(ch.Batch, r); err != nil {
				fail(err)
				return
			}
			o.committer.SubmitChange(ch, func(err error) {
				o.later(func() {
					release()
					if err != nil {
						c.fail(err)
						return
					}
					o.openJobs++
					o.train(id)
					c.reply(r)
				})
			})
		})
	})
}

// train begins a queued training, or goes on with one that was interrupted.
func (o *trainingModule) train(id pb.JobID) {
	view, permit := &o.orgView, o.serving.permit()
	o.training = o.ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return &trainer{module: o, org: view, id: id, permit: permit} }, actor.WithSupervisor(stopFailed)))
}

// trained follows the end of a training, whose child it lets go. One that a purge
// has voided begins anew, unless the purge has ended its job.
func (o *trainingModule) trained(child *actor.PID, id pb.JobID) {
	o.ctx.Poison(child)
	if o.training == nil || !o.training.Equal(child) {
		return
	}
	o.training = nil
	o.exclusive(brainLock, func(release func()) { // behind a cancellation that is being written
		defer release()
		job := &pb.Job{}
		err := o.withStore(func(st *storage.Store) error {
			_, err := st.Get(o.space.Key(storage.TableJob, storage.ID16(id)), job)
			return err
		})
		switch {
		case err != nil:
			o.sys.log.Error("a training's end cannot be read", "org", o.id.String(), "job", id.String(), "err", err)
			o.lose()
		case job.GetStatus() == pb.JobQueued, job.GetStatus() == pb.JobRunning:
			o.train(id)
		}
	})
	o.sys.clock.AfterFunc(tellTrained, func() { o.later(o.tellOfTraining) })
}

// Resume tells of a training that ended before a stop or a crash.
func (o *trainingModule) Resume() error {
	return o.withStore(func(st *storage.Store) error {
		state := &pb.Training{}
		found, err := st.Get(o.space.Key(storage.TableTraining), state)
		if err == nil && found && untold(state) {
			o.sys.clock.AfterFunc(tellTrained, func() { o.later(o.tellOfTraining) })
		}
		return err
	})
}

// untold reports whether a training has ended and nobody has been told.
func untold(state *pb.Training) bool { return state.GetFinishedMs() != 0 && !state.GetTold() }

// addTrained emits the event of a training that has ended. One that failed has trained
// nothing: there is no time at which it did.
func addTrained(c *commit.Change, o *orgView, state *pb.Training, artifact *pb.BrainArtifact) error {
	var at any
	if state.GetStatus() != pb.TrainingFailed {
		at = time.UnixMilli(state.GetFinishedMs()).UTC().Format(eventTime)
	}
	return c.Event(o, pb.EventBrainTrained, nil, map[string]any{
		"status": state.GetStatus(), "trainedAt": at, "nodes": artifact.GetNodes(), "edges": artifact.GetEdges(),
	})
}

// tellOfTraining emits the event of the latest training, once.
func (o *trainingModule) tellOfTraining() {
	if o.lost || o.record == nil {
		return
	}
	o.exclusive(brainLock, func(release func()) {
		state := &pb.Training{}
		var artifact *pb.BrainArtifact
		err := o.withStore(func(st *storage.Store) (err error) {
			if _, err = st.Get(o.space.Key(storage.TableTraining), state); err == nil {
				artifact, err = o.newestBrain(st)
			}
			return err
		})
		if err == nil && !untold(state) {
			release()
			return
		}
		again := func() { // one that is lost leaves it to the next, by resume
			release()
			o.sys.clock.AfterFunc(tellRetry, func() { o.later(o.tellOfTraining) })
		}
		if err != nil {
			again()
			return
		}
		state.Told = true
		ch := commit.New(o.store)
		ch.Put(o.space.Key(storage.TableTraining), state)
		if err = addTrained(ch, &o.orgView, state, artifact); err != nil {
			again()
			return
		}
		o.committer.SubmitChange(ch, func(err error) {
			if err != nil {
				again()
				return
			}
			release()
		})
	})
}

// cancelTraining ends a training that is queued or running.
func (o *trainingModule) cancelTraining(c *call, job *pb.Job) {
	o.exclusive(brainLock, func(release func()) {
		if !o.serving.void() {
			release()
			c.refuse(notCancellable(job)) // it has just ended
			return
		}
		now := clock.Millis(o.sys.clock.Now())
		job.Status, job.FinishedMs = pb.JobCancelled, now
		ch := commit.New(o.store)
		// The states of a training know no cancellation: the reason tells.
		ch.Put(o.space.Key(storage.TableTraining), &pb.Training{
			Status: pb.TrainingFailed, Job: job.GetId(), StartedMs: job.GetStartedMs(), FinishedMs: now, Reason: "It was cancelled.",
		})
		ch.Audit(c.auditOf("job.cancel", pb.JobID(job.GetId()).String()))
		if err := endJob(ch, &o.orgView, job); err != nil {
			release()
			c.fail(err)
			return
		}
		o.committer.SubmitChange(ch, func(err error) {
			o.later(func() {
				release()
				if o.training != nil {
					o.trained(o.training, pb.JobID(job.GetId())) // after a failure it goes on
				}
				if err != nil {
					c.fail(err)
					return
				}
				o.jobsEnded(pb.JobID(job.GetId()))
				c.reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
			})
		})
	})
}

// brainInfo reads what is loaded and the latest training.
func (o *trainingModule) brainInfo(r storage.Reader) (*pb.Reply, error) {
	state := &pb.BrainState{Training: &pb.Training{}}
	if _, err := r.Get(o.space.Key(storage.TableTraining), state.Training); err != nil {
		return nil, err
	}
	state.Training.Checkpoint = nil
	if state.Training.GetStatus() == "" {
		state.Training.Status = pb.TrainingNone
	}
	var err error
	if state.Artifact, err = o.newestBrain(r); err != nil {
		return nil, err
	}
	if sameBrain(o.serving.broken.Load(), state.Artifact) {
		state.Artifact = nil // it is there, but serves nobody
	}
	return derivedReply(&pb.MindResult{Result: &pb.MindResult_Brain{Brain: state}}), nil
}
