package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/listing"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func graphEnvelope(op *pb.GraphOp) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_Graph{Graph: op}}
}

func assertOp(op *pb.AssertEdge) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_AssertEdge{AssertEdge: op}})
}

func getEdgeOp(id string) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_GetEdge{GetEdge: &pb.GetEdge{Id: id}}})
}

func forgetEdgeOp(id string) *pb.Envelope {
	return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: id}}})
}

func (c client) assertEdge(op *pb.AssertEdge) (e *pb.Edge, status uint32) {
	c.n.t.Helper()
	r := c.ok(assertOp(op))
	return r.GetGraph().GetEdge().GetEdge(), r.GetStatus()
}

// edges walks a whole list, size by size.
func (c client) edges(op *pb.ListEdges, size uint32) (ids []string) {
	c.n.t.Helper()
	return c.walk(size, func(p *pb.Page) *pb.Envelope {
		op := proto.CloneOf(op)
		op.Page = p
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: op}})
	})
}

func (c client) nodes(op *pb.ListNodes, size uint32) (ids []string) {
	c.n.t.Helper()
	return c.walk(size, func(p *pb.Page) *pb.Envelope {
		op := proto.CloneOf(op)
		op.Page = p
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: op}})
	})
}

// walk reads all pages of a list.
func (c client) walk(size uint32, request func(*pb.Page) *pb.Envelope) (ids []string) {
	c.n.t.Helper()
	cursor := ""
	for range 1000 { // more pages than any test has entries
		page, next := idsOf(c.ok(request(&pb.Page{Size: size, Cursor: cursor})))
		if ids = append(ids, page...); next == "" {
			return ids
		}
		cursor = next
	}
	c.n.t.Fatal("the list does not end")
	return nil
}

// idsOf reads the ids on a page of any of the graph's lists.
func idsOf(r *pb.Reply) (ids []string, next string) {
	g := r.GetGraph()
	for _, n := range g.GetNodes().GetNodes() {
		ids = append(ids, n.GetNode().GetId())
	}
	for _, m := range g.GetMatches().GetMatches() {
		ids = append(ids, m.GetNode().GetNode().GetId())
	}
	for _, e := range g.GetEdges().GetEdges() {
		ids = append(ids, e.GetId())
	}
	for _, d := range g.GetDomains().GetDomains() {
		ids = append(ids, pb.DomainID(d.GetId()).String())
	}
	return ids, g.GetNodes().GetNextCursor() + g.GetMatches().GetNextCursor() + g.GetEdges().
		GetNextCursor() + g.GetDomains().GetNextCursor()
}

// note takes in a text and returns its node's id.
func (c client) note(text string) string {
	c.n.t.Helper()
	return c.ingest(doc("", text)).GetItems()[0].GetNode()
}

