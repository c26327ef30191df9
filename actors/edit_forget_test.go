package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// interface: States/Node forgotten
func TestForgottenNodeKeepsItsPlaceOnly(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const plant = "kwisatz-4711"
	item := &pb.IngestItem{
		ExternalId: "ext-" + plant, Title: "Title " + plant, Content: "The word " + plant + " is a secret.", OccurredMs: 17,
		Metadata: []byte(`{"k":"meta-` + plant + `"}`),
	}
	job := c.ingest(item, doc("", "A bystander."))
	id, other := job.GetItems()[0].GetNode(), job.GetItems()[1].GetNode()
	c.ingest(item) // a second job that names the external id
	c.edit(&pb.EditNode{Id: id, Content: new("Now " + plant + " is known."), Reason: "reason " + plant})
	e, _ := c.assertEdge(&pb.AssertEdge{Source: id, Target: other, Type: "about"})
	byHand, _ := c.assertEdge(&pb.AssertEdge{Source: other, Target: id, Type: "about"})
	c.ok(forgetEdgeOp(byHand.GetId()))
	before := c.nodeOf(id)
	if before.GetDegree() != 1 || len(disk.Find(t, plant)) == 0 {
		t.Fatal("nothing was planted: the test would prove nothing")
	}
	n.clock.Advance(time.Hour)
	after := c.forget(id)
	now := n.clock.Now()
	if diff := prototest.Diff(&pb.Node{
		Status: pb.StatusTombstoned, Kind: before.GetKind(), CreatedMs: before.GetCreatedMs(), OccurredMs: 17,
		TombstonedMs: now.UnixMilli(), RestorableMs: now.Add(30 * 24 * time.Hour).UnixMilli(),
	}, after); diff != "" || strings.Contains(after.String(), plant) {
		t.Errorf("the tombstone reads %v (-want +got):\n%s", after, diff)
	}
	check := func(c client) {
		t.Helper()
		for _, r := range []*pb.Reply{
			c.ok(find(plant)), c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{
				Query:             "secret known",
				IncludeSuperseded: true,
			}}}),
			c.ask(getNodeOp(id)), c.ok(historyOp(id, nil)), c.ok(getNodeOp(other)),
			c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Status: pb.StatusTombstoned}}})),
			c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Q: plant}}})),
			c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{}}})),
			c.ok(&pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: pb.JobID(job.GetId()).String()}}}),
		} {
			if strings.Contains(r.String(), plant) {
				t.Errorf("it is still told: %v", r)
			}
		}
		if got := c.actions(id); got[0] != graph.ActionForgotten {
			t.Errorf("history %v", got)
		}
		if got := c.hits(keyword("secret known")); len(got) != 0 {
			t.Errorf("it is still found: %v", got)
		}
		c.refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))
		if got := c.nodeOf(other).GetDegree(); got != 0 {
			t.Errorf("degree of its neighbour %d", got)
		}
	}
	check(c)
	n.eraseNow(c)
	if files := disk.Find(t, plant); len(files) > 0 {
		t.Errorf("it is still in %v", files)
	}
	n.stop()
	n = startNode(t, disk, smallSlices)
	c.n = n
	check(c)

	restored := c.ok(undeleteOp(id)).GetNode()
	live := &pb.Node{Status: pb.StatusLive, Degree: 1}
	if diff := prototest.Diff(live, restored.GetNode(), "restorable_ms"); diff != "" || restored.GetContent() != "" {
		t.Errorf("restored, with the content %q (-want +got):\n%s", restored.GetContent(), diff)
	}
	if got := c.ok(getEdgeOp(e.GetId())).GetGraph().GetEdge().GetEdge(); got.GetStatus() != pb.StatusLive ||
		got.GetTombstonedMs() != 0 {
		t.Errorf("its edge: %v", got)
	}
	c.refused(pb.CodeEdgeNotFound, getEdgeOp(byHand.GetId()))
	if got := c.actions(id); got[0] != graph.ActionRestored {
		t.Errorf("history %v", got)
	}
	// It has no content until it is given one.
	c.edit(&pb.EditNode{Id: id, Content: new("Fresh words.")})
	if got := c.hits(keyword("fresh words")); !slices.Equal(got, []string{id}) {
		t.Errorf("found %v", got)
	}
}

