package node

import (
	"sync"
	"sync/atomic"
)

const (
	// MaxCalls bounds the requests inside the actors of one node. Each holds at
	// most one body, which the edge bounds by bytes; the number bounds the
	// goroutines that wait.
	MaxCalls = 8192
	// PressureFrom calls at once make ingestion stand back until there are
	// pressureUntil: eight for each of two processors are more than a few clients
	// cause, and the distance keeps it from flapping.
	PressureFrom  = 16
	pressureUntil = 12
)

// Pressure counts the calls that are inside the actors, and makes ingestion stand back while they are many.
type Pressure struct {
	calls    atomic.Int64
	on       atomic.Bool
	deciding sync.Mutex // one decision at a time
	apply    func(on bool)
}

// NewPressure tells apply when ingestion is to stand back, and when no longer.
func NewPressure(apply func(on bool)) *Pressure { return &Pressure{apply: apply} }

// Calls is how many are inside the actors.
func (p *Pressure) Calls() int64 { return p.calls.Load() }

// Enter counts a call in, and reports false when there are too many.
func (p *Pressure) Enter() bool {
	n := p.calls.Add(1)
	if n > MaxCalls {
		p.calls.Add(-1)
		return false
	}
	if n >= PressureFrom && !p.on.Load() {
		p.update()
	}
	return true
}

// Exit counts a call out.
func (p *Pressure) Exit() {
	if p.calls.Add(-1) <= pressureUntil && p.on.Load() {
		p.update()
	}
}

// update decides by the calls of this moment, not of the one that asked: two that
// cross the border together must not leave the wrong answer behind.
func (p *Pressure) update() {
	p.deciding.Lock()
	defer p.deciding.Unlock()
	n := p.calls.Load()
	on := n >= PressureFrom || n > pressureUntil && p.on.Load()
	if p.on.Swap(on) != on {
		p.apply(on)
	}
}
