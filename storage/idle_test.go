package storage_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestIdleStoresAreClosed: what nobody has held for long leaves memory and loses
// nothing; what is held, or was released a moment ago, stays.
func TestIdleStoresAreClosed(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_800_000_000, 0))
	o, _ := storagetest.NewDisk().Options()
	o.Clock, o.MaxOpenStores, o.IdleStore = fake, 64, time.Minute
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	const stores = 40
	for i := range stores {
		h := acquire(t, n, store(i))
		put(t, h, 1, "number", fmt.Sprint(i))
		h.Release()
	}
	held := acquire(t, n, store(7))
	fake.Advance(40 * time.Second)
	late := acquire(t, n, store(8))
	late.Release()
	fake.Advance(30 * time.Second) // store 8 was released 30 s ago, all others 70 s
	const pause = 100 * time.Millisecond
	for n.Stats().OpenStores > 2 { // a sweep closes some, and the next comes after a pause
		if fake.WaitersIn(pause) > 0 {
			fake.Advance(pause)
		}
		runtime.Gosched()
	}
	if st := n.Stats(); st.OpenStores != 2 || st.HeldStores != 1 || st.Rests != stores-2 || st.Evictions != 0 {
		t.Errorf("%+v", st)
	}
	put(t, held, 2, "number", "seven")
	held.Release()
	for i := range stores {
		h := acquire(t, n, store(i))
		want := fmt.Sprint(i)
		if i == 7 {
			want = "seven"
		}
		if got := get(t, h, setting(store(i), "number")); got != want {
			t.Errorf("store %d holds %q", i, got)
		}
		h.Release()
	}
}

// TestManyOpenStoresRestSooner: with many open, one that was released is closed within
// seconds; the last few stay for as long as the option says.
func TestManyOpenStoresRestSooner(t *testing.T) {
	t.Parallel()
	fake := clock.NewFake(time.Unix(1_800_000_000, 0))
	o, _ := storagetest.NewDisk().Options()
	o.Clock, o.MaxOpenStores, o.IdleStore = fake, 64, 2*time.Minute
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeNode(t, n)
	const stores, few = 64, 16
	for i := range stores {
		acquire(t, n, store(i)).Release()
	}
	const pause = 100 * time.Millisecond
	settle := func(open int) {
		t.Helper()
		for n.Stats().OpenStores > open {
			if fake.WaitersIn(pause) > 0 {
				fake.Advance(pause)
			}
			runtime.Gosched()
		}
	}
	fake.Advance(29 * time.Second) // less than a quarter of the time, with four times as many
	if got := n.Stats().OpenStores; got != stores {
		t.Errorf("%d stores are open, want %d", got, stores)
	}
	fake.Advance(31 * time.Second)
	settle(stores / 2)
	fake.Advance(50 * time.Second)
	settle(few + 2) // 110 seconds and some pauses are as much as so many may rest
	if got := n.Stats().OpenStores; got < few {
		t.Errorf("%d stores are open: the last %d may rest for two minutes", got, few)
	}
}
