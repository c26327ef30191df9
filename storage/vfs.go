package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/proto/clock"
)

// FS is the file system storage works on: the disk, or a test's in memory.
type FS = vfs.FS

// guardedFS is what Pebble and the rest of this package write through. It adds
// three things to the file system below:
//
//   - A failed sync stops the process, no matter who asked for it. After a failed
//     fsync Linux may have dropped the dirty pages and marked them clean, so a
//     second fsync that succeeds proves nothing; Pebble retries flushes, and a
//     retry could install a table whose bytes are gone.
//   - A failed write stops the process unless the disk is full. A full disk is
//     not a broken one: Pebble's flushes and compactions try again, and the
//     write-ahead log has its own fatal path.
//   - Syncs are counted and timed for the metrics.
//
// It lies above vfs.OnDiskFull, which gives the ballast back and retries once
// before an error gets here.
type guardedFS struct {
	vfs.FS
	*stopper
	clock clock.Clock
	syncs *syncStats
	// scrub makes ReuseForWrite give up the old file instead of writing over
	// its beginning: what a recycled write-ahead log holds beyond the new
	// records would stay readable on disk (Log.Erase).
	scrub atomic.Bool
}

// syncStats counts what the disk was asked to make durable.
type syncStats struct {
	count, nanos, slowest atomic.Int64
}

func (s *syncStats) add(d time.Duration) {
	s.count.Add(1)
	s.nanos.Add(int64(d))
	for {
		old := s.slowest.Load()
		if int64(d) <= old || s.slowest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func (g *guardedFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil || f == nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g}, nil
}

// Create implements vfs.FS.
func (g *guardedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.wrap(g.FS.Create(name, c))
}

// OpenReadWrite implements vfs.FS.
func (g *guardedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return g.wrap(g.FS.OpenReadWrite(name, c, opts...))
}

// OpenDir implements vfs.FS.
func (g *guardedFS) OpenDir(name string) (vfs.File, error) {
	return g.wrap(g.FS.OpenDir(name))
}

// ReuseForWrite implements vfs.FS.
func (g *guardedFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if g.scrub.Load() {
		if err := g.Remove(oldname); err != nil {
			return nil, err
		}
		return g.Create(newname, c)
	}
	return g.wrap(g.FS.ReuseForWrite(oldname, newname, c))
}

// Unwrap implements vfs.FS.
func (g *guardedFS) Unwrap() vfs.FS { return g.FS }

type guardedFile struct {
	vfs.File
	fs *guardedFS
}

func (f *guardedFile) synced(start time.Time, err error) error {
	f.fs.syncs.add(f.fs.clock.Now().Sub(start))
	if err != nil {
		f.fs.stop("sync failed: %v", err)
	}
	return nil
}

func (f *guardedFile) Sync() error {
	start := f.fs.clock.Now()
	return f.synced(start, f.File.Sync())
}

func (f *guardedFile) SyncData() error {
	start := f.fs.clock.Now()
	return f.synced(start, f.File.SyncData())
}

func (f *guardedFile) SyncTo(length int64) (bool, error) {
	start := f.fs.clock.Now()
	full, err := f.File.SyncTo(length)
	return full, f.synced(start, err)
}

func (f *guardedFile) wrote(n int, err error) (int, error) {
	if err != nil && !isDiskFull(err) && !errors.Is(err, os.ErrClosed) {
		f.fs.stop("write failed: %v", err)
	}
	return n, err
}

func (f *guardedFile) Write(p []byte) (int, error) { return f.wrote(f.File.Write(p)) }

func (f *guardedFile) WriteAt(p []byte, off int64) (int, error) {
	return f.wrote(f.File.WriteAt(p, off))
}

// pebbleLogger hands Pebble's log lines to slog. Infof carries no customer text
// but is chatty (every flush, every compaction): debug level.
type pebbleLogger struct{ *stopper }

func (l pebbleLogger) Infof(format string, args ...any) {
	if l.logger.Enabled(context.Background(), slog.LevelDebug) { //nolint:forbidigo // Pebble has none to give
		l.logger.Debug("pebble", "line", fmt.Sprintf(format, args...))
	}
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.logger.Warn("pebble", "line", fmt.Sprintf(format, args...))
}

// Fatalf never returns; see stopper.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.stop(format, args...)
}
