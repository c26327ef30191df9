package disk

import (
	"errors"
	"fmt"
	"syscall"
)

const (
	// openFilesPerStore is what an open store holds beside its tables: lock,
	// manifest, directory, format markers, ledger.
	openFilesPerStore = 7
	// filesPerStore is that and as many of its tables.
	filesPerStore = 2 * openFilesPerStore
	// reservedFiles are left to everything that is not storage: connections,
	// listeners, the log. Where the limit is less than twice as much it is half of it.
	reservedFiles = 2048
	// logFiles are what the log holds, and the directory's lock.
	logFiles = 16
	// leastFiles is the least limit that a node starts with: four stores, and some
	// thirty connections.
	leastFiles = 128
	// leastStores may be open with that: the directory's, and some organizations'.
	leastStores = 4
	// FileCacheShards is the shards of that cache: more only cost memory on a node with a few cores.
	FileCacheShards = 8
	// minFileCache and maxFileCache bound the shared cache of open tables.
	minFileCache, maxFileCache = 2 * FileCacheShards, 16_384
)

// ErrTooFewFiles says that the process may open too few files to do anything.
var ErrTooFewFiles = errors.New("the limit of open files is too low")

// RaiseFileLimit raises the process's soft limit of descriptors to the hard one
// and returns it. A node that opens a few hundred stores is beyond the usual
// soft limit of 1,024. ErrTooFewFiles where that is no limit to live with: what would
// come of it, somewhere and at some time, would name no cause.
func RaiseFileLimit() (uint64, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("read descriptor limit: %w", err)
	}
	if r.Cur < r.Max {
		raised := syscall.Rlimit{Cur: r.Max, Max: r.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
			r = raised
		}
		// Refused (some sandboxes do): the soft limit stands, and StoresFor
		// makes the best of it.
	}
	return r.Cur, CheckFiles(r.Cur)
}

// CheckFiles returns ErrTooFewFiles for a limit of descriptors that no node starts with.
func CheckFiles(descriptors uint64) error {
	if descriptors < leastFiles {
		return fmt.Errorf("%w: %d, and the least is %d: raise it (ulimit -n, or LimitNOFILE of a unit)", ErrTooFewFiles,
			descriptors, leastFiles)
	}
	return nil
}

// Descriptors returns how many file descriptors a process wants that may hold so many
// stores open: with as many StoresFor allows them all.
func Descriptors(stores int) uint64 { return reservedFiles + filesPerStore*uint64(max(stores, 0)) }

// StoresFor returns how many stores fit under a descriptor limit.
func StoresFor(descriptors uint64) int {
	if descriptors < 2*reservedFiles {
		return max(leastStores, (int(descriptors)/2-logFiles)/filesPerStore)
	}
	return int(min((descriptors-reservedFiles)/filesPerStore, 1<<20))
}

// FileCacheSize returns how many tables the shared cache may hold open under a descriptor
// limit beside so many stores.
func FileCacheSize(descriptors uint64, stores int) int {
	left := int64(min(descriptors, 1<<30)) - reservedFiles
	if descriptors < 2*reservedFiles {
		left = int64(descriptors)/2 - logFiles
	}
	return int(min(max(left-int64(stores)*openFilesPerStore, minFileCache), maxFileCache))
}

// Connections returns how many connections may be open under a descriptor limit beside so
// many stores: half of what is left. The other half is for what a request may open in
// turn, and for other nodes.
func Connections(descriptors uint64, stores int) int {
	stores = min(stores, StoresFor(descriptors))
	descriptors = min(descriptors, 1<<30)
	return (int(descriptors) - logFiles - stores*openFilesPerStore - FileCacheSize(descriptors, stores)) / 2
}
