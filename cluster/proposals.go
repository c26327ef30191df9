package cluster

import (
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"orgmem/cluster/state"
	"orgmem/cluster/wire"
)

// proposals are those of one group that are under way: entered into raft, and not
// answered yet. group.propose enters them and group.complete answers them.
type proposals struct {
	// maxBytes is maxGroupInFlightBytes; a test has less memory to spare.
	maxBytes int64

	mu            sync.Mutex // guards what follows, and the order of proposals
	closed        bool
	handing       bool // the leadership is being handed over: nothing new is proposed
	inFlight      int
	inFlightBytes int64

	pending   chan *proposal // in log order; closed by shut
	current   atomic.Pointer[proposal]
	completed chan struct{} // closed when complete has ended
}

func newProposals() proposals {
	return proposals{
		maxBytes: maxGroupInFlightBytes, pending: make(chan *proposal, maxGroupInFlight), completed: make(chan struct{}),
	}
}

// answered takes a proposal off.
func (q *proposals) answered(p *proposal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inFlight--
	q.inFlightBytes -= p.bytes
}

// underWay returns how many there are.
func (q *proposals) underWay() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inFlight
}

// pause refuses new proposals while the leadership is handed over, until resume.
func (q *proposals) pause() { q.setHanding(true) }

func (q *proposals) resume() { q.setHanding(false) }

func (q *proposals) setHanding(handing bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handing = handing
}

// shut refuses new proposals for good.
func (q *proposals) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.pending)
	}
}

// abandon answers what raft has not answered before it was shut down.
func (q *proposals) abandon() {
	if p := q.current.Load(); p != nil {
		p.finish(state.Result{Err: wire.Unknown(wire.ErrClosed)})
	}
	for p := range q.pending {
		p.finish(state.Result{Err: wire.Unknown(wire.ErrClosed)})
	}
}

// proposal is one command under way.
type proposal struct {
	future   raft.ApplyFuture
	bytes    int64
	answer   func(state.Result)
	answered atomic.Bool
	unwatch  func() bool // stops watching the context; nil when it cannot end
}

// finish answers once; the first caller wins.
func (p *proposal) finish(r state.Result) {
	if p.answered.Swap(true) {
		return
	}
	p.answer(r)
}
