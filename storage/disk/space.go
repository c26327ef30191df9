package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/proto/clock"
)

// ErrNoSpace says that the disk has too little free space to take writes. Reads
// go on; writes are taken again when space has returned.
var ErrNoSpace = errors.New("too little free disk space")

// spaceMaxAge bounds how old the figure behind Writable may be. A second of
// full-speed logging is some tens of megabytes, well within MinFreeBytes.
const spaceMaxAge = time.Second

// spaceGuard watches free space. Pebble dies of a full disk (a write-ahead log
// or manifest that cannot be written is fatal), so writes are refused before:
//
//	free ≥ MinFree                     writable
//	free < MinFree                     refuse writes, keep the ballast
//	free < MinFree/2, or a write met   and give the ballast back, so that
//	ENOSPC                             flushes and compactions can finish
//	free < MinFree/4, or a write met   refuse also what only finishes what was
//	ENOSPC                             decided before (finishable)
//	free ≥ MinFree·5/4 + ballast owed  make the ballast anew, writable again
//
// The quarter between refusing and accepting keeps it from flapping.
type spaceGuard struct {
	fs      vfs.FS // below the guards: the ballast is removed while writes wait
	dir     string
	ballast string
	size    int64
	min     uint64
	free    func(string) (uint64, error)
	clock   clock.Clock
	logger  *slog.Logger

	last    atomic.Int64 // Unix nanoseconds of the last look
	low     atomic.Bool
	bytes   atomic.Uint64
	refused atomic.Int64
	met     atomic.Int64 // ENOSPC seen by Pebble

	mu  sync.Mutex // one look at a time; guards has
	has bool       // the ballast lies on disk
}

func newSpaceGuard(c Config) *spaceGuard {
	return &spaceGuard{
		fs: c.FS, dir: c.Dir, ballast: c.FS.PathJoin(c.Dir, c.Ballast),
		size: c.BallastBytes, min: uint64(c.MinFree),
		free: c.FreeSpace, clock: c.Clock, logger: c.Logger,
	}
}

// start looks for the first time, and makes the ballast where there is room.
func (g *spaceGuard) start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.fs.Stat(g.ballast)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for ballast: %w", err)
	}
	g.has = err == nil
	return g.look()
}

// writable returns nil or ErrNoSpace, looking again when the figure is old.
func (g *spaceGuard) writable() error {
	if err := g.refresh(); err != nil {
		return err
	}
	if g.low.Load() {
		return g.refuse(g.min)
	}
	return nil
}

// finishable is writable for what finishes something that was decided upon before: a
// quarter of the watermark is left to what is under way.
func (g *spaceGuard) finishable() error {
	if err := g.refresh(); err != nil {
		return err
	}
	if g.bytes.Load() < g.min/4 {
		return g.refuse(g.min / 4)
	}
	return nil
}

func (g *spaceGuard) refuse(needed uint64) error {
	g.refused.Add(1)
	return fmt.Errorf("%d bytes free, %d needed: %w", g.bytes.Load(), needed, ErrNoSpace)
}

// refresh looks when the figure is old.
func (g *spaceGuard) refresh() error {
	// Below zero the clock was put back, and the figure is of nobody knows when.
	if age := g.clock.Now().UnixNano() - g.last.Load(); age >= int64(spaceMaxAge) || age < 0 {
		// One caller looks, the others go by the older figure.
		if g.mu.TryLock() {
			err := g.look()
			g.mu.Unlock()
			return err
		}
	}
	return nil
}

// room returns nil when so many bytes more leave the disk above its watermark,
// else ErrNoSpace.
func (g *spaceGuard) room(bytes int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.look(); err != nil {
		return err
	}
	if free := g.bytes.Load(); free < g.min || free-g.min < uint64(bytes) {
		return fmt.Errorf("%d bytes free, %d and a watermark of %d needed: %w", free, bytes, g.min, ErrNoSpace)
	}
	return nil
}

// look reads the free space and acts on it. g.mu is held.
func (g *spaceGuard) look() error {
	free, err := g.free(g.dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		free, err = ^uint64(0), nil // a file system in memory
	}
	if err != nil {
		return fmt.Errorf("read free disk space: %w", err)
	}
	g.bytes.Store(free)
	g.last.Store(g.clock.Now().UnixNano())
	owed := uint64(0)
	if !g.has {
		owed = uint64(g.size)
	}
	low := g.low.Load()
	switch {
	case free < g.min/2:
		low = true
		g.release()
	case free < g.min:
		low = true
	case low && free < g.min+g.min/4+owed:
	default:
		// The first look after a start may find room for writing but not for
		// the ballast; writing goes first.
		low = false
		if owed > 0 && free >= g.min+owed {
			g.restore()
		}
	}
	if low != g.low.Swap(low) {
		g.logger.Warn("storage: free disk space crossed the watermark", "writable", !low, "free", free, "watermark", g.min)
	}
	return nil
}

// diskFull is called by vfs.OnDiskFull when a write met ENOSPC, before it is
// tried once more. It must not write through the guards.
func (g *spaceGuard) diskFull() {
	g.met.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.release()
	g.low.Store(true)
	g.bytes.Store(0)
	// The disk's word stands for a while, whatever the figure says.
	g.last.Store(g.clock.Now().UnixNano())
}

func (g *spaceGuard) release() {
	if !g.has {
		return
	}
	if err := g.fs.Remove(g.ballast); err != nil {
		g.logger.Error("storage: ballast could not be given back", "err", err)
		return
	}
	g.has = false
	g.logger.Warn("storage: ballast given back", "bytes", g.size)
}

// restore makes the ballast. Failing is not an error: the guard works without,
// only with less room for what is in flight.
func (g *spaceGuard) restore() {
	if err := g.writeBallast(); err != nil {
		g.logger.Warn("storage: ballast could not be made", "err", err)
		if err := g.fs.Remove(g.ballast); err != nil && !errors.Is(err, os.ErrNotExist) {
			g.logger.Error("storage: partial ballast could not be removed", "err", err)
		}
		return
	}
	g.has = true
}

func (g *spaceGuard) writeBallast() error {
	f, err := g.fs.Create(g.ballast, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	// fallocate reserves the blocks in an instant. Where a file system cannot,
	// they are written: a sparse file would reserve nothing.
	if err = f.Preallocate(0, g.size); errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		chunk := make([]byte, 1<<20)
		err = nil
		for left := g.size; left > 0 && err == nil; left -= int64(len(chunk)) {
			_, err = f.Write(chunk[:min(left, int64(len(chunk)))])
		}
	}
	return errors.Join(err, f.Close())
}
