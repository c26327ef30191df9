package storage

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/proto/clock"
)

// Defaults of Options; each argued at its field.
const (
	DefaultCacheBytes    = 64 << 20
	DefaultMaxOpenStores = 256
	DefaultMinFreeBytes  = 256 << 20
	DefaultBallastBytes  = 64 << 20
	DefaultIdleStore     = 2 * time.Minute

	// idlePause is between two sweeps of idle stores that are all due.
	idlePause = 100 * time.Millisecond
)

// FS is the file system storage works on: the disk, or a test's in memory.
type FS = vfs.FS

// Options says what a Node is made of. Dir and Clock are required; every other
// zero value is the production default.
type Options struct {
	// Dir is the data directory. It is created with mode 0700: what is in it is
	// customers' text.
	Dir string
	// FS is the file system; nil is the disk. Tests pass storagetest's.
	FS FS
	// Clock times syncs and paces free-space checks and erasures.
	Clock clock.Clock
	// Logger receives events of the stores, without customer text. nil discards.
	Logger *slog.Logger
	// CacheBytes bounds the block cache that all stores share; memtables come on
	// top, 128 KiB for each open store and up to 8 MiB while it is written to at full
	// speed (memtableSteps). 64 MiB keeps an idle node under its
	// 250 MB and still holds the hot blocks of some hundred organizations.
	CacheBytes int64
	// MaxOpenStores bounds the stores kept open. One that takes little costs 300 to 400 KiB
	// and about 9 descriptors, opening a cold one half a millisecond, so 256 is 100 MB;
	// the file-descriptor limit may lower it (disk.Descriptors).
	MaxOpenStores int
	// IdleStore is after how long a store that nobody holds is closed while few are open;
	// many are closed sooner (Node.idleAfter). Negative: only when others need its place.
	IdleStore time.Duration
	// MinFreeBytes is the free space below which Writable refuses. It must hold
	// what is in flight when the refusal begins: the log's and the stores'
	// memtables, and one compaction of each running one. Negative: never refuse.
	MinFreeBytes int64
	// BallastBytes is the size of the file that is given back when the disk is
	// full all the same, so that flushes can finish. Negative: none.
	BallastBytes int64
	// FreeSpace returns the bytes free for this process on dir's file system;
	// nil asks FS.
	FreeSpace func(dir string) (uint64, error)
	// Fatal ends the process; nil logs and exits with code 70. A test's double
	// may return: the goroutine that called it never goes on.
	Fatal func(msg string)
}

func (o Options) withDefaults() (Options, error) {
	var bad []error
	if o.Dir == "" {
		bad = append(bad, errors.New("no Dir: name the data directory"))
	}
	if o.Clock == nil {
		bad = append(bad, errors.New("no Clock: pass clock.Real()"))
	}
	if o.CacheBytes < 0 {
		bad = append(bad, fmt.Errorf("CacheBytes is %d: it cannot be negative", o.CacheBytes))
	}
	if o.MaxOpenStores < 0 {
		bad = append(bad, fmt.Errorf("MaxOpenStores is %d: it cannot be negative", o.MaxOpenStores))
	}
	if len(bad) > 0 {
		return o, fmt.Errorf("storage options: %w", errors.Join(bad...))
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = DefaultCacheBytes
	}
	if o.MaxOpenStores == 0 {
		o.MaxOpenStores = DefaultMaxOpenStores
	}
	if o.IdleStore == 0 {
		o.IdleStore = DefaultIdleStore
	}
	if o.MinFreeBytes == 0 {
		o.MinFreeBytes = DefaultMinFreeBytes
	}
	if o.BallastBytes == 0 {
		o.BallastBytes = DefaultBallastBytes
	}
	o.MinFreeBytes = max(o.MinFreeBytes, 0)
	o.BallastBytes = max(o.BallastBytes, 0)
	if o.FreeSpace == nil {
		fs := o.FS
		o.FreeSpace = func(dir string) (uint64, error) {
			u, err := fs.GetDiskUsage(dir)
			return u.AvailBytes, err
		}
	}
	return o, nil
}