// TestForgettingErasesWhatOthersSayOfIt plants a reason and an external id beside
// nodes that stay.
func TestForgettingErasesWhatOthersSayOfIt(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	old := c.note("The cat is black.")
	op := supersedeOp(old, "The cat is white.")
	op.GetGraph().GetSupersedeNode().Reason = "reason-4711"
	s := c.ok(op).GetGraph().GetSuperseded()
	c.ok(forgetEdgeOp(s.GetEdge())) // by hand: what tells of the two is gone before the node
	first := c.ingest(doc("ext-4711", "The first version."), doc("", "The first version."))
	second := c.ingest(doc("ext-4711", "The second version.")).GetItems()[0].GetNode()
	if got := c.nodeOf(first.GetItems()[0].GetNode()); got.GetStatus() != pb.StatusLive ||
		len(got.GetSource().GetExternalIds()) > 0 {
		t.Fatalf("the first version is %v: the test would prove nothing", got)
	}
	for plant, id := range map[string]string{"reason-4711": s.GetNewNode(), "ext-4711": second} {
		if len(disk.Find(t, plant)) == 0 {
			t.Fatalf("%s was not planted", plant)
		}
		c.forget(id)
		n.eraseNow(c)
		if files := disk.Find(t, plant); len(files) > 0 {
			t.Errorf("%s is still in %v", plant, files)
		}
	}
	if got := c.job(pb.JobID(first.GetId()).String()).GetItems()[0]; got.GetExternalId() != "" || got.GetNode() == "" {
		t.Errorf("the outcome reads %v", got)
	}
}

// EraseNow does what happens within a minute by itself.
func (n *testNode) eraseNow(c client) {
	n.t.Helper()
	part, st := n.partOf(c)
	st.Release()
	ctx := n.t.Context()
	for _, step := range []func() error{
		func() error { return n.host.Compact(ctx, part.Store) },
		func() error { return n.store.Erase(ctx, part.Store) },
		func() error { return n.store.Log().Erase(ctx) },
	} {
		if err := step(); err != nil {
			n.t.Fatal(err)
		}
	}
}

func TestEdgeComesBackWithTheLastOfItsNodes(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for _, order := range [][]int{{0, 1, 0, 1}, {0, 1, 1, 0}} {
		ids := []string{c.note(fmt.Sprint("Left ", order)), c.note(fmt.Sprint("Right ", order))}
		e, _ := c.assertEdge(&pb.AssertEdge{Source: ids[0], Target: ids[1], Type: "next"})
		c.forget(ids[order[0]])
		c.forget(ids[order[1]])
		c.ok(undeleteOp(ids[order[2]]))
		c.refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))
		c.ok(undeleteOp(ids[order[3]]))
		c.ok(getEdgeOp(e.GetId()))
		if a, b := c.nodeOf(ids[0]).GetDegree(), c.nodeOf(ids[1]).GetDegree(); a != 1 || b != 1 {
			t.Errorf("%v: degrees %d and %d", order, a, b)
		}
	}
}

// interface: States/Node restored
// interface: Limits/Tombstone retention
func TestForgottenNodeIsRemovedAfterItsTime(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config,
		_ *storage.Options,
	) {
		c.TombstoneRetention = time.Hour
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	early, late, kept := c.note("Early."), c.note("Late."), c.note("Kept.")
	e, _ := c.assertEdge(&pb.AssertEdge{Source: early, Target: kept, Type: "next"})
	c.forget(early)
	n.clock.Advance(30 * time.Minute)
	c.forget(late)
	n.clock.Advance(31 * time.Minute)
	c.refused(pb.CodeUndeleteWindowPassed, undeleteOp(early))
	n.until(func() bool { return n.nodeIn(c, early) == nil })
	c.refused(pb.CodeNodeNotFound, undeleteOp(early))
	c.refused(pb.CodeNodeNotFound, historyOp(early, nil))
	part, st := n.partOf(c)
	defer st.Release()
	if found, err := st.Get(part.Space.Key(storage.TableEdge, storage.Str(e.GetId())), &pb.Edge{}); found || err != nil {
		t.Errorf("its edge is left: %v", err)
	}
	c.ok(undeleteOp(late)) // its time is not over
	n.clock.Advance(3 * time.Hour)
	n.until(func() bool {
		for _, err := range st.Scan(storage.OrgSpace(part.Store).Prefix(storage.TableTombstoneDue), storage.ScanOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			return false
		}
		return true
	})
	if n.nodeIn(c, late).GetStatus() != pb.StatusLive {
		t.Error("what was restored is removed")
	}
}

