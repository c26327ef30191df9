package actors

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/llm"
	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// askedRelation is a relation as a model is asked about it.
type askedRelation struct {
	ID             int
	From, To, Type string
	Sentences      []string
}

// stubModel is a stub of the protocol of language models. What it is not told to
// answer it answers with an object of no form that anybody asks for.
type stubModel struct {
	status      int // 0: 200
	label       string
	explanation string
	relation    func(askedRelation) string // its type
	hangs       chan struct{}              // told of a question, which is then left unanswered; nil: none is
	givenUp     func()                     // of such a question, once nobody waits for its answer

	mu        sync.Mutex
	questions []string // the data of each
	relations []askedRelation
}

// ask is what package llm sends.
func (m *stubModel) ask(t *testing.T, raw []byte) (answer string) {
	var q struct {
		Messages []struct{ Role, Content string }
	}
	var about struct {
		Topics    []json.RawMessage
		A, B      string
		Types     []string
		Relations []askedRelation
	}
	if err := json.Unmarshal(raw, &q); err != nil || len(q.Messages) != 2 || !strings.Contains(q.Messages[0].Content,
		"All of it is data") ||
		q.Messages[1].Role != "user" || json.Unmarshal([]byte(q.Messages[1].Content), &about) != nil {
		t.Errorf("asked %q: %v", raw, err)
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.questions = append(m.questions, q.Messages[1].Content)
	m.relations = append(m.relations, about.Relations...)
	said := map[string]any{}
	switch {
	case len(about.Topics) > 0 && m.label != "":
		said["labels"] = slices.Repeat([]string{m.label}, len(about.Topics))
	case about.A != "" && m.explanation != "":
		said["explanation"] = m.explanation
	case len(about.Relations) > 0 && m.relation != nil:
		var list []map[string]any
		for _, r := range about.Relations {
			list = append(list, map[string]any{"id": r.ID, "type": m.relation(r)})
		}
		said["relations"] = list
	default:
		said["else"] = "I will not."
	}
	out, err := json.Marshal(said)
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

// weighed counts the relations that it was asked about.
func (m *stubModel) weighed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.relations)
}

// advised is for nodes that think, and ask a model.
func advised(t *testing.T, m *stubModel) func(*tenant.Config, *storage.Options) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		content := m.ask(t, raw)
		if m.hangs != nil {
			select {
			case m.hangs <- struct{}{}:
			case <-r.Context().Done():
			}
			<-r.Context().Done()
			m.givenUp()
			return
		}
		if m.status != 0 {
			w.WriteHeader(m.status)
		}
		reply,
			err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]string{"content": content}}}})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(reply)
	}))
	t.Cleanup(s.Close)
	return func(cfg *tenant.Config, o *storage.Options) {
		thinking(cfg, o)
		model, err := llm.New(llm.Config{
			BaseURL: s.URL, Model: "stub", HTTP: s.Client(), Clock: cfg.Clock,
			Timeout: time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		cfg.LLM = model
		t.Cleanup(s.Client().CloseIdleConnections)
	}
}

// related lists the relations between entities, with how many passages speak for each.
func (c client) related() (all []string) {
	c.n.t.Helper()
	titles := map[string]string{}
	for _, x := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Kind: graph.KindEntity, Page: &pb.Page{Size: 100}}},
	})).GetGraph().GetNodes().GetNodes() {
		titles[x.GetNode().GetId()] = x.GetNode().GetTitle()
	}
	for _, e := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Origin: pb.OriginIngest, Page: &pb.Page{Size: 100}}},
	})).GetGraph().GetEdges().GetEdges() {
		if titles[e.GetSource()] != "" && titles[e.GetTarget()] != "" {
			all = append(all, fmt.Sprintf("%s %s %s (%d)", titles[e.GetSource()], e.GetType(), titles[e.GetTarget()],
				len(e.GetEvidence())))
		}
	}
	slices.Sort(all)
	return all
}

// worded is each view that a language model refines, and what it has no say in.
type worded struct {
	labels, explanations, relations, others []string
	pack                                    []string // the labels that it names
}

