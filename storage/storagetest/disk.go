package storagetest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/proto/clock"
	"orgmem/storage"
)

// Dir is the data directory of Options.
const Dir = "data"

// ErrInjected is what FailSync and FailWrite make the disk answer.
var ErrInjected = errors.New("injected disk failure")

// Disk is a file system in memory. Its methods may be called from any
// goroutine.
type Disk struct {
	vfs.FS
	mem *vfs.MemFS

	// cloning keeps Crash apart from those operations of MemFS that take its own
	// read lock twice: a writer that comes between the two would block both for
	// ever.
	cloning sync.RWMutex

	mu       sync.Mutex
	capacity int64            // 0: without end
	sizes    map[string]int64 // by path, preallocation included
	failSync func(path string) bool
	matching sync.Mutex // held while failSync is asked
	failIO   func(path string) bool
	syncs    int
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return newDisk(vfs.NewCrashableMem()) }

func newDisk(mem *vfs.MemFS) *Disk {
	return &Disk{FS: mem, mem: mem, sizes: map[string]int64{}}
}

// Crash returns the disk as it is found after a power failure at this moment:
// all that was synced, and each other write with the given probability. The old
// Disk goes on unharmed; it is the past.
func (d *Disk) Crash(unsyncedPercent int, seed uint64) *Disk {
	d.cloning.Lock()
	defer d.cloning.Unlock()
	return newDisk(d.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: unsyncedPercent,
		RNG:                 rand.New(rand.NewPCG(seed, seed)), //nolint:gosec // to be repeatable is the point
	}))
}

// FailSync makes every sync of a path that match accepts fail from now on; nil
// ends it. match is called once at a time; it may block: all syncs take as long.
func (d *Disk) FailSync(match func(path string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failSync = match
}

// FailWrite is FailSync for writes.
func (d *Disk) FailWrite(match func(path string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failIO = match
}

// Syncs returns how many syncs the disk has seen.
func (d *Disk) Syncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

// Capacity bounds what the disk holds; writes beyond answer ENOSPC. 0 lifts the
// bound.
func (d *Disk) Capacity(n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.capacity = n
}

// Used returns the bytes written to files that still exist, holes of
// preallocation included.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usedLocked()
}

func (d *Disk) usedLocked() int64 {
	var n int64
	for _, s := range d.sizes {
		n += s
	}
	return n
}

// GetDiskUsage implements vfs.FS.
func (d *Disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.capacity == 0 {
		return vfs.DiskUsage{}, vfs.ErrUnsupported
	}
	used := d.usedLocked()
	return vfs.DiskUsage{
		AvailBytes: uint64(max(d.capacity-used, 0)), TotalBytes: uint64(d.capacity), UsedBytes: uint64(used),
	}, nil
}

// Find returns the paths of all files that contain text, and of those whose
// name does.
func (d *Disk) Find(t testing.TB, text string) []string {
	t.Helper()
	return Find(t, d.mem, Dir, text)
}

// Find returns the paths below dir of all files that contain text.
func Find(t testing.TB, fs storage.FS, dir, text string) []string {
	t.Helper()
	var found []string
	names, err := fs.List(dir)
	if err != nil {
		t.Fatalf("list %s: %v", dir, err)
	}
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed in the background meanwhile
		}
		if err != nil {
			t.Fatalf("stat %s: %v", path, err)
		}
		if info.IsDir() {
			found = append(found, Find(t, fs, path, text)...)
			continue
		}
		data, err := readAll(fs, path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatalf("read %s: %v", path, err)
		}
		if bytes.Contains(data, []byte(text)) || strings.Contains(name, text) {
			found = append(found, path)
		}
	}
	return found
}

func readAll(fs storage.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// Options returns options for a node on the disk, small and without pauses. The
// Fatal double reports into the channel and returns; the node parks the
// goroutine that called it.
func (d *Disk) Options() (storage.Options, <-chan string) {
	fatal := make(chan string, 1)
	return storage.Options{
		Dir:           Dir,
		FS:            d,
		Clock:         clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		CacheBytes:    4 << 20,
		MaxOpenStores: 8,
		MinFreeBytes:  -1,
		BallastBytes:  -1,
		Fatal:         func(msg string) { fatal <- msg },
	}, fatal
}

// Node opens a node on the disk with Options and closes it when the test ends.
func (d *Disk) Node(t testing.TB) *storage.Node {
	t.Helper()
	o, _ := d.Options()
	n, err := storage.Open(o)
	if err != nil {
		t.Fatalf("open storage: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close storage: %v", err)
		}
	})
	return n
}

