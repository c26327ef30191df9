package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func events(list ...*pb.SessionEvent) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_SessionEvents{SessionEvents: &pb.SessionEvents{Events: list, Batch: true}}})
}

func said(session, text string) *pb.SessionEvent {
	return &pb.SessionEvent{Session: session, Role: "user", Text: text}
}

func (c client) say(list ...*pb.SessionEvent) []*pb.SessionResult {
	c.n.t.Helper()
	return c.ok(events(list...)).GetLink().GetSessionResults().GetResults()
}

func (c client) sessionState() *pb.SessionState {
	c.n.t.Helper()
	return c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SessionStatus{SessionStatus: &pb.SessionStatus{}}})).GetLink().
		GetSessionState()
}

// settled waits until all that the caller has sent is ingested.
func (c client) settled() {
	c.n.t.Helper()
	for _, j := range c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Page: &pb.Page{Size: 100}}}}).
		GetJobs().GetJobs() {
		c.n.wait(pb.JobID(j.GetId()).String())
	}
}

func statuses(results []*pb.SessionResult) string {
	var out []string
	for _, r := range results {
		out = append(out, r.GetStatus())
	}
	return strings.Join(out, " ")
}

// interface: Endpoints/Coding sessions
func TestSessionEventsAreStoredOnce(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	ided := said("one", "the same words")
	ided.Event = "e-1"
	reworded := said("one", "other words under the same id")
	reworded.Event = "e-1"
	dated := said("one", "rename the parser")
	dated.AtMs = 1000
	first := c.say(said("one", "rename the parser"), said("two", "rename the parser"), said("one", "rename the parser"),
		ided, reworded, dated,
		&pb.SessionEvent{Invalid: "role: is required"})
	if got, want := statuses(first), "stored stored deduped stored deduped stored rejected"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if first[0].GetNode() == first[1].GetNode() || first[0].GetNode() != first[2].GetNode() ||
		first[3].GetNode() != first[4].GetNode() || first[6].GetError() == "" {
		t.Errorf("%v", first)
	}
	if s := c.sessionState(); s.GetIngestPending()+s.GetSessionNodes() != 4 {
		t.Errorf("%v", s)
	}
	c.settled()
	state := c.sessionState()
	settled := &pb.SessionState{SessionNodes: 4, TotalNodes: 4}
	if diff := prototest.Diff(settled, state, "ingest_pending"); diff != "" || state.GetLastIngestedMs() == 0 {
		t.Errorf("last ingested at %d (-want +got):\n%s", state.GetLastIngestedMs(), diff)
	}
	n.stop()
	n = startNode(t, n.disk)
	c.n = n
	if got := statuses(c.say(said("one", "rename the parser"), ided)); got != "deduped deduped" {
		t.Errorf("after a restart: %s", got)
	}
	if hits := c.search(&pb.Search{Query: "rename the parser", TopK: 10}); len(hits) < 3 {
		t.Errorf("%d hits", len(hits))
	}
	node := c.ok(&pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: first[1].GetNode()}}}).GetNode()
	if node.GetNode().GetKind() != subject.KindSession || node.GetNode().GetSource().GetType() != pb.SourceSession ||
		!strings.Contains(string(node.GetNode().GetMetadata()), `"sessionId":"two"`) {
		t.Errorf("%v", node)
	}
	c.put("ann")
	c.as("ann").refused(pb.CodeSubjectNotSupported, events(said("one", "x")))
}

// TestSessionMetadataIsKeptWhole: what the service adds changes nothing of what the
// client says, not even digits that no float64 holds.
func TestSessionMetadataIsKeptWhole(t *testing.T) {
	e := said("one", "rename the parser")
	e.Tool, e.Metadata = `a"b`, []byte(`{"id":9007199254740993,"mark":"<&>"}`)
	item, err := subject.ItemOfEvent(e, subject.EventKey(e))
	if want := `{"id":9007199254740993,"mark":"<&>","role":"user","sessionId":"one","tool":"a\"b"}`; err != nil ||
		string(item.GetMetadata()) != want {
		t.Errorf("%s, %v", item.GetMetadata(), err)
	}
}

// TestSessionEventsAtOnce: of many that say the same at the same time, one is
// stored.
func TestSessionEventsAtOnce(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const callers = 12
	answers := make(chan *pb.Reply, callers)
	for range callers {
		op := c.envelope(events(said("one", "only once"), said("one", "and this")))
		go func() {
			r, err := n.sys.Ask(t.Context(), op)
			if err != nil {
				t.Error(err)
			}
			answers <- r
		}()
	}
	stored := 0
	for range callers {
		for _, r := range (<-answers).GetLink().GetSessionResults().GetResults() {
			if r.GetStatus() == subject.EventStored {
				stored++
			}
		}
	}
	if stored != 2 {
		t.Errorf("%d stored", stored)
	}
	c.settled()
	if s := c.sessionState(); s.GetSessionNodes() != 2 || s.GetIngestPending() != 0 {
		t.Errorf("%v", s)
	}
}