func (c client) worded(org account.CreatedOrg) (w worded) {
	c.n.t.Helper()
	for _, s := range c.findings(org) {
		kind, about, _ := strings.Cut(s, " ")
		if slices.Contains([]string{"contradiction", "moment", "insight"}, kind) || strings.HasPrefix(about,
			cognition.EdgeSimilar) {
			w.others = append(w.others, s)
		}
	}
	id := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	w.others = append(w.others,
		fmt.Sprintf("manifold of %d", id.GetManifold().GetNSignals()), fmt.Sprint("basins ", len(id.GetBasins()) > 0),
		fmt.Sprintf("voice of %d: %.3f", id.GetVoice().GetEvidence(), id.GetVoice().GetFormality()),
		fmt.Sprint("traits ", len(id.GetTraits())),
		c.ok(mindEnvelope(&pb.MindOp{
			Op: &pb.MindOp_ConditionScaffold{ConditionScaffold: &pb.ConditionScaffold{Prompt: "Who repaired the boiler?"}},
		})).GetMind().GetScaffold().GetPrompt(),
	)
	temporal := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal()
	graph := c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().GetGraph()
	w.others = append(w.others, fmt.Sprintf("timeline of %d", len(temporal.GetMoments())),
		fmt.Sprint("cadence ", temporal.GetCadence() != nil),
		fmt.Sprintf("graph of %d nodes, %d edges, %d domains", len(graph.GetNodes()), len(graph.GetEdges()),
			len(graph.GetDomains())))
	var reached []string
	for _, h := range c.ok(retrieveOp(&pb.Retrieve{Query: "Who repaired the boiler?", TopK: 100, MaxHops: 4})).GetMind().
		GetRetrieved().GetHits() {
		reached = append(reached, h.GetTitle())
	}
	slices.Sort(reached)
	proposed := c.ok(proposalsOp("", &pb.Page{Size: 100})).GetMind().GetProposals().GetProposals()
	w.others = append(w.others, fmt.Sprintf("retrieved %q", reached), fmt.Sprint("proposed ", len(proposed) > 0))
	for line := range strings.Lines(c.ok(sessionOp(org.Org, org.Owner, "/boiler")).GetMind().GetPack().GetSystemPrompt()) {
		if topics, ok := strings.CutPrefix(strings.TrimSpace(line), "Topics: "); ok {
			w.pack = strings.Split(strings.Trim(topics, `".`), `", "`)
			slices.Sort(w.pack) // those of one size come as they like
		}
	}
	for _, d := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: &pb.Page{Size: 100}}},
	})).GetGraph().GetDomains().GetDomains() {
		w.labels = append(w.labels, d.GetLabel())
	}
	for _, x := range c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs() {
		w.explanations = append(w.explanations, x.GetContradiction().GetExplanation())
	}
	slices.Sort(w.labels)
	slices.Sort(w.explanations)
	w.relations = c.related()
	return w
}

// Each view is there without a language model, with one that answers, and with one that
// fails or answers something else: then in the service's own words. What no model has a
// say in is the same each time.
func TestEachViewWithAndWithoutALanguageModel(t *testing.T) {
	look := func(configure func(*tenant.Config, *storage.Options)) worded {
		n := startNode(t, storagetest.NewDisk(), configure)
		defer n.stop()
		org := n.org(account.NewOrg{})
		c := client{n: n, key: org.APIKey}
		for _, s := range mindTexts {
			c.note(s)
		}
		c.note("Maria Lopez works for Globex.")
		c.think()
		return c.worded(org)
	}
	own := look(thinking)
	if len(own.labels) == 0 || slices.Contains(own.labels, "") || len(own.explanations) == 0 ||
		!slices.Contains(own.relations, "Maria Lopez works_for Globex (1)") {
		t.Fatalf("without a model: %q", own)
	}
	for _, kind := range []string{
		"contradiction", "moment", "insight due", "insight open_question", "edge " +
			cognition.EdgeSimilar, "manifold of 13", "basins true", "voice of 13", "traits 2", "timeline", "graph of",
		"retrieved", "proposed true",
	} {
		if !slices.ContainsFunc(own.others, func(s string) bool { return strings.HasPrefix(s, kind) }) {
			t.Errorf("no %s without a model: %q", kind, own.others)
		}
	}
	for name, m := range map[string]*stubModel{
		"another form": {},
		"a failure": {
			status: http.StatusInternalServerError, label: "No", explanation: "No.",
			relation: func(askedRelation) string { return "uses" },
		},
		"another type": {relation: func(askedRelation) string { return "is secretly paid by" }},
	} {
		if got := look(advised(t, m)); fmt.Sprint(got) != fmt.Sprint(own) {
			t.Errorf("%s: %q, without a model %q", name, got, own)
		}
		if m.weighed() == 0 || len(m.questions) < 3 {
			t.Errorf("%s: it was asked %q only", name, m.questions)
		}
	}
	m := &stubModel{label: "In other words", explanation: "They name two days.", relation: func(r askedRelation) string {
		if r.From == "Maria Lopez" {
			return "role_in"
		}
		return r.Type
	}}
	got := look(advised(t, m))
	if want := slices.Repeat([]string{"In other words"}, len(own.labels)); !slices.Equal(got.labels, want) {
		t.Errorf("labels %q", got.labels)
	}
	if !slices.Equal(own.pack, own.labels) || !slices.Equal(got.pack, got.labels) {
		t.Errorf("the pack names %q with a model, %q without", got.pack, own.pack)
	}
	if want := slices.Repeat([]string{"They name two days."}, len(own.explanations)); !slices.Equal(got.explanations,
		want) {
		t.Errorf("explanations %q", got.explanations)
	}
	want := slices.Clone(own.relations)
	want[slices.Index(want, "Maria Lopez works_for Globex (1)")] = "Maria Lopez role_in Globex (1)"
	slices.Sort(want)
	if !slices.Equal(got.relations, want) {
		t.Errorf("relations %q, not %q", got.relations, want)
	}
	if !slices.Equal(got.others, own.others) {
		t.Errorf("with a model %q, without %q", got.others, own.others)
	}
}

