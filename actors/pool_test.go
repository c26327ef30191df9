package actors

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

func TestOrganizationsTakeTurnsOnTheWorkers(t *testing.T) {
	p := newCPUPool(1, clock.NewFake(time.Unix(0, 0)))
	defer p.close()
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
		p.all(big, tasks)
	})
	<-held
	wg.Go(func() { p.all(small, []func(int) error{note('s'), note('s')}) })
	for p.waiting() != 11 {
		continue
	}
	close(hold)
	wg.Wait()
	if got := string(order); got != "bsbsbbbbbbb" && got != "sbsbbbbbbbb" {
		t.Errorf("order %s: the small organization waited for the big one", got)
	}
}

// TestWhatSomebodyWaitsForComesFirst: before the organization's own backlog, in
// its turn, and no more than there is room for.
func TestWhatSomebodyWaitsForComesFirst(t *testing.T) {
	p := newCPUPool(1, clock.NewFake(time.Unix(0, 0)))
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
		p.all(big, tasks)
	})
	<-held
	wg.Go(func() {
		p.all(small, []func(int) error{func(int) error { note('s')(0); return nil }, func(int) error { note('s')(0); return nil }})
	})
	for p.waiting() != 5 {
		continue
	}
	for i := range maxAhead {
		if err := p.soon(big, note('1'+byte(i))); err != nil {
			t.Error(err)
		}
	}
	if err := p.soon(big, note('x')); !errors.Is(err, errPoolFull) {
		t.Errorf("one more: %v", err)
	}
	close(hold)
	wg.Wait()
	if err := p.soon(big, note('9')); err != nil {
		t.Errorf("after room was made: %v", err)
	}
	p.close()
	if got := string(order); got != "1s2s34bbb9" && got != "s1s234bbb9" {
		t.Errorf("order %s", got)
	}
	if err := p.soon(small, note('x')); !errors.Is(err, errClosing) {
		t.Errorf("after close: %v", err)
	}
}

func TestPanickingTaskIsItsOwnError(t *testing.T) {
	p := newCPUPool(2, clock.NewFake(time.Unix(0, 0)))
	ran := errors.New("ran")
	errs := p.all(pb.OrgID{}, []func(int) error{
		func(int) error { panic("no") }, func(int) error { return ran }, func(int) error { return nil },
	})
	if errs[0] == nil || !errors.Is(errs[1], ran) || errs[2] != nil {
		t.Errorf("errors %v", errs)
	}
	p.close()
	if errs := p.all(pb.OrgID{}, []func(int) error{func(int) error { return nil }}); !errors.Is(errs[0], errClosing) {
		t.Errorf("after close: %v", errs)
	}
}

func TestIngestionStandsBackUnderPressureAndGoesOn(t *testing.T) {
	standsBack(t, (*cpuPool).all)
}

func TestCognitionStandsBackUnderPressureAndGoesOn(t *testing.T) {
	standsBack(t, (*cpuPool).later)
}

func standsBack(t *testing.T, run func(*cpuPool, pb.OrgID, []func(int) error) []error) {
	c := clock.NewFake(time.Unix(0, 0))
	p := newCPUPool(3, c)
	defer p.close()
	p.pressure(true)
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
	p.pressure(false)
	<-done
	if !slices.Equal(workers[:3], []int{0, 0, 0}) || ended() != 5 {
		t.Errorf("workers %v under pressure", workers)
	}
}
