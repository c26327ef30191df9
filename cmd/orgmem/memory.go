package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"orgmem/brain/embed"
	"orgmem/cmd/orgmem/pages"
	"orgmem/proto/clock"
)

const (
	// memoryLook is how often a node looks whether it has anything to do: so much
	// later than its first work at most it stops collecting eagerly.
	memoryLook = time.Second
	// busyBytes, allocated between two looks, tell a node that works from one that
	// only hears from its neighbours, which is some 1 MB a second with 32 shards.
	busyBytes = 8 << 20
	// quietLooks in a row make a node idle: what is collected too eagerly is paid for
	// by the next requests.
	quietLooks = 30
	// busyGarbage and idleGarbage are how far the heap may grow before it is collected,
	// in percent of what was alive: Go's default, and a quarter. A collection takes some
	// 50 ms of an idle node's heap, and happens every minute or less.
	busyGarbage, idleGarbage = 100, 25
)

// memoryKeeper lets an idle node give back the memory that its work has left as
// garbage, which Go alone keeps until the next work needs it: a machine may have
// other things to run at night.
type memoryKeeper struct {
	allocated func() uint64 // bytes since the start
	garbage   func(percent int)
	release   func() // collects, and gives back free pages and those that files can fill again

	last  uint64
	quiet int // looks in a row
}

// look decides once.
func (k *memoryKeeper) look() {
	now := k.allocated()
	grown := now - k.last
	k.last = now
	if grown >= busyBytes {
		if k.quiet >= quietLooks {
			k.garbage(busyGarbage)
		}
		k.quiet = 0
		return
	}
	if k.quiet++; k.quiet == quietLooks {
		k.garbage(idleGarbage)
		k.release()
	}
}

// keepMemory looks until ctx ends. Who has set GOGC has decided otherwise.
func keepMemory(ctx context.Context, w world) {
	if _, set := w.lookupEnv("GOGC"); set {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	k := memoryKeeper{
		allocated: func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() },
		garbage:   func(percent int) { debug.SetGCPercent(percent) },
		release:   func() { debug.FreeOSMemory(); pages.Unload(embed.Pack()) },
	}
	for clock.Wait(ctx, w.clock, memoryLook) == nil {
		k.look()
	}
}
