package cluster

import (
	"errors"
	"testing"

	pb "orgmem/proto"
)

// TestThreeNodes replicate, lose the leader, elect another, go on writing, and
// take the lost one back.
func TestThreeNodes(t *testing.T) {
	w := three(t)
	var clients []*writer
	for i := range 6 {
		clients = append(clients, &writer{w: w, id: mainStore(i)})
	}
	writeAll := func(n int) {
		for range n {
			for _, c := range clients {
				c.put()
			}
		}
	}
	writeAll(5)
	for _, c := range clients {
		c.check()
	}
	lost := w.owner(clients[0].id).host.Server()
	w.kill(lost)
	writeAll(5)
	w.start(lost, false)
	w.ready()
	writeAll(5)
	for _, c := range clients {
		c.check()
	}
}

// TestAnyNodeAnswersForTheDirectory: proposals to the meta group work everywhere,
// and what one node was told another one knows when it is asked.
func TestAnyNodeAnswersForTheDirectory(t *testing.T) {
	w := three(t)
	ctx := t.Context()
	n := 0
	for _, s := range w.servers {
		if err := s.host.Directory().PutOrg(ctx, &pb.OrgEntry{Org: org(n).Bytes(), Slug: string(s.host.Server())}); err != nil {
			t.Fatal(err)
		}
		key := pb.KeyHash{byte(n + 1)}
		if err := s.host.Directory().PutKey(ctx, key, org(n)); err != nil {
			t.Fatal(err)
		}
		for _, other := range w.servers {
			if got, ok, err := other.host.Directory().Find(ctx, key); err != nil || !ok || got != org(n) {
				t.Errorf("%s looks for a key of %s: %v, %t, %v", other.host.Server(), s.host.Server(), got, ok, err)
			}
			if _, ok, err := other.host.Directory().Find(ctx, pb.KeyHash{99}); err != nil || ok {
				t.Errorf("a key that nobody has: %t, %v", ok, err)
			}
		}
		err := s.host.Directory().PutOrg(ctx, &pb.OrgEntry{Org: org(77).Bytes(), Slug: string(s.host.Server())})
		if !errors.Is(err, ErrSlugTaken) {
			t.Errorf("a slug that is taken, on %s: %v", s.host.Server(), err)
		}
		n++
	}
	// A removal reaches every replica, whoever is asked for it.
	c := &writer{w: w, id: mainStore(0)}
	c.put()
	for _, s := range w.servers {
		if s.host.Lead(c.id.Org) == nil {
			continue
		}
		if err := s.host.Directory().RemoveOrg(ctx, c.id.Org); err != nil {
			t.Fatal(err)
		}
		break
	}
	for _, s := range w.servers {
		waitFor(t, func() bool {
			gone, err := s.host.StoresRemoved(c.id.Org)
			there, err2 := s.node.Exists(c.id)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			return gone && !there
		})
	}
}
