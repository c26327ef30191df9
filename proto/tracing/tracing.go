package tracing

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// MaxValue bounds a text in a span, in bytes: routes and codes are shorter.
	MaxValue = 128
	// MaxAttributes bounds the attributes of a span. The vocabulary has fewer for each.
	MaxAttributes = 16
	// MaxState bounds what is taken of a caller's tracestate, in bytes: as much as everybody must pass on (W3C Trace
	// Context, 3.3.1.5). A longer one is left out as a whole.
	MaxState = 512
	// MaxAtOnce bounds the traces in which a step of several requests together appears, such as a commit: further
	// traces lack that step.
	MaxAtOnce = 8
)

// Tracer begins spans. All its methods may be called from any goroutine, and on nil, which traces nothing.
type Tracer struct {
	tracer trace.Tracer
	clock  clock.Clock
	orgs   bool
}

// New makes a tracer of a library's. orgs says that spans may name organizations, by their ids.
func New(t trace.Tracer, c clock.Clock, orgs bool) *Tracer {
	return &Tracer{tracer: t, clock: c, orgs: orgs}
}

// Span is a step of a trace. The zero Span is nobody's: its methods do nothing, and cost nothing.
type Span struct {
	tracer *Tracer
	span   trace.Span // nil: nobody records it
}

var w3c propagation.TraceContext

// nowhere carries a span to the library and back. Nothing waits for it, so there is nothing to end.
var nowhere = context.Background() //nolint:forbidigo // see above

// Server begins what a caller asks over HTTP: under the caller's span, where it names one. at is when it came.
func (t *Tracer) Server(h http.Header, at time.Time, method, route string) Span {
	if t == nil {
		return Span{}
	}
	parents, states := h[headerParent], h[headerState]
	switch {
	case len(parents) != 1: // two contradict each other
		h = nil
	case len(states) > 1, len(states) == 1 && len(states[0]) > MaxState:
		h = http.Header{headerParent: parents}
	}
	ctx := w3c.Extract(nowhere, propagation.HeaderCarrier(h))
	return t.begin(ctx, method+" "+route, trace.SpanKindServer, at)
}

// begin begins a span. Where it is not recorded it still says so to those who are asked next.
func (t *Tracer) begin(ctx context.Context, name string, kind trace.SpanKind, at time.Time) Span {
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithTimestamp(at))
	return Span{t, span}
}

// Start begins a step within what parent names.
func (t *Tracer) Start(parent *pb.TraceContext, step Step) Span {
	if t == nil || !parent.GetSampled() {
		return Span{}
	}
	return t.startAt(parent, step, t.clock.Now())
}

func (t *Tracer) startAt(parent *pb.TraceContext, step Step, at time.Time) Span {
	of, ok := spanContext(parent, step == StepServeNode)
	if !ok {
		return Span{}
	}
	return t.begin(trace.ContextWithSpanContext(nowhere, of), string(step), step.kind(), at)
}

// Tell tells of a step that began at from and is over.
func (t *Tracer) Tell(parent *pb.TraceContext, step Step, from time.Time) {
	if t == nil || !parent.GetSampled() || from.IsZero() {
		return
	}
	t.startAt(parent, step, from).End()
}

// Recorded returns a context whose steps are recorded here, and nil for any other.
func (t *Tracer) Recorded(c *pb.TraceContext) *pb.TraceContext {
	if t == nil || !c.GetSampled() {
		return nil
	}
	return c
}

// Recorded reports whether somebody will see the span.
func (s Span) Recorded() bool { return s.span != nil && s.span.IsRecording() }

// TraceID is the id of the trace in hexadecimal; "": nobody records it.
func (s Span) TraceID() string {
	if !s.Recorded() {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Context is what the next steps of the trace are begun with; nil: the span is nobody's.
func (s Span) Context() *pb.TraceContext {
	if s.span == nil {
		return nil
	}
	c := s.span.SpanContext()
	if !c.IsValid() {
		return nil
	}
	id, span := c.TraceID(), c.SpanID()
	return &pb.TraceContext{TraceId: id[:], SpanId: span[:], Sampled: c.IsSampled(), State: c.TraceState().String()}
}

// End ends the span now.
func (s Span) End() {
	if s.span != nil {
		s.span.End(trace.WithTimestamp(s.tracer.clock.Now()))
	}
}

// Int says a number of the span.
func (s Span) Int(a Attribute, n int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(string(a), n))
	}
}

// Word says a word of the span: of the vocabulary, of the table of routes or of the configuration.
func (s Span) Word(a Attribute, word string) {
	if s.span != nil && word != "" {
		s.span.SetAttributes(attribute.String(string(a), word[:min(len(word), MaxValue)]))
	}
}

// Org says which organization the span is about, where the configuration lets it.
func (s Span) Org(org pb.OrgID) {
	if s.span != nil && s.tracer.orgs {
		s.Word(AttributeStore, org.String())
	}
}

// Fail says that the step failed, and of which kind that is: a code of the vocabulary, a status, or FailureOther.
func (s Span) Fail(kind string) {
	if s.span != nil {
		s.span.SetStatus(codes.Error, "")
		s.Word(AttributeError, kind)
	}
}

// About makes a word of the configuration a part of the span's name.
func (s Span) About(step Step, word string) {
	if s.span != nil {
		s.span.SetName(string(step) + " " + word[:min(len(word), MaxValue)])
	}
}

// FailedIf is Fail with FailureOther where there is an error. Its text may hold anything, and stays where it is.
func (s Span) FailedIf(err error) {
	if s.span != nil && err != nil {
		s.Fail(FailureOther)
	}
}

// Headers are what a request over HTTP has to carry so that the trace goes on where it is answered. s is the span of
// the request, or of nobody: then c is passed on.
func (s Span) Headers(h http.Header, c *pb.TraceContext) {
	if own := s.Context(); own != nil {
		c = own
	}
	if of, ok := spanContext(c, false); ok {
		w3c.Inject(trace.ContextWithSpanContext(nowhere, of), propagation.HeaderCarrier(h))
	}
}

// The headers of W3C Trace Context, as http.Header spells them.
const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
)

// spanContext reads a context; false where it names no span.
func spanContext(c *pb.TraceContext, remote bool) (of trace.SpanContext, ok bool) {
	if c == nil || len(c.GetTraceId()) != len(trace.TraceID{}) || len(c.GetSpanId()) != len(trace.SpanID{}) {
		return of, false
	}
	cfg := trace.SpanContextConfig{
		TraceID: trace.TraceID(c.GetTraceId()), SpanID: trace.SpanID(c.GetSpanId()), Remote: remote,
		TraceFlags: trace.TraceFlags(0).WithSampled(c.GetSampled()),
	}
	if state, err := trace.ParseTraceState(c.GetState()); err == nil {
		cfg.TraceState = state
	}
	of = trace.NewSpanContext(cfg)
	return of, of.IsValid()
}

type contextKey struct{}

// Into returns a context within which what is done belongs to a trace, where a call has nothing else to carry it.
func Into(ctx context.Context, c *pb.TraceContext) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, c)
}

// From is the trace that a context belongs to; nil: none.
func From(ctx context.Context) *pb.TraceContext {
	c, _ := ctx.Value(contextKey{}).(*pb.TraceContext)
	return c
}
