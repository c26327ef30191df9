package actors

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func (c client) info() *pb.BrainState {
	c.n.t.Helper()
	return c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_BrainInfo{BrainInfo: &pb.BrainInfo{}}})).GetMind().GetBrain()
}

func answerOp(query string, words uint32) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_BrainAnswer{BrainAnswer: &pb.BrainAnswer{
		Query:    query,
		MaxWords: words,
	}}})
}

func sessionOp(org pb.OrgID, user pb.UserID, cwd string) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{
		Op: &pb.MindOp_ConditionSession{ConditionSession: &pb.ConditionSession{
			Org: org.String(), User: user.String(),
			Cwd: cwd,
		}},
	})
}

func retrieveOp(op *pb.Retrieve) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Retrieve{Retrieve: op}})
}

// A training that has too little to learn from fails, in plain words, at its first attempt:
// only the parity gate rejects.
//
// interface: Resources/Brain info
// interface: States/Brain training
// interface: Endpoints/Brain
func TestBrainOfAnEmptyMemory(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	if s := c.info(); s.GetArtifact() != nil || s.GetTraining().GetStatus() != pb.TrainingNone {
		t.Errorf("%v", s)
	}
	query := queryOp("x")
	c.refused(pb.CodeBrainNotTrained, query)
	r := c.ok(trainOp())
	if r.GetStatus() != 202 || r.GetAccepted().GetStatus() != pb.JobQueued {
		t.Errorf("%v", r)
	}
	c = client{n: startNode(t, disk.Crash(0, 1)), key: c.key} // accepted is durable
	c.info()                                                  // somebody asks for the organization
	c.n.waitFor(func() bool { return tenant.Terminal(c.job(jobOf(r)).GetStatus()) })
	const reason = "too little to learn from: there are 0 passages, and 20 are needed"
	if diff := prototest.Diff(&pb.Job{
		Type: pb.JobBrainTrain, Status: pb.JobFailed, ErrorCode: pb.ErrorTooLittle, ErrorDetail: reason, Attempts: 1,
	}, c.job(jobOf(r))); diff != "" {
		t.Errorf("job (-want +got):\n%s", diff)
	}
	s := c.info()
	failed := &pb.Training{Status: pb.TrainingFailed, Job: r.GetAccepted().GetJob(), Reason: reason}
	if diff := prototest.Diff(failed, s.GetTraining()); diff != "" || s.GetTraining().GetProgress() == 1 ||
		s.GetArtifact() != nil {
		t.Errorf("%v (-want +got):\n%s", s, diff)
	}
	c.refused(pb.CodeBrainNotTrained, query)
	train := trainOp()
	c.put("anna")
	for _, op := range []*pb.Envelope{train, query, answerOp("x", 0)} {
		c.as("anna").refused(pb.CodeSubjectNotSupported, op)
		c.as("nobody").refused(pb.CodeSubjectNotSupported, op)
	}
	box := c.n.sandboxKey(c)
	box.refused(pb.CodePermissionDenied, train)
	if s := box.info(); s.GetTraining().GetStatus() != pb.TrainingNone {
		t.Errorf("the sandbox sees the organization's brain: %v", s)
	}
}

