package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	cycles "orgmem/actors/cognition"
	"orgmem/actors/graph"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// thinking is for nodes whose texts are read and looked at.
func thinking(cfg *tenant.Config, _ *storage.Options) { cfg.WithoutDerivation = false }

// think lets the quiet time pass and waits for the cycle of the caller's memory, whatever others do beside it. The
// clock stands while that runs: what is kept for a time only is still there.
func (c client) think() {
	c.n.t.Helper()
	cycles, before := c.n.sys.Counters.Cycles.Load(), c.cognitionJobs()
	c.n.waitFor(func() bool {
		now := c.cognitionJobs()
		if maps.Equal(now, before) {
			c.n.clock.Advance(time.Second)
			return false
		}
		return c.n.sys.Counters.Cycles.Load() > cycles && now[pb.JobQueued]+now[pb.JobRunning] == 0
	})
}

// nodesOf lists the titles of the nodes of a kind.
func (c client) titles(kind string) (titles []string) {
	c.n.t.Helper()
	for _, n := range c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{
		Kind: kind,
		Page: &pb.Page{Size: 100},
	}}})).GetGraph().GetNodes().GetNodes() {
		titles = append(titles, n.GetNode().GetTitle())
	}
	slices.Sort(titles)
	return titles
}

// What two texts say of one thing is set against each other by the cycle, once,
// and leaves the list with either side.
func TestCycleReportsContradictions(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a := c.note("The deadline of the Atlas project is 3 May.")
	b := c.note("The deadline of the Atlas project is 9 June.")
	c.note("The garden is large and green.")
	c.think()
	pairs := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs()
	if len(pairs) != 1 {
		t.Fatalf("%d contradictions: %v", len(pairs), pairs)
	}
	x := pairs[0]
	if ends := []string{x.GetContradiction().GetNodeA(), x.GetContradiction().GetNodeB()}; !slices.Contains(ends, a) ||
		!slices.Contains(ends, b) ||
		x.GetContradiction().GetExplanation() == "" || !strings.Contains(x.GetTextA(), "Atlas") {
		t.Errorf("%v", x)
	}
	c.note("Something else altogether.")
	c.think()
	if again := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(again) != 1 ||
		string(again[0].GetContradiction().GetId()) != string(x.GetContradiction().GetId()) {
		t.Errorf("reported again: %v", again)
	}
	c.forget(a)
	if left := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(left) != 0 {
		t.Errorf("it outlives its side: %v", left)
	}
	kinds := map[string]int{}
	for _, j := range c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobCognition}}}).
		GetJobs().GetJobs() {
		kinds[j.GetStatus()]++
		if j.GetStartedMs() == 0 {
			t.Errorf("%v", j)
		}
	}
	if kinds[pb.JobSucceeded] != 2 {
		t.Errorf("cognition jobs: %v", kinds)
	}
}

// A long text that is like no other stands alone.
func TestATextThatStandsAlone(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	words := strings.Fields("importer file reader queue format record parser stream version header column encoding " +
		"release migration checksum")
	var items []*pb.IngestItem
	for i := range 40 {
		var said []string
		for k := range 14 { // each leaves another word out, and says another twice
			said = append(said, words[(i+k*(1+i%3))%len(words)])
		}
		items = append(items, doc("", fmt.Sprintf("The %s of release %d and all that goes with it.", strings.Join(said, " "),
			i)))
	}
	c.ingest(items...)
	alone := c.note("Grandmother baked seven plum cakes yesterday because every neighbour promised to bring their " +
		"hungry children along to our summer party.")
	c.think()
	var found []*pb.Insight
	for _, i := range c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Recall{Recall: &pb.Recall{Type: pb.RecallInsights}}})).
		GetMind().GetInsights().GetInsights() {
		if i.GetKind() == "outlier" {
			found = append(found, i)
		}
	}
	if len(found) != 1 || found[0].GetNodes()[0] != alone {
		t.Errorf("outliers %v", found)
	}
}

