package cluster

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/raft"

	"orgmem/cluster/state"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// These tests stop at each gap between two steps of the commit (see
// ProposeAsync), take the disk as a power failure would leave it, and start
// another server on that disk. The first server lives on: what it does later
// must not matter.

// atSync calls f before each sync of a file of the log, or of anything when all
// is set, until the returned func is called.
func atSync(disk *storagetest.Disk, all bool, f func()) (stop func()) {
	disk.FailSync(func(path string) bool {
		if all || strings.Contains(path, "/log/") {
			f()
		}
		return false
	})
	return func() { disk.FailSync(nil) }
}

func TestCrashBeforeLogSync(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	var once sync.Once
	var crashed *storagetest.Disk
	stop := atSync(disk, false, func() { once.Do(func() { crashed = s.crash() }) })
	s.write(id, lease, "b", "2")
	stop()

	again := start(t, crashed)
	again.wantRows(id, map[string]string{"a": "1"}) // b was not acknowledged then
	again.write(id, again.open(id), "c", "3")
	again.wantRows(id, map[string]string{"a": "1", "c": "3"})
}

func TestCrashBeforeApply(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	var crashed *storagetest.Disk
	s.step(id, &stepper{before: func([]state.Entry) { crashed = s.crash() }})
	s.write(id, lease, "a", "1")

	again := start(t, crashed)
	again.wantRows(id, map[string]string{"a": "1"})
	if l := again.open(id); l.Version != 1 {
		t.Errorf("version is %d after one write", l.Version)
	}
}

func TestCrashBeforeAnswer(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	var crashed *storagetest.Disk
	s.step(id, &stepper{after: func([]state.Entry) { crashed = s.crash() }})
	s.write(id, lease, "a", "1")

	// The client was not told, and tries again under a new lease: it must find
	// the first attempt, not be told that it never was.
	again := start(t, crashed)
	if l := again.open(id); l.Version != 1 {
		t.Errorf("version is %d after one write", l.Version)
	}
	again.wantRows(id, map[string]string{"a": "1"})
}

// spread writes rounds rows to each of n stores, and returns what they hold.
func spread(s *server, n, rounds int, between func(round int)) map[storage.StoreID]map[string]string {
	want := map[storage.StoreID]map[string]string{}
	leases := make([]Lease, n)
	for i := range n {
		leases[i] = s.open(mainStore(i))
		want[mainStore(i)] = map[string]string{}
	}
	for r := range rounds {
		for i := range n {
			name := fmt.Sprintf("%04d", r)
			leases[i] = s.write(mainStore(i), leases[i], name, fmt.Sprint(i))
			want[mainStore(i)][name] = fmt.Sprint(i)
		}
		if between != nil {
			between(r)
		}
	}
	return want
}

// missing counts rows that a server has lost, and fails on rows or versions
// that it should not have.
func (s *server) missing(want map[storage.StoreID]map[string]string) int {
	s.t.Helper()
	lost := 0
	for id, rows := range want {
		got := s.rows(id)
		for name, value := range rows {
			if v, ok := got[name]; !ok {
				lost++
			} else if v != value {
				s.t.Errorf("store %v row %s is %q, want %q", id, name, v, value)
			}
		}
		for name := range got {
			if _, ok := rows[name]; !ok {
				s.t.Errorf("store %v has row %s that nobody wrote", id, name)
			}
		}
	}
	return lost
}

// TestCrashAfterApplyReplays is the applied-index trap with log compaction off:
// nothing is in any store's files, everything comes from the log.
func TestCrashAfterApplyReplays(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	want := spread(s, 10, 30, nil)
	again := start(t, s.crash())
	if n := again.missing(want); n > 0 {
		t.Errorf("%d acknowledged rows lost", n)
	}
	for id, rows := range want {
		if l := again.open(id); l.Version != uint64(len(rows)) {
			t.Errorf("store %v has version %d after %d writes", id, l.Version, len(rows))
		}
	}
}

