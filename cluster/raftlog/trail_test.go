package raftlog

import "testing"

// TestTrail: what is kept of a log for followers, and for one that fetches.
func TestTrail(t *testing.T) {
	var tr Trail
	if to := tr.End(1 << 40); to != 0 {
		t.Errorf("a trail that knows nothing lets %d entries go", to)
	}
	tr.Mark(10, 0)
	tr.Mark(20, trailBytes/2)
	tr.Mark(20, trailBytes) // the same marker once more
	tr.Mark(30, trailBytes)
	for _, tc := range []struct {
		seen int64
		to   uint64
	}{
		{trailBytes - 1, 0}, {trailBytes, 10}, {trailBytes + trailBytes/2, 20}, {2*trailBytes - 1, 20}, {2 * trailBytes, 30},
	} {
		if to := tr.End(tc.seen); to != tc.to {
			t.Errorf("after %d bytes the log goes up to %d, want %d", tc.seen, to, tc.to)
		}
	}
	var held Trail
	release := held.Hold(25, 0)
	held.Mark(30, 0)
	if to := held.End(trailBytes); to != 25 {
		t.Errorf("while somebody fetches stores the log goes up to %d, want 25", to)
	}
	if to := held.End(maxHeldBytes); to != 30 {
		t.Errorf("for somebody who is too slow the log is kept from %d", to)
	}
	release()
	if to := held.End(trailBytes); to != 30 {
		t.Errorf("afterwards the log goes up to %d, want 30", to)
	}
	for i := range 10 * maxTrail {
		held.Mark(uint64(100+i), int64(i))
	}
	if n := len(held.marks); n > maxTrail {
		t.Errorf("%d places are remembered, limit %d", n, maxTrail)
	}
}
