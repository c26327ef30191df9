package node

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

func TestOrganizationsTakeTurnsOnTheWorkers(t *testing.T) {
	p := NewCPUPool(1, clock.NewFake(time.Unix(0, 0)))
	defer p.Close()
	big, small := pb.OrgID{1}, pb.OrgID{2}
	var mu sync.Mutex
	var order []byte
	note := func(b byte) func(int) error {
		return func(int) error { mu.Lock(); order = append(order, b); mu.Unlock(); return nil }
	}
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tasks := []func(int) error{func(int) error { close(held); <-hold; return nil }}
		for range 9 {
			tasks = append(tasks, note('b'))
		}
		p.Foreground(big, tasks)
	})
	<-held
	wg.Go(func() { p.Foreground(small, []func(int) error{note('s'), note('s')}) })
	for p.Waiting() != 11 {
		continue
	}
	close(hold)
	wg.Wait()
	if got := string(order); got != "bsbsbbbbbbb" && got != "sbsbbbbbbbb" {
		t.Errorf("order %s: the small organization waited for the big one", got)
	}
}

// TestATakenTaskIsLetGo: what it holds does not live on in the queue that it waited in,
// as the files of imports did while their organization had other work.
func TestATakenTaskIsLetGo(t *testing.T) {
	tasks, org := newTurns(), pb.OrgID{1}
	task := func(file *[1 << 20]byte) func(int) { return func(int) { runtime.KeepAlive(file) } }
	file := new([1 << 20]byte)
	held := weak.Make(file)
	tasks.insert(org, 0, task(file))
	tasks.insert(org, 1, task(nil))
	tasks.take()
	runtime.GC()
	if held.Value() != nil {
		t.Error("a task that was taken is still held")
	}
	if tasks.n != 1 {
		t.Errorf("%d tasks wait", tasks.n)
	}
}

// TestWhatSomebodyWaitsForComesFirst: before the organization's own backlog, in
// its turn, and no more than there is room for.
func TestWhatSomebodyWaitsForComesFirst(t *testing.T) {
	p := NewCPUPool(1, clock.NewFake(time.Unix(0, 0)))
	big, small := pb.OrgID{1}, pb.OrgID{2}
	var order []byte // of one worker; read once it has ended
	note := func(b byte) func(int) { return func(int) { order = append(order, b) } }
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tasks := []func(int) error{func(int) error { close(held); <-hold; return nil }}
		for range 3 {
			tasks = append(tasks, func(int) error { note('b')(0); return nil })
		}
		p.Foreground(big, tasks)
	})
	<-held
	wg.Go(func() {
		p.Foreground(small, []func(int) error{
			func(int) error { note('s')(0); return nil },
			func(int) error { note('s')(0); return nil },
		})
	})
	for p.Waiting() != 5 {
		continue
	}
	for i := range 4 {
		wg.Go(func() {
			if err := p.Share(big, nil, func(*Share) error { order = append(order, '1'+byte(i)); return nil }); err != nil {
				t.Error(err)
			}
		})
		for p.Waiting() != 6+i {
			continue
		}
	}
	gone := make(chan struct{})
	close(gone)
	if err := p.Share(big, gone, func(*Share) error { t.Error("nobody waits for it"); return nil }); !errors.Is(err,
		ErrAbandoned) {
		t.Errorf("nobody waits: %v", err)
	}
	close(hold)
	wg.Wait()
	p.Close()
	if got := string(order); got != "1s2s34bbb" && got != "s1s234bbb" {
		t.Errorf("order %s", got)
	}
	if err := p.Share(small, nil, func(*Share) error { return nil }); !errors.Is(err, ErrClosing) {
		t.Errorf("after close: %v", err)
	}
}