// TestStoredSegmentsLoseWhatWasForgotten looks into the stored index, where only
// hashes of words and quantised vectors stand. Nobody asks for anything meanwhile.
func TestStoredSegmentsLoseWhatWasForgotten(t *testing.T) {
	for _, then := range []string{"nothing", "a stop", "a lost lease"} {
		t.Run(then, func(t *testing.T) {
			disk := storagetest.NewDisk()
			restless := func(c *tenant.Config, _ *storage.Options) { c.IdleSubject, c.IdleOrg = 30*time.Second, 30*time.Second }
			n := startNode(t, disk, smallSlices, restless)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			var ids []string
			for i := range 30 {
				ids = append(ids, c.note(fmt.Sprintf("Note number%d.", i)))
			}
			said := c.say(said("one", "Note one."), said("one", "Note two."))
			c.settled()
			for i := range 10 { // so that the events are in stored segments
				ids = append(ids, c.note(fmt.Sprintf("Note number%d.", 30+i)))
			}
			edited, forgotten := ids[3], ids[7]
			c.edit(&pb.EditNode{Id: edited, Content: new("Other words.")}) // its old passage is dead, and there
			part, st := n.partOf(c)
			st.Release()
			org := c.orgID()
			for _, forget := range []struct {
				op *pb.Envelope
				of []string
			}{
				{forgetOp(edited), []string{edited}},
				{forgetOp(forgotten), []string{forgotten}},
				{
					link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "one"}}}),
					[]string{said[0].GetNode(), said[1].GetNode()},
				},
			} {
				mentioned := func() bool {
					return slices.ContainsFunc(forget.of, func(id string) bool { return n.mentioned(part, id) })
				}
				if !mentioned() {
					t.Fatal("they are in no stored segment: the test would prove nothing")
				}
				n.until(func() bool { e, _ := n.host.Directory().Org(org); return !e.GetBusy() }) // with what came before
				c.ok(forget.op)
				if !mentioned() {
					t.Error("it was rewritten at once: that does not gather")
				}
				switch then {
				case "a stop":
					n.stop()
					now := n.clock.Now()
					n = startNode(t, disk, smallSlices, restless)
					n.clock.Set(now)
					c.n = n
				case "a lost lease":
					c.inOrg(func(o *tenant.Org) { o.Retire() })
				}
				n.until(func() bool { return !mentioned() })
			}
			if got := c.hits(keyword("note")); len(got) != 38 {
				t.Errorf("%d of the others are found", len(got))
			}
		})
	}
}

// A statement that was read out of a text goes with it, also once a person has put it
// otherwise: then it has passages of its own, and what was read out of those.
func TestAnEditedStatementGoesWithItsText(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.note("Peter Novak works for Hooli.")
	text := c.note("The offices were cold all week. I prefer trains to boats.")
	said := c.nodes(&pb.ListNodes{Kind: "preference"}, 1)
	if len(said) != 1 {
		t.Fatalf("preferences %v", said)
	}
	c.edit(&pb.EditNode{Id: said[0], Content: new("I prefer the marmalade of Zebediah Quimby to any other.")})
	if hits := c.search(&pb.Search{Query: "marmalade", Mode: "keyword"}); len(hits) != 1 || hits[0].GetNode() != said[0] {
		t.Fatalf("it is found as %v", hits)
	}
	c.think()
	c.forget(text)
	if hits := c.search(&pb.Search{Query: "marmalade", Mode: "keyword"}); len(hits) != 0 {
		t.Errorf("it is still found: %v", hits)
	}
	if left := c.titles("entity"); slices.ContainsFunc(left,
		func(s string) bool { return strings.Contains(s, "Quimby") }) || !slices.Contains(left, "Peter Novak") {
		t.Errorf("entities %q", left)
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "marmalade", "Quimby")
	c.graphHolds(t)
	again := c.note("I prefer the marmalade of Zebediah Quimby to any other.")
	if hits := c.search(&pb.Search{
		Query: "marmalade", Mode: "keyword",
		Filters: &pb.Filters{Kind: "document"},
	}); len(hits) != 1 || hits[0].GetNode() != again {
		t.Errorf("written once more it is found as %v, not %s", hits, again)
	}
}

