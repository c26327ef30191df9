package cluster

import (
	"context"
	"testing"
	"time"

	pb "orgmem/proto"
)

// pausedFor bounds what must not wait for a paused node to go on, which here it never does.
const pausedFor = 5 * time.Minute

// What is on its way to a leader whose process is paused goes to the next one: the
// directory takes a write, and says what it holds, through every other node.
func TestAPausedLeaderOfTheDirectoryIsGivenUp(t *testing.T) {
	w := three(t)
	ctx, cancel := context.WithTimeout(t.Context(), pausedFor)
	defer cancel()
	leader, ok := w.any().host.LeaderOf(metaGroup)
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
	w.join(metaGroup, "four")
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
