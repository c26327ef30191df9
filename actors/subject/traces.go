package subject

import (
	"sync"
	"time"

	"orgmem/actors/graph"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

// traced begins a slice in the traces of its jobs, and tells of their wait in the queue. nil: none of them is traced.
func (w *worker) traced(entries []graph.Queued, jobs map[pb.JobID]*pb.Job) tracing.Spans {
	tracer := w.org.System.Config.Tracer
	if tracer == nil {
		return nil
	}
	var in tracing.Contexts
	for i, e := range entries {
		job := jobs[pb.JobID(e.GetJob())]
		was := len(in)
		in = in.With(job.GetTrace())
		if len(in) > was && i == 0 && job.GetDone() == 0 || len(in) > was && e.GetIndex() == 0 {
			tracer.Tell(job.GetTrace(), tracing.StepQueue, time.UnixMilli(job.GetCreatedMs()))
		}
	}
	spans := tracer.StartAll(in, tracing.StepIngest)
	spans.Int(tracing.AttributeItems, len(entries))
	return spans
}

// nothing is what embedding does for traces when nothing is traced.
func nothing() {}

func nothingOf([]graph.Prepared, error) {}

// embedding begins the wait of an embedding for a worker. begin ends the wait, and begins the embedding; it may be
// called again. end ends what has begun.
func (w *worker) embedding(in tracing.Contexts) (begin func(), end func([]graph.Prepared, error)) {
	tracer := w.org.System.Config.Tracer
	if tracer == nil || len(in) == 0 {
		return nothing, nothingOf
	}
	waits := tracer.StartAll(in, tracing.StepEmbedWait)
	var spans tracing.Spans
	begin = sync.OnceFunc(func() {
		waits.End()
		spans = tracer.StartAll(in, tracing.StepEmbed)
	})
	return begin, func(items []graph.Prepared, err error) {
		begin() // where no worker came to it
		chunks := 0
		for i := range items {
			chunks += len(items[i].Chunks)
		}
		spans.Int(tracing.AttributeChunks, chunks)
		spans.FailedIf(err)
		spans.End()
	}
}
