package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/mesh"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// large is a value that makes stores of some hundred kilobytes out of few rows,
// and does not compress.
func large(n int) string {
	b := make([]byte, 8192)
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

// source makes a node that has stores and, of most of what it wrote, no log.
func source(w *fleet, orgs, rows int, configure ...func(*Config, *storage.Options)) {
	one := w.start("one", false, configure...)
	one.ready()
	for i := range orgs {
		id := mainStore(i)
		lease := one.open(id)
		for r := range rows {
			lease = one.write(id, lease, fmt.Sprint(r), large(i*rows+r))
		}
	}
	for _, g := range one.host.hosted() {
		if err := one.host.compactor.compact(g); err != nil {
			w.t.Fatal(err)
		}
	}
	w.place([]wire.ServerID{"one"}, "one", "two")
}

// learn adds a node to all groups as a learner, whether it is there or not.
func (w *fleet) learn(id wire.ServerID) {
	w.t.Helper()
	h := w.servers["one"].host
	for g := range uint32(len(h.groups)) {
		w.try("learn", func() error { return h.AddLearner(w.t.Context(), g, id, 0) })
	}
}

// same compares the stores of two nodes.
func (w *fleet) same(orgs int) {
	w.t.Helper()
	one, two := w.servers["one"], w.servers["two"]
	for i := range orgs {
		id := mainStore(i)
		want := fmt.Sprint(one.rows(id))
		clustertest.WaitFor(w.t, func() bool { return two.host.shard(id) != nil && two.host.shard(id).ready() })
		clustertest.WaitFor(w.t, func() bool { return fmt.Sprint(two.rows(id)) == want })
	}
}

// TestTransferInterruptedAtRandom: connections break after some bytes, bytes are
// changed on the way, and the node that fetches loses its power in the middle of
// a Restore, again and again. In the end it has what the source has.
func TestTransferInterruptedAtRandom(t *testing.T) {
	w, rng := newFleet(t), seeded(t)
	const orgs = 4
	source(w, orgs, 40)
	var spoilt, broken atomic.Int64
	var mu sync.Mutex // guards rng
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	w.mu.Lock()
	w.breakAfter = func() int64 {
		broken.Add(1)
		return int64(draw(300_000))
	}
	w.spoil = func(b []byte) {
		if len(b) > 1000 && (spoilt.Load() == 0 || draw(4) == 0) {
			spoilt.Add(1)
			b[draw(len(b))] ^= 1
		}
	}
	w.mu.Unlock()
	two := w.start("two", true)
	w.learn("two")
	for range 4 {
		was := two.host.Stats().TransferredBytes
		some := was + uint64(draw(200_000))
		clustertest.WaitFor(t, func() bool {
			s := two.host.Stats()
			return s.TransferredBytes >= some || s.Transfers >= orgs
		})
		w.kill("two")
		two = w.start("two", false)
	}
	w.mu.Lock()
	w.breakAfter, w.spoil = nil, nil
	w.mu.Unlock()
	w.same(orgs)
	w.joinAll("two")
	if spoilt.Load() == 0 || broken.Load() < 3 {
		t.Errorf("%d bytes spoilt, %d connections broken: the test proves too little", spoilt.Load(), broken.Load())
	}
	clustertest.WaitFor(t, func() bool { // nothing is left of it
		two.host.compactor.discardStages()
		staged, err := two.node.Staged()
		return err == nil && len(staged) == 0
	})
}

// stalled lets transfers come to a halt where breakAfter would break them, and says of
// whose: such a one is in its middle until its source is killed. end lets all be.
func (w *fleet) stalled(after func() int64) (sources <-chan wire.ServerID, end func()) {
	stuck, over := make(chan wire.ServerID), make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breakAfter = after
	w.stall = func(source wire.ServerID, dead <-chan struct{}) bool {
		select {
		case stuck <- source:
			<-dead
			return false
		case <-dead: // of another cause
			return false
		case <-over:
			return true
		}
	}
	return stuck, func() {
		w.mu.Lock()
		w.breakAfter = nil
		w.mu.Unlock()
		close(over)
	}
}

// arrival waits for a transfer to come to a halt.
func (w *fleet) arrival(stuck <-chan wire.ServerID) (source wire.ServerID) {
	w.t.Helper()
	clustertest.WaitFor(w.t, func() bool {
		select {
		case source = <-stuck:
			return true
		default:
			return false
		}
	})
	return source
}

// halfWay is where transfers are brought to a halt: behind the meta store, which has
// some kilobytes, and before the end of the store of 50 large rows. thirdWay can be gone
// three times: where two sources have the same tables, each goes on where the one before
// has ended.
const (
	halfWay  = 250_000
	thirdWay = 130_000
)

// TestTransferGoesOnFromAnotherSource: the node that a new replica fetches from dies
// in the middle, again and again. Each time the replica goes on with what the next
// leader has, while rows are being written, and in the end nothing is missing and
// nothing there twice.
func TestTransferGoesOnFromAnotherSource(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w, rng := newFleet(t), seeded(t)
	c := &writer{w: w, id: mainStore(0), value: func(row int64) string { return large(int(row)) }}
	write := func(rows int) {
		for range rows {
			c.put()
		}
	}
	cut := func() { // what follows cannot come by the log
		for _, s := range w.all() {
			for _, g := range s.host.hosted() {
				// not while a replica has yet to hear of a member
				clustertest.WaitFor(t, func() bool { return s.host.compactor.compact(g) == nil })
			}
		}
	}
	w.start("one", false).ready()
	write(50)
	cut()
	w.place([]wire.ServerID{"one", "two", "three"}, "one", "two", "three", "four")
	for _, id := range []wire.ServerID{"two", "three"} {
		w.start(id, true)
		w.joinAll(id)
	}
	write(10)
	cut() // from here on each may have tables of its own

	stuck, end := w.stalled(func() int64 { return 50_000 + rng.Int64N(thirdWay-50_000) })
	four := w.start("four", true)
	w.learn("four")
	sources := map[wire.ServerID]bool{}
	for range 3 {
		source := w.arrival(stuck)
		if four.host.Stats().TransferredBytes == 0 {
			t.Error("nothing has arrived: the test proves nothing")
		}
		sources[source] = true
		w.kill(source)
		write(2)
		w.start(source, false).ready()
	}
	end()
	if len(sources) < 2 {
		t.Errorf("all came from %v: the test proves nothing", sources)
	}
	w.joinAll("four")
	write(2)
	c.check()
}

// filesOf are the files of a node's copy of the first organization's store.
func (w *fleet) filesOf(id wire.ServerID) []storage.CopyFile {
	w.t.Helper()
	c, err := w.servers[id].node.Copy(w.t.Context(), mainStore(0))
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		w.t.Fatal(err)
	}
	return c.Files()
}

