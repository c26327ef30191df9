package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func TestWriteAndReadBack(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	if lease.Epoch == 0 || lease.Version != 0 {
		t.Fatalf("lease of a new store is %+v", lease)
	}
	lease = s.write(id, lease, "a", "1")
	s.write(id, lease, "b", "2")
	s.wantRows(id, map[string]string{"a": "1", "b": "2"})
	if again := s.open(id); again.Version != 2 || again.Epoch <= lease.Epoch {
		t.Errorf("second OPEN gave %+v after %+v", again, lease)
	}
}

func TestSecondOpenFencesTheFirst(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	first := s.write(id, s.open(id), "a", "first")
	second := s.open(id)
	// The old holder does not know, and its expected version is even right.
	_, err := s.host.Propose(t.Context(), id, first, put(id, "a", "stale"))
	if !errors.Is(err, wire.ErrFenced) || errors.Is(err, wire.ErrOutcomeUnknown) || errors.Is(err, wire.ErrNotApplied) {
		t.Fatalf("stale lease: %v", err)
	}
	s.write(id, second, "b", "second")
	s.wantRows(id, map[string]string{"a": "first", "b": "second"})
}

func TestPipelineKeepsOrder(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	const n = 300
	answers := make(chan string, n)
	for i := range n {
		err := s.host.ProposeAsync(t.Context(), id, lease, put(id, "last", fmt.Sprint(i)), func(version uint64, err error) {
			answers <- fmt.Sprint(version, err)
		})
		if err != nil {
			t.Fatal(err)
		}
		lease = lease.Next()
	}
	for i := range n {
		if got, want := <-answers, fmt.Sprint(i+1, error(nil)); got != want {
			t.Fatalf("answer %d is %s, want %s", i, got, want)
		}
	}
	s.wantRows(id, map[string]string{"last": fmt.Sprint(n - 1)})
}

func TestGapInPipelineIsRefused(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	missing := lease.Next() // its predecessor was never proposed
	if _, err := s.host.Propose(t.Context(), id, missing, put(id, "b", "2")); !errors.Is(err, wire.ErrFenced) {
		t.Fatalf("write behind a gap: %v", err)
	}
	s.write(id, lease, "a", "1")
	s.wantRows(id, map[string]string{"a": "1"})
}

