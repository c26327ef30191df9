package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func editOp(op *pb.EditNode) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_EditNode{EditNode: op}})
}

func forgetOp(id string) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetNode{ForgetNode: &pb.ForgetNode{Id: id}}})
}

func undeleteOp(id string) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_UndeleteNode{UndeleteNode: &pb.UndeleteNode{Id: id}}})
}

func supersedeOp(id, content string) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
		Id:      id,
		Content: content, Reason: "it changed",
	}}})
}

func historyOp(id string, page *pb.Page) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_NodeHistory{NodeHistory: &pb.NodeHistory{Id: id, Page: page}}})
}

func (c client) edit(op *pb.EditNode) *pb.NodeInfo {
	c.n.t.Helper()
	return c.ok(editOp(op)).GetNode()
}

func (c client) forget(id string) *pb.Node {
	c.n.t.Helper()
	return c.ok(forgetOp(id)).GetNode().GetNode()
}

func (c client) supersede(id, content string) *pb.Superseded {
	c.n.t.Helper()
	return c.ok(supersedeOp(id, content)).GetGraph().GetSuperseded()
}

// actions lists what a node's history tells, newest first.
func (c client) actions(id string) (out []string) {
	c.n.t.Helper()
	for _, a := range c.ok(historyOp(id, nil)).GetGraph().GetHistory().GetChanges() {
		out = append(out, a.GetAction())
	}
	return out
}

func (c client) hits(op *pb.Search) (nodes []string) {
	c.n.t.Helper()
	for _, h := range c.search(op) {
		nodes = append(nodes, h.GetNode())
	}
	return nodes
}

// texts lists the passages that hold a word.
func (c client) texts(word string) (out []string) {
	c.n.t.Helper()
	for _, h := range c.search(keyword(word)) {
		out = append(out, h.GetChunk())
	}
	return out
}

func keyword(query string) *pb.Search { return &pb.Search{Query: query, Mode: "keyword", TopK: 100} }

