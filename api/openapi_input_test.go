package api

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// fits reports whether the document allows a value.
func fits(s *openapi3.SchemaRef, value any) bool {
	return s.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()) == nil
}

// TestDocumentForbidsWhatIsRefused sends bodies that are refused, and near ones that are
// not: the document says the same of each. A second fuzzer looks for more
// (TestTrustOpenAPI of cmd/orgmem).
func TestDocumentForbidsWhatIsRefused(t *testing.T) {
	h := newHarness(t)
	const (
		feed = `{"type":"feed","name":"News","config":`
		hook = `{"eventTypes":["*"],"url":`
		edge = `{"source":"a","target":"b","type":`
		said = `{"role":"user","text":"Hello.","sessionId":`
		mac  = `{"signals":[{"type":"loop"}],"sessionId":`
	)
	for _, c := range []struct {
		path, body string
		ok         bool
	}{
		{"POST /v1/connectors", feed + `{"url":"https://example.com/feed"}}`, true},
		{"POST /v1/connectors", feed + `{}}`, false},
		{"POST /v1/connectors", feed + `{"url":"https://example.com/feed","branch":"main"}}`, false},
		{"POST /v1/connectors", feed + `{"url":"https://example.com/\u0000"}}`, false},
		{"POST /v1/connectors", feed + `{"url":"https://example.com/feed","authorization":"a\u0000b"}}`, false},
		{
			"POST /v1/connectors",
			`{"type":"git","name":"Docs","config":{"url":"https://example.com/docs.git","branch":"main"}}`, true,
		},
		{"POST /v1/connectors", `{"type":"git","name":"Docs","config":{"branch":"main"}}`, false},
		{"POST /v1/connectors", `{"type":"web","name":"Site","config":{"sitemap":"https://example.com/sitemap.xml"}}`, true},
		{"POST /v1/connectors", `{"type":"web","name":"Site","config":{"pages":["https://example.com/"]}}`, true},
		{
			"POST /v1/connectors",
			`{"type":"web","name":"Site","config":{"pages":["https://example.com/"],"sitemap":"https://example.com/"}}`, false,
		},
		{"POST /v1/connectors", `{"type":"web","name":"Site","config":{}}`, false},
		{"POST /v1/connectors", `{"type":"web","name":" \u200b","config":{"pages":["https://example.com/"]}}`, false},
		{"PATCH /v1/connectors/c", `{"enabled":false}`, true},
		{"PATCH /v1/connectors/c", `{"config":{"pages":["https://example.com/"]}}`, true},
		{"PATCH /v1/connectors/c", `{"config":{}}`, false},
		{"PATCH /v1/connectors/c", `{}`, false},
		{"POST /v1/webhooks", hook + `"https://example.com/hook"}`, true},
		{"POST /v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["*","graph.updated"]}`, false},
		{"POST /v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["*","*"]}`, false},
		{"POST /v1/webhooks", `{"url":"https://example.com/hook","eventTypes":["job.completed","graph.updated"]}`, true},
		{"PATCH /v1/webhooks/w", `{"disabled":true}`, true},
		{"PATCH /v1/webhooks/w", `{}`, false},
		{"PATCH /v1/graph/nodes/n", `{"title":"A title","reason":"It was wrong."}`, true},
		{"PATCH /v1/graph/nodes/n", `{"reason":"It was wrong."}`, false},
		{"PATCH /v1/graph/nodes/n", `{"title":"\u00a0"}`, false},
		{"PATCH /v1/graph/nodes/n", `{"domainId":"a\u0000"}`, false},
		{"PATCH /v1/graph/nodes/n", `{"metadata":{"a":{"b":["c\u0000"]}}}`, false},
		{"PATCH /v1/graph/nodes/n", `{"metadata":{"a\u0000":1}}`, false},
		{"PATCH /v1/graph/nodes/n", `{"metadata":{"a":{"b":["c",null,1.5,{"d":true}]}}}`, true},
		{"POST /v1/graph/edges", edge + `"part_of:x-1.2"}`, true},
		{"POST /v1/graph/edges", edge + `""}`, false},
		{"POST /v1/graph/edges", edge + `"1st"}`, false},
		{"POST /v1/graph/edges", edge + `"part of"}`, false},
		{"POST /v1/graph/edges", edge + `"superseded_by"}`, false},
		{"POST /v1/graph/edges", edge + `"` + strings.Repeat("a", maxEdgeType+1) + `"}`, false},
		{"POST /v1/graph/edges", edge + `"is","note":"a\u0000"}`, false},
		{"POST /v1/purge", `{"scope":"org"}`, true},
		{"POST /v1/purge", `{"scope":"org","subjectId":"","confirmToken":""}`, true},
		{"POST /v1/purge", `{"scope":"org","subjectId":"ann"}`, false},
		{"POST /v1/purge", `{"scope":"subject","subjectId":"ann","dryRun":true}`, true},
		{"POST /v1/purge", `{"scope":"subject"}`, false},
		{"POST /v1/purge", `{"scope":"subject","subjectId":""}`, false},
		{"POST /v1/purge", `{"scope":"org","confirmToken":"t"}`, false},
		{"POST /v1/purge", `{"scope":"org","dryRun":false}`, false},
		{"POST /v1/purge", `{"scope":"org","dryRun":false,"confirmToken":"t"}`, true},
		{"POST /v1/purge", `{"scope":"subject","subjectId":"ann","dryRun":false,"confirmToken":"t"}`, true},
		{"POST /v1/ingest", `{"content":"Two\nlines."}`, true},
		{"POST /v1/ingest", `{"content":"a\u0000b"}`, false},
		{"POST /v1/ingest", `{"content":"\n\u202e\ufeff"}`, false},
		{"POST /v1/ingest", `{"content":"Text.","title":"a\u0000"}`, false},
		{"POST /v1/ingest/batch", `{"items":[{"content":"Text."},{"content":" "}]}`, false},
		{"POST /v1/search", `{"query":"boiler"}`, true},
		{"POST /v1/search", `{"query":"\t"}`, false},
		{"POST /v1/search", `{"query":"boiler","filters":{"metadata":{"a":"b\u0000"}}}`, false},
		{"POST /v1/search", `{"query":"boiler","filters":{"metadata":{"a":"b","c":1,"d":true}}}`, true},
		{"POST /v1/ingest/session-event", said + `"s/1 ü"}`, true},
		{"POST /v1/ingest/session-event", said + `"s\u0085"}`, false},
		{"POST /v1/ingest/session-event", said + `"` + strings.Repeat("s", web.MaxSubjectBytes+1) + `"}`, false},
		{"POST /v1/ingest/agent-signals", mac + `"s\n1"}`, false},
		{"POST /v1/ingest/agent-signals", mac + `"s1"}`, true},
		{"POST /v1/keys", `{"label":" "}`, false},
	} {
		method, path, _ := strings.Cut(c.path, " ")
		route := h.routeOf(method, path)
		op := h.document().Paths.Find(route.Path).GetOperation(method)
		var value any
		if err := json.Unmarshal([]byte(c.body), &value); err != nil {
			t.Fatal(err)
		}
		if got := fits(op.RequestBody.Value.Content["application/json"].Schema, value); got != c.ok {
			t.Errorf("%s %s: the document allows it: %v, want %v", c.path, c.body, got, c.ok)
		}
		if res := h.do(method, path, c.body); (res.StatusCode < 300) != c.ok || !c.ok && res.code(t) != pb.CodeValidation {
			t.Errorf("%s %s: %d %s, want ok %v", c.path, c.body, res.StatusCode, res.body, c.ok)
		}
	}
}

// TestDocumentForbidsParametersThatAreRefused does it for queries, headers and paths.
func TestDocumentForbidsParametersThatAreRefused(t *testing.T) {
	h := newHarness(t)
	for _, c := range []struct {
		route, in, name, value string
		ok                     bool
	}{
		{"GET /v1/graph/nodes", "query", "cursor", "", false},
		{"GET /v1/graph/nodes", "query", "cursor", "aGVsbG8", true},
		{"GET /v1/recall/insights", "query", "cursor", "", false},
		{"GET /v1/graph/nodes", "query", "q", "boiler room", true},
		{"GET /v1/graph/nodes", "query", "q", "\x00 \u200b", false},
		{"GET /v1/recall/graph/search", "query", "q", "\t", false},
		{"GET /v1/graph/domains", "query", "q", " ", false},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "ann", true},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "J%C3%B6rg%2f1 %25", true},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%f0%9f%90%9d", true},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "100%", false},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%zz", false},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%ff", false},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%c3", false},
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%ed%a0%80", false}, // half of a pair
		{"GET /v1/graph/nodes", "header", "X-Svc-Subject", "%f4%90%80%80", false},
		{"PATCH /v1/graph/nodes/n", "header", "If-Match", `"a", W/"b"`, true},
		{"PATCH /v1/graph/nodes/n", "header", "If-Match", `*`, true},
		{"PATCH /v1/graph/nodes/n", "header", "If-Match", `a`, false},
		{"PATCH /v1/graph/nodes/n", "header", "If-Match", `"a" "b"`, false},
		{"POST /v1/keys", "header", "Idempotency-Key", "two words", false},
		{"POST /v1/keys", "header", "Idempotency-Key", "one", true},
		{"PUT /v1/subjects/{subject_id}", "path", "subject_id", "Jörg/1", true},
		{"PUT /v1/subjects/{subject_id}", "path", "subject_id", "a\nb", false},
		{"PUT /v1/subjects/{subject_id}", "path", "subject_id", "a\u009f", false},
		{"PUT /v1/subjects/{subject_id}", "path", "subject_id", strings.Repeat("a", web.MaxSubjectBytes+1), false},
		{"GET /v1/recall/{recall_type}", "path", "recall_type", "temporal", true},
		{"GET /v1/audit", "query", "actor", "operator", true},
		{"GET /v1/audit", "query", "actor", "6041AB79-28b9-4b02-b144-636a10b8f04a", true},
		{"GET /v1/audit", "query", "actor", strings.Repeat("0", 64), true},
		{"GET /v1/audit", "query", "actor", strings.Repeat("0", 63), false},
		{"GET /v1/audit", "query", "actor", "ann", false},
		{"GET /v1/audit", "query", "action", "", false},
	} {
		method, target, _ := strings.Cut(c.route, " ")
		var headers []string
		switch c.in {
		case "query":
			target += "?" + url.Values{c.name: {c.value}}.Encode()
		case "header":
			headers = []string{c.name, c.value}
		case "path":
			target = strings.Replace(target, "{"+c.name+"}", url.PathEscape(c.value), 1)
		}
		if strings.HasSuffix(c.route, "graph/search") {
			headers = nil
		}
		route := h.routeOf(method, target)
		_, body := h.sample(route)
		op := h.document().Paths.Find(route.Path).GetOperation(method)
		i := slices.IndexFunc(op.Parameters, func(p *openapi3.ParameterRef) bool {
			return p.Value.Name == c.name && p.Value.In == c.in
		})
		if i < 0 {
			t.Fatalf("%s has no parameter %s", c.route, c.name)
		}
		if got := fits(op.Parameters[i].Value.Schema, c.value); got != c.ok {
			t.Errorf("%s %s=%q: the document allows it: %v, want %v", c.route, c.name, c.value, got, c.ok)
		}
		if res := h.do(method, target, body, headers...); (res.StatusCode < 300) != c.ok ||
			!c.ok && res.StatusCode != 400 && res.StatusCode != 422 {
			t.Errorf("%s %s=%q: %d %s, want ok %v", c.route, c.name, c.value, res.StatusCode, res.body, c.ok)
		}
	}
}

