package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"orgmem/actors/account"
	exports "orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/api/apitest"
	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/prototest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	goodKey   = "svc_prod_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	badKey    = "svc_prod_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
	testToken = "0123456789abcdef0123456789abcdef"
)

var (
	testOrg  = pb.OrgID{1, 2, 3}
	testUser = pb.UserID{4, 5, 6}
	testJob  = pb.JobID{7, 8, 9}
	testNow  = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
)

// fakeAsker answers like an organization's actor that knows one key: it checks
// the credential first, passes refusals on, and answers every operation with a
// full record.
type fakeAsker struct {
	mu     sync.Mutex
	asked  []*pb.Envelope
	answer func(context.Context, *pb.Envelope) (*pb.Reply, error) // overrides the below
}

func (f *fakeAsker) Ask(ctx context.Context, env *pb.Envelope) (*pb.Reply, error) {
	f.mu.Lock()
	f.asked = append(f.asked, env)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(ctx, env)
	}
	if err := ctx.Err(); err != nil { // as where it must wait for an actor
		return nil, err
	}
	return fakeAnswer(env), nil
}

// last returns the envelope of the latest request, and forgets it.
func (f *fakeAsker) last() *pb.Envelope {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.asked) == 0 {
		return nil
	}
	env := f.asked[len(f.asked)-1]
	f.asked = nil
	return env
}

func fakeProblem(code string) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Problem{Problem: &pb.Problem{Code: code}}}
}

func fakeAnswer(env *pb.Envelope) *pb.Reply {
	if pb.KeyHash(env.GetKeyHash()) != pb.HashKey(goodKey) {
		return fakeProblem(pb.CodeAuthentication)
	}
	reply := fakeResult(env)
	reply.Rate = &pb.RateLimit{Remaining: 29, ResetS: 2, Quota: 120, Partition: "c2VjcmV0"}
	return reply
}

func fakeResult(env *pb.Envelope) *pb.Reply {
	ms := testNow.UnixMilli()
	job := &pb.Job{
		Id: testJob.Bytes(), Type: "ingest", Status: "succeeded", Subject: "ann", Done: 1, Total: 1, Attempts: 1,
		CreatedMs: ms, StartedMs: ms + 1, FinishedMs: ms + 2,
		Items: []*pb.JobItem{
			{Index: 0, ExternalId: "doc-1", Node: "ingest:x:y", Status: "created"},
			{Index: 1, Status: "failed", Error: "it was empty"},
		},
	}
	switch op := env.GetOp().(type) {
	case *pb.Envelope_Rejected:
		return &pb.Reply{Result: &pb.Reply_Problem{Problem: op.Rejected.GetProblem()}}
	case *pb.Envelope_Me:
		return &pb.Reply{Result: &pb.Reply_Me{Me: &pb.Principal{
			Org: testOrg.Bytes(), OrgName: "Fig & Co", OrgSlug: "fig-co", User: testUser.Bytes(),
			Scopes: []string{"read", "write"}, Plan: "standard",
		}}}
	case *pb.Envelope_ListKeys:
		hash := pb.HashKey(goodKey)
		return &pb.Reply{Result: &pb.Reply_Keys{Keys: &pb.KeyList{Keys: []*pb.Key{
			{Hash: hash[:], Label: "laptop", Status: "active", Scopes: []string{"read", "admin"}, CreatedMs: ms},
			{Hash: hash[:], Label: "old", Status: "revoked", CreatedMs: ms, LastUsedMs: ms, RevokedMs: ms},
		}}}}
	case *pb.Envelope_CreateKey:
		return &pb.Reply{
			Status: 201,
			Result: &pb.Reply_NewKey{
				NewKey: &pb.NewKey{ApiKey: goodKey, Id: pb.HashKey(goodKey).String(), Label: op.CreateKey.GetLabel()},
			},
		}
	case *pb.Envelope_RevokeKey:
		return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
	case *pb.Envelope_ListSubjects:
		return &pb.Reply{
			Result: &pb.Reply_Subjects{
				Subjects: &pb.SubjectList{Subjects: []*pb.SubjectInfo{{Id: "ann", CreatedMs: ms}}, NextCursor: "next"},
			},
		}
	case *pb.Envelope_GetSubject_:
		return &pb.Reply{Result: &pb.Reply_Subject{Subject: &pb.SubjectInfo{Id: op.GetSubject_.GetId(), CreatedMs: ms}}}
	case *pb.Envelope_PutSubject:
		return &pb.Reply{
			Status: 201, Result: &pb.Reply_Subject{Subject: &pb.SubjectInfo{Id: op.PutSubject.GetId(), CreatedMs: ms}},
		}
	case *pb.Envelope_EraseSubject, *pb.Envelope_Ingest:
		return &pb.Reply{
			Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: testJob.Bytes(), Status: "pending"}},
		}
	case *pb.Envelope_JobStatus, *pb.Envelope_GetJob:
		return &pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}}
	case *pb.Envelope_CancelJob:
		return &pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: &pb.Job{
			Id: testJob.Bytes(), Type: "export", Status: "queued", CreatedMs: ms, ErrorCode: "gone_wrong", ErrorDetail: "Once.",
		}}}}
	case *pb.Envelope_ListJobs:
		return &pb.Reply{Result: &pb.Reply_Jobs{Jobs: &pb.JobList{Jobs: []*pb.Job{job}}}}
	case *pb.Envelope_Search:
		return &pb.Reply{Result: &pb.Reply_Search{Search: &pb.SearchResult{ReadUnits: 1, EmbedTokens: 7, Hits: []*pb.Hit{
			{
				Chunk: "Figs ripen late.", Node: "ingest:x:y", Title: "Figs", Score: 0.75, ChunkId: "c1", CreatedMs: ms,
				Vector: 0.8, Keyword: 3.5,
			},
		}}}}
	case *pb.Envelope_GetNode:
		return &pb.Reply{Result: &pb.Reply_Node{Node: fakeNode(op.GetNode.GetId())}}
	// The operations of one subject each answer in a file of their own, beside
	// the sample bodies of their routes: fakes_graph_test.go and its neighbours.
	case *pb.Envelope_Graph:
		return fakeGraph(op.Graph)
	case *pb.Envelope_Account:
		return fakeAccount(op.Account)
	case *pb.Envelope_Data:
		return fakeData(op.Data)
	case *pb.Envelope_Mind:
		return fakeMind(op.Mind)
	case *pb.Envelope_Link:
		return fakeLink(op.Link)
	}
	return fakeProblem(pb.CodeInternal)
}

