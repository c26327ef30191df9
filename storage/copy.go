package storage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/storage/disk"
	"orgmem/storage/ledger"
)

// A store moves to another node as the files of a checkpoint. The source makes
// one (Node.Copy): hard links, so it takes milliseconds and no space, and what is
// written meanwhile does not disturb it. The other node collects the files in a
// directory of its own (Node.Stage), which survives restarts, and puts them in the
// store's place at once when all are there and proven (Stage.Adopt).
//
// Nothing has to be remembered on either side for a transfer to go on where it was
// interrupted: tables never change and keep their names, so whatever the next
// checkpoint still has under the same name, size and sum need not be sent again,
// and of a file that was cut off only the rest.

var (
	// ErrChecksum says that a received file is not the one that was announced. It
	// was deleted.
	ErrChecksum = errors.New("received file has a wrong checksum")
	// ErrStaleCopy says that a received store lacks entries that it must hold.
	ErrStaleCopy = errors.New("received store is older than it must be")
	// errBadFileName says that an announced file has no name that Pebble gives.
	errBadFileName = errors.New("file name of a copy")
)

// maxCopyFiles bounds the files of one store: at 2 MiB a table, which is Pebble's
// target on the upper levels and half of its target below, 128 GiB.
const maxCopyFiles = 64 << 10

// copyChunk is how much of a file is read into memory at a time.
const copyChunk = 256 << 10

// CopyFile is one file of a copy.
type CopyFile struct {
	Name string
	Size int64
	Sum  [sha256.Size]byte
}

// fileNames are the names that Pebble gives. Anything else, a path above all,
// must not be made from what another node says.
var fileNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// check refuses what Pebble would not have made.
func (f CopyFile) check() error {
	if !fileNames.MatchString(f.Name) || strings.Contains(f.Name, "..") || f.Size < 0 {
		return fmt.Errorf("%q of %d bytes: %w", f.Name, f.Size, errBadFileName)
	}
	return nil
}

// Copy is a consistent copy of one store, for reading.
type Copy struct {
	fs    vfs.FS
	dir   string
	state State
	files []CopyFile
}

// Copy makes a copy of a store as it is now; ErrNoStore when it does not exist. The
// caller closes it. It reads all of the store once, for the sums.
func (n *Node) Copy(ctx context.Context, id StoreID) (*Copy, error) {
	c, err := n.hold(id)
	if err != nil {
		return nil, err
	}
	o := n.storeOptions()
	o.EnsureDefaults()
	if err := c.list(ctx, o); err != nil {
		if errors.Is(err, ErrCorrupt) {
			n.damageFound(id, err)
		}
		return nil, errors.Join(fmt.Errorf("copy %v: %w", id, err), c.Close())
	}
	return c, nil
}

// hold makes a copy whose files nobody has looked at.
func (n *Node) hold(id StoreID) (*Copy, error) {
	store, err := n.acquire(id, n.limits.stores+reserveStores, false)
	if err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	defer store.Release()
	if err := disk.MakeDir(n.disk, n.layout.path(outgoingDir)); err != nil {
		return nil, fmt.Errorf("copy %v: %w", id, err)
	}
	dir := n.layout.path(outgoingDir, fmt.Sprintf("%v.%d", id, n.copies.Add(1)))
	c := &Copy{fs: n.disk, dir: dir}
	if c.state, err = store.checkpoint(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("copy %v: %w", id, err), c.Close())
	}
	return c, nil
}

// list reads the names, sizes and sums. A damaged table is ErrCorrupt: with its sum it
// would reach other nodes as it is.
func (c *Copy) list(ctx context.Context, o *pebble.Options) error {
	names, err := c.fs.List(c.dir)
	if err != nil {
		return err
	}
	if len(names) > maxCopyFiles {
		return fmt.Errorf("store has %d files, limit %d", len(names), maxCopyFiles)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := c.fs.PathJoin(c.dir, name)
		if strings.HasSuffix(name, ".sst") {
			if err := verifyTable(ctx, c.fs, path, o); err != nil {
				return err
			}
		}
		f, err := c.fs.Open(path)
		if err != nil {
			return err
		}
		sum := sha256.New()
		size, err := io.CopyBuffer(sum, onlyReader{f}, make([]byte, copyChunk))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		c.files = append(c.files, CopyFile{Name: name, Size: size, Sum: [sha256.Size]byte(sum.Sum(nil))})
	}
	return nil
}

// onlyReader hides what else a file can do, so that io.CopyBuffer uses its
// buffer.
type onlyReader struct{ io.Reader }

// State returns the store's state in the copy.
func (c *Copy) State() State { return c.state }

// Files returns the copy's files. The caller must not change them.
func (c *Copy) Files() []CopyFile { return c.files }

// Open reads a file of the copy from an offset to its end. The caller closes it.
func (c *Copy) Open(name string, offset int64) (io.ReadCloser, error) {
	for _, f := range c.files {
		if f.Name != name || offset < 0 || offset > f.Size {
			continue
		}
		file, err := c.fs.Open(c.fs.PathJoin(c.dir, name))
		if err != nil {
			return nil, fmt.Errorf("open copied file: %w", err)
		}
		return struct {
			io.Reader
			io.Closer
		}{io.NewSectionReader(file, offset, f.Size-offset), file}, nil
	}
	return nil, fmt.Errorf("%q from %d on: %w", name, offset, errBadFileName)
}