// What people say in turns is at odds with nothing for that: the title that a transcript
// has from its first words is no subject, and who speaks no attribute of it.
func TestTurnsOfATranscriptAreNotAtOdds(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	talk := "Robin: The boiler is in the cellar, and somebody has to look at it before the winter comes, I believe. "
	first := "Dana: Mm-hm.\n" + strings.Repeat(talk, 30)
	c.note(first + "\nRobin: Sorry.")
	c.note(first + "\nRobin: You tell me.")
	c.think()
	for _, x := range c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs() {
		t.Errorf("reported: %s", x.GetContradiction().GetExplanation())
	}
	later := &pb.Chunk{Ordinal: 1, Text: "Robin: Sorry."}
	if got := cognition.GivenTitle("Dana: Mm-hm.", later); got != "" {
		t.Errorf("a title that was made from the first words is a subject: %q", got)
	}
	later.TitlePath = []string{"Atlas", "Owners"}
	if got := cognition.GivenTitle(" Atlas", later); got != " Atlas" {
		t.Errorf("a given title is %q", got)
	}
}

// What answers a mail is not set against it for looking opposed; two texts that only share a title are.
func TestATextAndItsAnswerAreOneConversation(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]int{"Restarts": 1, "Re: Restarts": 0} {
		n := startNode(t, storagetest.NewDisk(), thinking)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ingest(&pb.IngestItem{
			Title: "Restarts", Content: "Nightly restarts of all workers improve the stability of the importer.",
		}, &pb.IngestItem{
			Title: title, Content: "After we had introduced restarts, the stability of the importer was impaired in three " +
				"of four weeks, and two of the workers failed.",
		})
		c.think()
		if got := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(got) != want {
			t.Errorf("under %q: %v, want %d", title, got, want)
		}
	}
}

// Who is named in every text of a topic, and is its busiest node, does not name it; nor
// the basin that these texts make.
func TestPeopleNameNoTopic(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for _, what := range []string{
		"ordered seedlings for the greenhouse", "repaired the heating of the greenhouse", "waters the seedlings",
		"painted the greenhouse",
		"gave the seedlings to the school", "keeps the key of the greenhouse", "planted the seedlings",
		"sold seedlings at the market",
	} {
		c.note("Anselm Vogt " + what + ". Vogt wrote this down.")
	}
	for _, what := range []string{
		"wrote the parser", "tested the parser on long files", "rewrote the tokenizer", "found a crash in the tokenizer",
		"made the parser faster",
		"merged the parser and the tokenizer", "reviewed the release", "tagged the release of the parser",
	} {
		c.note("Priya Nair " + what + ". Nair sent a message.")
	}
	c.think()
	var labels, keywords []string
	for _, d := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: &pb.Page{Size: 100}}},
	})).GetGraph().GetDomains().GetDomains() {
		labels, keywords = append(labels, d.GetLabel()), append(keywords, d.GetKeywords()...)
	}
	for _, b := range c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Recall{Recall: &pb.Recall{Type: pb.RecallIdentity}}})).
		GetMind().GetIdentity().GetView().GetBasins() {
		labels = append(labels, b.GetLabel())
	}
	if len(labels) == 0 || !slices.ContainsFunc(keywords, func(w string) bool { return strings.Contains(w, "Vogt") }) {
		t.Fatalf("labels %q, keywords %q: he is not known at all", labels, keywords)
	}
	for _, label := range labels {
		if slices.ContainsFunc([]string{"Vogt", "Anselm", "Priya", "Nair"},
			func(name string) bool { return strings.Contains(label, name) }) {
			t.Errorf("a topic is called %q", label)
		}
	}
}

// What is taken in to be searched only is not read, and is as soon as it may be learned
// from; what stands already is read again whatever brings it anew.
func TestWhatIsReadOfATextThatIsNotLearnedFrom(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("known", "The boiler was serviced by Carmen Ruiz."))
	if got := c.titles(graph.KindEntity); !slices.Equal(got, []string{"Carmen Ruiz"}) {
		t.Fatalf("named are %q", got)
	}
	c.ok(patchSettings("", new(false)))
	renamed := doc("known", "The boiler was serviced by Carmen Ruiz.")
	renamed.Title = "The boiler"
	c.ingest(renamed, doc("hidden", "The lift was serviced by Bruno Sato."))
	if got := c.titles(graph.KindEntity); !slices.Equal(got, []string{"Carmen Ruiz"}) {
		t.Errorf("named are %q", got)
	}
	c.ok(patchSettings("", new(true)))
	c.ingest(doc("hidden", "The lift was serviced by Bruno Sato."))
	if got := c.titles(graph.KindEntity); !slices.Equal(got, []string{"Bruno Sato", "Carmen Ruiz"}) {
		t.Errorf("named are %q", got)
	}
}

