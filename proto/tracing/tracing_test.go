package tracing_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// recorder is a tracer whose spans a test sees.
func recorder(t *testing.T, orgs bool, sampler sdk.Sampler) (*tracing.Tracer, *tracetest.SpanRecorder, *clock.Fake) {
	t.Helper()
	seen, c := tracetest.NewSpanRecorder(), clock.NewFake(start)
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(seen), sdk.WithSampler(sampler))
	return tracing.New(provider.Tracer("test"), c, orgs), seen, c
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	spanID  = "b7ad6b7169203331"
)

func caller(flags, state string) http.Header {
	h := http.Header{"Traceparent": {"00-" + traceID + "-" + spanID + "-" + flags}}
	if state != "" {
		h["Tracestate"] = []string{state}
	}
	return h
}

// A node that traces nothing must not notice that it could.
func TestOffAllocatesNothing(t *testing.T) {
	var off *tracing.Tracer
	h, org, failure := caller("01", "a=b"), pb.OrgID{1}, errors.New("no")
	ctx := context.Background()
	allocations := testing.AllocsPerRun(100, func() {
		s := off.Server(h, start, "GET", "/v1/search")
		c := s.Context()
		off.Tell(c, tracing.StepMailbox, start)
		step := off.Start(c, tracing.StepSearch)
		step.Int(tracing.AttributeHits, 3)
		step.Word(tracing.AttributeEvent, "graph.updated")
		step.Org(org)
		step.FailedIf(failure)
		step.Headers(nil, off.Recorded(c))
		step.End()
		in := tracing.Contexts(nil).With(off.Recorded(c))
		all := off.StartAll(in, tracing.StepCommit)
		all.Int(tracing.AttributeBytes, 7)
		all.FailedIf(failure)
		off.StartAll(all.Contexts(), tracing.StepRaft).End()
		all.End()
		if s.TraceID() != "" || tracing.From(tracing.Into(ctx, c)) != nil {
			t.Error("something is traced")
		}
		s.End()
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// Whether a request is traced its caller decides, and where no caller has, the ratio.
func TestWhoDecidesWhatIsRecorded(t *testing.T) {
	t.Parallel()
	zero := "00-" + strings.Repeat("0", 32) + "-" + spanID + "-00"
	for name, c := range map[string]struct {
		ratio    float64
		header   http.Header
		recorded bool
	}{
		"the caller wants it":         {0, caller("01", ""), true},
		"the caller does not want it": {1, caller("00", ""), false},
		"nobody has decided, all":     {1, http.Header{}, true},
		"nobody has decided, none":    {0, http.Header{}, false},
		"a malformed parent, all":     {1, http.Header{"Traceparent": {"00-nonsense"}}, true},
		"two parents, none":           {0, http.Header{"Traceparent": {caller("01", "").Get("Traceparent"), "x"}}, false},
		"an all-zero trace, all":      {1, http.Header{"Traceparent": {zero}}, true},
	} {
		tracer, seen, _ := recorder(t, false, sdk.ParentBased(sdk.TraceIDRatioBased(c.ratio)))
		s := tracer.Server(c.header, start, "POST", "/v1/ingest")
		if s.Recorded() != c.recorded || (s.TraceID() != "") != c.recorded {
			t.Errorf("%s: recorded is %v", name, s.Recorded())
		}
		// Who is asked next must not decide it again.
		if got := s.Context(); got == nil || got.GetSampled() != c.recorded {
			t.Errorf("%s: the context is %v", name, got)
		}
		tracer.Start(s.Context(), tracing.StepSearch).End()
		s.End()
		want := 0
		if c.recorded {
			want = 2
		}
		if n := len(seen.Ended()); n != want {
			t.Errorf("%s: %d spans", name, n)
		}
	}
}

func TestTheContextGoesOn(t *testing.T) {
	t.Parallel()
	tracer, seen, now := recorder(t, false, sdk.ParentBased(sdk.NeverSample()))
	s := tracer.Server(caller("01", "vendor=1"), start, "POST", "/v1/search")
	now.Advance(time.Second)
	step := tracer.Start(s.Context(), tracing.StepModel)
	h := http.Header{}
	step.Headers(h, s.Context())
	if got := h.Get("Traceparent"); !strings.HasPrefix(got, "00-"+traceID+"-") || strings.Contains(got, spanID) ||
		!strings.HasSuffix(got, "-01") {
		t.Errorf("traceparent is %q", got)
	}
	if got := h.Get("Tracestate"); got != "vendor=1" {
		t.Errorf("tracestate is %q", got)
	}
	tracer.Tell(s.Context(), tracing.StepMailbox, start)
	now.Advance(time.Second)
	step.End()
	s.End()
	ended := seen.Ended()
	if len(ended) != 3 || ended[0].Name() != "mailbox" || ended[1].Name() != "chat" ||
		ended[2].Name() != "POST /v1/search" {
		t.Fatalf("%d spans", len(ended))
	}
	for i, want := range [][2]time.Duration{{0, time.Second}, {time.Second, 2 * time.Second}, {0, 2 * time.Second}} {
		if from, to := ended[i].StartTime().Sub(start), ended[i].EndTime().Sub(start); from != want[0] || to != want[1] {
			t.Errorf("%s is from %v to %v", ended[i].Name(), from, to)
		}
	}
	// Where nobody records it the caller's own context goes on.
	h = http.Header{}
	unsampled := tracer.Server(caller("00", ""), start, "POST", "/v1/search")
	tracer.Start(unsampled.Context(), tracing.StepModel).Headers(h, unsampled.Context())
	if got := h.Get("Traceparent"); !strings.HasSuffix(got, "-00") || !strings.HasPrefix(got, "00-"+traceID) {
		t.Errorf("traceparent is %q", got)
	}
}

func TestWhatASpanHoldsIsBounded(t *testing.T) {
	t.Parallel()
	org := pb.OrgID{1, 2, 3}
	for _, orgs := range []bool{false, true} {
		tracer, seen, _ := recorder(t, orgs, sdk.AlwaysSample())
		long := strings.Repeat("v=1,", tracing.MaxState) + "w=1"
		s := tracer.Server(caller("01", long), start, "POST", "/v1/search")
		if got := s.Context().GetState(); got != "" {
			t.Errorf("a state of %d bytes was taken as one of %d", len(long), len(got))
		}
		s.Word(tracing.AttributeRoute, strings.Repeat("x", 1000))
		s.Org(org)
		s.FailedIf(errors.New("the secret text of an error"))
		s.End()
		for _, a := range seen.Ended()[0].Attributes() {
			value := a.Value.String()
			if len(value) > tracing.MaxValue || strings.Contains(value, "secret") {
				t.Errorf("%s is %q", a.Key, value)
			}
			if string(a.Key) == string(tracing.AttributeStore) && (!orgs || value != org.String()) {
				t.Errorf("the organization is %q", value)
			}
		}
		if text := seen.Ended()[0].Status().Description; text != "" {
			t.Errorf("the status says %q", text)
		}
	}
}

func TestAStepOfManyRequestsIsToldToSome(t *testing.T) {
	t.Parallel()
	tracer, seen, _ := recorder(t, false, sdk.AlwaysSample())
	var in tracing.Contexts
	for range 3 * tracing.MaxAtOnce {
		s := tracer.Server(http.Header{}, start, "POST", "/v1/ingest")
		in = in.With(s.Context()).With(s.Context()).With(nil)
	}
	if len(in) != tracing.MaxAtOnce || in.Only() != nil || in[:1].Only() == nil {
		t.Fatalf("%d traces", len(in))
	}
	spans := tracer.StartAll(in, tracing.StepCommit)
	tracer.StartAll(spans.Contexts(), tracing.StepRaft).End()
	spans.End()
	if n := len(seen.Ended()); n != 2*tracing.MaxAtOnce {
		t.Errorf("%d spans", n)
	}
}
