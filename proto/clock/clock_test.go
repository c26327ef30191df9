package clock_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"orgmem/proto/clock"
)

func TestFakeFiresInOrderAndAtDueTimes(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := clock.NewFake(start)
	var got []time.Duration
	note := func() { got = append(got, c.Now().Sub(start)) }
	c.AfterFunc(3*time.Second, note)
	c.AfterFunc(time.Second, func() {
		note()
		c.AfterFunc(time.Second, note) // set while advancing, due before the target
	})
	stopped := c.AfterFunc(2*time.Second, func() { t.Error("a stopped timer fired") })
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop must report exactly once that it prevented the call")
	}
	ch := c.NewTimer(10 * time.Second)
	c.Advance(5 * time.Second)
	want := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
	if len(got) != len(want) {
		t.Fatalf("fired at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("fired at %v, want %v", got, want)
		}
	}
	if c.Waiters() != 1 {
		t.Fatalf("%d waiters, want the channel timer only", c.Waiters())
	}
	if c.WaitersIn(5*time.Second) != 1 || c.WaitersIn(time.Second) != 0 {
		t.Fatal("the channel timer is not told apart by when it falls due")
	}
	select {
	case <-ch.C():
		t.Fatal("fired early")
	default:
	}
	c.Advance(5 * time.Second)
	if at := <-ch.C(); !at.Equal(start.Add(10 * time.Second)) {
		t.Fatalf("channel timer fired at %v", at)
	}
}

func TestJumpLeavesWaitsAsTheyAre(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, by := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		c := clock.NewFake(start)
		timer := c.NewTimer(time.Minute)
		c.Jump(by)
		if got := c.Now(); !got.Equal(start.Add(by)) {
			t.Errorf("after a jump by %v it is %v", by, got)
		}
		c.Advance(time.Minute - 1)
		select {
		case <-timer.C():
			t.Errorf("a jump by %v fired a timer", by)
		default:
		}
		c.Advance(1)
		<-timer.C()
	}
}

func TestMillisOfZeroTimeIsZero(t *testing.T) {
	if clock.Millis(time.Time{}) != 0 || clock.Millis(time.UnixMilli(17)) != 17 {
		t.Fatal("Millis must map the zero time to 0 and keep others")
	}
}

func TestWaitEndsWithTheTimeOrTheContext(t *testing.T) {
	c := clock.NewFake(time.Unix(0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	wait := func() <-chan error {
		ended := make(chan error, 1)
		go func() { ended <- clock.Wait(ctx, c, time.Second) }()
		for c.Waiters() == 0 {
			runtime.Gosched()
		}
		return ended
	}

	ended := wait()
	c.Advance(time.Second)
	if err := <-ended; err != nil {
		t.Errorf("after its time: %v", err)
	}

	ended = wait()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
	if c.Waiters() != 0 {
		t.Error("the timer of an ended wait is still set")
	}
}