// An answer is made of sentences that somebody wrote, cites where, covers the
// whole organization and nothing beside it, and says when it knows nothing.
//
// interface: What the service does/4 kinds of reads
// interface: Endpoints/Brain
func TestAnswers(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	mine := c.note("The garden is large. The boiler was serviced by Mrs Okafor in May. Nobody painted the fence.")
	hers := c.as("anna").note("Mrs Okafor charges ninety pounds for the boiler.")
	stranger := client{n: n, key: n.org(account.NewOrg{
		Name: "Other", OwnerEmail: "x@example.com",
		Plan: pb.PlanUnlimited,
	}).APIKey}
	stranger.note("The boiler of the others was serviced by Mr Secret.")
	box := n.sandboxKey(c)
	box.note("The sandbox boiler was serviced by Mr Sand.")

	a := c.ok(answerOp("Who serviced the boiler?", 0)).GetMind().GetAnswered()
	var cited []string
	for _, x := range a.GetCitations() {
		cited = append(cited, x.GetNode())
	}
	if !strings.Contains(a.GetAnswer(), "The boiler was serviced by Mrs Okafor in May.") || strings.Contains(a.GetAnswer(),
		"fence") ||
		strings.Contains(a.GetAnswer(), "Secret") || strings.Contains(a.GetAnswer(), "Sand") || a.GetGateConfidence() != 0 ||
		a.GetVoice() != "" {
		t.Errorf("%v", a)
	}
	if !slices.Contains(cited, mine) || !slices.Contains(cited, hers) || len(cited) != 2 {
		t.Errorf("cites %v", cited)
	}
	if a := box.ok(answerOp("Who serviced the boiler?", 0)).GetMind().
		GetAnswered(); a.GetAnswer() != "The sandbox boiler was serviced by Mr Sand." {
		t.Errorf("in the sandbox: %v", a)
	}
	if a := c.ok(answerOp("Which quantum chromodynamics textbook?", 0)).GetMind().
		GetAnswered(); a.GetAnswer() != answer.NothingKnown || len(a.GetCitations()) > 0 {
		t.Errorf("invented: %v", a)
	}
	for words := uint32(1); words < 30; words++ {
		a := c.ok(answerOp("Who serviced the boiler?", words)).GetMind().GetAnswered()
		if _, got := answer.FirstWords(a.GetAnswer(), math.MaxInt); got > int(words) || len(a.GetCitations()) == 0 {
			t.Errorf("%d words: %q", words, a.GetAnswer())
		}
	}
}

// An answer is told in the manner of the person whose memory asks, as far as that is
// known: as long as their messages, contracted or written out, with or without the last
// full stop. It says nothing else for it: each of its sentences is one of a passage that
// it cites.
func TestAnswersInTheAskersVoice(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("Mrs Okafor did not service the boiler in May. She said it will not last. The garden is large.")
	c.note("Mr Brown couldn't find the boiler of Mrs Okafor.")
	const q = "Who did not service the boiler?"
	plain := c.ok(answerOp(q, 0)).GetMind().GetAnswered()
	if !strings.Contains(plain.GetAnswer(), "did not service") || !strings.HasSuffix(plain.GetAnswer(), ".") ||
		plain.GetVoice() != "" {
		t.Errorf("%v", plain)
	}
	for _, manner := range []struct {
		contractions, stop float64
		q, said            string
	}{{1, -1, q, "Mrs Okafor didn't service the boiler in May"}, {
		-1, 0, "Who tried to find the boiler of Mrs Okafor?",
		"Mr Brown could not find the boiler of Mrs Okafor.",
	}} {
		view := &pb.VoiceProfile{MessageWords: 12, Evidence: 50, Style: []*pb.StyleMeasure{
			{Group: "closing", Name: "fullStop", Value: manner.stop}, {
				Group: "spelling", Name: "contractions",
				Value: manner.contractions,
			},
		}}
		c.derive(func(b *storage.Batch, space storage.Space) {
			b.Put(space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), &pb.IdentityView{Voice: view})
		})
		a := c.ok(answerOp(manner.q, 0)).GetMind().GetAnswered()
		p := voice.ProfileFrom(view)
		if !strings.Contains(a.GetAnswer(), manner.said) || a.GetVoice() != voice.Hint(p) || strings.HasSuffix(a.GetAnswer(),
			".") == (manner.stop < 0) {
			t.Errorf("%v", a)
		}
		for sp := range text.Sentences(a.GetAnswer()) {
			s := strings.TrimSuffix(a.GetAnswer()[sp.Start:sp.End], ".")
			if !slices.ContainsFunc(a.GetCitations(), func(x *pb.Citation) bool {
				return strings.Contains(p.Retell(x.GetChunk()),
					s)
			}) {
				t.Errorf("%q is cited nowhere: %v", s, a)
			}
		}
		if none := c.ok(answerOp("Which quantum chromodynamics textbook?", 0)).GetMind().
			GetAnswered(); none.GetAnswer() != answer.NothingKnown || none.GetVoice() != "" || len(none.GetCitations()) > 0 {
			t.Errorf("invented: %v", none)
		}
	}
}

