package contract

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/actors"
	"orgmem/actors/account"
	"orgmem/actors/egress"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/api"
	"orgmem/api/apitest"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// patience bounds what a test that fails waits for.
const patience = 3 * time.Minute

// words is a model whose vectors are bags of hashed words.
type words struct{}

const wordDim = 64

func (words) ID() string                      { return "words" }
func (words) Dim() int                        { return wordDim }
func (words) CountTokens(s string) int        { return len(strings.Fields(s)) + 2 }
func (w words) NewEncoder() partition.Encoder { return w }
func (w words) Query(s string) []float32      { return w.Passages([]string{s})[0] }

func (words) Passages(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		v := make([]float32, wordDim)
		for w := range strings.FieldsSeq(strings.ToLower(t)) {
			h := fnv.New32a()
			h.Write([]byte(strings.Trim(w, ".,;:!?")))
			v[h.Sum32()%wordDim]++
		}
		var norm float64
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(max(math.Sqrt(norm), 1e-9))
		}
		out[i] = v
	}
	return out
}

// Two queries in which the model is at fault, or does not come to an end.
const (
	faultyQuery  = "What is wrong with you?"
	endlessQuery = "What do I wait for?"
)

// moody is words but for these queries.
type moody struct {
	words
	endless <-chan struct{} // until it is closed
}

func (m moody) NewEncoder() partition.Encoder { return m }

func (m moody) Query(s string) []float32 {
	switch s {
	case faultyQuery:
		var none []float32
		return none[:wordDim] // a panic
	case endlessQuery:
		<-m.endless
	}
	return m.words.Query(s)
}

// nowhere is a network in which every name has an address and none answers.
type nowhere struct{}

func (nowhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

func (nowhere) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("nobody is there")
}

// stack is the service.
type stack struct {
	sys   *actors.Service
	clock *clock.Fake
	base  string
	// operator is the address of the operator interface.
	operator string
	doc      *apitest.Document
	http     *http.Client
	disk     *storagetest.Disk
	edge     *api.Server
	endless  chan struct{} // ends endlessQuery
	ended    chan struct{} // a job has ended
}

var operatorToken = strings.Repeat("x", api.MinOperatorToken)

func startStack(t testing.TB, change ...func(*tenant.Config)) *stack {
	t.Helper()
	fatal := func(msg string) { t.Error("fatal: " + msg) }
	log := slog.New(slog.DiscardHandler)
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	disk := storagetest.NewDisk()
	opts, _ := disk.Options()
	opts.Clock, opts.Fatal = clock.Real(), fatal
	// As many as the service has: with a disk's eight, organizations whose timers
	// end in one advance of the clock turn requests away.
	opts.MaxOpenStores = storage.DefaultMaxOpenStores
	store, err := storage.Open(opts)
	must(t, err)
	host, err := cluster.Start(t.Context(), cluster.Config{
		Storage: store, Clock: fake, Logger: log, Fatal: fatal,
		Shards: 2, Server: "one",
	})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, host.WaitReady(ctx))
	out, err := egress.New(egress.Config{Resolver: nowhere{}, Dialer: nowhere{}})
	must(t, err)
	endless := make(chan struct{})
	config := tenant.Config{
		Platform: tenant.Platform{Host: host, Storage: store, Clock: fake, Random: rand.Reader, Logger: log},
		Models:   tenant.Models{Embedder: moody{endless: endless}},
		Bounds:   tenant.Bounds{Workers: 2},
		Egress:   out,
	}
	ended := make(chan struct{}, 1)
	config.JobFinished = func(pb.JobID) {
		select {
		case ended <- struct{}{}:
		default:
		}
	}
	for _, c := range change {
		c(&config)
	}
	sys, err := actors.Start(config, nil)
	must(t, err)
	edge, err := api.New(api.Config{
		Asker: sys, Operator: sys, Exports: sys, OperatorToken: operatorToken, Clock: fake, Logger: log,
		Streams: func(ticket string) (api.EventStream, bool) { return sys.TakeStream(ticket) },
	})
	must(t, err)
	listen := func() net.Listener {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		must(t, err)
		return l
	}
	public, operator := listen(), listen()
	served := make(chan error, 1)
	go func() { served <- edge.Serve(public, operator) }()
	s := &stack{
		sys: sys, clock: fake, base: "http://" + public.Addr().String(), operator: "http://" + operator.Addr().String(),
		http: &http.Client{},
		disk: disk, edge: edge, endless: endless, ended: ended,
	}
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		grace, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, err := range []error{edge.Shutdown(grace), <-served, sys.Close(), host.Close(), store.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	s.doc, err = parsed.of(s.send(t, caller{}, http.MethodGet, "/openapi.json", "").body)
	must(t, err)
	return s
}

// documentOnce is the document that every stack serves. To parse it takes seconds under the race detector.
type documentOnce struct {
	mu   sync.Mutex
	text []byte
	doc  *apitest.Document
}

var parsed documentOnce

