package subject

import (
	"context"
	"sync/atomic"

	"orgmem/actors/node"
)

// turn says whether the worker is at work: a slice of the queue, or the edits that wait. The two alternate.
type turn struct {
	running bool
	ended   chan struct{} // closed when what runs, or ran last, has ended
	ofEdits bool          // the last was of edits: a slice comes next
	again   bool          // the worker was woken meanwhile
	woken   uint64        // the newest wake
	seen    uint64        // the newest wake before the turn
}

// begin begins a turn, and returns what its end closes.
func (t *turn) begin(ofEdits bool) chan struct{} {
	t.running, t.again, t.ofEdits, t.seen, t.ended = true, false, ofEdits, t.woken, make(chan struct{})
	return t.ended
}

// await waits for what runs to end.
func (t *turn) await() {
	if t.ended != nil {
		<-t.ended
	}
}

// lifetime is how long the worker's actor lasts, for the goroutines that work for it.
type lifetime struct {
	ended  atomic.Bool
	ctx    context.Context //nolint:containedctx // what waits for memory ends with the actor
	cancel context.CancelFunc
}

// begin makes it end with a longer one.
func (l *lifetime) begin(parent context.Context) { l.ctx, l.cancel = context.WithCancel(parent) }

// end is called when the actor stops, or has panicked.
func (l *lifetime) end() {
	l.ended.Store(true)
	l.cancel()
}

// goOn returns node.ErrClosing once the lifetime has ended.
func (l *lifetime) goOn() error {
	if l.ended.Load() {
		return node.ErrClosing
	}
	return nil
}