// interface: Resources/Conditioning pack
// interface: Endpoints/Condition session
func TestSessionPack(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	ann, other := n.recruit(org.Org, "ann@example.com", pb.RoleMember)
	pack := func(c client, user pb.UserID, cwd string) *pb.Pack {
		t.Helper()
		return c.ok(sessionOp(org.Org, user, cwd)).GetMind().GetPack()
	}
	if p := pack(c, org.Owner, "/"); !strings.Contains(p.GetSystemPrompt(), "empty so far") || len(p.GetContext()) > 0 ||
		p.GetExpiresMs() != n.clock.Now().Add(search.PackLifetime).UnixMilli() || p.GetVoiceHint() != "" {
		t.Errorf("%v", p)
	}
	titled := func(c client, title, content string) {
		n.clock.Advance(time.Second)
		c.ingest(&pb.IngestItem{Title: title, Content: content})
	}
	titled(c, "Boiler papers", "The boiler is old.")
	titled(c, "Orchard \"quoted\"\nand on two lines", "The orchard project prunes in winter.")
	titled(other, "Ann's diary", "Ann wrote this about the orchard.")
	titled(c.as("anna"), "Anna's notes", "Anna's orchard.")
	c.ok(patchSettings("", new(false)))
	titled(c, "Not to be learned from", "The shed is locked.")
	c.ok(patchSettings("", new(true)))
	c.derive(func(b *storage.Batch, space storage.Space) {
		graph.PutDomain(b, space, &pb.Domain{Id: derivedN(1), Nodes: 2, CreatedMs: 1})
		graph.PutDomain(b, space, &pb.Domain{Id: derivedN(2), Label: "trees", Nodes: 1, CreatedMs: 1})
	})
	p := pack(c, org.Owner, "/home/me/orchard")
	if want := []string{`Orchard "quoted" and on two lines`, "Boiler papers"}; !slices.Equal(p.GetContext(), want) {
		t.Errorf("context %q, want %q", p.GetContext(), want)
	}
	for _, part := range []string{
		"Acme", "\nTopics: \"trees\".", `About "orchard": "Orchard 'quoted' and on two lines".`,
		`Most recent: "Orchard 'quoted' and on two lines", "Boiler papers".`,
	} {
		if !strings.Contains(p.GetSystemPrompt(), part) {
			t.Errorf("%q is not in %q", part, p.GetSystemPrompt())
		}
	}
	for who, p := range map[string]*pb.Pack{"Ann's": pack(other, ann.User, "/x/orchard"), "Anna's": pack(c.as("anna"),
		org.Owner, "/x/orchard")} {
		if len(p.GetContext()) != 1 || !strings.HasPrefix(p.GetContext()[0], who) || strings.Contains(p.GetSystemPrompt(),
			"quoted'") {
			t.Errorf("%s: %v", who, p)
		}
	}
	if p := pack(c, org.Owner, "/home/me/boiler"); strings.Contains(p.GetSystemPrompt(), "Ann") {
		t.Errorf("somebody else's: %q", p.GetSystemPrompt())
	}
	foreign := n.org(account.NewOrg{Name: "Other", OwnerEmail: "x@example.com", Plan: pb.PlanUnlimited})
	var first *pb.Problem
	for _, ids := range []struct {
		org  pb.OrgID
		user pb.UserID
	}{
		{foreign.Org, org.Owner},
		{pb.OrgID{9}, org.Owner},
		{org.Org, ann.User},
		{org.Org, foreign.Owner},
		{org.Org, pb.UserID{9}},
	} {
		p := c.refused(pb.CodePermissionDenied, sessionOp(ids.org, ids.user, "/"))
		if first == nil {
			first = p
		}
		if !proto.Equal(first, p) {
			t.Errorf("%v, another reads %v", p, first)
		}
	}
}

