package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
)

// membershipsEnv is how many changes TestMembershipsUnderLoad makes;
// `make memberships` says 500.
const membershipsEnv = "ORGMEM_MEMBERSHIPS"

// TestMembershipsUnderLoad: shards move among four nodes, again and again, while
// they are written to: a learner comes, gets what it misses (by fetching stores,
// mostly, since logs are cut), votes, and another one goes, with all that it has.
// Nothing that was acknowledged is lost, and nothing is taken twice.
func TestMembershipsUnderLoad(t *testing.T) {
	changes := 24
	if text := os.Getenv(membershipsEnv); text != "" {
		var err error
		if changes, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Parallel() // it waits for elections, mostly
	w, rng := three(t), seeded(t)
	w.start("four", true)
	w.join(wire.MetaGroup, "four")
	ctx, cancel := context.WithCancel(t.Context())
	var clients []*writer
	var wg sync.WaitGroup
	for i := range 6 {
		c := &writer{w: w, id: mainStore(i)}
		clients = append(clients, c)
		wg.Go(func() {
			for ctx.Err() == nil {
				c.put()
			}
		})
	}
	made := 0
	for made < changes {
		made += w.swap(1+uint32(rng.IntN(w.any().host.Shards())), rng.IntN(3), rng.IntN(2) == 0)
	}
	cancel()
	wg.Wait()
	total, fetched := 0, uint64(0)
	for _, s := range w.all() {
		// Who has gone has given up all of it.
		w.try("the newest map", func() error { return s.host.Directory().Fresh(t.Context()) })
		clustertest.WaitFor(t, func() bool {
			for g := range uint32(len(s.host.groups)) {
				if s.host.hosting.wants(g) != (s.host.group(g) != nil) {
					return false
				}
			}
			return true
		})
		fetched += s.host.Stats().Transfers
	}
	w.ready()
	for _, c := range clients {
		c.check()
		total += int(c.acked.Load())
	}
	if fetched == 0 {
		t.Error("nothing was fetched: the test proves too little")
	}
	t.Logf(
		"%d changes of membership, %d stores fetched, %d acknowledged writes, none lost, none taken twice", made, fetched,
		total,
	)
}

// swap exchanges a member of a group for the node that is none, and returns how
// many changes of membership that took.
func (w *fleet) swap(group uint32, victim int, demote bool) int {
	w.t.Helper()
	ctx, h := w.t.Context(), w.any().host
	var in []string
	w.try("membership", func() error {
		m, err := h.Membership(ctx, group)
		in = nil
		for _, r := range m.Replicas {
			in = append(in, string(r.Server))
		}
		return err
	})
	if len(in) != 3 {
		w.t.Fatalf("group %d has the members %v", group, in)
	}
	out, newcomer := wire.ServerID(in[victim]), wire.ServerID("")
	for _, s := range w.all() {
		if id := s.host.Server(); !slices.Contains(in, string(id)) {
			newcomer = id
		}
	}
	w.placeGroup(group, append(slices.Clone(in), string(newcomer))...)
	if demote { // as good a coin as another: there is no log that it could be sent
		for _, s := range w.all() {
			if g := s.host.group(group); g != nil {
				_ = s.host.compactor.compactTo(g, ^uint64(0)) // while a membership changes it is refused
			}
		}
	}
	w.join(group, newcomer)
	made := 2
	w.try(fmt.Sprintf("take %s out of group %d", out, group), func() error {
		if leader, _ := h.LeaderOf(group); leader == out {
			if err := h.TransferLeadership(ctx, group, newcomer); err != nil {
				return fmt.Errorf("%w: %w", wire.ErrNotLeader, err)
			}
			return wire.ErrNotLeader // the new one, next time
		}
		if demote {
			if err := h.Demote(ctx, group, out, 0); err != nil {
				return err
			}
			made, demote = made+1, false
		}
		return h.RemoveReplica(ctx, group, out, 0)
	})
	w.placeGroup(group, append(slices.Delete(in, victim, victim+1), string(newcomer))...)
	return made + 1
}
