package actors

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// errPoolFull means that the read pool's queue is full.
var errPoolFull = errors.New("read pool queue is full")

// panicked is what comes of a panic in some work: an error with its stack. It is
// called by the function that recovered.
func panicked(work string, r any) error {
	return fmt.Errorf("%s panicked: %v\n%s", work, r, debug.Stack())
}

// readPool runs reads: workers goroutines over one bounded queue.
type readPool struct {
	tasks   chan func(worker int)
	wg      sync.WaitGroup
	mu      sync.RWMutex // guards closed against a send on a closed channel
	closed  bool
	onPanic func(err error)
}

// newReadPool starts the workers. queue bounds the waiting reads: at 1 ms of
// CPU each, a full queue of 256 is a wait of 0.13 s on two cores, beyond which a
// client is served better by a 503.
func newReadPool(workers, queue int, onPanic func(error)) *readPool {
	p := &readPool{tasks: make(chan func(int), queue), onPanic: onPanic}
	for worker := range workers {
		p.wg.Go(func() {
			for task := range p.tasks {
				p.run(worker, task)
			}
		})
	}
	return p
}

func (p *readPool) run(worker int, task func(int)) {
	defer func() {
		if r := recover(); r != nil {
			p.onPanic(panicked("read", r))
		}
	}()
	task(worker)
}

// do queues a task, or returns errPoolFull or errClosing.
func (p *readPool) do(task func(worker int)) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return errClosing
	}
	select {
	case p.tasks <- task:
		return nil
	default:
		return errPoolFull
	}
}

// close finishes what is queued and waits.
func (p *readPool) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.tasks)
	}
	p.mu.Unlock()
	p.wg.Wait()
}

// cpuPool runs the long computations of ingestion, a share per organization:
// organizations take turns task by task, so that a tenant's import of a million
// chunks delays another's single note by one task (some 100 ms) per worker.
//
// Under pressure, which is many requests at once, it makes room for them: one
// worker goes on and rests longer than it works, the others wait. Taking content
// in and answering searches are what somebody waits for; embedding is not.
type cpuPool struct {
	clock  clock.Clock
	mu     sync.Mutex
	press  bool
	rest   bool // the one worker rests
	wake   *sync.Cond
	queues map[pb.OrgID][]func(worker int)
	// ahead counts the tasks at the head of a queue that somebody waits for.
	ahead map[pb.OrgID]int
	turn  []pb.OrgID // organizations with waiting tasks, next first
	// patient tasks have a turn when nothing else waits, and now and then.
	patient  map[pb.OrgID][]func(worker int)
	patients []pb.OrgID // organizations with such tasks, next first
	passed   int        // tasks since the last of them
	closed   bool
	wg       sync.WaitGroup
}

func newCPUPool(workers int, c clock.Clock) *cpuPool {
	p := &cpuPool{clock: c, queues: make(map[pb.OrgID][]func(int)), ahead: make(map[pb.OrgID]int), patient: make(map[pb.OrgID][]func(int))}
	p.wake = sync.NewCond(&p.mu)
	for worker := range workers {
		p.wg.Go(func() { p.work(worker) })
	}
	return p
}

func (p *cpuPool) work(worker int) {
	for {
		p.mu.Lock()
		for (len(p.turn)+len(p.patients) == 0 || p.press && (p.rest || worker > 0)) && !p.closed {
			p.wake.Wait()
		}
		if len(p.turn)+len(p.patients) == 0 {
			p.mu.Unlock()
			return
		}
		var task func(int)
		if len(p.patients) > 0 && (len(p.turn) == 0 || p.passed >= patientShare) {
			task = p.takePatient()
		} else {
			task = p.take()
		}
		pressed := p.press
		p.mu.Unlock()
		if !pressed {
			task(worker)
			continue
		}
		began := p.clock.Now()
		task(worker)
		p.pause(p.clock.Now().Sub(began))
	}
}

// patientShare is how many other tasks go before one that is patient, where there
// are such: an import that lasts for hours must not keep cognition from ever
// seeing what it has brought.
const patientShare = 16

// take takes the next task that is not patient; organizations take turns. p.mu is
// held.
func (p *cpuPool) take() func(int) {
	p.passed++
	org := p.turn[0]
	p.turn = p.turn[1:]
	queue := p.queues[org]
	if p.ahead[org]--; p.ahead[org] <= 0 {
		delete(p.ahead, org)
	}
	if len(queue) == 1 {
		delete(p.queues, org)
	} else {
		p.queues[org] = queue[1:]
		p.turn = append(p.turn, org)
	}
	return queue[0]
}

