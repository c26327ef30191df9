package tenant

import (
	"time"

	"orgmem/proto/clock"
)

// residence is how long an organization stays in memory.
type residence struct {
	org      *Org
	lastWork time.Time
	timer    clock.Timer
	asked    bool // something was asked of it since it came into memory
	visited  bool // what it was brought into memory for is done
}

// LeaveSoon lets an organization of which nobody has asked anything leave memory as soon as nothing is at work in it,
// without waiting for Config.IdleOrg: what passes over thousands must not gather them in memory.
// It is looked at when a lock is released and when a subject leaves, so the caller holds a lock.
func (r *residence) LeaveSoon() { r.visited = true }

// leaveIfVisited lets the organization leave memory if it only came for a visit.
func (r *residence) leaveIfVisited() {
	if r.visited && !r.asked && !r.org.Retired && r.timer != nil && !r.org.subjectsWork() {
		r.timer.Stop()
		r.passivate()
	}
}

// passivate lets an idle organization leave memory, and expired records leave the
// store.
func (r *residence) passivate() {
	r.org.Expire()
	for _, m := range r.org.Modules {
		m.Tick()
	}
	r.org.renewBusyMark()
	idle := r.org.System.Clock.Now().Sub(r.lastWork)
	if r.visited && !r.asked {
		idle = r.org.System.Config.IdleOrg
	}
	atRest := !r.org.subjectsWork() && r.org.openCount == 0 && r.org.LocksHeld() == 0 && r.org.Sandbox == nil &&
		!r.org.sandboxDue &&
		!r.org.sweeping && r.org.Modules.quiet() && r.org.Modules.Idle()
	if idle >= r.org.System.Config.IdleOrg && atRest && r.org.bucketsFull(r.org.record.GetPlan()) && r.tryPassivate() {
		return
	}
	r.timer = r.org.System.Clock.AfterFunc(min(r.org.System.Config.IdleOrg, SweepInterval, r.org.System.tombstoneSweep()),
		func() {
			r.org.send(idleTick{})
		})
}

// tryPassivate takes an organization out of memory, and reports whether it did; a sandbox
// asks its organization for it.
func (r *residence) tryPassivate() bool {
	if r.org.Main == nil {
		return r.org.setIdle() && r.org.System.retire(r.org.Activation, true)
	}
	r.org.Main.send(sandboxIdle{r.org.self, r.org.handled})
	return false
}