// Close deletes the copy. What Open gave stays readable until it is closed.
func (c *Copy) Close() error {
	if err := c.fs.RemoveAll(c.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete copy: %w", err)
	}
	return nil
}

// Stage is where the files of one store are collected before it takes its place.
// There is one at a time for a store; its caller sees to that.
type Stage struct {
	node *Node
	id   StoreID
	dir  string
}

// Missing is a file that a stage does not have yet, or not all of it.
type Missing struct {
	CopyFile
	Offset int64 // where to go on
}

// Stage returns the place where a store is collected, with what an earlier
// attempt has left in it.
func (n *Node) Stage(id StoreID) (*Stage, error) {
	if err := id.Check(); err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}
	s := &Stage{node: n, id: id, dir: n.layout.incoming(id)}
	if err := disk.MakeDir(n.disk, s.dir); err != nil {
		return nil, fmt.Errorf("stage %v: %w", id, err)
	}
	return s, nil
}

// Want compares what is there with what a source has, deletes what the source
// does not have any more, and returns what is missing. ErrNoSpace when the disk
// has no room for it.
func (s *Stage) Want(files []CopyFile) ([]Missing, error) {
	if len(files) > maxCopyFiles {
		return nil, fmt.Errorf("stage %v: %d files, limit %d", s.id, len(files), maxCopyFiles)
	}
	announced := make(map[string]CopyFile, len(files))
	for _, f := range files {
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("stage %v: %w", s.id, err)
		}
		announced[f.Name] = f
	}
	names, err := s.node.disk.List(s.dir)
	if err != nil {
		return nil, fmt.Errorf("stage %v: %w", s.id, err)
	}
	have := map[string]int64{}
	for _, name := range names {
		f, good := announced[name]
		if good {
			if have[name], good, err = s.proven(f); err != nil {
				return nil, fmt.Errorf("stage %v: %w", s.id, err)
			}
		}
		if !good {
			delete(have, name)
			if err := s.node.disk.Remove(s.path(name)); err != nil {
				return nil, fmt.Errorf("stage %v: %w", s.id, err)
			}
		}
	}
	var missing []Missing
	var bytes int64
	for _, f := range files {
		if at, some := have[f.Name]; !some || at < f.Size {
			missing = append(missing, Missing{CopyFile: f, Offset: at})
			bytes += f.Size - at
		}
	}
	if err := s.node.disk.Room(bytes); err != nil {
		return nil, fmt.Errorf("stage %v: %w", s.id, err)
	}
	return missing, nil
}

// proven returns how many bytes of a staged file can be kept: all of them when
// they have the sum, the beginning when there are fewer; false when none can.
func (s *Stage) proven(f CopyFile) (int64, bool, error) {
	info, err := s.node.disk.Stat(s.path(f.Name))
	if err != nil {
		return 0, false, err
	}
	if size := info.Size(); size != f.Size {
		return size, size < f.Size, nil
	}
	sum := sha256.New()
	if err := s.hash(sum, f.Name, f.Size); err != nil {
		return 0, false, err
	}
	return f.Size, [sha256.Size]byte(sum.Sum(nil)) == f.Sum, nil
}

func (s *Stage) path(name string) string { return s.node.disk.PathJoin(s.dir, name) }

// hash adds the first bytes of a staged file to a sum.
func (s *Stage) hash(sum hash.Hash, name string, size int64) error {
	f, err := s.node.disk.Open(s.path(name))
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(sum, io.NewSectionReader(f, 0, size), make([]byte, copyChunk))
	return errors.Join(err, f.Close())
}