// interface: States/Edge forgotten
// interface: Endpoints/Graph edges
// interface: Limits/Asserted weight and confidence
func TestEdges(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	a, b, other := c.note("The boiler is old."), c.note("The plumber came."),
		c.as("anna").note("The boiler is old, says Anna.")

	e, status := c.assertEdge(&pb.AssertEdge{
		Source: a, Target: b, Type: "repaired_by", Weight: new(0.9),
		Confidence: new(0.25), Note: new("I was there."),
	})
	if diff := prototest.Diff(&pb.Edge{
		Weight: 0.4, Confidence: 0.25, Origin: "asserted", Status: pb.StatusLive, Note: "I was there.",
	}, e); diff != "" || status != 201 {
		t.Fatalf("%d (-want +got):\n%s", status, diff)
	}
	if got := c.ok(getEdgeOp(e.GetId())).GetGraph().GetEdge().GetEdge(); !proto.Equal(got, e) {
		t.Fatalf("reads %v, was answered %v", got, e)
	}
	// Again: the same edge, and what is not named stays.
	n.clock.Advance(time.Second)
	again, status := c.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "repaired_by", Weight: new(0.0)})
	if diff := prototest.Diff(&pb.Edge{
		Id: e.GetId(), Confidence: 0.25, Note: "I was there.", CreatedMs: e.GetCreatedMs(),
	}, again, "weight"); diff != "" || status != 200 || again.GetUpdatedMs() == e.GetUpdatedMs() {
		t.Fatalf("%d %v (-want +got):\n%s", status, again, diff)
	}
	back, status := c.assertEdge(&pb.AssertEdge{Source: b, Target: a, Type: "repaired_by"})
	if status != 201 || back.GetWeight() != 0.4 || back.GetConfidence() != 0.4 {
		t.Fatalf("by default %d %v", status, back)
	}

	// Both ends must be live, and in the effective partition.
	c.ingest(doc("x", "First words.")) // live until the next
	old := c.ingest(doc("x", "First words.")).GetItems()[0].GetNode()
	c.ingest(doc("x", "Other words."))
	for name, op := range map[string]*pb.AssertEdge{
		"unknown source":    {Source: "ingest:x:y", Target: b, Type: "t"},
		"unknown target":    {Source: a, Target: "ingest:x:y", Type: "t"},
		"superseded target": {Source: a, Target: old, Type: "t"},
		"another's target":  {Source: a, Target: other, Type: "t"},
	} {
		t.Run(name, func(*testing.T) { c.refused(pb.CodeNodeNotFound, assertOp(op)) })
	}
	c.as("anna").refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))
	c.as("anna").refused(pb.CodeEdgeNotFound, forgetEdgeOp(e.GetId()))

	degrees := func(want uint32) {
		t.Helper()
		for _, id := range []string{a, b} {
			if got := c.nodeOf(id).GetDegree(); got != want {
				t.Fatalf("degree %d, want %d", got, want)
			}
		}
	}
	degrees(2)
	updated := c.nodeOf(a).GetUpdatedMs()

	gone := c.ok(forgetEdgeOp(e.GetId())).GetGraph().GetEdge().GetEdge()
	forgotten := &pb.Edge{Id: e.GetId(), Status: pb.StatusTombstoned}
	if diff := prototest.Diff(forgotten, gone, "note"); diff != "" || gone.GetTombstonedMs() == 0 {
		t.Fatalf("forgotten: %v (-want +got):\n%s", gone, diff)
	}
	degrees(1)
	if c.nodeOf(a).GetUpdatedMs() != updated {
		t.Error("an edge is no update of its nodes")
	}
	c.refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))
	c.refused(pb.CodeEdgeNotFound, forgetEdgeOp(e.GetId()))
	if got := c.edges(&pb.ListEdges{}, 10); !slices.Equal(got, []string{back.GetId()}) {
		t.Fatalf("after forgetting: %v", got)
	}
	anew, status := c.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "repaired_by"})
	if status != 201 || anew.GetId() == e.GetId() || anew.GetNote() != "" || anew.GetConfidence() != 0.4 {
		t.Fatalf("asserted after it was forgotten: %d %v", status, anew)
	}
	degrees(2)
	c.refused(pb.CodeEdgeNotFound, getEdgeOp(e.GetId()))

	n.stop()
	c.n = startNode(t, disk)
	degrees(2)
	if got := c.ok(getEdgeOp(anew.GetId())).GetGraph().GetEdge().GetEdge(); !proto.Equal(got, anew) {
		t.Fatalf("after a restart: %v", got)
	}
	c.graphHolds(t)
}

