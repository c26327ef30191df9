// Package tracingtest is for tests: a tracer whose spans a test reads.
package tracingtest

import (
	"net/http"
	"slices"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

// Spans are those that have ended. They may be read at any time.
type Spans struct{ seen *tracetest.SpanRecorder }

// Span is one of them. Way are the names of the spans from the outermost that was recorded to this one.
type Span struct {
	Trace    string
	Way      []string
	Says     map[string]string // its attributes
	Failed   bool
	From, To time.Time
}

// Name is the span's own.
func (s Span) Name() string { return s.Way[len(s.Way)-1] }

// New makes a tracer that records what a caller wants recorded, and nothing else.
func New(c clock.Clock, orgs bool) (*tracing.Tracer, *Spans) {
	spans := &Spans{tracetest.NewSpanRecorder()}
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(spans.seen), sdk.WithSampler(sdk.ParentBased(sdk.NeverSample())),
	)
	return tracing.New(provider.Tracer("test"), c, orgs), spans
}

// The caller of the tests, and what it says.
const (
	Trace  = "0af7651916cd43dd8448eb211c80319c"
	Caller = "b7ad6b7169203331"
	State  = "vendor=hello"
)

// Header is what the caller sends: that its trace is recorded, or that it is not.
func Header(recorded bool) http.Header {
	flags := "-00"
	if recorded {
		flags = "-01"
	}
	return http.Header{"Traceparent": {"00-" + Trace + "-" + Caller + flags}, "Tracestate": {State}}
}

// Ended returns the spans, in the order of their ends.
func (s *Spans) Ended() (all []Span) {
	ended := s.seen.Ended()
	of := map[trace.SpanID]sdk.ReadOnlySpan{}
	for _, e := range ended {
		of[e.SpanContext().SpanID()] = e
	}
	for _, e := range ended {
		one := Span{
			Trace: e.SpanContext().TraceID().String(), Says: map[string]string{}, From: e.StartTime(), To: e.EndTime(),
			Failed: e.Status().Code != 0,
		}
		for _, a := range e.Attributes() {
			one.Says[string(a.Key)] = a.Value.String()
		}
		for up := e; up != nil; up = of[up.Parent().SpanID()] {
			one.Way = append(one.Way, up.Name())
		}
		slices.Reverse(one.Way)
		all = append(all, one)
	}
	return all
}

// Find returns the first span of a name.
func (s *Spans) Find(name string) (Span, bool) {
	all := s.Ended()
	i := slices.IndexFunc(all, func(one Span) bool { return one.Name() == name })
	if i < 0 {
		return Span{}, false
	}
	return all[i], true
}
