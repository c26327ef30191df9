package orgmem

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// service is the built binary, started for a test.
type service struct {
	BaseURL     string `json:"baseUrl"`
	OperatorURL string `json:"operatorUrl"`
	OrgID       string `json:"orgId"`
	UserID      string `json:"userId"`
	APIKey      string `json:"apiKey"`

	data string
	env  []string
	cmd  *exec.Cmd
}

// start starts the service on a new folder, without rate limits.
func start(t *testing.T, env ...string) *service {
	t.Helper()
	s := &service{data: filepath.Join(t.TempDir(), "data"), env: env}
	s.run(t, "127.0.0.1:0")
	t.Cleanup(func() { s.end(os.Kill) })
	token, err := os.ReadFile(filepath.Join(s.data, "operator.token"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, s.OperatorURL+"/operator/orgs/"+s.OrgID+"/plan", strings.NewReader(`{"plan":"unlimited"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", mediaJSON)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Fatalf("the plan: %s", answer.Status)
	}
	http.DefaultClient.CloseIdleConnections()
	return s
}

func (s *service) run(t *testing.T, listen string) {
	t.Helper()
	binary := os.Getenv("ORGMEM_TEST_BINARY")
	if binary == "" {
		binary = filepath.Join("..", "..", "bin", "orgmem")
	}
	s.cmd = exec.Command(binary, "serve", "--json", "--quickstart", "--data", s.data, "--listen", listen, "--operator-listen", "127.0.0.1:0")
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "ORGMEM_") {
			s.cmd.Env = append(s.cmd.Env, pair)
		}
	}
	s.cmd.Env = append(s.cmd.Env, s.env...)
	var log bytes.Buffer
	s.cmd.Stderr = &log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("%v: build the binary first (make build), or name it in ORGMEM_TEST_BINARY", err)
	}
	key := s.APIKey
	if err := json.NewDecoder(out).Decode(s); err != nil {
		s.end(os.Kill)
		t.Fatalf("the service did not start: %v\n%s", err, log.Bytes())
	}
	if key != "" {
		s.APIKey = key // it is told on an empty folder alone
	}
}

// end ends the service: os.Kill at once, os.Interrupt in order.
func (s *service) end(how os.Signal) {
	if s.cmd != nil {
		s.cmd.Process.Signal(how)
		s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *service) client(t *testing.T, cfg Config) *Client {
	t.Helper()
	cfg.APIKey, cfg.BaseURL = s.APIKey, s.BaseURL
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The first block of the README is a program. It runs as it stands, in a module of its
// own that has this one as its README says.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := func(language string) []string {
		var found []string
		for _, part := range strings.Split(string(readme), "```"+language+"\n")[1:] {
			block, _, _ := strings.Cut(part, "```")
			found = append(found, block)
		}
		return found
	}
	if _, first, _ := strings.Cut(string(readme), "```"); !strings.HasPrefix(first, "go\npackage main") {
		t.Fatal("the first block is no program")
	}
	install := blocks("bash")[0]
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	install = strings.ReplaceAll(install, "/where/it/lies/sdk/go", here)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(blocks("go")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t)
	shell := func(line string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), EnvBaseURL+"="+s.BaseURL, EnvAPIKey+"="+s.APIKey, "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	shell("go mod init example")
	shell(install)
	if out := shell("go run ."); !strings.Contains(out, "The boiler was serviced in May.") {
		t.Errorf("it prints %q", out)
	}
}

// Each verb once, in a story that a user could live through.
func TestEveryVerb(t *testing.T) {
	receiver := newReceiver(t)
	s := start(t, receiver.env...)
	c, ctx := s.client(t, Config{}), t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}

	me, err := c.Me(ctx)
	must("me", err)
	if me.User.ID != s.UserID || !slices.Contains(me.Scopes, string(ScopeAdmin)) || me.Plan != "unlimited" {
		t.Errorf("%+v", me)
	}
	// Webhooks first: what follows is delivered.
	webhook, err := c.Webhooks.Create(ctx, NewWebhook{URL: receiver.url, EventTypes: []EventType{EventTypeJobCompleted}})
	must("create webhook", err)
	receiver.secret.Store(webhook.Secret)

	// Memory.
	job, err := c.AddAndWait(ctx,
		Item{Content: "The boiler was serviced in May.", ExternalID: "boiler", Title: "Boiler", Metadata: map[string]any{"house": 7.0}},
		Item{Content: "The roof was painted red.", ExternalID: "roof", OccurredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), DerivedFrom: []string{"boiler"}})
	must("add", err)
	boiler, roof := job.Result.Items[0].NodeID, job.Result.Items[1].NodeID
	found, err := c.Search(ctx, SearchRequest{Query: "who looked after the heating", TopK: 1, Filters: SearchFilters{Metadata: map[string]any{"house": 7}}})
	must("search", err)
	if len(found.Results) != 1 || found.Results[0].NodeID != boiler || found.Results[0].ExternalID != "boiler" {
		t.Errorf("%+v", found.Results)
	}
	retrieved, err := c.Retrieve(ctx, RetrieveRequest{Query: "boiler", MaxHops: 1})
	must("retrieve", err)
	if len(retrieved.Results) == 0 {
		t.Error("nothing was retrieved")
	}
	answer, err := c.Answer(ctx, AnswerRequest{Query: "When was the boiler serviced?", MaxWords: 50})
	must("answer", err)
	if !strings.Contains(answer.Answer, "May") || len(answer.Citations) == 0 {
		t.Errorf("%+v", answer)
	}
	node, err := c.Get(ctx, boiler)
	must("get", err)
	updated, err := c.Update(ctx, boiler, NodePatch{Title: "The boiler", IfMatch: node.ETag})
	must("update", err)
	if updated.Title != "The boiler" || updated.ETag == node.ETag || node.Metadata["house"] != 7.0 {
		t.Errorf("%+v", updated)
	}
	_, err = c.Update(ctx, boiler, NodePatch{Title: "Mine", IfMatch: node.ETag})
	if !errors.Is(err, ErrConflict) {
		t.Errorf("an update of what has changed: %v", err)
	}
	if found, err := c.Find(ctx, "boiler"); err != nil || found == nil || found.ID != boiler || found.Content == "" {
		t.Errorf("find: %+v %v", found, err)
	}
	if found, err := c.Find(ctx, "nobody"); err != nil || found != nil {
		t.Errorf("find: %+v %v", found, err)
	}
	ids := collect(t, c.List(NodeFilter{Kind: NodeKindDocument, PageSize: 1}), func(n Node) string { return n.ID })
	if !slices.Equal(ids, []string{roof, boiler}) && !slices.Equal(ids, []string{boiler, roof}) {
		t.Errorf("nodes %v", ids)
	}
	actions := collect(t, c.History(boiler), func(h HistoryEntry) string { return string(h.Action) })
	if !slices.Equal(actions, []string{"updated", "created"}) {
		t.Errorf("history %v", actions)
	}
	superseded, err := c.Supersede(ctx, roof, "The roof was painted blue.", "it was repainted")
	must("supersede", err)
	if superseded.OldNodeID != roof || superseded.NewNodeID == roof {
		t.Errorf("%+v", superseded)
	}
	if forgotten, err := c.Delete(ctx, superseded.NewNodeID); err != nil || forgotten.Status != NodeStatusTombstoned {
		t.Errorf("delete: %+v %v", forgotten, err)
	}
	if back, err := c.Undelete(ctx, superseded.NewNodeID); err != nil || back.Status != NodeStatusLive {
		t.Errorf("undelete: %+v %v", back, err)
	}
	_, err = c.Elsewhere(ctx, boiler)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrBadRequest) {
		t.Errorf("elsewhere: %v", err)
	}

	// Graph.
	edge, err := c.Edges.Assert(ctx, NewEdge{Source: boiler, Target: superseded.NewNodeID, Type: "under", Weight: Ptr(0.25), Note: Ptr("in the cellar")})
	must("assert", err)
	if edge.Weight != 0.25 || edge.Origin != EdgeOriginAsserted {
		t.Errorf("%+v", edge)
	}
	same, err := c.Edges.Get(ctx, edge.ID)
	must("edge", err)
	if same.Note != "in the cellar" {
		t.Errorf("%+v", same)
	}
	if got := collect(t, c.Edges.List(EdgeFilter{Origin: EdgeOriginAsserted}), func(e Edge) string { return e.ID }); !slices.Equal(got, []string{edge.ID}) {
		t.Errorf("edges %v", got)
	}
	_, err = c.Edges.Delete(ctx, edge.ID)
	must("forget edge", err)
	collect(t, c.Domains.List(DomainFilter{}), func(d Domain) string { return d.ID })
	_, err = c.Domains.Get(ctx, "00000000-0000-4000-8000-000000000000")
	code(t, err, "domain_not_found")

	// What is derived, which may be nothing yet.
	_, err = c.Recall.Plot(ctx)
	must("plot", err)
	_, err = c.Recall.Identity(ctx)
	must("identity", err)
	graph, err := c.Recall.Graph(ctx, time.Now())
	must("graph", err)
	_, err = c.Recall.Insights(ctx, time.Time{})
	must("insights", err)
	_, err = c.Recall.Temporal(ctx, time.Time{})
	must("temporal", err)
	collect(t, c.Recall.AllInsights(time.Time{}), func(i Insight) string { return i.ID })
	collect(t, c.Recall.AllDated(time.Now()), func(d Dated) string { return d.ID })
	recalled, err := c.Recall.Node(ctx, boiler)
	must("recall node", err)
	if recalled.ID != boiler || len(recalled.Chunks) != 1 || graph == nil {
		t.Errorf("%+v", recalled)
	}
	matches := collect(t, c.Recall.Search(RecallQuery{Query: "boiler"}), func(m NodeMatch) string { return m.ID })
	if !slices.Contains(matches, boiler) {
		t.Errorf("matches %v", matches)
	}
	collect(t, c.Contradictions.List(ContradictionStatusOpen), func(c Contradiction) string { return c.ID })
	collect(t, c.Proposals.List(ProposalStatusOpen), func(p Proposal) string { return p.ID })
	_, err = c.Proposals.Accept(ctx, "00000000-0000-4000-8000-000000000000")
	code(t, err, "proposal_not_found")
	_, err = c.Proposals.Reject(ctx, "00000000-0000-4000-8000-000000000000")
	code(t, err, "proposal_not_found")
	pack, err := c.Condition.Session(ctx, ConditionRequest{CWD: "/src", OrgID: s.OrgID, UserID: s.UserID})
	must("condition", err)
	scaffold, err := c.Condition.Scaffold(ctx, ScaffoldRequest{Prompt: "Write to the plumber about the boiler."})
	must("scaffold", err)
	if pack.SystemPrompt == "" || !strings.Contains(scaffold.Prompt, "plumber") {
		t.Errorf("%+v %+v", pack, scaffold)
	}

	// Subjects.
	const odd = "ann/ä %"
	_, err = c.Subject(odd).Search(ctx, SearchRequest{Query: "x"})
	code(t, err, "subject_not_provisioned")
	_, err = c.Subjects.Put(ctx, odd)
	must("put subject", err)
	subject, err := c.Subjects.Get(ctx, odd)
	must("get subject", err)
	if got := collect(t, c.Subjects.List(), func(s Subject) string { return s.ID }); subject.ID != odd || !slices.Equal(got, []string{odd}) {
		t.Errorf("%q %v", subject.ID, got)
	}
	ann := c.Subject(odd)
	_, err = ann.AddAndWait(ctx, Item{Content: "Ann's cat is called Mia."})
	must("add as ann", err)
	if hits, err := ann.Search(ctx, SearchRequest{Query: "cat"}); err != nil || len(hits.Results) != 1 || hits.Results[0].Subject != odd {
		t.Errorf("%+v %v", hits, err)
	}
	if hits, err := c.Search(ctx, SearchRequest{Query: "cat", Mode: SearchModeKeyword}); err != nil || len(hits.Results) != 0 {
		t.Errorf("ann's memory is everybody's: %+v %v", hits, err)
	}
	_, err = ann.Brain.Info(ctx)
	code(t, err, "subject_not_supported")
	preview, err := c.Purge.Preview(ctx, PurgeScopeSubject, odd)
	must("preview", err)
	report, err := c.Purge.Confirm(ctx, preview)
	must("purge", err)
	if !preview.DryRun || report.DryRun || report.TotalRows != preview.TotalRows || report.TotalRows == 0 || report.PurgedAt.IsZero() {
		t.Errorf("%+v then %+v", preview, report)
	}
	_, err = c.Purge.Confirm(ctx, preview)
	code(t, err, "confirm_token_invalid")
	erased, err := c.Subjects.Erase(ctx, odd)
	must("erase", err)
	_, err = c.Jobs.Wait(ctx, erased.JobID)
	must("erased", err)

	// Keys.
	key, err := c.Keys.Create(ctx, "reader", ScopeRead)
	must("create key", err)
	keys, err := c.Keys.List(ctx)
	must("keys", err)
	if !slices.ContainsFunc(keys, func(k APIKey) bool { return k.ID == key.ID && k.Label == "reader" && k.Status == KeyStatusActive }) {
		t.Errorf("%+v", keys)
	}
	reader, err := New(Config{APIKey: key.APIKey, BaseURL: s.BaseURL})
	must("reader", err)
	_, err = reader.Add(ctx, Item{Content: "x"})
	code(t, err, "permission_denied")
	must("revoke", c.Keys.Revoke(ctx, key.ID))
	_, err = reader.Me(ctx)
	code(t, err, "authentication_error")
	says(t, err, "Config.APIKey")
	sandbox, err := c.Sandbox.Keys.Create(ctx, "try", time.Hour)
	must("sandbox key", err)
	if got := collect(t, c.Sandbox.Keys.List(), func(k SandboxKey) string { return k.Label }); !slices.Equal(got, []string{"try"}) {
		t.Errorf("%v", got)
	}
	must("revoke sandbox key", c.Sandbox.Keys.Revoke(ctx, sandbox.ID))
	_, err = c.Sandbox.Reset(ctx)
	must("reset", err)

	// Jobs.
	jobs := collect(t, c.Jobs.List(JobFilter{Type: JobTypeIngestBatch}), func(j Job) string { return j.ID })
	if !slices.Equal(jobs, []string{job.ID}) {
		t.Errorf("%v", jobs)
	}
	_, err = c.Jobs.Cancel(ctx, job.ID)
	code(t, err, "job_not_cancellable")
	failed, err := c.AddAndWait(ctx, Item{Content: "It rests on nothing.", DerivedFrom: []string{"nobody"}})
	var broken *JobFailedError
	if !errors.As(err, &broken) || failed.Status != JobStatusFailed || failed.Result.Items[0].Status != ItemStatusFailed {
		t.Errorf("%+v %v", failed, err)
	}
	says(t, err, "derivedFrom[0]")

	// Files.
	accepted, err := c.Imports.Upload(ctx, Upload{Name: "garden.txt", File: strings.NewReader("The apple trees were cut in February."), Title: "Garden"})
	must("upload", err)
	_, err = c.Jobs.Wait(ctx, accepted.JobID)
	must("import", err)
	accepted, err = c.Imports.Transcript(ctx, Upload{Name: "talk.txt", File: strings.NewReader("Ann: Who has the key?\nBob: The neighbour.\n")})
	must("transcript", err)
	_, err = c.Jobs.Wait(ctx, accepted.JobID)
	must("import transcript", err)
	imports, err := c.Imports.List(ctx)
	must("imports", err)
	if len(imports) != 2 || imports[1].Filename != "garden.txt" || imports[1].Status != JobStatusSucceeded {
		t.Errorf("%+v", imports)
	}
	export, err := c.Exports.Create(ctx, MemoryScopeUser)
	must("export", err)
	export, err = c.Exports.Wait(ctx, export.ExportID)
	must("export", err)
	var document bytes.Buffer
	n, err := c.Exports.DownloadTo(ctx, export.ExportID, &document)
	must("download", err)
	if n != export.Bytes || !json.Valid(document.Bytes()) || !strings.Contains(document.String(), "apple trees") {
		t.Errorf("%d of %d bytes", n, export.Bytes)
	}
	if got := collect(t, c.Exports.List(), func(e Export) string { return e.ExportID }); !slices.Equal(got, []string{export.ExportID}) {
		t.Errorf("%v", got)
	}

	// Sessions.
	one, err := c.Sessions.Push(ctx, SessionEvent{SessionID: "s", Role: RoleUser, Text: "The test of the parser fails."})
	must("push", err)
	many, err := c.Sessions.Push(ctx,
		SessionEvent{SessionID: "s", Role: RoleAssistant, Text: "It was a comma.", EventID: "e2"},
		SessionEvent{SessionID: "s", Role: RoleAssistant, Text: "It was a comma.", EventID: "e2"})
	must("push", err)
	if one[0].Status != SessionStatusStored || many[0].Status != SessionStatusStored || many[1].Status != SessionStatusDeduped {
		t.Errorf("%+v %+v", one, many)
	}
	signals, err := c.Signals(ctx, AgentSignals{SessionID: "s", Signals: []AgentSignal{{Type: "test_failure", Detail: "parser"}}})
	must("signals", err)
	if signals.Accepted != 1 {
		t.Errorf("%+v", signals)
	}
	_, err = c.Sessions.Finalize(ctx)
	must("finalize", err)
	_, err = c.Sessions.Status(ctx)
	must("status", err)
	if got := collect(t, c.Recall.Sessions(), func(s Session) string { return s.ID }); !slices.Equal(got, []string{"s"}) {
		t.Errorf("%v", got)
	}
	must("delete session", c.Recall.DeleteSession(ctx, "s"))

	// Brain: too little to train on is an answer, too.
	trained, err := c.Brain.Train(ctx)
	must("train", err)
	if trained.JobID == "" {
		t.Errorf("%+v", trained)
	}
	info, err := c.Brain.Info(ctx)
	must("brain", err)
	if info.Training.Status == TrainingStatusNone {
		t.Errorf("%+v", info)
	}
	if _, err = c.Brain.Query(ctx, BrainQuery{Query: "boiler"}); err != nil {
		code(t, err, "brain_not_trained")
	}

	// Connectors.
	connector, err := c.Connectors.Create(ctx, NewConnector{Type: ConnectorTypeFeed, Name: "news", Enabled: Ptr(false), Config: FeedConfig{URL: receiver.url + "feed"}})
	must("connector", err)
	connector, err = c.Connectors.Update(ctx, connector.ID, PatchConnector{Name: "the news"})
	must("patch connector", err)
	connector, err = c.Connectors.Get(ctx, connector.ID)
	must("get connector", err)
	if connector.Name != "the news" || connector.Enabled {
		t.Errorf("%+v", connector)
	}
	if got := collect(t, c.Connectors.List(), func(c Connector) string { return c.ID }); !slices.Equal(got, []string{connector.ID}) {
		t.Errorf("%v", got)
	}
	synced, err := c.Connectors.Sync(ctx, connector.ID)
	must("sync", err)
	if job, err := c.Jobs.Wait(ctx, synced.JobID); job == nil || job.Type != JobTypeConnectorSync {
		t.Errorf("%+v %v", job, err)
	}
	must("delete connector", c.Connectors.Delete(ctx, connector.ID))

	// Webhooks.
	test, err := c.Webhooks.Test(ctx, webhook.ID)
	must("test webhook", err)
	if !test.OK || test.Status != http.StatusNoContent {
		t.Errorf("%+v", test)
	}
	got := receiver.wait(t, EventTypeWebhookTest, EventTypeJobCompleted)
	if len(got) == 0 {
		t.Error("nothing was delivered")
	}
	_, err = c.Webhooks.Update(ctx, webhook.ID, PatchWebhook{EventTypes: []EventType{EventTypeAny}, Disabled: Ptr(true)})
	must("update webhook", err)
	webhook, err = c.Webhooks.Get(ctx, webhook.ID)
	must("get webhook", err)
	if !webhook.Disabled || len(webhook.Attempts) == 0 || webhook.Secret != "" {
		t.Errorf("%+v", webhook)
	}
	sent, err := c.Webhooks.Delivery(ctx, webhook.ID, webhook.Attempts[0].ID)
	must("get delivery", err)
	if _, err := WebhookVerify([]byte(sent.Body), sent.Signature, receiver.secret.Load().(string)); err != nil {
		t.Errorf("%+v: %v", sent, err)
	}
	if got := collect(t, c.Webhooks.List(), func(w Webhook) string { return w.ID }); !slices.Equal(got, []string{webhook.ID}) {
		t.Errorf("%v", got)
	}
	must("delete webhook", c.Webhooks.Delete(ctx, webhook.ID))

	// The rest.
	settings, err := c.Settings.Update(ctx, SettingsPatch{LearnModeDefault: Ptr(false), QualityMode: QualityModeThorough})
	must("settings", err)
	if read, err := c.Settings.Get(ctx); err != nil || read.QualityMode != settings.QualityMode || read.LearnModeDefault {
		t.Errorf("%+v %v", read, err)
	}
	if reset, err := c.Settings.Reset(ctx); err != nil || !reset.LearnModeDefault {
		t.Errorf("%+v %v", reset, err)
	}
	usage, err := c.Usage(ctx, UsageQuery{GroupBy: UsageByCapability})
	must("usage", err)
	if len(usage.Buckets) == 0 || len(usage.Buckets[0].Groups) == 0 {
		t.Errorf("%+v", usage)
	}
	if acts := collect(t, c.Audit(AuditFilter{Action: "key.create"}), func(a AuditEntry) string { return a.Action }); len(acts) == 0 {
		t.Error("no key was made, says the audit trail")
	}
	if who, err := c.Identity(ctx, s.UserID); err != nil || who.UserID != s.UserID {
		t.Errorf("%+v %v", who, err)
	}
	team, err := c.Team(ctx)
	must("team", err)
	if members := collect(t, c.Members(), func(m TeamMember) string { return m.ID }); team.MemberCount != 1 || !slices.Equal(members, []string{s.UserID}) {
		t.Errorf("%+v %v", team, members)
	}
	owners := collect(t, c.MemberKeys(MemberKeyFilter{}), func(k TeamKey) string { return k.UserID })
	if len(owners) == 0 || slices.ContainsFunc(owners, func(user string) bool { return user != s.UserID }) {
		t.Errorf("keys of %v", owners)
	}
	must("delete me", c.DeleteMe(ctx))
	_, err = c.Me(ctx)
	code(t, err, "authentication_error")
}

