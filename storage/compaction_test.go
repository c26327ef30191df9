package storage_test

import (
	"fmt"
	"sync"
	"testing"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Many stores at once, each written so often that it must compact again and
// again, share a few places: every one of them gets its turn, so none stalls,
// and closing in the middle waits for what runs.
func TestStoresShareCompactions(t *testing.T) {
	disk := storagetest.NewDisk()
	o, _ := disk.Options()
	o.MaxOpenStores = 16
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	const orgs, rounds = 16, 30
	var wg sync.WaitGroup
	for i := range orgs {
		wg.Go(func() {
			h := acquire(t, n, store(i))
			defer h.Release()
			for r := range uint64(rounds) {
				// Overlapping tables: without compactions the twelfth stops
				// writes for good.
				put(t, h, r+1, fmt.Sprint(r%3), string(randomBytes(r, 2000)))
				if err := h.Flush(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	after := disk.Crash(0, 0).Node(t)
	for i := range 8 {
		h := acquire(t, after, store(i))
		if h.Applied() != rounds {
			t.Errorf("store %d: applied %d", i, h.Applied())
		}
	}
}