// interface: Endpoints/Recall sessions
func TestSessionListAndDelete(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for i := range 5 {
		c.say(said(fmt.Sprintf("s-%d", i), fmt.Sprintf("walnut number%d", i)), said(fmt.Sprintf("s-%d", i),
			"shared hazelnut"))
		n.clock.Advance(1e9)
	}
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_AgentSignals{AgentSignals: &pb.AgentSignals{
		Session: "s-2",
		Signals: []*pb.AgentSignal{{Type: "loop", Detail: "secretdetail"}},
	}}}))
	c.settled()
	var ids []string
	page := &pb.Page{Size: 2}
	for first := true; first || page.Cursor != ""; first = false {
		list := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListSessions{ListSessions: &pb.ListSessions{Page: page}}})).GetLink().
			GetSessions()
		for _, s := range list.GetSessions() {
			ids = append(ids, s.GetId())
			if s.GetEvents() != 2 || s.GetId() == "s-2" && s.GetSignals() != 1 {
				t.Errorf("%v", s)
			}
		}
		if first {
			c.say(said("s-9", "newer than the first page"))
		}
		page.Cursor = list.GetNextCursor()
	}
	if want := []string{"s-4", "s-3", "s-2", "s-1", "s-0"}; !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
	remove := link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "s-2"}}})
	if r := c.ok(remove); r.GetStatus() != 204 {
		t.Errorf("%v", r)
	}
	c.refused(pb.CodeSessionNotFound, remove)
	if hits := c.search(&pb.Search{Query: "walnut number2", TopK: 50, Mode: "keyword"}); slices.ContainsFunc(hits,
		func(h *pb.Hit) bool { return strings.Contains(h.GetChunk(), "number2") }) {
		t.Errorf("a deleted session is found: %v", hits)
	}
	if hits := c.search(&pb.Search{Query: "hazelnut", TopK: 50, Mode: "keyword"}); len(hits) != 4 {
		t.Errorf("%d sessions still say it, want 4", len(hits))
	}
	if got := statuses(c.say(said("s-2", "walnut number2"))); got != subject.EventStored {
		t.Errorf("what was deleted is %s", got)
	}
	c.settled()
	hits := c.search(&pb.Search{Query: "walnut number2", TopK: 50, Mode: "keyword"})
	if !slices.ContainsFunc(hits, func(h *pb.Hit) bool { return h.GetChunk() == "walnut number2" }) {
		t.Error("what came again is not found")
	}
}

// What views show of a session leaves them with it, of all its texts.
func TestDeletedSessionLeavesViews(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.say(said("s", "walnut one"), said("s", "hazelnut two"), said("other", "peanut three"))
	c.settled()
	var nodes []string
	for _, word := range []string{"walnut", "hazelnut", "peanut"} {
		nodes = append(nodes, c.hits(keyword(word))[0])
	}
	c.derive(func(b *storage.Batch, space storage.Space) {
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewIdentity)),
			&pb.IdentityView{Basins: []*pb.Basin{{Label: "walnut, hazelnut, peanut", Keywords: []string{
				"walnut", "hazelnut",
				"peanut",
			}, Nodes: nodes}}})
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewTemporal)), &pb.TemporalView{Trends: []*pb.Trend{
			{Topic: "walnut", Nodes: nodes[:1]}, {Topic: "hazelnut", Nodes: nodes[1:2]}, {Topic: "peanut", Nodes: nodes[2:]},
		}})
	})
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "s"}}}))
	basin := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView().GetBasins()[0]
	if basin.GetLabel() != "peanut" || !slices.Equal(basin.GetKeywords(), []string{"peanut"}) ||
		!slices.Equal(basin.GetNodes(), nodes[2:]) {
		t.Errorf("%v", basin)
	}
	var topics []string
	for _, trend := range c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetTrends() {
		topics = append(topics, trend.GetTopic())
	}
	if !slices.Equal(topics, []string{"peanut"}) {
		t.Errorf("trends %q", topics)
	}
}

