package main

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
