package telemetry

import (
	"context"
	"io"

	"go.opentelemetry.io/otel/trace"
)

// ids names traces and spans by chance. The source may be read from any goroutine, and does not fail.
type ids struct{ random io.Reader }

// NewIDs implements sdk.IDGenerator.
func (g ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	for !id.IsValid() {
		_, _ = io.ReadFull(g.random, id[:])
	}
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (g ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	var id trace.SpanID
	for !id.IsValid() {
		_, _ = io.ReadFull(g.random, id[:])
	}
	return id
}
