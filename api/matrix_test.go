package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// sampleBodies holds a valid body for every route that wants one.
var sampleBodies = joined(map[string]string{
	"createKey":   `{"label":"laptop"}`,
	"ingest":      `{"content":"Figs ripen late."}`,
	"ingestBatch": `{"items":[{"content":"Figs ripen late."}]}`,
	"search":      `{"query":"when do figs ripen"}`,
}, graphSamples, accountSamples, dataSamples, mindSamples, linkSamples)

func joined(groups ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, g := range groups {
		maps.Copy(all, g)
	}
	return all
}

var samplePath = strings.NewReplacer(
	"{key_id}", strings.Repeat("ab", 32), "{subject_id}", "ann", "{job_id}", testJob.String(), "{node_id}", "ingest:x:y",
	"{edge_id}", testJob.String(), "{domain_id}", testJob.String(), "{id}", testJob.String(), "{recall_type}", "insights",
	"{user_id}", testUser.String(), "{proposal_id}", testJob.String(), "{session_id}", "session-1", "{export_id}",
	testJob.String(),
	"{webhook_id}", testJob.String(), "{delivery_id}", testJob.String(), "{connector_id}", testJob.String(),
)

func (h *harness) sample(r *web.Route) (target, body string) {
	h.t.Helper()
	body, ok := sampleBodies[r.ID]
	if !ok && r.WantsBody() {
		h.t.Fatalf("no sample body for %s", r.ID)
	}
	target = samplePath.Replace(r.Path)
	if query := graphQueries[r.ID]; query != "" {
		target += "?" + query
	}
	return target, body
}

// withQuery adds to a target's query.
func withQuery(target, query string) string {
	if strings.Contains(target, "?") {
		return target + "&" + query
	}
	return target + "?" + query
}

func forEachRoute(t *testing.T, f func(t *testing.T, h *harness, r *web.Route)) {
	t.Helper()
	shared := newHarness(t)
	for _, r := range shared.s.table.Routes {
		t.Run(r.ID, func(t *testing.T) {
			h := *shared
			h.t = t
			f(t, &h, r)
		})
	}
}

// withoutID blanks the request id, so that two problems can be compared.
func withoutID(res response) string {
	return strings.ReplaceAll(string(res.body), res.Header.Get("X-Request-Id"), "")
}

// interface: Resources/Principal
// interface: Endpoints/GET /v1/me
// interface: Authentication/3 principal
// interface: Limits/Headers
func TestEveryRouteSucceeds(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		target, body := h.sample(r)
		res := h.do(r.Method, target, body, "X-Request-Id", "mine-1", "Idempotency-Key", "idem-1", "X-Svc-Subject",
			"J%C3%B6rg%2F1")
		if !r.SucceedsWith(res.StatusCode) {
			t.Fatalf("%d: %s", res.StatusCode, res.body)
		}
		env := h.asker.last()
		path, _, _ := strings.Cut(target, "?")
		wantKey := ""
		if r.Idempotent {
			wantKey = "idem-1"
			sum := sha256.Sum256([]byte(body))
			if !bytes.Equal(env.GetBodyHash(), sum[:]) {
				t.Error("body_hash is not the SHA-256 of the body")
			}
		}
		if diff := prototest.Diff(&pb.Envelope{
			Route: r.ID, Family: r.Family, Scope: r.Scope, SubjectMode: r.Subject, Method: r.Method, Path: path,
			RequestId: "mine-1", IdempotencyKey: wantKey,
		}, env, "scope", "subject_mode", "idempotency_key"); diff != "" {
			t.Errorf("envelope (-want +got):\n%s", diff)
		}
		if env.GetHasSubject() == r.NoSubject ||
			env.GetSubject() != "Jörg/1" && r.Subject != pb.SubjectMode_SUBJECT_REFUSED && !r.NoSubject {
			t.Errorf("subject %v %q", env.GetHasSubject(), env.GetSubject())
		}
		if want := testNow.Add(h.s.cfg.RequestTimeout).UnixMilli(); env.GetDeadlineMs() != want {
			t.Errorf("deadline %d, want %d", env.GetDeadlineMs(), want)
		}
		if res.Header.Get("X-Request-Id") != "mine-1" {
			t.Error("the caller's request id is lost")
		}
		if got := exactly(res, web.HeaderRate); !slices.Equal(got, []string{"default;r=29;t=2"}) {
			t.Errorf("RateLimit %q", got)
		}
		if got := exactly(res, web.HeaderRatePolicy); !slices.Equal(got, []string{"default;q=120;w=60;pk=c2VjcmV0"}) {
			t.Errorf("RateLimit-Policy %q", got)
		}
	})
}