// TestALongFileLetsOthersHaveTheirTurn: what takes seconds gives its worker to other
// organizations that wait, and to nobody where none does.
func TestALongFileLetsOthersHaveTheirTurn(t *testing.T) {
	c := clock.NewFake(time.Unix(0, 0))
	p := NewCPUPool(1, c)
	var mu sync.Mutex
	var order []byte
	note := func(b byte) { mu.Lock(); order = append(order, b); mu.Unlock() }
	var wg sync.WaitGroup
	err := p.Share(pb.OrgID{1}, nil, func(s *Share) error {
		for i := range 4 {
			note('0' + byte(i))
			c.Advance(maxSlice)
			if i == 1 {
				wg.Go(func() { p.Foreground(pb.OrgID{2}, []func(int) error{func(int) error { note('s'); return nil }}) })
				for p.Waiting() != 1 {
					continue
				}
			}
			if err := s.Yield(); err != nil {
				return err
			}
		}
		closed := make(chan struct{})
		if err := s.Without(func() error { // what waits takes no worker
			p.Foreground(pb.OrgID{1}, []func(int) error{func(int) error { note('o'); close(closed); return nil }})
			<-closed
			return nil
		}); err != nil {
			return err
		}
		ended := make(chan struct{})
		go func() { p.Close(); close(ended) }()
		for !p.isClosed() {
			continue
		}
		if err := s.Without(func() error { return nil }); !errors.Is(err, ErrClosing) {
			t.Errorf("the pool is closed: %v", err)
		}
		<-ended
		return nil
	})
	wg.Wait()
	if err != nil || string(order) != "01s23o" {
		t.Errorf("%s, %v", order, err)
	}
}