// TestUnevenFlushesReplay: some stores have flushed late entries, their
// neighbours in the shard nothing. An applied index of the whole shard would
// either lose the latter's writes or do the former's twice.
func TestUnevenFlushesReplay(t *testing.T) {
	for _, compact := range []bool{false, true} {
		t.Run(fmt.Sprintf("compaction=%t", compact), func(t *testing.T) {
			s := start(t, storagetest.NewDisk())
			want := spread(s, 10, 30, func(round int) {
				s.flush(mainStore(round % 5)) // the other five never
				if compact && round%7 == 3 {
					s.compact(mainStore(round % 10))
				}
			})
			again := start(t, s.crash())
			if n := again.missing(want); n > 0 {
				t.Errorf("%d acknowledged rows lost", n)
			}
			for id, rows := range want {
				if l := again.open(id); l.Version != uint64(len(rows)) {
					t.Errorf("store %v has version %d after %d writes", id, l.Version, len(rows))
				}
			}
		})
	}
}

// TestReplayIsIdempotent replays a whole log over stores that hold all of it:
// the marker was never written, the stores were flushed.
func TestReplayIsIdempotent(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	lease = s.write(id, lease, "b", "2")
	gone := storage.NewBatch(id)
	gone.Delete(row(id, "a"))
	if _, err := s.host.Propose(t.Context(), id, lease, gone); err != nil {
		t.Fatal(err)
	}
	lease = lease.Next()
	s.write(id, lease, "a", "again")
	s.flush(id)
	if s.status(id).Snapshot != 0 {
		t.Fatal("the log was cut")
	}
	disk := s.crash()
	for range 3 { // and once more over that
		again := start(t, disk)
		again.wantRows(id, map[string]string{"a": "again", "b": "2"})
		if st := again.status(id); st.Applied < 6 {
			t.Errorf("only %d entries were replayed", st.Applied)
		}
		disk = again.crash()
	}
	again := start(t, disk)
	if l := again.open(id); l.Version != 4 {
		t.Errorf("version is %d after 4 writes and 4 replays", l.Version)
	}
}

// TestReplayRefusesWhatWasRefused: a fenced entry lies in the log between
// others; no replay may let it in.
func TestReplayRefusesWhatWasRefused(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	old := s.write(id, s.open(id), "a", "1")
	lease := s.open(id)
	if _, err := s.host.Propose(t.Context(), id, old, put(id, "a", "stale")); err == nil {
		t.Fatal("a stale lease wrote")
	}
	s.write(id, lease, "b", "2")
	again := start(t, s.crash())
	again.wantRows(id, map[string]string{"a": "1", "b": "2"})
}

// TestTruncationWaitsForStores: the log may be cut only up to what the stores
// have flushed. Without that (a flush that lies) the same steps lose
// acknowledged writes, which shows that this test would see it.
func TestTruncationWaitsForStores(t *testing.T) {
	for _, lie := range []bool{false, true} {
		t.Run(fmt.Sprintf("flush-lies=%t", lie), func(t *testing.T) {
			s := start(t, storagetest.NewDisk())
			for i := range s.host.machines {
				g := s.host.group(uint32(i + 1))
				g.fsm.machine = &stepper{Machine: g.fsm.machine, lieFlush: lie}
			}
			want := spread(s, 10, 20, func(round int) {
				if round == 12 {
					for i := range 10 {
						s.compact(mainStore(i))
					}
				}
			})
			again := start(t, s.crash())
			switch lost := again.missing(want); {
			case !lie && lost > 0:
				t.Errorf("%d acknowledged rows lost", lost)
			case lie && lost == 0:
				t.Error("a marker ahead of the stores lost nothing: this test proves nothing")
			}
		})
	}
}

// TestCrashAroundCompaction crashes before each single sync of a compaction: of
// each store's files, the marker, and the cut.
func TestCrashAroundCompaction(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk, func(c *Config, _ *storage.Options) { c.Shards = 1 })
	want := spread(s, 4, 10, nil)
	var mu sync.Mutex
	var crashes []*storagetest.Disk
	stop := atSync(disk, true, func() {
		mu.Lock()
		defer mu.Unlock()
		crashes = append(crashes, s.crash())
	})
	s.compact(mainStore(0))
	stop()
	crashes = append(crashes, s.crash())
	if len(crashes) < 6 {
		t.Fatalf("a compaction of four stores made only %d syncs", len(crashes))
	}
	for i, disk := range crashes {
		again := start(t, disk, func(c *Config, _ *storage.Options) { c.Shards = 1 })
		if n := again.missing(want); n > 0 {
			t.Errorf("crash before sync %d: %d acknowledged rows lost", i, n)
		}
		again.write(mainStore(0), again.open(mainStore(0)), "more", "1")
		again.stop()
	}
	if st := s.status(mainStore(0)); st.Snapshot == 0 || st.LogBytes != 0 {
		t.Errorf("after a compaction: %+v", st)
	}
	if first, _, err := s.node.Log().Bounds(1); err != nil || first != 0 && first <= s.status(mainStore(0)).Snapshot {
		t.Errorf("the log still begins at %d (%v)", first, err)
	}
}