// TestBeginningsOfAnotherSourceCostNoAttempt: sources number their tables alike, so
// that what was left of one's may stand where the next one's are to be. Each such file
// is fetched anew at once, however many they are.
func TestBeginningsOfAnotherSourceCostNoAttempt(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := newFleet(t)
	source(w, 1, 50)
	two := w.start("two", true)
	stage, err := two.node.Stage(mainStore(0))
	if err != nil {
		t.Fatal(err)
	}
	missing, err := stage.Want(w.filesOf("one"))
	if err != nil {
		t.Fatal(err)
	}
	begun := 0
	for _, m := range missing {
		if m.Size < 2 { // markers are empty
			continue
		}
		begun++
		if err := stage.Receive(m, bytes.NewReader(make([]byte, m.Size/2))); err == nil {
			t.Fatal("half a file was taken for a whole one")
		}
	}
	if begun == 0 {
		t.Fatal("nothing was begun: the test proves nothing")
	}
	w.learn("two")
	w.same(1)
	if got := two.host.Stats().TransferRetries; got != 0 {
		t.Errorf("%d attempts failed", got)
	}
}

// TestTransferGoesOnWhenItsSourceReturns: where there is no other source the replica
// waits for the one that died, and then fetches what is missing, and no more.
func TestTransferGoesOnWhenItsSourceReturns(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := newFleet(t)
	source(w, 1, 50)
	var whole uint64
	for _, f := range w.filesOf("one") {
		whole += uint64(f.Size)
	}
	stuck, end := w.stalled(func() int64 { return halfWay })
	two := w.start("two", true)
	w.learn("two")
	w.kill(w.arrival(stuck))
	end()
	before := two.host.Stats().TransferredBytes
	w.start("one", false).ready()
	w.same(1)
	// Of what had arrived only the small files are fetched again that a start writes
	// anew, beside the meta store.
	if got := two.host.Stats().TransferredBytes; before < halfWay/2 || got > whole+halfWay/4 {
		t.Errorf("%d bytes were fetched of a store of %d, %d of them before its source died", got, whole, before)
	}
}

