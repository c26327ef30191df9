package node

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

var (
	// ErrPoolFull means that the read pool's queue is full.
	ErrPoolFull = errors.New("read pool queue is full")
	// ErrClosing means that the node is shutting down.
	ErrClosing = errors.New("shutting down")
	// ErrAbandoned ends work whose caller has left.
	ErrAbandoned = errors.New("nobody waits for it any more")
)

// PanicError is what comes of a panic in some work: an error with its stack. It is
// called by the function that recovered.
func PanicError(work string, r any) error {
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

// Width is how much a read may take.
type Width int

const (
	// Narrow reads take one memory: about 1 ms.
	Narrow Width = iota
	// Wide reads take all of an organization's, or have a model read what they find: up to seconds where they are cold,
	// or the processors busy.
	Wide
)

const (
	// readsPerOrg bounds the waiting reads of one organization: at 1 ms of CPU each
	// they are a wait of 0.13 s on two cores, beyond which a client is served better by
	// a 503.
	readsPerOrg = 256
	// ReadQueue bounds those of all together: eight organizations that ask for more
	// than they get.
	ReadQueue = 8 * readsPerOrg
)

// ReadPool runs reads in bounded queues. Organizations take turns, and wide reads have
// half of the workers at most: whatever one organization asks for, another's narrow
// read waits for narrow ones only.
type ReadPool struct {
	wg      sync.WaitGroup
	onPanic func(err error)
	widest  int // wide reads that may run

	mu      sync.Mutex // guards what follows
	wake    *sync.Cond
	waiting [2]turns // by width
	running int      // wide reads
	closed  bool
}

// NewReadPool starts a pool of workers. It calls onPanic with the error of a read that panicked.
func NewReadPool(workers int, onPanic func(error)) *ReadPool {
	p := &ReadPool{onPanic: onPanic, widest: max(1, workers/2), waiting: [2]turns{newTurns(), newTurns()}}
	p.wake = sync.NewCond(&p.mu)
	for worker := range workers {
		p.wg.Go(func() { p.work(worker) })
	}
	return p
}

func (p *ReadPool) work(worker int) {
	task, w := p.take(Narrow)
	for task != nil {
		p.run(worker, task)
		task, w = p.take(w)
	}
}

// take waits for a read that may run and takes it, after one of another width; nil
// when the pool is closed and has no more.
func (p *ReadPool) take(after Width) (task func(worker int), w Width) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if after == Wide {
		p.running--
	}
	for {
		switch {
		case p.waiting[Wide].n > 0 && p.running < p.widest: // the others are for the narrow
			p.running++
			_, task = p.waiting[Wide].take()
			return task, Wide
		case p.waiting[Narrow].n > 0:
			_, task = p.waiting[Narrow].take()
			return task, Narrow
		case p.closed: // who runs wide reads takes the rest of them
			return nil, Narrow
		}
		p.wake.Wait()
	}
}

func (p *ReadPool) run(worker int, task func(int)) {
	defer func() {
		if r := recover(); r != nil {
			p.onPanic(PanicError("read", r))
		}
	}()
	task(worker)
}

// Do queues an organization's read, or returns ErrPoolFull or ErrClosing.
func (p *ReadPool) Do(org pb.OrgID, w Width, task func(worker int)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return ErrClosing
	case p.waiting[Narrow].of(org)+p.waiting[Wide].of(org) >= readsPerOrg,
		p.waiting[Narrow].n+p.waiting[Wide].n >= ReadQueue:
		return ErrPoolFull
	}
	p.waiting[w].insert(org, p.waiting[w].of(org), task)
	p.wake.Signal()
	return nil
}

// Length is the number of reads that no worker has taken yet.
func (p *ReadPool) Length() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[Narrow].n + p.waiting[Wide].n
}

// Close finishes what is queued and waits.
func (p *ReadPool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake.Broadcast()
	p.wg.Wait()
}