// interface: Endpoints/Graph nodes
func TestEditedNodeIsFoundByWhatItSaysNow(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.ingest(&pb.IngestItem{ExternalId: "m1", Content: "The meeting is on Monday.", Metadata: []byte(`{"v":1}`)}).
		GetItems()[0].GetNode()
	before := c.ok(getNodeOp(id)).GetNode()
	n.clock.Advance(time.Minute)

	after := c.edit(&pb.EditNode{
		Id: id, Content: new("The gathering is on Tuesday."), Metadata: []byte(`{"v":2}`),
		Kind: new("belief"), Reason: "it moved", IfMatch: []string{before.GetEtag()},
	})
	if diff := prototest.Diff(&pb.Node{
		Title: "The gathering is on Tuesday.", Kind: "belief", Metadata: []byte(`{"v":2}`),
		CreatedMs: before.GetNode().GetCreatedMs(),
	}, after.GetNode()); diff != "" || after.GetContent() != "The gathering is on Tuesday." {
		t.Fatalf("the answer is %v (-want +got):\n%s", after, diff)
	}
	if after.GetNode().GetUpdatedMs() == before.GetNode().GetUpdatedMs() || after.GetEtag() == before.GetEtag() {
		t.Fatalf("%v is not told apart from %v", after, before)
	}
	check := func(c client) {
		t.Helper()
		if got := c.ok(getNodeOp(id)).GetNode(); !proto.Equal(got, after) {
			t.Errorf("reads %v, was answered %v", got, after)
		}
		for _, mode := range []string{"keyword", "vector"} {
			hits := c.search(&pb.Search{Query: "gathering Tuesday", Mode: mode})
			if len(hits) != 1 || hits[0].GetNode() != id || hits[0].GetChunk() != "The gathering is on Tuesday." {
				t.Errorf("by its new words, %s: %v", mode, hits)
			}
		}
		if got := c.hits(keyword("meeting Monday")); len(got) != 0 {
			t.Errorf("by its old words: %v", got)
		}
		for _, f := range []struct {
			filters *pb.Filters
			want    int
		}{
			{&pb.Filters{Kind: "belief"}, 1},
			{&pb.Filters{Kind: "document"}, 0},
			{&pb.Filters{Metadata: map[string]string{"v": "2"}}, 1},
			{&pb.Filters{Metadata: map[string]string{"v": "1"}}, 0},
		} {
			if got := c.search(&pb.Search{Query: "gathering", Filters: f.filters}); len(got) != f.want {
				t.Errorf("%v: %d hits, want %d", f.filters, len(got), f.want)
			}
		}
	}
	check(c)
	for _, stale := range [][]string{{before.GetEtag()}, {`"x"`, "W/" + after.GetEtag()}} {
		c.refused(pb.CodePreconditionFailed, editOp(&pb.EditNode{Id: id, Title: new("No"), IfMatch: stale}))
	}
	c.refused(pb.CodeDomainNotFound, editOp(&pb.EditNode{
		Id: id, Title: new("No"),
		Domain: new("00000000-0000-4000-8000-000000000000"),
	}))
	check(c)

	entries := c.ok(historyOp(id, nil)).GetGraph().GetHistory().GetChanges()
	if got := c.actions(id); !slices.Equal(got, []string{graph.ActionUpdated, graph.ActionCreated}) {
		t.Fatalf("history %v", got)
	}
	edit := entries[0]
	if edit.GetReason() != "it moved" || string(edit.GetKeyHash()) != string(hashOf(c)) || len(edit.GetUser()) != 16 ||
		edit.GetAtMs() != after.GetNode().GetUpdatedMs() {
		t.Errorf("the edit reads %v", edit)
	}
	if string(entries[1].GetKeyHash()) != string(hashOf(c)) { // of the key that sent it
		t.Errorf("the creation reads %v", entries[1])
	}
	got := map[string]string{}
	for _, change := range edit.GetChanges() {
		got[change.GetField()] = change.GetBefore() + " > " + change.GetAfter()
	}
	for field, want := range map[string]string{
		"content": "The meeting is on Monday. > The gathering is on Tuesday.",
		"title":   "The meeting is on Monday. > The gathering is on Tuesday.",
		"kind":    "document > belief", "metadata": `{"v":1} > {"v":2}`,
	} {
		if got[field] != want {
			t.Errorf("%s: %q, want %q", field, got[field], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("changes of %v", got)
	}
	c.edit(&pb.EditNode{Id: id, Kind: new("belief")}) // what it is already
	if got := c.actions(id); len(got) != 2 {
		t.Errorf("an edit that changes nothing is told: %v", got)
	}
	n.stop()
	n = startNode(t, disk, smallSlices)
	check(client{n: n, key: c.key})
}

func hashOf(c client) []byte {
	h := pb.HashKey(c.key)
	return h[:]
}

// interface: Endpoints/Graph history
func TestHistoryOfLongTextsIsCut(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	long := strings.Repeat("ä", graph.MaxHistoryText)
	id := c.note("Short.")
	c.edit(&pb.EditNode{Id: id, Content: new(long)})
	for i := range 5 {
		c.edit(&pb.EditNode{Id: id, Title: new(fmt.Sprint("Title ", i))})
	}
	var all []*pb.Audit
	cursor := ""
	for {
		list := c.ok(historyOp(id, &pb.Page{Size: 2, Cursor: cursor})).GetGraph().GetHistory()
		all = append(all, list.GetChanges()...)
		if cursor = list.GetNextCursor(); cursor == "" {
			break
		}
		c.edit(&pb.EditNode{Id: id, Metadata: fmt.Appendf(nil, `{"n":%d}`, len(all))}) // the pages do not see it
	}
	if len(all) != 7 || all[6].GetAction() != graph.ActionCreated {
		t.Fatalf("%d entries", len(all))
	}
	for _, change := range all[5].GetChanges() {
		if change.GetField() == "content" && (!change.GetCut() || change.GetAfter() != long[:graph.MaxHistoryText] ||
			change.GetBefore() != "Short.") {
			t.Errorf("content of %d bytes, cut %v", len(change.GetAfter()), change.GetCut())
		}
	}
	other := c.note("Other.")
	first := c.ok(historyOp(id, &pb.Page{Size: 1})).GetGraph().GetHistory().GetNextCursor()
	c.refused(pb.CodeInvalidCursor, historyOp(other, &pb.Page{Cursor: first}))
}

// TestEveryOperationInEveryState is the table of what an operation does to a node
// of a state.
//
// interface: States/Node restored
func TestEveryOperationInEveryState(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	numbers := 0
	fresh := func() string { numbers++; return fmt.Sprintf("Content number %d.", numbers) }
	states := map[string]func() string{
		"absent":  func() string { return "ingest:00000000-0000-4000-8000-000000000000:abc" },
		"foreign": func() string { return c.as("anna").note(fresh()) },
		"live":    func() string { return c.note(fresh()) },
		"superseded": func() string {
			id := c.note(fresh())
			c.supersede(id, fresh())
			return id
		},
		"tombstoned": func() string {
			id := c.note(fresh())
			c.forget(id)
			return id
		},
		"tombstoned, was superseded": func() string {
			id := c.note(fresh())
			c.supersede(id, fresh())
			c.forget(id)
			return id
		},
		"restored": func() string {
			id := c.note(fresh())
			c.forget(id)
			c.ok(undeleteOp(id))
			return id
		},
	}
	operations := map[string]func(id string) *pb.Envelope{
		"get":       getNodeOp,
		"edit":      func(id string) *pb.Envelope { return editOp(&pb.EditNode{Id: id, Content: new(fresh())}) },
		"forget":    forgetOp,
		"undelete":  undeleteOp,
		"supersede": func(id string) *pb.Envelope { return supersedeOp(id, fresh()) },
		"history":   func(id string) *pb.Envelope { return historyOp(id, nil) },
	}
	const gone = pb.CodeNodeNotFound
	type row struct{ get, edit, forget, undelete, supersede, history string } // the code, or the status after
	for state, want := range map[string]row{
		"absent":  {gone, gone, gone, gone, gone, gone},
		"foreign": {gone, gone, gone, gone, gone, gone},
		"live": {
			pb.StatusLive, pb.StatusLive, pb.StatusTombstoned, pb.CodeNodeNotForgotten,
			pb.StatusSuperseded, pb.StatusLive,
		},
		"superseded": {
			pb.StatusSuperseded, pb.CodeAlreadySuperseded, pb.StatusTombstoned,
			pb.CodeNodeNotForgotten, pb.CodeAlreadySuperseded, pb.StatusSuperseded,
		},
		"tombstoned":                 {gone, gone, gone, pb.StatusLive, gone, pb.StatusTombstoned},
		"tombstoned, was superseded": {gone, gone, gone, pb.StatusSuperseded, gone, pb.StatusTombstoned},
		"restored": {
			pb.StatusLive, pb.StatusLive, pb.StatusTombstoned, pb.CodeNodeNotForgotten,
			pb.StatusSuperseded, pb.StatusLive,
		},
	} {
		for operation, want := range map[string]string{
			"get": want.get, "edit": want.edit, "forget": want.forget, "undelete": want.undelete, "supersede": want.supersede,
			"history": want.history,
		} {
			t.Run(state+"/"+operation, func(t *testing.T) {
				id := states[state]()
				r := c.ask(operations[operation](id))
				got := r.GetProblem().GetCode()
				if got == "" {
					got = n.nodeIn(c, id).GetStatus()
				}
				if got != want {
					t.Errorf("%s, want %s (%v)", got, want, r)
				}
			})
		}
	}
	id := c.note("Same words.")
	c.refused(pb.CodeValidation, supersedeOp(id, "Same words."))
}

// NodeIn reads a record of the key owner's partition, whatever its status; nil
// when there is none.
func (n *testNode) nodeIn(c client, id string) *pb.Node {
	n.t.Helper()
	part, st := n.partOf(c)
	defer st.Release()
	out := &pb.Node{}
	found, err := st.Get(part.Space.Key(storage.TableNode, storage.Str(id)), out)
	if err != nil {
		n.t.Fatal(err)
	}
	if !found {
		return nil
	}
	return out
}

// partOf is the key owner's partition and its store, which the caller releases.
func (n *testNode) partOf(c client) (*partition.Ref, *storage.Store) {
	n.t.Helper()
	me := c.ok(me()).GetMe()
	id := storage.StoreID{Org: pb.OrgID(me.GetOrg()), Realm: storage.RealmMain}
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	part := pb.PartitionID(me.GetUser())
	return &partition.Ref{ID: part, Store: id, Space: storage.PartitionSpace(id, part)}, st
}

// interface: Resources/Graph records
// interface: States/Node superseded
func TestSupersedingNodeTakesThePlace(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	old := c.ingest(&pb.IngestItem{
		ExternalId: "m1", Title: "Heating", Kind: "belief", Content: "The boiler is new.",
		Metadata: []byte(`{"v":1}`),
	}).GetItems()[0].GetNode()
	left, right, gone := c.note("Left neighbour."), c.note("Right neighbour."), c.note("Forgotten neighbour.")
	in, _ := c.assertEdge(&pb.AssertEdge{Source: left, Target: old, Type: "about", Weight: new(0.3)})
	out, _ := c.assertEdge(&pb.AssertEdge{Source: old, Target: right, Type: "about"})
	away, _ := c.assertEdge(&pb.AssertEdge{Source: old, Target: gone, Type: "about"})
	c.forget(gone)

	s := c.supersede(old, "The boiler is old.")
	id := s.GetNewNode()
	if diff := prototest.Diff(&pb.Superseded{
		OldNode: old, NewNode: id, Edge: old + "_" + id + "_superseded_by", Created: true, NewAuthority: 0.625,
	}, s); diff != "" {
		t.Fatalf("answer (-want +got):\n%s", diff)
	}
	now, was := c.ok(getNodeOp(id)).GetNode(), c.nodeOf(old)
	if diff := prototest.Diff(&pb.Node{
		Title: "Heating", Kind: "belief", Metadata: []byte(`{"v":1}`), Authority: 0.625,
	}, now.GetNode()); diff != "" || now.GetContent() != "The boiler is old." ||
		now.GetNode().GetSource().GetType() != pb.SourceSupersede {
		t.Errorf("the new node reads %v (-want +got):\n%s", now, diff)
	}
	if was.GetStatus() != pb.StatusSuperseded || was.GetSupersededBy() != id || was.GetValidToMs() == 0 {
		t.Errorf("the old node reads %v", was)
	}
	if got := c.hits(keyword("boiler")); !slices.Equal(got, []string{id}) {
		t.Errorf("found %v", got)
	}
	if got := c.hits(&pb.Search{Query: "boiler", Mode: "keyword", IncludeSuperseded: true}); len(got) != 2 {
		t.Errorf("with the superseded: %v", got)
	}
	edge := func(id string) *pb.Edge {
		t.Helper()
		return c.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge()
	}
	if e := edge(in.GetId()); e.GetSource() != left || e.GetTarget() != id || e.GetWeight() != 0.3 {
		t.Errorf("the edge to it: %v", e)
	}
	if e := edge(out.GetId()); e.GetSource() != id || e.GetTarget() != right {
		t.Errorf("the edge from it: %v", e)
	}
	between := &pb.Edge{Source: old, Target: id, Origin: pb.OriginSupersede, Type: "superseded_by"}
	if diff := prototest.Diff(between, edge(s.GetEdge())); diff != "" {
		t.Errorf("the edge between (-want +got):\n%s", diff)
	}
	if a, b := was.GetDegree(), now.GetNode().GetDegree(); a != 1 || b != 3 {
		t.Errorf("degrees %d and %d", a, b)
	}
	c.ok(undeleteOp(gone)) // its edge leads to the successor
	if e := edge(away.GetId()); e.GetSource() != id || e.GetTarget() != gone {
		t.Errorf("the edge that comes back: %v", e)
	}
	if got, want := c.actions(old), []string{
		graph.ActionSuperseded, graph.ActionEdgeAsserted, graph.ActionEdgeAsserted,
		graph.ActionEdgeAsserted, graph.ActionCreated,
	}; !slices.Equal(got, want) {
		t.Errorf("history of the old %v", got)
	}
	if reason := c.ok(historyOp(old, nil)).GetGraph().GetHistory().GetChanges()[0].GetReason(); reason != "it changed" {
		t.Errorf("reason %q", reason)
	}
	c.refused(pb.CodeAlreadySuperseded, supersedeOp(old, "The boiler is older."))

	// A content that is known takes the place itself; the first one again, too.
	again := c.supersede(id, "The boiler is new.")
	if again.GetCreated() || again.GetNewNode() != old || again.GetNewAuthority() != 0.625+0.375/4 {
		t.Errorf("back to the first: %v", again)
	}
	if c.nodeOf(old).GetStatus() != pb.StatusLive || c.nodeOf(old).GetSupersededBy() != "" ||
		c.nodeOf(id).GetStatus() != pb.StatusSuperseded {
		t.Error("the first is not live again")
	}
	if e := edge(s.GetEdge()); e.GetStatus() != pb.StatusSuperseded || e.GetValidToMs() == 0 {
		t.Errorf("the edge of what no longer holds: %v", e)
	}
	if e := edge(in.GetId()); e.GetTarget() != old {
		t.Errorf("the edge did not come back: %v", e)
	}
	third := c.supersede(old, "Left neighbour.") // one that is its neighbour
	if third.GetCreated() || third.GetNewNode() != left {
		t.Errorf("by its neighbour: %v", third)
	}
	if e := edge(in.GetId()); e.GetSource() != left || e.GetTarget() != old || e.GetStatus() != pb.StatusSuperseded {
		t.Errorf("the edge between the two: %v", e)
	}
	// The reason goes with what it may quote.
	c.forget(left)
	for _, a := range c.ok(historyOp(old, nil)).GetGraph().GetHistory().GetChanges() {
		for _, change := range a.GetChanges() {
			if change.GetField() == "supersededBy" && change.GetAfter() == left && a.GetReason() != "" {
				t.Errorf("the reason is left: %q", a.GetReason())
			}
		}
	}
}

// An edge that had ended before one of its nodes was forgotten does not follow the
// other to its successor, and comes back ended where it was.
func TestEndedEdgeStaysWhereItEnded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	old, by := c.note("The boiler is loud."), c.note("The boiler is quiet.")
	e, _ := c.assertEdge(&pb.AssertEdge{Source: old, Target: by, Type: "about"})
	c.supersede(old, "The boiler is quiet.") // by a node that is there: the edge would join it with itself
	c.forget(old)
	successor := c.supersede(by, "The boiler is gone.").GetNewNode()
	c.ok(undeleteOp(old))
	if got := c.nodeOf(successor).GetDegree(); got != 1 {
		t.Errorf("the successor has %d edges, want that from its predecessor", got)
	}
	edge := c.ok(getEdgeOp(e.GetId())).GetGraph().GetEdge().GetEdge()
	if edge.GetSource() != old || edge.GetTarget() != by || edge.GetStatus() != pb.StatusSuperseded {
		t.Errorf("the edge came back as %v", edge)
	}
}

// Two nodes had the same edge to one that is forgotten, and one of them takes the other's place: one edge is left to
// come back.
func TestSuccessorHasOneEdgeToAForgottenNeighbour(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	old, by, gone := c.note("The boiler is loud."), c.note("The boiler is quiet."), c.note("The neighbour.")
	for _, id := range []string{old, by} {
		c.assertEdge(&pb.AssertEdge{Source: id, Target: gone, Type: "about"})
		c.assertEdge(&pb.AssertEdge{Source: gone, Target: id, Type: "about"})
	}
	c.assertEdge(&pb.AssertEdge{Source: old, Target: gone, Type: "beside"})
	c.forget(gone)
	c.supersede(old, "The boiler is quiet.")
	c.ok(undeleteOp(gone))
	if got := c.nodeOf(gone).GetDegree(); got != 3 {
		t.Errorf("the neighbour has %d edges, want one there of each type and one back", got)
	}
	if got := c.edges(&pb.ListEdges{Source: by, Target: gone}, 7); len(got) != 2 {
		t.Errorf("edges from the successor: %v", got)
	}
	if got := c.nodeOf(by).GetDegree(); got != 4 {
		t.Errorf("the successor has %d edges, want those three and that from its predecessor", got)
	}
}

func TestReplayedSupersedeAnswersTheFirstOutcome(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.note("First.")
	request := func() *pb.Envelope {
		op := supersedeOp(id, "Second.")
		op.IdempotencyKey = "once"
		return op
	}
	first, second := c.ok(request()), c.ok(request())
	if !second.GetReplayed() || !proto.Equal(first.GetGraph(), second.GetGraph()) {
		t.Errorf("%v, then %v", first, second)
	}
	refusal := func() *pb.Envelope {
		op := undeleteOp(id)
		op.IdempotencyKey = "twice"
		return op
	}
	c.refused(pb.CodeNodeNotForgotten, refusal())
	c.forget(id)
	if r := c.ask(refusal()); !r.GetReplayed() || r.GetProblem().GetCode() != pb.CodeNodeNotForgotten {
		t.Errorf("the refusal is not replayed: %v", r)
	}
}

func TestIngestionRespectsWhatAPersonHasDone(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const original, edited, changed = "The door code is one.", "The door code is two.", "The door code is three."
	outcome := func(item *pb.IngestItem, want string) string {
		t.Helper()
		got := c.ingest(item).GetItems()[0]
		if got.GetStatus() != want {
			t.Fatalf("%s, want %s", got.GetStatus(), want)
		}
		return got.GetNode()
	}
	contents := func(want ...string) {
		t.Helper()
		got := c.texts("door")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("found %q, want %q", got, want)
		}
	}
	id := outcome(doc("m1", original), pb.ItemCreated)
	c.edit(&pb.EditNode{Id: id, Content: new(edited), Title: new("Door")})
	if got := outcome(doc("m1", original), pb.ItemUnchanged); got != id { // the source says nothing new
		t.Errorf("the document is %s", got)
	}
	contents(edited)
	if got := outcome(doc("m9", edited), pb.ItemUnchanged); got != id { // what it says now
		t.Errorf("the edited content is %s", got)
	}
	if got := c.nodeOf(id); got.GetTitle() != "Door" {
		t.Errorf("title %q", got.GetTitle())
	}
	// The original, sent for itself, is a node beside the edited one.
	beside := outcome(doc("", original), pb.ItemCreated)
	if beside == id {
		t.Fatal("it is the edited node")
	}
	contents(edited, original)
	if got := outcome(doc("", original), pb.ItemUnchanged); got != beside {
		t.Errorf("the second time it is %s", got)
	}
	outcome(doc("m9", changed), pb.ItemSuperseded) // m1 still has the edited content
	contents(edited, original, changed)
	outcome(doc("m1", changed), pb.ItemSuperseded) // other words of the document end the edit
	contents(original, changed)
	if got := c.nodeOf(id); got.GetStatus() != pb.StatusSuperseded {
		t.Errorf("the edited node is %s", got.GetStatus())
	}

	// A title that a person gave stays until the text changes.
	titled := outcome(&pb.IngestItem{ExternalId: "t", Title: "Source", Content: "A text with a title."}, pb.ItemCreated)
	c.edit(&pb.EditNode{Id: titled, Title: new("Mine")})
	outcome(&pb.IngestItem{ExternalId: "t", Title: "Source again", Content: "A text with a title."}, pb.ItemUnchanged)
	if got := c.nodeOf(titled).GetTitle(); got != "Mine" {
		t.Errorf("title %q", got)
	}

	// What was put in a document's place stands until the document changes.
	fact := outcome(doc("f", "The cat is black."), pb.ItemCreated)
	by := c.supersede(fact, "The cat is white.").GetNewNode()
	by = c.supersede(by, "The cat is grey.").GetNewNode()
	outcome(doc("f", "The cat is black."), pb.ItemUnchanged)
	if got := c.texts("cat"); !slices.Equal(got, []string{"The cat is grey."}) {
		t.Errorf("found %q", got)
	}
	outcome(doc("f", "The cat is spotted."), pb.ItemSuperseded)
	if got := c.texts("cat"); !slices.Equal(got, []string{"The cat is spotted."}) {
		t.Errorf("found %q", got)
	}
	if got := c.nodeOf(by); got.GetStatus() != pb.StatusSuperseded {
		t.Errorf("what stood in its place is %s", got.GetStatus())
	}

	// With nothing in its place the document's content is what there is.
	bird := outcome(doc("b", "The bird is red."), pb.ItemCreated)
	c.forget(c.supersede(bird, "The bird is blue.").GetNewNode())
	outcome(doc("b", "The bird is red."), pb.ItemRevived)
	if got := c.texts("bird"); !slices.Equal(got, []string{"The bird is red."}) {
		t.Errorf("found %q", got)
	}

	// Forgotten and sent again: a new node under the same id, which cannot be
	// restored any more, and has none of the old edges.
	e, _ := c.assertEdge(&pb.AssertEdge{Source: titled, Target: beside, Type: "next"})
	c.forget(beside)
	anew := outcome(doc("", original), pb.ItemCreated)
	c.refused(pb.CodeNodeNotForgotten, undeleteOp(anew))
	c.refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))
	if got, want := c.actions(anew)[0], graph.ActionCreated; got != want {
		t.Errorf("history begins with %s", got)
	}
	// Restored, and then sent again: it has its content back, and its place.
	e, _ = c.assertEdge(&pb.AssertEdge{Source: titled, Target: anew, Type: "next"})
	c.forget(anew)
	c.ok(undeleteOp(anew))
	outcome(doc("again", original), pb.ItemRevived)
	c.ok(getEdgeOp(e.GetId()))
	contents(original, changed)
}

