package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/storage/disk"
	"orgmem/storage/ledger"
)

// The data directory:
//
//	VERSION            the format's number; a newer one is refused
//	LOCK, PID          one process at a time; PID is for the error message only
//	BALLAST            disk space to give back in need
//	log/               Pebble: raft log and stable store of all groups, with WAL
//	stores/meta/       Pebble: the meta group's store
//	stores/ab/<id>-main, <id>-sandbox   Pebble per organization and realm
//	*/LEDGER           in each Pebble directory: how much of its files is on disk
//	trash/             stores under removal; emptied at Open
//	outgoing/          copies for other nodes; deleted at Open
//	incoming/          stores that come from other nodes, in parts
//	ready/             those that are complete; put in their places at Open
//
// Stores are spread over 256 directories by the first byte of the id, so that a
// node with 100,000 organizations has no directory of more than some hundreds.
const (
	formatVersion = 1
	versionFile   = "VERSION"
	versionPrefix = "orgmem data format "
	lockFile      = "LOCK"
	pidFile       = "PID"
	ballastFile   = "BALLAST"
	logDir        = "log"
	storesDir     = "stores"
	trashDir      = "trash"
	outgoingDir   = "outgoing"
	incomingDir   = "incoming"
	readyDir      = "ready"
)

var (
	// ErrLocked says that another process has the data directory open.
	ErrLocked = errors.New("data directory is in use")
	// ErrNotWritable says that nothing can be written into the data directory: its file
	// system is read-only, or it belongs to somebody else.
	ErrNotWritable = errors.New("data directory cannot be written to (mounted read-only, or owned by another user?)")
	// ErrIncompatible says that a newer version wrote the data directory.
	ErrIncompatible = errors.New("data directory has an incompatible format")
)

// layout names and makes the files of a data directory.
type layout struct {
	fs  vfs.FS
	dir string
}

func (l layout) path(elem ...string) string {
	return l.fs.PathJoin(append([]string{l.dir}, elem...)...)
}

func (l layout) store(id StoreID) string {
	if id == MetaStore {
		return l.path(storesDir, "meta")
	}
	name := id.String()
	return l.path(storesDir, name[:2], name)
}

// asNotWritable adds ErrNotWritable to an error of making or opening a file that says so:
// other failures, like too many open files, are not mended where that one is looked for.
func asNotWritable(err error) error {
	if _, opening := errors.AsType[*fs.PathError](err); opening &&
		(errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)) {
		return fmt.Errorf("%w: %w", ErrNotWritable, err)
	}
	return err
}

// heldByAnother reports whether a file was opened and its lock refused because somebody
// has it. POSIX has two codes for that; Pebble has words of its own for this process.
func heldByAnother(err error) bool {
	if _, opening := errors.AsType[*fs.PathError](err); opening {
		return false
	}
	code, ok := errors.AsType[syscall.Errno](err)
	return !ok || code == syscall.EAGAIN || code == syscall.EACCES
}

// lock takes the directory for this process. It returns ErrLocked when another
// one has it, naming the directory and, when it can be read, the process.
func (l layout) lock() (io.Closer, error) {
	c, err := l.fs.Lock(l.path(lockFile))
	if err != nil && !heldByAnother(err) {
		return nil, fmt.Errorf("lock data directory: %w", asNotWritable(err))
	}
	if err != nil {
		holder := "another process"
		if b, perr := disk.ReadFile(l.fs, l.path(pidFile)); perr == nil {
			if pid, perr := strconv.Atoi(strings.TrimSpace(string(b))); perr == nil {
				holder = fmt.Sprintf("process %d", pid)
			}
		}
		return nil, fmt.Errorf("%w: %s is held by %s; stop it first, or choose another directory (%w)",
			ErrLocked, l.dir, holder, err)
	}
	// The PID file is a courtesy and not synced; the lock is the lock. It is a
	// file of its own because closing any descriptor of a POSIX-locked file
	// releases the lock.
	if err := disk.WriteUnsynced(l.fs, l.path(pidFile), strconv.Itoa(os.Getpid())+"\n"); err != nil {
		return nil, errors.Join(asNotWritable(err), c.Close())
	}
	return c, nil
}

