package peer

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// silence is a network in which nobody answers, and one node is heard to lead.
type silence struct {
	Remote
	nobody *actor.PID
	leader wire.ServerID
}

// At implements Remote.
func (n silence) At(wire.ServerID) *actor.PID { return n.nobody }

// Reachable implements Remote.
func (silence) Reachable(wire.ServerID) bool { return true }

// Owner implements Remote.
func (n silence) Owner(pb.OrgID) (*actor.PID, bool) {
	return actor.NewPID(string(n.leader), "gateway"), true
}

// routerToSilence is the router of a node whom nobody answers, and how often it has looked who leads.
func routerToSilence(t *testing.T, leader wire.ServerID) (*Router, *atomic.Int64) {
	t.Helper()
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
	t.Cleanup(system.Shutdown)
	nobody := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	looks := &atomic.Int64{}
	sys := &tenant.System{}
	sys.Clock, sys.ActorRoot = lookClock{clock.Real(), looks}, system.Root
	o := &Router{Config: Config{Remote: silence{nobody: nobody, leader: leader}}, sys: sys, answers: nobody}
	o.questions.init(sys.Clock, func(wire.ServerID) string { return "" })
	return o, looks
}

// lookClock is a clock by which no time passes between two looks, which it counts.
type lookClock struct {
	clock.Clock
	looks *atomic.Int64
}

// NewTimer implements clock.Clock.
func (c lookClock) NewTimer(d time.Duration) clock.ChanTimer {
	if d == moveCheck {
		c.looks.Add(1)
		d = 0
	}
	return c.Clock.NewTimer(d)
}

// TestASilentNodeIsGivenUpInTime holds the times that docs/cluster.md promises.
func TestASilentNodeIsGivenUpInTime(t *testing.T) {
	for _, c := range []struct {
		name       string
		leader     wire.ServerID // that is heard of
		repeatable bool
		within     time.Duration
	}{
		{"what may be asked again, after another one leads", "c", true, 500 * time.Millisecond},
		{"what may not", "c", false, 500 * time.Millisecond},
		{"where no other one is heard of", "a", true, 3 * time.Second},
		{"likewise, what may not be asked again", "a", false, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, looks := routerToSilence(t, c.leader)
			grace := longGrace
			if c.repeatable {
				grace = moveGrace
			}
			r, what, err := o.askThere(t.Context(), nil, time.Now().Add(time.Hour), "a", pb.OrgID{1},
				&pb.NodeAsk{}, grace)
			if r != nil || what != tenant.Unknown || err != nil {
				t.Errorf("%v, %v, %v", r, what, err)
			}
			// Two looks more: that which finds it, and that from which on it counts.
			if took := time.Duration(looks.Load()) * moveCheck; took > c.within+2*moveCheck {
				t.Errorf("given up after %v, promised are %v", took, c.within)
			}
		})
	}
}
