package actors

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// recentOf is what the organization of a client remembers of nodes, and its view.
func recentOf(c client) (view *tenant.View, recent *graph.RecentNodes, part *partition.Ref) {
	c.inOrg(func(o *tenant.Org) {
		view, recent = &o.View, &tenant.ModuleOf[*graph.Module](&o.View).Recent
		part = memberOf(c.n.t, o, onlyMember(c.n.t, o))
	})
	return view, recent, part
}

// appliedBy is what a store has applied, once nothing is on its way.
func appliedBy(t *testing.T, view *tenant.View) (applied uint64) {
	t.Helper()
	if err := view.WithStore(func(st *storage.Store) error {
		settled := false
		for !settled {
			applied, settled = st.Settled()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return applied
}

// TestANodeReadAgainIsNotReadFromTheStore, as long as nothing is written.
func TestANodeReadAgainIsNotReadFromTheStore(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.ingest(doc("a", "The boiler is old.")).GetItems()[0].GetNode()
	first := c.ok(getNodeOp(id)).GetNode()
	view, recent, part := recentOf(c)
	key := graph.RecentKey{Part: part.ID, ID: pb.NodeID(id)}

	var kept *pb.NodeInfo
	for kept == nil { // something in the background may write
		if again := c.ok(getNodeOp(id)).GetNode(); !proto.Equal(again, first) {
			t.Fatalf("reads %v, then %v", first, again)
		}
		var err error
		if kept, err = recent.Find(view, key); err != nil {
			t.Fatal(err)
		}
	}
	if !proto.Equal(kept, first) {
		t.Errorf("kept is %v, answered was %v", kept, first)
	}
	marked := proto.CloneOf(first)
	marked.Content = "kept"
	for answered := ""; answered != "kept"; answered = c.ok(getNodeOp(id)).GetNode().GetContent() {
		recent.Keep(appliedBy(t, view), key, marked)
	}
	c.put("anna")
	recent.Keep(appliedBy(t, view), key, marked)
	c.as("anna").refused(pb.CodeNodeNotFound, getNodeOp(id))
}

// TestWhatWasWrittenIsReadAtOnce, even where a read that began before the change
// keeps what it saw behind it.
func TestWhatWasWrittenIsReadAtOnce(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.ingest(doc("a", "The boiler is old.")).GetItems()[0].GetNode()
	view, recent, part := recentOf(c)
	key := graph.RecentKey{Part: part.ID, ID: pb.NodeID(id)}
	before := appliedBy(t, view)
	old := c.ok(getNodeOp(id)).GetNode()

	after := c.edit(&pb.EditNode{Id: id, Content: new("The boiler is new.")})
	recent.Keep(before, key, old)
	if got := c.ok(getNodeOp(id)).GetNode(); !proto.Equal(got, after) {
		t.Errorf("reads %v, was answered %v", got, after)
	}
	before = appliedBy(t, view)
	c.forget(id)
	recent.Keep(before, key, after)
	c.refused(pb.CodeNodeNotFound, getNodeOp(id))
}

// TestWhatIsWrittenLeavesNothingRemembered: content that is forgotten does not live
// on in memory because nobody reads anything any more.
func TestWhatIsWrittenLeavesNothingRemembered(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.ingest(doc("a", "The boiler is old.")).GetItems()[0].GetNode()
	c.ok(getNodeOp(id))
	_, recent, _ := recentOf(c)
	c.forget(id)
	recent.Mu.Lock()
	defer recent.Mu.Unlock()
	if len(recent.Nodes) != 0 {
		t.Errorf("remembered: %v", recent.Nodes)
	}
}

func TestRecentNodesAreBounded(t *testing.T) {
	r := &graph.RecentNodes{}
	for i := range 3 * graph.MaxRecentNodes {
		r.Keep(1, graph.RecentKey{ID: pb.NodeID(strings.Repeat("n", i))}, &pb.NodeInfo{})
		if len(r.Nodes) > graph.MaxRecentNodes {
			t.Fatalf("%d are kept", len(r.Nodes))
		}
	}
	r.Keep(2, graph.RecentKey{ID: "large"}, &pb.NodeInfo{Content: strings.Repeat("x", graph.MaxRecentBytes)})
	if r.Nodes[graph.RecentKey{ID: "large"}] != nil {
		t.Error("a large node is kept")
	}
	r.Keep(2, graph.RecentKey{ID: "new"}, &pb.NodeInfo{})
	r.Keep(1, graph.RecentKey{ID: "late"}, &pb.NodeInfo{})
	if len(r.Nodes) != 1 {
		t.Errorf("of another time are kept: %v", r.Nodes)
	}
}