func collect[T any](t *testing.T, list List[T], name func(T) string) []string {
	t.Helper()
	var names []string
	for one, err := range list.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name(one))
	}
	return names
}

func code(t *testing.T, err error, want string) {
	t.Helper()
	var refused *APIError
	if !errors.As(err, &refused) || refused.Code != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// receiver is a webhook's, on this machine, which the service is told to trust.
type receiver struct {
	url    string
	env    []string
	secret atomic.Value
	mu     sync.Mutex
	got    []Delivery
	more   chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{more: make(chan struct{}, 1)}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/" { // the connector's feed, which there is not
			w.WriteHeader(http.StatusNotFound)
			return
		}
		body, err := io.ReadAll(q.Body)
		if err != nil || r.secret.Load() == nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		delivery, err := WebhookVerify(body, q.Header.Get(SignatureHeader), r.secret.Load().(string))
		if err != nil {
			t.Errorf("a delivery: %v", err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		r.mu.Lock()
		r.got = append(r.got, *delivery)
		r.mu.Unlock()
		select {
		case r.more <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	certificate := filepath.Join(t.TempDir(), "receiver.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	r.url = server.URL + "/"
	r.env = []string{"ORGMEM_EGRESS_ALLOW_CIDRS=127.0.0.0/8", "ORGMEM_EGRESS_ALLOW_PORTS=" + at.Port(), "ORGMEM_EGRESS_CA_FILE=" + certificate}
	return r
}

// wait waits until events of all these types were delivered.
func (r *receiver) wait(t *testing.T, types ...EventType) []Delivery {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		r.mu.Lock()
		got := slices.Clone(r.got)
		r.mu.Unlock()
		if !slices.ContainsFunc(types, func(want EventType) bool {
			return !slices.ContainsFunc(got, func(d Delivery) bool { return d.Type == want })
		}) {
			return got
		}
		select {
		case <-r.more:
		case <-deadline:
			t.Fatalf("only %d deliveries", len(got))
		}
	}
}

// Adds while the service is killed and starts again: none is lost, none is there twice.
func TestKilledInTheMiddle(t *testing.T) {
	s := start(t)
	c, ctx := s.client(t, Config{MaxRetries: 1000, RetryBudget: time.Minute}), t.Context()
	const adds, killAt, workers = 300, 100, 8
	address := strings.TrimPrefix(s.BaseURL, "http://")
	var wg sync.WaitGroup
	var acked atomic.Int32
	turn, kill := make(chan int), make(chan struct{})
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range turn {
				if _, err := c.Add(ctx, Item{Content: fmt.Sprintf("The meter of house %d was read.", i), ExternalID: strconv.Itoa(i)}); err != nil {
					t.Error(err)
				}
				if acked.Add(1) == killAt {
					close(kill)
				}
			}
		}()
	}
	go func() {
		for i := range adds {
			turn <- i
		}
		close(turn)
	}()
	<-kill
	s.end(os.Kill)
	s.run(t, address)
	wg.Wait()
	for job, err := range c.Jobs.List(JobFilter{}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Jobs.Wait(ctx, job.ID); err != nil {
			t.Fatal(err)
		}
	}
	jobs, nodes := map[string]int{}, map[string]int{}
	for job, err := range c.Jobs.List(JobFilter{Type: JobTypeIngest}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		full, err := c.Jobs.Get(ctx, job.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range full.Result.Items {
			jobs[item.ExternalID]++
		}
	}
	for node, err := range c.List(NodeFilter{Kind: NodeKindDocument}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range node.Source.ExternalIDs {
			nodes[id]++
		}
	}
	for i := range adds {
		if id := strconv.Itoa(i); jobs[id] != 1 || nodes[id] != 1 {
			t.Errorf("add %s: %d jobs, %d nodes", id, jobs[id], nodes[id])
		}
	}
	if len(jobs) != adds || len(nodes) != adds {
		t.Errorf("%d jobs, %d nodes of %d adds", len(jobs), len(nodes), adds)
	}
}

// A stream tells the gap that a restart of the service tears.
func TestEventsAcrossARestart(t *testing.T) {
	s := start(t)
	c, ctx := s.client(t, Config{}), t.Context()
	address := strings.TrimPrefix(s.BaseURL, "http://")
	notices, open := make(chan Notice, 100), make(chan struct{}, 10)
	watching, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		request := EventsRequest{Types: []EventType{EventTypeJobCompleted}, OnOpen: func() { open <- struct{}{} }}
		for notice, err := range c.Events(watching, request) {
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			notices <- notice
		}
	}()
	defer wg.Wait()
	defer stop()
	next := func() Notice {
		t.Helper()
		select {
		case notice := <-notices:
			return notice
		case <-time.After(time.Minute):
			t.Fatal("nothing came")
			return nil
		}
	}
	completed := func() {
		t.Helper()
		accepted, err := c.Add(ctx, Item{Content: "It is " + newUUID() + " now."})
		if err != nil {
			t.Fatal(err)
		}
		event, ok := next().(Event)
		var data struct{ JobID, Status string }
		if !ok || json.Unmarshal(event.Data, &data) != nil || data.JobID != accepted.JobID || data.Status != "succeeded" {
			t.Errorf("%+v", event)
		}
	}
	<-open
	completed()
	for _, how := range []os.Signal{os.Kill, os.Interrupt} {
		before := time.Now().Add(-time.Second) // the service's clock is read in seconds
		s.end(how)
		s.run(t, address)
		gap, ok := next().(Gap)
		if !ok || gap.Why == "" || gap.Since.After(gap.Until) || gap.Until.Before(before) {
			t.Errorf("%+v", gap)
		}
		<-open
		completed()
	}
}

// A hundred calls at a time over one client.
func TestParallel(t *testing.T) {
	s := start(t)
	var most, now atomic.Int32
	counted := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		return sharedTransport.RoundTrip(r)
	})}
	c, ctx := s.client(t, Config{HTTPClient: counted}), t.Context()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i%2 == 0 {
				if _, err := c.AddAndWait(ctx, Item{Content: fmt.Sprintf("Lamp %d is lit.", i), ExternalID: strconv.Itoa(i)}); err != nil {
					t.Error(err)
				}
			} else if _, err := c.Search(ctx, SearchRequest{Query: "lamp"}); err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	if got := collect(t, c.List(NodeFilter{Kind: NodeKindDocument}), func(n Node) string { return n.ID }); len(got) != 50 {
		t.Errorf("%d nodes", len(got))
	}
	if most.Load() < 50 {
		t.Errorf("only %d at a time", most.Load())
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a user gets wrong first, against the service itself.
func TestBadInput(t *testing.T) {
	s := start(t)
	ctx := t.Context()
	wrong, err := New(Config{APIKey: "svc_prod_wrong", BaseURL: s.BaseURL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = wrong.Search(ctx, SearchRequest{Query: "x"})
	if !errors.Is(err, ErrUnauthorized) {
		t.Error(err)
	}
	says(t, err, "The key is that of Config.APIKey")

	for _, path := range []string{"/docs", "/memory"} { // the service, and not its root
		off, err := New(Config{APIKey: s.APIKey, BaseURL: s.BaseURL + path})
		if err != nil {
			t.Fatal(err)
		}
		_, err = off.Search(ctx, SearchRequest{Query: "x"})
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", path, err)
		}
		says(t, err, "base address")
	}
	// The operator's address is another service's.
	operator, err := New(Config{APIKey: s.APIKey, BaseURL: s.OperatorURL, MaxRetries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = operator.Search(ctx, SearchRequest{Query: "x"})
	says(t, err, "POST "+s.OperatorURL)

	c := s.client(t, Config{})
	_, err = c.Search(ctx, SearchRequest{})
	var invalid *APIError
	if !errors.As(err, &invalid) || invalid.Code != "validation_failed" || len(invalid.Errors) == 0 || invalid.RequestID == "" {
		t.Errorf("%+v", err)
	}
	says(t, err, "[query:")

	// An older service, which lacks a route.
	old, _ := stub(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { problem(w, 404, "not_found") })
	_, err = old.Elsewhere(ctx, "x")
	if !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	says(t, err, "older than this client")
}

// Rate limits are waited for.
func TestRateLimits(t *testing.T) {
	s := &service{data: filepath.Join(t.TempDir(), "data")}
	s.run(t, "127.0.0.1:0")
	t.Cleanup(func() { s.end(os.Kill) })
	var pauses atomic.Int32
	c := s.client(t, Config{Sleep: func(ctx context.Context, d time.Duration) error {
		pauses.Add(1)
		return sleep(ctx, d)
	}})
	for n := 0; pauses.Load() == 0; n++ {
		if _, err := c.Search(t.Context(), SearchRequest{Query: "x"}); err != nil {
			t.Fatal(err)
		}
		if n == 1000 { // the burst is 30, and two come back in a second
			t.Fatal("there is no limit")
		}
	}
}