func TestWhatWaitsInTheQueueIsForgottenToo(t *testing.T) {
	gate, blocked := make(chan struct{}), make(chan struct{})
	asked := make(chan struct{}, 1)
	var once sync.Once
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if strings.Contains(s, "Blocking") {
				once.Do(func() { close(blocked); <-gate })
			}
		}}
		c.CancelRequested = func(pb.JobID) { asked <- struct{}{} }
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.note("A regretted sentence.")
	c.edit(&pb.EditNode{Id: id, Content: new("A repaired sentence.")})
	before := c.note("A sentence that is as it was.")
	first := jobOf(c.ok(items(doc("", "Blocking."))))
	<-blocked
	queued := jobOf(c.ok(items(doc("r", "A regretted sentence."), doc("k", "A kept sentence."),
		doc("s", "A repaired sentence."))))
	only := jobOf(c.ok(items(doc("", "A sentence that is as it was."))))
	unwanted := jobOf(c.ok(items(doc("", "Nobody wants this."))))
	var wg sync.WaitGroup
	wg.Go(func() { c.forget(id) })
	wg.Go(func() { c.forget(before) })
	n.waitFor(func() bool { return n.waitingEdits(c) > 1 }) // no time passes: the two have until their deadlines
	// A cancellation goes the way of the edits, behind them: the worker has them now, and
	// begins no other slice first.
	wg.Go(func() { c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: unwanted}}}) })
	<-asked
	close(gate)
	wg.Wait()
	n.wait(first, queued, only)
	if got := c.hits(keyword("regretted repaired as it was")); len(got) != 0 {
		t.Errorf("it came back: %v", got)
	}
	job := c.job(queued)
	if got, want := itemStatus(job), []string{pb.ItemFailed, pb.ItemCreated, pb.ItemFailed}; !slices.Equal(got, want) ||
		job.GetStatus() != pb.JobSucceeded || job.GetItems()[0].GetExternalId() != "" {
		t.Errorf("the job reads %v", job)
	}
	if job := c.job(only); job.GetStatus() != pb.JobFailed || job.GetErrorCode() != pb.ErrorForgotten {
		t.Errorf("the job of nothing else reads %v", job)
	}
	if got := c.note("A regretted sentence."); got != id { // sent after it was forgotten
		t.Errorf("sent again, it is %s", got)
	}
	if got := c.hits(keyword("regretted")); !slices.Equal(got, []string{id}) {
		t.Errorf("sent again, it is not found: %v", got)
	}
}

