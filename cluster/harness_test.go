package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/state"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(childEnv); kind != "" {
		children[kind]()
		return
	}
	goleak.VerifyTestMain(m)
}

// server is a host on a file system that can crash.
type server struct {
	t    testing.TB
	fs   *storagetest.Disk
	node *storage.Node
	host *Host
	cfg  Config
	opts storage.Options

	clock *clock.Fake // of the host
}

// start starts a server with few shards on a file system, and waits until it is
// ready.
func start(t testing.TB, fs *storagetest.Disk, configure ...func(*Config, *storage.Options)) *server {
	t.Helper()
	s := begin(t, fs, configure...)
	s.ready()
	return s
}

// begin is start that does not wait.
func begin(t testing.TB, fs *storagetest.Disk, configure ...func(*Config, *storage.Options)) *server {
	t.Helper()
	s, err := tryBegin(t, fs, configure...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryBegin(t testing.TB, fs *storagetest.Disk, configure ...func(*Config, *storage.Options)) (*server, error) {
	t.Helper()
	s := &server{t: t, fs: fs}
	fatal := func(msg string) { t.Error("fatal: " + msg) }
	s.opts = storage.Options{
		Dir: storagetest.Dir, Clock: clock.Real(), Fatal: fatal,
		MinFreeBytes: -1, BallastBytes: -1,
	}
	if fs != nil {
		s.opts.FS = fs
	}
	s.clock = clock.NewFake(time.Unix(1_700_000_000, 0))
	s.cfg = Config{
		Clock:  s.clock, // nothing is compacted by age unless a test says so
		Logger: slog.New(slog.DiscardHandler), Fatal: fatal, Shards: 3, Server: "one",
	}
	for _, c := range configure {
		c(&s.cfg, &s.opts)
	}
	var err error
	if s.node, err = storage.Open(s.opts); err != nil {
		return nil, err
	}
	s.cfg.Storage = s.node
	if s.host, err = Start(t.Context(), s.cfg); err != nil {
		return nil, errors.Join(err, s.node.Close())
	}
	t.Cleanup(s.stop)
	return s, nil
}

func (s *server) ready() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), clustertest.Patience)
	defer cancel()
	if err := s.host.WaitReady(ctx); err != nil {
		s.t.Fatal(err)
	}
}

// stop closes host and storage; it may be called twice.
func (s *server) stop() {
	s.t.Helper()
	if err := errors.Join(s.host.Close(), s.node.Close()); err != nil {
		s.t.Error(err)
	}
}

// crash is the disk as a power failure now would leave it: nothing is kept that
// was not synced. The server itself runs on; what it does later is not on the
// returned disk.
func (s *server) crash() *storagetest.Disk { return s.fs.Crash(0, 1) }

// org makes the n-th organization of a test.
func org(n int) pb.OrgID {
	var id pb.OrgID
	binary.BigEndian.PutUint64(id[8:], uint64(n)+1)
	return id
}

func mainStore(n int) storage.StoreID {
	return storage.StoreID{Org: org(n), Realm: storage.RealmMain}
}

// row is where tests put their numbered writes.
func row(id storage.StoreID, name string) storage.Key {
	return storage.OrgSpace(id).Key(storage.TableOrgCounter, storage.Str(name))
}

func put(id storage.StoreID, name, value string) *storage.Batch {
	b := storage.NewBatch(id)
	b.PutRaw(row(id, name), []byte(value))
	return b
}

// open opens a store for writing.
func (s *server) open(id storage.StoreID) Lease {
	s.t.Helper()
	lease, err := s.host.OpenStore(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return lease
}

// write writes one row and returns the next lease.
func (s *server) write(id storage.StoreID, lease Lease, name, value string) Lease {
	s.t.Helper()
	version, err := s.host.Propose(s.t.Context(), id, lease, put(id, name, value))
	if err != nil {
		s.t.Fatal(err)
	}
	if version != lease.Version+1 {
		s.t.Fatalf("write at version %d gave %d", lease.Version, version)
	}
	return lease.Next()
}

// rows reads all rows of a store.
func (s *server) rows(id storage.StoreID) map[string]string {
	s.t.Helper()
	st, err := s.node.AcquireForApply(id) // never refused
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Release()
	got := map[string]string{}
	for item, err := range st.Scan(storage.OrgSpace(id).Prefix(storage.TableOrgCounter), storage.ScanOptions{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		got[item.Key.Parts().Str()] = string(item.Value)
	}
	return got
}

func (s *server) wantRows(id storage.StoreID, want map[string]string) {
	s.t.Helper()
	got := s.rows(id)
	if fmt.Sprint(got) != fmt.Sprint(want) { // maps print sorted
		s.t.Errorf("store %v holds %v, want %v", id, got, want)
	}
}

// flush makes a store's effects durable in its own files.
func (s *server) flush(id storage.StoreID) {
	s.t.Helper()
	st, err := s.node.Acquire(id)
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Release()
	if err := st.Flush(); err != nil {
		s.t.Fatal(err)
	}
}

// compact flushes the shard of a store and cuts its log.
func (s *server) compact(id storage.StoreID) {
	s.t.Helper()
	if err := s.host.Compact(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) status(id storage.StoreID) GroupStatus {
	return s.host.Status()[s.host.shard(id).id]
}

// stepper is a machine that a test can stop before an apply, or rob of its
// flush.
type stepper struct {
	state.Machine
	mu       sync.Mutex
	before   func(entries []state.Entry) // called before apply
	after    func(entries []state.Entry) // called after apply, before anybody is answered
	lieFlush bool                        // flush says done and does nothing
	flushErr error                       // what flush answers instead
	applyErr error                       // what apply answers instead
}

// step puts a stepper before a store's machine. Call it before proposals of the
// group are under way.
func (s *server) step(id storage.StoreID, st *stepper) *stepper {
	g := s.host.shard(id)
	st.Machine = g.fsm.machine
	g.fsm.machine = st
	return st
}

// hold keeps a store's group from applying anything until release is called.
func (s *server) hold(id storage.StoreID) (release func()) {
	held := make(chan struct{})
	release = sync.OnceFunc(func() { close(held) })
	s.t.Cleanup(release) // before stop, which waits for the group
	s.step(id, &stepper{before: func([]state.Entry) { <-held }})
	return release
}

// mend lets flush work again.
func (st *stepper) mend() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.flushErr = nil
}

func (st *stepper) Apply(entries []state.Entry) ([]state.Result, error) {
	st.mu.Lock()
	before, after := st.before, st.after
	st.mu.Unlock()
	if before != nil {
		before(entries)
	}
	if st.applyErr != nil {
		return nil, st.applyErr
	}
	r, err := st.Machine.Apply(entries)
	if after != nil {
		after(entries)
	}
	return r, err
}

func (st *stepper) Flush() error {
	st.mu.Lock()
	lie, err := st.lieFlush, st.flushErr
	st.mu.Unlock()
	if lie || err != nil {
		return err
	}
	return st.Machine.Flush()
}