// mentioned reports whether a stored segment knows a node. It wakes nobody.
func (n *testNode) mentioned(part *partition.Ref, id string) bool {
	n.t.Helper()
	st, err := n.store.Acquire(part.Store)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	snap, err := st.Snapshot() // the worker may replace a segment meanwhile
	if err != nil {
		n.t.Fatal(err)
	}
	defer snap.Close()
	for rec, err := range storage.ScanRecords(snap, part.Space.Prefix(storage.TableSegment), storage.ScanOptions{},
		func() *pb.Segment { return &pb.Segment{} }) {
		if err != nil {
			n.t.Fatal(err)
		}
		view, err := partition.LoadSegment(snap, part, rec.Value.GetId())
		if err != nil {
			n.t.Fatal(err)
		}
		for doc := range view.Segment.Len() {
			if string(view.Segment.NodeOf(doc).ID) == id {
				return true
			}
		}
	}
	return false
}

// until lets time pass until something is so.
func (n *testNode) until(so func() bool) {
	n.t.Helper()
	give := time.Now().Add(patience)
	for !so() {
		if time.Now().After(give) {
			n.t.Fatal("it does not happen")
		}
		n.clock.Advance(time.Second)
	}
}

// The type of an edge that somebody asserted is a word of theirs: forgotten with a node it
// is nowhere to be read, and it comes back with the node, also where its neighbour was
// superseded meanwhile.
func TestTheTypesOfAForgottenNodesEdgesAreNotToBeRead(t *testing.T) {
	for _, then := range []string{"nothing", "superseded"} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			disk := storagetest.NewDisk()
			n := startNode(t, disk)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			id, other := c.note("It was said of somebody."), c.note("This one stays.")
			const kinds = 2
			kind := func(i int) string { return fmt.Sprint("is-secretly-related-4711-", i) }
			for i := range kinds {
				c.assertEdge(&pb.AssertEdge{Source: id, Target: other, Type: kind(i)})
			}
			if len(disk.Find(t, "secretly-related")) == 0 {
				t.Fatal("it is nowhere: the test would prove nothing")
			}
			c.forget(id)
			n.eraseNow(c)
			if files := disk.Find(t, "secretly-related"); len(files) > 0 {
				t.Errorf("it is in %q", files)
			}
			if got := c.ok(historyOp(other, nil)).String(); strings.Contains(got, "secretly") {
				t.Errorf("the history of its neighbour says %s", got)
			}
			document := string(c.download(c.export(false)))
			if strings.Contains(document, "secretly") {
				t.Errorf("an export says %s", document)
			}
			holder := other
			if then == "superseded" {
				holder = c.supersede(other, "This one came in its place.").GetNewNode()
			}
			c.ok(undeleteOp(id))
			edges := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{
				Source: id,
				Origin: pb.OriginAsserted,
			}}})).GetGraph().GetEdges().GetEdges()
			var back []string
			for _, e := range edges {
				back = append(back, e.GetType())
				if e.GetTarget() != holder || e.GetSealed() != nil {
					t.Errorf("it comes back as %v", e)
				}
			}
			slices.Sort(back)
			if !slices.Equal(back, []string{kind(0), kind(1)}) {
				t.Errorf("back come %q", back)
			}
			e, _ := c.assertEdge(&pb.AssertEdge{Source: id, Target: holder, Type: kind(0)})
			if got := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{
				Source: id,
				Type:   kind(0),
			}}})).GetGraph().GetEdges().GetEdges(); len(got) != 1 || got[0].GetId() != e.GetId() {
				t.Errorf("asserted once more there are %v", got)
			}
			part, st := n.partOf(c)
			defer st.Release()
			if err := entriesFit(st, part); err != nil {
				t.Error(err)
			}
		})
	}
}