func TestBusyIsRefused(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	release := s.hold(id)
	var acks atomic.Int64
	done := make(chan struct{})
	for range maxGroupInFlight {
		err := s.host.ProposeAsync(t.Context(), id, lease, put(id, "a", "1"), func(_ uint64, err error) {
			if err != nil {
				t.Error(err)
			}
			if acks.Add(1) == maxGroupInFlight {
				close(done)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		lease = lease.Next()
	}
	err := s.host.ProposeAsync(
		t.Context(), id, lease, put(id, "b", "1"), func(uint64, error) { t.Error("done of a refused proposal") },
	)
	if !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, wire.ErrBusy) {
		t.Fatalf("one too many: %v", err)
	}
	if n := s.host.Stats().Busy; n != 1 {
		t.Errorf("%d busy refusals were counted", n)
	}
	release()
	<-done
	s.write(id, lease, "b", "2") // the refused one left no gap
	s.wantRows(id, map[string]string{"a": "1", "b": "2"})
}

func TestBusyByBytes(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	release := s.hold(id)
	s.host.shard(id).maxBytes = 1 << 20
	big := string(make([]byte, 400<<10))
	answered := make(chan error, 2)
	for range cap(answered) {
		if err := s.host.ProposeAsync(
			t.Context(), id, lease, put(id, "a", big), func(_ uint64, err error) { answered <- err },
		); err != nil {
			t.Fatal(err)
		}
		lease = lease.Next()
	}
	if err := s.host.ProposeAsync(
		t.Context(), id, lease, put(id, "a", big), func(uint64, error) {},
	); !errors.Is(err, wire.ErrBusy) {
		t.Errorf("more bytes than the group may have in flight: %v", err)
	}
	release()
	for range cap(answered) {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
	if n := s.host.inFlightBytes.Load(); n != 0 {
		t.Errorf("%d bytes still counted as in flight", n)
	}
}

func TestLargestCommand(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	id := mainStore(0)
	lease := s.open(id)
	b := storage.NewBatch(id)
	size := storagetest.LessUnderRace(t, storage.MaxBatchBytes-1024, 2<<20) // the full size would take a minute
	value := make([]byte, size)
	value[size-1] = 7
	b.PutRaw(row(id, "big"), value)
	if _, err := s.host.Propose(t.Context(), id, lease, b); err != nil {
		t.Fatal(err)
	}
	again := start(t, s.crash())
	if got := again.rows(id)["big"]; got != string(value) {
		t.Errorf("after a crash the value has %d bytes, want %d, or others", len(got), len(value))
	}
	b = storage.NewBatch(id)
	b.PutRaw(row(id, "big"), make([]byte, storage.MaxBatchBytes+1))
	if _, err := s.host.Propose(t.Context(), id, lease, b); !errors.Is(err, wire.ErrNotApplied) ||
		!errors.Is(err, storage.ErrBatchTooLarge) {
		t.Errorf("too large a batch: %v", err)
	}
}

func TestWrongStoresAreRefused(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	for _, id := range []storage.StoreID{{}, storage.MetaStore, {Org: org(0)}} {
		if _, err := s.host.OpenStore(t.Context(), id); !errors.Is(err, storage.ErrBadStoreID) ||
			!errors.Is(err, wire.ErrNotApplied) {
			t.Errorf("open %v: %v", id, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a batch of another organization was accepted")
		}
	}()
	id := mainStore(0)
	_, _ = s.host.Propose(t.Context(), id, s.open(id), put(mainStore(1), "a", "1"))
}

// TestDeadlineIsUnknown: a proposal whose caller has given up may still land.
// OPEN comes behind it in the log, so whoever opens again sees what became of
// it, and it can never land afterwards.
func TestDeadlineIsUnknown(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	release := s.hold(id)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	last := s.status(id).Last
	go func() {
		_, err := s.host.Propose(ctx, id, lease, put(id, "a", "1"))
		failed <- err
	}()
	clustertest.WaitFor(t, func() bool { return s.status(id).Last > last }) // it is in the log
	cancel()
	if err := <-failed; !errors.Is(err, wire.ErrOutcomeUnknown) || errors.Is(err, wire.ErrNotApplied) {
		t.Fatalf("after the deadline: %v", err)
	}
	release()
	if again := s.open(id); again.Version != 1 {
		t.Errorf("the entry was in the log before OPEN, so it is applied; version is %d", again.Version)
	}
	s.wantRows(id, map[string]string{"a": "1"})

	if _, err := s.host.Propose(ctx, id, lease, put(id, "a", "2")); !errors.Is(err, wire.ErrNotApplied) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestNoSpaceRefusesBeforeTheLog(t *testing.T) {
	var free atomic.Uint64
	free.Store(1 << 30)
	now := clock.NewFake(time.Unix(1_700_000_000, 0))
	s := start(t, storagetest.NewDisk(), func(_ *Config, o *storage.Options) {
		o.MinFreeBytes, o.Clock = 1<<20, now
		o.FreeSpace = func(string) (uint64, error) { return free.Load(), nil }
	})
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	last := s.status(id).Last

	free.Store(1 << 10)
	now.Advance(time.Minute) // storage looks at most once a second
	_, err := s.host.Propose(t.Context(), id, lease, put(id, "b", "2"))
	if !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("on a full disk: %v", err)
	}
	if now := s.status(id).Last; now != last {
		t.Errorf("the log grew from %d to %d on a full disk", last, now)
	}
	s.wantRows(id, map[string]string{"a": "1"}) // reading goes on
	if cold, err := s.host.OpenStore(t.Context(), mainStore(1)); err != nil || cold.Epoch == 0 {
		t.Errorf("open for reading on a full disk: %v", err)
	}
	if err := s.host.Directory().PutOrg(t.Context(), orgEntry(1, "one")); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("new organization on a full disk: %v", err)
	}
	if err := s.host.Ready(); err != nil {
		t.Errorf("a full disk made the host %v", err)
	}

	free.Store(1 << 30)
	now.Advance(time.Minute)
	s.write(id, lease, "b", "2") // without a restart, and with the same lease
	s.wantRows(id, map[string]string{"a": "1", "b": "2"})
}

// TestWhatIsDecidedIsFinishedBelowTheWatermark, with the lease that a refused write leaves
// good; down to a quarter of it.
func TestWhatIsDecidedIsFinishedBelowTheWatermark(t *testing.T) {
	var free atomic.Uint64
	free.Store(1 << 30)
	now := clock.NewFake(time.Unix(1_700_000_000, 0))
	s := start(t, storagetest.NewDisk(), func(_ *Config, o *storage.Options) {
		o.MinFreeBytes, o.Clock = 1<<20, now
		o.FreeSpace = func(string) (uint64, error) { return free.Load(), nil }
	})
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	finish := func(lease Lease) error {
		answered := make(chan error, 1)
		err := s.host.FinishAsync(t.Context(), id, lease, put(id, "a", "2"), func(_ uint64, err error) { answered <- err })
		if err != nil {
			return err
		}
		return <-answered
	}
	free.Store(1 << 18)
	now.Advance(time.Minute) // storage looks at most once a second
	if _, err := s.host.Propose(t.Context(), id, lease, put(id, "b", "1")); !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("a new write below the watermark: %v", err)
	}
	if err := finish(lease); err != nil {
		t.Fatalf("below the watermark: %v", err)
	}
	free.Store(1<<18 - 1)
	now.Advance(time.Minute)
	if err := finish(lease.Next()); !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("below a quarter of the watermark: %v", err)
	}
	s.wantRows(id, map[string]string{"a": "2"})
}

// TestCloseAnswersEverybody: raft leaves entries unanswered when it shuts down;
// the host does not.
func TestCloseAnswersEverybody(t *testing.T) {
	for round := range 8 {
		disk := storagetest.NewDisk()
		s := start(t, disk)
		id := mainStore(round)
		lease := s.open(id)
		started, ended := make(chan struct{}), make(chan int)
		go func() {
			acked := 0
			answers := make(chan error, 4*maxGroupInFlight)
			proposed := 0
			for {
				err := s.host.ProposeAsync(
					t.Context(), id, lease, put(id, fmt.Sprint(proposed), "1"), func(_ uint64, err error) { answers <- err },
				)
				if errors.Is(err, wire.ErrClosed) {
					break
				}
				if errors.Is(err, wire.ErrBusy) {
					if <-answers == nil {
						acked++
					}
					proposed--
					lease.Version--
				} else if err != nil {
					t.Error(err)
					break
				}
				if proposed == 3 {
					close(started)
				}
				proposed++
				lease = lease.Next()
				for len(answers) > maxGroupInFlight {
					if <-answers == nil {
						acked++
					}
				}
			}
			for acked < proposed {
				if err := <-answers; err != nil {
					t.Error("a proposal that Close accepted was not applied:", err)
				}
				acked++
			}
			ended <- acked
		}()
		<-started
		s.stop()
		acked := <-ended
		again := start(t, disk)
		if n := len(again.rows(id)); n != acked {
			t.Errorf("round %d: %d rows after %d acknowledgements", round, n, acked)
		}
		if _, err := s.host.OpenStore(t.Context(), id); !errors.Is(err, wire.ErrNotApplied) {
			t.Errorf("closed host: %v", err)
		}
		again.stop()
	}
}