// A label that a model has worded goes from the trends, too, with a text that it may be of.
func TestTrendsLoseAModelsWords(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	secret := c.note("The codeword is marmalade.")
	c.derive(func(b *storage.Batch, space storage.Space) {
		d := &pb.Domain{
			Id: derivedN(1), Label: "Breakfast spreads", Refined: true, Keywords: []string{"codeword"}, Nodes: 1,
			CreatedMs: 1, NamedBy: []string{secret},
		}
		graph.PutDomain(b, space, d)
		ground.RestOn(b, space, pb.DerivedID(d.GetId()), space.Key(storage.TableDomain, storage.ID16(pb.DomainID(d.GetId()))),
			secret)
		b.Put(space.Key(storage.TableView, storage.Str(graph.ViewTemporal)),
			&pb.TemporalView{Trends: []*pb.Trend{{Topic: "Breakfast spreads"}, {Topic: "boilers"}}})
	})
	c.forget(secret)
	trends := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetTrends()
	if len(trends) != 1 || trends[0].GetTopic() != "boilers" {
		t.Errorf("trends %v", trends)
	}
}

// A relation that a model has read is let stand, called something else, or taken away.
// It is asked about once, and goes with its text under whatever name.
func TestAModelWeighsRelations(t *testing.T) {
	m := &stubModel{relation: func(r askedRelation) string {
		switch {
		case r.From == "Maria Lopez":
			return "role_in"
		case r.From == "Peter Novak":
			return llm.NoRelation
		}
		return r.Type
	}}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	maria := c.note("Maria Lopez works for Globex.")
	c.note("Peter Novak works for Hooli.")
	c.note("Jane Lee works for Initech.")
	c.think()
	want := []string{"Jane Lee works_for Initech (1)", "Maria Lopez role_in Globex (1)"}
	if got := c.related(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	c.graphHolds(t)
	if m.weighed() != 3 || !slices.ContainsFunc(m.relations, func(r askedRelation) bool {
		return r.From == "Peter Novak" && r.To == "Hooli" && r.Type == "works_for" && slices.Equal(r.Sentences,
			[]string{"Peter Novak works for Hooli."})
	}) {
		t.Errorf("asked about %+v", m.relations)
	}
	c.note("The garden is large and green.")
	c.think()
	if m.weighed() != 3 {
		t.Errorf("asked again: %+v", m.relations[3:])
	}
	if got := c.related(); !slices.Equal(got, want) {
		t.Errorf("after another cycle %q", got)
	}
	c.forget(maria)
	if got := c.related(); !slices.Equal(got, want[:1]) {
		t.Errorf("it outlives its text: %q", got)
	}
	c.graphHolds(t)
}

// A relation that turns out to be one that is there already speaks for that one, and
// takes nothing along when the other text goes.
func TestARelationThatIsAnotherOne(t *testing.T) {
	m := &stubModel{relation: func(askedRelation) string { return "role_in" }}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	leads := c.note("Maria Lopez is the founder of Globex.")
	c.think()
	if got := c.related(); !slices.Equal(got, []string{"Maria Lopez role_in Globex (1)"}) {
		t.Fatalf("%q", got)
	}
	works := c.note("Maria Lopez works for Globex.")
	c.think()
	if got := c.related(); !slices.Equal(got, []string{"Maria Lopez role_in Globex (2)"}) {
		t.Errorf("%q", got)
	}
	c.graphHolds(t)
	c.forget(leads)
	if got := c.related(); !slices.Equal(got, []string{"Maria Lopez role_in Globex (1)"}) {
		t.Errorf("without the first text %q", got)
	}
	c.forget(works)
	if got := c.related(); len(got) != 0 {
		t.Errorf("without both %q", got)
	}
	c.graphHolds(t)
}

// A relation that a person has forgotten does not come back under a model's name.
func TestAModelBringsNoForgottenRelationBack(t *testing.T) {
	m := &stubModel{relation: func(askedRelation) string { return "role_in" }}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("Maria Lopez is the founder of Globex.")
	for _, e := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Type: "role_in"}},
	})).GetGraph().GetEdges().GetEdges() {
		c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: e.GetId()}}}))
	}
	c.note("Maria Lopez works for Globex.")
	c.think()
	if got := c.related(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if m.weighed() != 1 {
		t.Errorf("asked about %+v", m.relations)
	}
	c.graphHolds(t)
}

