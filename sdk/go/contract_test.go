package orgmem

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The client against docs/openapi.json: every operation has a verb, every verb sends
// all that its operation takes and reads all that it answers, and every value of an
// enumeration has its constant.

// unused operations, each with its reason.
var unused = map[string]string{
	"getIngestStatus": "Jobs.Get reads the same job, in the words that all jobs have",
}

// unsent parts of requests, each with its reason.
var unsent = map[string]string{
	"createExport.format":         "json and nothing else, which is the default",
	"importTranscript.transcript": "another name for file",
}

type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 any                `json:"type"`
	Format               string             `json:"format"`
	Enum                 []any              `json:"enum"`
	Const                any                `json:"const"`
	AnyOf                []*schema          `json:"anyOf"`
	OneOf                []*schema          `json:"oneOf"`
	Items                *schema            `json:"items"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
}

type body struct {
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

type operation struct {
	OperationID string `json:"operationId"`
	Parameters  []struct {
		Name   string  `json:"name"`
		In     string  `json:"in"`
		Schema *schema `json:"schema"`
	} `json:"parameters"`
	RequestBody *body            `json:"requestBody"`
	Responses   map[string]*body `json:"responses"`
}

type document struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

func openAPI(t *testing.T) *document {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}

func (d *document) resolve(s *schema) *schema {
	for s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	for _, one := range s.AnyOf {
		if one.Type != "null" && len(s.Properties) == 0 { // else it says which are required
			return d.resolve(one)
		}
	}
	return s
}

func (s *schema) kind() string {
	if many, ok := s.Type.([]any); ok {
		for _, one := range many {
			if one != "null" {
				return one.(string)
			}
		}
	}
	kind, _ := s.Type.(string)
	return kind
}

// extra is the schema of an object's further properties, nil where there are none.
func (s *schema) extra() *schema {
	if len(s.AdditionalProperties) == 0 || s.AdditionalProperties[0] != '{' {
		return nil
	}
	var further schema
	if json.Unmarshal(s.AdditionalProperties, &further) != nil {
		return nil
	}
	return &further
}

// example is a value with everything in it that the schema has.
func (d *document) example(s *schema) any {
	s = d.resolve(s)
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	switch s.kind() {
	case "array":
		return []any{d.example(s.Items)}
	case "object":
		value := map[string]any{}
		for name, property := range s.Properties {
			value[name] = d.example(property)
		}
		if further := s.extra(); further != nil {
			value["some"] = d.example(further)
		} else if len(s.Properties) == 0 {
			value["some"] = "thing"
		}
		return value
	case "boolean":
		return true
	case "integer":
		return 7.0
	case "number":
		return 0.5
	}
	if s.Format == "date-time" {
		return "2026-01-02T03:04:05.678Z"
	}
	return "text"
}

// paths are the names of all properties, also of those in objects in it.
func (d *document) paths(prefix string, s *schema, into map[string]bool) {
	variants := append([]*schema{s}, s.AnyOf...)
	for _, variant := range variants {
		variant = d.resolve(variant)
		if variant.kind() == "array" {
			d.paths(prefix, variant.Items, into)
		}
		for name, property := range variant.Properties {
			into[prefix+name] = true
			d.paths(prefix+name+".", property, into)
		}
		for _, one := range variant.OneOf { // a connector's config is of one of three forms
			for name, property := range one.Properties {
				d.paths(prefix+name+".", property, into)
			}
		}
	}
}

func pathsOf(prefix string, value any, into map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			into[prefix+name] = true
			if name != "metadata" { // its names are the client's own
				pathsOf(prefix+name+".", one, into)
			}
		}
	case []any:
		for _, one := range v {
			pathsOf(prefix, one, into)
		}
	}
}

// fill makes a value without a zero in it.
func fill[T any]() T {
	var v T
	fillValue(reflect.ValueOf(&v).Elem())
	return v
}

func fillValue(v reflect.Value) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(v.Index(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"some": "thing"}))
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[ConnectorConfig]() {
			v.Set(reflect.ValueOf(fill[GitConfig]()))
		}
	}
}

// verb is one call, and the operation that it makes. What it returns is the answer;
// view names the schema where an operation has several.
type verb struct {
	op, view string
	call     func(context.Context, *Client) (any, error)
}

func entries[T any](list List[T]) func(context.Context, *Client) (any, error) {
	return func(ctx context.Context, _ *Client) (any, error) {
		page, err := list.Page(ctx, "more")
		if err != nil {
			return nil, err
		}
		return map[string]any{"data": page.Data, "hasMore": page.HasMore, "nextCursor": page.NextCursor}, nil
	}
}

func verbs(c *Client) []verb {
	list := func(op string, call func(context.Context, *Client) (any, error)) verb { return verb{op, "", call} }
	do := func(op string, call func(context.Context) (any, error)) verb {
		return verb{op, "", func(ctx context.Context, _ *Client) (any, error) { return call(ctx) }}
	}
	view := func(op, view string, call func(context.Context) (any, error)) verb {
		return verb{op, view, func(ctx context.Context, _ *Client) (any, error) { return call(ctx) }}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const id = "an id"
	return []verb{
		do("ingest", func(ctx context.Context) (any, error) { return c.Add(ctx, fill[Item]()) }),
		do("ingestBatch", func(ctx context.Context) (any, error) { return c.Add(ctx, fill[Item](), fill[Item]()) }),
		do("search", func(ctx context.Context) (any, error) { return c.Search(ctx, fill[SearchRequest]()) }),
		do("retrieve", func(ctx context.Context) (any, error) { return c.Retrieve(ctx, fill[RetrieveRequest]()) }),
		do("answerFromBrain", func(ctx context.Context) (any, error) { return c.Answer(ctx, fill[AnswerRequest]()) }),
		do("getNode", func(ctx context.Context) (any, error) { return c.Get(ctx, id) }),
		list("listNodes", entries(c.List(fill[NodeFilter]()))),
		do("editNode", func(ctx context.Context) (any, error) { return c.Update(ctx, id, fill[NodePatch]()) }),
		do("forgetNode", func(ctx context.Context) (any, error) { return c.Delete(ctx, id) }),
		do("undeleteNode", func(ctx context.Context) (any, error) { return c.Undelete(ctx, id) }),
		list("getNodeHistory", entries(c.History(id))),
		do("supersedeNode", func(ctx context.Context) (any, error) { return c.Supersede(ctx, id, "content", "reason") }),
		do("entityElsewhere", func(ctx context.Context) (any, error) { return c.Elsewhere(ctx, id) }),

		list("listEdges", entries(c.Edges.List(fill[EdgeFilter]()))),
		do("getEdge", func(ctx context.Context) (any, error) { return c.Edges.Get(ctx, id) }),
		do("assertEdge", func(ctx context.Context) (any, error) { return c.Edges.Assert(ctx, fill[NewEdge]()) }),
		do("forgetEdge", func(ctx context.Context) (any, error) { return c.Edges.Delete(ctx, id) }),
		list("listDomains", entries(c.Domains.List(fill[DomainFilter]()))),
		do("getDomain", func(ctx context.Context) (any, error) { return c.Domains.Get(ctx, id) }),

		view("recall", "IdentityView", func(ctx context.Context) (any, error) { return c.Recall.Identity(ctx) }),
		view("recall", "GraphView", func(ctx context.Context) (any, error) { return c.Recall.Graph(ctx, now) }),
		view("recall", "InsightsView", func(ctx context.Context) (any, error) { return c.Recall.Insights(ctx, now) }),
		view("recall", "TemporalView", func(ctx context.Context) (any, error) { return c.Recall.Temporal(ctx, now) }),
		{"recall", "PageOfInsight", entries(c.Recall.AllInsights(now))},
		{"recall", "PageOfDated", entries(c.Recall.AllDated(now))},
		do("recallNode", func(ctx context.Context) (any, error) { return c.Recall.Node(ctx, id) }),
		list("recallGraphSearch", entries(c.Recall.Search(fill[RecallQuery]()))),
		list("listSessions", entries(c.Recall.Sessions())),
		do("deleteSession", func(ctx context.Context) (any, error) { return nil, c.Recall.DeleteSession(ctx, id) }),

		list("listContradictions", entries(c.Contradictions.List(ContradictionStatusOpen))),
		list("listProposals", entries(c.Proposals.List(ProposalStatusOpen))),
		do("acceptProposal", func(ctx context.Context) (any, error) { return c.Proposals.Accept(ctx, id) }),
		do("rejectProposal", func(ctx context.Context) (any, error) { return c.Proposals.Reject(ctx, id) }),
		do("conditionSession", func(ctx context.Context) (any, error) { return c.Condition.Session(ctx, fill[ConditionRequest]()) }),
		do("conditionScaffold", func(ctx context.Context) (any, error) { return c.Condition.Scaffold(ctx, fill[ScaffoldRequest]()) }),

		do("putSubject", func(ctx context.Context) (any, error) { return c.Subjects.Put(ctx, id) }),
		do("getSubject", func(ctx context.Context) (any, error) { return c.Subjects.Get(ctx, id) }),
		list("listSubjects", entries(c.Subjects.List())),
		do("eraseSubject", func(ctx context.Context) (any, error) { return c.Subjects.Erase(ctx, id) }),
		do("listKeys", func(ctx context.Context) (any, error) {
			keys, err := c.Keys.List(ctx)
			return map[string]any{"keys": keys}, err
		}),
		do("createKey", func(ctx context.Context) (any, error) { return c.Keys.Create(ctx, "label", ScopeRead) }),
		do("revokeKey", func(ctx context.Context) (any, error) { return nil, c.Keys.Revoke(ctx, id) }),
		list("listSandboxKeys", entries(c.Sandbox.Keys.List())),
		do("createSandboxKey", func(ctx context.Context) (any, error) { return c.Sandbox.Keys.Create(ctx, "label", time.Hour) }),
		do("revokeSandboxKey", func(ctx context.Context) (any, error) { return nil, c.Sandbox.Keys.Revoke(ctx, id) }),
		do("resetSandbox", func(ctx context.Context) (any, error) { return c.Sandbox.Reset(ctx) }),

		list("listJobs", entries(c.Jobs.List(fill[JobFilter]()))),
		do("getJob", func(ctx context.Context) (any, error) { return c.Jobs.Get(ctx, id) }),
		do("cancelJob", func(ctx context.Context) (any, error) { return c.Jobs.Cancel(ctx, id) }),
		do("importFile", func(ctx context.Context) (any, error) { return c.Imports.Upload(ctx, uploadOf("text")) }),
		do("importTranscript", func(ctx context.Context) (any, error) { return c.Imports.Transcript(ctx, uploadOf("text")) }),
		do("listImports", func(ctx context.Context) (any, error) {
			imports, err := c.Imports.List(ctx)
			return map[string]any{"data": imports, "hasMore": true, "nextCursor": "text"}, err
		}),
		do("createExport", func(ctx context.Context) (any, error) { return c.Exports.Create(ctx, MemoryScopeUser) }),
		list("listExports", entries(c.Exports.List())),
		do("getExport", func(ctx context.Context) (any, error) { return c.Exports.Get(ctx, id) }),
		do("downloadExport", func(ctx context.Context) (any, error) {
			var document bytes.Buffer
			_, err := c.Exports.DownloadTo(ctx, id, &document)
			return json.RawMessage(document.Bytes()), err
		}),
		do("purge", func(ctx context.Context) (any, error) { return c.Purge.Preview(ctx, PurgeScopeSubject, id) }),
		do("purge", func(ctx context.Context) (any, error) {
			return c.Purge.Confirm(ctx, &PurgeReport{Scope: PurgeScopeSubject, SubjectID: id, ConfirmToken: "token"})
		}),
		{"streamEvents", "", func(ctx context.Context, c *Client) (any, error) {
			for notice, err := range c.Events(ctx, EventsRequest{}) {
				return notice, err
			}
			return nil, nil
		}},

		list("listWebhooks", entries(c.Webhooks.List())),
		do("createWebhook", func(ctx context.Context) (any, error) { return c.Webhooks.Create(ctx, fill[NewWebhook]()) }),
		do("getWebhook", func(ctx context.Context) (any, error) { return c.Webhooks.Get(ctx, id) }),
		do("patchWebhook", func(ctx context.Context) (any, error) { return c.Webhooks.Update(ctx, id, fill[PatchWebhook]()) }),
		do("deleteWebhook", func(ctx context.Context) (any, error) { return nil, c.Webhooks.Delete(ctx, id) }),
		do("getDelivery", func(ctx context.Context) (any, error) { return c.Webhooks.Delivery(ctx, id, id) }),
		do("testWebhook", func(ctx context.Context) (any, error) { return c.Webhooks.Test(ctx, id) }),

		do("ingestSessionEvent", func(ctx context.Context) (any, error) {
			results, err := c.Sessions.Push(ctx, fill[SessionEvent]())
			return results[0], err
		}),
		do("ingestSessionBatch", func(ctx context.Context) (any, error) {
			results, err := c.Sessions.Push(ctx, fill[SessionEvent](), fill[SessionEvent]())
			return map[string]any{"results": results}, err
		}),
		do("finalizeSessions", func(ctx context.Context) (any, error) { return c.Sessions.Finalize(ctx) }),
		do("getSessionStatus", func(ctx context.Context) (any, error) { return c.Sessions.Status(ctx) }),
		do("ingestAgentSignals", func(ctx context.Context) (any, error) { return c.Signals(ctx, fill[AgentSignals]()) }),

		do("trainBrain", func(ctx context.Context) (any, error) { return c.Brain.Train(ctx) }),
		do("brainInfo", func(ctx context.Context) (any, error) { return c.Brain.Info(ctx) }),
		do("plotIdentity", func(ctx context.Context) (any, error) { return c.Recall.Plot(ctx) }),
		do("brainTraining", func(ctx context.Context) (any, error) { return c.Brain.Training(ctx) }),
		do("queryBrain", func(ctx context.Context) (any, error) { return c.Brain.Query(ctx, fill[BrainQuery]()) }),

		do("evaluateQuality", func(ctx context.Context) (any, error) { return c.Quality.Evaluate(ctx, MemoryScopeOrg) }),
		list("listQuality", entries(c.Quality.List(MemoryScopeOrg))),

		list("listConnectors", entries(c.Connectors.List())),
		do("createConnector", func(ctx context.Context) (any, error) { return c.Connectors.Create(ctx, fill[NewConnector]()) }),
		do("createConnector", func(ctx context.Context) (any, error) {
			return c.Connectors.Create(ctx, NewConnector{Config: fill[WebConfig]()})
		}),
		do("createConnector", func(ctx context.Context) (any, error) {
			return c.Connectors.Create(ctx, NewConnector{Config: fill[FeedConfig]()})
		}),
		do("getConnector", func(ctx context.Context) (any, error) { return c.Connectors.Get(ctx, id) }),
		do("patchConnector", func(ctx context.Context) (any, error) { return c.Connectors.Update(ctx, id, fill[PatchConnector]()) }),
		do("patchConnector", func(ctx context.Context) (any, error) {
			return c.Connectors.Update(ctx, id, PatchConnector{Config: fill[WebConfig]()})
		}),
		do("deleteConnector", func(ctx context.Context) (any, error) { return nil, c.Connectors.Delete(ctx, id) }),
		do("syncConnector", func(ctx context.Context) (any, error) { return c.Connectors.Sync(ctx, id) }),

		do("getSettings", func(ctx context.Context) (any, error) { return c.Settings.Get(ctx) }),
		do("patchSettings", func(ctx context.Context) (any, error) { return c.Settings.Update(ctx, fill[SettingsPatch]()) }),
		do("resetSettings", func(ctx context.Context) (any, error) { return c.Settings.Reset(ctx) }),
		do("getUsage", func(ctx context.Context) (any, error) { return c.Usage(ctx, fill[UsageQuery]()) }),
		list("listAudit", entries(c.Audit(fill[AuditFilter]()))),
		do("getIdentity", func(ctx context.Context) (any, error) { return c.Identity(ctx, id) }),
		do("getMe", func(ctx context.Context) (any, error) { return c.Me(ctx) }),
		do("deleteMe", func(ctx context.Context) (any, error) { return nil, c.DeleteMe(ctx) }),
		do("getTeam", func(ctx context.Context) (any, error) { return c.Team(ctx) }),
		list("listMembers", entries(c.Members())),
		list("listTeamKeys", entries(c.MemberKeys(fill[MemberKeyFilter]()))),
	}
}

func uploadOf(text string) Upload {
	return Upload{Name: "a.txt", File: strings.NewReader(text), Title: "title", OccurredAt: time.Unix(1, 0), Metadata: map[string]any{"some": "thing"}}
}

// documented answers every request by the document, and notes what was sent.
type documented struct {
	t    *testing.T
	doc  *document
	view string          // which schema to answer with, where there are several
	op   string          // the operation of the last request
	sent map[string]bool // what was sent, over all requests: op.in.name
}

// find looks for the path without a parameter first: /v1/recall/sessions is no view.
func (d *documented) find(r *http.Request) (*operation, string) {
	var best string
	for template := range d.doc.Paths {
		pattern := "^" + regexp.MustCompile(`\\\{[^}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$"
		if !regexp.MustCompile(pattern).MatchString(r.URL.EscapedPath()) {
			continue
		}
		if best == "" || strings.Count(template, "{") < strings.Count(best, "{") {
			best = template
		}
	}
	return d.doc.Paths[best][strings.ToLower(r.Method)], best
}

