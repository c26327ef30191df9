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
	// resume continues what a stop, a crash or a move interrupted, once the organization is open.
	resume() error
	// idle reports whether this module lets the organization leave memory.
	idle() bool
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

// noModule has the methods that a module may leave out.
type noModule struct{}

func (noModule) handle(*call) bool                                               { return false }
func (noModule) resume() error                                                   { return nil }
func (noModule) idle() bool                                                      { return true }
func (noModule) tick()                                                           {}
func (noModule) sweep(*storage.Store, *storage.Batch, time.Time) (int, error)    { return 0, nil }
func (noModule) swept()                                                          {}
func (noModule) look()                                                           {}
func (noModule) reseal(*storage.Store, *storage.Batch) error                     { return nil }
func (noModule) forgetting(*storage.Batch, storage.Reader, *partition.Ref) error { return nil }
func (noModule) forgot(*partition.Ref)                                           {}
func (noModule) erasePartition(*partition.Ref) error                             { return nil }
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

// kindOfJob returns how jobs of a kind are dealt with, the zero jobKind where the partitions' workers do it.
func (o *orgActor) kindOfJob(job *pb.Job) jobKind { return o.kinds[job.GetType()] }
