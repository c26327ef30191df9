package disk

import (
	"errors"
	"testing"
)

// TestDescriptors: what doctor asks for is what the stores need, and no more where a
// node is not small.
func TestDescriptors(t *testing.T) {
	for _, stores := range []int{0, 1, 8, 100, 170, 171, 256, 1000, 4096, 100_000} {
		n := Descriptors(stores)
		if got := StoresFor(n); got < stores {
			t.Errorf("%d descriptors for %d stores are enough for %d", n, stores, got)
		}
		if got := StoresFor(n - 1); stores > 2*reservedFiles/filesPerStore && got >= stores {
			t.Errorf("%d descriptors for %d stores, and one fewer is enough for %d", n, stores, got)
		}
		if cache := int64(FileCacheSize(n, stores)); cache < minFileCache {
			t.Errorf("%d tables are cached", cache)
		}
	}
}

// TestFilesAreShared: stores, tables, the log and connections together stay below every
// limit that a node starts with, and each of them gets something.
func TestFilesAreShared(t *testing.T) {
	for n := uint64(1); n < 1<<21; n += 1 + n/50 {
		if err := CheckFiles(n); (err != nil) != (n < leastFiles) || err != nil && !errors.Is(err, ErrTooFewFiles) {
			t.Fatalf("%d files: %v", n, err)
		}
		if n < leastFiles {
			continue
		}
		for _, wanted := range []int{1, 8, 256, 100_000} {
			stores := min(wanted, StoresFor(n))
			connections := Connections(n, wanted)
			taken := stores*openFilesPerStore + FileCacheSize(n, stores) + logFiles + connections
			if taken > int(n)-connections || connections < 24 || stores < min(wanted, leastStores) {
				t.Fatalf("%d files: %d stores, %d tables, %d connections", n, stores, FileCacheSize(n, stores), connections)
			}
		}
	}
}