// TestAssertingIsOneWithItsTrail: a retry writes nothing again, and the audit and
// the event name the edge and none of its words.
func TestAssertingIsOneWithItsTrail(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("The boiler is old."), c.note("The plumber came.")
	request := func() *pb.Envelope {
		op := assertOp(&pb.AssertEdge{Source: a, Target: b, Type: "near", Note: new("secretly")})
		op.IdempotencyKey = "once"
		return op
	}
	first, second := c.ok(request()), c.ok(request())
	if !second.GetReplayed() || second.GetStatus() != 201 ||
		second.GetGraph().GetEdge().GetEdge().GetId() != first.GetGraph().GetEdge().GetEdge().GetId() {
		t.Fatalf("the retry answers %v", second)
	}
	id := first.GetGraph().GetEdge().GetEdge().GetId()
	c.ok(forgetEdgeOp(id))
	var audits, events []string
	c.inOrg(func(o *tenant.Org) {
		err := o.WithStore(func(st *storage.Store) error {
			for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TableAudit), storage.ScanOptions{},
				func() *pb.Audit { return &pb.Audit{} }) {
				if err != nil {
					return err
				}
				if rec.Value.GetTarget() == id {
					audits = append(audits, rec.Value.GetAction())
				}
			}
			for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TableOutbox), storage.ScanOptions{},
				func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
				if err != nil {
					return err
				}
				var data map[string]any
				if err := json.Unmarshal(rec.Value.GetData(), &data); err != nil {
					return err
				}
				if data["targetId"] == id {
					events = append(events, fmt.Sprint(rec.Value.GetType(), " ", data["changeType"], " ", data["affectedNodes"], " ",
						len(data)))
				}
				if strings.Contains(string(rec.Value.GetData()), "secretly") {
					t.Error("an event tells the note")
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	if want := []string{"edge.assert", "edge.forget"}; !slices.Equal(audits, want) {
		t.Errorf("audits %q, want %q", audits, want)
	}
	if want := []string{"graph.updated edge_asserted 2 4", "graph.updated edge_forgotten 2 4"}; !slices.Equal(events,
		want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// interface: Endpoints/Graph edges
func TestEdgeFilters(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	names := []string{"a", "b", "c", "d"}
	ids := map[string]string{}
	for _, name := range names {
		ids[name] = c.note("Note " + name)
	}
	var all []*pb.Edge
	for _, spec := range []string{
		"a near b", "b near a", "a far b", "b far c", "c near d", "d above a", "a near c",
		"a near d",
	} {
		w := strings.Fields(spec)
		n.clock.Advance(time.Millisecond * time.Duration(len(all)%2)) // some of one time
		e, _ := c.assertEdge(&pb.AssertEdge{Source: ids[w[0]], Target: ids[w[2]], Type: w[1]})
		all = append(all, e)
	}
	// One that the service derived stands beside an asserted one.
	derived := proto.CloneOf(all[0])
	derived.Id, derived.Origin = "derived", pb.OriginCognition
	c.inOrg(func(o *tenant.Org) {
		part := memberOf(t, o, onlyMember(t, o))
		ch := commit.New(o.Store)
		graph.PutEdge(ch.Batch, part.Space, nil, derived)
		if err := o.Committer.CommitChange(ch); err != nil {
			t.Error(err)
		}
	})
	all = append(all, derived)
	slices.SortFunc(all, func(a, b *pb.Edge) int {
		return listing.Position{Created: a.GetCreatedMs(), ID: a.GetId()}.Compare(listing.Position{
			Created: b.GetCreatedMs(),
			ID:      b.GetId(),
		})
	})
	ends := []string{"", ids["a"], ids["b"], ids["d"], "ingest:x:y"}
	for _, source := range ends {
		for _, target := range ends {
			for _, node := range ends {
				for _, kind := range []string{"", "near", "far", "nothing"} {
					for _, origin := range []string{"", pb.OriginAsserted, pb.OriginCognition, pb.OriginIngest} {
						var want []string
						for _, e := range all {
							if (source == "" || e.GetSource() == source) && (target == "" || e.GetTarget() == target) &&
								(node == "" || e.GetSource() == node || e.GetTarget() == node) &&
								(kind == "" || e.GetType() == kind) && (origin == "" || e.GetOrigin() == origin) {
								want = append(want, e.GetId())
							}
						}
						op := &pb.ListEdges{Source: source, Target: target, Node: node, Type: kind, Origin: origin}
						if got := c.edges(op, 2); !slices.Equal(got, want) {
							t.Fatalf("%v: %v, want %v", op, got, want)
						}
					}
				}
			}
		}
	}
}

// onlyMember is the user of an organization that has one.
func onlyMember(t testing.TB, o *tenant.Org) pb.UserID {
	var only pb.UserID
	err := o.WithStore(func(st *storage.Store) error {
		for item, err := range st.Scan(o.Space.Prefix(storage.TableMember), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			only = pb.UserID(parts.ID16())
			return parts.Done()
		}
		return errors.New("it has no member")
	})
	if err != nil {
		t.Error(err)
	}
	return only
}

// memberOf is a member's own partition.
func memberOf(t testing.TB, o *tenant.Org, user pb.UserID) *partition.Ref {
	part, err := o.Member(user)
	if err != nil || part == nil {
		t.Errorf("the partition of %v: %v", user, err)
		return &partition.Ref{}
	}
	return part
}

// interface: Endpoints/Graph nodes
func TestNodeLists(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	item := func(ext, kind, text string) *pb.IngestItem {
		return &pb.IngestItem{ExternalId: ext, Kind: kind, Content: text}
	}
	id := func(it *pb.IngestItem) string {
		n.clock.Advance(time.Minute)
		return c.ingest(it).GetItems()[0].GetNode()
	}
	old := id(item("x", "document", "The boiler was repaired in May."))
	now := id(item("x", "document", "The boiler was replaced in June."))
	wish := id(item("", "preference", "I prefer trains to boats."))
	long := id(item("", "belief", strings.Repeat("Boats are slow. ", 300)+strings.Repeat("Trains are fast. ", 300)))
	if got := len(c.nodeOf(long).GetChunks()); got < 2 {
		t.Fatalf("%d chunks: the test needs words in different ones", got)
	}
	at := c.nodeOf(wish).GetCreatedMs()
	for name, tc := range map[string]struct {
		op   *pb.ListNodes
		want []string
	}{
		"all":                  {&pb.ListNodes{}, []string{long, wish, now, old}},
		"live":                 {&pb.ListNodes{Status: pb.StatusLive}, []string{long, wish, now}},
		"superseded":           {&pb.ListNodes{Status: pb.StatusSuperseded}, []string{old}},
		"tombstoned":           {&pb.ListNodes{Status: pb.StatusTombstoned}, nil},
		"kind":                 {&pb.ListNodes{Kind: "document"}, []string{now, old}},
		"kind and status":      {&pb.ListNodes{Kind: "document", Status: pb.StatusLive}, []string{now}},
		"kind of nothing":      {&pb.ListNodes{Kind: "session"}, nil},
		"domain of nothing":    {&pb.ListNodes{Domain: "topic"}, nil},
		"created after":        {&pb.ListNodes{CreatedAfterMs: &at}, []string{long, wish}},
		"created before":       {&pb.ListNodes{CreatedBeforeMs: &at}, []string{now, old}},
		"created between":      {&pb.ListNodes{CreatedAfterMs: &at, CreatedBeforeMs: new(at + 1)}, []string{wish}},
		"created never":        {&pb.ListNodes{CreatedAfterMs: new(at + 1), CreatedBeforeMs: &at}, nil},
		"created before 1970":  {&pb.ListNodes{CreatedBeforeMs: new(int64(-5))}, nil},
		"created after 1960":   {&pb.ListNodes{CreatedAfterMs: new(int64(-1e12))}, []string{long, wish, now, old}},
		"word":                 {&pb.ListNodes{Q: "boilers"}, []string{now, old}},
		"words":                {&pb.ListNodes{Q: "REPLACED boiler"}, []string{now}},
		"words of two chunks":  {&pb.ListNodes{Q: "slow fast"}, []string{long}},
		"word and kind":        {&pb.ListNodes{Q: "boat", Kind: "preference"}, []string{wish}},
		"word and status":      {&pb.ListNodes{Q: "boiler", Status: pb.StatusSuperseded}, []string{old}},
		"word and tombstoned":  {&pb.ListNodes{Q: "boiler", Status: pb.StatusTombstoned}, nil},
		"word and time":        {&pb.ListNodes{Q: "train", CreatedBeforeMs: new(at + 1)}, []string{wish}},
		"word and domain":      {&pb.ListNodes{Q: "train", Domain: "topic"}, nil},
		"words that are apart": {&pb.ListNodes{Q: "boiler boat"}, nil},
		"unknown word":         {&pb.ListNodes{Q: "zeppelin"}, nil},
		"no word":              {&pb.ListNodes{Q: "?!"}, nil},
	} {
		for size := range uint32(3) {
			if got := c.nodes(tc.op, size+1); !slices.Equal(got, tc.want) {
				t.Errorf("%s, %d a page: %v, want %v", name, size+1, got, tc.want)
			}
		}
	}
	for _, info := range c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{}}})).
		GetGraph().GetNodes().GetNodes() {
		if info.GetContent() != "" {
			t.Error("a list carries contents")
		}
	}
	matches := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{Q: "slow boat"}}})).
		GetGraph().GetMatches().GetMatches()
	if len(matches) != 1 || matches[0].GetNode().GetNode().GetId() != long ||
		!strings.Contains(matches[0].GetChunk().GetText(), "slow") {
		t.Errorf("search of nodes: %v", matches)
	}
}

