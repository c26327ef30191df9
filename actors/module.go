package actors

import (
	"errors"
	"fmt"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// module is one feature in the mailbox of an organization, or of its sandbox: connectors, webhooks, trainings, exports.
// The organization's actor knows its features by this interface only; modulesOf is the table of them. A module knows
// the organization by the actor that it embeds. Unless a method says otherwise it runs in the mailbox, so a module
// needs no lock for its own fields; what it does elsewhere comes back by later.
type module interface {
	// handle begins what an admitted request asks for. It reports whether the request is one of this module's.
	handle(c *call) bool
	// complete finishes a change that a crash or a failed commit left half done, before the organization answers
	// anything.
	complete() error
	// resume continues what a stop, a crash or a move interrupted, once the organization is open.
	resume() error
	// idle reports whether this module lets the organization leave memory. One that does not is marked in the
	// directory, and opened again wherever it is lost.
	idle() bool
	// quiet reports whether nothing of the module runs beside the mailbox. Where something does, the organization stays
	// in memory until it ends, and needs no mark: it is done again, or found, by another activation.
	quiet() bool
	// tick is called whenever the organization looks whether it may leave memory.
	tick()
	// sweep adds to a batch the deletion of what has expired, and returns how many records of one kind it has looked
	// at: as many as maxSweep mean that there may be more.
	sweep(st *storage.Store, b *storage.Batch, now time.Time) (looked int, err error)
	// swept is called when what sweep has added is committed.
	swept()
	// look is called in a sandbox after the organization has removed a member, whose things there have to go.
	look()
	// reseal adds to a batch what the module has stored unsealed, or sealed under a former key.
	reseal(st *storage.Store, b *storage.Batch) error
	// forgetting adds to a batch what must go with something that is forgotten of a partition, of all where it is nil.
	// It may be called from any goroutine.
	forgetting(b *storage.Batch, r storage.Reader, part *partition.Ref) error
	// forgot is called, from any goroutine, once such a batch is committed, or has failed.
	forgot(part *partition.Ref)
	// erasePartition erases what tells of a partition from outside of it. Nothing works in the partition any more. It
	// is called beside the mailbox, one module after the other, and again after a crash.
	erasePartition(ref *partition.Ref) error
	// publish is called with events that are committed, in the order of the commits and from any goroutine. It must not
	// block.
	publish(events []*pb.OutboxEvent)
	// committed is called, from any goroutine, when something was written to the organization.
	committed()
	// jobEnded adds to a change what the end of a job of a partition causes. It is called from any goroutine.
	jobEnded(ch *commit.Change, part *partition.Ref, job *pb.Job) error
	// listens reports whether there is somebody to bring events to: then the directory must say, before anything
	// happens, that the organization may have work.
	listens() bool
	// lastEvent is the highest number of an event that the module has stored as seen, 0 where there is none.
	lastEvent(st *storage.Store) (uint64, error)
	// eraseMember adds to a change what must go with a member.
	eraseMember(st *storage.Store, ch *commit.Change, user pb.UserID) error
	// jobKinds are the kinds of job that the module carries out beside the partitions' queues.
	jobKinds() map[string]jobKind
}

// jobKind is how the organization deals with the jobs of one kind. The worker of the partition deals with those of a
// kind that is not in the table.
type jobKind struct {
	// resume continues an open job when the organization opens. It reports false where the job is in the partition's
	// queue, whose worker continues it.
	resume func(job *pb.Job) (mine bool, err error)
	// cancel cancels a job that has not ended and answers the call. It reports false where the job is in the
	// partition's queue.
	cancel func(c *call, job *pb.Job) (mine bool)
}

// feature is what a node has once of a feature: its settings, its pools, its figures. It makes the module of each
// organization. Start has the table of them.
type feature interface {
	module(o *orgActor) module
	// stats adds the feature's figures.
	stats(st *Stats)
	// left is called when organizations have moved to another node.
	left(which func(pb.OrgID) bool)
}

// noFeature has the methods that a feature may leave out.
type noFeature struct{}

func (noFeature) stats(*Stats)             {}
func (noFeature) left(func(pb.OrgID) bool) {}

// plainFeature is a feature that is the same on every node, and makes its module by a function.
type plainFeature func(o *orgActor) module

func (f plainFeature) module(o *orgActor) module { return f(o) }
func (plainFeature) stats(*Stats)                {}
func (plainFeature) left(func(pb.OrgID) bool)    {}

// featureOf returns a node's feature of a type.
func featureOf[F feature](s *System) F {
	for _, f := range s.features {
		if f, ok := f.(F); ok {
			return f
		}
	}
	panic("actors: featuresOf lacks a feature") //nolint:forbidigo // featuresOf lists each type once
}

// modulesOf makes an organization's modules, in the order of the features.
func modulesOf(o *orgActor) []module {
	var all []module
	for _, f := range o.sys.features {
		all = append(all, f.module(o))
	}
	return all
}

// noModule has the methods that a module may leave out.
type noModule struct{}

func (noModule) handle(*call) bool                                               { return false }
func (noModule) resume() error                                                   { return nil }
func (noModule) complete() error                                                 { return nil }
func (noModule) quiet() bool                                                     { return true }
func (noModule) idle() bool                                                      { return true }
func (noModule) tick()                                                           {}
func (noModule) sweep(*storage.Store, *storage.Batch, time.Time) (int, error)    { return 0, nil }
func (noModule) swept()                                                          {}
func (noModule) look()                                                           {}
func (noModule) reseal(*storage.Store, *storage.Batch) error                     { return nil }
func (noModule) forgetting(*storage.Batch, storage.Reader, *partition.Ref) error { return nil }
func (noModule) forgot(*partition.Ref)                                           {}
func (noModule) erasePartition(*partition.Ref) error                             { return nil }
func (noModule) publish([]*pb.OutboxEvent)                                       {}
func (noModule) committed()                                                      {}
func (noModule) jobEnded(*commit.Change, *partition.Ref, *pb.Job) error          { return nil }
func (noModule) listens() bool                                                   { return false }
func (noModule) lastEvent(*storage.Store) (uint64, error)                        { return 0, nil }
func (noModule) eraseMember(*storage.Store, *commit.Change, pb.UserID) error     { return nil }
func (noModule) jobKinds() map[string]jobKind                                    { return nil }

// moduleOf returns an organization's module of a type. It may be called from any goroutine, and at any time: an
// organization's modules are made with it.
func moduleOf[M module](o *orgView) M {
	for _, m := range o.modules {
		if m, ok := m.(M); ok {
			return m
		}
	}
	panic("actors: modulesOf lacks a module") //nolint:forbidigo // modulesOf lists each type once
}

// later runs f in the organization's mailbox, soon.
func (o *orgView) later(f func()) { o.tell(func(*orgActor) { f() }) }

// resumeModules lets every module continue what was interrupted.
func (o *orgActor) resumeModules() error {
	var failed error
	for _, m := range o.modules {
		failed = errors.Join(failed, m.resume())
	}
	return failed
}

// completeChanges lets every module finish what was left half done.
func (o *orgActor) completeChanges() error {
	var failed error
	for _, m := range o.modules {
		failed = errors.Join(failed, m.complete())
	}
	return failed
}

// modulesQuiet reports whether nothing of a module runs beside the mailbox.
func (o *orgActor) modulesQuiet() bool {
	for _, m := range o.modules {
		if !m.quiet() {
			return false
		}
	}
	return true
}

// modulesIdle reports whether no module keeps the organization in memory.
func (o *orgActor) modulesIdle() bool {
	for _, m := range o.modules {
		if !m.idle() {
			return false
		}
	}
	return true
}

// dispatch hands an admitted request to the module whose it is.
func (o *orgActor) dispatch(c *call) {
	for _, m := range o.modules {
		if m.handle(c) {
			return
		}
	}
	c.fail(fmt.Errorf("operation %T is unknown here", c.env.GetOp()))
}

// beforeForget lets the modules add to a batch that forgets something of a partition, of all where it is nil. Its
// caller calls afterForget once the batch is committed, or has failed.
func (o *orgView) beforeForget(b *storage.Batch, r storage.Reader, part *partition.Ref) error {
	for _, m := range o.modules {
		if err := m.forgetting(b, r, part); err != nil {
			return err
		}
	}
	return nil
}

// afterForget tells the modules that something of a partition is forgotten.
func (o *orgView) afterForget(part *partition.Ref) {
	for _, m := range o.modules {
		m.forgot(part)
	}
}

// publish tells the modules of events that are committed.
func (o *orgView) publish(events []*pb.OutboxEvent) {
	for _, m := range o.modules {
		m.publish(events)
	}
}

// lastEvent is the highest number of an event that a module knows. Another event must not get it.
func (o *orgView) lastEvent(st *storage.Store) (last uint64, err error) {
	for _, m := range o.modules {
		n, err := m.lastEvent(st)
		if err != nil {
			return 0, err
		}
		last = max(last, n)
	}
	return last, nil
}

// kindOfJob returns how jobs of a kind are dealt with, the zero jobKind where the partitions' workers do it.
func (o *orgActor) kindOfJob(job *pb.Job) jobKind { return o.kinds[job.GetType()] }

// committed tells the modules that something was written to the organization.
func (o *orgView) committed() {
	for _, m := range o.modules {
		m.committed()
	}
}
