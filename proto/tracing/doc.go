// Package tracing is the one door through which spans leave orgmem. What wants to be seen in a trace holds a Tracer
// that its constructor was given; nil is the tracer of a node that traces nothing, and calls of it cost a comparison
// and no memory (TestOffAllocatesNothing).
//
// A request begins with Server, which takes the caller's W3C trace context and decides whether the trace is recorded.
// From there its context travels as a pb.TraceContext: in the envelope to the organization's actor, be it on another
// node, in the job that goes on after the answer, and in the events that follow from it. Each step that is worth a span
// is begun with Start under that context. A wait, which only turns out to be a step when it is over, is
// reported by Tell.
//
// A span holds words of this package, numbers, and words of the interface's vocabulary. There is no way to put content,
// a key, a path, a query or an error's text into it by oversight, and a value longer than MaxValue is cut. An
// organization is named by its id, and only where the configuration says so.
package tracing
