package storage

import "testing"

// TestDescriptors: what doctor asks for is what the stores need, and no more where a
// node is not small.
func TestDescriptors(t *testing.T) {
	for _, stores := range []int{0, 1, 8, 100, 170, 171, 256, 1000, 4096, 100_000} {
		n := Descriptors(stores)
		if got := storesFor(n); got < stores {
			t.Errorf("%d descriptors for %d stores are enough for %d", n, stores, got)
		}
		if got := storesFor(n - 1); stores > 2*reservedFiles/filesPerStore && got >= stores {
			t.Errorf("%d descriptors for %d stores, and one fewer is enough for %d", n, stores, got)
		}
		if cache := int64(fileCacheSize(n, stores)); cache < minFileCache {
			t.Errorf("%d tables are cached", cache)
		}
	}
}
