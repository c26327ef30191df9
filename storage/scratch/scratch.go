package scratch

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble's files that nobody reads in a store's directory: the write-ahead log, which is
// off, and the options, which say what Pebble was told. The second pattern is the name
// that the options have until they are written as a whole.
var (
	unusedLog     = regexp.MustCompile(`^[0-9]+\.log$`)
	unusedOptions = regexp.MustCompile(`^(?:OPTIONS-[0-9]+|temporary\.[0-9]+\.dbtmp)$`)
)

// Files is the file system that Pebble gets for a store's directory. Most of what
// opening a store took was making files that nobody ever reads, and syncs of directories
// in which nothing had changed. So it keeps in memory
//
//   - the write-ahead log, which stays empty (storage turns it off),
//   - the options: what they could tell, the manifest says too (the order of keys), or the
//     directory's format does;
//
// it takes no lock, since the process has the whole data directory; and it syncs a
// directory only where something in it may not be durable.
//
// Files of these kinds that a version before has written are seen, and removed as Pebble
// asks for it. A version before opens a directory that has none of them: Pebble makes
// them anew.
type Files struct {
	vfs.FS // with the directory's ledger
	dir    string
	known  *Durable

	mu    sync.Mutex
	files map[string]*unusedFile // by base name

	changed atomic.Uint64 // counts changes of the directory, each after it was made
	added   atomic.Uint64 // the last of them that was no removal
	synced  atomic.Uint64 // up to which of them it was synced
}

// New returns the file system for a directory. below has the directory's ledger.
func New(below vfs.FS, dir string, known *Durable) *Files {
	s := &Files{FS: below, dir: dir, known: known, files: map[string]*unusedFile{}}
	if !known.has(dir) {
		s.add() // by a process before, which may have been killed before it synced it
	}
	known.Drop(dir) // until it is settled
	return s
}

// Settle is called when the directory has been closed. A removal that a power failure undoes
// costs Pebble another one; an erasure, which cannot wait for that, syncs the directory.
func (s *Files) Settle() {
	if s.synced.Load() >= s.added.Load() {
		s.known.add(s.dir)
	}
}

// own returns the base name of a path in the directory.
func (s *Files) own(path string) (string, bool) {
	return s.FS.PathBase(path), parentOf(s.FS, path) == s.dir
}

// parentOf returns the directory of a path, without the slash that some file systems leave.
func parentOf(fs vfs.FS, path string) string { return strings.TrimSuffix(fs.PathDir(path), "/") }

// unused returns the file in memory that a path names; nil where it names none.
func (s *Files) unused(path string) *unusedFile {
	name, ok := s.own(path)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[name]
}

// change counts that a path was made, or made to name another file.
func (s *Files) change(path string) {
	if _, ok := s.own(path); ok {
		s.add()
	}
}

func (s *Files) add() { raise(&s.added, s.changed.Add(1)) }

// raise stores a value where it is the highest so far.
func raise(highest *atomic.Uint64, to uint64) {
	for {
		old := highest.Load()
		if old >= to || highest.CompareAndSwap(old, to) {
			return
		}
	}
}

// Create implements vfs.FS.
func (s *Files) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if name, ok := s.own(path); ok {
		isLog := unusedLog.MatchString(name)
		if isLog || unusedOptions.MatchString(name) {
			f := &unusedFile{name: name, empty: isLog}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.files[name] = f
			return f.open(), nil
		}
	}
	defer s.change(path)
	return s.FS.Create(path, c)
}

// Open implements vfs.FS.
func (s *Files) Open(path string, opts ...vfs.OpenOption) (vfs.File, error) {
	if f := s.unused(path); f != nil {
		return f.open(), nil
	}
	return s.FS.Open(path, opts...)
}

// OpenReadWrite implements vfs.FS.
func (s *Files) OpenReadWrite(path string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	defer s.change(path)
	return s.FS.OpenReadWrite(path, c, o...)
}

// ReuseForWrite implements vfs.FS.
func (s *Files) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if s.unused(from) != nil {
		if err := s.Remove(from); err != nil {
			return nil, err
		}
		return s.Create(to, c)
	}
	defer s.change(to)
	return s.FS.ReuseForWrite(from, to, c)
}

// Link implements vfs.FS.
func (s *Files) Link(from, to string) error {
	defer s.change(to)
	return s.FS.Link(from, to)
}

// Rename implements vfs.FS.
func (s *Files) Rename(from, to string) error {
	f := s.unused(from)
	if f == nil {
		defer s.change(to)
		return s.FS.Rename(from, to)
	}
	name, ok := s.own(to)
	if !ok || !unusedOptions.MatchString(name) {
		return fmt.Errorf("rename %s to %s: %w", from, to, os.ErrInvalid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, f.name)
	f.name = name
	s.files[name] = f
	f.kept = unique.Make(string(f.text)) // all stores have the same
	f.text = nil
	return nil
}

// Remove implements vfs.FS.
func (s *Files) Remove(path string) error {
	if f := s.unused(path); f != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.files, f.name)
		return nil
	}
	err := s.FS.Remove(path)
	if _, ok := s.own(path); ok {
		s.changed.Add(1)
	}
	return err
}

// Stat implements vfs.FS.
func (s *Files) Stat(path string) (vfs.FileInfo, error) {
	if f := s.unused(path); f != nil {
		return f.open().Stat()
	}
	return s.FS.Stat(path)
}

