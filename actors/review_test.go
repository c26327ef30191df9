package actors

import (
	"slices"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/proposal"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func contradictionsOp(status string, page *pb.Page) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_ListContradictions{ListContradictions: &pb.ListContradictions{Status: status, Page: page}}})
}

func proposalsOp(status string, page *pb.Page) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_ListProposals{ListProposals: &pb.ListProposals{
		Status: status,
		Page:   page,
	}}})
}

func decideOp(id string, accept bool) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_DecideProposal{DecideProposal: &pb.DecideProposal{
		Id:     id,
		Accept: accept,
	}}})
}

// proposals lists the last byte of the ids of what is proposed.
func (c client) proposals(status string, size uint32) (ids []byte) {
	c.n.t.Helper()
	for cursor := ""; ; {
		list := c.ok(proposalsOp(status, &pb.Page{Size: size, Cursor: cursor})).GetMind().GetProposals()
		for _, p := range list.GetProposals() {
			ids = append(ids, p.GetId()[15])
		}
		if cursor = list.GetNextCursor(); cursor == "" {
			return ids
		}
	}
}

// interface: What the service does/6 contradictions and proposals
// interface: Endpoints/Contradictions
func TestContradictions(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	a, b, d := c.note("The boiler is old."), c.note("The boiler is new."), c.note("The boiler was never there.")
	chunks := map[string]uint64{}
	for _, id := range []string{a, b, d} {
		chunks[id] = c.nodeOf(id).GetChunks()[0]
	}
	c.derive(func(batch *storage.Batch, space storage.Space) {
		graph.PutContradiction(batch, space, &pb.Contradiction{
			Id: derivedN(1), NodeA: a, NodeB: b, ChunkA: chunks[a],
			ChunkB: chunks[b], Kind: "antonym", DetectedMs: 10,
		})
		graph.PutContradiction(batch, space, &pb.Contradiction{
			Id: derivedN(2), NodeA: a, NodeB: d, ChunkA: chunks[a],
			ChunkB: chunks[d], Kind: "negation", DetectedMs: 20,
		})
	})
	list := func(status string) (ids []byte) {
		for _, p := range c.ok(contradictionsOp(status, nil)).GetMind().GetContradictions().GetPairs() {
			ids = append(ids, p.GetContradiction().GetId()[15])
			if p.GetTextA() != "The boiler is old." || p.GetTextB() == "" {
				t.Errorf("texts %q %q", p.GetTextA(), p.GetTextB())
			}
		}
		return ids
	}
	for status, want := range map[string][]byte{"": {2, 1}, "open": {2, 1}, "resolved": nil} {
		if got := list(status); !slices.Equal(got, want) {
			t.Errorf("status %q: %v, want %v", status, got, want)
		}
	}
	if got := c.as("anna").ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(got) > 0 {
		t.Errorf("anna's: %v", got)
	}
	// One side is superseded: it is resolved.
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
		Id:      b,
		Content: "The boiler is from 1990.", Reason: "looked",
	}}}))
	if got := list(""); !slices.Equal(got, []byte{2}) {
		t.Errorf("after superseding: %v", got)
	}
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetNode{ForgetNode: &pb.ForgetNode{Id: d}}}))
	if got := list(""); len(got) > 0 {
		t.Errorf("after forgetting: %v", got)
	}
}

// TestNoContradictionIsResolved asks for what there cannot be, among more open ones
// than a page reads.
func TestNoContradictionIsResolved(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(me()) // its key is in memory then
	c.derive(func(batch *storage.Batch, space storage.Space) {
		for i := range ground.MaxDerivedPerScan {
			id := derivedN(i)
			id[0] = byte(i >> 8)
			graph.PutContradiction(batch, space, &pb.Contradiction{Id: id, NodeA: "a", NodeB: "b", DetectedMs: int64(i + 1)})
		}
	})
	if got := c.ok(contradictionsOp("resolved", nil)).GetMind().GetContradictions(); len(got.GetPairs()) > 0 ||
		got.GetNextCursor() != "" {
		t.Errorf("%v", got)
	}
	open := c.ok(contradictionsOp("open", nil)).GetMind().GetContradictions().GetNextCursor()
	c.refused(pb.CodeInvalidCursor, contradictionsOp("resolved", &pb.Page{Cursor: open}))
}

