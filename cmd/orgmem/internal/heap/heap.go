// Package heap decides how much garbage the process gathers before Go collects it: little where little is alive, and
// none that an idle node would keep.
package heap

import (
	"cmp"
	"context"
	"os"
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
	// busyGarbage, largeGarbage and idleGarbage are how far the heap may grow before it is
	// collected, in percent of what was alive: Go's default; the least for a busy node; and
	// a quarter. A collection takes some 50 ms of an idle node's heap, every minute or less.
	busyGarbage, largeGarbage, idleGarbage = 100, 40, 25
	// fairGarbage may gather whatever is alive. Most of a large heap (memtables, vectors,
	// blocks) has no pointers and costs a collection nothing: with Go's default a node
	// would hold its data twice. The percentage moves in steps, since all threads stop for it.
	fairGarbage, garbageStep = 64 << 20, 10
	// smallMemory bounds what Go takes of the machine while no more than smallAlive is
	// alive. By itself Go lets as much garbage gather as is alive, and an import of
	// 64 MiB has some 200 MiB alive: several in a row took 544 MiB, and a mail with an
	// archive more than four times its size. With what the binary takes beside Go an
	// import stays under that, and several under 512 MiB. A node that has more alive than smallAlive
	// has it of its data and its cache, and would do nothing but collect under a bound.
	smallMemory, smallAlive = 296 << 20, 208 << 20
	// largeLooks in a row with more alive make a node large: what comes while a
	// collection is under way counts as alive to it, however soon it is garbage.
	largeLooks = 5
)

// memoryKeeper lets a small node stay small when it takes in large files, and an idle
// one give back the memory that its work has left as garbage, which Go alone keeps
// until the next work needs it: a machine may have other things to run at night.
type memoryKeeper struct {
	allocated func() uint64 // bytes since the start
	alive     func() uint64 // bytes that the last collection found in use
	garbage   func(percent int)
	bound     func(bytes int64)
	most      int64  // what a large node is held to
	release   func() // collects, and gives back free pages and those that files can fill again

	last    uint64
	quiet   int  // looks in a row
	large   int  // looks in a row
	small   bool // it is held to smallMemory
	percent int  // of garbage; 0: Go's own
}

// fair is what a busy node may gather, in percent of what is alive.
func fair(alive uint64) int {
	steps := (busyGarbage*fairGarbage/max(alive, 1) + garbageStep/2) / garbageStep
	return max(largeGarbage, int(min(busyGarbage, steps*garbageStep)))
}

// look decides once.
func (k *memoryKeeper) look() {
	k.large++
	alive := k.alive()
	if alive <= smallAlive {
		k.large = 0
	}
	switch {
	case k.large == 0 && !k.small:
		k.small = true
		k.bound(smallMemory)
	case k.large == largeLooks && k.small:
		k.small = false
		k.bound(k.most)
	}
	before := k.last
	if k.last = k.allocated(); k.last-before >= busyBytes {
		k.quiet = 0
	} else if k.quiet++; k.quiet == quietLooks {
		k.percent = idleGarbage
		k.garbage(idleGarbage)
		k.release()
	}
	if want := fair(alive); k.quiet < quietLooks && want != cmp.Or(k.percent, busyGarbage) {
		k.percent = want
		k.garbage(want)
	}
}

// Keep looks until ctx ends. Who has set GOGC has decided otherwise, and who has
// set GOMEMLIMIT has decided on the bound.
func Keep(ctx context.Context, c clock.Clock, lookupEnv func(string) (string, bool)) {
	if _, set := lookupEnv("GOGC"); set {
		return
	}
	k := memoryKeeper{
		allocated: measured("/gc/heap/allocs:bytes"),
		alive:     measured("/gc/heap/live:bytes"),
		garbage:   func(percent int) { debug.SetGCPercent(percent) },
		bound:     func(bytes int64) { debug.SetMemoryLimit(bytes) },
		most:      memoryBound(os.DirFS("/")),
		release:   func() { debug.FreeOSMemory(); pages.Unload(embed.Pack()); pages.Unload(embed.MultilingualPack()) },
	}
	if _, set := lookupEnv("GOMEMLIMIT"); set {
		k.bound = func(int64) {}
	}
	for clock.Wait(ctx, c, memoryLook) == nil {
		k.look()
	}
}

// measured reads one of Go's own figures.
func measured(name string) func() uint64 {
	sample := []metrics.Sample{{Name: name}}
	return func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
}