// TestNoRateHeadersWithoutALimiter: an organization that knows no bucket, because its
// limiter is out of reach, answers all the same, and the answer tells of none.
//
// interface: Limits/Headers
func TestNoRateHeadersWithoutALimiter(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		h.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) { return fakeResult(env), nil }
		target, body := h.sample(r)
		res := h.do(r.Method, target, body)
		if !r.SucceedsWith(res.StatusCode) {
			t.Errorf("%d: %s", res.StatusCode, res.body)
		}
		h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) {
			return fakeProblem(pb.CodeServiceDegraded), nil
		}
		refused := h.do(r.Method, target, body)
		if refused.code(t) != pb.CodeServiceDegraded {
			t.Errorf("%d: %s", refused.StatusCode, refused.body)
		}
		for _, res := range []response{res, refused} {
			for name, value := range res.Header {
				if strings.HasPrefix(strings.ToLower(name), "ratelimit") {
					t.Errorf("%d has %s: %q", res.StatusCode, name, value)
				}
			}
		}
	})
}

// exactly reads a header under the name as it is sent, canonical or not.
func exactly(res response, name string) []string { return res.Header[name] }

// TestCredentials holds that every way of having no valid key reads the same,
// and that only a well-formed key reaches an organization.
//
// interface: Endpoints/Conventions credential
func TestCredentials(t *testing.T) {
	cases := map[string][]string{
		"missing":               {"X-Svc-API-Key", ""},
		"empty bearer":          {"X-Svc-API-Key", "", "Authorization", "Bearer "},
		"other scheme":          {"X-Svc-API-Key", "", "Authorization", "Basic " + goodKey},
		"no scheme":             {"X-Svc-API-Key", "", "Authorization", goodKey},
		"good key, other token": {"Authorization", "Bearer " + badKey},
		"good key, bad header":  {"Authorization", "nonsense"},
		"short":                 {"X-Svc-API-Key", goodKey[:51]},
		"long":                  {"X-Svc-API-Key", goodKey + "A"},
		"foreign environment":   {"X-Svc-API-Key", strings.Replace(goodKey, "prod", "test", 1)},
		"foreign brand":         {"X-Svc-API-Key", strings.Replace(goodKey, "svc", "abc", 1)},
		"foreign character":     {"X-Svc-API-Key", goodKey[:51] + "+"},
	}
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		target, _ := h.sample(r)
		unknown := h.do(r.Method, target, "{broken", "X-Svc-API-Key", badKey)
		if unknown.StatusCode != http.StatusUnauthorized {
			t.Fatalf("unknown key: %d", unknown.StatusCode)
		}
		if h.asker.last() == nil {
			t.Fatal("a well-formed key was not asked about")
		}
		for name, headers := range cases {
			res := h.do(r.Method, target, "{broken", headers...)
			if withoutID(res) != withoutID(unknown) {
				t.Errorf("%s: %s instead of %s", name, res.body, unknown.body)
			}
			if len(exactly(res, web.HeaderRate))+len(exactly(res, web.HeaderRatePolicy)) > 0 {
				t.Errorf("%s: rate headers before the credential", name)
			}
			if !maps.EqualFunc(headerNames(res), headerNames(unknown), func(a, b string) bool { return a == b }) {
				t.Errorf("%s: headers differ: %v, %v", name, res.Header, unknown.Header)
			}
			if h.asker.last() != nil {
				t.Errorf("%s: an actor was asked", name)
			}
		}
	})
}

func headerNames(res response) map[string]string {
	out := map[string]string{}
	for name, values := range res.Header {
		if name != "X-Request-Id" {
			out[name] = strings.Join(values, "|")
		}
	}
	return out
}

// interface: Authentication/1 header or bearer
func TestBearerIsAsGoodAsTheHeader(t *testing.T) {
	h := newHarness(t)
	for _, headers := range [][]string{
		{"X-Svc-API-Key", "", "Authorization", "Bearer " + goodKey},
		{"X-Svc-API-Key", "", "Authorization", "bearer  " + goodKey + " "},
		{"Authorization", "Bearer " + goodKey},
	} {
		if res := h.do("GET", "/v1/me", "", headers...); res.StatusCode != http.StatusOK {
			t.Errorf("%q: %d", headers, res.StatusCode)
		}
	}
}