func (d *documentOnce) of(text []byte) (*apitest.Document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doc != nil && bytes.Equal(text, d.text) {
		return d.doc, nil
	}
	doc, err := apitest.Parse(text)
	if err != nil {
		return nil, err
	}
	d.text, d.doc = text, doc
	return doc, nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// caller is who sends a request.
type caller struct {
	key     string
	subject string // empty: none is selected
}

func (c caller) as(subject string) caller { c.subject = subject; return c }

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) object(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%d %q: %v", a.status, a.body, err)
	}
	return v
}

func (a answer) text(t testing.TB, field string) string {
	t.Helper()
	v, ok := a.object(t)[field].(string)
	if !ok {
		t.Fatalf("no %s in %d %s", field, a.status, a.body)
	}
	return v
}

// code is the problem's code, "" of a success.
func (a answer) code(t testing.TB) string {
	t.Helper()
	if a.status < 400 {
		return ""
	}
	return a.text(t, "code")
}

// send sends one request and holds the answer to the document. headers are pairs.
func (s *stack) send(t testing.TB, c caller, method, path, body string, headers ...string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	base := s.base
	if strings.HasPrefix(path, "/operator/") {
		base = s.operator
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path, reader)
	must(t, err)
	if c.key != "" {
		r.Header.Set("X-Svc-API-Key", c.key)
	}
	if c.subject != "" {
		r.Header.Set("X-Svc-Subject", url.PathEscape(c.subject))
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(body, "--sample") {
		r.Header.Set("Content-Type", "multipart/form-data; boundary=sample")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.http.Do(r)
	must(t, err)
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return a // it would go on
	}
	a.body, err = io.ReadAll(res.Body)
	must(t, err)
	if s.doc != nil && strings.HasPrefix(path, "/v1/") {
		s.hold(t, method, path, a)
	}
	return a
}

// hold compares an answer with the document.
func (s *stack) hold(t testing.TB, method, path string, a answer) {
	t.Helper()
	if err := s.doc.Hold(method, path, apitest.Answer{Status: a.status, Header: a.header, Body: a.body}); err != nil {
		t.Error(err)
	}
	// refused before there is a route
	if !s.doc.Knows(method, path) || a.status == http.StatusRequestHeaderFieldsTooLarge {
		return
	}
	admitted := a.status != http.StatusUnauthorized && !strings.Contains(string(a.body), `"service_draining"`)
	if limits := a.header["Ratelimit"]; (len(limits) == 1) != admitted {
		t.Errorf("%s %s: %d with rate headers %q", method, path, a.status, limits)
	}
}

// org is an organization with its owner's key.
type org struct {
	s     *stack
	id    pb.OrgID
	owner pb.UserID
	key   string
}

func (s *stack) org(t testing.TB, name string) org {
	t.Helper()
	made, err := s.sys.CreateOrg(t.Context(), account.NewOrg{
		Name: name, OwnerEmail: "owner@example.com",
		Plan: "unlimited",
	})
	must(t, err)
	return org{s, made.Org, made.Owner, made.APIKey}
}

// mint makes a key of a member.
func (o org) mint(t testing.TB, user pb.UserID, scopes ...string) string {
	t.Helper()
	k, err := o.s.sys.CreateKey(t.Context(), account.NewKey{Org: o.id, User: user, Scopes: scopes, Label: "test"})
	must(t, err)
	return k.APIKey
}

func (o org) recruit(t testing.TB, email string, role account.Role) pb.UserID {
	t.Helper()
	m, err := o.s.sys.AddMember(t.Context(), o.id, email, role)
	must(t, err)
	return m.User
}

// ok sends a request that must succeed.
func (s *stack) ok(t testing.TB, c caller, method, path, body string) answer {
	t.Helper()
	a := s.send(t, c, method, path, body)
	if a.status >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// turn is how long a test leaves the processor to what it waits for, unless it hears of it before: work in memory takes
// milliseconds, and one that asks all the time takes them from it.
const turn = 5 * time.Millisecond

// job waits until a job has ended and returns it.
func (s *stack) job(t testing.TB, c caller, id string) map[string]any {
	t.Helper()
	turns := time.NewTicker(turn)
	defer turns.Stop()
	for range 100_000 {
		j := s.ok(t, c, http.MethodGet, "/v1/jobs/"+id, "").object(t)
		switch j["status"] {
		case "queued", "running":
		default:
			return j
		}
		select {
		case <-s.ended: // perhaps this one
		case <-turns.C:
		}
	}
	t.Fatalf("job %s does not end", id)
	return nil
}

// note takes in a text and returns its node.
func (s *stack) note(t testing.TB, c caller, text string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"content": text})
	must(t, err)
	job := s.job(t, c, s.ok(t, c, http.MethodPost, "/v1/ingest", string(body)).text(t, "jobId"))
	result, _ := job["result"].(map[string]any)
	items, _ := result["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("job %v", job)
	}
	id, _ := items[0].(map[string]any)["nodeId"].(string)
	return id
}