// fakeOperator is an actors.Operator that knows one organization.
type fakeOperator struct{ err error }

func (f fakeOperator) CreateOrg(_ context.Context, o account.NewOrg) (account.CreatedOrg, error) {
	return account.CreatedOrg{
		Org: testOrg, Slug: strings.ToLower(o.Name), Owner: testUser, APIKey: goodKey, Key: pb.HashKey(goodKey),
	}, f.err
}

func (f fakeOperator) Orgs(_ context.Context, from string, size int) (account.OrgPage, error) {
	o := f.org()
	page := account.OrgPage{Orgs: []account.OrgEntry{{Org: o.Org, Name: o.Name, Slug: o.Slug, Created: o.Created}}}
	if size == 1 {
		page.Next = from + "more"
	}
	return page, f.err
}

func (f fakeOperator) org() account.OrgInfo {
	return account.OrgInfo{
		Org: testOrg, Name: "Fig", Slug: "fig", Plan: "standard", Created: testNow, Members: 1, Subjects: 2,
	}
}

func (f fakeOperator) Org(_ context.Context, org pb.OrgID) (account.OrgInfo, error) {
	if org != testOrg {
		return account.OrgInfo{}, tenant.ErrOrgNotFound
	}
	return f.org(), f.err
}
func (f fakeOperator) SetPlan(context.Context, pb.OrgID, string) error { return f.err }
func (f fakeOperator) DeleteOrg(context.Context, pb.OrgID) error       { return f.err }
func (f fakeOperator) AddMember(
	_ context.Context, _ pb.OrgID, email string, role account.Role,
) (tenant.MemberInfo, error) {
	return tenant.MemberInfo{User: testUser, Email: email, Role: string(role), Created: testNow}, f.err
}

func (f fakeOperator) Members(context.Context, pb.OrgID) ([]tenant.MemberInfo, error) {
	return []tenant.MemberInfo{{User: testUser, Email: "a@b.example", Role: "owner", Created: testNow}}, f.err
}

func (f fakeOperator) Restore(_ context.Context, _ pb.OrgID, part []byte) (exports.Restored, error) {
	return exports.Restored{PartitionID: string(part), NodeIDs: []string{"n"}, Created: 1}, f.err
}
func (f fakeOperator) RemoveMember(context.Context, pb.OrgID, pb.UserID) error { return f.err }
func (f fakeOperator) CreateKey(_ context.Context, o account.NewKey) (account.CreatedKey, error) {
	return account.CreatedKey{APIKey: goodKey, Key: pb.HashKey(goodKey), Label: o.Label}, f.err
}