// List implements vfs.FS.
func (s *Files) List(dir string) ([]string, error) {
	names, err := s.FS.List(dir)
	if err != nil || strings.TrimSuffix(dir, "/") != s.dir {
		return names, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.files {
		names = append(names, name)
	}
	return names, nil
}

// Lock implements vfs.FS: the process has the data directory, and a Node opens a store
// once.
func (s *Files) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// OpenDir implements vfs.FS.
func (s *Files) OpenDir(path string) (vfs.File, error) {
	d, err := s.FS.OpenDir(path)
	path = strings.TrimSuffix(path, "/")
	switch {
	case err != nil || d == nil:
		return nil, err
	case path == s.dir:
		return &storeDir{File: d, files: s}, nil
	case path == parentOf(s.FS, s.dir):
		return &shelfDir{File: d, path: path, known: s.known}, nil
	}
	return d, nil
}

// Unwrap implements vfs.FS.
func (s *Files) Unwrap() vfs.FS { return s.FS }

// storeDir is a store's directory.
type storeDir struct {
	vfs.File
	files *Files
}

// Sync implements vfs.File. A change that was made before the call has been counted.
func (d *storeDir) Sync() error {
	now := d.files.changed.Load()
	if d.files.synced.Load() >= now {
		return nil
	}
	if err := d.File.Sync(); err != nil {
		return err
	}
	raise(&d.files.synced, now)
	return nil
}

// shelfDir is the directory in which a store's lies. What this process makes in it is
// synced when it is made (disk.MakeDir), so one sync is enough for what was there.
type shelfDir struct {
	vfs.File
	path  string
	known *Durable
}

// Sync implements vfs.File.
func (d *shelfDir) Sync() error {
	if d.known.has(d.path) {
		return nil
	}
	err := d.File.Sync()
	if err == nil {
		d.known.add(d.path)
	}
	return err
}

// Durable are the directories whose entries are known to be on disk: this process has
// synced them since it began, and whatever changed in them since. It is bounded by the
// number of stores on disk.
type Durable struct {
	mu    sync.Mutex
	paths map[string]struct{}
}

// NewDurable returns the memory of a process that has just begun.
func NewDurable() *Durable { return &Durable{paths: map[string]struct{}{}} }

func (d *Durable) has(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.paths[path]
	return ok
}

func (d *Durable) add(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paths[path] = struct{}{}
}

// Drop forgets a directory: another one may take its place.
func (d *Durable) Drop(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.paths, path)
}

// unusedFile is a file in memory: written once, from its beginning, by one goroutine, and
// read afterwards.
type unusedFile struct {
	name  string
	empty bool // what is written is forgotten
	text  []byte
	kept  unique.Handle[string] // the text once it is written as a whole
}

// content returns what was written.
func (f *unusedFile) content() string {
	if f.kept == (unique.Handle[string]{}) {
		return string(f.text)
	}
	return f.kept.Value()
}

func (f *unusedFile) open() *unusedHandle { return &unusedHandle{file: f} }

// unusedHandle is an open unusedFile.
type unusedHandle struct {
	file *unusedFile
	at   int64
}

// Close implements vfs.File.
func (h *unusedHandle) Close() error { return nil }

// Read implements vfs.File.
func (h *unusedHandle) Read(p []byte) (int, error) {
	n, err := h.ReadAt(p, h.at)
	h.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt implements vfs.File.
func (h *unusedHandle) ReadAt(p []byte, off int64) (int, error) {
	return strings.NewReader(h.file.content()).ReadAt(p, off)
}

// Write implements vfs.File.
func (h *unusedHandle) Write(p []byte) (int, error) {
	if !h.file.empty {
		h.file.text = append(h.file.text, p...)
	}
	return len(p), nil
}

// WriteAt implements vfs.File: none of these files is written so.
func (h *unusedHandle) WriteAt([]byte, int64) (int, error) { return 0, os.ErrInvalid }

// Preallocate implements vfs.File.
func (h *unusedHandle) Preallocate(int64, int64) error { return nil }

// Stat implements vfs.File.
func (h *unusedHandle) Stat() (vfs.FileInfo, error) {
	return unusedInfo{h.file.name, int64(len(h.file.content()))}, nil
}

// Sync implements vfs.File.
func (h *unusedHandle) Sync() error { return nil }

// SyncTo implements vfs.File.
func (h *unusedHandle) SyncTo(int64) (bool, error) { return true, nil }

// SyncData implements vfs.File.
func (h *unusedHandle) SyncData() error { return nil }

// Prefetch implements vfs.File.
func (h *unusedHandle) Prefetch(int64, int64) error { return nil }

// Fd implements vfs.File.
func (h *unusedHandle) Fd() uintptr { return vfs.InvalidFd }

// unusedInfo describes an unusedFile.
type unusedInfo struct {
	name string
	size int64
}

// Name implements vfs.FileInfo.
func (i unusedInfo) Name() string { return i.name }

// Size implements vfs.FileInfo.
func (i unusedInfo) Size() int64 { return i.size }

// Mode implements vfs.FileInfo.
func (unusedInfo) Mode() fs.FileMode { return 0o600 }

// ModTime implements vfs.FileInfo.
func (unusedInfo) ModTime() time.Time { return time.Time{} }

// IsDir implements vfs.FileInfo.
func (unusedInfo) IsDir() bool { return false }

// Sys implements vfs.FileInfo.
func (unusedInfo) Sys() any { return nil }

// DeviceID implements vfs.FileInfo.
func (unusedInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
