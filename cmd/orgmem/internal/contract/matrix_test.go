package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	pb "orgmem/proto"
)

// The scopes (docs/interface.md, "Keys and scopes"), and what implies what.
var (
	allScopes = []string{"read", "write", "admin", "graph:write", "memory:forget", "subjects:provision", "usage:read"}
	implies   = map[string][]string{
		"write": {"graph:write", "memory:forget"},
		"admin": {"subjects:provision", "usage:read"},
	}
	fullScope = []string{"read", "write", "admin"}
)

func holds(scopes []string, want string) bool {
	if want == "" || slices.Contains(scopes, want) {
		return true
	}
	return slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(implies[s], want) })
}

// fixture makes what a request is about, in the partition of its maker: a caller
// with every scope who acts where the request's caller does.
type fixture struct {
	*stack
	org   org
	user  pb.UserID
	maker caller
	n     *atomic.Int64
}

func (f fixture) next(prefix string) string { return fmt.Sprint(prefix, f.n.Add(1)) }

func (f fixture) node(t *testing.T) string {
	t.Helper()
	return f.note(t, f.maker, f.next("The boiler speaks, number "))
}

// entity ingests a text that names somebody, and returns who that is.
func (f fixture) entity(t *testing.T) string {
	t.Helper()
	f.note(t, f.maker, f.next("Amelia Norwood repaired the boiler, says note "))
	list := f.ok(t, f.maker, http.MethodGet, "/v1/graph/nodes?kind=entity", "").object(t)["data"].([]any)
	if len(list) == 0 {
		t.Fatal("nobody was read out of the text")
	}
	return list[0].(map[string]any)["id"].(string)
}

func (f fixture) edge(t *testing.T) string {
	t.Helper()
	body := fmt.Sprintf(`{"source":%q,"target":%q,"type":"near"}`, f.node(t), f.node(t))
	return f.ok(t, f.maker, http.MethodPost, "/v1/graph/edges", body).text(t, "id")
}

// domain and proposal return what a cycle has derived in the maker's memory, and have one
// run where there is nothing (any more).
func (f fixture) domain(t *testing.T) string {
	t.Helper()
	list := func() []map[string]any {
		return f.ok(t, f.maker, http.MethodGet, "/v1/graph/domains", "").entries(t, "data")
	}
	found := list()
	if len(found) == 0 {
		f.proposals(t, 1)
		found = list()
	}
	return found[0]["id"].(string)
}

func (f fixture) proposal(t *testing.T) string {
	t.Helper()
	if open := f.ok(t, f.maker, http.MethodGet, "/v1/proposals?status=open", "").entries(t, "data"); len(open) > 0 {
		return open[0]["id"].(string)
	}
	return f.proposals(t, 1)[0]
}

func (f fixture) newJob(t *testing.T) string {
	t.Helper()
	return f.ok(t, f.maker, http.MethodPost, "/v1/ingest", fmt.Sprintf(`{"content":%q}`, f.next("Text "))).text(t, "jobId")
}

func (f fixture) export(t *testing.T) string {
	t.Helper()
	return f.ok(t, f.maker, http.MethodPost, "/v1/exports", `{"format":"json"}`).text(t, "exportId")
}

func (f fixture) webhook(t *testing.T) string {
	t.Helper()
	c := caller{key: f.maker.key}
	list := f.ok(t, c, http.MethodGet, "/v1/webhooks", "").object(t)["data"].([]any)
	for _, w := range list { // at most 20 may be there
		f.ok(t, c, http.MethodDelete, "/v1/webhooks/"+w.(map[string]any)["id"].(string), "")
	}
	return f.ok(t, c, http.MethodPost, "/v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["*"]}`).text(t,
		"id")
}

// delivery is an endpoint and one that was sent to it.
func (f fixture) delivery(t *testing.T) string {
	t.Helper()
	c, hook := caller{key: f.maker.key}, f.webhook(t)
	f.ok(t, c, http.MethodPost, "/v1/webhooks/"+hook+"/test", "")
	sent := f.ok(t, c, http.MethodGet, "/v1/webhooks/"+hook, "").entries(t, "attempts")
	return hook + "/" + sent[0]["id"].(string)
}