// TestSignalsAreRecalled: what failed and what a person corrected is found, and told
// as an insight; what says when it was is stored once.
func TestSignalsAreRecalled(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	signals := func(list ...*pb.AgentSignal) *pb.Envelope {
		return link(&pb.LinkOp{Op: &pb.LinkOp_AgentSignals{AgentSignals: &pb.AgentSignals{Session: "one", Signals: list}}})
	}
	c.say(said("one", "make the walnut parser faster"))
	failed := &pb.AgentSignal{
		Type: "test_failure", Severity: "error", Detail: "hazelnut assertion in the parser",
		AtMs: 1000,
	}
	for range 2 {
		if r := c.ok(signals(failed, &pb.AgentSignal{
			Type: "user_correction", Detail: "keep the almond cache",
			AtMs: 2000,
		})); r.GetStatus() != 202 || r.GetLink().GetSignals() != 2 {
			t.Fatalf("%v", r)
		}
	}
	for range 2 { // without a time: twice is twice
		c.ok(signals(&pb.AgentSignal{Type: "strange_thing"}))
	}
	c.settled()
	if s := c.sessionState(); s.GetIngestPending() != 0 || s.GetSessionNodes() != 5 {
		t.Errorf("%v", s)
	}
	hits := c.search(&pb.Search{Query: "hazelnut assertion", TopK: 1, Mode: "keyword"})
	if len(hits) != 1 || hits[0].GetChunk() != "Tests failed: hazelnut assertion in the parser" {
		t.Fatalf("%v", hits)
	}
	titles := func() (out []string) {
		for _, i := range c.ok(recallOp(&pb.Recall{Type: pb.RecallInsights})).GetMind().GetInsights().GetInsights() {
			if i.GetKind() != pb.InsightSignal || i.GetConfidence() != 1 || len(i.GetNodes()) != 1 {
				t.Errorf("%v", i)
			}
			out = append(out, i.GetTitle())
		}
		return out
	}
	strange := "The agent's client noticed: strange thing."
	want := []string{
		strange, strange, "The person corrected the agent: keep the almond cache",
		"Tests failed: hazelnut assertion in the parser",
	}
	if got := titles(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c.forget(hits[0].GetNode())
	if got := titles(); !slices.Equal(got, want[:3]) {
		t.Errorf("behind a forgotten signal: %q", got)
	}
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "one"}}}))
	if got := titles(); len(got) != 0 {
		t.Errorf("behind a deleted session: %q", got)
	}
	if s := c.sessionState(); s.GetTotalNodes() != 0 {
		t.Errorf("%v", s)
	}
}

// interface: Resources/Coding-session status
// interface: States/Session backfill
func TestSessionFinalize(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	finalize := link(&pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}})
	c.say(said("one", "before it"))
	s := c.ok(finalize).GetLink().GetSessionState()
	if !s.GetFinalizePending() || !s.GetBuilding() || s.GetAlreadyInFlight() {
		t.Errorf("%v", s)
	}
	c.settled()
	if s := c.sessionState(); s.GetFinalizePending() || s.GetBuilding() || s.GetSessionNodes() != 1 {
		t.Errorf("%v", s)
	}
	jobs := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobSessionFinalize}}}).GetJobs().
		GetJobs()
	if len(jobs) != 1 || jobs[0].GetStatus() != pb.JobSucceeded || jobs[0].GetDone() != 1 {
		t.Errorf("%v", jobs)
	}
	if s := c.ok(finalize).GetLink().GetSessionState(); s.GetAlreadyInFlight() {
		t.Error("one that has ended is still under way")
	}
	c.settled()
	// While one waits behind work that does not end, another is not begun.
	block := make(chan struct{})
	n2 := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { <-block }}
	})
	c2 := client{n: n2, key: n2.org(account.NewOrg{}).APIKey}
	c2.say(said("one", "slow"))
	first := c2.ok(finalize).GetLink().GetSessionState()
	second := c2.ok(finalize).GetLink().GetSessionState()
	if first.GetAlreadyInFlight() || !second.GetAlreadyInFlight() || !second.GetFinalizePending() {
		t.Errorf("%v, %v", first, second)
	}
	close(block)
	c2.settled()
}

// TestUnknownWorkIsGivenUp: what a newer version has left in the queue is tried as often
// as an item that fails, and does not hold up what waits behind it.
func TestUnknownWorkIsGivenUp(t *testing.T) {
	entered, block := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(block) })
	defer goOn()
	var once sync.Once
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { once.Do(func() { close(entered); <-block }) }}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	before := jobOf(c.ok(items(doc("a", "Bread rises."))))
	<-entered
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}}))
	behind := jobOf(c.ok(items(doc("b", "Figs ripen late."))))
	unknown := ""
	var queue storage.Range
	st, err := n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		t.Fatal(err)
	}
	c.derive(func(b *storage.Batch, space storage.Space) {
		queue = space.Prefix(storage.TableQueue)
		for rec, err := range storage.ScanRecords(st, queue, storage.ScanOptions{},
			func() *pb.QueueEntry { return &pb.QueueEntry{} }) {
			if err != nil {
				t.Error(err)
				return
			}
			if rec.Value.GetWork() != "" {
				unknown = pb.JobID(rec.Value.GetJob()).String()
				rec.Value.Work = "of a later version"
				b.Put(rec.Key, rec.Value)
			}
		}
	})
	st.Release()
	goOn()
	n.waitMoving(100*time.Millisecond, before, unknown, behind)
	for _, id := range []string{before, behind} {
		if got := itemStatus(c.job(id)); !slices.Equal(got, []string{pb.ItemCreated}) {
			t.Errorf("%v", got)
		}
	}
	job := c.job(unknown)
	const reason = "it is work of a kind that this version of the service does not know"
	want := &pb.Job{Status: pb.JobFailed, Attempts: tenant.MaxAttempts, ErrorDetail: reason}
	if diff := prototest.Diff(want, job); diff != "" || len(job.GetItems()) != 1 ||
		job.GetItems()[0].GetError() != reason {
		t.Errorf("%v (-want +got):\n%s", job, diff)
	}
	if s := c.sessionState(); s.GetFinalizePending() {
		t.Errorf("%v", s)
	}
	if left := c.count(queue); left != 0 {
		t.Errorf("%d entries are left in the queue", left)
	}
}