// harness is a server without listeners, and the document that it serves.
type harness struct {
	t     testing.TB
	s     *Server
	asker *fakeAsker
	clock *clock.Fake
	logs  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newHarness(t testing.TB, change ...func(*Config)) *harness {
	t.Helper()
	h := &harness{t: t, asker: &fakeAsker{}, clock: clock.NewFake(testNow), logs: &lockedBuffer{}}
	c := Config{
		Asker: h.asker, Operator: fakeOperator{}, OperatorToken: testToken,
		Clock: h.clock, Logger: slog.New(slog.NewJSONHandler(h.logs, nil)), Random: zeroReader{}, Streams: fakeStreams,
		Exports: fakePieces(0),
	}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	h.s = s
	return h
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// response is an answer with its body read.
type response struct {
	*http.Response
	body []byte
}

func (r response) json(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("body %q: %v", r.body, err)
	}
	return v
}

// code is the problem's code, or the empty string.
func (r response) code(t testing.TB) string {
	t.Helper()
	if r.StatusCode < 400 {
		return ""
	}
	code, _ := r.json(t)["code"].(string)
	return code
}

// fields lists the fields that a validation problem names.
func (r response) fields(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, _ := r.json(t)["errors"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		field, _ := m["field"].(string)
		message, _ := m["message"].(string)
		out[field] = message
	}
	return out
}

// do sends a request with the good key, unless headers say otherwise, and
// validates the answer against the document.
func (h *harness) do(method, target, body string, headers ...string) response {
	h.t.Helper()
	return h.send(method, target, strings.NewReader(body), headers...)
}

func (h *harness) send(method, target string, body io.Reader, headers ...string) response {
	h.t.Helper()
	r := httptest.NewRequestWithContext(h.t.Context(), method, target, body)
	r.Header.Set("X-Svc-API-Key", goodKey)
	if r.ContentLength != 0 {
		r.Header.Set("Content-Type", "application/json")
		if route := h.routeOf(method, target); route != nil && route.Upload != nil {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=sample")
		}
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.s.public.Handler.ServeHTTP(w, r)
	out := w.Result()
	content, err := io.ReadAll(out.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	res := response{out, content}
	h.checkGeneral(res)
	if err := h.held().Hold(method, target,
		apitest.Answer{Status: res.StatusCode, Header: res.Header, Body: res.body}); err != nil {
		h.t.Error(err)
	}
	return res
}

// checkGeneral holds what is true of every answer.
func (h *harness) checkGeneral(res response) {
	h.t.Helper()
	id := res.Header.Get("X-Request-Id")
	if id == "" {
		h.t.Errorf("no X-Request-Id")
	}
	if res.StatusCode < 400 {
		return
	}
	if ct := res.Header.Get("Content-Type"); ct != "application/problem+json" {
		h.t.Errorf("status %d with Content-Type %q", res.StatusCode, ct)
	}
	p := res.json(h.t)
	code, _ := p["code"].(string)
	e, ok := problems.Catalogue[code]
	if !ok {
		h.t.Fatalf("code %q is not in the catalogue", code)
	}
	want := map[string]any{
		"status": float64(e.Status), "title": e.Title, "type": "/docs/errors/" + code, "requestId": id,
	}
	if diff := prototest.DiffObject(want, p); diff != "" || e.Status != res.StatusCode || p["detail"] == "" {
		h.t.Errorf("problem does not fit its entry: %d %s (-want +got):\n%s", res.StatusCode, res.body, diff)
	}
}

// routeOf finds the row that a target belongs to.
func (h *harness) routeOf(method, target string) *web.Route {
	path, _, _ := strings.Cut(target, "?")
	parts := strings.Split(path, "/")
rows:
	for _, r := range h.s.table.Routes {
		want := strings.Split(r.Path, "/")
		if r.Method != method || len(want) != len(parts) {
			continue
		}
		for i := range want {
			if want[i] != parts[i] && (!strings.HasPrefix(want[i], "{") || parts[i] == "") {
				continue rows
			}
		}
		return r
	}
	return nil
}

// document is the served document, loaded by an outside witness. No
// configuration changes it.
func (h *harness) document() *openapi3.T { return h.held().Spec }

// openAPI is the document as this server serves it.
func (h *harness) openAPI() []byte {
	h.t.Helper()
	raw, err := h.s.table.OpenAPI()
	if err != nil {
		h.t.Fatal(err)
	}
	return raw
}

func (h *harness) held() *apitest.Document {
	h.t.Helper()
	loadDocument.Do(func() { loadedDocument, errDocument = apitest.Parse(h.openAPI()) })
	if errDocument != nil {
		h.t.Fatal(errDocument)
	}
	return loadedDocument
}

var (
	loadDocument   sync.Once
	loadedDocument *apitest.Document
	errDocument    error
)

var errBoom = errors.New("boom: a secret detail")

func httpRequest(t testing.TB, method, target, body string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("X-Svc-API-Key", goodKey)
	return r
}

// serve answers a request without comparing it with the document.
func (h *harness) serve(r *http.Request) response {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.s.public.Handler.ServeHTTP(w, r)
	out := w.Result()
	content, err := io.ReadAll(out.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	res := response{out, content}
	h.checkGeneral(res)
	return res
}
