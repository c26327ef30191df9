package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed says that the node is closed, or the handle was released.
var ErrClosed = errors.New("storage is closed")

// gate counts the operations that use a Pebble instance, so that it can be
// closed or exchanged at an instant when there are none. It differs from
// sync.RWMutex in that a waiting closer does not hold up new operations: a scan
// whose loop body reads again would otherwise wait for itself.
type gate struct {
	mu     sync.Mutex
	cond   *sync.Cond // on mu: shut or closed changed
	n      int
	shut   bool          // held by the one who exchanges the instance
	closed bool          // for good
	idle   chan struct{} // non-nil: somebody waits for n == 0; closed when shut is theirs
}

func newGate() *gate {
	g := &gate{}
	g.cond = sync.NewCond(&g.mu)
	return g
}

// enter begins an operation; ErrClosed once the gate is closed.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.shut && !g.closed {
		g.cond.Wait()
	}
	if g.closed {
		return ErrClosed
	}
	g.n++
	return nil
}

// leave ends an operation.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n--
	if g.n < 0 {
		broken("operation ended twice")
	}
	if g.n == 0 && g.idle != nil {
		g.shut = true
		close(g.idle)
		g.idle = nil
	}
}

// tryShut is shutOut that does not wait: it reports whether the instant is now.
func (g *gate) tryShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.shut || g.n > 0 {
		return false
	}
	g.shut = true
	return true
}

// shutOut waits for an instant without operations and keeps new ones waiting
// until reopen. One caller at a time.
func (g *gate) shutOut(ctx context.Context) error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	if g.n == 0 {
		g.shut = true
		g.mu.Unlock()
		return nil
	}
	idle := make(chan struct{})
	g.idle = idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	if g.idle == idle { // not handed over yet: withdraw
		g.idle = nil
		g.mu.Unlock()
	} else {
		g.mu.Unlock()
		g.reopen()
	}
	return ctx.Err()
}

func (g *gate) reopen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.cond.Broadcast()
}

// close refuses new operations and waits for those that run.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.cond.Broadcast()
	if g.n == 0 {
		g.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	g.idle = idle
	g.mu.Unlock()
	<-idle
}

// broken is for what only a bug of the caller can bring about: a key of another
// organization above all. It panics and does not stop the process: nothing was
// written, and supervision confines it to the one request.
func broken(format string, args ...any) {
	panic("storage: " + fmt.Sprintf(format, args...)) //nolint:forbidigo // a caller's bug, see above
}