func (d *documented) RoundTrip(r *http.Request) (*http.Response, error) {
	op, _ := d.find(r)
	if op == nil {
		return nil, fmt.Errorf("the document has no %s %s", r.Method, r.URL.EscapedPath())
	}
	d.op = op.OperationID
	known := map[string]bool{}
	for _, p := range op.Parameters {
		known[p.In+"."+p.Name] = true
	}
	note := func(in, name string) {
		if !known[in+"."+name] {
			d.t.Errorf("%s takes no %s %s", op.OperationID, in, name)
		}
		d.sent[op.OperationID+"."+in+"."+name] = true
	}
	for name := range r.URL.Query() {
		note("query", name)
	}
	for name := range r.Header {
		switch name {
		case "X-Svc-Api-Key", "Content-Type", "Accept", "Accept-Encoding", "Expect", "User-Agent":
		case "X-Svc-Subject": // Subject sends it with everything
		default:
			note("header", name)
		}
	}
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		d.body(op, r.Header.Get("Content-Type"), raw)
	} else if op.RequestBody != nil {
		d.t.Errorf("%s was sent no body", op.OperationID)
	}
	return d.answer(op), nil
}

func (d *documented) body(op *operation, contentType string, raw []byte) {
	media, parameters, _ := mime.ParseMediaType(contentType)
	if op.RequestBody == nil || op.RequestBody.Content[media].Schema == nil {
		d.t.Errorf("%s takes no body of type %q", op.OperationID, contentType)
		return
	}
	sent, takes := map[string]bool{}, map[string]bool{}
	d.doc.paths("", op.RequestBody.Content[media].Schema, takes)
	if media == mediaJSON {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			d.t.Errorf("%s: %v", op.OperationID, err)
		}
		pathsOf("", value, sent)
	} else {
		form, err := multipart.NewReader(bytes.NewReader(raw), parameters["boundary"]).ReadForm(1 << 20)
		if err != nil {
			d.t.Errorf("%s: %v", op.OperationID, err)
			return
		}
		for name := range form.Value {
			sent[name] = true
		}
		for name := range form.File {
			sent[name] = true
		}
	}
	for name := range sent {
		if !takes[name] {
			d.t.Errorf("%s takes no field %s", op.OperationID, name)
		}
		d.sent[op.OperationID+"."+name] = true
	}
}