// waitingEdits is how many edits are in the hands of the organization's actors.
func (n *testNode) waitingEdits(c client) int64 {
	n.t.Helper()
	result := make(chan int64, 1)
	org := pb.OrgID(c.ok(me()).GetMe().GetOrg())
	err := n.sys.Visit(n.t.Context(), org, func(o *tenant.Org, done func(error)) {
		sum := int64(0)
		for _, ch := range o.InMemory() {
			sum += ch.Calls.Load()
		}
		result <- sum
		done(nil)
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return <-result
}

// TestEditsDoNotWaitForTheQueue holds up later slices until the edits are
// answered, and the queue altogether by a back-off.
func TestEditsDoNotWaitForTheQueue(t *testing.T) {
	answered := make(chan struct{})
	began, failing := make(chan struct{}), make(chan struct{})
	var once, poisoning sync.Once
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Workers = 2
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			switch {
			case strings.HasPrefix(s, "Item 0 "):
				once.Do(func() { close(began) })
			case strings.HasPrefix(s, "Item 399 "): // of the last slice
				<-answered
			case strings.Contains(s, "poison"):
				poisoning.Do(func() { close(failing) })
				panic("cannot digest this")
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("One thing."), c.note("Another thing.")
	var many []*pb.IngestItem
	for i := range 400 {
		many = append(many, doc("", fmt.Sprintf("Item %d of many.", i)))
	}
	long := jobOf(c.ok(items(many...)))
	<-began
	c.forget(a)
	c.edit(&pb.EditNode{Id: b, Content: new("Something else.")})
	close(answered)
	n.wait(long)
	if got := c.hits(keyword("something")); !slices.Equal(got, []string{b}) {
		t.Errorf("found %v", got)
	}

	poisoned := jobOf(c.ok(items(doc("", "This is poison."))))
	<-failing // the clock stands: there is no second attempt
	c.edit(&pb.EditNode{Id: b, Content: new("In the meantime.")})
	if job := c.job(poisoned); tenant.Terminal(job.GetStatus()) {
		t.Errorf("the job is %s: the test proves nothing", job.GetStatus())
	}
	if got := c.hits(keyword("meantime")); !slices.Equal(got, []string{b}) {
		t.Errorf("found %v", got)
	}
}

// TestEditBesideAFailingSliceDoesNotWaitForTheBackOff lets an edit reach the
// worker while the slice runs that fails; the clock stands, so a back-off would
// never end.
func TestEditBesideAFailingSliceDoesNotWaitForTheBackOff(t *testing.T) {
	began, fail := make(chan struct{}), make(chan struct{})
	asked := make(chan struct{}, 1)
	var once sync.Once
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if strings.Contains(s, "poison") {
				once.Do(func() { close(began) })
				<-fail
				panic("cannot digest this")
			}
		}}
		c.CancelRequested = func(pb.JobID) { asked <- struct{}{} }
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.note("One thing.")
	poisoned := jobOf(c.ok(items(doc("", "This is poison."))))
	<-began
	behind := jobOf(c.ok(items(doc("", "It waits behind."))))
	var wg sync.WaitGroup
	wg.Go(func() { c.edit(&pb.EditNode{Id: id, Title: new("A title")}) })
	n.waitFor(func() bool { return n.waitingEdits(c) == 1 })
	// The cancellation goes the way of the edit, behind it.
	wg.Go(func() { c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: behind}}}) })
	<-asked
	close(fail)
	wg.Wait()
	if got := c.nodeOf(id).GetTitle(); got != "A title" {
		t.Errorf("the title is %q", got)
	}
	if job := c.job(poisoned); tenant.Terminal(job.GetStatus()) {
		t.Errorf("the job is %s: the test proves nothing", job.GetStatus())
	}
}

