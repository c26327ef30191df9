package actors

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// pieces lets each commit of an effect be small, and keeps the disk as a power
// failure behind the first ones would leave it.
type pieces struct {
	disk *storagetest.Disk

	mu    sync.Mutex
	armed bool
	left  []*storagetest.Disk
}

func (p *pieces) configure(c *tenant.Config, _ *storage.Options) {
	c.PieceBytes, c.PieceCommitted = 8<<10, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.armed && len(p.left) < 2 {
			p.left = append(p.left, p.disk.Crash(0, uint64(len(p.left))))
		}
	}
}

func (p *pieces) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = true
}

// crashed returns the disks, of which there must be some.
func (p *pieces) crashed(t *testing.T) []*storagetest.Disk {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) < 2 {
		t.Fatalf("%d pieces: the test would prove nothing", len(p.left))
	}
	return p.left
}

// hub makes a node with many edges.
func (c client) hub(spokes int) string {
	c.n.t.Helper()
	hub := c.note("The hub.")
	for i := range spokes {
		ends := []string{hub, c.note(fmt.Sprintf("Spoke %d.", i))}
		c.assertEdge(&pb.AssertEdge{
			Source: ends[i%2], Target: ends[1-i%2], Type: "holds",
			Note: new(fmt.Sprintf("Note %d.", i)),
		})
	}
	return hub
}

// total is how many nodes a partition counts.
func (c client) total() uint64 { c.n.t.Helper(); return c.sessionState().GetTotalNodes() }

// TestHubIsChangedInPieces changes a node whose edges do not fit into one commit,
// and stops the power behind the pieces: what is there then holds together, and
// the same request does the rest.
func TestHubIsChangedInPieces(t *testing.T) {
	const spokes = 40
	for name, test := range map[string]struct {
		before func(c client, hub string)
		change func(hub string) *pb.Envelope
		check  func(c client, hub string, r *pb.Reply, first bool)
	}{
		"forget": {
			change: forgetOp,
			check: func(c client, hub string, _ *pb.Reply, _ bool) {
				if n, e := c.total(), len(c.edges(&pb.ListEdges{}, 100)); n != spokes || e != 0 {
					t.Errorf("%d nodes and %d edges are left", n, e)
				}
				c.ok(undeleteOp(hub))
				if got := c.nodeOf(hub).GetDegree(); got != spokes {
					t.Errorf("restored, its degree is %d", got)
				}
			},
		},
		"undelete": {
			before: func(c client, hub string) { c.forget(hub) },
			change: undeleteOp,
			check: func(c client, hub string, _ *pb.Reply, _ bool) {
				n, edges := c.nodeOf(hub), len(c.edges(&pb.ListEdges{}, 100))
				if c.total() != spokes+1 || edges != spokes || n.GetDegree() != spokes || n.GetRestorableMs() != 0 {
					t.Errorf("%d nodes, %d edges, the hub %v", c.total(), edges, n)
				}
				c.refused(pb.CodeNodeNotForgotten, undeleteOp(hub))
			},
		},
		"supersede": {
			change: func(hub string) *pb.Envelope { return supersedeOp(hub, "Another hub.") },
			check: func(c client, hub string, r *pb.Reply, first bool) {
				s := r.GetGraph().GetSuperseded()
				if got := c.nodeOf(s.GetNewNode()).GetDegree(); got != spokes+1 || s.GetCreated() != first {
					t.Errorf("the successor's degree is %d: %v", got, s)
				}
				if n := c.nodeOf(hub); n.GetDegree() != 1 || n.GetStatus() != pb.StatusSuperseded {
					t.Errorf("the old node: %v", n)
				}
			},
		},
		"session": {
			before: func(c client, _ string) {
				var list []*pb.SessionEvent
				for i := range spokes {
					list = append(list, said("one", fmt.Sprintf("Sentence %d.", i)))
				}
				c.say(list...)
				c.settled()
			},
			change: func(string) *pb.Envelope {
				return link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "one"}}})
			},
			check: func(c client, hub string, _ *pb.Reply, _ bool) {
				if s := c.sessionState(); s.GetSessionNodes() != 0 || s.GetTotalNodes() != spokes+1 {
					t.Errorf("%v", s)
				}
				if got := c.hits(keyword("sentence")); len(got) != 0 {
					t.Errorf("still found: %v", got)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pieces{disk: storagetest.NewDisk()}
			c := client{n: startNode(t, p.disk, p.configure)}
			c.key = c.n.org(account.NewOrg{}).APIKey
			hub := c.hub(spokes)
			if test.before != nil {
				test.before(c, hub)
			}
			p.arm()
			r := c.ok(test.change(hub))
			c.graphHolds(t)
			test.check(c, hub, r, true)
			c.graphHolds(t)
			c.n.stop()
			for _, d := range p.crashed(t) {
				c.n = startNode(t, d, (&pieces{}).configure)
				c.graphHolds(t)
				r := c.ok(test.change(hub))
				c.graphHolds(t)
				test.check(c, hub, r, false)
				c.n.stop()
			}
		})
	}
}