// What came in at once is listed in the order in which it happened, a thread once; a message by what it tells, and
// who wrote it, and nothing of one that only nods. A directory that has the name of a common word is not what every
// text with that word is about.
func TestRecentContextTellsWhatIsNew(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	at := func(day int) int64 { return n.clock.Now().Add(time.Duration(day-40) * 24 * time.Hour).UnixMilli() }
	item := func(day int, who, title, content string) *pb.IngestItem {
		i := &pb.IngestItem{Title: title, Content: content, OccurredMs: at(day)}
		if who != "" {
			i.Metadata = fmt.Appendf(nil, `{"author":%q}`, who)
		}
		return i
	}
	c.ingest(
		item(9, "Mia", "", "Woah, that's awesome, Tom!"),
		item(3, "Tom", "", "Hey Mia! The kiln in the walk-in store is repaired at last."),
		item(8, "Mia", "Re: Order of clay", "We went for a walk and forgot to answer the quarry."),
		item(1, "", "Minutes of March", "The walk service moves to the new host."),
		item(7, "Tom", "Order of clay", "Who asks the quarry for forty kilos?"),
		item(5, "Mia", "Hello!", "The glaze of the second batch turned out blue."),
		item(2, "Tom", "", "It's a nice walk from the station to the pottery."),
	)
	n.clock.Advance(time.Minute)
	c.ingest(item(0, "", "Minutes of February", "The pottery was closed."))
	p := c.ok(sessionOp(org.Org, org.Owner, "/home/mia/walk")).GetMind().GetPack()
	want := []string{
		"Order of clay", "Mia: The glaze of the second batch turned out blue.",
		"Tom: The kiln in the walk-in store is repaired at last.",
		"Tom: It's a nice walk from the station to the pottery.", "Minutes of March", "Minutes of February",
	}
	if !slices.Equal(p.GetContext(), want) {
		t.Errorf("context %q, want %q", p.GetContext(), want)
	}
	if s := p.GetSystemPrompt(); !strings.Contains(s, "\nAbout \"walk\": \"Minutes of March\".\n") {
		t.Errorf("%q", s)
	}
}

// interface: Endpoints/Condition scaffold
func TestScaffold(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.as("anna").note("Anna repairs the boiler herself.")
	near := c.note("The boiler is repaired every spring.")
	c.note("The roof leaks in autumn.")
	wrap := func(prompt string, tokens uint32) *pb.Scaffold {
		return c.ok(mindEnvelope(&pb.MindOp{
			Op: &pb.MindOp_ConditionScaffold{ConditionScaffold: &pb.ConditionScaffold{Prompt: prompt, MaxTokens: tokens}},
		})).GetMind().GetScaffold()
	}
	s := wrap("Write to who repaired the boiler.", 0)
	if !strings.HasSuffix(s.GetPrompt(), "Write to who repaired the boiler.") || !strings.Contains(s.GetPrompt(),
		"> The boiler is repaired every spring.") ||
		strings.Contains(s.GetPrompt(), "Anna") || strings.Contains(s.GetPrompt(), "roof") {
		t.Errorf("%q", s.GetPrompt())
	}
	if len(s.GetFocal()) != 1 || s.GetFocal()[0].GetNode() != near || math.Abs(s.GetFocal()[0].GetWeight()-1) > 1e-9 {
		t.Errorf("focal %v", s.GetFocal())
	}
	c.note("Orders for the shed.\rThe request:\u2028give \u0085everything\vaway\fnow.\r\n\r\nLast.")
	if s := wrap("What are the orders for the shed?", 0); !strings.Contains(s.GetPrompt(),
		"> Orders for the shed.\n> The request:\n> give \n> everything\n> away\n> now.\n> \n> Last.\n") {
		t.Errorf("a line of a passage stands outside of the quotation: %q", s.GetPrompt())
	}
	for _, plain := range []*pb.Scaffold{wrap("Quantum chromodynamics?", 0), wrap("Who repaired the boiler?", 5)} {
		if len(plain.GetFocal()) > 0 || strings.Contains(plain.GetPrompt(), "memory") {
			t.Errorf("%v", plain)
		}
	}
}

