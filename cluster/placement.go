package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/plan"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
)

const (
	// stepDownAtOnce is how many groups give up their leadership together: each is without a
	// leader for some tens of milliseconds, and the nodes that take over read the stores of
	// what they wake.
	stepDownAtOnce = 4
	// stepDownPause follows an attempt that failed: the node that is to take over may be
	// catching up.
	stepDownPause = 100 * time.Millisecond
	// heirPause is the time between looks whether a group that was given away has a leader
	// again: a vote takes a round trip and an fsync.
	heirPause = 10 * time.Millisecond
)

// successorLag is how many entries behind the first a voter may be and still take
// over at once: what a busy group applies in a few milliseconds.
const successorLag = 64

// StepDown gives the leadership of all this node's groups to others, and waits for that;
// from then on the node takes over none. A group whose other voters have gone, or are on
// their way out too, keeps its leader: there is nobody to take over. While the others do
// not answer it tries again, and it stays until they agree on a leader, since they may
// need its vote. When the context ends first, its error is returned.
func (r *replicas) StepDown(ctx context.Context) error {
	r.steppingDown.Store(true)
	gate := make(chan struct{}, stepDownAtOnce)
	led := r.hosted()
	return inParallel(len(led), func(i int) error {
		gate <- struct{}{}
		defer func() { <-gate }()
		return r.stepDown(ctx, led[i].id)
	})
}

func (r *replicas) stepDown(ctx context.Context, group uint32) error {
	for led := false; ; {
		g := r.group(group)
		if g == nil {
			return nil
		}
		err, pause := wire.NotApplied(wire.ErrNotLeader), stepDownPause
		switch {
		case !g.mayLead():
			if _, leader := g.raft.LeaderWithID(); leader != "" || !led {
				return nil
			}
			err, pause = wire.ErrNotReady, heirPause // it was given away, and is being voted on
		case g.leading.Load() != 0:
			var to wire.ServerID
			to, err = r.successor(ctx, group)
			if err == nil && to == "" {
				return nil
			}
			if err == nil {
				err = g.handOver(to)
			}
			if led = true; err == nil {
				continue
			}
		}
		if late := clock.Wait(ctx, r.cfg.Clock, pause); late != nil {
			return fmt.Errorf("step down from group %d: %w: %w", group, err, late)
		}
	}
}

// successor picks who takes a group over: of the other voters that answer and have
// applied the most one by the group's number, so that not one of them gets all.
// Empty: there are no other voters that stay.
func (r *replicas) successor(ctx context.Context, group uint32) (wire.ServerID, error) {
	m, err := r.Membership(ctx, group)
	if err != nil {
		return "", err
	}
	voters := slices.DeleteFunc(m.Replicas, func(v plan.Replica) bool {
		return !v.Voter || v.Server == r.identity.Server || !r.stays(v.Server)
	})
	if len(voters) == 0 {
		return "", nil
	}
	progress, err := r.Progress(ctx, group)
	if err != nil {
		return "", err
	}
	progress = slices.DeleteFunc(progress, func(p Progress) bool {
		return p.Err != nil || !slices.ContainsFunc(voters, func(v plan.Replica) bool { return v.Server == p.Server })
	})
	if len(progress) == 0 {
		return "", fmt.Errorf("group %d: no other voter answers: %w", group, wire.ErrNotReady)
	}
	most := slices.MaxFunc(progress, func(a, b Progress) int { return cmp.Compare(a.Applied, b.Applied) }).Applied
	progress = slices.DeleteFunc(progress, func(p Progress) bool { return p.Applied+successorLag < most })
	slices.SortFunc(progress, func(a, b Progress) int { return cmp.Compare(a.Server, b.Server) })
	return progress[int(group)%len(progress)].Server, nil
}

// mayLead reports whether this node leads a group or is about to, whether it answers
// for it or not: it may have been elected a moment ago, somebody else may be handing the
// group over and fail, and it may be asking others for their votes.
func (g *group) mayLead() bool {
	switch g.raft.State() {
	case raft.Leader:
		return true
	case raft.Candidate:
		return slices.ContainsFunc(*g.lease.voters.Load(), func(id raft.ServerID) bool {
			return wire.ServerID(id) != g.node.identity.Server && g.node.stays(wire.ServerID(id))
		})
	default:
		return false
	}
}
