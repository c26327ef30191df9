package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/graph"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func plotOp() *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_PlotIdentity{PlotIdentity: &pb.PlotIdentity{}}})
}

// plot is what the caller's memory answers; nil where none was derived.
func (c client) plot() *pb.ManifoldPlot {
	c.n.t.Helper()
	return c.ok(plotOp()).GetMind().GetPlot().GetPlot()
}

// drawnNodes are the nodes whose passages a plot shows.
func drawnNodes(p *pb.ManifoldPlot) (nodes []string) {
	for _, s := range p.GetSignals() {
		if !slices.Contains(nodes, s.GetNode()) {
			nodes = append(nodes, s.GetNode())
		}
	}
	slices.Sort(nodes)
	return nodes
}

// storedPlot is the record of an organization's plot, in any of its memories; nil if none is stored.
func (n *testNode) storedPlot(org account.CreatedOrg) (out *pb.ManifoldPlot) {
	n.t.Helper()
	id := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
	memories := records(n, id, storage.TablePartition, func() *pb.Partition { return &pb.Partition{} })
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	for _, p := range memories {
		plot := &pb.ManifoldPlot{}
		found, err := st.Get(storage.PartitionSpace(id, pb.PartitionID(p.GetId())).Key(storage.TableView,
			storage.Str(graph.ViewPlot)), plot)
		if err != nil {
			n.t.Fatal(err)
		}
		if found {
			out = plot
		}
	}
	return out
}

// A cycle draws the manifold of its memory and of no other; what is forgotten, edited or superseded since is not
// shown, and what is forgotten is not stored.
func TestPlot(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	var nodes []string
	for i, text := range slices.Concat(mindTexts, []string{"The lift of the warehouse is slow.", "The lift is loud."}) {
		item := &pb.IngestItem{Title: fmt.Sprint("Text ", i), Content: text, OccurredMs: int64(1000 + i)}
		nodes = append(nodes, c.ingest(item).GetItems()[0].GetNode())
	}
	if p := c.plot(); p != nil {
		t.Fatalf("a plot before the first cycle: %v", p)
	}
	c.think()
	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	p := c.plot()
	if p.GetVersion() != view.GetManifold().GetVersion() || len(p.GetRatios()) != 2 ||
		!slices.Equal(p.GetRatios(), view.GetManifold().GetVarianceRatios()[:2]) {
		t.Fatalf("%v of %v", p, view.GetManifold())
	}
	if len(p.GetBasins()) == 0 || len(p.GetBasins()) != len(view.GetBasins()) {
		t.Fatalf("%d of %d basins", len(p.GetBasins()), len(view.GetBasins()))
	}
	for i, b := range p.GetBasins() {
		if b.GetId() != view.GetBasins()[i].GetId() {
			t.Errorf("basin %d is %s, not %s", i, b.GetId(), view.GetBasins()[i].GetId())
		}
	}
	all := slices.Sorted(slices.Values(nodes))
	if got := drawnNodes(p); !slices.Equal(got, all) {
		t.Errorf("drawn %v of %v", got, all)
	}
	for i, s := range p.GetSignals() { // written one after the other
		if s.GetNode() != nodes[i] || s.GetTitle() != fmt.Sprint("Text ", i) || s.GetAtMs() != int64(1000+i) ||
			int(s.GetBasin()) >= len(p.GetBasins()) {
			t.Errorf("point %d: %v", i, s)
		}
	}
	if other := c.as("anna").plot(); other != nil {
		t.Errorf("anna sees %v", other)
	}

	gone := func(id string) {
		all = slices.DeleteFunc(all, func(other string) bool { return other == id })
	}
	stored := n.storedPlot(org)
	if len(stored.GetSignals()) != len(nodes) || stored.GetSignals()[0].GetTitle() != "" {
		t.Errorf("stored %v", stored)
	}
	c.forget(nodes[12])
	c.ok(undeleteOp(nodes[12])) // of what was forgotten nothing comes back
	gone(nodes[12])
	if got := drawnNodes(n.storedPlot(org)); !slices.Equal(got, all) {
		t.Errorf("stored behind a forgetting: %v", got)
	}
	c.edit(&pb.EditNode{Id: nodes[0], Content: new("The deadline of the Atlas project is open.")})
	c.supersede(nodes[11], "The boiler of the cellar was replaced.")
	gone(nodes[0])
	gone(nodes[11])
	if got := drawnNodes(c.plot()); !slices.Equal(got, all) {
		t.Errorf("shown behind changes: %v", got)
	}

	// A program of a version before replaces the view alone.
	old := proto.CloneOf(view)
	c.derive(func(b *storage.Batch, space storage.Space) {
		old.Manifold.RefreshCount++
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), old)
	})
	if p := c.plot(); p != nil {
		t.Errorf("a plot of another manifold: %v", p)
	}
	c.think()
	if p := c.plot(); len(p.GetSignals()) != len(nodes)-1 { // one was forgotten
		t.Errorf("%d points behind the next cycle", len(p.GetSignals()))
	}
	for _, id := range nodes[:4] {
		c.forget(id)
	}
	n.waitFor(func() bool { // too few passages make no plot
		if n.storedPlot(org) == nil && c.plot() == nil {
			return true
		}
		n.clock.Advance(time.Second)
		return false
	})
}

// However much was written, a plot stays small.
func TestPlotIsBounded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var items []*pb.IngestItem
	for i := range cognition.MaxPlotSignals + 40 {
		items = append(items, doc("", fmt.Sprintf("%s Number %d.", mindTexts[i%len(mindTexts)], i)))
	}
	for batch := range slices.Chunk(items, 100) {
		c.ingest(batch...)
	}
	c.think()
	p := c.plot()
	if len(p.GetSignals()) != cognition.MaxPlotSignals {
		t.Errorf("%d points", len(p.GetSignals()))
	}
	if again := c.plot(); !proto.Equal(p, again) {
		t.Errorf("asked twice: %s", prototest.Diff(p, again))
	}
}
