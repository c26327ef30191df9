package storage

import (
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
	// listeners, the log.
	reservedFiles = 2048
	// fileCacheShards: more only cost memory on a node with a few cores.
	fileCacheShards = 8
	// minFileCache and maxFileCache bound the shared cache of open tables.
	minFileCache, maxFileCache = 256, 16_384
)

// raiseFileLimit raises the process's soft limit of descriptors to the hard one
// and returns it. A node that opens a few hundred stores is beyond the usual
// soft limit of 1,024.
func raiseFileLimit() (uint64, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("read descriptor limit: %w", err)
	}
	if r.Cur < r.Max {
		raised := syscall.Rlimit{Cur: r.Max, Max: r.Max}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised); err == nil {
			r = raised
		}
		// Refused (some sandboxes do): the soft limit stands, and storesFor
		// makes the best of it.
	}
	return r.Cur, nil
}

// Descriptors returns how many file descriptors a process wants that may hold so many
// stores open: with as many storesFor allows them all.
func Descriptors(stores int) uint64 { return reservedFiles + filesPerStore*uint64(max(stores, 0)) }

// storesFor returns how many stores fit under a descriptor limit, at least a
// few: with a limit that low, Pebble's own errors will name the cause.
func storesFor(descriptors uint64) int {
	if descriptors < 2*reservedFiles {
		return max(8, int(descriptors)/(2*filesPerStore))
	}
	return int(min((descriptors-reservedFiles)/filesPerStore, 1<<20))
}

func fileCacheSize(descriptors uint64, stores int) int {
	left := int64(min(descriptors, 1<<30)) - reservedFiles - int64(stores)*openFilesPerStore
	return int(min(max(left, minFileCache), maxFileCache))
}
