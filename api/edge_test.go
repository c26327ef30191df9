package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// TestFaultyOrgExportNeedsAdmin: which scope a request needs is decided before its
// body is judged, also where the body says it.
func TestFaultyOrgExportNeedsAdmin(t *testing.T) {
	h := newHarness(t)
	for body, want := range map[string]string{
		`{"scope":"org","format":"csv"}`: pb.ScopeAdmin, `{"scope":"org","colour":1}`: pb.ScopeAdmin,
		`{"scope":"user","format":"csv"}`: pb.ScopeWrite, `{"scope":7}`: pb.ScopeWrite,
	} {
		res := h.do("POST", "/v1/exports", body)
		if env := h.asker.last(); res.code(t) != pb.CodeValidation || env.GetScope() != want || env.GetRejected() == nil {
			t.Errorf("%s: %s, asked for %q", body, res.body, env.GetScope())
		}
	}
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	h := newHarness(t)
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/nothing", "/v2/me", "/v1/me/", "/v1//me", "/V1/me", "/v1/subjects/", "/v1/keys/a/b",
		"/v1/me/../me", "/healthz", "/metrics", "/operator/orgs",
	} {
		if res := h.do("GET", path, ""); res.code(t) != pb.CodeNotFound {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{"POST", "/v1/me", "DELETE, GET"},
		{"HEAD", "/v1/me", "DELETE, GET"},
		{"OPTIONS", "/v1/me", "DELETE, GET"},
		{"PATCH", "/v1/keys", "GET, POST"},
		{"get", "/v1/keys", "GET, POST"},
		{"POST", "/v1/subjects/ann", "DELETE, GET, PUT"},
		{"GET", "/v1/ingest/batch", "POST"},
	} {
		r := httpRequest(t, "GET", c.path, "")
		r.Method = c.method
		res := h.serve(r)
		if res.code(t) != pb.CodeMethodNotAllowed || !sameList(res.Header.Get("Allow"), c.allow) {
			t.Errorf("%s %s: %d Allow %q, want %q", c.method, c.path, res.StatusCode, res.Header.Get("Allow"), c.allow)
		}
	}
	if h.asker.last() != nil {
		t.Error("an actor was asked")
	}
}