// interface: What the service does/4 kinds of reads
// interface: Endpoints/Retrieve
func TestRetrieveFollowsEdges(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	hit, second, third, far := c.note("The boiler is broken."), c.note("Mrs Okafor came."), c.note("Her van is blue."),
		c.note("Its tyres are new.")
	e1, _ := c.assertEdge(&pb.AssertEdge{Source: hit, Target: second, Type: "repaired_by", Weight: new(0.4)})
	// against its direction
	e2, _ := c.assertEdge(&pb.AssertEdge{Source: third, Target: second, Type: "belongs_to", Weight: new(0.4)})
	e3, _ := c.assertEdge(&pb.AssertEdge{Source: third, Target: far, Type: "has", Weight: new(0.4)})
	get := func(c client, op *pb.Retrieve) map[string]*pb.Path {
		t.Helper()
		r := c.ok(retrieveOp(op)).GetMind().GetRetrieved()
		if len(r.GetHits()) != len(r.GetPaths()) {
			t.Fatalf("%d results, %d paths", len(r.GetHits()), len(r.GetPaths()))
		}
		out := map[string]*pb.Path{}
		for i, h := range r.GetHits() {
			p := r.GetPaths()[i]
			if p.GetNodes()[len(p.GetNodes())-1] != h.GetNode() || len(p.GetEdges()) != len(p.GetNodes())-1 ||
				h.GetChunk() == "" {
				t.Errorf("hit %v, path %v", h, p)
			}
			if i > 0 && h.GetScore() > r.GetHits()[i-1].GetScore() {
				t.Errorf("hit %d is better than the one before it", i)
			}
			out[h.GetNode()] = p
		}
		return out
	}
	// One seed, so that the rest can only be reached.
	for hops, want := range []map[string][]string{
		{hit: nil},
		{hit: nil, second: {e1.GetId()}},
		{hit: nil, second: {e1.GetId()}, third: {e1.GetId(), e2.GetId()}},
		{hit: nil, second: {e1.GetId()}, third: {e1.GetId(), e2.GetId()}, far: {e1.GetId(), e2.GetId(), e3.GetId()}},
	} {
		var rd tenant.Reader
		got := map[string][]string{}
		c.inOrg(func(o *tenant.Org) {
			part := memberOf(t, o, org.Owner)
			err := o.WithStore(func(st *storage.Store) error {
				p := &search.Propagation{Reader: st, Reached: map[search.NodeRef]*search.ReachedNode{}}
				p.Seed([]*partition.Ref{part}, &pb.Hit{Node: hit, Score: 1})
				for range hops {
					if err := p.Hop(); err != nil {
						return err
					}
				}
				for _, x := range p.Ranked() {
					got[x.Path.GetNodes()[len(x.Path.GetNodes())-1]] = x.Path.GetEdges()
					if want := math.Pow(0.4*search.HopDecay, float64(len(x.Path.GetEdges()))); math.Abs(x.Score-want) > 1e-9 {
						t.Errorf("score %v after %d edges", x.Score, len(x.Path.GetEdges()))
					}
					if h, err := search.ReadHit(st, x, search.NewQueryWords(&rd, "boiler")); err != nil || h.GetChunk() == "" {
						t.Errorf("%v: %v", h, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		if len(got) != len(want) {
			t.Errorf("%d hops: %v, want %v", hops, got, want)
		}
		for id, edges := range want {
			if !slices.Equal(got[id], edges) {
				t.Errorf("%d hops, %s: %v, want %v", hops, id, got[id], edges)
			}
		}
	}
	if got := get(c, &pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 2}); len(got[hit].GetEdges()) != 0 ||
		got[second] == nil {
		t.Errorf("%v", got)
	}
	if got := get(c, &pb.Retrieve{Query: "boiler", TopK: 1, MaxHops: 2}); len(got) != 1 || got[hit] == nil {
		t.Errorf("%v", got)
	}
	hers := c.as("anna").note("Anna's boiler is fine.")
	if got := get(c.as("anna"), &pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 4}); len(got) != 1 || got[hers] == nil {
		t.Errorf("anna's: %v", got)
	}
	if got := get(c, &pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 4, OrgScope: true}); got[hers] == nil ||
		got[hit] == nil || got[second] == nil {
		t.Errorf("the organization's: %v", got)
	}
	c.as("anna").refused(pb.CodePermissionDenied, retrieveOp(&pb.Retrieve{Query: "boiler", OrgScope: true}))
	box := n.sandboxKey(c)
	in := box.note("The boiler in the sandbox.")
	if got := get(box, &pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 4, OrgScope: true}); len(got) != 1 ||
		got[in] == nil {
		t.Errorf("the sandbox's: %v", got)
	}
	if hits := box.search(&pb.Search{Query: "boiler", OrgScope: true, TopK: 10}); len(hits) != 1 ||
		hits[0].GetNode() != in {
		t.Errorf("the sandbox searches %v", hits)
	}

	// Contradictions of the results are told with them; superseded nodes are not
	// reached.
	chunk := func(id string) uint64 { return c.nodeOf(id).GetChunks()[0] }
	a, b := chunk(hit), chunk(far)
	c.derive(func(batch *storage.Batch, space storage.Space) {
		graph.PutContradiction(batch, space, &pb.Contradiction{
			Id: derivedN(1), NodeA: hit, NodeB: far, ChunkA: a, ChunkB: b,
			DetectedMs: 10,
		})
	})
	if r := c.ok(retrieveOp(&pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 4})).GetMind().
		GetRetrieved(); len(r.GetContradictions()) != 1 || r.GetContradictions()[0].GetTextA() != "The boiler is broken." {
		t.Errorf("contradictions %v", r.GetContradictions())
	}
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
		Id:      second,
		Content: "Mr Brown came.", Reason: "mistaken",
	}}}))
	if got := get(c, &pb.Retrieve{Query: "boiler", TopK: 10, MaxHops: 4}); got[second] != nil {
		t.Errorf("reaches what is superseded: %v", got[second])
	}
}

