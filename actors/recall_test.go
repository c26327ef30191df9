package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func mindEnvelope(op *pb.MindOp) *pb.Envelope { return &pb.Envelope{Op: &pb.Envelope_Mind{Mind: op}} }

func recallOp(op *pb.Recall) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Recall{Recall: op}})
}

func identityOp(user string) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_GetIdentity{GetIdentity: &pb.GetIdentity{User: user}}})
}

// derive writes records as a cognition cycle would.
func (c client) derive(f func(b *storage.Batch, space storage.Space)) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) {
		key := &pb.Key{}
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(o.Space.Key(storage.TableKey, storage.Hash32(pb.HashKey(c.key))), key)
			return err
		})
		if err != nil {
			c.n.t.Error(err)
			return
		}
		part, _, err := o.Partition(c.envelope(recallOp(&pb.Recall{})), key)
		if err != nil {
			c.n.t.Error(err)
			return
		}
		b := storage.NewBatch(o.Store)
		f(b, part.Space)
		if err := o.Committer.Commit(b); err != nil {
			c.n.t.Error(err)
		}
	})
}

func derivedN(i int) []byte { return append(make([]byte, 15), byte(i)) }

// interface: What the service does/derived views are empty at first
func TestViewsAreEmptyBeforeTheFirstCycle(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.note("The boiler is old.")
	id := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	if id == nil || id.GetManifold() != nil || id.GetVoice() != nil || len(id.GetTraits())+len(id.GetBasins()) > 0 {
		t.Errorf("identity %v", id)
	}
	if list := c.ok(recallOp(&pb.Recall{Type: pb.RecallInsights})).GetMind().GetInsights(); list == nil ||
		len(list.GetInsights()) > 0 {
		t.Errorf("insights %v", list)
	}
	if list := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal(); list == nil ||
		len(list.GetMoments())+len(list.GetTrends()) > 0 {
		t.Errorf("temporal %v", list)
	}
	c.refused(pb.CodeRecallTypeNotFound, recallOp(&pb.Recall{Type: "dreams"}))
	c.refused(pb.CodeRecallTypeNotFound, recallOp(&pb.Recall{Type: ""}))
}

// Pages hold each entry once, newest first, whatever is written meanwhile; they
// are of one partition, and so are their cursors.
//
// interface: Resources/Recall identity view
func TestDerivedListsPage(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	node := c.note("The boiler is old.")
	c.derive(func(b *storage.Batch, space storage.Space) {
		for i := range 7 {
			graph.PutInsight(b, space, &pb.Insight{
				Id: derivedN(i), Title: fmt.Sprint(i), Nodes: []string{node},
				CreatedMs: int64(1000 + i/2),
			})
			// before 1970 too
			graph.PutMoment(b, space, &pb.Moment{Id: derivedN(i), Title: fmt.Sprint(i), Node: node, AtMs: int64(i - 3)})
		}
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewTemporal)),
			&pb.TemporalView{Trends: []*pb.Trend{{Topic: "heating"}}})
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewIdentity)),
			&pb.IdentityView{Manifold: &pb.Manifold{Version: 3}})
	})
	read := func(c client, op *pb.Recall) (titles []string, next string) {
		r := c.ok(recallOp(op)).GetMind()
		for _, i := range r.GetInsights().GetInsights() {
			titles = append(titles, i.GetTitle())
		}
		for _, m := range r.GetTemporal().GetMoments() {
			titles = append(titles, m.GetTitle())
		}
		return titles, r.GetInsights().GetNextCursor() + r.GetTemporal().GetNextCursor()
	}
	for view, want := range map[string][]string{
		pb.RecallInsights: {"6", "4", "5", "2", "3", "0", "1"}, // of one moment: by id
		pb.RecallTemporal: {"6", "5", "4", "3", "2", "1", "0"},
	} {
		whole, next := read(c, &pb.Recall{Type: view})
		if old := slices.DeleteFunc(whole, func(s string) bool { return s == "" }); !slices.Equal(old, want) || next != "" {
			t.Errorf("%s: %v %q", view, old, next)
		}
		for size := range uint32(8) {
			var got []string
			for cursor := ""; ; {
				page, next := read(c, &pb.Recall{Type: view, Paged: true, Page: &pb.Page{Size: size + 1, Cursor: cursor}})
				got = append(got, page...)
				if len(page) > int(size)+1 {
					t.Errorf("%s: a page of %d", view, len(page))
				}
				if cursor = next; cursor == "" {
					break
				}
				c.derive(func(b *storage.Batch, space storage.Space) { // newer than the first page
					at := int64(5000 + len(got) + 10*int(size))
					graph.PutInsight(b, space, &pb.Insight{Id: derivedN(100 + len(got)), CreatedMs: at, Nodes: []string{node}})
					graph.PutMoment(b, space, &pb.Moment{Id: derivedN(100 + len(got)), AtMs: at, Node: node})
				})
			}
			old := slices.DeleteFunc(got, func(s string) bool { return s == "" })
			if !slices.Equal(old, want) {
				t.Errorf("%s, %d a page: %v, want %v", view, size+1, old, want)
			}
		}
	}
	_, cursor := read(c, &pb.Recall{Type: pb.RecallInsights, Paged: true, Page: &pb.Page{Size: 1}})
	for _, bad := range []struct {
		c    client
		view string
	}{{c, pb.RecallTemporal}, {c.as("anna"), pb.RecallInsights}} {
		bad.c.refused(pb.CodeInvalidCursor, recallOp(&pb.Recall{Type: bad.view, Paged: true, Page: &pb.Page{Cursor: cursor}}))
	}
	if titles, _ := read(c.as("anna"), &pb.Recall{Type: pb.RecallInsights}); len(titles) > 0 {
		t.Errorf("anna reads the owner's insights: %v", titles)
	}
	if v := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView(); v.GetManifold().
		GetVersion() != 3 {
		t.Errorf("identity %v", v)
	}
	if v := c.as("anna").ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().
		GetView(); v.GetManifold() != nil {
		t.Errorf("anna's identity %v", v)
	}
	if trends := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().
		GetTrends(); len(trends) != 1 {
		t.Errorf("trends %v", trends)
	}
	if then := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal, AsOfMs: 2})).GetMind().
		GetTemporal(); len(then.GetTrends()) != 0 || len(then.GetMoments()) != 6 {
		t.Errorf("then %v", then)
	}
	n.clock.Advance(time.Second)
	before := n.clock.Now().UnixMilli()
	n.clock.Advance(time.Second)
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
		Id:      node,
		Content: "The boiler is new.", Reason: "looked",
	}}}))
	for _, view := range []string{pb.RecallInsights, pb.RecallTemporal} {
		if titles, _ := read(c, &pb.Recall{Type: view}); len(titles) > 0 {
			t.Errorf("%s of a text that another has replaced: %v", view, titles)
		}
		if titles, _ := read(c, &pb.Recall{Type: view, AsOfMs: before}); len(titles) < 7 {
			t.Errorf("%s before it was replaced: %v", view, titles)
		}
	}
}