// TestFinalizationThatPanicsIsGivenUp: it is tried as often as an item that fails, with
// the same waits, and leaves nothing half-done; what waits behind it goes on, and a
// later one is none the worse.
func TestFinalizationThatPanicsIsGivenUp(t *testing.T) {
	for name, plain := range map[string]bool{"by itself": true, "with a cycle": false} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			var mended atomic.Bool
			n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
				cfg.WithoutDerivation = plain
				cfg.UpkeepBegan = func() {
					if tries.Add(1); !mended.Load() {
						panic("cannot finalize this")
					}
				}
			})
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			finalize := link(&pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}})
			c.say(said("one", "Bread rises."))
			c.ok(finalize)
			behind := jobOf(c.ok(items(doc("b", "Figs ripen late."))))
			id := pb.JobID(c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobSessionFinalize}}}).
				GetJobs().GetJobs()[0].GetId()).String()
			for k := range tenant.MaxAttempts {
				wait := tenant.MinBackOff << k
				n.waitFor(func() bool { return n.clock.WaitersIn(wait) > 0 && int(c.job(id).GetAttempts()) > k })
				if job := c.job(id); int(tries.Load()) != k+1 || job.GetStatus() != pb.JobRunning ||
					!c.sessionState().GetFinalizePending() {
					t.Fatalf("before the wait of %v it was tried %d times: %v", wait, tries.Load(), job)
				}
				n.clock.Advance(wait)
			}
			n.waitMoving(100*time.Millisecond, id, behind)
			job := c.job(id)
			const reason = "the coding sessions could not be finalized in 5 attempts"
			want := &pb.Job{Status: pb.JobFailed, Attempts: tenant.MaxAttempts, ErrorDetail: reason}
			if diff := prototest.Diff(want, job); diff != "" || tries.Load() != tenant.MaxAttempts ||
				len(job.GetItems()) != 1 || job.GetItems()[0].GetError() != reason {
				t.Errorf("after %d tries: %v (-want +got):\n%s", tries.Load(), job, diff)
			}
			if got := itemStatus(c.job(behind)); !slices.Equal(got, []string{pb.ItemCreated}) {
				t.Errorf("what waited behind it: %v", got)
			}
			if s := c.sessionState(); s.GetFinalizePending() || s.GetSessionNodes() != 1 {
				t.Errorf("%v", s)
			}
			mended.Store(true)
			c.ok(finalize)
			later := pb.JobID(c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobSessionFinalize}}}).
				GetJobs().GetJobs()[0].GetId()).String()
			if later == id {
				t.Fatal("the one that failed is still under way")
			}
			n.waitMoving(100*time.Millisecond, later)
			if job := c.job(later); job.GetStatus() != pb.JobSucceeded {
				t.Errorf("a later one: %v", job)
			}
		})
	}
}

// The texts of a session are neighbours, and forgotten in one commit: each of their edges
// is counted out once.
func TestADeletedSessionLeavesNoDegrees(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.say(said("s", "The walnut comes first."), said("s", "The hazelnut comes second."),
		said("s", "The peanut comes third."))
	c.settled()
	degrees := func(status string) (all []uint32) {
		for _, info := range c.ok(graphEnvelope(&pb.GraphOp{
			Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Status: status}},
		})).GetGraph().GetNodes().GetNodes() {
			all = append(all, info.GetNode().GetDegree())
		}
		return all
	}
	if got := degrees(pb.StatusLive); !slices.ContainsFunc(got, func(d uint32) bool { return d > 0 }) {
		t.Fatalf("degrees %d: the test would prove nothing", got)
	}
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "s"}}}))
	if got := degrees(pb.StatusTombstoned); !slices.Equal(got, []uint32{0, 0, 0}) {
		t.Errorf("degrees %d behind the deletion", got)
	}
}
