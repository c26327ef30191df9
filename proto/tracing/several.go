package tracing

import (
	"bytes"

	pb "orgmem/proto"
)

// Contexts are the traces that something is part of, each once, MaxAtOnce at most.
type Contexts []*pb.TraceContext

// With adds a trace, if it is recorded and not among them. nil stays nil without one.
func (c Contexts) With(one *pb.TraceContext) Contexts {
	if !one.GetSampled() || len(c) >= MaxAtOnce {
		return c
	}
	for _, have := range c {
		if bytes.Equal(have.GetTraceId(), one.GetTraceId()) {
			return c
		}
	}
	return append(c, one)
}

// Only returns the trace if there is exactly one, else nil.
func (c Contexts) Only() *pb.TraceContext {
	if len(c) != 1 {
		return nil
	}
	return c[0]
}

// Spans are one step in several traces. nil is of none, and costs nothing.
type Spans []Span

// StartAll begins a step in each of some traces.
func (t *Tracer) StartAll(in Contexts, step Step) Spans {
	if t == nil || len(in) == 0 {
		return nil
	}
	all, now := make(Spans, 0, len(in)), t.clock.Now()
	for _, c := range in {
		if s := t.startAt(c, step, now); s.span != nil {
			all = append(all, s)
		}
	}
	return all
}

// Contexts are where what happens within the step belongs.
func (s Spans) Contexts() Contexts {
	if len(s) == 0 {
		return nil
	}
	all := make(Contexts, 0, len(s))
	for _, one := range s {
		all = append(all, one.Context())
	}
	return all
}

// Int says a number of the step.
func (s Spans) Int(a Attribute, n int) {
	for _, one := range s {
		one.Int(a, n)
	}
}

// FailedIf says that the step failed where there is an error.
func (s Spans) FailedIf(err error) {
	for _, one := range s {
		one.FailedIf(err)
	}
}

// End ends the step now, with its error if it has one.
func (s Spans) End() {
	for _, one := range s {
		one.End()
	}
}