// interface: Endpoints/Recall views
func TestRecalledGraph(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.as("anna").note("Anna's own.")
	var docs []*pb.IngestItem
	for i := range search.MaxRecallNodes + 20 {
		docs = append(docs, doc("", fmt.Sprintf("Note number %d.", i)))
	}
	var ids []string
	for _, item := range c.ingest(docs...).GetItems() {
		ids = append(ids, item.GetNode())
	}
	// Node 0 is the strongest: it has two edges. The last has one, to 0.
	hub, a, b := ids[0], ids[7], ids[len(ids)-1]
	e1, _ := c.assertEdge(&pb.AssertEdge{Source: hub, Target: a, Type: "x"})
	e2, _ := c.assertEdge(&pb.AssertEdge{Source: b, Target: hub, Type: "x"})
	gone, _ := c.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "x"})
	c.ok(forgetEdgeOp(gone.GetId()))

	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().GetGraph()
	totals := &pb.GraphView{TotalNodes: uint64(len(ids)), TotalEdges: 2}
	diff := prototest.Diff(totals, view, "total_domains")
	if diff != "" || len(view.GetNodes()) != search.MaxRecallNodes {
		t.Fatalf("%d nodes (-want +got):\n%s", len(view.GetNodes()), diff)
	}
	if view.GetNodes()[0].GetId() != hub {
		t.Errorf("the strongest is %v", view.GetNodes()[0])
	}
	for i, x := range view.GetNodes()[1:] {
		if search.Strength(x) > search.Strength(view.GetNodes()[i]) {
			t.Fatalf("node %d is stronger than the one before it", i+1)
		}
	}
	var edges []string
	for _, e := range view.GetEdges() {
		edges = append(edges, e.GetId())
	}
	slices.Sort(edges)
	want := []string{e1.GetId(), e2.GetId()}
	slices.Sort(want)
	if !slices.Equal(edges, want) {
		t.Errorf("edges %v, want %v", edges, want)
	}
	if view := c.as("anna").ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().
		GetGraph(); len(view.GetNodes()) != 1 || view.GetSubject() != "anna" {
		t.Errorf("anna's graph: %v", view)
	}
}