// takePatient is take for patient tasks. p.mu is held.
func (p *cpuPool) takePatient() func(int) {
	p.passed = 0
	org := p.patients[0]
	p.patients = p.patients[1:]
	queue := p.patient[org]
	if len(queue) == 1 {
		delete(p.patient, org)
	} else {
		p.patient[org] = queue[1:]
		p.patients = append(p.patients, org)
	}
	return queue[0]
}

// maxRest bounds the rest after one task: a task that took long because the
// machine was busy must not stop ingestion for as long again. minRest is for
// tasks too short to measure.
const (
	minRest = time.Millisecond
	maxRest = 500 * time.Millisecond
	// restFactor leaves ingestion a quarter of one worker under pressure: enough
	// to go on, little enough that accepting stays above a quarter of what a bare
	// route does (with half a worker it was 0.22 on two processors).
	restFactor = 3
)

// pause makes the worker rest, unless the pressure is gone already.
func (p *cpuPool) pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.press || p.closed {
		return
	}
	p.rest = true
	p.clock.AfterFunc(min(max(restFactor*d, minRest), maxRest), func() {
		p.mu.Lock()
		p.rest = false
		p.mu.Unlock()
		p.wake.Broadcast()
	})
}

// pressure begins or ends the time in which requests come first.
func (p *cpuPool) pressure(on bool) {
	p.mu.Lock()
	p.press = on
	if !on {
		p.rest = false
	}
	p.mu.Unlock()
	if !on {
		p.wake.Broadcast()
	}
}

// all runs the tasks in the organization's share and waits for them. Its
// callers are the ingest workers, each of which runs one slice at a time, so
// the queue is bounded by the number of awake subjects times tasksPerSlice. A
// panic in a task is returned as its error; the other tasks still run. After
// close it returns errClosing without having run them all.
func (p *cpuPool) all(org pb.OrgID, tasks []func(worker int) error) []error {
	return p.run(org, tasks, p.queues, &p.turn)
}

// later is all for tasks that nobody waits for: they run when the workers have
// nothing else to do, and now and then. Its callers are the cognition cycles, one
// for each awake subject at most.
func (p *cpuPool) later(org pb.OrgID, tasks []func(worker int) error) []error {
	return p.run(org, tasks, p.patient, &p.patients)
}

// run queues tasks, and waits for them.
func (p *cpuPool) run(org pb.OrgID, tasks []func(worker int) error, queues map[pb.OrgID][]func(int), turn *[]pb.OrgID) []error {
	errs := make([]error, len(tasks))
	var wg sync.WaitGroup
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		for i := range errs {
			errs[i] = errClosing
		}
		return errs
	}
	wg.Add(len(tasks))
	if len(queues[org]) == 0 && len(tasks) > 0 {
		*turn = append(*turn, org)
	}
	for i, task := range tasks {
		queues[org] = append(queues[org], func(worker int) {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					errs[i] = panicked("task", r)
				}
			}()
			errs[i] = task(worker)
		})
	}
	p.mu.Unlock()
	p.wake.Broadcast()
	wg.Wait()
	return errs
}

// maxAhead bounds the tasks of one organization that somebody waits for: each
// holds an upload.
const maxAhead = 4

// soon queues a task that a caller waits for, before the organization's others
// and after its own kind; other organizations have their turns as ever. It
// returns errPoolFull, or errClosing, where it does not. The task must not panic.
func (p *cpuPool) soon(org pb.OrgID, task func(worker int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errClosing
	case p.ahead[org] == maxAhead:
		return errPoolFull
	case len(p.queues[org]) == 0:
		p.turn = append(p.turn, org)
	}
	p.queues[org] = slices.Insert(p.queues[org], p.ahead[org], task)
	p.ahead[org]++
	p.wake.Broadcast()
	return nil
}

// close lets queued tasks finish and waits for the workers.
func (p *cpuPool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake.Broadcast()
	p.wg.Wait()
}

// waiting is the number of tasks that no worker has taken yet.
func (p *cpuPool) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, q := range p.queues {
		n += len(q)
	}
	return n
}