// TestRemovalOfAHubSurvivesACrash removes a forgotten node whose edges go ahead of
// it.
func TestRemovalOfAHubSurvivesACrash(t *testing.T) {
	p := &pieces{disk: storagetest.NewDisk()}
	short := func(c *tenant.Config, _ *storage.Options) { c.TombstoneRetention = time.Hour }
	c := client{n: startNode(t, p.disk, p.configure, short)}
	c.key = c.n.org(account.NewOrg{}).APIKey
	hub := c.hub(40)
	c.forget(hub)
	removed := func() {
		t.Helper()
		c.n.clock.Advance(2 * time.Hour)
		c.n.until(func() bool { return c.n.nodeIn(c, hub) == nil })
		part, st := c.n.partOf(c)
		defer st.Release()
		for _, table := range []storage.Table{storage.TableEdge, storage.TableTombstone} {
			for item, err := range st.Scan(part.Space.Prefix(table), storage.ScanOptions{}) {
				t.Errorf("it is left: %v, %v", item.Key, err)
			}
		}
		c.graphHolds(t)
	}
	p.arm()
	removed()
	c.n.stop()
	for _, d := range p.crashed(t) {
		c.n = startNode(t, d, (&pieces{}).configure, short)
		removed()
		c.n.stop()
	}
}

// TestContentComesBackInTheHubsPlace sends the content of a forgotten hub again,
// behind another item of the same slice, which must not be lost with a crash.
func TestContentComesBackInTheHubsPlace(t *testing.T) {
	p := &pieces{disk: storagetest.NewDisk()}
	c := client{n: startNode(t, p.disk, p.configure)}
	c.key = c.n.org(account.NewOrg{}).APIKey
	hub := c.hub(40)
	c.forget(hub)
	p.arm()
	job := jobOf(c.ok(items(doc("", "It came before."), doc("", "The hub."))))
	came := func() {
		t.Helper()
		c.n.wait(job)
		if got := c.job(job).GetItems(); got[0].GetStatus() != pb.ItemCreated || got[1].GetStatus() != pb.ItemCreated {
			t.Errorf("items %v", got)
		}
		if n := c.nodeOf(hub); n.GetStatus() != pb.StatusLive || n.GetDegree() != 0 || c.total() != 42 {
			t.Errorf("%d nodes, the hub %v", c.total(), n)
		}
		if got := c.hits(keyword("came before")); len(got) != 1 {
			t.Errorf("what came before is found %d times", len(got))
		}
		c.graphHolds(t)
	}
	came()
	c.n.stop()
	for _, d := range p.crashed(t) {
		c.n = startNode(t, d, (&pieces{}).configure)
		came()
		c.n.stop()
	}
}

// TestHubWithTooManyEdgesIsForgotten forgets, and removes, a node that has more
// edges than are taken at a time. It cannot come back, and says so before anything
// has changed.
func TestHubWithTooManyEdgesIsForgotten(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.EdgesPerPiece,
			c.TombstoneRetention = 7, time.Hour
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	hub := c.hub(40)
	c.refused("payload_too_large", supersedeOp(hub, "Another hub."))
	c.forget(hub)
	if got := c.edges(&pb.ListEdges{}, 100); len(got) > 0 {
		t.Errorf("edges %v", got)
	}
	c.graphHolds(t)
	c.refused("payload_too_large", undeleteOp(hub))
	if got := n.nodeIn(c, hub).GetStatus(); got != pb.StatusTombstoned {
		t.Errorf("the hub is %s", got)
	}
	n.clock.Advance(2 * time.Hour)
	n.until(func() bool { return n.nodeIn(c, hub) == nil })
	c.graphHolds(t)
	part, st := n.partOf(c)
	defer st.Release()
	for item, err := range st.Scan(part.Space.Prefix(storage.TableEdge), storage.ScanOptions{}) {
		t.Errorf("it is left: %v, %v", item.Key, err)
	}
}