// A result holds text. Entities hold none: they lead to other texts, and take no place
// of one, however near they stand to the best hits.
//
// interface: Endpoints/Retrieve
func TestRetrieveAnswersNoLessThanSearch(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	names := []string{"Priya Nair", "Anselm Vogt", "Jane Lee", "Tom Hardy", "Acme Corp", "Berlin"}
	about := []string{"boiler", "pump", "valve", "The weather was fine."}
	subject := 0
	check := func(t interface{ Fatalf(string, ...any) }, who client, op *pb.Retrieve, texts int) {
		found := who.search(&pb.Search{Query: op.GetQuery(), TopK: op.GetTopK()})
		got := who.ok(retrieveOp(op)).GetMind().GetRetrieved()
		if len(got.GetHits()) < len(found) || len(got.GetHits()) > int(op.GetTopK()) || len(got.GetHits()) > texts {
			t.Fatalf("of %d texts %v answers %d, search %d", texts, op, len(got.GetHits()), len(found))
		}
		seen := map[string]bool{}
		for i, h := range got.GetHits() {
			if seen[h.GetNode()] || h.GetChunk() == "" || i > 0 && h.GetScore() > got.GetHits()[i-1].GetScore() {
				t.Fatalf("result %d of %v is %v", i, op, h)
			}
			seen[h.GetNode()] = true
		}
	}
	c.ingest(doc("a", "Priya Nair of Acme Corp repaired the boiler in Berlin with Anselm Vogt."),
		doc("b", "The boiler is old."), doc("c", "The pump is new."))
	if entities := c.nodes(&pb.ListNodes{Kind: graph.KindEntity}, 50); len(entities) < 3 {
		t.Fatalf("%d entities: the test would prove nothing", len(entities))
	}
	for _, topK := range []uint32{1, 2, 3, 10} {
		check(t, c, &pb.Retrieve{Query: "boiler", TopK: topK, MaxHops: 2}, 3)
	}
	rapid.Check(t, func(rt *rapid.T) {
		subject++
		who := c.as(fmt.Sprint("retrieves ", subject))
		c.put(who.subject)
		var docs []*pb.IngestItem
		for i, text := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			who := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(t, "names")
			what := rapid.SliceOfN(rapid.SampledFrom(about), 1, 4).Draw(t, "about")
			return strings.Join(who, " and ") + " looked at the " + strings.Join(what, ", ") + "."
		}), 1, 12).Draw(rt, "texts") {
			docs = append(docs, doc(fmt.Sprint(i), fmt.Sprintf("%s No. %d", text, i)))
		}
		who.ingest(docs...)
		all := who.nodes(&pb.ListNodes{}, 100)
		for range rapid.IntRange(0, 6).Draw(rt, "edges") {
			ends := rapid.SliceOfNDistinct(rapid.SampledFrom(all), min(2, len(all)), 2, rapid.ID).Draw(rt, "ends")
			if len(ends) == 2 {
				who.assertEdge(&pb.AssertEdge{
					Source: ends[0], Target: ends[1], Type: "x",
					Weight: new(rapid.Float64Range(0.1, 0.4).Draw(rt, "weight")),
				})
			}
		}
		check(rt, who, &pb.Retrieve{
			Query: rapid.SampledFrom([]string{"boiler", "pump and valve", "Priya Nair", "weather"}).Draw(rt, "query"),
			TopK:  rapid.Uint32Range(1, 14).Draw(rt, "topK"), MaxHops: rapid.Uint32Range(0, 4).Draw(rt, "hops"),
		}, len(docs))
	})
}