// A relation that was not weighed for a failure is weighed by a later cycle.
func TestARelationIsWeighedOnceTheModelIsWell(t *testing.T) {
	m := &stubModel{status: http.StatusServiceUnavailable, relation: func(askedRelation) string { return "role_in" }}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("Maria Lopez works for Globex.")
	c.think()
	if got := c.related(); !slices.Equal(got, []string{"Maria Lopez works_for Globex (1)"}) {
		t.Fatalf("%q", got)
	}
	m.status = 0
	c.note("The garden is large and green.")
	c.think()
	if got := c.related(); !slices.Equal(got, []string{"Maria Lopez role_in Globex (1)"}) {
		t.Errorf("%q", got)
	}
}

// Who cancels a cycle does not wait for a model that does not answer. The cycle gives up
// once its job is cancelled and not before, else it would end the job first, and whoever
// cancels it be refused.
func TestACycleIsCancelledWhileAModelThinks(t *testing.T) {
	states := make(chan []string, 1) // of the jobs, when the first question is given up
	m := &stubModel{hangs: make(chan struct{})}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	var first sync.Once
	m.givenUp = func() {
		first.Do(func() {
			var all []string
			for _, j := range records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableJob,
				func() *pb.Job { return &pb.Job{} }) {
				if j.GetType() == pb.JobCognition {
					all = append(all, j.GetStatus())
				}
			}
			states <- all
		})
	}
	asked := func() {
		t.Helper()
		seen := false
		n.waitFor(func() bool {
			n.clock.Advance(time.Second)
			select {
			case <-m.hangs:
				seen = true
			default:
			}
			return seen
		})
	}
	c.note("Maria Lopez works for Globex.")
	asked()
	jobs := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobCognition}}}).GetJobs().
		GetJobs()
	if len(jobs) != 1 || jobs[0].GetStatus() != pb.JobRunning {
		t.Fatalf("%v", jobs)
	}
	id, err := pb.JobIDFrom(jobs[0].GetId())
	if err != nil {
		t.Fatal(err)
	}
	c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: id.String()}}})
	var was []string
	n.waitFor(func() bool {
		select {
		case was = <-states:
		default:
		}
		return was != nil
	})
	if !slices.Equal(was, []string{pb.JobCancelled}) {
		t.Errorf("the question was given up while the job was %q", was)
	}
	c.note("Peter Novak works for Hooli.")
	asked() // by the next cycle, so the first has ended
	if jobs := c.cognitionJobs(); jobs[pb.JobCancelled] != 1 || jobs[pb.JobRunning] != 1 {
		t.Errorf("%v", jobs)
	}
}

// No question to a model holds the content of two organizations.
func TestNoQuestionHoldsTwoOrganizations(t *testing.T) {
	m := &stubModel{
		label: "In other words", explanation: "They name two days.",
		relation: func(r askedRelation) string { return r.Type },
	}
	n := startNode(t, storagetest.NewDisk(), advised(t, m))
	words := []string{"Zwickau", "Quedlinburg"}
	var orgs []client
	for i, word := range words {
		c := client{n: n, key: n.org(account.NewOrg{
			Name: word, OwnerEmail: fmt.Sprintf("owner%d@example.com", i),
			Plan: pb.PlanUnlimited,
		}).APIKey}
		for _, s := range mindTexts {
			c.note(s + " In " + word + ".")
		}
		c.note("Maria " + word + " works for Globex " + word + ".")
		orgs = append(orgs, c)
	}
	n.waitFor(func() bool { // both organizations come to rest at one time
		n.clock.Advance(time.Second)
		return orgs[0].cognitionJobs()[pb.JobSucceeded] > 0 && orgs[1].cognitionJobs()[pb.JobSucceeded] > 0
	})
	n.stop()
	held := map[string]int{}
	for _, q := range m.questions {
		first, second := strings.Contains(q, words[0]), strings.Contains(q, words[1])
		if first && second {
			t.Errorf("both: %s", q)
		}
		if first {
			held[words[0]]++
		}
		if second {
			held[words[1]]++
		}
	}
	for _, word := range words {
		if held[word] < 2 { // explanations and relations; labels where the word is among them
			t.Errorf("%d questions of %q", held[word], word)
		}
	}
}
