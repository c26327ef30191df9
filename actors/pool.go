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

// turns are waiting tasks of which organizations take turns, task by task.
type turns struct {
	queues map[pb.OrgID][]func(worker int)
	next   []pb.OrgID // organizations with waiting tasks, next first
	n      int        // waiting tasks
}

func newTurns() turns { return turns{queues: make(map[pb.OrgID][]func(int))} }

// of is how many tasks of an organization wait.
func (t *turns) of(org pb.OrgID) int { return len(t.queues[org]) }

// insert queues a task behind the first at of the organization's.
func (t *turns) insert(org pb.OrgID, at int, task func(worker int)) {
	queue := t.queues[org]
	if len(queue) == 0 {
		t.next = append(t.next, org)
	}
	t.queues[org] = slices.Insert(queue, at, task)
	t.n++
}

// take takes the next task; there must be one.
func (t *turns) take() (org pb.OrgID, task func(worker int)) {
	org, t.next = t.next[0], t.next[1:]
	queue := t.queues[org]
	if task = queue[0]; len(queue) == 1 {
		delete(t.queues, org)
	} else {
		queue[0] = nil // what it holds, such as a file of 64 MiB, must not live as long as the queue
		t.queues[org] = queue[1:]
		t.next = append(t.next, org)
	}
	t.n--
	return org, task
}

// width is how much a read may take.
type width int

const (
	narrow width = iota // one memory: about 1 ms
	wide                // all of an organization's: up to seconds where they are cold
)

const (
	// readsPerOrg bounds the waiting reads of one organization: at 1 ms of CPU each
	// they are a wait of 0.13 s on two cores, beyond which a client is served better by
	// a 503.
	readsPerOrg = 256
	// readQueue bounds those of all together: eight organizations that ask for more
	// than they get.
	readQueue = 8 * readsPerOrg
)

// readPool runs reads in bounded queues. Organizations take turns, and wide reads have
// half of the workers at most: whatever one organization asks for, another's narrow
// read waits for narrow ones only.
type readPool struct {
	wg      sync.WaitGroup
	onPanic func(err error)
	widest  int // wide reads that may run

	mu      sync.Mutex // guards what follows
	wake    *sync.Cond
	waiting [2]turns // by width
	running int      // wide reads
	closed  bool
}

func newReadPool(workers int, onPanic func(error)) *readPool {
	p := &readPool{onPanic: onPanic, widest: max(1, workers/2), waiting: [2]turns{newTurns(), newTurns()}}
	p.wake = sync.NewCond(&p.mu)
	for worker := range workers {
		p.wg.Go(func() { p.work(worker) })
	}
	return p
}

func (p *readPool) work(worker int) {
	task, w := p.take(narrow)
	for task != nil {
		p.run(worker, task)
		task, w = p.take(w)
	}
}

// take waits for a read that may run and takes it, after one of another width; nil
// when the pool is closed and has no more.
func (p *readPool) take(after width) (task func(worker int), w width) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if after == wide {
		p.running--
	}
	for {
		switch {
		case p.waiting[wide].n > 0 && p.running < p.widest: // the others are for the narrow
			p.running++
			_, task = p.waiting[wide].take()
			return task, wide
		case p.waiting[narrow].n > 0:
			_, task = p.waiting[narrow].take()
			return task, narrow
		case p.closed: // who runs wide reads takes the rest of them
			return nil, narrow
		}
		p.wake.Wait()
	}
}

func (p *readPool) run(worker int, task func(int)) {
	defer func() {
		if r := recover(); r != nil {
			p.onPanic(panicked("read", r))
		}
	}()
	task(worker)
}

// do queues an organization's read, or returns errPoolFull or errClosing.
func (p *readPool) do(org pb.OrgID, w width, task func(worker int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return errClosing
	case p.waiting[narrow].of(org)+p.waiting[wide].of(org) >= readsPerOrg, p.waiting[narrow].n+p.waiting[wide].n >= readQueue:
		return errPoolFull
	}
	p.waiting[w].insert(org, p.waiting[w].of(org), task)
	p.wake.Signal()
	return nil
}

// length is the number of reads that no worker has taken yet.
func (p *readPool) length() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[narrow].n + p.waiting[wide].n
}

// close finishes what is queued and waits.
func (p *readPool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake.Broadcast()
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
	clock clock.Clock
	mu    sync.Mutex
	press bool
	rest  bool // the one worker rests
	wake  *sync.Cond
	tasks turns
	// ahead counts the tasks at the head of a queue that somebody waits for.
	ahead map[pb.OrgID]int
	// patient tasks have a turn when nothing else waits, and now and then.
	patient turns
	passed  int // tasks since the last of them
	closed  bool
	wg      sync.WaitGroup
}

