package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/storage/disk"
)

// ErrCorrupt says that stored bytes are damaged.
var ErrCorrupt = errors.New("stored data is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ledgerFile is a ledger's name, in the directory of the Pebble instance that it is
// about. Pebble leaves files alone whose names it did not give.
const ledgerFile = "LEDGER"

const (
	// ledgerSlot is the room for one state of the ledger, and the least that disks write
	// at a time, so that a state is written as a whole or not at all.
	ledgerSlot = 512
	// ledgerSlots take turns: what a crash leaves half written is never the only state.
	ledgerSlots = 2
	// ledgerHead is checksum, number and count; ledgerClaim is kind, number, length
	// and sum of one file.
	ledgerHead  = 4 + 8 + 2
	ledgerClaim = 1 + 8 + 8 + 4
	// maxClaims is what fits. A log has at most logMemtables write-ahead logs to replay
	// and one more than that to recycle, and two manifests.
	maxClaims = (ledgerSlot - ledgerHead) / ledgerClaim
)

// A Ledger remembers how much of a Pebble instance's write-ahead logs and manifests is
// on disk, and the sum of it, so that damage can be distinguished from an end.
//
// Pebble cannot tell them apart. Both files are appended to, and a crash may leave a
// half-written record at the end of them; so Pebble takes the first record that it cannot
// read for the end. In a manifest that is so wherever the record stands, and the next
// start deletes the tables that the rest of it had added. In a write-ahead log a record
// behind it may say that more was synced, but Pebble looks for one from the next block of
// 32 KiB on only, and nothing follows the last records. A bit that flips in what was
// acknowledged last is therefore an acknowledged write that is silently gone.
//
// A claim is written when a sync has returned, before those who wait for the sync are
// answered. Claims are not synced themselves: the kernel keeps them when the process is
// killed, and after a power failure an old claim is as true as it was, since the files
// only grow. What lies behind the claimed part is looked at record by record
// (endOfRecords); that is also all there is for the files of versions without a ledger.
//
// A Ledger is the file system that Pebble gets for its directory.
type Ledger struct {
	vfs.FS
	dir string

	mu      sync.Mutex
	file    vfs.File
	version uint64 // of the newest state written
	dirty   bool   // one was written that was not synced
	claims  map[appendedFile]claim
}

// claim says that the first bytes of a file are on disk.
type claim struct {
	length uint64
	sum    uint32
}

// Open reads the ledger of a directory, or makes one.
func Open(fs vfs.FS, dir string) (*Ledger, error) {
	l := &Ledger{FS: fs, dir: dir, claims: map[appendedFile]claim{}}
	path := fs.PathJoin(dir, ledgerFile)
	raw, err := disk.ReadFile(fs, path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		// Made at its full size, so that writing a claim later needs no space.
		if err := disk.WriteFile(fs, dir, ledgerFile, make([]byte, ledgerSlots*ledgerSlot)); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for slot := range slices.Chunk(raw, ledgerSlot) {
		l.read(slot)
	}
	if l.file, err = fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return l, nil
}

// read takes over a state if it is whole and newer. One that is not, torn or damaged, is
// passed over: the other one is older by one claim.
func (l *Ledger) read(slot []byte) {
	if len(slot) != ledgerSlot {
		return
	}
	version, count := binary.LittleEndian.Uint64(slot[4:]), int(binary.LittleEndian.Uint16(slot[12:]))
	if version <= l.version || count > maxClaims {
		return
	}
	end := ledgerHead + count*ledgerClaim
	if crc32.Checksum(slot[4:end], castagnoli) != binary.LittleEndian.Uint32(slot) {
		return
	}
	l.version = version
	clear(l.claims)
	for c := range slices.Chunk(slot[ledgerHead:end], ledgerClaim) {
		f := appendedFile{kind: c[0], number: binary.LittleEndian.Uint64(c[1:])}
		l.claims[f] = claim{length: binary.LittleEndian.Uint64(c[9:]), sum: binary.LittleEndian.Uint32(c[17:])}
	}
}

// write writes the claims. l.mu is held. A failure leaves an older state, which is true:
// disk.Disk has stopped the process, but for a full disk.
func (l *Ledger) write() {
	if l.file == nil {
		return
	}
	l.version++
	l.dirty = true
	slot := make([]byte, ledgerHead, ledgerSlot)
	binary.LittleEndian.PutUint64(slot[4:], l.version)
	count := uint16(0)
	for _, f := range l.newest() {
		c := l.claims[f]
		slot = append(slot, f.kind)
		slot = binary.LittleEndian.AppendUint64(slot, f.number)
		slot = binary.LittleEndian.AppendUint64(slot, c.length)
		slot = binary.LittleEndian.AppendUint32(slot, c.sum)
		count++
	}
	binary.LittleEndian.PutUint16(slot[12:], count)
	binary.LittleEndian.PutUint32(slot, crc32.Checksum(slot[4:], castagnoli))
	_, _ = l.file.WriteAt(slot[:ledgerSlot], int64(l.version%ledgerSlots)*ledgerSlot)
}

// newest returns as many claimed files as the ledger has room for, those with the highest
// numbers. l.mu is held.
func (l *Ledger) newest() []appendedFile {
	files := make([]appendedFile, 0, len(l.claims))
	for f := range l.claims {
		files = append(files, f)
	}
	if len(files) <= maxClaims {
		return files
	}
	slices.SortFunc(files, func(a, b appendedFile) int { return cmp.Compare(b.number, a.number) })
	return files[:maxClaims]
}

// note claims the beginning of a file.
func (l *Ledger) note(f appendedFile, c claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c == (claim{}) || l.claims[f] == c {
		return
	}
	l.claims[f] = c
	l.write()
}

// drop forgets a file that is removed, or written anew. It is not written at once: a
// claim on a missing file counts for nothing.
func (l *Ledger) drop(path string) {
	if f, ok := l.mine(path); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.claims, f)
	}
}

