package tenant

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// busyMark is an organization's mark in the directory: it may have work, and is opened again after a crash or a move.
type busyMark struct {
	org     *Org
	set     bool          // the directory says so, as far as this activation knows
	waiters []func(error) // waiting for the directory to say so
}

// withMarkForEvents runs f, for a call that may change something, once the directory says that
// this organization may have something to bring. Where nobody listens, or it says so
// already, that is now.
func (b *busyMark) withMarkForEvents(c *Call, f func()) {
	if !slices.ContainsFunc(b.org.Modules, Module.Listens) || b.set || c.Env.GetMethod() == MethodGet {
		f()
		return
	}
	b.WithBusyMark(func(err error) {
		if err != nil {
			c.Fail(err)
			return
		}
		if c.Part == nil || b.org.StillInUse(c) {
			f()
		}
	})
}

// setIdle clears the directory's busy mark and reports whether it is clear.
func (b *busyMark) setIdle() bool {
	if !b.set && !b.markedBusy() {
		return true
	}
	// From now on a job that is accepted asks for the mark again, behind this; also
	// where this fails, for then it may have taken effect all the same.
	b.set = false
	b.markBusy(false, func(err error) {
		if err != nil {
			b.org.visited = false // it leaves as others do, or it would try again at once
		}
	})
	return false // the next tick sees the result
}

// markedBusy reports what this node's copy of the directory says.
func (b *busyMark) markedBusy() bool {
	e, ok := b.org.System.Config.Host.Directory().Org(b.org.ID)
	return ok && !e.GetRemoved() && e.GetBusy()
}

// renewBusyMark marks an organization with work that is not marked: the mark of its syncer
// was not to be had, or an earlier activation, which was about to rest, has cleared it
// since this one found it.
func (b *busyMark) renewBusyMark() {
	works := b.org.openCount > 0 || !b.org.Modules.Idle() || b.org.Sandbox != nil || b.org.sandboxDue
	if b.org.Main != nil || b.org.Retired || !works || b.waiters != nil || b.set && b.markedBusy() {
		return
	}
	b.set = false
	b.WithBusyMark(func(error) {}) // the next tick tries again
}

// WithBusyMark calls f once the directory says that this organization may have
// unfinished jobs, so that after a crash somebody finishes them.
func (b *busyMark) WithBusyMark(f func(error)) {
	if b.org.Main != nil { // the directory knows of the organization, not of its sandbox
		view := &b.org.View
		b.org.Main.send(busyMarkWanted{func(err error) { view.InMailbox(func() { f(err) }) }})
		return
	}
	if b.set && b.waiters == nil {
		f(nil)
		return
	}
	b.waiters = append(b.waiters, f)
	if len(b.waiters) == 1 {
		b.markBusy(true, func(err error) {
			waiting := b.waiters
			b.waiters = nil
			for _, f := range waiting {
				f(err)
			}
		})
	}
}

// WithBusyMarkFor is WithBusyMark for a call, which fails without the mark, and where its
// partition began to be erased while it waited, here or before.
func (b *busyMark) WithBusyMarkFor(c *Call, f func()) {
	b.WithBusyMark(func(err error) {
		if err != nil {
			c.Fail(err)
			return
		}
		if b.org.StillInUse(c) {
			f()
		}
	})
}

// markBusy writes the mark through the directory; then runs in this actor.
func (b *busyMark) markBusy(busy bool, then func(error)) {
	b.changeEntry(func(e *pb.OrgEntry) { e.Busy = busy }, func(err error) {
		if err == nil {
			b.set = busy
		}
		then(err)
	})
}

// MarkEmbedded writes to the directory which model all memories of the organization are embedded with, or with an empty
// one that this is not known; then runs in this actor.
func (b *busyMark) MarkEmbedded(model string, then func(error)) {
	b.changeEntry(func(e *pb.OrgEntry) { e.Embedded = model }, then)
}

// NoteVectors says what a partition is embedded with. Where the directory says otherwise of the whole organization it is
// told so: nodes of other settings may lead the organization in turn. It may be called from any goroutine.
func (o *View) NoteVectors(state *pb.PartitionState) {
	e, ok := o.System.Config.Host.Directory().Org(o.ID)
	if o.Main == nil && ok && e.GetEmbedded() != "" && partition.Outdated(state, e.GetEmbedded()) {
		o.send(otherVectors{})
	}
}

// changeEntry changes the organization's entry in the directory; then runs in this actor.
func (b *busyMark) changeEntry(change func(*pb.OrgEntry), then func(error)) {
	b.org.Exclusive(directoryLock, func(release func()) {
		entry, ok := b.org.System.Config.Host.Directory().Org(b.org.ID)
		if !ok || entry.GetRemoved() {
			release()
			then(wire.ErrRemoved)
			return
		}
		next := proto.CloneOf(entry)
		change(next)
		b.org.System.RunInBackground(func(ctx context.Context) {
			err := b.org.System.Config.Host.Directory().PutOrg(ctx, next)
			b.org.InMailbox(func() { then(err) })
			release()
		})
	})
}
