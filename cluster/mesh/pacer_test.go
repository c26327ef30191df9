package mesh

import (
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/proto/clock"
)

// TestPacer: no more than the rate, behind a burst.
func TestPacer(t *testing.T) {
	c := clock.NewFake(time.Unix(1_700_000_000, 0))
	p := &Pacer{clock: c, rate: 1 << 20}
	ctx := t.Context()
	if err := p.Wait(ctx, BurstBytes); err != nil { // free
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.Wait(ctx, 3<<20) }()
	clustertest.WaitFor(t, func() bool { return c.Waiters() == 1 })
	c.Advance(3*time.Second - 1)
	select {
	case <-done:
		t.Error("three seconds' worth went in less")
	default:
	}
	c.Advance(1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := (&Pacer{clock: c, rate: -1}).Wait(ctx, 1<<40); err != nil {
		t.Error(err)
	}
}
