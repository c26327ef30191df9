package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/proto/tracing/tracingtest"
)

// withTraces has a harness trace, with a clock that the harness then has, too.
func withTraces(t *testing.T) (*harness, *tracingtest.Spans) {
	t.Helper()
	var spans *tracingtest.Spans
	h := newHarness(t, func(c *Config) {
		c.OrgOf, c.AccessLog = ofGoodKey, "all"
		var tracer *tracing.Tracer
		tracer, spans = tracingtest.New(c.Clock, false)
		c.Tracer = tracer
	})
	return h, spans
}

// The id of a recorded trace stands in the log, in slow requests and in the metrics; that of another stands in none.
func TestTheTraceIsFoundFromTheRequest(t *testing.T) {
	t.Parallel()
	h, spans := withTraces(t)
	took := 2 * time.Second
	h.takes(&took)
	var got []string
	answer := h.asker.answer
	h.asker.answer = func(ctx context.Context, env *pb.Envelope) (*pb.Reply, error) {
		got = append(got, string(env.GetTrace().GetTraceId()))
		return answer(ctx, env)
	}
	for _, recorded := range []bool{true, false} {
		with := tracingtest.Header(recorded)
		h.do("POST", "/v1/search", `{"query":"private words"}`, "X-Svc-Subject", "private-subject",
			"Traceparent", with.Get("Traceparent"), "Tracestate", with.Get("Tracestate"))
		line := map[string]any{}
		if err := json.Unmarshal([]byte(h.logs.String()), &line); err != nil {
			t.Fatal(err)
		}
		h.logs.b.Reset()
		if id, ok := line["trace_id"]; ok != recorded || recorded && id != tracingtest.Trace {
			t.Errorf("recorded %v: the line has %v", recorded, id)
		}
	}
	if len(got) != 2 || len(got[0]) != 16 || got[0] != got[1] {
		t.Errorf("the actor gets %q", got)
	}
	slow := h.op("GET", "/operator/requests/slow", "")
	if n := strings.Count(string(slow.body), tracingtest.Trace); n != 1 {
		t.Errorf("the slow requests name the trace %d times: %s", n, slow.body)
	}
	of := map[string]bool{"application/openmetrics-text; version=1.0.0": true, "text/plain": false}
	for accept, want := range of {
		figures := string(h.op("GET", "/metrics", "", "Accept", accept).body)
		if has := strings.Contains(figures, `trace_id="`+tracingtest.Trace+`"`); has != want {
			t.Errorf("%s: an exemplar is there: %v", accept, has)
		}
	}
	s, ok := spans.Find("POST /v1/search")
	want := map[string]string{
		"http.request.method": "POST", "http.route": "/v1/search", "http.response.status_code": "200",
		"gen_ai.operation.name": "search_memory", "http.request.body.size": "25",
	}
	for name, value := range want {
		if s.Says[name] != value {
			t.Errorf("%s is %q, want %q", name, s.Says[name], value)
		}
	}
	if !ok || s.Failed || s.To.Sub(s.From) != took || len(spans.Ended()) != 2 {
		t.Errorf("%v", spans.Ended())
	}
	for _, s := range spans.Ended() {
		for name, value := range s.Says {
			if strings.Contains(value, "private") || strings.Contains(value, goodKey) {
				t.Errorf("%s says %s=%q", s.Name(), name, value)
			}
		}
	}
}

// A refusal has its code; only what went wrong here is a failure.
func TestASpanTellsHowTheRequestEnded(t *testing.T) {
	t.Parallel()
	h, spans := withTraces(t)
	parent := tracingtest.Header(true).Get("Traceparent")
	h.do("POST", "/v1/search", `{"query":7}`, "Traceparent", parent)
	h.do("GET", "/v1/me", "", "X-Svc-Api-Key", "none", "Traceparent", parent)
	h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) { return nil, context.DeadlineExceeded }
	h.do("GET", "/v1/me", "", "Traceparent", parent)
	var told []string
	for _, s := range spans.Ended() {
		if strings.HasPrefix(s.Name(), http.MethodGet) {
			told = append(told, s.Says["http.response.status_code"]+" "+s.Says["error.type"])
			if s.Failed != (s.Says["http.response.status_code"] == "503") {
				t.Errorf("%v", s)
			}
		}
	}
	want := "401 authentication_error, 503 service_degraded"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a tool of the Model Context Protocol asks is asked in the trace of who called the tool.
func TestAToolIsInTheTraceOfItsCaller(t *testing.T) {
	t.Parallel()
	h, spans := withTraces(t)
	h.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Accept", "application/json, text/event-stream",
		"Traceparent", tracingtest.Header(true).Get("Traceparent"))
	s, ok := spans.Find("GET /v1/me")
	if !ok || s.Trace != tracingtest.Trace || strings.Join(s.Way, " > ") != "POST /mcp > GET /v1/me" {
		t.Errorf("%v", spans.Ended())
	}
}