func TestCursorsBelongToTheirList(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "x@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	c.put("anna")
	var ids []string
	for i := range 4 {
		ids = append(ids, c.note(fmt.Sprintf("Shared word %d", i)))
		c.as("anna").note(fmt.Sprintf("Shared word %d", i))
		other.note(fmt.Sprintf("Shared word %d", i))
	}
	for i := range 3 {
		c.assertEdge(&pb.AssertEdge{Source: ids[i], Target: ids[i+1], Type: "next"})
	}
	page := func(cursor string) *pb.Page { return &pb.Page{Size: 1, Cursor: cursor} }
	lists := []func(cursor string) *pb.Envelope{
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Page: page(s)}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{
				Page:   page(s),
				Status: pb.StatusLive,
			}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Page: page(s), Q: "shared"}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{
				Page: page(s),
				Q:    "shared",
			}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Page: page(s)}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Page: page(s), Type: "next"}}})
		},
		func(s string) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: page(s)}}})
		},
	}
	for i, list := range lists[:6] {
		_, cursor := idsOf(c.ok(list("")))
		if cursor == "" {
			t.Fatalf("list %d has one page", i)
		}
		c.ok(list(cursor))
		c.as("anna").refused(pb.CodeInvalidCursor, list(cursor))
		other.refused(pb.CodeInvalidCursor, list(cursor))
		for k, another := range lists {
			if k != i {
				c.refused(pb.CodeInvalidCursor, another(cursor))
			}
		}
	}
	for _, list := range lists {
		c.refused(pb.CodeInvalidCursor, list("AAAA"))
	}
}