// Receive writes the rest of a missing file from r, which has exactly that much
// to give, and syncs it. When r fails, what came is kept for the next attempt;
// when all came and the sum is wrong (ErrChecksum), nothing is.
func (s *Stage) Receive(m Missing, r io.Reader) error {
	if err := m.check(); err != nil {
		return err
	}
	sum := sha256.New()
	if m.Offset > 0 {
		if err := s.hash(sum, m.Name, m.Offset); err != nil {
			return fmt.Errorf("receive %s: %w", m.Name, err)
		}
	}
	open := func() (vfs.File, error) { return s.node.disk.Create(s.path(m.Name), vfs.WriteCategoryUnspecified) }
	if m.Offset > 0 {
		open = func() (vfs.File, error) {
			return s.node.disk.OpenReadWrite(s.path(m.Name), vfs.WriteCategoryUnspecified)
		}
	}
	f, err := open()
	if err != nil {
		return fmt.Errorf("receive %s: %w", m.Name, err)
	}
	err = s.fill(f, sum, m, r)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("receive %s: %w", m.Name, err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != m.Sum {
		return errors.Join(fmt.Errorf("receive %s: %w", m.Name, ErrChecksum), s.node.disk.Remove(s.path(m.Name)))
	}
	return nil
}

func (s *Stage) fill(f vfs.File, sum hash.Hash, m Missing, r io.Reader) error {
	buf := make([]byte, copyChunk)
	for at := m.Offset; at < m.Size; {
		n, err := io.ReadFull(r, buf[:min(int64(len(buf)), m.Size-at)])
		if n > 0 {
			sum.Write(buf[:n])
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return err
			}
			at += int64(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Adopt puts the collected files in the store's place, which may hold an older
// version of it or nothing. A crash leaves the old one or the new one. They must
// hold all entries up to an index (ErrStaleCopy). Like Remove it returns ErrInUse
// while somebody holds the store; nothing has happened then.
func (s *Stage) Adopt(atLeast uint64) error {
	n := s.node
	if err := disk.SyncDir(n.disk, s.dir); err != nil {
		return fmt.Errorf("adopt %v: %w", s.id, err)
	}
	pending, err := s.examine(atLeast)
	if err != nil {
		return fmt.Errorf("adopt %v: %w", s.id, err)
	}
	if err := ledger.Seal(n.disk, s.dir); err != nil {
		return fmt.Errorf("adopt %v: %w", s.id, err)
	}
	// This node's log may hold what was erased on the way to these files, in entries that are never applied
	// here. And where the files' erasures are not carried out yet, nobody here knows of them.
	note := n.log.noteRemoval
	if pending {
		note = n.log.noteErasure
	}
	if err := note(s.id); err != nil {
		return err
	}
	place, err := n.vacate(s.id, "adopt")
	if err != nil {
		return err
	}
	defer n.open.forget(place)
	if err := n.layout.adopt(s.id); err != nil {
		// The old store may be closed, unflushed, and the new one half in its place:
		// only Open puts that right.
		n.disk.Stop("adopt store %v: %v", s.id, err)
		return err
	}
	n.outages.end(s.id)
	if pending {
		n.eraser.wake()
	}
	return nil
}

// examine opens the collected files as a store, without writing to them.
func (s *Stage) examine(atLeast uint64) (pending bool, err error) {
	o := s.node.storeOptions()
	o.ReadOnly = true
	db, err := pebble.Open(s.dir, o)
	if err != nil {
		return false, wrapPebble("open received store", err)
	}
	st, err := readState(db)
	if err == nil && st.Applied < atLeast {
		err = fmt.Errorf("%w: it ends at entry %d, %d is needed", ErrStaleCopy, st.Applied, atLeast)
	}
	if err == nil {
		var spans []span
		spans, err = (&openStore{id: s.id, node: s.node, db: &instance{DB: db}}).pendingSpans()
		pending = len(spans) > 0
	}
	return pending, errors.Join(err, wrapPebble("close received store", db.Close()))
}

// Discard deletes what was collected.
func (s *Stage) Discard() error { return s.node.layout.discard(s.id) }

// Staged lists the stores of which files are being collected, or were when the
// collection was interrupted.
func (n *Node) Staged() ([]StoreID, error) {
	names, err := n.disk.List(n.layout.path(incomingDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", incomingDir, err)
	}
	var ids []StoreID
	for _, name := range names {
		id, err := ParseStoreID(name)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", incomingDir, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (l layout) incoming(id StoreID) string { return l.path(incomingDir, id.String()) }

func (l layout) discard(id StoreID) error {
	if err := l.fs.RemoveAll(l.incoming(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("discard %v: %w", id, err)
	}
	return nil
}

// adopt moves a collected store into its place. It is decided by one rename, into
// the directory of what is ready; the rest is repeated by the next Open if need
// be.
func (l layout) adopt(id StoreID) error {
	if err := disk.MakeDir(l.fs, l.path(readyDir)); err != nil {
		return err
	}
	if err := l.fs.Rename(l.incoming(id), l.path(readyDir, id.String())); err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	if err := errors.Join(disk.SyncDir(l.fs, l.path(readyDir)), disk.SyncDir(l.fs, l.path(incomingDir))); err != nil {
		return err
	}
	return l.place(id)
}

// place puts a store that is ready where it belongs.
func (l layout) place(id StoreID) error {
	if err := l.remove(id); err != nil {
		return err
	}
	to := l.store(id)
	if err := disk.MakeDir(l.fs, l.fs.PathDir(to)); err != nil {
		return err
	}
	if err := l.fs.Rename(l.path(readyDir, id.String()), to); err != nil {
		return fmt.Errorf("place %v: %w", id, err)
	}
	return errors.Join(disk.SyncDir(l.fs, l.fs.PathDir(to)), disk.SyncDir(l.fs, l.path(readyDir)))
}

// finishCopies finishes the adoptions that a crash cut short, and deletes the
// copies that were made for others.
func (l layout) finishCopies() error {
	ready, err := l.fs.List(l.path(readyDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list %s: %w", readyDir, err)
	}
	for _, name := range ready {
		id, err := ParseStoreID(name)
		if err != nil {
			return fmt.Errorf("list %s: %w", readyDir, err)
		}
		if err := l.place(id); err != nil {
			return err
		}
	}
	if err := l.fs.RemoveAll(l.path(outgoingDir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", outgoingDir, err)
	}
	return nil
}