// The two sides of a contradiction are not proposed to be linked, whichever of the two
// was found first: neither listed nor decided on while the contradiction is open.
//
// interface: Endpoints/Contradictions
func TestNoProposalLinksTheSidesOfAContradiction(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	a, b, d := c.note("The boiler is old."), c.note("The boiler is new."), c.note("The boiler hums.")
	chunk := func(id string) uint64 { return c.nodeOf(id).GetChunks()[0] }
	chunkA, chunkB := chunk(a), chunk(b)
	var part *partition.Ref
	c.inOrg(func(o *tenant.Org) { part = memberOf(t, o, org.Owner) })
	contradiction := part.ContradictionID(pb.NodeID(b), pb.NodeID(a))
	c.derive(func(batch *storage.Batch, space storage.Space) {
		graph.PutProposal(batch, space, &pb.Proposal{
			Id: derivedN(1), Source: b, Target: a, Type: "related",
			Status: pb.ReviewOpen, CreatedMs: 1,
		})
		graph.PutProposal(batch, space, &pb.Proposal{
			Id: derivedN(2), Source: a, Target: d, Type: "related",
			Status: pb.ReviewOpen, CreatedMs: 2,
		})
	})
	if got := c.proposals("open", 10); !slices.Equal(got, []byte{2, 1}) {
		t.Fatalf("before: %v", got)
	}
	c.derive(func(batch *storage.Batch, space storage.Space) {
		graph.PutContradiction(batch, space, &pb.Contradiction{
			Id: contradiction[:], NodeA: a, NodeB: b, ChunkA: chunkA,
			ChunkB: chunkB, Kind: "antonym", DetectedMs: 10,
		})
	})
	if got := c.proposals("open", 10); !slices.Equal(got, []byte{2}) {
		t.Errorf("beside the contradiction: %v", got)
	}
	c.refused(pb.CodeProposalNotFound, decideOp(pb.DerivedID(derivedN(1)).String(), true))
	propose := func(source, target string) (ok bool) {
		c.inOrg(func(o *tenant.Org) {
			err := o.WithStore(func(st *storage.Store) error {
				now, err := o.Residents.Get(st, part, o.System.Embedders.Dim)
				if err != nil {
					return err
				}
				f := graph.NewTx(&o.View, part, now, o.System.Config.Embedder)
				f.Store = st
				ok, err = cognition.Propose(f, source, target, proposal.Link{Type: "related"}, nil)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		return ok
	}
	if propose(a, b) || propose(b, a) {
		t.Error("the sides of a contradiction are proposed to each other")
	}
	if !propose(b, d) {
		t.Error("a side is proposed to nothing else")
	}
	// The claim went with an edit, and with it the contradiction.
	c.edit(&pb.EditNode{Id: a, Content: new("The boiler was bought in 1990.")})
	if got := c.proposals("open", 10); !slices.Equal(got, []byte{2, 1}) {
		t.Errorf("without the contradiction: %v", got)
	}
}

// A node that a proposal only names leaves its rationale when it is forgotten, decided on
// or not; with an end the proposal goes, whichever of the two goes first.
func TestAProposalNamesNothingThatIsForgotten(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	a, b, d := c.note("The boiler is old."), c.note("The plumber came."), c.note("The roof leaks.")
	first, second := c.note("The kwisatz valve."), c.note("The haderach pump.")
	const why = "both are linked to “The kwisatz valve.” and “The haderach pump.”"
	c.derive(func(batch *storage.Batch, space storage.Space) {
		for i, ends := range [][2]string{{a, b}, {a, d}, {b, d}} {
			graph.PutProposal(batch, space, &pb.Proposal{
				Id: derivedN(i), Source: ends[0], Target: ends[1], Type: "related", Rationale: why, Status: pb.ReviewOpen,
				CreatedMs: int64(i + 1), Through: []string{first, second},
			})
		}
	})
	rejected := pb.DerivedID(derivedN(1)).String()
	c.ok(decideOp(rejected, false))
	c.forget(first)
	list := c.ok(proposalsOp("", nil)).GetMind().GetProposals().GetProposals()
	for _, p := range list {
		if p.GetRationale() != graph.Unnamed {
			t.Errorf("%v", p)
		}
	}
	if len(list) != 3 {
		t.Errorf("%d proposals", len(list))
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "kwisatz")
	if p := c.ok(decideOp(rejected, false)).GetMind().GetProposal(); p.GetStatus() != pb.ProposalRejected {
		t.Errorf("%v", p)
	}
	c.forget(a)
	c.forget(second)
	if got := c.proposals("", 10); !slices.Equal(got, []byte{2}) {
		t.Errorf("left are %v", got)
	}
}

// interface: What the service does/6 contradictions and proposals
// interface: Endpoints/Proposals
func TestProposals(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	a, b, d := c.note("The boiler is old."), c.note("The plumber came."), c.note("The roof leaks.")
	c.as("anna").note("Anna was here.")
	propose := func(i int, source, target string) {
		c.derive(func(batch *storage.Batch, space storage.Space) {
			graph.PutProposal(batch, space, &pb.Proposal{
				Id: derivedN(i), Source: source, Target: target, Type: "relates_to", Score: 0.7, Rationale: "both",
				Status: pb.ReviewOpen, CreatedMs: int64(i),
			})
		})
	}
	propose(1, a, b)
	propose(2, a, d)
	propose(3, d, b)
	id := func(i int) string { return pb.DerivedID(derivedN(i)).String() }
	for size := range uint32(4) {
		if got := c.proposals("", size+1); !slices.Equal(got, []byte{3, 2, 1}) {
			t.Errorf("%d a page: %v", size+1, got)
		}
	}
	if got := c.as("anna").proposals("", 5); len(got) > 0 {
		t.Errorf("anna's: %v", got)
	}
	for _, no := range []string{id(9), "nonsense", ""} {
		c.refused(pb.CodeProposalNotFound, decideOp(no, true))
	}
	c.as("anna").refused(pb.CodeProposalNotFound, decideOp(id(1), true))
	n.keyOf(c.orgID(), pb.UserID(c.ok(me()).GetMe().GetUser()), pb.ScopeRead).refused(pb.CodePermissionDenied,
		decideOp(id(1), true))

	accepted := c.ok(decideOp(id(1), true)).GetMind().GetProposal()
	edge := c.ok(getEdgeOp(accepted.GetEdge())).GetGraph().GetEdge().GetEdge()
	if accepted.GetStatus() != "accepted" || accepted.GetDecidedMs() == 0 {
		t.Errorf("%v", accepted)
	}
	if diff := prototest.Diff(&pb.Edge{
		Origin: pb.OriginProposal, Source: a, Target: b, Type: "relates_to", Weight: 0.7, Status: pb.StatusLive,
	}, edge); diff != "" {
		t.Errorf("its edge (-want +got):\n%s", diff)
	}
	if got := c.nodeOf(a).GetDegree(); got != 1 {
		t.Errorf("degree %d", got)
	}
	if again := c.ok(decideOp(id(1), true)).GetMind().GetProposal(); again.GetEdge() != accepted.GetEdge() ||
		again.GetDecidedMs() != accepted.GetDecidedMs() {
		t.Errorf("accepted again: %v", again)
	}
	c.refused(pb.CodeProposalDecided, decideOp(id(1), false))
	rejected := c.ok(decideOp(id(2), false)).GetMind().GetProposal()
	if rejected.GetStatus() != "rejected" || rejected.GetEdge() != "" {
		t.Errorf("%v", rejected)
	}
	c.refused(pb.CodeProposalDecided, decideOp(id(2), true))
	if got := c.edges(&pb.ListEdges{}, 10); len(got) != 1 {
		t.Errorf("edges %v", got)
	}
	for status, want := range map[string][]byte{"open": {3}, "accepted": {1}, "rejected": {2}} {
		if got := c.proposals(status, 1); !slices.Equal(got, want) {
			t.Errorf("%s: %v", status, got)
		}
	}
	// Neither what was accepted nor what was rejected is proposed again, in either
	// direction.
	c.inOrg(func(o *tenant.Org) {
		space := memberOf(t, o, onlyMember(t, o)).Space
		err := o.WithStore(func(st *storage.Store) error {
			for _, p := range []struct {
				source, target string
				want           bool
			}{{a, b, true}, {b, a, true}, {d, a, true}, {a, "ingest:none", false}} {
				got, err := graph.ProposedBefore(st, space, &pb.Proposal{Source: p.source, Target: p.target})
				if err != nil || got != p.want {
					t.Errorf("%s and %s proposed before: %v %v", p.source, p.target, got, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	actions := n.audits(c.orgID())
	if !slices.Contains(actions, "proposal.accept") || !slices.Contains(actions, "proposal.reject") {
		t.Errorf("audits %v", actions)
	}
	c.graphHolds(t)

	// What is left open goes with its node, and is gone after a crash too.
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetNode{ForgetNode: &pb.ForgetNode{Id: d}}}))
	c.refused(pb.CodeProposalNotFound, decideOp(id(3), true))
	after := client{n: startNode(t, disk.Crash(0, 1)), key: c.key}
	if got := after.proposals("", 10); !slices.Equal(got, []byte{1}) {
		t.Errorf("after forgetting a node: %v", got)
	}
	after.refused(pb.CodeProposalNotFound, decideOp(id(3), true))
}

// A replay answers the first outcome, for what was decided and for what was
// refused.
//
// interface: Endpoints/Proposals
func TestProposalDecisionsReplay(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("The boiler is old."), c.note("The plumber came.")
	const why = "both are of the kwisatz boiler"
	c.derive(func(batch *storage.Batch, space storage.Space) {
		graph.PutProposal(batch, space, &pb.Proposal{
			Id: derivedN(1), Source: a, Target: b, Type: "x", Rationale: why,
			Status: pb.ReviewOpen, CreatedMs: 1,
		})
	})
	send := func(key string, accept bool) *pb.Reply {
		env := decideOp(pb.DerivedID(derivedN(1)).String(), accept)
		env.IdempotencyKey = key
		return c.ask(env)
	}
	first, again := send("k", true), send("k", true)
	if first.GetReplayed() || !again.GetReplayed() || again.GetMind().GetProposal().GetEdge() != first.GetMind().
		GetProposal().GetEdge() {
		t.Errorf("%v, then %v", first, again)
	}
	refused, refusedAgain := send("other", false), send("other", false)
	if refused.GetProblem().GetCode() != pb.CodeProposalDecided || !refusedAgain.GetReplayed() ||
		refusedAgain.GetProblem().GetCode() != pb.CodeProposalDecided {
		t.Errorf("%v, then %v", refused, refusedAgain)
	}
	// The rationale is told by the proposal, and gone with its node.
	if got := again.GetMind().GetProposal().GetRationale(); got != why ||
		first.GetMind().GetProposal().GetRationale() != why {
		t.Errorf("the rationale is %q again", got)
	}
	c.forget(a)
	if got := send("k", true); !got.GetReplayed() || got.GetMind().GetProposal().GetRationale() != "" {
		t.Errorf("after the forgetting: %v", got)
	}
	n.eraseNow(c)
	if files := disk.Find(t, "kwisatz"); len(files) > 0 {
		t.Errorf("it is still in %v", files)
	}
}
