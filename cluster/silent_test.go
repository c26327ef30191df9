package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// pausedFor bounds what must not wait for a paused node to go on, which here it never does.
const pausedFor = 5 * time.Minute

// What is on its way to a leader whose process is paused goes to the next one: the
// directory takes a write, and says what it holds, through every other node.
func TestAPausedLeaderOfTheDirectoryIsGivenUp(t *testing.T) {
	w := three(t)
	ctx, cancel := context.WithTimeout(t.Context(), pausedFor)
	defer cancel()
	leader, ok := w.any().host.LeaderOf(wire.MetaGroup)
	if !ok {
		t.Fatal("nobody leads")
	}
	w.pause(leader)
	wrote := make(chan error)
	n := 0
	for id, s := range w.servers {
		if id == leader {
			continue
		}
		n++
		entry := &pb.OrgEntry{Org: org(n).Bytes(), Name: string(id), Slug: string(id)}
		go func() { wrote <- s.host.Directory().PutOrg(ctx, entry) }()
	}
	for range n {
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	}
	w.mu.Lock()
	asked := w.silent[leader]
	w.mu.Unlock()
	if asked == 0 {
		t.Error("the paused leader was not asked: this says nothing")
	}
	for id, s := range w.servers {
		if id == leader {
			continue
		}
		if err := s.host.Directory().Fresh(ctx); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		for k := range n {
			if _, there := s.host.Directory().Org(org(k + 1)); !there {
				t.Errorf("%s does not know organization %d", id, k+1)
			}
		}
	}
}

// A node without a replica of a group hears of no other leader; it asks the one that it
// knows whether it is there at all.
func TestAPausedLeaderIsGivenUpFromAfar(t *testing.T) {
	w := three(t)
	w.start("four", true)
	w.join(wire.MetaGroup, "four")
	four := w.servers["four"].host
	ctx, cancel := context.WithTimeout(t.Context(), pausedFor)
	defer cancel()
	const shard = 1
	w.try("a leader that is known from afar", func() error {
		_, err := four.Membership(ctx, shard)
		return err
	})
	leader, ok := four.LeaderOf(shard)
	if !ok || four.group(shard) != nil {
		t.Fatalf("%q leads, and the fourth has the group: %v", leader, four.group(shard) != nil)
	}
	w.pause(leader)
	w.try("the membership", func() error {
		_, err := four.Membership(ctx, shard)
		return err
	})
	if now, _ := four.LeaderOf(shard); now == leader {
		t.Errorf("%s still leads", now)
	}
}

// deaf is a network on which nobody answers.
type deaf struct {
	peers
	probes atomic.Int64
}

// Call waits for an answer until the caller has had enough.
func (d *deaf) Call(ctx context.Context, _ wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error) {
	if call.GetProbe() != nil {
		d.probes.Add(1)
	}
	<-ctx.Done()
	return nil, wire.ErrNoAnswer
}

// TestASilentLeaderIsGivenUpInTime holds the times that docs/cluster.md promises.
func TestASilentLeaderIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	const shard = 1
	for _, c := range []struct {
		name   string
		leader wire.ServerID // that this node hears of meanwhile
		within time.Duration
	}{
		{"half a second after another one leads", "three", 500 * time.Millisecond},
		{"three seconds where no other is heard of", "two", 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			network, now := &deaf{}, clock.NewFake(time.Unix(1_700_000_000, 0))
			l := newLeaders(&node{cfg: Config{Clock: now}, peers: network}, make(groups, 2))
			l.NoteLeader(shard, c.leader)
			answered := make(chan error, 1)
			go func() {
				_, err := l.askWhileThere(
					t.Context(), "two", &pb.GroupCall{Group: shard, Kind: &pb.GroupCall_Progress{Progress: &pb.Empty{}}},
				)
				answered <- err
			}()
			for took := time.Duration(0); ; took += leaderCheck {
				// It is about to look again, and where it has asked whether the other is there,
				// waits for that.
				clustertest.WaitFor(t, func() bool {
					waits := now.WaitersIn(leaderCheck) > 0 && (took < probeAfter*leaderCheck || network.probes.Load() > 0)
					return waits || len(answered) > 0
				})
				if len(answered) > 0 {
					if err := <-answered; !errors.Is(err, errSilent) {
						t.Error(err)
					}
					// It looks so often, and the clock here may be two looks ahead of the probe's goroutine.
					if most := c.within + 3*leaderCheck; took > most {
						t.Errorf("given up after %v, promised are %v", took, c.within)
					}
					return
				}
				now.Advance(leaderCheck)
			}
		})
	}
}
