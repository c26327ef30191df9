package budget

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

var (
	ann = pb.OrgID{1}
	bob = pb.OrgID{2}
)

// begun begins a work that must not have to wait.
func begun(t *testing.T, b *Budget, org pb.OrgID, first, most int) *Work {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w, err := b.Begin(ended, org, first, most, 0)
	if err != nil {
		t.Fatalf("%d of %d were not granted beside %d: %v", first, most, b.Used(), err)
	}
	return w
}

// waits starts something that has to wait, and returns its end once it does.
func waits(t *testing.T, b *Budget, f func() error) <-chan error {
	t.Helper()
	before, done := b.Waiting(), make(chan error, 1)
	go func() { done <- f() }()
	for b.Waiting() == before {
		runtime.Gosched()
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		case <-t.Context().Done():
			t.Fatal("it neither waits nor ends")
		default:
		}
	}
	return done
}

// TestWorksNeverWaitForEachOther: two works that may each need nearly all are not both
// granted what would keep both from ever ending.
func TestWorksNeverWaitForEachOther(t *testing.T) {
	b := New(100, clock.NewFake(time.Unix(0, 0)))
	one, other := begun(t, b, ann, 10, 90), begun(t, b, bob, 10, 90)
	if err := one.More(t.Context(), 30, 0); err != nil {
		t.Fatal(err)
	}
	second := waits(t, b, func() error { return other.More(t.Context(), 50, 0) }) // 0 would be left, and both need more
	if err := one.More(t.Context(), 50, 0); err != nil {                          // all that it named
		t.Fatal(err)
	}
	one.End()
	if err := <-second; err != nil || other.Held() != 60 || b.Used() != 60 {
		t.Fatalf("%v, held %d of %d", err, other.Held(), b.Used())
	}
	other.End()
	other.End()
	if b.Used() != 0 {
		t.Fatalf("%d are held by nobody", b.Used())
	}
}

// TestAnEndedWorkGetsNothingMore: what a work asks for after its end, or waits for while it
// ends, is refused, and nobody holds it.
func TestAnEndedWorkGetsNothingMore(t *testing.T) {
	b := New(10, clock.NewFake(time.Unix(0, 0)))
	ended := begun(t, b, ann, 1, 10)
	ended.End()
	if err := ended.More(t.Context(), 5, 0); !errors.Is(err, ErrEnded) || b.Used() != 0 {
		t.Errorf("after its end: %v, and %d are held by nobody", err, b.Used())
	}
	growing, other := begun(t, b, ann, 1, 10), begun(t, b, bob, 1, 1)
	more := waits(t, b, func() error { return growing.More(t.Context(), 9, 0) })
	growing.End()
	if err := <-more; !errors.Is(err, ErrEnded) || b.Used() != 1 || b.Waiting() != 0 {
		t.Errorf("while it ended: %v, %d are held, %d wait", err, b.Used(), b.Waiting())
	}
	other.End()
	if b.Used() != 0 {
		t.Errorf("%d are held by nobody", b.Used())
	}
}

// TestSmallWorksPassLargeOnes: what fits beside large works goes on while another large
// one waits.
func TestSmallWorksPassLargeOnes(t *testing.T) {
	b := New(100, clock.NewFake(time.Unix(0, 0)))
	large := begun(t, b, ann, 90, 90)
	second := waits(t, b, func() error {
		w, err := b.Begin(t.Context(), ann, 80, 80, 0)
		if err == nil {
			w.End()
		}
		return err
	})
	begun(t, b, bob, 5, 5).End()
	large.End()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
}

// TestOrganizationsTakeTurns: an organization that has nothing under way goes before one
// that has, whatever came first.
func TestOrganizationsTakeTurns(t *testing.T) {
	b := New(100, clock.NewFake(time.Unix(0, 0)))
	one, other := begun(t, b, ann, 50, 50), begun(t, b, ann, 50, 50)
	var order []string
	var mu sync.Mutex
	begin := func(org pb.OrgID, name string) func() error {
		return func() error {
			_, err := b.Begin(t.Context(), org, 50, 50, 0)
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
			return err
		}
	}
	first := waits(t, b, begin(ann, "ann"))
	second := waits(t, b, begin(bob, "bob"))
	one.End()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	other.End()
	if err := <-first; err != nil || order[0] != "bob" {
		t.Fatalf("%v, %v", order, err)
	}
}

// TestWaitingEnds: with the time, with the caller, and at once where too many wait.
func TestWaitingEnds(t *testing.T) {
	c := clock.NewFake(time.Unix(0, 0))
	b := New(100, c)
	all := begun(t, b, ann, 100, 100)
	late := waits(t, b, func() error { _, err := b.Begin(t.Context(), bob, 1, 1, time.Second); return err })
	for c.Waiters() == 0 {
		runtime.Gosched()
	}
	c.Advance(time.Second)
	if err := <-late; !errors.Is(err, ErrFull) {
		t.Fatalf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := waits(t, b, func() error { _, err := b.Begin(ctx, bob, 1, 1, 0); return err })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) || b.Waiting() != 0 {
		t.Fatalf("%v, %d wait", err, b.Waiting())
	}
	var ends []<-chan error
	for range maxWaiting {
		ends = append(ends, waits(t, b, func() error {
			w, err := b.Begin(t.Context(), bob, 1, 1, 0)
			if err == nil {
				w.End()
			}
			return err
		}))
	}
	if _, err := b.Begin(t.Context(), bob, 1, 1, time.Second); !errors.Is(err, ErrFull) {
		t.Fatalf("%v", err)
	}
	all.End()
	for _, end := range ends {
		if err := <-end; err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnyWorksEnd: works of any size that grow in any steps all end, and hold no more
// than there is.
func TestAnyWorksEnd(t *testing.T) {
	const limit, workers, rounds = 1000, 8, 200
	b := New(limit, clock.NewFake(time.Unix(0, 0)))
	var wg sync.WaitGroup
	for n := range workers {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		wg.Go(func() {
			for range rounds {
				most := 1 + random.IntN(limit)
				w, err := b.Begin(t.Context(), pb.OrgID{byte(n % 3)}, random.IntN(most), most, 0)
				if err != nil {
					t.Error(err)
					return
				}
				for w.Held() < most && random.IntN(4) > 0 {
					if err := w.More(t.Context(), 1+random.IntN(most), 0); err != nil {
						t.Error(err)
					}
					if used := b.Used(); used > limit {
						t.Errorf("%d of %d are held", used, limit)
					}
				}
				w.End()
			}
		})
	}
	wg.Wait()
	if b.Used() != 0 || b.Waiting() != 0 {
		t.Errorf("%d are held, %d wait", b.Used(), b.Waiting())
	}
}
