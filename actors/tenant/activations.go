package tenant

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	pb "orgmem/proto"
)

// Activation is an organization's actor on this node.
type Activation struct {
	org     pb.OrgID
	Name    string // server/process/number: no other has had it, or will
	PID     *actor.PID
	Calls   atomic.Int64
	retired atomic.Bool // not among the activations any more; stops when Calls is 0
	once    sync.Once
	view    atomic.Pointer[View] // once it is open
}

// activations are the organizations that are in a node's memory, and the calls that they have.
type activations struct {
	process string // server/id: names this process

	mu       sync.Mutex // guards what follows
	orgs     map[pb.OrgID]*Activation
	count    uint64   // activations so far
	panicked []string // names of the last activations that panicked
	// settling has, by shard that was led here, what is closed when its last costs are written, or has the error in it.
	settling map[uint32]<-chan error
	closing  bool
	inFlight sync.WaitGroup // calls and visits; grows only under mu, and not while closing
}

func newActivations(process string) activations {
	return activations{
		process: process, orgs: make(map[pb.OrgID]*Activation), settling: make(map[uint32]<-chan error),
	}
}

// Outlived reports whether an activation was this process's, and did not panic.
func (a *activations) Outlived(activation string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return processOf(activation) == a.process && !slices.Contains(a.panicked, activation)
}

// recordPanic remembers that an activation has panicked.
func (a *activations) recordPanic(activation string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.panicked = append(a.panicked, activation)
	a.panicked = a.panicked[max(0, len(a.panicked)-maxPanicked):]
}

// inMemory returns an organization's activation, nil where it sleeps.
func (a *activations) inMemory(org pb.OrgID) *Activation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orgs[org]
}

// those returns the activations of some organizations.
func (a *activations) those(which func(pb.OrgID) bool) (all []*Activation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for org, act := range a.orgs {
		if which(org) {
			all = append(all, act)
		}
	}
	return all
}

// number returns how many organizations are in memory.
func (a *activations) number() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.orgs)
}

// isClosing reports whether Close has begun.
func (a *activations) isClosing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closing
}

// beginClosing lets nothing in any more.
func (a *activations) beginClosing() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closing = true
}

// AdmitVisit counts a visit in, unless Close has begun; the caller ends it.
func (a *activations) AdmitVisit() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closing {
		a.inFlight.Add(1)
	}
	return !a.closing
}

// EndVisit counts a visit out.
func (a *activations) EndVisit() { a.inFlight.Done() }