// CPUPool runs the long computations of ingestion, a share per organization:
// organizations take turns task by task, so that a tenant's import of a million
// chunks delays another's single note by one task (some 100 ms) per worker.
//
// Under pressure, which is many requests at once, it makes room for them: one
// worker goes on and rests longer than it works, the others wait. Taking content
// in and answering searches are what somebody waits for; embedding is not.
type CPUPool struct {
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

// NewCPUPool starts a pool of workers.
func NewCPUPool(workers int, c clock.Clock) *CPUPool {
	p := &CPUPool{clock: c, tasks: newTurns(), ahead: make(map[pb.OrgID]int), patient: newTurns()}
	p.wake = sync.NewCond(&p.mu)
	for worker := range workers {
		p.wg.Go(func() { p.work(worker) })
	}
	return p
}

func (p *CPUPool) work(worker int) {
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
func (p *CPUPool) take() (task func(int), awaited bool) {
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
func (p *CPUPool) pause(d time.Duration) {
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

// Pressure begins or ends the time in which requests come first.
func (p *CPUPool) Pressure(on bool) {
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

// Foreground runs the tasks in the organization's share and waits for them. Its
// callers are the ingest workers, each of which runs one slice at a time, so
// the queue is bounded by the number of awake subjects times the tasks of one
// slice, which holds at most subject.MaxSliceItems entries. A panic in a task is
// returned as its error; the other tasks still run. After close it returns
// ErrClosing without having run them all.
func (p *CPUPool) Foreground(org pb.OrgID, tasks []func(worker int) error) []error {
	return p.run(org, tasks, &p.tasks)
}

// Background is all for tasks that nobody waits for: they run when the workers have
// nothing else to do, and now and then. Its callers are the cognition cycles, one
// for each awake subject at most.
func (p *CPUPool) Background(org pb.OrgID, tasks []func(worker int) error) []error {
	return p.run(org, tasks, &p.patient)
}

// run queues tasks, and waits for them.
func (p *CPUPool) run(org pb.OrgID, tasks []func(worker int) error, queue *turns) []error {
	errs := make([]error, len(tasks))
	var wg sync.WaitGroup
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		for i := range errs {
			errs[i] = ErrClosing
		}
		return errs
	}
	wg.Add(len(tasks))
	for i, task := range tasks {
		queue.insert(org, queue.of(org), func(worker int) {
			defer wg.Done()
			defer func() {
				if r := recover(); r != nil {
					errs[i] = PanicError("task", r)
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

// Share is a computation's share of the CPU workers: it has a worker to itself, and gives
// it to other organizations from time to time. A file of another takes seconds.
type Share struct {
	pool   *CPUPool
	org    pb.OrgID
	gone   <-chan struct{} // closed when nobody waits for it any more
	worker chan struct{}   // hands a worker over
	back   chan struct{}   // and gives it back
	began  time.Time       // of this slice
}

// Share waits for a worker for a computation that a caller waits for, and runs it, in the
// caller's goroutine: before the organization's tasks that nobody waits for, and after
// those of its own kind. The caller bounds how many wait. It returns ErrClosing, what
// the computation returns, or ErrAbandoned once gone is closed.
func (p *CPUPool) Share(org pb.OrgID, gone <-chan struct{}, run func(*Share) error) error {
	s := &Share{pool: p, org: org, gone: gone, worker: make(chan struct{}), back: make(chan struct{})}
	if err := s.take(); err != nil {
		return err
	}
	defer s.give()
	return run(s)
}

// take waits for a worker; without an error, give follows.
func (s *Share) take() error {
	p := s.pool
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return ErrClosing
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
		return ErrAbandoned
	}
}

func (s *Share) give() { s.back <- struct{}{} }

// Yield lets other organizations have their turn, if they wait and this one has had its
// own. After an error the share is over, and nothing is to be done but to return.
func (s *Share) Yield() error {
	if s.pool.clock.Now().Sub(s.began) < maxSlice || !s.pool.othersWait(s.org) {
		return nil
	}
	return s.Without(func() error { return nil })
}

// Without does something that takes no worker, such as waiting.
func (s *Share) Without(f func() error) error {
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
func (p *CPUPool) othersWait(org pb.OrgID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks.n > p.tasks.of(org)
}

// Close lets queued tasks finish and waits for the workers.
func (p *CPUPool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.wake.Broadcast()
	p.wg.Wait()
}

// Waiting is the number of tasks that no worker has taken yet.
func (p *CPUPool) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks.n
}