// TestMarkerWaitsForTheStores: raft closes the sink of a received snapshot before
// it restores it. A crash in between must not find a marker that promises what is
// not there.
func TestMarkerWaitsForTheStores(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := newFleet(t)
	source(w, 3, 10)
	w.mu.Lock()
	w.breakAfter = func() int64 { return 5_000 } // no store ever arrives
	w.mu.Unlock()
	two := w.start("two", true)
	w.learn("two")
	g := func() *group { return two.host.shard(mainStore(0)) }
	clustertest.WaitFor(t, func() bool { return g() != nil && g().fsm.restoring.Load() })
	after := two.crash()
	if metas, err := g().log.Marks.List(); err != nil || len(metas) != 0 {
		t.Errorf("markers while stores are being fetched: %v, %v", metas, err)
	}
	w.kill("two")
	w.disks["two"] = after
	w.mu.Lock()
	w.breakAfter = nil
	w.mu.Unlock()
	two = w.start("two", false)
	w.same(3)
	clustertest.WaitFor(t, func() bool { return g().log.Marks.Index.Load() > 0 })
}

// TestMarkers: a received snapshot does not show until it is true, never takes a
// marker back, and a snapshot that was overtaken is not sent.
func TestMarkers(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	stable := &raftlog.StableStore{Log: s.node.Log(), Group: 2}
	m, err := raftlog.OpenMarkers(stable)
	if err != nil {
		t.Fatal(err)
	}
	m.Manifest = func(uint64) ([]byte, func(), error) { return []byte("what there is"), func() {}, nil }
	receive := func(index uint64) raft.SnapshotSink {
		t.Helper()
		sink, err := m.Create(raft.SnapshotVersionMax, index, 3, raft.Configuration{}, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sink.Write([]byte("manifest")); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		return sink
	}
	own := func(index uint64) {
		t.Helper()
		sink, err := m.Create(raft.SnapshotVersionMax, index, 3, raft.Configuration{}, 1, nil)
		if err == nil {
			err = sink.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(want uint64) {
		t.Helper()
		metas, err := m.List()
		if err != nil {
			t.Fatal(err)
		}
		got := uint64(0)
		if len(metas) > 0 {
			got = metas[0].Index
		}
		if got != want || m.Index.Load() != want {
			t.Errorf("marker at %d (%d), want %d", got, m.Index.Load(), want)
		}
	}
	own(10)
	sink := receive(20)
	at(10)
	meta, r, err := m.Open(sink.ID())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "manifest" || meta.Index != 20 {
		t.Errorf("the received snapshot is %q at %d, %v", b, meta.Index, err)
	}
	if err := m.Restored(19); err == nil {
		t.Error("a snapshot was restored that nobody sent")
	}
	at(10)
	receive(20)
	if err := m.Restored(20); err != nil {
		t.Fatal(err)
	}
	at(20)
	own(15) // was begun before the other one arrived
	at(20)
	if _, _, err := m.Open("3-10"); !errors.Is(err, raftlog.ErrStaleSnapshot) {
		t.Errorf("open an overtaken snapshot: %v", err)
	}
	metas, err := m.List()
	if err != nil {
		t.Fatal(err)
	}
	meta, r, err = m.Open(metas[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || int64(len(b)) != meta.Size {
		t.Errorf("a snapshot of %d bytes has size %d, %v", len(b), meta.Size, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStoresAreForMembers: a node gets the stores of groups that it is in.
func TestStoresAreForMembers(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	c := &writer{w: w, id: mainStore(0)}
	c.put()
	h := w.owner(c.id).host
	shard := h.Shard(c.id.Org)
	for _, tc := range []struct {
		peer wire.ServerID
		ask  *pb.StoreCopy
		ok   bool
	}{
		{"two", &pb.StoreCopy{Group: shard, Store: c.id.String()}, true},
		{"four", &pb.StoreCopy{Group: shard, Store: c.id.String()}, false},
		{"two", &pb.StoreCopy{Group: shard%3 + 1, Store: c.id.String()}, false},
		{"two", &pb.StoreCopy{Group: 99, Store: "meta"}, false},
		{"two", &pb.StoreCopy{Group: 0, Store: "meta"}, true},
		{"two", &pb.StoreCopy{Group: 0, Store: "../meta"}, false},
	} {
		if _, err := h.mayFetch(tc.peer, tc.ask); (err == nil) != tc.ok {
			t.Errorf("%s asks for %v: %v", tc.peer, tc.ask, err)
		}
	}
}

// TestReplicasAreExtractedAlike: what a backup takes of a store is the same whichever
// node leads, although the nodes' tables are not, and after some more writes most of it
// still is.
func TestReplicasAreExtractedAlike(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	id := mainStore(0)
	const rows = 400
	var batches []func() *storage.Batch
	for r := range rows {
		batches = append(batches, func() *storage.Batch { return put(id, fmt.Sprintf("%04d", r), large(r)) })
	}
	w.commit(id, batches...)
	taken := func(s *server) map[[32]byte]int64 {
		t.Helper()
		x, err := s.node.Extract(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[[32]byte]int64{}
		for _, f := range x.Files() {
			parts[f.Sum] = f.Size
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		return parts
	}
	vault := taken(w.owner(id))
	if len(vault) < 4 {
		t.Fatalf("%d parts prove nothing", len(vault))
	}
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool { return maps.Equal(taken(s), vault) }) // when it has all of the log
	}
	w.kill(w.owner(id).host.identity.Server)
	w.commit(id, func() *storage.Batch { return put(id, "0100", "changed") })
	var fresh, all int64
	for sum, size := range taken(w.owner(id)) {
		if all += size; vault[sum] == 0 {
			fresh += size
		}
	}
	if fresh == 0 || fresh > all/2 {
		t.Errorf("another node's backup writes %d bytes of %d for one record", fresh, all)
	}
}

// obliging is a clock on which time passes when somebody waits for it, and only then.
type obliging struct{ *clock.Fake }

func (o obliging) NewTimer(d time.Duration) clock.ChanTimer {
	timer := o.Fake.NewTimer(d)
	o.Advance(d)
	return timer
}

// TestTransfersKeepToTheirRate: what a new replica is sent beyond the burst takes its
// bytes divided by the rate, neither less nor more.
func TestTransfersKeepToTheirRate(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	const rate = 1 << 20
	w := newFleet(t)
	began := time.Unix(1_700_000_000, 0)
	passed := obliging{clock.NewFake(began)}
	source(w, 1, 1200, func(c *Config, _ *storage.Options) {
		c.pacer = mesh.NewPacer(passed, rate) // raft's clock is the machine's
	})
	two := w.start("two", true)
	w.learn("two")
	w.same(1)
	sent := two.host.Stats().TransferredBytes
	if sent < 2*mesh.BurstBytes {
		t.Fatalf("%d bytes were sent: the burst is %d", sent, mesh.BurstBytes)
	}
	took, want := passed.Now().Sub(began), time.Duration((sent-mesh.BurstBytes)*uint64(time.Second)/rate)
	if off := (took - want).Abs(); off > time.Second*mesh.ChunkBytes/rate {
		t.Errorf("%d bytes took %v of the clock, want %v", sent, took, want)
	}
}

// TestErasureReachesReplicas: what is erased leaves the stores and the logs of
// every node, the part of the log that is kept for followers included.
func TestErasureReachesReplicas(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	const secret = "quizzaciously-kept-secret"
	id := mainStore(0)
	batches := []func() *storage.Batch{func() *storage.Batch { return put(id, "secret", secret) }}
	for i := range 20 {
		batches = append(batches, func() *storage.Batch { return put(id, fmt.Sprint(i), "v") })
	}
	w.commit(id, append(batches, func() *storage.Batch {
		b := storage.NewBatch(id)
		b.Erase(row(id, "secret"))
		return b
	})...)
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool { return len(s.rows(id)) == 20 })
		if len(s.fs.Find(t, secret)) == 0 {
			t.Errorf("the text never was on %s: the test proves nothing", s.host.Server())
		}
	}
	for _, s := range w.all() { // once all have it: a node that is behind gets the files of one that has erased
		clustertest.WaitFor(t, func() bool {
			_, owed := s.node.Log().Owed()[id]
			return owed || len(s.fs.Find(t, secret)) == 0 // the node may have done it by itself meanwhile
		})
		if err := s.host.Erase(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if found := s.fs.Find(t, secret); len(found) > 0 {
			t.Errorf("erased text is still on %s, in %v", s.host.Server(), found)
		}
	}
}

// TestCrashBetweenMarkerAndLog: a log that does not lead to the marker is none.
func TestCrashBetweenMarkerAndLog(t *testing.T) {
	for name, at := range map[string]func(last uint64) uint64{
		"shorter": func(last uint64) uint64 { return last + 5 },
		"another": func(last uint64) uint64 { return last - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, storagetest.NewDisk())
			id := mainStore(0)
			s.write(id, s.open(id), "a", "1")
			g := s.host.shard(id)
			last, err := g.log.Logs.LastIndex()
			if err != nil {
				t.Fatal(err)
			}
			marker := at(last)
			if err := g.log.Marks.Publish(&raft.SnapshotMeta{
				Version: raft.SnapshotVersionMax, ID: "received-9", Index: marker, Term: 9, ConfigurationIndex: 1,
				Configuration: g.raft.GetConfiguration().Configuration(),
			}); err != nil {
				t.Fatal(err)
			}
			again := start(t, s.crash())
			first, _, err := again.node.Log().Bounds(g.id)
			if err != nil || first != marker+1 {
				t.Errorf("the log begins at %d behind a marker at %d, %v", first, marker, err)
			}
			again.write(id, again.open(id), "b", "2")
		})
	}
}
