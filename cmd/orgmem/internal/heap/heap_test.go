package heap

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A node that works is left alone; one that has been quiet for some looks gives
// memory back, once, and one that works again may make garbage as before.
func TestAnIdleNodeGivesMemoryBack(t *testing.T) {
	var allocated uint64
	var did []string
	k := memoryKeeper{
		allocated: func() uint64 { return allocated },
		alive:     func() uint64 { return 0 },
		garbage:   func(percent int) { did = append(did, fmt.Sprint(percent)) },
		bound:     func(int64) {},
		release:   func() { did = append(did, "release") },
	}
	step := func(bytes uint64, want ...string) {
		t.Helper()
		did = nil
		allocated += bytes
		k.look()
		if !slices.Equal(did, want) {
			t.Errorf("after %d bytes more it did %q, want %q", bytes, did, want)
		}
	}
	for range 5 {
		step(busyBytes)
	}
	step(10)
	step(busyBytes) // a short rest is none
	rest := func() {
		for range quietLooks - 1 {
			step(busyBytes - 1)
		}
	}
	rest()
	step(10, "25", "release")
	rest()
	step(10)
	step(busyBytes, "100")
	step(busyBytes)
	rest()
	step(10, "25", "release")
}

// The more is alive, the smaller the part of it that may be garbage: it is the same number of bytes, down to a share
// that a collection is worth.
func TestALargeNodeDoesNotHoldItsDataTwice(t *testing.T) {
	var alive uint64
	var did []int
	k := memoryKeeper{
		allocated: func() uint64 { return 0 },
		alive:     func() uint64 { return alive },
		garbage:   func(percent int) { did = append(did, percent) },
		bound:     func(int64) {},
		release:   func() {},
	}
	for _, alive = range []uint64{
		0, fairGarbage, fairGarbage + fairGarbage/20, 2 * fairGarbage, 2*fairGarbage + 1, 100 * fairGarbage,
		3 * fairGarbage, 1,
	} {
		k.look()
	}
	if want := []int{50, 40, 100}; !slices.Equal(did, want) {
		t.Errorf("percentages %d, want %d", did, want)
	}
}

// A node with little alive is bounded, so that imports in a row do not gather garbage
// of several; one with much is not, or it would do nothing but collect.
func TestASmallNodeStaysSmall(t *testing.T) {
	var alive uint64
	var did []int64
	k := memoryKeeper{
		allocated: func() uint64 { return 0 }, alive: func() uint64 { return alive }, garbage: func(int) {},
		release: func() {},
		bound:   func(bytes int64) { did = append(did, bytes) }, most: math.MaxInt64,
	}
	const much = 4 * smallAlive
	for _, alive = range []uint64{0, smallAlive, much, smallAlive, much, much, much, much} {
		k.look()
	}
	if len(did) != 1 {
		t.Errorf("bounds %d while a little passes", did)
	}
	for _, alive = range []uint64{much, much, smallAlive + 1, smallAlive} {
		k.look()
	}
	if want := []int64{smallMemory, math.MaxInt64, smallMemory}; !slices.Equal(did, want) {
		t.Errorf("bounds %d, want %d", did, want)
	}
}
