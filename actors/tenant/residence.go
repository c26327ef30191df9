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
