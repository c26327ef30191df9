package storagetest_test

import (
	"fmt"
	"sync"
	"testing"

	"orgmem/storage/storagetest"
)

// TestCrashWhileDirectoriesAreLocked takes crash images of a disk on which
// stores are being opened. Pebble's MemFS alone blocks here for ever.
func TestCrashWhileDirectoriesAreLocked(t *testing.T) {
	const rounds = 20_000
	disk := storagetest.NewDisk()
	if err := disk.MkdirAll(storagetest.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			name := disk.PathJoin(storagetest.Dir, fmt.Sprintf("LOCK%d", i))
			for range rounds {
				lock, err := disk.Lock(name)
				if err != nil {
					t.Error(err)
					return
				}
				if err := lock.Close(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for i := range rounds {
			if disk.Crash(0, uint64(i)) == nil {
				t.Error("no image")
			}
		}
	})
	wg.Wait()
}
