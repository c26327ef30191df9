package cluster

import (
	"fmt"
	"sync"
	"time"

	"orgmem/cluster/wire"
)

// cutOffAfter is how long a node goes on to say that it serves while it knows of no
// leader of the meta group. An election takes 1.9 s (median) to 2.9 s (see
// ElectionTimeout), and one that fails is followed by another; requests wait for its end
// for up to 30 s. So a node that knows of none for longer has most likely lost the way to
// the others, and those whom it turns away are better off elsewhere.
const cutOffAfter = 8 * time.Second

// silence is since when this node knows of no leader of a group.
type silence struct {
	mu    sync.Mutex // held while the leader is looked at, too, or an older look could win
	quiet bool
	since time.Duration // Host.elapsed; of quiet
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
	return g.silence.note(leader != "", g.host.elapsed())
}

// Serves returns nil while requests may be sent to this node. A node alone has to be
// Ready. One of several has to have been, once, and after that only to be a part of
// the cluster still: whatever it does not decide itself it brings to who does, and
// while a group has no leader it holds the request. So an election, which all nodes
// see at once, takes none of them away from a load balancer; being cut off from the
// others for cutOffAfter does. The error is ErrNotReady.
func (h *Host) Serves() error {
	if h.peers == nil {
		return h.Ready()
	}
	if !h.caughtUp.Load() {
		if err := h.Ready(); err != nil {
			return err
		}
		h.caughtUp.Store(true)
	}
	g := h.group(wire.MetaGroup)
	if g == nil {
		return fmt.Errorf("the meta group is being opened again: %w", wire.ErrNotReady)
	}
	if d := g.leaderless(); d >= cutOffAfter {
		return fmt.Errorf("no leader of the meta group is known for %v: %w", d.Truncate(time.Second), wire.ErrNotReady)
	}
	return nil
}
