package actors

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Now and NewID make an organization the source of its events.
func (o *orgView) Now() time.Time { return o.sys.clock.Now() }

// NewID returns an id that nothing else has.
func (o *orgView) NewID() (uuid.UUID, error) { return o.sys.newUUID() }

// auditOf begins an audit record of what a call does.
func (c *call) auditOf(action, target string) *pb.Audit {
	a := &pb.Audit{
		AtMs: clock.Millis(c.org.sys.clock.Now()), Partition: c.part.ID.Bytes(), Subject: string(c.part.Subject),
		Action: action, Target: target, RequestId: c.env.GetRequestId(),
	}
	if (c.who.key != pb.KeyHash{}) { // else the operator restores
		a.KeyHash, a.User = c.who.key[:], c.who.user.Bytes()
	}
	return a
}

// cost is what a call that succeeds has used by itself; false: nothing, as whatever is
// not metered. Content is charged with its effect (effect.charge), not for being accepted.
func (c *call) cost() (commit.Usage, bool) {
	capability := c.env.GetCapability()
	if capability == "" || capability == pb.CapabilityIngest || c.part == nil || c.part.Kind == pb.PartitionSandbox {
		return commit.Usage{}, false
	}
	line := commit.LineAt(c.org.sys.clock.Now(), capability, c.who.key, c.part)
	return commit.Usage{Line: line, ReadUnits: max(c.readUnits, 1), EmbedTokens: c.embedTokens}, true
}

// meter counts what a call that succeeded has used, unless that went with its effect.
// False: it cannot be counted here any more, because the organization moves.
func (c *call) meter() bool {
	u, ok := c.cost()
	if !ok || c.charged {
		return true
	}
	first, counted := c.org.committer.Trail.Count(u)
	if first {
		c.org.flushUsageSoon()
	}
	return counted
}

// flushUsageSoon gives what reads cost a commit of its own, unless another comes
// first. There is one timer at a time, however many ask for it: what is refused, as it is
// while the disk is full, asks again.
func (o *orgView) flushUsageSoon() {
	t := o.committer.Trail
	if !t.Arm() {
		return
	}
	o.sys.clock.AfterFunc(commit.UsageDelay, func() {
		t.Disarm()
		o.flushUsage(func(error) {})
	})
}

// flushUsage makes durable what reads have cost so far.
func (o *orgView) flushUsage(done func(error)) {
	if !o.committer.Trail.Waits() {
		done(nil)
		return
	}
	// Close waits for it: the organization may have left memory while this waits
	// behind a group that is on its way, and then nobody else would.
	s := o.sys
	s.mu.Lock()
	counted := !s.closing
	if counted {
		s.underway.Add(1)
	}
	s.mu.Unlock()
	o.committer.SubmitChange(commit.NewCosts(o.store), func(err error) {
		if counted {
			defer s.underway.Done()
		}
		if err != nil && !errors.Is(err, commit.ErrLost) && o.committer.Trail.Waits() {
			o.flushUsageSoon()
		}
		done(err)
	})
}

// hitsPerReadUnit defines the unit that search is metered by.
const hitsPerReadUnit = 10

// unitsOf is what reading some records counts as: one unit for every ten begun.
func unitsOf(records int) uint64 { return 1 + uint64(max(0, records-1)/hitsPerReadUnit) }

func (s *System) newUUID() (uuid.UUID, error) {
	id, err := uuid.NewRandomFromReader(s.cfg.Random)
	if err != nil {
		return id, fmt.Errorf("draw an id: %w", err)
	}
	return id, nil
}

// eventTime is RFC 3339 in UTC with milliseconds, as everywhere in the
// interface.
const eventTime = "2006-01-02T15:04:05.000Z"

// byOperator begins an audit record of what the operator does.
func (o *orgView) byOperator(action, target string) *pb.Audit {
	return &pb.Audit{AtMs: clock.Millis(o.sys.clock.Now()), Action: action, Target: target}
}

// settledUsage calls done when the cost of all that was answered is stored.
func (o *orgView) settledUsage(done func(error)) {
	if o.committer.Idle() && !o.committer.Trail.Waits() {
		done(nil)
		return
	}
	// Behind whatever is on its way, and with what waits.
	o.committer.SubmitChange(commit.NewCosts(o.store), done)
}
