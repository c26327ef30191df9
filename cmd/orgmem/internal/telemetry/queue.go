package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"orgmem/proto/clock"
)

const (
	// maxQueue bounds the spans that wait to be sent: at about 2 KB each 8 MB, and some 400 requests.
	maxQueue = 4096
	// maxBatch is how many are sent together, and batchWait how long the first of them waits for the others.
	maxBatch  = 512
	batchWait = 2 * time.Second
	// complaints is how often at most it is logged that spans could not be sent.
	complaints = time.Minute
)

// Queue takes the spans that have ended, and sends them in batches. The SDK has one like it, which does not tell how
// many spans it has dropped, and which reads the machine's clock.
type Queue struct {
	exporter sdk.SpanExporter
	clock    clock.Clock
	log      *slog.Logger
	spans    chan sdk.ReadOnlySpan
	flush    chan chan struct{}
	sent     atomic.Uint64
	dropped  atomic.Uint64
	failed   atomic.Uint64

	once   sync.Once
	stop   chan struct{}   // closed by Shutdown
	ended  chan struct{}   // closed when the goroutine has ended
	ctx    context.Context //nolint:containedctx // of the goroutine: it ends when Shutdown may wait no longer
	cancel context.CancelFunc
	failAt time.Time // when it was last logged that a batch could not be sent; the goroutine's
}

func newQueue(exporter sdk.SpanExporter, c clock.Clock, log *slog.Logger) *Queue {
	q := &Queue{
		exporter: exporter, clock: c, log: log, spans: make(chan sdk.ReadOnlySpan, maxQueue), flush: make(chan chan struct{}),
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	go q.run() // Shutdown ends it
	return q
}

// Figures are what has become of the spans since the start: Failed are those that no collector took, Dropped those that
// there was no room for.
type Figures struct {
	Sent, Dropped, Failed uint64
	Waiting               int
}

// Figures returns the current figures.
func (q *Queue) Figures() Figures {
	return Figures{Sent: q.sent.Load(), Dropped: q.dropped.Load(), Failed: q.failed.Load(), Waiting: len(q.spans)}
}

// OnStart implements sdk.SpanProcessor.
func (q *Queue) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements sdk.SpanProcessor. It never waits.
func (q *Queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	select {
	case q.spans <- s:
	default:
		q.dropped.Add(1)
	}
}

// run sends batches: full ones at once, others when their first span has waited for batchWait.
func (q *Queue) run() {
	defer close(q.ended)
	batch := make([]sdk.ReadOnlySpan, 0, maxBatch)
	var timer clock.ChanTimer
	var due <-chan time.Time
	send := func() {
		if timer != nil {
			timer.Stop()
			timer, due = nil, nil
		}
		q.send(batch)
		clear(batch)
		batch = batch[:0]
	}
	drain := func() {
		for n := len(q.spans); n > 0; n-- {
			if batch = append(batch, <-q.spans); len(batch) == maxBatch {
				send()
			}
		}
		send()
	}
	for {
		select {
		case s := <-q.spans:
			if batch = append(batch, s); len(batch) == maxBatch {
				send()
			} else if timer == nil {
				timer = q.clock.NewTimer(batchWait)
				due = timer.C()
			}
		case <-due:
			send()
		case done := <-q.flush:
			drain()
			close(done)
		case <-q.stop:
			drain()
			return
		}
	}
}

// send sends a batch. What cannot be sent is counted, and gone: spans are worth no memory that grows.
func (q *Queue) send(batch []sdk.ReadOnlySpan) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(q.ctx)
	defer cancel()
	defer q.clock.AfterFunc(exportTimeout, cancel).Stop()
	err := q.exporter.ExportSpans(ctx, batch)
	if err == nil {
		q.sent.Add(uint64(len(batch)))
		return
	}
	q.failed.Add(uint64(len(batch)))
	if now := q.clock.Now(); q.failAt.IsZero() || now.Sub(q.failAt) >= complaints {
		q.failAt = now
		q.log.Warn("spans could not be sent", "spans", len(batch), "failed", q.failed.Load(), "dropped", q.dropped.Load(),
			"err", err)
	}
}

// ForceFlush implements sdk.SpanProcessor: it sends what has ended before.
func (q *Queue) ForceFlush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case q.flush <- done:
	case <-q.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown implements sdk.SpanProcessor: it sends what is there until the context ends, and gives the rest up.
func (q *Queue) Shutdown(ctx context.Context) (err error) {
	q.once.Do(func() { close(q.stop) })
	select {
	case <-q.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	q.cancel()
	<-q.ended // a batch whose context has ended is given up at once
	if closed := q.exporter.Shutdown(ctx); err == nil {
		err = closed
	}
	return err
}
