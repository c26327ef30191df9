package commit

import (
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

// In says that the change is a part of a trace; nil: of none.
func (c *Change) In(trace *pb.TraceContext) *Change {
	c.Traces = c.Traces.With(trace)
	return c
}

// traced begins the spans of a write that is a part of traces, and lets its events go on where it is one.
func (c *Committer) traced(w *write) {
	w.commit = c.trace.StartAll(w.Traces, tracing.StepCommit)
	w.commit.Int(tracing.AttributeBytes, w.Bytes())
	for _, e := range w.Events {
		if e.GetTrace() == nil {
			e.Trace = w.Traces.Only()
		}
	}
}

// proposed begins the spans of an entry of the log, MaxAtOnce of them: what shares an entry may be many requests.
func (c *Committer) proposed(group []write, size int) {
	if c.trace == nil {
		return
	}
	told := 0
	for i := range group {
		w := &group[i]
		if len(w.commit) == 0 || told >= tracing.MaxAtOnce {
			continue
		}
		w.raft = c.trace.StartAll(w.commit.Contexts(), tracing.StepRaft)
		w.raft.Int(tracing.AttributeChanges, len(group))
		w.raft.Int(tracing.AttributeBytes, size)
		told += len(w.raft)
	}
}

// ended ends the spans of a write.
func (w *write) ended(err error) {
	for _, spans := range [...]tracing.Spans{w.raft, w.commit} {
		spans.FailedIf(err)
		spans.End()
	}
}
