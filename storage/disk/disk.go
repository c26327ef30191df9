package disk

import (
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/proto/clock"
)

// A Disk is what Pebble and the rest of package storage write through. It adds
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
type Disk struct {
	vfs.FS
	*Stopper
	space *spaceGuard
	clock clock.Clock
	syncs syncStats
	// scrub makes ReuseForWrite give up the old file instead of writing over
	// its beginning: what a recycled write-ahead log holds beyond the new
	// records would stay readable on disk (Log.Erase).
	scrub atomic.Bool
}

// Config says what a Disk is made of. All fields are required.
type Config struct {
	// FS is the file system below.
	FS vfs.FS
	// Dir is the data directory: its file system's free space is watched, and the ballast
	// lies in it under the name Ballast.
	Dir, Ballast string
	// MinFree is the free space, in bytes, below which writes are refused; 0 refuses none.
	MinFree int64
	// BallastBytes is the size of the ballast; 0 makes none.
	BallastBytes int64
	// FreeSpace returns the bytes free for this process on dir's file system.
	FreeSpace func(dir string) (uint64, error)
	Clock     clock.Clock
	Logger    *slog.Logger
	// Stopper ends the process when a sync or a write fails.
	Stopper *Stopper
}

// New returns a disk. Start begins to watch the free space.
func New(c Config) *Disk {
	space := newSpaceGuard(c)
	return &Disk{FS: vfs.OnDiskFull(c.FS, space.diskFull), Stopper: c.Stopper, space: space, clock: c.Clock}
}

// Start looks at the free space for the first time, and makes the ballast where there is
// room.
func (g *Disk) Start() error { return g.space.start() }

// Writable returns nil, or ErrNoSpace when free space is below the watermark. It is cheap.
func (g *Disk) Writable() error { return g.space.writable() }

// Finishable is Writable at a quarter of the watermark: for a write that finishes what was
// decided upon while there was room.
func (g *Disk) Finishable() error { return g.space.finishable() }

// Room returns nil when so many bytes more leave the disk above its watermark, else
// ErrNoSpace.
func (g *Disk) Room(bytes int64) error { return g.space.room(bytes) }

// Scrub says whether a file that is to be reused is removed instead, so that nothing of
// its content stays readable.
func (g *Disk) Scrub(on bool) { g.scrub.Store(on) }

// Stats is what the metrics show of a Disk. Counts run since New.
type Stats struct {
	// Syncs counts fsyncs of all files, SyncTime is their sum, SlowestSync the longest.
	Syncs                 int64
	SyncTime, SlowestSync time.Duration
	// Free is the free space at the last look, in bytes; Low says that writes are refused,
	// Refused how often one was, Full how often a write met a full disk all the same.
	// Ballast says whether the ballast is in place.
	Free          uint64
	Low, Ballast  bool
	Refused, Full int64
}

// Stats returns a reading.
func (g *Disk) Stats() Stats {
	st := Stats{
		Syncs: g.syncs.count.Load(), SyncTime: time.Duration(g.syncs.nanos.Load()),
		SlowestSync: time.Duration(g.syncs.slowest.Load()),
		Free:        g.space.bytes.Load(), Low: g.space.low.Load(),
		Refused: g.space.refused.Load(), Full: g.space.met.Load(),
	}
	g.space.mu.Lock()
	st.Ballast = g.space.has
	g.space.mu.Unlock()
	return st
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

func (g *Disk) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil || f == nil {
		return nil, err
	}
	return &guardedFile{File: f, fs: g}, nil
}

// Create implements vfs.FS.
func (g *Disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return g.wrap(g.FS.Create(name, c))
}

// OpenReadWrite implements vfs.FS.
func (g *Disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return g.wrap(g.FS.OpenReadWrite(name, c, opts...))
}

// OpenDir implements vfs.FS.
func (g *Disk) OpenDir(name string) (vfs.File, error) {
	return g.wrap(g.FS.OpenDir(name))
}

// ReuseForWrite implements vfs.FS.
func (g *Disk) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if g.scrub.Load() {
		if err := g.Remove(oldname); err != nil {
			return nil, err
		}
		return g.Create(newname, c)
	}
	return g.wrap(g.FS.ReuseForWrite(oldname, newname, c))
}

// Unwrap implements vfs.FS.
func (g *Disk) Unwrap() vfs.FS { return g.FS }

type guardedFile struct {
	vfs.File
	fs *Disk
}

func (f *guardedFile) synced(start time.Time, err error) error {
	f.fs.syncs.add(f.fs.clock.Now().Sub(start))
	if err != nil {
		f.fs.Stop("sync failed: %v", err)
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
		f.fs.Stop("write failed: %v", err)
	}
	return n, err
}

func (f *guardedFile) Write(p []byte) (int, error) { return f.wrote(f.File.Write(p)) }

func (f *guardedFile) WriteAt(p []byte, off int64) (int, error) {
	return f.wrote(f.File.WriteAt(p, off))
}