func sameList(a, b string) bool {
	count := map[string]int{}
	for s := range strings.SplitSeq(a, ", ") {
		count[s]++
	}
	for s := range strings.SplitSeq(b, ", ") {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestPathParameters holds that an id is decoded exactly once, whatever it
// holds.
func TestPathParameters(t *testing.T) {
	h := newHarness(t)
	for sent, want := range map[string]string{
		"ann": "ann", "a%2Fb": "a/b", "a%2fb": "a/b", "100%25": "100%", "%2541": "%41", "a+b": "a+b", "a%20b": "a b",
		"J%C3%B6rg": "Jörg", "a:b@c;d=e,f": "a:b@c;d=e,f", "..": "..", "%2e%2e": "..", "a%3Fb%23c": "a?b#c", "*": "*",
		"!$&'()~": "!$&'()~",
	} {
		res := h.do("GET", "/v1/subjects/"+sent, "")
		env := h.asker.last()
		if res.StatusCode != http.StatusOK || env.GetGetSubject_().GetId() != want {
			t.Errorf("%s: %d %q, want %q", sent, res.StatusCode, env.GetGetSubject_().GetId(), want)
			continue
		}
		if got := res.json(t)["id"]; got != want {
			t.Errorf("%s: answered %q", sent, got)
		}
	}
	for _, bad := range []string{"%ff", "a%C3"} {
		if res := h.do("GET", "/v1/subjects/"+bad, ""); res.code(t) != pb.CodeMalformed {
			t.Errorf("%s: %d %s", bad, res.StatusCode, res.body)
		}
	}
	long := strings.Repeat("x", 256)
	for id, ok := range map[string]bool{
		long: true, long + "x": false, strings.Repeat("%C3%B6", 128): true, strings.Repeat("%C3%B6", 129): false,
		"a%0Ab": false, "a%00": false, "%7F": false, "%C2%85": false,
	} {
		res := h.do("PUT", "/v1/subjects/"+id, "")
		if (res.StatusCode == http.StatusCreated) != ok {
			t.Errorf("PUT %s: %d %s", id, res.StatusCode, res.body)
		}
		if !ok && res.fields(t)["subject_id"] == "" {
			t.Errorf("PUT %s: %s", id, res.body)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	h := newHarness(t)
	seen := map[string]bool{}
	for _, sent := range []string{"", "", "has space", "ünï", strings.Repeat("x", 129), "tab\tbed"} {
		id := h.do("GET", "/v1/me", "", "X-Request-Id", sent).Header.Get("X-Request-Id")
		if id == sent || seen[id] || !web.VisibleASCII(id, web.MaxRequestID) {
			t.Errorf("%q: %q", sent, id)
		}
		seen[id] = true
	}
	for _, sent := range []string{"a", strings.Repeat("x", 128), `~!"{}`} {
		if id := h.do("GET", "/v1/me", "", "X-Request-Id", sent).Header.Get("X-Request-Id"); id != sent {
			t.Errorf("%q: %q", sent, id)
		}
	}
}

// drainingError is what an actor returns that knows its own problem.
type drainingError struct{}

func (drainingError) Error() string        { return pb.CodeServiceDraining }
func (drainingError) Problem() *pb.Problem { return problems.New(pb.CodeServiceDraining) }

func TestNobodyAnswers(t *testing.T) {
	h := newHarness(t)
	cases := []struct {
		err  error
		code string
	}{
		{errBoom, pb.CodeInternal},
		{fmt.Errorf("ask: %w", context.DeadlineExceeded), pb.CodeServiceDegraded},
		{fmt.Errorf("ask: %w", drainingError{}), pb.CodeServiceDraining},
	}
	for _, c := range cases {
		h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) { return nil, c.err }
		res := h.do("GET", "/v1/me", "")
		if res.code(t) != c.code || strings.Contains(string(res.body), "secret detail") {
			t.Errorf("%v: %s", c.err, res.body)
		}
		if (res.StatusCode == http.StatusServiceUnavailable) != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%v: Retry-After %q", c.err, res.Header.Get("Retry-After"))
		}
	}
	if !strings.Contains(h.logs.String(), "boom: a secret detail") {
		t.Error("the cause is not in the log")
	}
}

func TestRepliesThatDoNotFit(t *testing.T) {
	h := newHarness(t)
	for name, reply := range map[string]*pb.Reply{
		"nothing":       {},
		"other result":  {Result: &pb.Reply_Empty{Empty: &pb.Empty{}}},
		"other status":  {Status: 202, Result: &pb.Reply_Me{Me: &pb.Principal{Org: testOrg.Bytes(), User: testUser.Bytes()}}},
		"broken id":     {Result: &pb.Reply_Me{Me: &pb.Principal{Org: []byte{1}}}},
		"unknown code":  fakeProblem("no_such_code"),
		"nil":           nil,
		"code of a 500": fakeProblem(pb.CodeInternal),
	} {
		h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) { return reply, nil }
		if res := h.do("GET", "/v1/me", ""); res.code(t) != pb.CodeInternal {
			t.Errorf("%s: %s", name, res.body)
		}
	}
}

func TestPanics(t *testing.T) {
	h := newHarness(t)
	h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) { panic("a secret detail") }
	res := h.do("POST", "/v1/ingest", `{"content":"Figs."}`, "X-Request-Id", "boom-1")
	if res.code(t) != pb.CodeInternal || strings.Contains(string(res.body), "secret") {
		t.Errorf("%s", res.body)
	}
	line := h.logLine(t)
	if line["request_id"] != "boom-1" || line["level"] != "ERROR" || line["err"] != "panic: a secret detail" ||
		!strings.Contains(fmt.Sprint(line["stack"]), "edge_test.go") {
		t.Errorf("log: %v", line)
	}
	if h.s.edge.Bodies.Held() != 0 {
		t.Error("the body's bytes are lost")
	}
	// net/http's own way to cut a connection is passed on.
	h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) { panic(http.ErrAbortHandler) }
	defer func() {
		if recover() != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			t.Error("ErrAbortHandler was swallowed")
		}
	}()
	h.serve(httpRequest(t, "GET", "/v1/me", ""))
}

// logLine returns the only line of the log, and clears it.
func (h *harness) logLine(t *testing.T) map[string]any {
	t.Helper()
	text := strings.TrimSpace(h.logs.String())
	h.logs.b.Reset()
	var line map[string]any
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		t.Fatalf("log %q: %v", text, err)
	}
	return line
}