func newCPUPool(workers int, c clock.Clock) *cpuPool {
	p := &cpuPool{clock: c, tasks: newTurns(), ahead: make(map[pb.OrgID]int), patient: newTurns()}
	p.wake = sync.NewCond(&p.mu)
	for worker := range workers {
		p.wg.Go(func() { p.work(worker) })
	}
	return p
}

func (p *cpuPool) work(worker int) {
	for {
		p.mu.Lock()
		for (p.tasks.n+p.patient.n == 0 || p.press && (p.rest || worker > 0)) && !p.closed {
			p.wake.Wait()
		}
		if p.tasks.n+p.patient.n == 0 {
			p.mu.Unlock()
			return
		}
		var task func(int)
		awaited := false // what somebody waits for is no work to rest from
		if p.patient.n > 0 && (p.tasks.n == 0 || p.passed >= patientShare) {
			p.passed = 0
			_, task = p.patient.take()
		} else {
			task, awaited = p.take()
		}
		pressed := p.press && !awaited
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

// take takes the next task that is not patient, and says whether somebody waits for it.
// p.mu is held.
func (p *cpuPool) take() (task func(int), awaited bool) {
	p.passed++
	org, task := p.tasks.take()
	awaited = p.ahead[org] > 0
	if p.ahead[org]--; p.ahead[org] <= 0 {
		delete(p.ahead, org)
	}
	return task, awaited
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
	return p.run(org, tasks, &p.tasks)
}

// later is all for tasks that nobody waits for: they run when the workers have
// nothing else to do, and now and then. Its callers are the cognition cycles, one
// for each awake subject at most.
func (p *cpuPool) later(org pb.OrgID, tasks []func(worker int) error) []error {
	return p.run(org, tasks, &p.patient)
}

// run queues tasks, and waits for them.
func (p *cpuPool) run(org pb.OrgID, tasks []func(worker int) error, queue *turns) []error {
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
	for i, task := range tasks {
		queue.insert(org, queue.of(org), func(worker int) {
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

// maxSlice is how long a share of a worker lasts while other organizations wait for one.
const maxSlice = 50 * time.Millisecond

// share is a computation's share of the CPU workers: it has a worker to itself, and gives
// it to other organizations from time to time. A file of another takes seconds.
type share struct {
	pool   *cpuPool
	org    pb.OrgID
	gone   <-chan struct{} // closed when nobody waits for it any more
	worker chan struct{}   // hands a worker over
	back   chan struct{}   // and gives it back
	began  time.Time       // of this slice
}

// share waits for a worker for a computation that a caller waits for, and runs it, in the
// caller's goroutine: before the organization's tasks that nobody waits for, and after
// those of its own kind. Whoever calls it bounds how many wait. It returns errClosing, what
// the computation returns, or errGivenUpWaiting once gone is closed.
func (p *cpuPool) share(org pb.OrgID, gone <-chan struct{}, run func(*share) error) error {
	s := &share{pool: p, org: org, gone: gone, worker: make(chan struct{}), back: make(chan struct{})}
	if err := s.take(); err != nil {
		return err
	}
	defer s.give()
	return run(s)
}

// take waits for a worker; without an error, give follows.
func (s *share) take() error {
	p := s.pool
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errClosing
	}
	p.tasks.insert(s.org, p.ahead[s.org], func(int) {
		select {
		case s.worker <- struct{}{}:
			<-s.back
		case <-s.gone:
		}
	})
	p.ahead[s.org]++
	p.mu.Unlock()
	p.wake.Broadcast()
	select {
	case <-s.worker:
		s.began = p.clock.Now()
		return nil
	case <-s.gone:
		return errGivenUpWaiting
	}
}

func (s *share) give() { s.back <- struct{}{} }

// yield lets other organizations have their turn, if they wait and this one has had its
// own. After an error the share is over, and nothing is to be done but to return.
func (s *share) yield() error {
	if s.pool.clock.Now().Sub(s.began) < maxSlice || !s.pool.othersWait(s.org) {
		return nil
	}
	return s.without(func() error { return nil })
}

// without does something that takes no worker, such as waiting.
func (s *share) without(f func() error) error {
	s.give()
	err := f()
	if again := s.take(); again != nil {
		// The pool is closed: giving back a worker that nobody has must not wait.
		s.back = make(chan struct{}, 1)
		return again
	}
	return err
}

// othersWait reports whether an organization besides this one waits for a worker.
func (p *cpuPool) othersWait(org pb.OrgID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks.n > p.tasks.of(org)
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
	return p.tasks.n
}