// schemaOf is what an operation answers with, and its status.
func (d *documented) schemaOf(op *operation) (int, *schema) {
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if status[0] == '2' {
			code, _ := strconv.Atoi(status)
			s := op.Responses[status].Content[mediaJSON].Schema
			if d.view != "" {
				s = d.doc.Components.Schemas[d.view]
			}
			return code, s
		}
	}
	return 0, nil
}

func (d *documented) answer(op *operation) *http.Response {
	status, s := d.schemaOf(op)
	header, text := http.Header{"Etag": {`"1"`}}, ""
	switch {
	case op.OperationID == "streamEvents":
		header.Set("Content-Type", "text/event-stream")
		text = "id: 1\ndata: {\"type\":\"job.completed\"}\n\n"
	case s != nil:
		raw, err := json.Marshal(d.doc.example(s))
		if err != nil {
			d.t.Error(err)
		}
		header.Set("Content-Type", mediaJSON)
		text = string(raw)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text))}
}

func TestEveryOperationHasAVerb(t *testing.T) {
	d := &documented{t: t, doc: openAPI(t), sent: map[string]bool{}}
	c, err := New(Config{APIKey: "svc_prod_x", BaseURL: "http://127.0.0.1:1", MaxRetries: -1, HTTPClient: &http.Client{Transport: d}})
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, v := range verbs(c) {
		d.view, d.op = v.view, ""
		got, err := v.call(t.Context(), c)
		if err != nil {
			t.Errorf("%s: %v", v.op, err)
			continue
		}
		if d.op != v.op {
			t.Errorf("the verb of %s makes %s", v.op, d.op)
			continue
		}
		called[v.op] = true
		var op *operation
		for _, methods := range d.doc.Paths {
			for _, one := range methods {
				if one.OperationID == v.op {
					op = one
				}
			}
		}
		if _, s := d.schemaOf(op); s != nil {
			same(t, v.op+" "+v.view, got, d.doc.example(s))
		}
	}
	for path, methods := range d.doc.Paths {
		for method, op := range methods {
			if unused[op.OperationID] != "" {
				if called[op.OperationID] {
					t.Errorf("%s has a verb, and a reason to have none", op.OperationID)
				}
				continue
			}
			if !called[op.OperationID] {
				t.Errorf("no verb makes %s %s (%s)", method, path, op.OperationID)
				continue
			}
			takes := map[string]bool{}
			for _, p := range op.Parameters {
				if p.In == "query" || p.In == "header" && p.Name != "X-Svc-Subject" {
					takes[p.In+"."+p.Name] = true
				}
			}
			if op.RequestBody != nil {
				for _, content := range op.RequestBody.Content {
					d.doc.paths("", content.Schema, takes)
				}
			}
			for name := range takes {
				if !d.sent[op.OperationID+"."+name] && unsent[op.OperationID+"."+name] == "" {
					t.Errorf("no verb sends %s of %s", name, op.OperationID)
				}
			}
		}
	}
}