// interface: What the service does/1 graph and chunks
// interface: Endpoints/Recall node and search
func TestNodeSurroundings(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	hub := c.note(strings.Repeat("A sentence of the hub. ", 200))
	near, far := c.note("Near."), c.note("Far.")
	for _, e := range []*pb.AssertEdge{
		{Source: hub, Target: near, Type: "t"},
		{Source: far, Target: hub, Type: "t"},
		{Source: near, Target: far, Type: "t"},
	} {
		n.clock.Advance(time.Millisecond)
		c.assertEdge(e)
	}
	context := func(id string) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_NodeContext{NodeContext: &pb.NodeContext{Id: id}}})
	}
	got := c.ok(context(hub)).GetGraph().GetSurroundings()
	if got.GetNode().GetContent() == "" || got.GetNode().GetNode().GetDegree() != 2 {
		t.Errorf("node %v", got.GetNode())
	}
	var text strings.Builder
	for i, chunk := range got.GetChunks() {
		if chunk.GetOrdinal() != uint32(i) {
			t.Errorf("chunk %d comes at %d", chunk.GetOrdinal(), i)
		}
		text.WriteString(chunk.GetText())
	}
	if len(got.GetChunks()) < 2 || strings.Count(text.String(), "sentence") != 200 {
		t.Errorf("%d chunks with %d sentences", len(got.GetChunks()), strings.Count(text.String(), "sentence"))
	}
	var neighbours []string
	for _, nb := range got.GetNeighbours() {
		neighbours = append(neighbours, nb.GetNode().GetNode().GetId())
	}
	if !slices.Equal(neighbours, []string{far, near}) {
		t.Errorf("neighbours %v", neighbours)
	}
	c.refused(pb.CodeNodeNotFound, context("ingest:x:y"))
	c.as("anna").refused(pb.CodeNodeNotFound, context(hub))
}