func TestLogLines(t *testing.T) {
	h := newHarness(t)
	h.do("GET", "/v1/me", "")
	if got := h.logs.String(); got != "" {
		t.Errorf("a good request is logged: %s", got)
	}
	h.do("POST", "/v1/ingest", `{"content":""}`, "X-Request-Id", "r1", "X-Svc-Subject", "ann-private")
	line := h.logLine(t)
	want := map[string]any{
		"level": "INFO", "msg": "request", "request_id": "r1", "method": "POST", "route": "/v1/ingest", "status": 422.0,
		"code": pb.CodeValidation, "bytes_in": 14.0, "client": "192.0.2.1", "key": pb.HashKey(goodKey).String()[:12],
	}
	for key, value := range want {
		if line[key] != value {
			t.Errorf("%s = %v, want %v", key, line[key], value)
		}
	}
	h.do("GET", "/v1/figs/secret-path?q=secret", "")
	h.do("GET", "/v1/graph/nodes/secret-id%ff", "", "X-Svc-Subject", "secret-subject")
	if got := h.logs.String(); strings.Contains(got, "secret") || strings.Contains(got, "private") ||
		strings.Contains(got, goodKey) {
		t.Errorf("the log holds what clients sent: %s", got)
	}
	h.logs.b.Reset()

	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		h.clock.Advance(2 * time.Second)
		return fakeAnswer(env), nil
	}
	h.do("GET", "/v1/me", "")
	if line := h.logLine(t); line["level"] != "WARN" || line["took"] != 2e9 {
		t.Errorf("a slow request: %v", line)
	}

	all := newHarness(t, func(c *Config) { c.AccessLog = web.LogAll })
	all.do("GET", "/v1/me", "")
	if line := all.logLine(t); line["status"] != 200.0 {
		t.Errorf("LogAll: %v", line)
	}
}

// TestClientAddress holds that no header changes the client's address.
func TestClientAddress(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.AccessLog = web.LogAll })
	h.do("GET", "/v1/me", "", "X-Forwarded-For", "6.6.6.6", "X-Real-Ip", "6.6.6.6", "Forwarded", "for=6.6.6.6",
		"True-Client-Ip", "6.6.6.6")
	if line := h.logLine(t); line["client"] != "192.0.2.1" {
		t.Errorf("client %v", line["client"])
	}
}

func TestDraining(t *testing.T) {
	h := newHarness(t)
	h.s.Drain()
	h.s.Drain()
	for _, path := range []string{"/v1/me", "/v1/jobs"} {
		res := h.do("GET", path, "")
		if res.code(t) != pb.CodeServiceDraining || res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
	if h.asker.last() != nil {
		t.Error("an actor was asked")
	}
}

// TestClientLeaves holds that a client that closed the connection is neither
// answered nor counted as a failure of ours.
func TestClientLeaves(t *testing.T) {
	h := newHarness(t)
	ctx, leave := context.WithCancel(t.Context())
	h.asker.answer = func(ctx context.Context, _ *pb.Envelope) (*pb.Reply, error) {
		leave()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	w := &countingWriter{header: http.Header{}}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
				t.Error("the connection is not cut")
			}
		}()
		h.s.public.Handler.ServeHTTP(w, httpRequest(t, "GET", "/v1/me", "").WithContext(ctx))
	}()
	if w.written != 0 {
		t.Error("an answer to nobody")
	}
	if line := h.logLine(t); line["status"] != float64(web.StatusClientLeft) || line["level"] != "INFO" {
		t.Errorf("%v", line)
	}
}

type countingWriter struct {
	header  http.Header
	written int
}

func (w *countingWriter) Header() http.Header         { return w.header }
func (w *countingWriter) WriteHeader(int)             {}
func (w *countingWriter) Write(p []byte) (int, error) { w.written += len(p); return len(p), nil }