// same compares what was read with what was answered: whatever the types lack is
// missing when they are written again.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	had, has := map[string]bool{}, map[string]bool{}
	pathsOf("", want, had)
	pathsOf("", again, has)
	for name := range had {
		if !has[name] {
			t.Errorf("%s: the types have no place for %s", what, name)
		}
	}
	if !reflect.DeepEqual(again, want) && !t.Failed() {
		expected, _ := json.Marshal(want)
		t.Errorf("%s: read\n%s\nof\n%s", what, raw, expected)
	}
}

// constants are the values of the constants of each type of the package.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			name, typed := spec.Type.(*ast.Ident)
			if ok && typed && literal.Kind == token.STRING {
				value, _ := strconv.Unquote(literal.Value)
				all[name.Name] = append(all[name.Name], value)
			}
			return true
		})
	}
	return all
}

func TestEveryValueHasAConstant(t *testing.T) {
	doc, known := openAPI(t), constants(t)
	var all []string
	for _, values := range known {
		all = append(all, values...)
	}
	compared := 0
	var walk func(where string, s *schema)
	walk = func(where string, s *schema) {
		if s == nil {
			return
		}
		for _, value := range s.Enum {
			compared++
			if text, ok := value.(string); ok && !slices.Contains(all, text) {
				t.Errorf("%s may be %q, for which there is no constant", where, text)
			}
		}
		for name, property := range s.Properties {
			walk(where+"."+name, property)
		}
		walk(where, s.Items)
		walk(where, s.extra())
		for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
			walk(where, one)
		}
	}
	for name, s := range doc.Components.Schemas {
		if unusedSchemas[name] == "" {
			walk(name, s)
		}
	}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			for _, p := range op.Parameters {
				if unusedParameters[op.OperationID+"."+p.Name] == "" {
					walk(op.OperationID+"."+p.Name, p.Schema)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d values were compared", compared)
	}
	// By type, for the answers: a constant of another type is none.
	for name, rt := range answerTypes() {
		checkEnums(t, doc, known, name, doc.Components.Schemas[name], rt)
	}
}

