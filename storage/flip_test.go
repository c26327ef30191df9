package storage_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Every file of a fresh data directory that was never closed, with a bit flipped at every
// k-th byte: the node refuses and names the file, or the store whose data it is does, or
// all that was acknowledged is there and right. In the log that is so up to the last byte
// of the last entry.
func TestFlippedBitIsNeverSilentLoss(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*testing.T) (*storagetest.Disk, func(*storage.Node) error)
	}{
		{"first process", firstProcess},
		{"second process", secondProcess},
		{"many syncs", manySyncs},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			disk, intact := c.prepare(t)
			disk = disk.Crash(100, 1) // nobody compacts this one while it is examined
			refused, right := 0, 0
			for _, path := range files(t, disk, storagetest.Dir) {
				size := len(content(t, disk.Crash(100, 1), path))
				for at := range samples(size, storagetest.LessUnderRace(t, 8, 3), storagetest.LessUnderRace(t, 17, 49)) {
					flipped := disk.Crash(100, 1)
					flip(t, flipped, path, at, byte(1)<<(at%8))
					switch err := examine(flipped, intact); {
					case err == nil:
						right++
					case named(err, path):
						refused++
					default:
						t.Errorf("%s: bit flipped in byte %d of %d: %v", path, at, size, err)
					}
				}
			}
			if refused == 0 || right == 0 {
				t.Errorf("%d refused, %d right: the test proves nothing", refused, right)
			}
			t.Logf("%d flips: %d refused, %d right", refused+right, refused, right)
		})
	}
}

// samples are the bytes of a file of some size to flip a bit in: every step-th of the last hundred, and one in each of
// so many parts of the rest.
func samples(size, parts, step int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for at := 0; at < size-100; at += max(1, size/parts) {
			if !yield(at) {
				return
			}
		}
		for at := max(0, size-100); at < size; at += step {
			if !yield(at) {
				return
			}
		}
	}
}

// examine opens the node as a start does and compares what is there. A test of the disk
// that is not right panics or fails.
func examine(disk *storagetest.Disk, intact func(*storage.Node) error) error {
	o, _ := disk.Options()
	n, err := storage.Open(o)
	if err != nil {
		return err
	}
	return errors.Join(intact(n), n.Close())
}

var errSilent = errors.New("acknowledged data is silently missing or wrong")

// named reports whether an error is an honest one: damage, or a format that nobody knows,
// with the file's or the store's name in it.
func named(err error, path string) bool {
	if errors.Is(err, errSilent) {
		return false
	}
	elems := strings.Split(path, "/")
	file, dir := elems[len(elems)-1], elems[len(elems)-2]
	return strings.Contains(err.Error(), file) || strings.Contains(err.Error(), dir)
}

func firstProcess(t *testing.T) (*storagetest.Disk, func(*storage.Node) error) {
	disk := storagetest.NewDisk()
	return disk, fillNode(t, disk, 0)
}

// secondProcess is a directory that was closed and opened again.
func secondProcess(t *testing.T) (*storagetest.Disk, func(*storage.Node) error) {
	disk := storagetest.NewDisk()
	before := fillNode(t, disk, 0)
	disk = disk.Crash(0, 1)
	after := fillNode(t, disk, 30)
	return disk, func(n *storage.Node) error { return errors.Join(before(n), after(n)) }
}

// manySyncs is a log of several blocks.
func manySyncs(t *testing.T) (*storagetest.Disk, func(*storage.Node) error) {
	disk := storagetest.NewDisk()
	n, _ := openBroken(t, disk) // never closed
	const entries = 150
	value := func(i uint64) string { return string(randomBytes(i, 700)) }
	for i := uint64(1); i <= entries; i++ {
		if err := n.Log().Append(1, []storage.LogEntry{entry(i, value(i))}); err != nil {
			t.Fatal(err)
		}
	}
	return disk, func(n *storage.Node) error { return entriesAre(n, 1, entries, value) }
}