// Where many texts are, two are told apart from neighbours by chance by standing out
// of their surroundings.
func TestOppositionThatStandsOutOfManyTexts(t *testing.T) {
	withoutRace(t)
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var items []*pb.IngestItem
	for i := range 1000 { // of which each is its own kind, and others wrote them: they lay no manifold
		items = append(items, &pb.IngestItem{Kind: subject.KindSession, Content: fmt.Sprintf("w%d x%d y%d z%d", i, i, i, i)})
	}
	for part := range slices.Chunk(items, 100) {
		c.ingest(part...)
	}
	c.note("Nightly restarts of all workers improve the stability of the importer.")
	c.note("After we had introduced restarts, the stability of the importer was impaired in three of four weeks, and " +
		"two of the workers failed.")
	c.think()
	pairs := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs()
	if len(pairs) != 1 || pairs[0].GetContradiction().GetKind() != "semantic" {
		t.Errorf("contradictions %v", pairs)
	}
}

// What only a forgotten text said leaves the graph and every view with it; what
// others say stays.
//
// interface: States/Node forgotten
func TestForgettingTakesWhatWasReadOutOfATextAlong(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	secret := c.note("Jane Lee of Initech met Zebediah Quimby in Paris on 3 May 2024. The codeword of the Zircon " +
		"project is marmalade.")
	c.note("Jane Lee of Initech wrote the report. The codeword of the Zircon project is treacle.")
	c.think()
	entities := c.titles("entity")
	if !slices.Contains(entities, "Jane Lee") || !slices.ContainsFunc(entities,
		func(s string) bool { return strings.Contains(s, "Quimby") }) {
		t.Fatalf("entities %q", entities)
	}
	c.forget(secret)
	if left := c.titles("entity"); slices.ContainsFunc(left,
		func(s string) bool { return strings.Contains(s, "Quimby") }) || !slices.Contains(left, "Jane Lee") {
		t.Errorf("entities %q", left)
	}
	store := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
	n.nothingSays(store, "Quimby", "marmalade")
	c.think()
	n.nothingSays(store, "Quimby", "marmalade")
}

// nothingSays fails when a key or value of a store holds one of some words, in whatever
// space: the organization's or a memory's.
func (n *testNode) nothingSays(id storage.StoreID, words ...string) {
	n.t.Helper()
	spaces := []storage.Space{storage.OrgSpace(id)}
	for _, p := range records(n, id, storage.TablePartition, func() *pb.Partition { return &pb.Partition{} }) {
		spaces = append(spaces, storage.PartitionSpace(id, pb.PartitionID(p.GetId())))
	}
	if len(spaces) < 2 {
		n.t.Error("there is no memory that could say anything")
	}
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	for _, space := range spaces {
		for item, err := range st.Scan(space.All(), storage.ScanOptions{}) {
			if err != nil {
				n.t.Fatal(err)
			}
			for _, w := range words {
				if held := strings.ToLower(string(item.Value) + string(item.Key.Bytes())); strings.Contains(held,
					strings.ToLower(w)) {
					n.t.Errorf("table %#x still says %q", item.Key.Table(), w)
				}
			}
		}
	}
}

// What was read out of texts comes back from an export as it was, and forgetting a
// text there takes along what only it said.
func TestRestoreBringsBackWhatWasRead(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("Jane Lee of Initech met Zebediah Quimby in Paris on 3 May 2024.")
	c.note("Jane Lee works for Initech.")
	exported := readDocument(t, c.download(c.export(false)))
	other := n.org(account.NewOrg{Name: "Other", OwnerEmail: "owner@example.com", Plan: pb.PlanUnlimited})
	there := client{n: n, key: other.APIKey}
	n.restore(other.Org, exported)
	if before, after := c.titles("entity"), there.titles("entity"); !slices.Equal(before, after) || len(before) == 0 {
		t.Fatalf("entities %q, there %q", before, after)
	}
	secret := there.search(&pb.Search{Query: "Quimby", Mode: "keyword", TopK: 1})[0].GetNode()
	there.forget(secret)
	n.nothingSays(storage.StoreID{Org: other.Org, Realm: storage.RealmMain}, "Quimby")
	if left := there.titles("entity"); !slices.Contains(left, "Jane Lee") {
		t.Errorf("left %q", left)
	}
}