// What is not walked for values, each with its reason.
var (
	unusedSchemas    = map[string]string{"IngestJob": "of getIngestStatus"}
	unusedParameters = map[string]string{"recall.recall_type": "each view is a verb"}
)

// answerTypes are the types of the package by the name of their schema.
func answerTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	var add func(rt reflect.Type)
	add = func(rt reflect.Type) {
		for rt.Kind() == reflect.Pointer || rt.Kind() == reflect.Slice {
			rt = rt.Elem()
		}
		if rt.Kind() != reflect.Struct || rt.PkgPath() != reflect.TypeFor[Node]().PkgPath() || types[rt.Name()] != nil {
			return
		}
		types[rt.Name()] = rt
		for i := range rt.NumField() {
			add(rt.Field(i).Type)
		}
	}
	for _, rt := range []reflect.Type{
		reflect.TypeFor[Accepted](), reflect.TypeFor[AuditEntry](), reflect.TypeFor[BrainFound](), reflect.TypeFor[Connector](),
		reflect.TypeFor[Contradiction](), reflect.TypeFor[Dated](), reflect.TypeFor[Export](), reflect.TypeFor[HistoryEntry](),
		reflect.TypeFor[ImportEntry](), reflect.TypeFor[Job](), reflect.TypeFor[Node](), reflect.TypeFor[Proposal](),
		reflect.TypeFor[PurgeReport](), reflect.TypeFor[RecalledNode](), reflect.TypeFor[SandboxKey](), reflect.TypeFor[SessionResult](),
		reflect.TypeFor[Settings](), reflect.TypeFor[TeamMember](), reflect.TypeFor[TemporalView](), reflect.TypeFor[BrainInfo](),
		reflect.TypeFor[SearchFilters](), reflect.TypeFor[SessionEvent](), reflect.TypeFor[NodePatch](), reflect.TypeFor[APIKey](),
		reflect.TypeFor[NewConnector](), reflect.TypeFor[NewWebhook](), reflect.TypeFor[SettingsPatch](),
	} {
		add(rt)
	}
	return types
}

func checkEnums(t *testing.T, doc *document, known map[string][]string, where string, s *schema, rt reflect.Type) {
	if s == nil {
		return // a type of our own
	}
	for name, property := range s.Properties {
		property = doc.resolve(property)
		if property.kind() == "array" {
			property = doc.resolve(property.Items)
		}
		field, ok := fieldOf(rt, name)
		if !ok || len(property.Enum) == 0 {
			continue // that a field is missing, the other test says
		}
		for field.Kind() == reflect.Slice || field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		for _, value := range property.Enum {
			if len(property.Enum) > 1 && !slices.Contains(known[field.Name()], value.(string)) {
				t.Errorf("%s.%s may be %q, which %s does not know", where, name, value, field.Name())
			}
		}
	}
}

func fieldOf(rt reflect.Type, name string) (reflect.Type, bool) {
	for _, field := range reflect.VisibleFields(rt) {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name {
			return field.Type, true
		}
	}
	return nil, false
}