// Create implements vfs.FS.
func (d *Disk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.sizes[name] = 0
	d.mu.Unlock()
	return &file{File: f, disk: d, path: name}, nil
}

// OpenReadWrite implements vfs.FS.
func (d *Disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.OpenReadWrite(name, c, opts...)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, path: name}, nil
}

// OpenDir implements vfs.FS.
func (d *Disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &file{File: f, disk: d, path: name}, nil
}

// Remove implements vfs.FS.
func (d *Disk) Remove(name string) error {
	err := d.FS.Remove(name)
	if err == nil {
		d.mu.Lock()
		delete(d.sizes, name)
		d.mu.Unlock()
	}
	return err
}

// RemoveAll implements vfs.FS.
func (d *Disk) RemoveAll(name string) error {
	err := d.FS.RemoveAll(name)
	if err == nil {
		d.mu.Lock()
		for path := range d.sizes {
			if path == name || strings.HasPrefix(path, name+"/") {
				delete(d.sizes, path)
			}
		}
		d.mu.Unlock()
	}
	return err
}

// Rename implements vfs.FS.
func (d *Disk) Rename(oldname, newname string) error {
	err := d.FS.Rename(oldname, newname)
	if err == nil {
		d.moved(oldname, newname)
	}
	return err
}

func (d *Disk) moved(oldname, newname string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, size := range d.sizes {
		if path == oldname || strings.HasPrefix(path, oldname+"/") {
			delete(d.sizes, path)
			d.sizes[newname+strings.TrimPrefix(path, oldname)] = size
		}
	}
}

// ReuseForWrite implements vfs.FS. The old bytes stay beyond the new ones, as on
// a real disk.
func (d *Disk) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	d.cloning.RLock()
	f, err := d.FS.ReuseForWrite(oldname, newname, c)
	d.cloning.RUnlock()
	if err != nil {
		return nil, err
	}
	d.moved(oldname, newname)
	return &file{File: f, disk: d, path: newname}, nil
}

// Lock implements vfs.FS.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.cloning.RLock()
	defer d.cloning.RUnlock()
	return d.FS.Lock(name)
}

// Unwrap implements vfs.FS.
func (d *Disk) Unwrap() vfs.FS { return d.FS }

type file struct {
	vfs.File
	disk *Disk
	path string
	at   int64
}

func (f *file) take(end int64) error {
	d := f.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failIO != nil && d.failIO(f.path) {
		return ErrInjected
	}
	more := end - d.sizes[f.path]
	if more <= 0 {
		return nil
	}
	if d.capacity > 0 && d.usedLocked()+more > d.capacity {
		return syscall.ENOSPC
	}
	d.sizes[f.path] = end
	return nil
}

func (f *file) Write(p []byte) (int, error) {
	if err := f.take(f.at + int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if err := f.take(off + int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *file) Preallocate(off, n int64) error {
	// Pebble preallocates its logs in larger steps than a small test disk has.
	if !strings.HasSuffix(f.path, "BALLAST") {
		return f.File.Preallocate(off, n)
	}
	return f.take(off + n)
}

func (d *Disk) matches(match func(path string) bool, path string) bool {
	d.matching.Lock()
	defer d.matching.Unlock()
	return match(path)
}

func (f *file) sync(do func() error) error {
	d := f.disk
	d.mu.Lock()
	d.syncs++
	match := d.failSync
	d.mu.Unlock()
	if match != nil && d.matches(match, f.path) {
		return ErrInjected
	}
	return do()
}

func (f *file) Sync() error     { return f.sync(f.File.Sync) }
func (f *file) SyncData() error { return f.sync(f.File.SyncData) }

func (f *file) SyncTo(n int64) (full bool, err error) {
	err = f.sync(func() error {
		full, err = f.File.SyncTo(n)
		return err
	})
	return full, err
}