// A cycle that a crash ended is gone on with under its job, and what it had found is
// not reported twice.
func TestCycleGoesOnAfterACrash(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.note("The deadline of the Atlas project is 3 May.")
	c.note("The deadline of the Atlas project is 9 June.")
	c.think()
	// As it is when the process ends behind the first commits of the next cycle.
	c.note("Something else altogether.")
	var job *pb.Job
	c.inOrg(func(o *tenant.Org) {
		var err error
		if job, err = o.NewJob(pb.JobCognition, tenant.Principal{User: org.Owner}, memberOf(t, o, org.Owner),
			cycles.Stages); err != nil {
			t.Error(err)
			return
		}
		job.Status, job.Attempts = pb.JobRunning, 1
		b := storage.NewBatch(o.Store)
		tenant.PutJob(b, o.Space, job)
		cog := &pb.Cognition{}
		err = o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(memberOf(t, o, org.Owner).Space.Key(storage.TableCognition), cog)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		cog.Job, cog.NextChunk = job.GetId(), 0 // it would find all again
		b.Put(memberOf(t, o, org.Owner).Space.Key(storage.TableCognition), cog)
		if err := o.Committer.Commit(b); err != nil {
			t.Error(err)
		}
	})
	n = startNode(t, disk.Crash(0, 1), thinking)
	c.n = n
	id := pb.JobID(job.GetId()).String()
	n.wait(id) // nobody asked anything
	if j := c.job(id); j.GetStatus() != pb.JobSucceeded || j.GetAttempts() != 2 {
		t.Errorf("%v", j)
	}
	if pairs := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(pairs) != 1 {
		t.Errorf("%d contradictions", len(pairs))
	}
	told := 0
	for _, e := range records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox,
		func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if e.GetType() == pb.EventContradictionFound {
			told++
		}
	}
	if told != 1 {
		t.Errorf("contradiction.detected was told %d times", told)
	}
}

// A finalization ends with the cycle that it begins, without waiting for quiet.
//
// interface: States/Session backfill
func TestFinalizeWaitsForTheCycle(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("The deadline of the Atlas project is 3 May.")
	c.note("The deadline of the Atlas project is 9 June.")
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}}))
	jobs := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobSessionFinalize}}}).GetJobs().
		GetJobs()
	n.wait(pb.JobID(jobs[0].GetId()).String())
	if pairs := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs(); len(pairs) != 1 {
		t.Errorf("%d contradictions", len(pairs))
	}
}

// What held at a time is found at that time, and of two values of one fact the later
// stands first.
func TestWhatHeldAt(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	day := func(d int) int64 { return time.Date(2025, 1, d, 0, 0, 0, 0, time.UTC).UnixMilli() }
	item := func(text string, at int64) string {
		return c.ingest(&pb.IngestItem{Content: text, OccurredMs: at}).GetItems()[0].GetNode()
	}
	later := item("The deadline of the Atlas project is 9 June.", day(20))
	first := item("The deadline of the Atlas project is 3 May.", day(10))
	order := func(asOf int64) (nodes []string) {
		for _, h := range c.search(&pb.Search{
			Query: "deadline of the Atlas project 3 May", TopK: 10,
			Filters: &pb.Filters{AsOfMs: asOf},
		}) {
			nodes = append(nodes, h.GetNode())
		}
		return nodes
	}
	if got := order(0); !slices.Equal(got, []string{later, first}) {
		t.Errorf("now: %v, want %s first", got, later)
	}
	if got := order(day(15)); !slices.Equal(got, []string{first}) {
		t.Errorf("then: %v", got)
	}
	if got := order(day(5)); len(got) != 0 {
		t.Errorf("before: %v", got)
	}

	list := func(asOf int64) []string { return c.nodes(&pb.ListNodes{AsOfMs: asOf}, 100) }
	find := func(asOf int64) (nodes []string) {
		op := graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{
			Page: &pb.Page{Size: 100},
			Q:    "deadline", AsOfMs: asOf,
		}}})
		for _, x := range c.ok(op).GetGraph().GetMatches().GetMatches() {
			nodes = append(nodes, x.GetNode().GetNode().GetId())
		}
		return nodes
	}
	strongest := func(asOf int64) (nodes []string) {
		for _, x := range c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Recall{Recall: &pb.Recall{
			Type:   pb.RecallGraph,
			AsOfMs: asOf,
		}}})).GetMind().GetGraph().GetNodes() {
			nodes = append(nodes, x.GetId())
		}
		return nodes
	}
	for name, read := range map[string]func(int64) []string{"list": list, "node search": find, "recall": strongest} {
		if got := read(0); !slices.Contains(got, first) || !slices.Contains(got, later) {
			t.Errorf("%s: %v", name, got)
		}
		if got := read(day(15)); !slices.Contains(got, first) || slices.Contains(got, later) {
			t.Errorf("%s then: %v", name, got)
		}
		if got := read(day(5)); slices.Contains(got, first) || slices.Contains(got, later) {
			t.Errorf("%s before: %v", name, got)
		}
	}
}

