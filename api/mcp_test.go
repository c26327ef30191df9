package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	pb "orgmem/proto"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// say sends one message of the Model Context Protocol. The headers come in pairs.
func (h *harness) say(body string, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	r := httpRequest(h.t, http.MethodPost, "/mcp", body)
	r.Header.Del("X-Svc-Api-Key")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.s.public.Handler.ServeHTTP(w, r)
	return w
}

// The checks of a message come in the order of every request: draining, the credential, the
// rate, the subject; only then is anything of it read.
func TestMCPChecksInOrder(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxIngestBody = 64 << 10 })
	refuse := func(code string, rate *pb.RateLimit) func(context.Context, *pb.Envelope) (*pb.Reply, error) {
		return func(context.Context, *pb.Envelope) (*pb.Reply, error) {
			reply := fakeProblem(code)
			reply.Rate = rate
			return reply, nil
		}
	}
	for _, c := range []struct {
		name, body, key string
		answer          func(context.Context, *pb.Envelope) (*pb.Reply, error)
		status          int
		header          string
	}{
		{"no key", "{", "", nil, http.StatusUnauthorized, "Www-Authenticate"},
		{"a wrong key", "{", badKey, nil, http.StatusUnauthorized, "Www-Authenticate"},
		{
			"too often", "{", goodKey, refuse(pb.CodeRateLimit, &pb.RateLimit{ResetS: 9, Quota: 60}),
			http.StatusTooManyRequests, "Retry-After",
		},
		{"nobody's subject", "{", goodKey, refuse(pb.CodeSubjectNotProvisioned, nil), http.StatusForbidden, ""},
		{"no JSON", "{", goodKey, nil, http.StatusBadRequest, ""},
		{"too large", strings.Repeat("x", 64<<10+1), goodKey, nil, http.StatusRequestEntityTooLarge, ""},
		{"a message", listTools, goodKey, nil, http.StatusOK, ""},
	} {
		h.asker.answer = c.answer
		var headers []string
		if c.key != "" {
			headers = []string{"Authorization", "Bearer " + c.key}
		}
		w := h.say(c.body, headers...)
		if w.Code != c.status || c.header != "" && w.Header().Get(c.header) == "" {
			t.Errorf("%s: %d %v %s", c.name, w.Code, w.Header(), w.Body)
		}
		if w.Header().Get("X-Request-Id") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", c.name, w.Header())
		}
	}
	h.asker.answer = nil
	h.s.Drain()
	if w := h.say(listTools, "X-Svc-Api-Key", goodKey); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a draining node answers %d", w.Code)
	}
}

// What a message asks for goes through the routes, as the caller's own requests would.
func TestMCPCallsTheRoutes(t *testing.T) {
	h := newHarness(t)
	w := h.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call",`+
		`"params":{"name":"search_memory","arguments":{"query":"figs"}}}`,
		"X-Svc-Api-Key", goodKey, "X-Svc-Subject", "ann", "X-Request-Id", "mine")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Figs ripen late.") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if n := len(h.asker.asked); n != 2 {
		t.Fatalf("%d requests, want one for the key and one for the search", n)
	}
	env := h.asker.last()
	if env.GetRoute() != "search" || env.GetScope() != pb.ScopeRead || env.GetFamily() != pb.FamilySearch ||
		env.GetSubject() != "ann" || env.GetRequestId() != "mine" || env.GetSearch().GetQuery() != "figs" {
		t.Errorf("%v", env)
	}
}

// A page of another origin may not call, whatever name it has made this machine answer to.
func TestMCPRefusesForeignPages(t *testing.T) {
	h := newHarness(t)
	for _, c := range []struct {
		host, origin string
		allowed      bool
	}{
		{"127.0.0.1:8080", "", true},
		{"memory.example", "", true}, // a proxy on this machine
		{"127.0.0.1:8080", "http://127.0.0.1:8080", true},
		{"localhost:8080", "http://LOCALHOST:8080", true},
		{"[::1]:8080", "http://[::1]:8080", true},
		{"127.0.0.1:8080", "http://127.0.0.1:3000", false},
		{"127.0.0.1:8080", "http://evil.example", false},
		{"evil.example:8080", "http://evil.example:8080", false}, // its name points here
		{"localhost.evil.example", "http://localhost.evil.example", false},
		{"127.0.0.1:8080", "null", false},
		{"127.0.0.1:8080", "127.0.0.1:8080", false},
		{"127.0.0.1:8080", "http://%zz", false},
	} {
		r := httpRequest(t, http.MethodPost, "/mcp", listTools)
		r.Host = c.host
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-Svc-Api-Key", goodKey)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		h.s.public.Handler.ServeHTTP(w, r)
		if (w.Code == http.StatusOK) != c.allowed || !c.allowed && w.Code != http.StatusForbidden {
			t.Errorf("%s from %q: %d", c.host, c.origin, w.Code)
		}
	}
}

// Where the client leaves, the edge cuts its connection by a panic. A tool's request is on
// a goroutine that nobody else would save.
func TestMCPOutlivesAClientThatLeaves(t *testing.T) {
	h := newHarness(t)
	ctx, leave := context.WithCancel(t.Context())
	var asked atomic.Int32
	h.asker.answer = func(ctx context.Context, env *pb.Envelope) (*pb.Reply, error) {
		if asked.Add(1) == 1 {
			return fakeAnswer(env), nil
		}
		leave()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r := httpRequest(t, http.MethodPost, "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"q"}}}`)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("X-Svc-Api-Key", goodKey)
	h.s.public.Handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	if asked.Load() != 2 {
		t.Errorf("%d requests were asked", asked.Load())
	}
	h.asker.answer = nil
	if w := h.say(listTools, "X-Svc-Api-Key", goodKey); w.Code != http.StatusOK {
		t.Errorf("the next message is answered %d", w.Code)
	}
}

func TestMCPCanBeLeftOut(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MCP.Off = true })
	if w := h.say(listTools, "X-Svc-Api-Key", goodKey); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
	h = newHarness(t, func(c *Config) { c.MCP.Tools = []string{"recall"} })
	w := h.say(listTools, "X-Svc-Api-Key", goodKey)
	if said := w.Body.String(); !strings.Contains(said, `"recall"`) || strings.Contains(said, `"search_memory"`) {
		t.Errorf("%s", said)
	}
	_, err := New(Config{
		Asker: h.asker, Operator: fakeOperator{}, OperatorToken: testToken, Clock: h.clock, Logger: h.s.cfg.Logger,
		MCP: MCP{Tools: []string{"remember"}},
	})
	if err == nil || !strings.Contains(err.Error(), "remember") {
		t.Errorf("a tool that does not exist: %v", err)
	}
}