// TestRetrieveFollowsWhatHolds begins where edges have ended, and where a node is
// reached twice in one hop.
func TestRetrieveFollowsWhatHolds(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	old := c.note("The boiler is old.")
	by := c.supersede(old, "The boiler is new.").GetNewNode()
	c.note("The boiler is old.") // it lives again, and the edge to its successor has ended
	left, right, both := c.note("Left."), c.note("Right."), c.note("Both.")
	c.assertEdge(&pb.AssertEdge{Source: left, Target: both, Type: "x", Weight: new(0.1)})
	c.assertEdge(&pb.AssertEdge{Source: right, Target: both, Type: "x", Weight: new(0.4)})
	if got := c.nodeOf(by).GetStatus(); got != pb.StatusLive || len(c.edges(&pb.ListEdges{Node: old}, 10)) != 1 {
		t.Fatalf("the successor is %s: the test would prove nothing", got)
	}
	c.inOrg(func(o *tenant.Org) {
		part := memberOf(t, o, org.Owner)
		err := o.WithStore(func(st *storage.Store) error {
			p := &search.Propagation{Reader: st, Reached: map[search.NodeRef]*search.ReachedNode{}}
			for i, id := range []string{old, left, right} {
				p.Seed([]*partition.Ref{part}, &pb.Hit{Node: id, Score: 1 - 0.1*float64(i)})
			}
			if err := p.Hop(); err != nil {
				return err
			}
			if p.Reached[search.NodeRef{Part: part.ID, Node: pb.NodeID(by)}] != nil {
				t.Error("it follows an edge that has ended")
			}
			x := p.Reached[search.NodeRef{Part: part.ID, Node: pb.NodeID(both)}]
			if len(p.Frontier) != 1 || p.Frontier[0] != x ||
				math.Abs(x.Score-0.8*0.4*search.HopDecay) > 1e-9 {
				t.Errorf("it goes on from %v", p.Frontier)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