// Among the nodes of a time stand the edges of that time: what was alike already, and
// nothing that was asserted since, or had ended.
func TestEdgesThatHeldAt(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	day := func(d int) int64 { return time.Date(2025, 1, d, 0, 0, 0, 0, time.UTC).UnixMilli() }
	var ids []string
	for i, text := range mindTexts {
		ids = append(ids, c.ingest(&pb.IngestItem{Content: text, OccurredMs: day(i + 1)}).GetItems()[0].GetNode())
	}
	c.think()
	c.assertEdge(&pb.AssertEdge{Source: ids[0], Target: ids[8], Type: "explains"})
	types := func(asOf int64) (all []string) {
		for _, e := range c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph, AsOfMs: asOf})).GetMind().GetGraph().GetEdges() {
			if !slices.Contains(all, e.GetType()) {
				all = append(all, e.GetType())
			}
		}
		return all
	}
	if now := types(0); !slices.Contains(now, "explains") || !slices.Contains(now, cognition.EdgeSimilar) {
		t.Errorf("now %q", now)
	}
	if then := types(day(28)); slices.Contains(then, "explains") || !slices.Contains(then, cognition.EdgeSimilar) {
		t.Errorf("then %q", then)
	}
}

// The organization knows where else an entity is named, and nobody learns what is
// said of it there.
func TestAnEntityElsewhere(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	c.note("Jane Lee of Initech wrote the report.")
	c.as("anna").note("Jane Lee of Initech fired everybody on Monday.")
	stranger := client{n: n, key: n.org(account.NewOrg{
		Name: "Other", OwnerEmail: "x@example.com",
		Plan: pb.PlanUnlimited,
	}).APIKey}
	stranger.note("Jane Lee of Initech is here.")
	id := func(c client, title string) string {
		for _, x := range c.ok(graphEnvelope(&pb.GraphOp{
			Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Kind: "entity"}},
		})).GetGraph().GetNodes().GetNodes() {
			if x.GetNode().GetTitle() == title {
				return x.GetNode().GetId()
			}
		}
		t.Fatalf("no entity %q", title)
		return ""
	}
	ask := graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_EntityElsewhere{EntityElsewhere: &pb.EntityElsewhere{Id: id(c,
		"Jane Lee")}}})
	seen := c.ok(ask).GetGraph().GetSightings().GetSightings()
	if len(seen) != 1 {
		t.Fatalf("seen %v", seen)
	}
	hers := &pb.Sighting{Subject: "anna", Mentions: 1, Node: id(c.as("anna"), "Jane Lee")}
	if diff := prototest.Diff(hers, seen[0]); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	c.as("anna").refused(pb.CodePermissionDenied, ask)
	stranger.refused(pb.CodeNodeNotFound, ask)
	c.as("anna").forget(c.as("anna").search(&pb.Search{Query: "fired", TopK: 1})[0].GetNode())
	if left := c.ok(ask).GetGraph().GetSightings().GetSightings(); len(left) != 0 {
		t.Errorf("forgotten, and still named: %v", left)
	}
}
