// Package telemetry sends spans to a collector: OTLP over HTTP, by OpenTelemetry's own SDK. What a span may hold is
// said in proto/tracing; here stand the sampling, the bounds of a span, and the queue.
//
// Nobody who works on a request waits for a collector. A span that has ended goes into a queue of maxQueue; where that
// is full the span is dropped, and counted. Close sends what is queued, within a bound of its own.
package telemetry