// checkVersion writes the format's number into a new directory, and refuses one
// that a newer version has written.
func (l layout) checkVersion() error {
	b, err := disk.ReadFile(l.fs, l.path(versionFile))
	if errors.Is(err, os.ErrNotExist) {
		// A directory with data but no VERSION is not ours: its creation wrote
		// VERSION before anything else.
		if _, serr := l.fs.Stat(l.path(logDir)); serr == nil {
			return fmt.Errorf("%w: %s has no %s file", ErrIncompatible, l.dir, versionFile)
		}
		return disk.WriteFile(l.fs, l.dir, versionFile, []byte(versionPrefix+strconv.Itoa(formatVersion)+"\n"))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", versionFile, err)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(b)), versionPrefix)
	v, err := strconv.Atoi(text)
	if !ok || err != nil {
		return fmt.Errorf("%w: %s is not readable", ErrIncompatible, l.path(versionFile))
	}
	if v > formatVersion {
		return fmt.Errorf("%w: %s has format %d, this version reads up to %d; use a newer orgmem",
			ErrIncompatible, l.dir, v, formatVersion)
	}
	return nil
}

// checkLog refuses a directory whose log is not there while stores are: they would go on
// as if nothing had been acknowledged since they were last flushed.
func (l layout) checkLog() error {
	names, err := l.fs.List(l.path(logDir))
	if err != nil {
		return fmt.Errorf("list %s: %w", logDir, err)
	}
	if slices.ContainsFunc(names, ledger.IsManifest) {
		return nil
	}
	ids, err := l.stores()
	if err != nil || len(ids) == 0 {
		return err
	}
	return ledger.Damaged(l.path(logDir), "there is no log in it, and there are stores that were written by one")
}

// emptyTrash finishes removals that a crash cut short.
func (l layout) emptyTrash() error {
	names, err := l.fs.List(l.path(trashDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", trashDir, err)
	}
	for _, name := range names {
		if err := l.fs.RemoveAll(l.path(trashDir, name)); err != nil {
			return fmt.Errorf("empty %s: %w", trashDir, err)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return disk.SyncDir(l.fs, l.path(trashDir))
}

// remove deletes a store's directory so that a crash leaves it whole or gone:
// it is renamed into the trash, which Open empties.
func (l layout) remove(id StoreID) error {
	from := l.store(id)
	if _, err := l.fs.Stat(from); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := disk.MakeDir(l.fs, l.path(trashDir)); err != nil {
		return err
	}
	to := l.path(trashDir, id.String())
	if err := l.fs.RemoveAll(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %v: %w", id, err)
	}
	if err := l.fs.Rename(from, to); err != nil {
		return fmt.Errorf("remove %v: %w", id, err)
	}
	if err := errors.Join(disk.SyncDir(l.fs, l.fs.PathDir(from)), disk.SyncDir(l.fs, l.path(trashDir))); err != nil {
		return err
	}
	if err := l.fs.RemoveAll(to); err != nil {
		return fmt.Errorf("remove %v: %w", id, err)
	}
	return disk.SyncDir(l.fs, l.path(trashDir))
}

// stores lists what is on disk, in no particular order.
func (l layout) stores() ([]StoreID, error) {
	var ids []StoreID
	shelves, err := l.fs.List(l.path(storesDir))
	if err != nil {
		return nil, fmt.Errorf("list stores: %w", err)
	}
	for _, shelf := range shelves {
		if shelf == MetaStore.String() {
			ids = append(ids, MetaStore)
			continue
		}
		names, err := l.fs.List(l.path(storesDir, shelf))
		if err != nil {
			return nil, fmt.Errorf("list stores: %w", err)
		}
		for _, name := range names {
			id, err := ParseStoreID(name)
			if err != nil {
				return nil, fmt.Errorf("list stores: %w", err)
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (l layout) exists(id StoreID) (bool, error) {
	_, err := l.fs.Stat(l.store(id))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %v: %w", id, err)
	}
	return true, nil
}