// interface: Endpoints/Graph domains
func TestDomains(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	node := c.note("A node of a domain.")
	get := func(id string) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_GetDomain{GetDomain: &pb.GetDomain{Id: id}}})
	}
	walk := func(c client, q string, size uint32) []string {
		return c.walk(size, func(p *pb.Page) *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: p, Q: q}}})
		})
	}
	if got := walk(c, "", 1); len(got) != 0 {
		t.Fatalf("domains before the first cycle: %v", got)
	}
	made := make([]*pb.Domain, 5)
	for i := range made {
		id := [16]byte{byte(9 - i)}
		made[i] = &pb.Domain{Id: id[:], Label: fmt.Sprintf("Topic %d", i), Keywords: []string{
			"Heating",
			fmt.Sprint("k", i%2),
		}, CreatedMs: int64(1 + i/2)}
	}
	domain := func(i int) string { return pb.DomainID(made[i].GetId()).String() }
	nameless := &pb.Domain{Id: slices.Repeat([]byte{1}, 16), Keywords: []string{"Heating"}, CreatedMs: 2, Nameless: true}
	c.inOrg(func(o *tenant.Org) {
		part := memberOf(t, o, onlyMember(t, o))
		ch := commit.New(o.Store)
		for _, d := range append(made, nameless) {
			graph.PutDomain(ch.Batch, part.Space, d)
		}
		before := &pb.Node{}
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(part.Space.Key(storage.TableNode, storage.Str(node)), before)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		after := proto.CloneOf(before)
		after.Domain = domain(0)
		graph.PutNode(ch.Batch, part.Space, graph.PlaceOf(before), after)
		if err := o.Committer.CommitChange(ch); err != nil {
			t.Error(err)
		}
	})
	newest := []string{domain(4), domain(3), domain(2), domain(1), domain(0)}
	for size := range uint32(6) {
		if got := walk(c, "", size+1); !slices.Equal(got, newest) {
			t.Errorf("%d a page: %v, want %v", size+1, got, newest)
		}
		if got := walk(c, "K1", size+1); !slices.Equal(got, []string{domain(3), domain(1)}) {
			t.Errorf("by keyword, %d a page: %v", size+1, got)
		}
		if got := walk(c, "opic 4", size+1); !slices.Equal(got, []string{domain(4)}) {
			t.Errorf("by label, %d a page: %v", size+1, got)
		}
	}
	if got := c.ok(get(domain(2))).GetGraph().GetDomain(); !proto.Equal(got, made[2]) {
		t.Errorf("reads %v", got)
	}
	if got := c.ok(get(pb.DomainID(nameless.GetId()).String())).GetGraph().GetDomain(); !proto.Equal(got, nameless) {
		t.Errorf("of the domain without a label reads %v", got)
	}
	for _, id := range []string{"nonsense", pb.DomainID{1}.String()} {
		c.refused(pb.CodeDomainNotFound, get(id))
	}
	c.as("anna").refused(pb.CodeDomainNotFound, get(domain(2)))
	if got := walk(c.as("anna"), "", 1); len(got) != 0 {
		t.Errorf("anna's domains: %v", got)
	}
	if got := c.nodes(&pb.ListNodes{Domain: domain(0)}, 1); !slices.Equal(got, []string{node}) {
		t.Errorf("nodes of the domain: %v", got)
	}
	if got := c.nodes(&pb.ListNodes{Domain: domain(0), Kind: "belief"}, 1); len(got) != 0 {
		t.Errorf("beliefs of the domain: %v", got)
	}
	c.graphHolds(t)
}

