package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func TestConfigListsEveryProblem(t *testing.T) {
	_, err := Start(t.Context(), Config{Shards: -1, CompactBytes: -1})
	if err == nil {
		t.Fatal("an empty configuration was accepted")
	}
	for _, word := range []string{"Storage", "Clock", "Logger", "Shards", "compaction"} {
		if !bytes.Contains([]byte(err.Error()), []byte(word)) {
			t.Errorf("%q does not mention %s", err, word)
		}
	}
}

func TestIdentityIsFixedAtCreation(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk, func(c *Config, _ *storage.Options) { c.Shards, c.Server = 2, "alpha" })
	s.stop()
	for _, c := range []struct {
		shards int
		server wire.ServerID
		want   error
	}{{0, "", nil}, {2, "alpha", nil}, {3, "", ErrShardCount}, {0, "beta", ErrServerID}} {
		s, err := tryBegin(t, disk, func(cfg *Config, _ *storage.Options) { cfg.Shards, cfg.Server = c.shards, c.server })
		if !errors.Is(err, c.want) {
			t.Errorf("start with %+v: %v", c, err)
		}
		if err == nil {
			if s.host.Server() != "alpha" || s.host.Shards() != 2 || len(s.host.Status()) != 3 {
				t.Errorf("started as %s with %d shards", s.host.Server(), s.host.Shards())
			}
			s.stop()
		}
	}
}

func TestServerIDIsDrawn(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) {
		c.Server, c.Random = "", bytes.NewReader([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	})
	if s.host.Server() != "n-0102030405060708" {
		t.Errorf("server id is %q", s.host.Server())
	}
}

// TestShardIsStable pins the shard function: a change would look for
// organizations in other logs than they are in.
func TestShardIsStable(t *testing.T) {
	var got []uint32
	for i := range 12 {
		got = append(got, wire.ShardOf(org(i), 32))
	}
	if want := "[28 9 7 25 27 29 11 15 5 28 17 8]"; fmt.Sprint(got) != want {
		t.Errorf("shards of the first organizations are %v, want %s", got, want)
	}
	counts := map[uint32]int{}
	for i := range 32_000 {
		counts[wire.ShardOf(org(i), 32)]++
	}
	for g, n := range counts {
		if g < 1 || g > 32 || n < 800 || n > 1200 {
			t.Errorf("group %d has %d of 32,000 organizations", g, n)
		}
	}
}

func TestReadyAndStatus(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	s.write(id, s.open(id), "a", "1")
	for _, st := range s.host.Status() {
		if !st.Leading || st.Leader != "one" || st.Term < 2 {
			t.Errorf("group %d: %+v", st.Group, st)
		}
	}
	if st := s.status(id); st.Applied != st.Last || st.LogBytes == 0 || st.InFlight != 0 {
		t.Errorf("after a write: %+v", st)
	}
	s.stop()
	s.stop()
	if err := s.host.Ready(); !errors.Is(err, wire.ErrNotReady) {
		t.Errorf("a closed host is ready: %v", err)
	}
	if err := s.host.WaitReady(t.Context()); !errors.Is(err, wire.ErrClosed) {
		t.Errorf("wait for a closed host: %v", err)
	}
}

func TestWaitReadyEndsWithItsContext(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	g := s.host.group(1)
	g.leading.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.host.WaitReady(ctx); !errors.Is(err, wire.ErrNotReady) || !errors.Is(err, context.Canceled) {
		t.Errorf("wait with a context that has ended: %v", err)
	}
}

// TestCompactionByBytes: a busy group is compacted without being asked, and a
// restart has little to replay.
func TestCompactionByBytes(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.CompactBytes = 10_000 })
	id := mainStore(0)
	lease := s.open(id)
	value := string(make([]byte, 500))
	for i := range 100 {
		lease = s.write(id, lease, fmt.Sprint(i), value)
	}
	clustertest.WaitFor(t, func() bool { return s.status(id).Snapshot > 80 && s.status(id).LogBytes < 10_000 })
	again := start(t, s.crash())
	if n := len(again.rows(id)); n != 100 {
		t.Errorf("%d rows after compaction and crash", n)
	}
}

// TestCompactionByTotal: many groups, each below its own limit.
func TestCompactionByTotal(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) {
		c.CompactBytes, c.CompactTotalBytes, c.Shards = 1<<20, 20_000, 8
	})
	value := string(make([]byte, 500))
	for i := range 100 {
		s.write(mainStore(i), s.open(mainStore(i)), "a", value)
	}
	clustertest.WaitFor(t, func() bool { return s.host.logBytes.Load() < 20_000 })
}

// tick lets the compactor's clock reach its age.
func (s *server) tick() {
	s.t.Helper()
	clustertest.WaitFor(s.t, func() bool { return s.clock.Waiters() > 0 })
	s.clock.Advance(defaultCompactAge)
}

// TestCompactionByAge: a group that went to sleep keeps nothing in its log.
func TestCompactionByAge(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	s.write(id, s.open(id), "a", "1")
	s.tick()
	clustertest.WaitFor(t, func() bool { return s.host.logBytes.Load() == 0 })
	if st := s.status(id); st.Snapshot < 3 {
		t.Errorf("after its age: %+v", st)
	}
	again := start(t, s.crash())
	again.wantRows(id, map[string]string{"a": "1"})
	if st := again.status(id); st.LogBytes != 0 {
		t.Errorf("the restart replayed %d bytes", st.LogBytes)
	}
	s.tick() // and does it again
}

// TestCompactionFailureKeepsTheLog: a store that cannot be flushed.
func TestCompactionFailureKeepsTheLog(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	id := mainStore(0)
	lease := s.open(id)
	st := s.step(id, &stepper{flushErr: errors.New("no")})
	s.write(id, lease, "a", "1")
	if err := s.host.Compact(t.Context(), id); err == nil {
		t.Error("compaction without flush succeeded")
	}
	if s.status(id).Snapshot != 0 {
		t.Error("a marker was written without flush")
	}
	again := start(t, s.crash())
	again.wantRows(id, map[string]string{"a": "1"})
	st.mend()
	s.compact(id)
	if s.status(id).Snapshot == 0 {
		t.Error("no marker after a compaction")
	}
}

// TestManyStoresFewOpen: stores are closed and opened all the time, and each
// close is a flush that no marker knows of.
func TestManyStoresFewOpen(t *testing.T) {
	few := func(_ *Config, o *storage.Options) { o.MaxOpenStores = 3 }
	s := start(t, storagetest.NewDisk(), few)
	want := spread(s, 12, 4, nil)
	if n := s.missing(want); n > 0 {
		t.Errorf("%d rows lost without a crash", n)
	}
	again := start(t, s.crash(), few)
	if n := again.missing(want); n > 0 {
		t.Errorf("%d acknowledged rows lost", n)
	}
}

// TestLeadershipIsTakenAtOnce: a group of one does not wait for heartbeats, and
// needs one election.
func TestLeadershipIsTakenAtOnce(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Shards = wire.DefaultShards })
	for _, st := range s.host.Status() {
		if st.Term != 2 { // 1 is the creation's
			t.Errorf("group %d needed %d elections", st.Group, st.Term-1)
		}
	}
}