// interface: What the service does/5 edits with an audit trail
// interface: Events/graph.updated
// interface: Events/belief.superseded
func TestChangesAreAuditedAndAnnounced(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	who := c.as("anna")
	job := who.ingest(doc("m", "One secret."), doc("", "Two secrets."))
	id := job.GetItems()[0].GetNode()
	who.edit(&pb.EditNode{Id: id, Content: new("Three secrets."), Reason: "secret"})
	by := who.supersede(id, "Four secrets.").GetNewNode()
	who.forget(by)
	who.ok(undeleteOp(by))
	part, st := n.partOf(c)
	defer st.Release()
	org := storage.OrgSpace(part.Store)
	var events, audits []string
	for rec, err := range storage.ScanRecords(st, org.Prefix(storage.TableOutbox), storage.ScanOptions{},
		func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			t.Fatal(err)
		}
		e := rec.Value
		if strings.Contains(e.String(), "ecret") || e.GetSubject() != "anna" || len(e.GetUser()) != 16 {
			t.Errorf("event %v", e)
		}
		events = append(events, e.GetType()+" "+string(e.GetData()))
	}
	for rec, err := range storage.ScanRecords(st, org.Prefix(storage.TableAudit), storage.ScanOptions{},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rec.Value.String(), "ecret") {
			t.Errorf("audit %v", rec.Value)
		}
		if strings.HasPrefix(rec.Value.GetAction(), "node.") {
			audits = append(audits, rec.Value.GetAction()+" "+rec.Value.GetTarget())
		}
	}
	graph := func(change, target string, affected int) string {
		if target != "" {
			target = `,"targetId":"` + target + `"`
		}
		return fmt.Sprintf(`graph.updated {"affectedNodes":%d,"changeType":"%s","subject":"anna"%s}`, affected, change,
			target)
	}
	want := []string{
		fmt.Sprintf(`job.completed {"jobId":"%s","jobType":"ingest_batch","status":"succeeded","subject":"anna"}`,
			pb.JobID(job.GetId())),
		graph("created", "", 2),
		graph("updated", id, 1),
		graph("superseded", id, 2),
		fmt.Sprintf(`belief.superseded {"nodeId":"%s","subject":"anna","supersededBy":"%s"}`, id, by),
		graph("forgotten", by, 1),
		graph("restored", by, 1),
	}
	if !slices.Equal(events, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(events, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"node.update " + id, "node.supersede " + id, "node.forget " + by, "node.undelete " +
		by}; !slices.Equal(audits, want) {
		t.Errorf("audits %v", audits)
	}
}
