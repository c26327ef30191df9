package tenant

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// LeadershipListener passes on what the host says of leadership (cluster.Config.OnLead) to the
// System that is started later.
type LeadershipListener struct{ to atomic.Pointer[System] }

// OnLead is what the host calls. Before the System is there it does nothing:
// Start looks for itself which shards are led.
func (l *LeadershipListener) OnLead(shard uint32, leads bool) {
	s := l.to.Load()
	switch {
	case s == nil:
	case leads:
		s.shardGained(shard)
	default:
		s.shardLost(shard)
	}
}

// OnHandOver is what the host calls (cluster.Config.OnHandOver).
func (l *LeadershipListener) OnHandOver(shard uint32) {
	if s := l.to.Load(); s != nil {
		s.handOver(shard)
	}
}

// Of names the System that the listener calls from now on, and passes on which shards this node leads already.
func (l *LeadershipListener) Of(s *System) {
	l.to.Store(s)
	for _, shard := range s.Config.Placement.Leads() {
		s.shardGained(shard)
	}
}

// shardGained wakes the organizations of a shard that have unfinished jobs: the
// node that led it before has left them.
func (s *System) shardGained(shard uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	s.BackgroundTasks.Go(func() {
		of := func(org pb.OrgID) bool { return s.Config.Placement.Shard(org) == shard }
		s.resume(of)
		// This node's copy of the directory may lack the marks of the last moments before
		// the one that led is gone: nobody would look again.
		if s.directoryCaughtUp(shard) {
			s.resume(func(org pb.OrgID) bool { return of(org) && s.inMemory(org) == nil })
		}
	})
}

// directoryCaughtUp waits until this node's copy of the directory holds all that was
// acknowledged before the call; false when the shard is not led here any more, or Close
// has begun.
func (s *System) directoryCaughtUp(shard uint32) bool {
	for wait := MinBackOff; slices.Contains(s.Config.Placement.Leads(), shard); wait = min(2*wait, MaxBackOff) {
		if s.Config.CaughtUp(s.Lifetime) == nil {
			return true
		}
		if !s.Sleep(wait) {
			return false
		}
	}
	return false
}

// shardLost takes the organizations of a shard out of memory: what they remember is
// another node's to say from now on. The answer to a waiting request says to ask there;
// event streams end, and their readers come again.
func (s *System) shardLost(shard uint32) {
	of := func(org pb.OrgID) bool { return s.Config.Placement.Shard(org) == shard }
	gone := s.those(of)
	var sealed []*View
	for _, a := range gone {
		if o := a.view.Load(); o != nil {
			o.Committer.Trail.Seal() // what is answered from now on is counted elsewhere
			sealed = append(sealed, o)
		}
	}
	settled := make(chan error, 1)
	s.mu.Lock()
	s.settling[shard] = settled
	if s.closing {
		close(settled) // Close has stepped down before: this was not planned
	} else {
		// Not here: it may read a store, and the shard's leadership waits for this.
		s.BackgroundTasks.Go(func() { settleCosts(sealed, settled) })
	}
	s.mu.Unlock()
	for _, a := range gone {
		s.ActorRoot.Send(a.PID, retireActivation{})
	}
	for _, f := range s.Features {
		f.Left(of)
	}
}

// settleCosts writes what reads have cost in organizations that leave this node, while
// it still can: on a planned move the log takes proposals until handOver has returned.
// settled, which has room for an error, is closed when all has been written, or refused;
// then the first error is in it.
func settleCosts(leaving []*View, settled chan<- error) {
	var left atomic.Int64
	left.Store(1)
	done := func(err error) {
		if err != nil {
			select {
			case settled <- err:
			default: // the first tells enough
			}
		}
		if left.Add(-1) == 0 {
			close(settled)
		}
	}
	for _, o := range leaving {
		left.Add(1)
		if o.Committer.Trail.Waits() {
			o.flushUsage(done)
		} else {
			o.SettledUsage(done) // a group may be on its way, with the last of it
		}
	}
	done(nil)
}

// handOver waits until what shardLost has left to write of a shard is written, or
// commit.UsageDelay has passed: the shard has no leader meanwhile.
func (s *System) handOver(shard uint32) {
	s.mu.Lock()
	settled := s.settling[shard]
	s.mu.Unlock()
	if settled == nil {
		return
	}
	timer := s.Clock.NewTimer(commit.UsageDelay)
	defer timer.Stop()
	var err error
	select {
	case err = <-settled:
	case <-timer.C():
		err = context.DeadlineExceeded
	}
	if err != nil {
		s.Log.Warn("usage of the last moment was not stored before a shard moved", "shard", shard, "err", err)
	}
}

// AwaitMovedAway waits until no organization that moved away is in memory any more, or the
// context ends: with Placement.Leads empty, until the node has nothing of its own
// to do.
func (s *System) AwaitMovedAway(ctx context.Context) error {
	for {
		moved := s.those(func(org pb.OrgID) bool { return !s.ledHere(org) })
		if len(moved) == 0 && s.calls.Calls() == 0 {
			return nil
		}
		if err := clock.Wait(ctx, s.Clock, idlePause); err != nil {
			return err
		}
	}
}

// idlePause is how often Idle looks.
const idlePause = 20 * time.Millisecond
