package tenant

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Now is the time of the node. With NewID it makes an organization the source of its events (commit.Source).
func (o *View) Now() time.Time { return o.System.Clock.Now() }

// NewID returns an id that nothing else has.
func (o *View) NewID() (uuid.UUID, error) { return o.System.NewUUID() }

// AuditOf begins an audit record of what a call does.
func (c *Call) AuditOf(action, target string) *pb.Audit {
	a := &pb.Audit{
		AtMs: clock.Millis(c.Org.System.Clock.Now()), Partition: c.Part.ID.Bytes(), Subject: string(c.Part.Subject),
		Action: action, Target: target, RequestId: c.Env.GetRequestId(),
	}
	if (c.Principal.Key != pb.KeyHash{}) { // else the operator restores
		a.KeyHash, a.User = c.Principal.Key[:], c.Principal.User.Bytes()
	}
	return a
}

// Cost is what a call that succeeds has used by itself; false: nothing, as whatever is
// not metered. Content is charged with its effect (graph.Tx.Charge), not for being accepted.
func (c *Call) Cost() (commit.Usage, bool) {
	capability := c.Env.GetCapability()
	if capability == "" || capability == pb.CapabilityIngest || c.Part == nil || c.Part.Kind == pb.PartitionSandbox {
		return commit.Usage{}, false
	}
	line := commit.LineAt(c.Org.System.Clock.Now(), capability, c.Principal.Key, c.Part)
	return commit.Usage{Line: line, ReadUnits: max(c.ReadUnits, 1), EmbedTokens: c.EmbedTokens}, true
}

// meter counts what a call that succeeded has used, unless that went with its effect.
// False: it cannot be counted here any more, because the organization moves.
func (c *Call) meter() bool {
	u, ok := c.Cost()
	if !ok || c.Charged {
		return true
	}
	first, counted := c.Org.Committer.Trail.Count(u)
	if first {
		c.Org.FlushUsageSoon()
	}
	return counted
}

// FlushUsageSoon gives what reads cost a commit of its own, unless another comes
// first. There is one timer at a time, however many ask for it: what is refused, as it is
// while the disk is full, asks again.
func (o *View) FlushUsageSoon() {
	t := o.Committer.Trail
	if !t.Arm() {
		return
	}
	o.System.Clock.AfterFunc(commit.UsageDelay, func() {
		t.Disarm()
		o.flushUsage(func(error) {})
	})
}

// flushUsage makes durable what reads have cost so far.
func (o *View) flushUsage(done func(error)) {
	if !o.Committer.Trail.Waits() {
		done(nil)
		return
	}
	// Close waits for it: the organization may have left memory while this waits
	// behind a group that is on its way, and then nobody else would.
	s := o.System
	counted := s.AdmitVisit()
	o.Committer.SubmitChange(commit.NewCosts(o.Store), func(err error) {
		if counted {
			defer s.EndVisit()
		}
		if err != nil && !errors.Is(err, commit.ErrLost) && o.Committer.Trail.Waits() {
			o.FlushUsageSoon()
		}
		done(err)
	})
}

// hitsPerReadUnit defines the unit that search is metered by.
const hitsPerReadUnit = 10

// UnitsOf is what reading some records counts as: one unit for every ten begun.
func UnitsOf(records int) uint64 { return 1 + uint64(max(0, records-1)/hitsPerReadUnit) }

// NewUUID draws a random UUID (version 4) from Config.Random. It fails only where that cannot be read.
func (s *System) NewUUID() (uuid.UUID, error) {
	id, err := uuid.NewRandomFromReader(s.Config.Random)
	if err != nil {
		return id, fmt.Errorf("draw an id: %w", err)
	}
	return id, nil
}

// EventTime is RFC 3339 in UTC with milliseconds, as everywhere in the
// interface.
const EventTime = "2006-01-02T15:04:05.000Z"

// ByOperator begins an audit record of what the operator does.
func (o *View) ByOperator(action, target string) *pb.Audit {
	return &pb.Audit{AtMs: clock.Millis(o.System.Clock.Now()), Action: action, Target: target}
}

// SettledUsage calls done when the cost of all that was answered is stored.
func (o *View) SettledUsage(done func(error)) {
	if o.Committer.Idle() && !o.Committer.Trail.Waits() {
		done(nil)
		return
	}
	// Behind whatever is on its way, and with what waits.
	o.Committer.SubmitChange(commit.NewCosts(o.Store), done)
}
