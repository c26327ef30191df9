package cluster

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/cluster/wire"
)

// cutOffAfter is how long a node goes on to say that it serves while it knows of no
// leader of the meta group. An election takes 1.9 s (median) to 2.9 s (see
// ElectionTimeout), and one that fails is followed by another; requests wait for its end
// for up to 30 s. So a node that knows of none for longer has most likely lost the way to
// the others, and the requests that it turns away are better off elsewhere.
const cutOffAfter = 8 * time.Second

// readyPoll is how often WaitReady looks again where there are others: nothing tells it
// that a follower has caught up with its leader.
const readyPoll = 50 * time.Millisecond

// readiness says whether requests may be sent to this node.
type readiness struct {
	*node
	groups
	caughtUp atomic.Bool // Ready was nil once; see Serves
}

// silence is since when this node knows of no leader of a group.
type silence struct {
	mu    sync.Mutex // held while the leader is looked at, too, or an older look could win
	quiet bool
	since time.Duration // in node.elapsed; of quiet
}

// note takes down whether there is a leader, and returns for how long there has been
// none. s.mu is held.
func (s *silence) note(led bool, now time.Duration) time.Duration {
	switch {
	case led:
		s.quiet = false
		return 0
	case !s.quiet:
		s.quiet, s.since = true, now
	}
	return now - s.since
}

// leaderless is for how long this node has known of no leader of the group.
func (g *group) leaderless() time.Duration {
	g.silence.mu.Lock()
	defer g.silence.mu.Unlock()
	_, leader := g.raft.LeaderWithID()
	return g.silence.note(leader != "", g.node.elapsed())
}

// Ready returns nil when every group of this node has caught up: it is led by
// this node, which has applied all that its log held when it was elected, or by
// another one, and this node has what was agreed on. Else it is ErrNotReady naming
// a group. Shards in which it has no vote (yet) do not count: they come and go while
// the controller works, and nobody waits for this node's copy.
func (r *readiness) Ready() error {
	if r.peers != nil && r.group(wire.MetaGroup) == nil {
		return fmt.Errorf("the meta group is being opened again: %w", wire.ErrNotReady)
	}
	for _, g := range r.hosted() {
		if !g.ready() && (g.id == wire.MetaGroup || g.votes()) {
			return fmt.Errorf("group %d of %d: %w", g.id, len(r.groups), wire.ErrNotReady)
		}
	}
	return nil
}

// WaitReady waits until Ready returns nil or the context ends.
func (r *readiness) WaitReady(ctx context.Context) error { return r.wait(ctx, r.Ready) }

func (r *readiness) wait(ctx context.Context, ready func() error) error {
	for {
		changed := r.LeadersChanged()
		err := ready()
		if err == nil {
			return nil
		}
		if err := r.await(ctx, changed, err); err != nil {
			return err
		}
	}
}

// await waits for a change, and with other nodes for a moment at most; why is what keeps
// the caller waiting.
func (r *readiness) await(ctx context.Context, changed <-chan struct{}, why error) error {
	var poll <-chan time.Time
	if r.peers != nil {
		timer := r.cfg.Clock.NewTimer(readyPoll)
		defer timer.Stop()
		poll = timer.C()
	}
	select {
	case <-changed:
		return nil
	case <-poll:
		return nil
	case <-r.halted:
		return errHalted
	case <-r.closing:
		return wire.ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", why, ctx.Err())
	}
}

// Serves returns nil while requests may be sent to this node. A node alone has to be
// Ready. One of several has to have been, once, and after that only to be a part of the
// cluster still: it brings what it does not decide itself to the node that does, and
// holds a request while its group has no leader. So an election, which all nodes see at
// once, takes none of them away from a load balancer; being cut off from the others for
// cutOffAfter does. The error is ErrNotReady.
func (r *readiness) Serves() error {
	if r.peers == nil {
		return r.Ready()
	}
	if !r.caughtUp.Load() {
		if err := r.Ready(); err != nil {
			return err
		}
		r.caughtUp.Store(true)
	}
	g := r.group(wire.MetaGroup)
	if g == nil {
		return fmt.Errorf("the meta group is being opened again: %w", wire.ErrNotReady)
	}
	if d := g.leaderless(); d >= cutOffAfter {
		return fmt.Errorf("no leader of the meta group is known for %v: %w", d.Truncate(time.Second), wire.ErrNotReady)
	}
	return nil
}