// badBodies are refused by every route that reads a body.
var badBodies = []struct {
	name, body string
	headers    []string
	code       string
	field      string
}{
	{name: "empty", body: "", code: pb.CodeMalformed},
	{name: "white space", body: " \r\n\t", code: pb.CodeMalformed},
	{name: "no JSON", body: "content=figs", code: pb.CodeMalformed},
	{name: "cut off", body: `{"a":"b`, code: pb.CodeMalformed},
	{name: "trailing data", body: `{} {}`, code: pb.CodeMalformed},
	{name: "trailing text", body: `{}x`, code: pb.CodeMalformed},
	{name: "single quotes", body: `{'a':1}`, code: pb.CodeMalformed},
	{name: "comment", body: `{}/**/`, code: pb.CodeMalformed},
	{name: "byte order mark", body: "\ufeff{}", code: pb.CodeMalformed},
	{name: "duplicate name", body: `{"a":1,"a":2}`, code: pb.CodeMalformed},
	{name: "duplicate name, escaped", body: `{"a":1,"\u0061":2}`, code: pb.CodeMalformed},
	{name: "duplicate name, deep", body: `{"x":[{"a":1,"a":2}]}`, code: pb.CodeMalformed},
	{name: "invalid UTF-8", body: "{\"a\":\"\xff\"}", code: pb.CodeMalformed},
	{name: "invalid UTF-8 name", body: "{\"\xc3\x28\":1}", code: pb.CodeMalformed},
	{name: "lone surrogate", body: `{"a":"\ud800"}`, code: pb.CodeMalformed},
	{name: "raw control", body: "{\"a\":\"\x00\"}", code: pb.CodeMalformed},
	{name: "raw newline", body: "{\"a\":\"\n\"}", code: pb.CodeMalformed},
	{name: "NaN", body: `{"a":NaN}`, code: pb.CodeMalformed},
	{name: "leading zero", body: `{"a":01}`, code: pb.CodeMalformed},
	{name: "array", body: `[]`, code: pb.CodeValidation, field: "body"},
	{name: "string", body: `"figs"`, code: pb.CodeValidation, field: "body"},
	{name: "null", body: `null`, code: pb.CodeValidation, field: "body"},
	{name: "number", body: `7`, code: pb.CodeValidation, field: "body"},
	{
		name: "too deep", body: `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, code: pb.CodeValidation,
		field: "body",
	},
	{name: "far too deep", body: `{"a":` + strings.Repeat("[", 100_000), code: pb.CodeValidation, field: "body"},
	{
		name: "too deep objects", body: strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), code: pb.CodeValidation,
		field: "body",
	},
	{name: "unknown field", body: `{"contnet":"figs"}`, code: pb.CodeValidation, field: "contnet"},
	{name: "wrong case", body: `{"Content":"figs","LABEL":"x"}`, code: pb.CodeValidation, field: "Content"},
	{name: "empty name", body: `{"":1}`, code: pb.CodeValidation, field: ""},
	{name: "escaped NUL", body: `{"zz":"a\u0000"}`, code: pb.CodeValidation, field: "zz"},
	{name: "number out of range", body: `{"zz":{"y":1e999}}`, code: pb.CodeValidation, field: "zz"},
	{name: "no content type", body: `{}`, headers: []string{"Content-Type", ""}, code: pb.CodeUnsupportedMediaType},
	{name: "text", body: `{}`, headers: []string{"Content-Type", "text/plain"}, code: pb.CodeUnsupportedMediaType},
	{
		name: "form", body: `{}`, headers: []string{"Content-Type", "application/x-www-form-urlencoded"},
		code: pb.CodeUnsupportedMediaType,
	},
	{
		name: "problem", body: `{}`, headers: []string{"Content-Type", "application/problem+json"},
		code: pb.CodeUnsupportedMediaType,
	},
	{
		name: "other charset", body: `{}`, headers: []string{"Content-Type", "application/json; charset=iso-8859-1"},
		code: pb.CodeUnsupportedMediaType,
	},
	{name: "compressed", body: `{}`, headers: []string{"Content-Encoding", "gzip"}, code: pb.CodeUnsupportedMediaType},
}

// TestBadBodies holds that a bad body gives exactly its problem on every route,
// travels as a Rejected operation, and never becomes the route's own.
//
// interface: Endpoints/Conventions JSON
func TestBadBodies(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		if !r.TakesJSON() {
			t.Skip("reads no body")
		}
		target, _ := h.sample(r)
		for _, bad := range badBodies {
			res := h.do(r.Method, target, bad.body, bad.headers...)
			env := h.asker.last()
			if bad.body == "" && !r.WantsBody() {
				continue
			}
			if got := res.code(t); got != bad.code {
				t.Errorf("%s: %d %s instead of %s: %s", bad.name, res.StatusCode, got, bad.code, res.body)
				continue
			}
			if env.GetRejected() == nil {
				t.Errorf("%s: reached the organization as %T", bad.name, env.GetOp())
			}
			if bad.code == pb.CodeValidation {
				if _, ok := res.fields(t)[bad.field]; !ok {
					t.Errorf("%s: no error for %q: %s", bad.name, bad.field, res.body)
				}
			}
			if strings.Contains(string(res.body), "figs") {
				t.Errorf("%s: the answer repeats the input: %s", bad.name, res.body)
			}
			if res := h.do(r.Method, target, bad.body, append(bad.headers, "X-Svc-API-Key", badKey)...); res.code(t) !=
				pb.CodeAuthentication {
				t.Errorf("%s with an unknown key: %s", bad.name, res.body)
			}
			h.asker.last()
		}
	})
}

func TestGoodContentTypes(t *testing.T) {
	h := newHarness(t)
	for _, ct := range []string{
		"application/json", "Application/JSON", "application/json; charset=utf-8", `application/json;charset="UTF-8"`,
		"application/json; profile=x",
	} {
		if res := h.do("POST", "/v1/ingest", `{"content":"Figs."}`, "Content-Type", ct, "Content-Encoding",
			"identity"); res.StatusCode != http.StatusAccepted {
			t.Errorf("%s: %s", ct, res.body)
		}
	}
}

// TestOversizedBodies sends one byte more than each route takes, announced and
// in pieces of unknown length.
func TestOversizedBodies(t *testing.T) {
	shared := newHarness(t, func(c *Config) { c.MaxBody, c.MaxIngestBody = 1000, 100_000 })
	for _, r := range shared.s.table.Routes {
		if !r.TakesJSON() {
			continue
		}
		target, _ := shared.sample(r)
		limit := shared.s.edge.BodyLimit(r)
		if r.LargeBody != (limit == 100_000) {
			t.Errorf("%s: limit %d", r.ID, limit)
		}
		for _, chunked := range []bool{false, true} {
			for _, over := range []int64{0, 1} {
				body := `{"zz":"` + strings.Repeat("x", int(limit+over)-9) + `"}`
				reader := strings.NewReader(body)
				var res response
				if chunked {
					res = shared.send(r.Method, target, struct{ *strings.Reader }{reader}, "Content-Type", "application/json",
						"Idempotency-Key", "k")
				} else {
					res = shared.send(r.Method, target, reader, "Idempotency-Key", "k")
				}
				env := shared.asker.last()
				want := pb.CodeValidation
				if over > 0 {
					want = pb.CodePayloadTooLarge
				}
				if res.code(t) != want || env.GetRejected() == nil {
					t.Errorf("%s, chunked %v, %d over: %d %s", r.ID, chunked, over, res.StatusCode, res.body)
				}
				if over > 0 && env.GetIdempotencyKey() != "" {
					t.Errorf("%s: an idempotency key without a hash of the body", r.ID)
				}
			}
		}
	}
	if used := shared.s.edge.Bodies.Held(); used != 0 {
		t.Errorf("%d bytes of the budget are lost", used)
	}
}

func TestRoutesWithoutABodyTakeAnEmptyObject(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		if r.WantsBody() {
			t.Skip("wants a body")
		}
		target, _ := h.sample(r)
		if res := h.do(r.Method, target, "{}"); !r.SucceedsWith(res.StatusCode) {
			t.Errorf("{}: %d %s", res.StatusCode, res.body)
		}
	})
}

func TestQueries(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		target, body := h.sample(r)
		for query, want := range map[string]string{
			"cursor=abc&pageSize=7": "",
			"pagesize=7":            pb.CodeValidation,
			"zz=figs":               pb.CodeValidation,
			"cursor=%zz":            pb.CodeMalformed,
			"a=%ff":                 pb.CodeMalformed,
			"%ff=1":                 pb.CodeMalformed,
			"a;b":                   pb.CodeMalformed,
		} {
			res := h.do(r.Method, withQuery(target, query), body)
			env := h.asker.last()
			if got := res.code(t); got != want {
				t.Errorf("%s: %d %q instead of %q: %s", query, res.StatusCode, got, want, res.body)
			}
			if (env.GetRejected() != nil) != (want != "") {
				t.Errorf("%s: %T", query, env.GetOp())
			}
		}
		for query, want := range map[string]string{
			"cursor=": pb.CodeInvalidCursor, "pageSize=": pb.CodeValidation, "pageSize=0": pb.CodeValidation,
			"cursor=a&cursor=b": pb.CodeValidation,
		} {
			if !r.Pages {
				want = ""
			}
			if res := h.do(r.Method, withQuery(target, query), body); res.code(t) != want {
				t.Errorf("%s: %s", query, res.body)
			}
		}
	})
}

// interface: Resources/Pagination envelope
// interface: Endpoints/Conventions lists
// interface: Limits/Page size
func TestPageSizes(t *testing.T) {
	h := newHarness(t)
	for size, want := range map[string]uint32{
		"1": 1, "50": 50, "100": 100, "101": 100, "0007": 7, "99999999999999999999999": 100,
	} {
		if res := h.do("GET", "/v1/jobs?pageSize="+size, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", size, res.body)
		}
		if got := h.asker.last().GetListJobs().GetPage().GetSize(); got != want {
			t.Errorf("%s: %d, want %d", size, got, want)
		}
	}
	for _, size := range []string{"-1", "%2B5", "5.0", "1e1", "0x5", "%205", "00", "٣", "five"} {
		if res := h.do("GET", "/v1/jobs?pageSize="+size, ""); res.code(t) != pb.CodeValidation ||
			res.fields(t)["pageSize"] == "" {
			t.Errorf("%s: %d %s", size, res.StatusCode, res.body)
		}
	}
	res := h.do("GET", "/v1/jobs?cursor=abc&type=ingest&status=queued", "")
	op := h.asker.last().GetListJobs()
	want := &pb.ListJobs{Page: &pb.Page{Cursor: "abc"}, Type: "ingest", Status: "queued"}
	if diff := prototest.Diff(want, op); res.StatusCode != http.StatusOK || diff != "" {
		t.Errorf("%d %s (-want +got):\n%s", res.StatusCode, res.body, diff)
	}
	for _, query := range []string{"type=dream", "status=done", "type="} {
		if res := h.do("GET", "/v1/jobs?"+query, ""); res.code(t) != pb.CodeValidation {
			t.Errorf("%s: %s", query, res.body)
		}
	}
	res = h.do("GET", "/v1/subjects", "")
	if got := res.json(t); got["hasMore"] != true || got["nextCursor"] != "next" {
		t.Errorf("not the last page: %s", res.body)
	}
	res = h.do("GET", "/v1/jobs", "")
	got := res.json(t)
	if _, has := got["nextCursor"]; has || got["hasMore"] != false {
		t.Errorf("the last page: %s", res.body)
	}
}

// interface: Endpoints/Conventions key owner's routes
func TestSubjectHeader(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		if r.NoSubject {
			t.Skip("does not read the header: TestEventStreamIgnoresTheSubject")
		}
		target, body := h.sample(r)
		for _, malformed := range []string{"%", "%4", "%zz", "a%ff", "\xff"} {
			res := h.do(r.Method, target, body, "X-Svc-Subject", malformed)
			env := h.asker.last()
			if r.Subject == pb.SubjectMode_SUBJECT_REFUSED {
				if !env.GetHasSubject() {
					t.Error("a refused header must reach the organization, whatever it says")
				}
				continue
			}
			if res.code(t) != pb.CodeMalformed || env.GetRejected() == nil || env.GetScope() != "" || env.GetHasSubject() {
				t.Errorf("%q: %d %v", malformed, res.StatusCode, env)
			}
		}
		for sent, want := range map[string]string{
			"ann": "ann", "a+b": "a+b", "100%25": "100%", "%E6%97%A5": "日", "日": "日", " ": "",
		} {
			h.do(r.Method, target, body, "X-Svc-Subject", sent)
			if r.Subject == pb.SubjectMode_SUBJECT_REFUSED {
				want = "" // it travels as a header that was there
			}
			if env := h.asker.last(); !env.GetHasSubject() || env.GetSubject() != want && sent != " " {
				t.Errorf("%q: %v %q", sent, env.GetHasSubject(), env.GetSubject())
			}
		}
		h.do(r.Method, target, body)
		if h.asker.last().GetHasSubject() {
			t.Error("a subject without a header")
		}
	})
}

// TestEventStreamIgnoresTheSubject: the event stream accepts the header and ignores
// it, also one that no other route would take, and no other route does so.
//
// interface: Endpoints/Conventions key owner's routes
func TestEventStreamIgnoresTheSubject(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		if r.NoSubject != (r.Path == "/v1/events") {
			t.Fatalf("NoSubject is %v", r.NoSubject)
		}
		if !r.NoSubject {
			return
		}
		for _, values := range [][]string{
			{"nobody"}, {""}, {"%"}, {"%zz"}, {"a%ff"}, {"\xff"}, {"ann", "bob"}, {strings.Repeat("x", 300)}, {"a%00b"},
		} {
			request := httpRequest(t, r.Method, r.Path, "")
			request.Header["X-Svc-Subject"] = values
			res := h.serve(request)
			diff := prototest.Diff(&pb.Envelope{Scope: r.Scope}, h.asker.last(), "scope", "rejected", "has_subject", "subject")
			if res.StatusCode != http.StatusOK || diff != "" {
				t.Errorf("%q: %d %s (-want +got):\n%s", values, res.StatusCode, res.body, diff)
			}
		}
	})
}

// interface: Endpoints/Conventions Idempotency-Key
func TestIdempotencyKeys(t *testing.T) {
	forEachRoute(t, func(t *testing.T, h *harness, r *web.Route) {
		target, body := h.sample(r)
		for _, bad := range []string{strings.Repeat("k", 256), "with space", "tab\t", "ünï", "\x7f"} {
			res := h.do(r.Method, target, body, "Idempotency-Key", bad)
			env := h.asker.last()
			if env.GetIdempotencyKey() != "" {
				t.Errorf("%q travelled", bad)
			}
			if r.Idempotent && (res.code(t) != pb.CodeValidation || res.fields(t)["Idempotency-Key"] == "") {
				t.Errorf("%q: %s", bad, res.body)
			}
			if !r.Idempotent && !r.SucceedsWith(res.StatusCode) {
				t.Errorf("%q: %s", bad, res.body)
			}
		}
		if r.Idempotent {
			h.do(r.Method, target, "{broken", "Idempotency-Key", strings.Repeat("~", 255))
			sum := sha256.Sum256([]byte("{broken"))
			if env := h.asker.last(); len(env.GetIdempotencyKey()) != 255 || !bytes.Equal(env.GetBodyHash(), sum[:]) {
				t.Error("a bad body under a key is compared like any other")
			}
		}
	})
}

// TestProblemsOfActors sends every code of the catalogue back from the actor:
// each must come out with its status, page and headers.
//
// interface: Errors/Codes
func TestProblemsOfActors(t *testing.T) {
	h := newHarness(t)
	rate := &pb.RateLimit{Remaining: 0, ResetS: 30, Quota: 60, Partition: "p", RetryAfterS: 2}
	for code, e := range problems.Catalogue {
		h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) {
			return &pb.Reply{Rate: rate, Replayed: true, Result: &pb.Reply_Problem{Problem: &pb.Problem{
				Code: code, Detail: "said by the actor", Errors: []*pb.FieldError{{Field: "f", Message: "m"}},
			}}}, nil
		}
		r := httpRequest(t, "GET", "/v1/me", "")
		res := h.serve(r)
		if res.StatusCode != e.Status || res.code(t) != code {
			t.Errorf("%s: %d %s", code, res.StatusCode, res.body)
		}
		if said := strings.Contains(string(res.body), "said by the actor"); said == e.Fixed {
			t.Errorf("%s: %s", code, res.body)
		}
		want := ""
		switch {
		case code == pb.CodeRateLimit:
			want = "2"
		case e.RetryAfter > 0:
			want = strconv.Itoa(int(e.RetryAfter))
		}
		if got := res.Header.Get("Retry-After"); got != want {
			t.Errorf("%s: Retry-After %q, want %q", code, got, want)
		}
		if exactly(res, web.HeaderRate)[0] != "default;r=0;t=30" || res.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %v", code, res.Header)
		}
		if (e.Status == http.StatusUnauthorized) != (res.Header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: WWW-Authenticate %q", code, res.Header.Get("WWW-Authenticate"))
		}
	}
}