// fillNode writes to the log and to three stores, of which two are flushed, and leaves the
// node as kill -9 does. What it returns reads it all back.
func fillNode(t *testing.T, disk *storagetest.Disk, from uint64) func(*storage.Node) error {
	n, _ := openBroken(t, disk) // never closed
	const entries, records = 30, 30
	value := func(i uint64) string { return string(randomBytes(i, 200)) }
	for i := from + 1; i <= from+entries; i++ {
		if err := n.Log().Append(1, []storage.LogEntry{entry(i, value(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Log().SetStable(1, []byte("CurrentTerm"), []byte{byte(from)}); err != nil {
		t.Fatal(err)
	}
	for s := range 2 {
		h := acquire(t, n, store(s))
		for i := from + 1; i <= from+records; i++ {
			put(t, h, i, fmt.Sprint(i), value(i))
			if i%5 == 0 { // a table and an edit of the manifest each
				if err := h.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		h.Release()
	}
	acquire(t, n, storage.MetaStore).Release()
	return func(n *storage.Node) error {
		if err := entriesAre(n, 1, from+entries, value); err != nil {
			return err
		}
		if b, ok, err := n.Log().GetStable(1, []byte("CurrentTerm")); err != nil || !ok || b[0] < byte(from) {
			return errors.Join(err, fmt.Errorf("term %v: %w", b, errSilent))
		}
		for s := range 2 {
			if err := recordsAre(n, store(s), from+records, value); err != nil {
				return err
			}
		}
		h, err := n.Acquire(storage.MetaStore)
		if err == nil {
			h.Release()
		}
		return err
	}
}

func entriesAre(n *storage.Node, group uint32, last uint64, value func(uint64) string) error {
	if _, have, err := n.Log().Bounds(group); err != nil || have < last {
		if err == nil {
			err = fmt.Errorf("entries up to %d of %d: %w", have, last, errSilent)
		}
		return err
	}
	for i := uint64(1); i <= last; i++ {
		e, err := n.Log().Get(group, i)
		if err != nil {
			return err
		}
		if string(e.Data) != value(i) {
			return fmt.Errorf("entry %d: %w", i, errSilent)
		}
	}
	return nil
}

func recordsAre(n *storage.Node, id storage.StoreID, last uint64, value func(uint64) string) error {
	h, err := n.Acquire(id)
	if err != nil {
		return err
	}
	defer h.Release()
	if h.Applied() < last {
		return fmt.Errorf("%v is at entry %d of %d: %w", id, h.Applied(), last, errSilent)
	}
	for i := uint64(1); i <= last; i++ {
		v, ok, err := h.GetRaw(setting(id, fmt.Sprint(i)))
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				return fmt.Errorf("%w: %w", errSilent, err)
			}
			return fmt.Errorf("%v: %w", id, err)
		}
		if !ok || string(v) != value(i) {
			return fmt.Errorf("%v, record %d: %w", id, i, errSilent)
		}
	}
	return nil
}

// files lists the paths of all files below a directory.
func files(t *testing.T, fs vfs.FS, dir string) []string {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			found = append(found, files(t, fs, path)...)
		} else if info.Size() > 0 {
			found = append(found, path)
		}
	}
	return found
}

func content(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return raw
}

func flip(t *testing.T, disk *storagetest.Disk, path string, at int, bits byte) {
	t.Helper()
	disk.Flip(t, path, func([]byte) int { return at }, bits)
}

var walName = regexp.MustCompile(`/([0-9]+)\.log$`)

// No store's write-ahead log is ever written in the format without sync offsets: not the
// first one of a new directory, not that of a store made of a backup's parts, and not
// after a start on a directory of a version that began with it.
func TestEveryWriteAheadLogHasSyncOffsets(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	for round := range 2 {
		n, _ := openBroken(t, disk)
		for i := range uint64(10) {
			if err := n.Log().Append(1, []storage.LogEntry{entry(uint64(round)*10+i+1, "entry")}); err != nil {
				t.Fatal(err)
			}
		}
		put(t, acquire(t, n, store(0)), uint64(round+1), "a", "1")
		acquire(t, n, storage.MetaStore)
		disk = disk.Crash(100, 1) // nobody compacts this one while it is read
		chunks := 0
		for _, path := range files(t, disk, storagetest.Dir) {
			if m := walName.FindStringSubmatch(path); m != nil {
				chunks += syncChunks(t, path, content(t, disk, path))
			}
		}
		if chunks < 10 {
			t.Errorf("round %d: %d chunks found", round, chunks)
		}
	}
}

// syncChunks walks through a log of one block and returns how many chunks it has.
func syncChunks(t *testing.T, path string, raw []byte) (n int) {
	t.Helper()
	for at := 0; at+11 <= min(len(raw), 32<<10); n++ {
		sum, size, kind := binary.LittleEndian.Uint32(raw[at:]), int(binary.LittleEndian.Uint16(raw[at+4:])), raw[at+6]
		if sum == 0 && size == 0 {
			return n // the end of the log
		}
		if kind < 9 || kind > 12 {
			t.Errorf("%s: chunk of type %d at byte %d", path, kind, at)
			return n
		}
		at += 19 + size
	}
	return n
}

// A log without a ledger, of a version that had none or after a power failure: a flipped
// bit is found in any entry, in the last one, too, and where Pebble does not look, within
// the last block. And damage of any size is found in front of what was synced later.
func TestDamageIsFoundWithoutALedger(t *testing.T) {
	t.Parallel()
	disk, intact := manySyncs(t)
	disk = disk.Crash(100, 1)
	if err := disk.Remove(storagetest.Dir + "/log/LEDGER"); err != nil {
		t.Fatal(err)
	}
	var log string
	for _, path := range files(t, disk, storagetest.Dir) {
		if walName.MatchString(path) {
			log = path
		}
	}
	raw := content(t, disk, log)
	const last = 2 * (700 + 100) // two entries: nothing behind them says that they were synced
	for bit := range 7 {
		for at := bit; at < len(raw); at += storagetest.LessUnderRace(t, 1009, 5009) {
			refused(t, disk, intact, log, at, 1<<bit)
		}
		refused(t, disk, intact, log, len(raw)-1-bit, 1<<bit)
		refused(t, disk, intact, log, len(raw)-700-19-bit, 1<<bit)
	}
	for at := 0; at < len(raw)-last; at += 1999 {
		refused(t, disk, intact, log, at, 0xA5)
	}
	if err := examine(disk, intact); err != nil {
		t.Errorf("undamaged, without a ledger: %v", err)
	}
}

// refused flips bits of a byte and wants it to be refused.
func refused(t *testing.T, disk *storagetest.Disk, intact func(*storage.Node) error, path string, at int, bits byte) {
	t.Helper()
	flipped := disk.Crash(100, 1)
	flip(t, flipped, path, at, bits)
	if err := examine(flipped, intact); !errors.Is(err, storage.ErrCorrupt) || !named(err, path) {
		t.Errorf("bits %#x flipped in byte %d: %v", bits, at, err)
	}
}

// What a power failure leaves is opened, with all that was acknowledged, whatever it has
// kept of what was not: no half-written end is taken for damage.
func TestWhatPowerFailureLeavesIsNoDamage(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	intact := fillNode(t, disk, 0)
	disk = disk.Crash(0, 0)
	for seed := range uint64(30) {
		n, _ := openBroken(t, disk)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			_, last, err := n.Log().Bounds(2)
			for i := last + 1; err == nil; i++ {
				select {
				case <-stop:
					return
				default:
					err = n.Log().Append(2, []storage.LogEntry{entry(i, string(randomBytes(i, 3000)))})
				}
			}
		}()
		acknowledged, err := uint64(0), error(nil)
		for err == nil && acknowledged <= 3*seed {
			_, acknowledged, err = n.Log().Bounds(2)
		}
		crashed := disk.Crash(int(seed%5)*25, seed)
		close(stop)
		<-stopped
		if err != nil {
			t.Fatal(err)
		}
		err = examine(crashed, func(n *storage.Node) error {
			return errors.Join(intact(n), entriesAre(n, 2, acknowledged, func(i uint64) string {
				return string(randomBytes(i, 3000))
			}))
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		disk = crashed.Crash(0, seed)
	}
}