// Close makes the claims durable and ends the ledger.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	if !l.dirty {
		return f.Close()
	}
	return errors.Join(f.Sync(), f.Close())
}

// Verify compares the files with what was claimed of them, and looks at the rest of
// them. The error is ErrCorrupt, and names the file.
func (l *Ledger) Verify() error {
	names, err := l.FS.List(l.dir)
	if err != nil {
		return fmt.Errorf("list %s: %w", l.dir, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	there := map[appendedFile]bool{}
	for _, name := range names {
		f, ok := parseAppended(name)
		if !ok {
			continue
		}
		there[f] = true
		if err := l.compare(f, name); err != nil {
			return err
		}
	}
	for f := range l.claims {
		if !there[f] {
			delete(l.claims, f)
		}
	}
	return nil
}

// compare looks at one file. l.mu is held.
func (l *Ledger) compare(file appendedFile, name string) error {
	path := l.FS.PathJoin(l.dir, name)
	f, err := l.FS.Open(path)
	if err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	content, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	c := l.claims[file]
	if uint64(len(content)) < c.length {
		return Damaged(path, "it has %d bytes, and %d were written", len(content), c.length)
	}
	if crc32.Checksum(content[:c.length], castagnoli) != c.sum {
		return Damaged(path, "its first %d bytes are not the ones that were written", c.length)
	}
	if at, ok := file.endOfRecords(content, int(c.length)); !ok {
		return Damaged(path, "the record at byte %d cannot be read, and there are records behind it", at)
	}
	return nil
}

// Damaged returns ErrCorrupt, with the path and what is wrong with what is there.
func Damaged(path, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", path, ErrCorrupt, fmt.Sprintf(format, args...))
}

// Seal makes a ledger that claims the manifests of a directory whose content is known to
// be right: a store that came from another node.
func Seal(fs vfs.FS, dir string) error {
	l, err := Open(fs, dir)
	if err != nil {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return errors.Join(fmt.Errorf("list %s: %w", dir, err), l.Close())
	}
	l.mu.Lock()
	clear(l.claims)
	for _, name := range names {
		file, ok := parseAppended(name)
		if !ok || file.kind != kindManifest {
			continue
		}
		var raw []byte
		if raw, err = readWhole(fs, fs.PathJoin(dir, name)); err != nil {
			break
		}
		l.claims[file] = claim{length: uint64(len(raw)), sum: crc32.Checksum(raw, castagnoli)}
	}
	if err == nil {
		l.write()
	}
	l.mu.Unlock()
	return errors.Join(err, l.Close())
}

func readWhole(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(f)
	return raw, errors.Join(err, f.Close())
}

// Kinds of files that Pebble appends to; stored.
const (
	kindManifest byte = 1
	kindWAL      byte = 2
)

// appendedFile is a file that Pebble appends to.
type appendedFile struct {
	kind   byte
	number uint64
}

var appendedNames = regexp.MustCompile(`^(?:MANIFEST-([0-9]+)|([0-9]+)\.log)$`)

func parseAppended(name string) (appendedFile, bool) {
	m := appendedNames.FindStringSubmatch(name)
	if m == nil {
		return appendedFile{}, false
	}
	f := appendedFile{kind: kindManifest}
	if m[2] != "" {
		f.kind = kindWAL
	}
	var err error
	f.number, err = strconv.ParseUint(m[1]+m[2], 10, 64)
	return f, err == nil
}

// Follows reports whether a ledger is about files of this name: a write-ahead log or a
// manifest.
func Follows(name string) bool {
	_, ok := parseAppended(name)
	return ok
}

// IsManifest reports whether a file of this name is a manifest.
func IsManifest(name string) bool {
	f, ok := parseAppended(name)
	return ok && f.kind == kindManifest
}

// Create implements vfs.FS.
func (l *Ledger) Create(path string, c vfs.DiskWriteCategory) (vfs.File, error) {
	l.drop(path)
	f, err := l.FS.Create(path, c)
	return l.wrap(path, f, err)
}

// ReuseForWrite implements vfs.FS.
func (l *Ledger) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	l.drop(from)
	l.drop(to)
	f, err := l.FS.ReuseForWrite(from, to, c)
	return l.wrap(to, f, err)
}

// Remove implements vfs.FS.
func (l *Ledger) Remove(path string) error {
	l.drop(path)
	return l.FS.Remove(path)
}

// Unwrap implements vfs.FS.
func (l *Ledger) Unwrap() vfs.FS { return l.FS }

// mine reports whether a file is one that the ledger follows.
func (l *Ledger) mine(path string) (appendedFile, bool) {
	f, ok := parseAppended(l.FS.PathBase(path))
	return f, ok && strings.TrimSuffix(l.FS.PathDir(path), "/") == strings.TrimSuffix(l.dir, "/")
}

func (l *Ledger) wrap(path string, f vfs.File, err error) (vfs.File, error) {
	id, ok := l.mine(path)
	if err != nil || f == nil || !ok {
		return f, err
	}
	return &appending{File: f, ledger: l, id: id}, nil
}

// appending is a file that is being appended to, from its beginning.
type appending struct {
	vfs.File
	ledger *Ledger
	id     appendedFile

	mu      sync.Mutex
	written claim
	broken  bool // a write was cut short
}

// Write implements vfs.File.
func (f *appending) Write(p []byte) (int, error) {
	f.mu.Lock()
	sum := crc32.Update(f.written.sum, castagnoli, p) // before: a file may change the bytes it is given
	f.mu.Unlock()
	size := len(p)
	n, err := f.File.Write(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if n != size { // the disk is full: what is claimed stays true, and nothing more is claimed
		f.broken = true
	}
	f.written = claim{length: f.written.length + uint64(n), sum: sum}
	return n, err
}

// now returns what was written so far: all that a sync which begins now makes durable.
func (f *appending) now() claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return claim{}
	}
	return f.written
}

// Sync implements vfs.File.
func (f *appending) Sync() error {
	c := f.now()
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.ledger.note(f.id, c)
	return nil
}

// SyncData implements vfs.File.
func (f *appending) SyncData() error {
	c := f.now()
	if err := f.File.SyncData(); err != nil {
		return err
	}
	f.ledger.note(f.id, c)
	return nil
}

// SyncTo implements vfs.File. Only a full one makes anything durable.
func (f *appending) SyncTo(length int64) (bool, error) {
	c := f.now()
	full, err := f.File.SyncTo(length)
	if err == nil && full {
		f.ledger.note(f.id, c)
	}
	return full, err
}
