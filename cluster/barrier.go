package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// barrier asks the meta group's leader for its newest entry, once for all who
// ask while it is being asked, and waits until that is applied here.
type barrier struct {
	*leaders

	mu      sync.Mutex
	running *barrierRound // has asked, perhaps before the newest caller came
	next    *barrierRound // begins when running has ended
}

type barrierRound struct {
	done chan struct{}
	err  error
}

// barrierTimeout bounds one round.
const barrierTimeout = 2 * time.Second

func newBarrier(l *leaders) *barrier { return &barrier{leaders: l} }

// fresh is Directory.Fresh.
func (b *barrier) fresh(ctx context.Context) error {
	g := b.group(wire.MetaGroup)
	if g == nil {
		return wire.ErrNotReady // it is being opened again (reopenLater)
	}
	if b.peers == nil || g.alone.Load() || (g.leading.Load() != 0 && g.lead() == nil) {
		return nil
	}
	b.mu.Lock()
	r := b.next
	if r == nil {
		r = &barrierRound{done: make(chan struct{})}
		b.next = r
		if b.running == nil {
			b.begin() //nolint:contextcheck // it asks for all who wait
		}
	}
	b.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", wire.ErrNotReady, ctx.Err())
	}
}

// begin starts the next round. Its caller holds mu.
func (b *barrier) begin() {
	r := b.next
	b.running, b.next = r, nil
	go func() {
		r.err = b.catchUp()
		close(r.done)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running = nil
		if b.next != nil {
			b.begin()
		}
	}()
}

// catchUp asks the leader and waits.
func (b *barrier) catchUp() error {
	g := b.group(wire.MetaGroup)
	if g == nil {
		return wire.ErrNotReady // since Fresh looked it was closed
	}
	ctx, cancel := context.WithCancel(g.fsm.life)
	defer cancel()
	limit := b.cfg.Clock.AfterFunc(barrierTimeout, cancel)
	defer limit.Stop()
	a, err := b.askLeader(ctx, &pb.GroupCall{Group: wire.MetaGroup, Kind: &pb.GroupCall_ReadIndex{ReadIndex: &pb.Empty{}}})
	if err == nil {
		err = g.reachIndex(ctx, a.GetIndex())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", wire.ErrNotReady, err)
	}
	return nil
}

// reachIndex waits until this node's state machine is where another one was at an index.
// raft shows it commands and memberships only. But another node begins to count at its
// marker, which may be the barrier of an election, and waiting for that index would be
// waiting for the next command.
func (g *group) reachIndex(ctx context.Context, index uint64) error {
	for !g.onlyInternal(index) {
		look, cancel := context.WithCancel(ctx)
		timer := g.node.cfg.Clock.AfterFunc(readyPoll, cancel) // nothing tells of what raft commits for itself
		err := g.fsm.reached(look, index)
		timer.Stop()
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, wire.ErrClosed) {
			return err
		}
	}
	return nil
}

// onlyInternal reports whether all that is agreed on up to an index, and not applied yet,
// are entries that no state machine is shown.
func (g *group) onlyInternal(index uint64) bool {
	if g.raft.CommitIndex() < index {
		return false
	}
	for done := max(g.fsm.applied.Load(), g.log.Marks.Index.Load()); index > done; index-- {
		var l raft.Log
		if err := g.log.Logs.GetLog(index, &l); err != nil || l.Type == raft.LogCommand || l.Type == raft.LogConfiguration {
			return false
		}
	}
	return true
}
