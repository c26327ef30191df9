package tenant

import (
	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	pb "orgmem/proto"
)

// What an organization's actor is sent beside calls. Each message says what has happened, or what is wanted. None
// carries a function that is handed the actor but an operator's Visit. A module sends the rest of its own work behind a
// commit by InMailbox.
type (
	// message changes what the actor remembers. It is dropped where the organization could not be opened.
	message interface{ apply(o *Org) }
	// continuation is the rest of a work that the actor, or one of its modules, has begun.
	continuation func()
	// retireActivation: what the activation remembers may not be what the store says.
	retireActivation struct{}
	// idleTick is the look whether the organization may leave memory.
	idleTick struct{}
	// jobsCounted says how many more jobs are open.
	jobsCounted struct{ n int }
	// jobSettled is the end of the commit that brings a module's job.
	jobSettled struct {
		call           *Call
		reply          *pb.Reply
		release, begin func()
		err            error
	}
	// subjectIdle is a subject's word that it has nothing to do.
	subjectIdle struct {
		id      pb.PartitionID
		child   *Child
		handled uint64
	}
	// partitionWanted asks for a partition's actor, which looks after the partition by itself.
	partitionWanted struct{ part *partition.Ref }
	// readWithoutOwner says that a reader has a partition in memory that belongs to no actor yet.
	readWithoutOwner struct{ part pb.PartitionID }
	// lockReleased is the end of a change of what the lock is for.
	lockReleased struct{ of LockKey }
	// replayEnded says that a request with an idempotency key is answered.
	replayEnded struct{ key IdemKey }
	// sandboxUnopened is the word of a sandbox that could not be opened, sandboxRetired of one that has lost its lease,
	// sandboxIdle of one that has nothing to do.
	sandboxUnopened struct {
		child *Child
		why   error
	}
	sandboxRetired struct{ child *Child }
	sandboxIdle    struct {
		child   *Child
		handled uint64
	}
	// sandboxDue asks for a sandbox that has something to do and could not be opened before.
	sandboxDue struct{}
	// otherVectors says that a partition is not embedded with the model that the directory says of all.
	otherVectors struct{}
	// busyMarkWanted asks for the organization's mark in the directory, in the name of its sandbox.
	busyMarkWanted struct{ then func(error) }
)

// Mailbox is where an organization's actor is reached.
type Mailbox struct {
	root *actor.RootContext
	PID  *actor.PID // set when the actor starts, before anybody has the mailbox
}

func (m *Mailbox) send(what message) { m.root.Send(m.PID, what) }

// InMailbox runs the rest of a work in the organization's mailbox, soon: what a module does after a commit, or after a
// wait. f touches only what the actor or module that began the work may touch.
func (m *Mailbox) InMailbox(f func()) { m.send(continuation(f)) }

// CountJobs says that so many more jobs are open. It may be called from any goroutine.
func (m *Mailbox) CountJobs(n int) { m.send(jobsCounted{n}) }

// AskRetire asks for another activation, which will read the store anew. It may be called from any goroutine.
func (m *Mailbox) AskRetire() { m.send(retireActivation{}) }

// AskRelease is a subject's word, from its actor, that it has nothing to do. handled is how much of what it was sent
// it had dealt with when it found that.
func (m *Mailbox) AskRelease(id pb.PartitionID, child *Child, handled uint64) {
	m.send(subjectIdle{id, child, handled})
}

// partitionRead says that a reader has a partition in memory that belongs to no actor yet.
func (m *Mailbox) partitionRead(part *partition.Ref) { m.send(readWithoutOwner{part.ID}) }

// AskWake asks for a partition's actor, which looks after the partition by itself. It may be called from any goroutine.
func (m *Mailbox) AskWake(part *partition.Ref) { m.send(partitionWanted{part}) }

func (m continuation) apply(*Org)       { m() }
func (retireActivation) apply(o *Org)   { o.Retire() }
func (idleTick) apply(o *Org)           { o.passivate() }
func (m jobsCounted) apply(o *Org)      { o.openCount += m.n }
func (m subjectIdle) apply(o *Org)      { o.ReleaseSubject(m.id, m.child, m.handled) }
func (m partitionWanted) apply(o *Org)  { o.WakePartition(m.part.ID) }
func (m readWithoutOwner) apply(o *Org) { o.Hold(m.part) }
func (m replayEnded) apply(o *Org)      { delete(o.replaysInFlight, m.key) }
func (m sandboxUnopened) apply(o *Org)  { o.sandboxFailed(m.child, m.why) }
func (m sandboxIdle) apply(o *Org)      { o.ReleaseSandbox(m.child, m.handled) }
func (sandboxDue) apply(o *Org)         { o.openDueSandbox() }
func (otherVectors) apply(o *Org)       { o.MarkEmbedded("", func(error) {}) } // the next slice tries again
func (m busyMarkWanted) apply(o *Org)   { o.WithBusyMark(m.then) }

func (m lockReleased) apply(o *Org) {
	o.unlock(m.of)
	o.leaveIfVisited()
}

func (m sandboxRetired) apply(o *Org) {
	if o.Sandbox == m.child { // one that was reset has lost nothing that matters
		o.Retire()
	}
}