// TestVisibleTextIsWhatCanonTakesForVisible: the pattern and the reader agree on every
// character.
func TestVisibleTextIsWhatCanonTakesForVisible(t *testing.T) {
	s := &openapi3.SchemaRef{Value: &openapi3.Schema{Type: &openapi3.Types{"string"}, Pattern: wire.VisibleText}}
	for r := rune(0); r <= 0x10ffff; r++ {
		if r >= 0xd800 && r < 0xe000 || r > 0x3000 && r < 0xf000 && r%64 != 0 || r > 0x20000 && r < 0xe0000 {
			continue // halves of pairs, and thousands of ideographs
		}
		if r > 0x1e000 && r < 0xe0000 && r%64 != 0 || r > 0xe0200 {
			continue
		}
		if got, want := s.Value.VisitJSON(string(r)) == nil, canon.Visible(r); got != want {
			t.Errorf("%U: the pattern says %v, canon %v", r, got, want)
		}
	}
}

// TestDocumentHasTheAnswersBeforeTheRoute: headers can be too large for any request, and
// any answer can be one of a node that is busy or going.
func TestDocumentHasTheAnswersBeforeTheRoute(t *testing.T) {
	h := newHarness(t)
	for path, item := range h.document().Paths.Map() {
		for method, op := range item.Operations() {
			for _, status := range []int{400, 401, 422, 429, 431, 500, 503} {
				if op.Responses.Status(status) == nil {
					t.Errorf("%s %s does not tell of %d", method, path, status)
				}
			}
			if busy := op.Responses.Status(503); busy != nil && busy.Value.Headers["Retry-After"] == nil {
				t.Errorf("%s %s: 503 without Retry-After", method, path)
			}
		}
	}
}