// graphHolds compares the lists' entries and the degrees of all partitions with
// what the records say, in both directions.
func (c client) graphHolds(t interface{ Error(args ...any) }) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) {
		err := o.WithStore(func(st *storage.Store) error {
			parts, err := o.AllPartitions(st)
			for _, part := range parts {
				err = errors.Join(err, entriesFit(st, part))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func entriesFit(st *storage.Store, part *partition.Ref) (err error) {
	want := map[string]string{}
	put := func(value []byte, keys ...storage.Key) {
		for _, k := range keys {
			want[string(k.Bytes())] = string(value)
		}
	}
	degree := map[string]int{}
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableEdge), storage.ScanOptions{},
		func() *pb.Edge { return &pb.Edge{} }) {
		if err != nil {
			return err
		}
		e := rec.Value
		source, target, lists := graph.EdgeKeys(part.Space, e)
		triple := graph.EdgeIdentityOf(e)
		if e.GetSealed() == nil {
			put([]byte(e.GetId()), triple.Key(part.Space))
		}
		put(graph.EdgeEnd{Kind: triple.Kind, Other: triple.Target}.Encode(), source)
		put(graph.EdgeEnd{Kind: triple.Kind, Other: triple.Source}.Encode(), target)
		put(nil, lists...)
		if e.GetStatus() != pb.StatusTombstoned {
			degree[e.GetSource()]++
			degree[e.GetTarget()]++
		}
	}
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableNode), storage.ScanOptions{},
		func() *pb.Node { return &pb.Node{} }) {
		if err != nil {
			return err
		}
		n := rec.Value
		put(nil, graph.PlaceOf(n).Keys(part.Space, pb.NodeID(n.GetId()))...)
		if int(n.GetDegree()) != degree[n.GetId()] {
			err = errors.Join(err, fmt.Errorf("node %s has degree %d and %d edges", n.GetId(), n.GetDegree(), degree[n.GetId()]))
		}
		delete(degree, n.GetId())
		if err != nil {
			return err
		}
	}
	if len(degree) > 0 {
		err = fmt.Errorf("edges of nodes that are not there: %v", degree)
	}
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableDomain), storage.ScanOptions{},
		func() *pb.Domain { return &pb.Domain{} }) {
		if err != nil {
			return err
		}
		put(nil, graph.DomainByTime(part.Space, rec.Value))
	}
	for _, table := range []storage.Table{
		storage.TableNodeByTime, storage.TableNodeByDomain, storage.TableEdgeBySource, storage.TableEdgeByTarget,
		storage.TableEdgeOf, storage.TableEdgeByTime, storage.TableEdgeByType, storage.TableDomainByTime,
	} {
		for item, scanErr := range st.Scan(part.Space.Prefix(table), storage.ScanOptions{}) {
			if scanErr != nil {
				return scanErr
			}
			key := string(item.Key.Bytes())
			if value, ok := want[key]; !ok || value != string(item.Value) {
				err = errors.Join(err, fmt.Errorf("entry %v with %q fits no record (%v, %q)", item.Key, item.Value, ok, value))
			}
			delete(want, key)
		}
	}
	if len(want) > 0 {
		err = errors.Join(err, fmt.Errorf("%d entries are missing", len(want)))
	}
	return err
}
