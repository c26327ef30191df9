package tenant

import (
	"errors"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Module is one feature in the mailbox of an organization, or of its sandbox: connectors, webhooks, trainings, exports.
// The organization's actor knows its features by this interface only; System.Features says which there are. A module
// knows the organization by the actor that it embeds. Unless a method says otherwise it runs in the mailbox, so a
// module needs no lock for its own fields; what it does elsewhere comes back by InMailbox.
type Module interface {
	// Handle begins what an admitted request asks for. It reports whether the request is one of this module's.
	Handle(c *Call) bool
	// Complete finishes a change that a crash or a failed commit left half done, before the organization answers
	// anything.
	Complete() error
	// Resume continues what a stop, a crash or a move interrupted, once the organization is open.
	Resume() error
	// Idle reports whether this module lets the organization leave memory. One that does not is marked in the
	// directory, and opened again wherever it is lost.
	Idle() bool
	// Quiet reports whether nothing of the module runs beside the mailbox. Where something does, the organization stays
	// in memory until it ends, and needs no mark: it is done again, or found, by another activation.
	Quiet() bool
	// Tick is called whenever the organization looks whether it may leave memory.
	Tick()
	// Sweep adds to a batch the deletion of what has expired, and returns how many records of one kind it has looked
	// at: as many as MaxSweep mean that there may be more.
	Sweep(st *storage.Store, b *storage.Batch, now time.Time) (looked int, err error)
	// Swept is called when what sweep has added is committed.
	Swept()
	// SandboxWoken is called in a sandbox after the organization has removed a member, whose things there have to go.
	SandboxWoken()
	// Reseal adds to a batch what the module has stored unsealed, or sealed under a former key.
	Reseal(st *storage.Store, b *storage.Batch) error
	// Forgetting adds to a batch what must go with something that is forgotten of a partition, of all where it is nil.
	// It may be called from any goroutine.
	Forgetting(b *storage.Batch, r storage.Reader, part *partition.Ref) error
	// Forgot is called, from any goroutine, once such a batch is committed, or has failed.
	Forgot(part *partition.Ref)
	// ErasePartition erases what tells of a partition from outside of it. Nothing works in the partition any more. It
	// is called beside the mailbox, one module after the other, and again after a crash.
	ErasePartition(ref *partition.Ref) error
	// Publish is called with events that are committed, in the order of the commits and from any goroutine. It must not
	// block.
	Publish(events []*pb.OutboxEvent)
	// Committed is called, from any goroutine, when something was written to the organization.
	Committed()
	// JobEnded adds to a change what the end of a job of a partition causes. It is called from any goroutine.
	JobEnded(ch *commit.Change, part *partition.Ref, job *pb.Job) error
	// Listens reports whether there is somebody to bring events to: then the directory must say, before anything
	// happens, that the organization may have work.
	Listens() bool
	// LastEvent is the highest number of an event that the module has stored as seen, or 0.
	LastEvent(st *storage.Store) (uint64, error)
	// EraseMember adds to a change what must go with a member.
	EraseMember(st *storage.Store, ch *commit.Change, user pb.UserID) error
	// JobKinds are the kinds of job that the module carries out beside the partitions' queues.
	JobKinds() map[string]JobKind
}

// JobKind is how the organization deals with the jobs of one kind. The worker of the partition deals with those of a
// kind that is not in the table.
type JobKind struct {
	// Resume continues an open job when the organization opens. It reports false where the job is in the partition's
	// queue, whose worker continues it.
	Resume func(job *pb.Job) (mine bool, err error)
	// Cancel cancels a job that has not ended and answers the call. It reports false where the job is in the
	// partition's queue.
	Cancel func(c *Call, job *pb.Job) (mine bool)
}

// Feature is what a node has once of a feature: its settings, its pools, its figures. It makes the module of each
// organization. Start has the table of them.
type Feature interface {
	Module(o *Org) Module
	// Stats adds the feature's figures.
	Stats(st *Stats)
	// Left is called when organizations have moved to another node.
	Left(which func(pb.OrgID) bool)
}

// NoFeature has the methods that a feature may leave out.
type NoFeature struct{}

// Stats adds no figures.
func (NoFeature) Stats(*Stats) {}

// Left does nothing.
func (NoFeature) Left(func(pb.OrgID) bool) {}

// PlainFeature is a feature that is the same on every node, and makes its module by a function.
type PlainFeature func(o *Org) Module

// Module makes the organization's module by the function.
func (f PlainFeature) Module(o *Org) Module { return f(o) }

// Stats adds no figures.
func (PlainFeature) Stats(*Stats) {}

// Left does nothing.
func (PlainFeature) Left(func(pb.OrgID) bool) {}

// FeatureOf returns a node's feature of a type. It may be called from any goroutine once Start has set the
// features, and panics where the node has no such feature.
func FeatureOf[F Feature](s *System) F {
	for _, f := range s.Features {
		if f, ok := f.(F); ok {
			return f
		}
	}
	panic("tenant: no such feature") //nolint:forbidigo // the table of features has each once
}

// modulesOf makes an organization's modules, in the order of the features.
func modulesOf(o *Org) Modules {
	var all Modules
	for _, f := range o.System.Features {
		all = append(all, f.Module(o))
	}
	return all
}

// NoModule has the methods that a module may leave out.
type NoModule struct{}

// Handle leaves every request to the other modules.
func (NoModule) Handle(*Call) bool { return false }

// Resume has nothing to continue.
func (NoModule) Resume() error { return nil }

// Complete has nothing to finish.
func (NoModule) Complete() error { return nil }

// Quiet reports that nothing runs beside the mailbox.
func (NoModule) Quiet() bool { return true }

// Idle lets the organization leave memory.
func (NoModule) Idle() bool { return true }

// Tick does nothing.
func (NoModule) Tick() {}

// Sweep finds nothing that has expired.
func (NoModule) Sweep(*storage.Store, *storage.Batch, time.Time) (int, error) { return 0, nil }

// Swept does nothing.
func (NoModule) Swept() {}

// SandboxWoken does nothing.
func (NoModule) SandboxWoken() {}

// Reseal has no secrets.
func (NoModule) Reseal(*storage.Store, *storage.Batch) error { return nil }

// Forgetting adds nothing to the batch.
func (NoModule) Forgetting(*storage.Batch, storage.Reader, *partition.Ref) error { return nil }

// Forgot does nothing.
func (NoModule) Forgot(*partition.Ref) {}

// ErasePartition keeps nothing of a partition outside of it.
func (NoModule) ErasePartition(*partition.Ref) error { return nil }

// Publish drops the events.
func (NoModule) Publish([]*pb.OutboxEvent) {}

// Committed does nothing.
func (NoModule) Committed() {}

// JobEnded adds nothing to the change.
func (NoModule) JobEnded(*commit.Change, *partition.Ref, *pb.Job) error { return nil }

// Listens reports that nobody waits for events.
func (NoModule) Listens() bool { return false }

// LastEvent has seen no event.
func (NoModule) LastEvent(*storage.Store) (uint64, error) { return 0, nil }

// EraseMember keeps nothing of a member.
func (NoModule) EraseMember(*storage.Store, *commit.Change, pb.UserID) error { return nil }

// JobKinds carries out no jobs.
func (NoModule) JobKinds() map[string]JobKind { return nil }

// ModuleOf returns an organization's module of a type. It may be called from any goroutine, and at any time: an
// organization's modules are made with it. It panics where the organization has no such module.
func ModuleOf[M Module](o *View) M {
	for _, m := range o.Modules {
		if m, ok := m.(M); ok {
			return m
		}
	}
	panic("tenant: no feature makes such a module") //nolint:forbidigo // the table of features has each once
}

// Modules are the features in one organization, in the order of the node's table.
type Modules []Module

// resume lets every module continue what was interrupted.
func (ms Modules) resume() error {
	var failed error
	for _, m := range ms {
		failed = errors.Join(failed, m.Resume())
	}
	return failed
}

// complete lets every module finish what was left half done.
func (ms Modules) complete() error {
	var failed error
	for _, m := range ms {
		failed = errors.Join(failed, m.Complete())
	}
	return failed
}

// quiet reports whether nothing of a module runs beside the mailbox.
func (ms Modules) quiet() bool {
	for _, m := range ms {
		if !m.Quiet() {
			return false
		}
	}
	return true
}

// Idle reports whether no module keeps the organization in memory.
func (ms Modules) Idle() bool {
	for _, m := range ms {
		if !m.Idle() {
			return false
		}
	}
	return true
}

// BeforeForget lets the modules add to a batch that forgets something of a partition, of all where it is nil. Its
// caller calls AfterForget once the batch is committed, or has failed.
func (ms Modules) BeforeForget(b *storage.Batch, r storage.Reader, part *partition.Ref) error {
	for _, m := range ms {
		if err := m.Forgetting(b, r, part); err != nil {
			return err
		}
	}
	return nil
}

// AfterForget tells the modules that something of a partition is forgotten.
func (ms Modules) AfterForget(part *partition.Ref) {
	for _, m := range ms {
		m.Forgot(part)
	}
}

// publish tells the modules of events that are committed.
func (ms Modules) publish(events []*pb.OutboxEvent) {
	for _, m := range ms {
		m.Publish(events)
	}
}

// lastEvent is the highest number of an event that a module knows. Another event must not get it.
func (ms Modules) lastEvent(st *storage.Store) (last uint64, err error) {
	for _, m := range ms {
		n, err := m.LastEvent(st)
		if err != nil {
			return 0, err
		}
		last = max(last, n)
	}
	return last, nil
}

// committed tells the modules that something was written to the organization.
func (ms Modules) committed() {
	for _, m := range ms {
		m.Committed()
	}
}