const newConnector = `{"type":"feed","name":"News","config":{"url":"https://example.com/feed.xml"}}`

func (f fixture) connector(t *testing.T) string {
	t.Helper()
	return f.ok(t, caller{key: f.maker.key}, http.MethodPost, "/v1/connectors", newConnector).text(t, "id")
}

// form is an upload, with the boundary that send announces.
func form(text string) string {
	return "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" + text +
		"\r\n--sample--\r\n"
}

// request is a sample of a route: what fills its path, its query and its body.
type request struct{ id, query, body string }

// samples give each route something that it succeeds with. A route that is not
// here has no parameter and no body.
var samples = map[string]func(t *testing.T, f fixture) request{
	"createKey": func(*testing.T, fixture) request { return request{body: `{"label":"made"}`} },
	"revokeKey": func(t *testing.T, f fixture) request {
		return request{id: pb.HashKey(f.org.mint(t, f.user, "read")).String()}
	},
	"createSandboxKey": func(*testing.T, fixture) request { return request{body: `{}`} },
	"revokeSandboxKey": func(t *testing.T, f fixture) request {
		return request{id: f.ok(t, caller{key: f.org.key}, http.MethodPost, "/v1/sandbox/keys", `{}`).text(t, "id")}
	},
	"putSubject": func(_ *testing.T, f fixture) request { return request{id: f.next("subject-")} },
	"getSubject": func(*testing.T, fixture) request { return request{id: "anna"} },
	"eraseSubject": func(t *testing.T, f fixture) request {
		id := f.next("subject-")
		f.ok(t, caller{key: f.org.key}, http.MethodPut, "/v1/subjects/"+id, "")
		return request{id: id}
	},
	"getDomain": func(t *testing.T, f fixture) request { return request{id: f.domain(t)} },
	"assertEdge": func(t *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"source":%q,"target":%q,"type":"near"}`, f.node(t), f.node(t))}
	},
	"getEdge":         func(t *testing.T, f fixture) request { return request{id: f.edge(t)} },
	"forgetEdge":      func(t *testing.T, f fixture) request { return request{id: f.edge(t)} },
	"getNode":         func(t *testing.T, f fixture) request { return request{id: f.node(t)} },
	"entityElsewhere": func(t *testing.T, f fixture) request { return request{id: f.entity(t)} },
	"recallNode":      func(t *testing.T, f fixture) request { return request{id: f.node(t)} },
	"getNodeHistory":  func(t *testing.T, f fixture) request { return request{id: f.node(t)} },
	"forgetNode":      func(t *testing.T, f fixture) request { return request{id: f.node(t)} },
	"editNode":        func(t *testing.T, f fixture) request { return request{id: f.node(t), body: `{"title":"Edited"}`} },
	"supersedeNode": func(t *testing.T, f fixture) request {
		return request{id: f.node(t), body: fmt.Sprintf(`{"content":%q,"reason":"newer"}`, f.next("Newer "))}
	},
	"undeleteNode": func(t *testing.T, f fixture) request {
		id := f.node(t)
		f.ok(t, f.maker, http.MethodDelete, "/v1/graph/nodes/"+id, "")
		return request{id: id}
	},
	"ingest": func(_ *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"content":%q}`, f.next("Text "))}
	},
	"ingestBatch": func(_ *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"items":[{"content":%q}]}`, f.next("Text "))}
	},
	"getIngestStatus": func(t *testing.T, f fixture) request { return request{id: f.newJob(t)} },
	"getJob":          func(t *testing.T, f fixture) request { return request{id: f.newJob(t)} },
	"cancelJob":       func(t *testing.T, f fixture) request { return request{id: f.newJob(t)} },
	"search":          func(*testing.T, fixture) request { return request{body: `{"query":"boiler"}`} },
	"retrieve":        func(*testing.T, fixture) request { return request{body: `{"query":"boiler"}`} },
	"conditionSession": func(_ *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"orgId":%q,"userId":%q,"cwd":"/home/boiler"}`, f.org.id, f.user)}
	},
	"conditionScaffold": func(*testing.T, fixture) request {
		return request{body: `{"prompt":"Write about the boiler."}`}
	},
	"recall":            func(*testing.T, fixture) request { return request{id: "graph"} },
	"recallGraphSearch": func(*testing.T, fixture) request { return request{query: "q=boiler"} },
	"getIdentity":       func(_ *testing.T, f fixture) request { return request{id: f.user.String()} },
	"acceptProposal":    func(t *testing.T, f fixture) request { return request{id: f.proposal(t)} },
	"rejectProposal":    func(t *testing.T, f fixture) request { return request{id: f.proposal(t)} },
	"queryBrain":        func(*testing.T, fixture) request { return request{body: `{"query":"boiler"}`} },
	"answerFromBrain":   func(*testing.T, fixture) request { return request{body: `{"query":"boiler"}`} },
	"createExport":      func(*testing.T, fixture) request { return request{body: `{"format":"json"}`} },
	"getExport":         func(t *testing.T, f fixture) request { return request{id: f.export(t)} },
	"downloadExport":    func(t *testing.T, f fixture) request { return request{id: f.export(t)} },
	"purge":             func(*testing.T, fixture) request { return request{body: `{"scope":"org"}`} },
	"patchSettings":     func(*testing.T, fixture) request { return request{body: `{"qualityMode":"fast"}`} },
	"getUsage": func(*testing.T, fixture) request {
		return request{query: "startTime=2026-03-01T00:00:00Z&endTime=2026-03-02T00:00:00Z"}
	},
	"ingestSessionEvent": func(_ *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"sessionId":"s","role":"user","text":%q}`, f.next("Line "))}
	},
	"ingestSessionBatch": func(_ *testing.T, f fixture) request {
		return request{body: fmt.Sprintf(`{"events":[{"sessionId":"s","role":"user","text":%q}]}`, f.next("Line "))}
	},
	"ingestAgentSignals": func(*testing.T, fixture) request {
		return request{body: `{"sessionId":"s","signals":[{"type":"loop"}]}`}
	},
	"deleteSession": func(t *testing.T, f fixture) request {
		id := f.next("session-")
		f.ok(t, caller{key: f.maker.key}, http.MethodPost, "/v1/ingest/session-event",
			fmt.Sprintf(`{"sessionId":%q,"role":"user","text":"A line."}`, id))
		return request{id: id}
	},
	"importFile": func(_ *testing.T, f fixture) request { return request{body: form(f.next("Some text, number "))} },
	"importTranscript": func(_ *testing.T, f fixture) request {
		return request{body: form("Ann: Hello.\nBob: " + f.next("Hello, "))}
	},
	"createConnector": func(*testing.T, fixture) request { return request{body: newConnector} },
	"getConnector":    func(t *testing.T, f fixture) request { return request{id: f.connector(t)} },
	"patchConnector": func(t *testing.T, f fixture) request {
		return request{id: f.connector(t), body: `{"enabled":false}`}
	},
	"deleteConnector": func(t *testing.T, f fixture) request { return request{id: f.connector(t)} },
	"syncConnector":   func(t *testing.T, f fixture) request { return request{id: f.connector(t)} },
	"createWebhook": func(t *testing.T, f fixture) request {
		f.webhook(t)
		return request{body: `{"url":"https://example.com/hook","eventTypes":["*"]}`}
	},
	"getWebhook":    func(t *testing.T, f fixture) request { return request{id: f.webhook(t)} },
	"patchWebhook":  func(t *testing.T, f fixture) request { return request{id: f.webhook(t), body: `{"disabled":true}`} },
	"deleteWebhook": func(t *testing.T, f fixture) request { return request{id: f.webhook(t)} },
	"getDelivery":   func(t *testing.T, f fixture) request { return request{id: f.delivery(t)} },
	"testWebhook":   func(t *testing.T, f fixture) request { return request{id: f.webhook(t)} },
}

// besides lists the refusals that are as good as a success here: the sample
// cannot bring the state about, or the work may be over already.
var besides = map[string][]string{
	"queryBrain":      {"brain_not_trained"},
	"trainBrain":      {"train_in_progress"},            // of the one who asked before
	"evaluateQuality": {"conflict", "service_degraded"}, // of those who asked before
	"downloadExport":  {"export_not_ready"},
	"cancelJob":       {"job_not_cancellable"},
	"deleteSession":   {"session_not_found"}, // those of a subject cannot be made
}

// apart lists what a sandbox key does not find: the organization's own.
var apart = map[string]string{"getSubject": "subject_not_found", "revokeKey": "key_not_found"}

// route is a row of the document.
type route struct {
	method, path, id, scope, subject string
}

func (s *stack) routes(t testing.TB) []route {
	t.Helper()
	var all []route
	for path, item := range s.doc.Spec.Paths.Map() {
		for method, op := range item.Operations() {
			scope, _ := op.Extensions["x-svc-scope"].(string)
			subject, _ := op.Extensions["x-svc-subject"].(string)
			all = append(all, route{method, path, op.OperationID, scope, subject})
		}
	}
	slices.SortFunc(all, func(a, b route) int { return strings.Compare(a.id, b.id) })
	if len(all) < 50 {
		t.Fatalf("only %d routes in the document", len(all))
	}
	return all
}

// parameter is one of a path.
var parameter = regexp.MustCompile(`\{[^}]+\}`)

// target puts an id into the route's path; where it has several, a slash is between them, and what is missing is the
// last again.
func (r route) target(id, query string) string {
	ids := []string{id}
	if n := strings.Count(r.path, "{"); n > 1 {
		ids = strings.SplitN(id, "/", n)
	}
	path := parameter.ReplaceAllStringFunc(r.path, func(string) string {
		next := strings.ReplaceAll(ids[0], "%", "%25")
		ids = ids[min(1, len(ids)-1):]
		return next
	})
	if query != "" {
		path += "?" + query
	}
	return path
}

// credential is a row of the matrix: who asks, with what.
type credential struct {
	name    string
	caller  caller
	fix     fixture
	scopes  []string
	sandbox bool
	// refusal is what every route that takes a selector answers; "" means that
	// the selection is good.
	refusal string
}

func (s *stack) credentials(t *testing.T, o org) []credential {
	t.Helper()
	n := &atomic.Int64{}
	own := fixture{s, o, o.owner, caller{key: o.key}, n}
	anna := own
	anna.maker = anna.maker.as("anna")
	s.ok(t, own.maker, http.MethodPut, "/v1/subjects/anna", "")
	all := []credential{
		{
			name: "no scope but any", caller: caller{key: o.mint(t, o.owner, "usage:read")}, fix: own,
			scopes: []string{"usage:read"},
		},
		{name: "everything", caller: own.maker, fix: own, scopes: fullScope},
		{name: "a provisioned subject", caller: own.maker.as("anna"), fix: anna, scopes: fullScope},
		{
			name: "a subject that is not provisioned", caller: own.maker.as("nobody"), fix: own, scopes: fullScope,
			refusal: "subject_not_provisioned",
		},
		{
			name:   "no scope, a subject that is not provisioned",
			caller: caller{key: o.mint(t, o.owner, "usage:read")}.as("nobody"), fix: own, scopes: []string{"usage:read"},
			refusal: "subject_not_provisioned",
		},
	}
	for _, scope := range allScopes {
		all = append(all, credential{
			name: "scope " + scope, caller: caller{key: o.mint(t, o.owner, scope)}, fix: own,
			scopes: []string{scope},
		})
	}
	for _, role := range []account.Role{pb.RoleAdmin, pb.RoleMember} {
		user := o.recruit(t, string(role)+"@example.com", role)
		c := caller{key: o.mint(t, user, fullScope...)}
		all = append(all, credential{
			name: "role " + string(role), caller: c, fix: fixture{s, o, user, c, n},
			scopes: fullScope,
		})
	}
	box := caller{key: s.ok(t, own.maker, http.MethodPost, "/v1/sandbox/keys", `{}`).text(t, "apiKey")}
	boxed := fixture{s, o, o.owner, box, n}
	return append(all,
		credential{name: "sandbox", caller: box, fix: boxed, scopes: []string{"read", "write"}, sandbox: true},
		credential{
			name: "sandbox, selecting", caller: box.as("anna"), fix: boxed, scopes: []string{"read", "write"},
			sandbox: true, refusal: "permission_denied",
		},
		credential{
			name: "sandbox, selecting nobody", caller: box.as("nobody"), fix: boxed, scopes: []string{"read", "write"},
			sandbox: true, refusal: "permission_denied",
		},
	)
}

// refusalOf is the code that a route must answer a credential with, "" when it
// must not refuse it.
func refusalOf(r route, c credential) string {
	switch {
	case r.subject == "unread" && !holds(c.scopes, r.scope):
		return "permission_denied"
	case r.subject == "unread":
		return ""
	case c.caller.subject != "" && r.subject == "refused":
		return "subject_not_supported"
	case c.refusal != "":
		return c.refusal
	case !holds(c.scopes, r.scope):
		return "permission_denied"
	case c.sandbox && r.id == "deleteMe":
		return "permission_denied"
	case r.id == "entityElsewhere" && c.caller.subject != "": // a subject has no elsewhere
		return "permission_denied"
	}
	return ""
}

// TestAccessMatrix sends every route with every single scope, every role, a
// sandbox key, and as a provisioned and an unprovisioned subject, to the whole
// service. Who may not is refused with exactly the code; who may succeeds.
//
// interface: Authentication/6 scopes
// interface: Authentication/7 sandbox keys
// interface: Authentication/8 acting as a subject
// interface: Endpoints/Conventions X-Svc-Subject
func TestAccessMatrix(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	creds := s.credentials(t, o)
	for _, r := range s.routes(t) {
		if r.id == "deleteMe" {
			continue // below: it removes who asks
		}
		t.Run(r.id, func(t *testing.T) {
			for _, c := range creds {
				s.check(t, r, c)
			}
		})
	}
	t.Run("deleteMe", func(t *testing.T) {
		for i, c := range s.credentials(t, s.org(t, "To be left")) {
			if holds(c.scopes, "write") && !c.sandbox && c.refusal == "" { // each in an organization of its own
				fresh := s.credentials(t, s.org(t, fmt.Sprint("To be left ", i)))
				c = fresh[slices.IndexFunc(fresh, func(f credential) bool { return f.name == c.name })]
			}
			s.check(t, route{http.MethodDelete, "/v1/me", "deleteMe", "write", "ignored"}, c)
		}
	})
}

// check sends one cell of the matrix.
func (s *stack) check(t *testing.T, r route, c credential) {
	t.Helper()
	if wrong := s.judge(t, r, c); wrong != "" {
		t.Errorf("%s: %s", c.name, wrong)
	}
}

// judge sends one cell of the matrix and says what is wrong with the answer, "" if
// nothing is.
func (s *stack) judge(t *testing.T, r route, c credential) string {
	t.Helper()
	want := refusalOf(r, c)
	req := request{id: "nothing"}
	if sample := samples[r.id]; sample != nil && want == "" {
		req = sample(t, c.fix)
	}
	a := s.send(t, c.caller, r.method, r.target(req.id, req.query), req.body)
	got := a.code(t)
	switch {
	case want != "":
		if got != want {
			return fmt.Sprintf("%d %s instead of %s", a.status, a.body, want)
		}
	case got == "" || slices.Contains(besides[r.id], got):
	case c.sandbox && got == apart[r.id]:
	case r.id == "deleteMe" && got == "last_owner":
	case samples[r.id] == nil && got != "permission_denied" && a.status != http.StatusUnauthorized:
		return fmt.Sprintf("no sample that succeeds: %d %s", a.status, a.body)
	default:
		return fmt.Sprintf("%d %s", a.status, a.body)
	}
	return ""
}
