package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"orgmem/proto/clock"
	"orgmem/storage/disk"
)

const (
	// smallMemtableBytes is the memtable of a store that has taken little since it was
	// opened, and middleMemtableBytes of one that has taken some (grow.go). Two hundred
	// organizations that had each taken twenty notes had 117 MB of memtables while Pebble
	// chose their size, and 157 MB once all had been flushed.
	smallMemtableBytes  = 64 << 10
	middleMemtableBytes = 256 << 10
	// storeMemtableBytes is the most one memtable of a store that is not the log may grow to; Pebble
	// begins at 256 KiB and doubles. With 1 MiB a store under load spent two thirds of its CPU on merging
	// the tables that it flushed (105 µs a commit against 61 µs with 4 MiB). 4 MiB
	// times two (one being flushed) times 256 open stores is a worst case of two
	// gigabytes, reached only if all are imported into at once, which the CPU for
	// embedding does not allow. A batch above half of it bypasses the memtable.
	storeMemtableBytes = 4 << 20
	// logMemtableBytes is larger because most log entries are truncated before
	// their memtable is flushed, and then never reach a table at all.
	logMemtableBytes = 16 << 20
	// logMemtables is how many log memtables may wait; the write-ahead logs kept
	// for recycling are one more.
	logMemtables = 3
	// bloomBits gives about 1 % false positives: look-ups of absent keys
	// (idempotency, de-duplication) are the commonest reads of all.
	bloomBits = 10
	// backgroundLogEvery is how often a failure of background work is logged at most.
	backgroundLogEvery = 10 * time.Second
	// pebbleFormat is fixed so that an upgrade of the library does not upgrade
	// files on disk by itself: a rolling upgrade must be able to go back.
	pebbleFormat = pebble.FormatTableFormatV6
)

// pebbleOptions are what all our instances have in common.
func (n *Node) pebbleOptions() *pebble.Options {
	o := &pebble.Options{
		FS:                 n.disk,
		Cache:              n.caches.blocks,
		FileCache:          n.caches.tables,
		Logger:             pebbleLogger{n.disk.Stopper, n.opts.Logger},
		FormatMajorVersion: pebbleFormat,
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				// Pebble retries flushes and compactions by itself; a failed
				// sync or write never gets here (disk.Disk). What does is a
				// full disk, a missing descriptor, or a damaged table.
				n.backgroundFailed(err)
			},
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				n.counts.corruptions.Add(1)
				n.opts.Logger.Error("storage: damaged data found", "path", info.Path, "err", info.Details)
			},
			WriteStallBegin: func(pebble.WriteStallBeginInfo) { n.counts.stalls.Add(1) },
		},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
	}
	// Excising would leave deleted bytes in files that are only cut virtually.
	o.Experimental.EnableDeleteOnlyCompactionExcises = func() bool { return false }
	// Read-triggered compactions would write on a node that only reads.
	o.Experimental.ReadSamplingMultiplier = -1
	return o
}

// backgroundFailed counts a failure of Pebble's background work and logs it. Pebble
// tries again at once and without end, some ten thousand times a second: a log
// line for each filled a disk with gigabytes within minutes.
func (n *Node) backgroundFailed(err error) {
	failures := n.counts.backgroundErrors.Add(1)
	now := clock.Millis(n.opts.Clock.Now())
	last := n.counts.logged.Load()
	lately := now >= last && now-last < backgroundLogEvery.Milliseconds() // else the clock was put back
	if last != 0 && lately || !n.counts.logged.CompareAndSwap(last, now) {
		return
	}
	n.opts.Logger.Warn("storage: background work failed, will be retried", "err", err, "failures", failures)
}

func (n *Node) storeOptions() *pebble.Options {
	o := n.pebbleOptions()
	o.DisableWAL = true // the raft log is the write-ahead log
	o.MemTableSize = storeMemtableBytes
	o.Experimental.CompactionScheduler = n.compactor.member()
	return o
}

func (n *Node) logOptions() *pebble.Options {
	o := n.pebbleOptions()
	o.MemTableSize = logMemtableBytes
	o.MemTableStopWritesThreshold = logMemtables
	return o
}

// wrapPebble adds the operation, and maps Pebble's own errors to ours.
func wrapPebble(op string, err error) error {
	if err == nil {
		return nil
	}
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%s: %w: %w", op, ErrCorrupt, err)
	}
	if errors.Is(err, pebble.ErrClosed) {
		return fmt.Errorf("%s: %w", op, ErrClosed)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// closeBatch gives a batch's memory back. Its error says that it was closed
// before, which the defers of this package cannot bring about.
func closeBatch(b *pebble.Batch) { _ = b.Close() }

// pebbleLogger hands Pebble's log lines to slog. Infof carries no customer text
// but is chatty (every flush, every compaction): debug level.
type pebbleLogger struct {
	stopper *disk.Stopper
	logger  *slog.Logger
}

func (l pebbleLogger) Infof(format string, args ...any) {
	if l.logger.Enabled(context.Background(), slog.LevelDebug) { //nolint:forbidigo // Pebble has none to give
		l.logger.Debug("pebble", "line", fmt.Sprintf(format, args...))
	}
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.logger.Warn("pebble", "line", fmt.Sprintf(format, args...))
}

// Fatalf never returns; see disk.Stopper.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.stopper.Stop(format, args...)
}