func (p *CPUPool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func TestPanickingTaskIsItsOwnError(t *testing.T) {
	p := NewCPUPool(2, clock.NewFake(time.Unix(0, 0)))
	ran := errors.New("ran")
	errs := p.Foreground(pb.OrgID{}, []func(int) error{
		func(int) error { panic("no") }, func(int) error { return ran }, func(int) error { return nil },
	})
	if errs[0] == nil || !errors.Is(errs[1], ran) || errs[2] != nil {
		t.Errorf("errors %v", errs)
	}
	p.Close()
	errs = p.Foreground(pb.OrgID{}, []func(int) error{func(int) error { return nil }})
	if !errors.Is(errs[0], ErrClosing) {
		t.Errorf("after close: %v", errs)
	}
}

func TestIngestionStandsBackUnderPressureAndGoesOn(t *testing.T) {
	standsBack(t, (*CPUPool).Foreground)
}

func TestCognitionStandsBackUnderPressureAndGoesOn(t *testing.T) {
	standsBack(t, (*CPUPool).Background)
}

func standsBack(t *testing.T, run func(*CPUPool, pb.OrgID, []func(int) error) []error) {
	c := clock.NewFake(time.Unix(0, 0))
	p := NewCPUPool(3, c)
	defer p.Close()
	p.Pressure(true)
	var mu sync.Mutex
	var workers []int
	tasks := make([]func(int) error, 5)
	for i := range tasks {
		tasks[i] = func(worker int) error {
			mu.Lock()
			workers = append(workers, worker)
			mu.Unlock()
			return nil
		}
	}
	done := make(chan struct{})
	go func() { run(p, pb.OrgID{}, tasks); close(done) }()
	ended := func() int { mu.Lock(); defer mu.Unlock(); return len(workers) }
	for i := 1; i <= 3; i++ {
		for c.Waiters() == 0 { // one task ran, and its worker rests
			continue
		}
		if got := ended(); got != i {
			t.Fatalf("%d tasks ran before rest %d ended", got, i)
		}
		c.Advance(minRest)
	}
	p.Pressure(false)
	<-done
	if !slices.Equal(workers[:3], []int{0, 0, 0}) || ended() != 5 {
		t.Errorf("workers %v under pressure", workers)
	}
}

// TestNoOrganizationKeepsAnotherFromReading: while one organization has as many wide
// reads as it likes, and a queue of narrow ones, another's read is not behind them.
func TestNoOrganizationKeepsAnotherFromReading(t *testing.T) {
	p := NewReadPool(4, func(err error) { t.Error(err) })
	big, small := pb.OrgID{1}, pb.OrgID{2}
	hold := make(chan struct{})
	var wides atomic.Int64
	for range 8 {
		if err := p.Do(big, Wide, func(int) { wides.Add(1); <-hold }); err != nil {
			t.Fatal(err)
		}
	}
	answered := make(chan struct{})
	if err := p.Do(small, Narrow, func(int) { close(answered) }); err != nil {
		t.Fatal(err)
	}
	<-answered // although more wide reads wait than there are workers
	if n := wides.Load(); n > 2 {
		t.Errorf("%d wide reads run on four workers", n)
	}

	// Where narrow ones hold all workers, too, organizations take turns.
	block, held := make(chan struct{}), make(chan struct{}, 2)
	for range 2 {
		if err := p.Do(big, Narrow, func(int) { held <- struct{}{}; <-block }); err != nil {
			t.Fatal(err)
		}
	}
	<-held
	<-held
	var mu sync.Mutex
	var order []byte
	note := func(b byte) func(int) { return func(int) { mu.Lock(); order = append(order, b); mu.Unlock() } }
	for range readsPerOrg - 6 { // beside the six wide ones
		if err := p.Do(big, Narrow, note('b')); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Do(big, Narrow, note('b')); !errors.Is(err, ErrPoolFull) {
		t.Errorf("one more than an organization may have waiting: %v", err)
	}
	if err := p.Do(small, Narrow, note('s')); err != nil {
		t.Errorf("another organization, beside a full queue: %v", err)
	}
	if n := p.Length(); n != readsPerOrg+1 {
		t.Errorf("%d wait", n)
	}
	block <- struct{}{} // to one worker, which has all of them for itself
	noted := func() int { mu.Lock(); defer mu.Unlock(); return len(order) }
	for noted() != readsPerOrg-6+1 {
		continue
	}
	close(block)
	close(hold)
	p.Close()
	if at := slices.Index(order, 's'); at < 0 || at > 1 {
		t.Errorf("the other organization was number %d", at)
	}
	if len(order) != readsPerOrg-6+1 || wides.Load() != 8 {
		t.Errorf("%d and %d reads ran", len(order), wides.Load())
	}
	if err := p.Do(small, Wide, note('x')); !errors.Is(err, ErrClosing) {
		t.Errorf("after close: %v", err)
	}
}

// TestReadsAreBounded: eight organizations that ask for more than they get fill the
// queue, and a ninth is told so.
func TestReadsAreBounded(t *testing.T) {
	p := NewReadPool(1, func(err error) { t.Error(err) })
	hold, held := make(chan struct{}), make(chan struct{})
	if err := p.Do(pb.OrgID{99}, Narrow, func(int) { close(held); <-hold }); err != nil {
		t.Fatal(err)
	}
	<-held
	for i := range ReadQueue {
		if err := p.Do(pb.OrgID{byte(i % 8)}, Width(i%2), func(int) {}); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := p.Do(pb.OrgID{98}, Narrow, func(int) {}); !errors.Is(err, ErrPoolFull) {
		t.Errorf("one more: %v", err)
	}
	close(hold)
	p.Close()
	if n := p.Length(); n != 0 {
		t.Errorf("%d were left", n)
	}
}

// A large memory's cycle does not keep a small one's waiting: organizations take
// turns, task by task.
func TestCyclesOfOrganizationsTakeTurns(t *testing.T) {
	p := NewCPUPool(1, clock.NewFake(time.Unix(0, 0)))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []byte
	held, hold := make(chan struct{}), make(chan struct{})
	note := func(who byte) func(int) error {
		return func(int) error {
			mu.Lock()
			order = append(order, who)
			mu.Unlock()
			return nil
		}
	}
	large, small := pb.OrgID{1}, pb.OrgID{2}
	wg.Go(func() {
		first := func(int) error { close(held); <-hold; return note('L')(0) }
		p.Background(large, []func(int) error{
			first, note('L'), note('L'), note('L'), note('L'),
		})
	})
	<-held
	wg.Go(func() { p.Background(small, []func(int) error{note('s'), note('s')}) })
	waiting := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.patient.n
	}
	for waiting() != 6 {
		runtime.Gosched()
	}
	close(hold)
	wg.Wait()
	p.Close()
	if got := string(order); got != "LLsLsLL" && got != "LsLsLLL" {
		t.Errorf("order %s", got)
	}
}
