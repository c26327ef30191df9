package main

import (
	"fmt"
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
		garbage:   func(percent int) { did = append(did, fmt.Sprint(percent)) },
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