// TestCrashWhileCreating crashes before each sync of the first start. Whatever
// is there, the next start makes a working directory of it.
func TestCrashWhileCreating(t *testing.T) {
	disk := storagetest.NewDisk()
	var mu sync.Mutex
	var crashes []*storagetest.Disk
	stop := atSync(disk, true, func() {
		mu.Lock()
		defer mu.Unlock()
		crashes = append(crashes, disk.Crash(0, 1))
	})
	s := start(t, disk)
	stop()
	s.stop()
	for _, disk := range crashes {
		again := start(t, disk)
		id := mainStore(0)
		again.write(id, again.open(id), "a", "1")
		again.stop()
	}
	t.Logf("%d crashes", len(crashes))
}

// TestManyBatchesReplay replays more batches than raft's channel to the state
// machine holds. With RestoreCommittedLogs raft would apply them before it has
// started the goroutine that takes them out, and hang.
func TestManyBatchesReplay(t *testing.T) {
	if raftConfig("x").RestoreCommittedLogs {
		t.Error("RestoreCommittedLogs is on")
	}
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	const n = 2000
	answers := make(chan error, n)
	for i := 0; i < n; {
		err := s.host.ProposeAsync(
			t.Context(), id, lease, put(id, fmt.Sprint(i%100), fmt.Sprint(i)), func(_ uint64, err error) { answers <- err },
		)
		if err != nil { // busy
			if err := <-answers; err != nil {
				t.Fatal(err)
			}
			answers <- nil
			continue
		}
		i++
		lease = lease.Next()
	}
	for range n {
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	again := start(t, s.crash())
	if l := again.open(id); l.Version != n {
		t.Errorf("version is %d after %d writes", l.Version, n)
	}
}

// TestSnapshotFlushes: raft alone asks for a snapshot, without the flush that
// the compactor does before. Snapshot itself must not return before the stores
// are flushed.
func TestSnapshotFlushes(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	s.write(id, s.open(id), "a", "1")
	if err := s.host.shard(id).raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	again := start(t, s.crash())
	again.wantRows(id, map[string]string{"a": "1"})
	if st := again.status(id); st.LogBytes != 0 {
		t.Errorf("after a snapshot %d bytes were replayed", st.LogBytes)
	}
}

// TestRestoreFlushes: a store that is far enough is not fetched, and may be so in memory
// only. The marker that a Restore publishes promises it all the same, and the log is
// emptied with it.
func TestRestoreFlushes(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	s.write(id, s.open(id), "a", "1")
	g := s.host.shard(id)
	manifest, closed, err := g.manifest(g.fsm.applied.Load())
	if err != nil {
		t.Fatal(err)
	}
	defer closed()
	sink, err := g.log.Marks.Create(
		raft.SnapshotVersionMax, g.fsm.applied.Load(), g.raft.CurrentTerm(), g.raft.GetConfiguration().Configuration(), 1,
		nil,
	)
	if err == nil {
		_, err = sink.Write(manifest)
	}
	if err == nil {
		err = sink.Close()
	}
	if err == nil {
		err = g.fsm.Restore(io.NopCloser(bytes.NewReader(manifest)))
	}
	if err != nil {
		t.Fatal(err)
	}
	if last, err := g.log.Logs.LastIndex(); err != nil || last != 0 {
		t.Fatalf("the log ends at %d, %v: the test proves nothing", last, err)
	}
	again := start(t, s.crash())
	again.wantRows(id, map[string]string{"a": "1"})
}