// TestRecalledGraphIsBounded counts and reads as far as it says, however the nodes
// and edges are spread over kinds and origins.
func TestRecalledGraphIsBounded(t *testing.T) {
	withoutRace(t)
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(me()) // its key is in memory then
	const each = search.MaxRecallCount/2 + 10
	for i, kind := range []string{"event", "document"} {
		c.derive(func(b *storage.Batch, space storage.Space) {
			for j := range each { // the older have no records: they are only counted
				id, at := fmt.Sprintf("%s%d", kind, j), int64(2*j+i+1)
				b.PutRaw(graph.NodeList(space, pb.StatusLive, kind).Child(storage.U64Desc(uint64(at)), storage.Str(id)), nil)
				b.PutRaw(graph.EdgesOf(space, graph.EdgeOrigins[i]).Child(storage.U64Desc(uint64(at)), storage.Str(id)), nil)
				if j >= each-search.MaxRecallScan/2 {
					b.Put(space.Key(storage.TableNode, storage.Str(id)), &pb.Node{
						Id: id, Kind: kind, Status: pb.StatusLive,
						CreatedMs: at, Authority: 1, Confidence: 1,
					})
				}
			}
		})
	}
	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().GetGraph()
	if len(view.GetNodes()) != search.MaxRecallNodes || view.GetTotalNodes() != search.MaxRecallCount ||
		view.GetTotalEdges() != search.MaxRecallCount {
		t.Errorf("%d nodes of %d, %d edges", len(view.GetNodes()), view.GetTotalNodes(), view.GetTotalEdges())
	}
}

// TestWhatIsNotLearnedFrom is searched like everything else, and stays out of
// recall and the brain.
func TestWhatIsNotLearnedFrom(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	known := c.note("The boiler was serviced by Mrs Okafor.")
	c.ok(patchSettings("", new(false)))
	hidden := c.note("The boiler was serviced by Mr Brown.")
	c.assertEdge(&pb.AssertEdge{Source: hidden, Target: known, Type: "x"})
	read := func() (graph, cited []string) {
		for _, n := range c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().GetGraph().GetNodes() {
			graph = append(graph, n.GetId())
		}
		for _, x := range c.ok(answerOp("Who serviced the boiler?", 0)).GetMind().GetAnswered().GetCitations() {
			cited = append(cited, x.GetNode())
		}
		slices.Sort(cited)
		return graph, cited
	}
	if graph, cited := read(); !slices.Equal(graph, []string{known}) || !slices.Equal(cited, []string{known}) {
		t.Errorf("recalled %v, cited %v", graph, cited)
	}
	if got := c.hits(keyword("boiler")); len(got) != 2 {
		t.Errorf("found %v", got)
	}
	c.ok(patchSettings("", new(true)))
	c.note("The boiler was serviced by Mr Brown.")
	if graph, cited := read(); len(graph) != 2 || len(cited) != 2 {
		t.Errorf("sent to be learned from: recalled %v, cited %v", graph, cited)
	}
}

// Identity is one's own, or needs read and admin; who may not ask does not learn
// who there is, and foreign people are as unknown as nobody.
//
// interface: Endpoints/Identity
func TestIdentityOfMembers(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	other := n.org(account.NewOrg{Name: "Other", OwnerEmail: "x@example.com", Plan: pb.PlanUnlimited})
	owner := client{n: n, key: org.APIKey}
	owner.put("anna")
	ann, reader := n.recruit(org.Org, "ann@example.com", pb.RoleMember, pb.ScopeRead)
	view := owner.ok(identityOp(ann.User.String())).GetMind().GetIdentity()
	if pb.UserID(view.GetUser()) != ann.User || view.GetView() == nil {
		t.Errorf("%v", view)
	}
	reader.ok(identityOp(ann.User.String()))
	var anna pb.PartitionID
	owner.inOrg(func(o *tenant.Org) {
		ref, err := o.LookupSubject("anna")
		if err != nil {
			t.Fatal(err)
		}
		anna = ref.ID
	})
	strangers := []string{other.Owner.String(), pb.UserID{9}.String(), anna.String(), "nonsense", ""}
	for i, id := range append(strangers, org.Owner.String()) {
		p := reader.refused(pb.CodePermissionDenied, identityOp(id))
		if q := reader.refused(pb.CodePermissionDenied, identityOp(strangers[0])); !proto.Equal(p, q) {
			t.Errorf("stranger %d reads %v, another %v", i, p, q)
		}
	}
	for _, id := range strangers {
		p := owner.refused(pb.CodeUserNotFound, identityOp(id))
		if q := owner.refused(pb.CodeUserNotFound, identityOp(strangers[1])); !proto.Equal(p, q) {
			t.Errorf("%s reads %v, another %v", id, p, q)
		}
	}
	n.keyOf(org.Org, org.Owner, pb.ScopeRead, pb.ScopeWrite).refused(pb.CodePermissionDenied,
		identityOp(ann.User.String()))
	if err := n.sys.RemoveMember(t.Context(), org.Org, ann.User); err != nil {
		t.Fatal(err)
	}
	owner.refused(pb.CodeUserNotFound, identityOp(ann.User.String()))
	box := n.sandboxKey(owner)
	box.refused(pb.CodePermissionDenied, identityOp(ann.User.String()))
	if v := box.ok(identityOp(org.Owner.String())).GetMind().GetIdentity().GetView(); v.GetManifold() != nil {
		t.Errorf("the sandbox reads %v", v)
	}
}