// TestAnswersAreWhole looks at one answer of each kind, field by field.
func TestAnswersAreWhole(t *testing.T) {
	h := newHarness(t)
	const at = "2026-03-04T05:06:07.089Z"
	compare := func(method, target, body, want string) {
		t.Helper()
		res := h.do(method, target, body)
		var got, wanted any
		if err := json.Unmarshal(res.body, &got); err != nil {
			t.Fatalf("%s: %v", res.body, err)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if a, b := mustJSON(t, got), mustJSON(t, wanted); a != b {
			t.Errorf("%s %s\n got %s\nwant %s", method, target, a, b)
		}
	}
	hash := pb.HashKey(goodKey).String()
	compare("GET", "/v1/me", "", `{"org":{"id":"`+testOrg.String()+
		`","displayName":"Fig & Co","slug":"fig-co","settings":{"embedding":{"model":"","chunks":0,"embedded":0}}},"user":{"id":"`+testUser.String()+
		`"},"scopes":["read","write"],"subjectDefault":"`+testUser.String()+`","plan":"standard"}`)
	compare("GET", "/v1/keys", "", `{"keys":[{"id":"`+hash+`","label":"laptop","status":"active",`+
		`"scopes":["read","admin"],"createdAt":"`+at+`","lastUsedAt":null,"revokedAt":null},`+
		`{"id":"`+hash+`","label":"old","status":"revoked","scopes":[],"createdAt":"`+at+
		`","lastUsedAt":"`+at+`","revokedAt":"`+at+`"}]}`)
	compare("POST", "/v1/keys", `{"label":"laptop"}`, `{"apiKey":"`+goodKey+`","id":"`+hash+`","label":"laptop"}`)
	compare("GET", "/v1/subjects", "", `{"data":[{"id":"ann","createdAt":"`+at+`"}],"hasMore":true,"nextCursor":"next"}`)
	compare("POST", "/v1/ingest", `{"content":"Figs."}`, `{"jobId":"`+testJob.String()+`","status":"pending"}`)
	job := `"id":"` + testJob.String() +
		`","type":"ingest","progress":{"done":1,"total":1},"subject":"ann","attempts":1,"createdAt":"` + at +
		`","startedAt":"2026-03-04T05:06:07.090Z","finishedAt":"2026-03-04T05:06:07.091Z","error":null,` +
		`"result":{"items":[{"index":0,"externalId":"doc-1","nodeId":"ingest:x:y","status":"created"},{"index":1,` +
		`"externalId":null,"nodeId":null,"status":"failed","error":"it was empty"}]}`
	compare("GET", "/v1/ingest/"+testJob.String()+"/status", "", `{`+job+`,"status":"done"}`)
	compare("GET", "/v1/jobs/"+testJob.String(), "", `{`+job+`,"status":"succeeded"}`)
	compare("GET", "/v1/jobs", "", `{"data":[{`+job+`,"status":"succeeded"}],"hasMore":false}`)
	compare("POST", "/v1/jobs/"+testJob.String()+"/cancel", "",
		`{"id":"`+testJob.String()+
			`","type":"export","status":"queued","progress":{"done":0,"total":0},"subject":null,"attempts":0,"createdAt":"`+at+
			`","startedAt":null,"finishedAt":null,"error":{"code":"gone_wrong","detail":"Once."},"result":null}`)
	compare("POST", "/v1/search", `{"query":"figs"}`,
		`{"results":[{"chunk":"Figs ripen late.","chunkId":"c1","nodeId":"ingest:x:y","title":"Figs","score":0.75,`+
			`"scores":{"vector":0.8,"keyword":3.5},"externalId":null,"subject":null,"createdAt":"`+at+
			`"}],"usage":{"readUnits":1,"embedTokens":7}}`)
	compare("GET", "/v1/graph/nodes/ingest:x:y", "",
		`{"id":"ingest:x:y","kind":"document","title":"Figs","content":"Figs ripen late.","domainId":null,`+
			`"subject":"ann","authority":0.5,"confidence":1,"status":"live","supersededBy":null,"source":{"type":"ingest",`+
			`"jobId":"`+testJob.String()+`","externalId":"doc-1","externalIds":["doc-1","doc-2"]},"validFrom":"`+at+
			`","validTo":null,"createdAt":"`+at+`","updatedAt":"`+at+
			`","tombstonedAt":null,"restorableUntil":null,"degree":2,"metadata":{"page":3}}`)
	if res := h.do("DELETE", "/v1/keys/"+hash, ""); res.StatusCode != http.StatusNoContent || len(res.body) != 0 ||
		res.Header.Get("Content-Type") != "" {
		t.Errorf("204: %d %q %q", res.StatusCode, res.body, res.Header.Get("Content-Type"))
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReplay holds that a replayed outcome says so, also when it is a problem.
func TestReplay(t *testing.T) {
	h := newHarness(t)
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		reply := fakeAnswer(env)
		reply.Replayed = true
		return reply, nil
	}
	if res := h.do("POST", "/v1/ingest", `{"content":"Figs."}`, "Idempotency-Key",
		"k"); res.Header.Get("Idempotent-Replayed") != "true" || res.StatusCode != http.StatusAccepted {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
}

// TestBrokenText holds that stored text which is not UTF-8 does not hide its
// record.
func TestBrokenText(t *testing.T) {
	h := newHarness(t)
	h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		reply := fakeAnswer(env)
		reply.GetMe().OrgName = "Fig\xff"
		return reply, nil
	}
	if res := h.do("GET", "/v1/me", ""); res.StatusCode != http.StatusOK ||
		!strings.Contains(string(res.body), "Fig\ufffd") {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
}
