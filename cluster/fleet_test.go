package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/mesh"
	"orgmem/cluster/plan"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// fleet is a cluster in one process: hosts on disks of their own, and between them
// a network whose links a test can cut.
type fleet struct {
	t testing.TB

	mu      sync.Mutex // guards what follows
	cut     map[[2]wire.ServerID]bool
	silent  map[wire.ServerID]int // answers no calls, of which it counts them: its process is paused
	streets map[wire.ServerID]*street
	// breakAfter makes connections that carry stores end after so many bytes; 0 lets
	// them be.
	breakAfter func() int64
	// spoil changes what goes over such a connection.
	spoil func(b []byte)
	// stall is called where such a connection would break. It says whether the
	// connection goes on, and may keep it waiting until the other side is dead.
	stall func(source wire.ServerID, dead <-chan struct{}) bool

	servers map[wire.ServerID]*server // changed by the test's goroutine, under mu
	disks   map[wire.ServerID]*storagetest.Disk
}

func newFleet(t testing.TB) *fleet {
	w := &fleet{
		t: t, cut: map[[2]wire.ServerID]bool{}, silent: map[wire.ServerID]int{}, streets: map[wire.ServerID]*street{},
		servers: map[wire.ServerID]*server{}, disks: map[wire.ServerID]*storagetest.Disk{},
	}
	t.Cleanup(func() {
		for _, st := range w.streets {
			st.close()
		}
	})
	return w
}

// street is a node's end of the network. It implements peers.
type street struct {
	fleet *fleet
	self  wire.ServerID

	mu       sync.Mutex // guards what follows
	open     bool
	handlers map[mesh.Kind]func(context.Context, wire.ServerID, net.Conn)
	calls    map[reflect.Type]answerer
	groups   map[uint32]*lane
	conns    map[*pipe]struct{}
	life     context.Context //nolint:containedctx // of the node
	end      context.CancelFunc
	busy     sync.WaitGroup
}

var _ peers = (*street)(nil)

// answerer answers a call of another node.
type answerer func(context.Context, wire.ServerID, *pb.NodeCall) (*pb.NodeAnswer, error)

// move gives a node a new street; the old one is dead.
func (w *fleet) move(id wire.ServerID) *street {
	s := &street{
		fleet: w, self: id, open: true,
		handlers: map[mesh.Kind]func(context.Context, wire.ServerID, net.Conn){}, calls: map[reflect.Type]answerer{},
		groups: map[uint32]*lane{}, conns: map[*pipe]struct{}{},
	}
	s.life, s.end = context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streets[id] = s
	return s
}

// close cuts a street off for ever.
func (s *street) close() {
	s.mu.Lock()
	s.open = false
	s.end()
	for c := range s.conns {
		c.hangUp()
	}
	s.mu.Unlock()
	s.busy.Wait()
}

// reach returns another node's street, if there is a way.
func (w *fleet) reach(from, to wire.ServerID) (*street, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.streets[to]
	if s == nil || w.cut[[2]wire.ServerID{from, to}] || w.cut[[2]wire.ServerID{to, from}] {
		return nil, fmt.Errorf("%s to %s: %w", from, to, wire.ErrUnreachable)
	}
	return s, nil
}

// part cuts the links between two sides; an empty second side is everybody else.
func (w *fleet) part(one ...wire.ServerID) {
	w.mu.Lock()
	for _, a := range one {
		for b := range w.streets {
			if !slices.Contains(one, b) {
				w.cut[[2]wire.ServerID{a, b}] = true
			}
		}
	}
	streets := w.streets
	var dead []*pipe
	for _, s := range streets {
		s.mu.Lock()
		for c := range s.conns {
			if w.cut[[2]wire.ServerID{c.from, c.to}] || w.cut[[2]wire.ServerID{c.to, c.from}] {
				dead = append(dead, c)
			}
		}
		s.mu.Unlock()
	}
	w.mu.Unlock()
	for _, c := range dead {
		c.hangUp()
	}
}

// pause makes a node answer nothing, as a process that is stopped: its connections stand,
// and raft hears nothing of it.
func (w *fleet) pause(id wire.ServerID) {
	w.mu.Lock()
	w.silent[id] = 0
	w.mu.Unlock()
	w.part(id)
}

func (w *fleet) isSilent(id wire.ServerID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, silent := w.silent[id]
	if silent {
		w.silent[id]++
	}
	return silent
}

// heal mends all links.
func (w *fleet) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.cut)
}

// pipe is a connection from one node to another.
type pipe struct {
	net.Conn
	other    net.Conn
	from, to wire.ServerID
	once     sync.Once
	dead     chan struct{} // closed when one end has gone
}

// Close closes this end.
func (c *pipe) Close() error {
	c.once.Do(func() { close(c.dead) })
	return c.Conn.Close()
}

func (c *pipe) hangUp() { _, _ = c.Close(), c.other.Close() }

// connect makes a connection; deliver gets the other end.
func (s *street) connect(to wire.ServerID, deliver func(*street, net.Conn) error) (*pipe, error) {
	there, err := s.fleet.reach(s.self, to)
	if err != nil {
		return nil, err
	}
	// A pipe of loopback would hold data after a cut; this one holds nothing.
	a, b := net.Pipe()
	c := &pipe{Conn: a, other: b, from: s.self, to: to, dead: make(chan struct{})}
	s.mu.Lock()
	open := s.open
	if open {
		s.conns[c] = struct{}{}
	}
	s.mu.Unlock()
	there.mu.Lock()
	if open = open && there.open; open {
		there.conns[c] = struct{}{}
	}
	there.mu.Unlock()
	if open {
		err = deliver(there, b)
	} else {
		err = wire.ErrUnreachable
	}
	if err != nil {
		c.hangUp()
		return nil, err
	}
	return c, nil
}

// Dial implements peers.
func (s *street) Dial(_ context.Context, to wire.ServerID, kind mesh.Kind) (net.Conn, error) {
	conn, err := s.connect(to, func(there *street, b net.Conn) error {
		there.mu.Lock()
		defer there.mu.Unlock()
		f := there.handlers[kind]
		if f == nil || !there.open {
			return wire.ErrUnreachable
		}
		there.busy.Go(func() { f(there.life, s.self, b) })
		return nil
	})
	if err != nil {
		return nil, err
	}
	if kind != mesh.KindStore {
		return conn, nil
	}
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	if s.fleet.breakAfter != nil || s.fleet.spoil != nil {
		left := int64(1) << 60
		if s.fleet.breakAfter != nil {
			left = s.fleet.breakAfter()
		}
		return &frayed{pipe: conn, left: left, spoil: s.fleet.spoil, stall: s.fleet.stall}, nil
	}
	return conn, nil
}

// frayed is a connection that breaks after some bytes, waits there, or changes them.
type frayed struct {
	*pipe
	left  int64
	spoil func([]byte)
	stall func(wire.ServerID, <-chan struct{}) bool
}

func (f *frayed) Read(b []byte) (int, error) {
	if f.left <= 0 {
		if f.stall == nil || !f.stall(f.to, f.dead) {
			_ = f.Close()
			return 0, io.ErrUnexpectedEOF
		}
		f.left = 1 << 60
	}
	n, err := f.pipe.Read(b[:min(int64(len(b)), f.left)])
	f.left -= int64(n)
	if f.spoil != nil {
		f.spoil(b[:n])
	}
	return n, err
}

// Handle implements peers.
func (s *street) Handle(kind mesh.Kind, f func(context.Context, wire.ServerID, net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[kind] = f
}

// HandleCall implements peers.
func (s *street) HandleCall(arm any, f func(context.Context, wire.ServerID, *pb.NodeCall) (*pb.NodeAnswer, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[reflect.TypeOf(arm)] = f
}

// Call implements peers. What is answered after a cut is not heard.
func (s *street) Call(ctx context.Context, to wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error) {
	if s.fleet.isSilent(to) {
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, ctx.Err())
	}
	there, err := s.fleet.reach(s.self, to)
	if err != nil {
		return nil, err
	}
	there.mu.Lock()
	f := there.calls[reflect.TypeOf(call.GetKind())]
	if f == nil || !there.open {
		there.mu.Unlock()
		return nil, wire.ErrUnreachable
	}
	there.busy.Add(1)
	there.mu.Unlock()
	type reply struct {
		a   *pb.NodeAnswer
		err error
	}
	ch := make(chan reply, 1)
	go func() {
		defer there.busy.Done()
		a, err := f(there.life, s.self, proto.CloneOf(call))
		if err != nil {
			a = wire.EncodeError(err)
		}
		ch <- reply{a, nil}
	}()
	select {
	case r := <-ch:
		if _, err := s.fleet.reach(s.self, to); err != nil {
			return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, err)
		}
		if r.a.GetRefusal() != nil {
			return nil, wire.DecodeError(to, r.a.GetRefusal())
		}
		return r.a, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, ctx.Err())
	}
}

func (s *street) attach(mesh.Registry) {}

// lane is a group's raft.StreamLayer.
type lane struct {
	s       *street
	id      uint32
	arrived chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// group implements transports.
func (s *street) group(id uint32, _ wire.ServerID) raft.Transport {
	l := &lane{s: s, id: id, arrived: make(chan net.Conn), closed: make(chan struct{})}
	s.mu.Lock()
	s.groups[id] = l
	s.mu.Unlock()
	t := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: l, MaxPool: 2, Timeout: 2 * time.Second, Logger: raftlog.NewLogger(slog.New(slog.DiscardHandler), id),
	})
	t.TimeoutScale = 1
	return t
}

func (l *lane) Accept() (net.Conn, error) {
	select {
	case c := <-l.arrived:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *lane) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *lane) Addr() net.Addr { return laneAddr(l.s.self) }

type laneAddr wire.ServerID

func (laneAddr) Network() string  { return "street" }
func (a laneAddr) String() string { return string(a) }

func (l *lane) Dial(to raft.ServerAddress, _ time.Duration) (net.Conn, error) {
	conn, err := l.s.connect(wire.ServerID(to), func(there *street, b net.Conn) error {
		there.mu.Lock()
		other := there.groups[l.id]
		there.mu.Unlock()
		if other == nil {
			return wire.ErrUnreachable
		}
		select {
		case other.arrived <- b:
			return nil
		case <-other.closed:
			return wire.ErrUnreachable
		case <-there.life.Done():
			return wire.ErrUnreachable
		}
	})
	if err != nil {
		return nil, err // and no connection: a nil of a type is one
	}
	return conn, nil
}

// start starts a node on its disk; join says that it is new and waits for others.
func (w *fleet) start(id wire.ServerID, join bool, configure ...func(*Config, *storage.Options)) *server {
	w.t.Helper()
	disk := w.disks[id]
	if disk == nil {
		disk = storagetest.NewDisk()
		w.disks[id] = disk
	}
	st := w.move(id)
	s := begin(w.t, disk, func(c *Config, o *storage.Options) {
		c.Clock, c.Server, c.Join, c.peers, c.TransferRate = clock.Real(), id, join, st, -1
		for _, f := range configure {
			f(c, o)
		}
	})
	w.mu.Lock()
	w.servers[id] = s
	w.mu.Unlock()
	return s
}

// kill ends nodes as a power failure would: what was not synced is lost. They are
// off the network first, or the dead would go on acknowledging. The dead processes
// are tidied up.
func (w *fleet) kill(ids ...wire.ServerID) {
	w.t.Helper()
	for _, id := range ids {
		w.mu.Lock()
		st := w.streets[id]
		delete(w.streets, id)
		w.mu.Unlock()
		st.close()
	}
	for _, id := range ids {
		w.disks[id] = w.disks[id].Crash(0, 1)
	}
	for _, id := range ids {
		w.bury(id)
	}
}

// stop stops a node properly.
func (w *fleet) stop(id wire.ServerID) {
	w.t.Helper()
	w.servers[id].stop()
	w.bury(id)
}

func (w *fleet) bury(id wire.ServerID) {
	w.mu.Lock()
	s, st := w.servers[id], w.streets[id]
	delete(w.servers, id)
	delete(w.streets, id)
	w.mu.Unlock()
	if st != nil {
		st.close()
	}
	s.stop()
}

// all returns the nodes that run.
func (w *fleet) all() []*server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.servers))
}

// any returns some node.
func (w *fleet) any() *server {
	w.t.Helper()
	for _, id := range []wire.ServerID{"one", "two", "three", "four"} {
		if s := w.servers[id]; s != nil {
			return s
		}
	}
	w.t.Fatal("nobody is there")
	return nil
}

// place writes the shard map: all groups on the given nodes.
func (w *fleet) place(present []wire.ServerID, desired ...wire.ServerID) {
	w.t.Helper()
	w.remap(func(sm *pb.ShardMap) {
		sm.Groups = nil
		for g := range len(w.any().host.groups) {
			p := &pb.GroupPlacement{Group: uint32(g)}
			for _, id := range desired {
				p.Desired = append(p.GetDesired(), string(id))
			}
			for _, id := range present {
				p.Present = append(p.GetPresent(), string(id))
			}
			sm.Groups = append(sm.GetGroups(), p)
		}
	})
}

// remap changes the shard map, which nobody else does.
func (w *fleet) remap(change func(*pb.ShardMap)) {
	w.t.Helper()
	w.try("change the shard map", func() error {
		h := w.any().host
		if err := h.Directory().Fresh(w.t.Context()); err != nil {
			return err
		}
		old := h.Meta().ShardMap()
		fresh := proto.CloneOf(old)
		if change(fresh); proto.Equal(old, fresh) {
			return nil // by an attempt that nobody knew the outcome of
		}
		err := h.Meta().PutShardMap(w.t.Context(), fresh)
		if errors.Is(err, wire.ErrMapChanged) { // likewise, on its way until now
			err = errBehind
		}
		return err
	})
}

// try repeats what may fail while a leader is being elected. That may be at any time:
// on a busy machine a leader is late with its heartbeats.
func (w *fleet) try(what string, f func() error) {
	w.t.Helper()
	var last error
	ctx, cancel := context.WithTimeout(w.t.Context(), clustertest.Patience)
	defer cancel()
	for ctx.Err() == nil {
		if last = f(); last == nil {
			return
		}
		if !transient(last) && !errors.Is(last, errBehind) {
			break
		}
		_ = clock.Wait(ctx, clock.Real(), 10*time.Millisecond)
	}
	w.t.Fatalf("%s: %v", what, last)
}

var errBehind = errors.New("a member is behind")

// transient reports whether an error is of a leader that is missed for a moment.
func transient(err error) bool {
	return errors.Is(err, wire.ErrNotLeader) || errors.Is(err, wire.ErrOutcomeUnknown) || errors.Is(err, wire.ErrNotReady)
}

// settle is try for what has to fail: it returns how.
func (w *fleet) settle(what string, f func() error) (err error) {
	w.t.Helper()
	w.try(what, func() error {
		if err = f(); transient(err) {
			return err
		}
		return nil
	})
	return err
}

// commit writes batches into a store, one after the other, again where a leader is
// lost in between.
func (w *fleet) commit(id storage.StoreID, batches ...func() *storage.Batch) {
	w.t.Helper()
	w.try("write", func() error {
		h := w.owner(id).host
		lease, err := h.OpenStore(w.t.Context(), id)
		for _, b := range batches {
			if err == nil {
				_, err = h.Propose(w.t.Context(), id, lease, b())
			}
			lease = lease.Next()
		}
		if errors.Is(err, wire.ErrFenced) { // an attempt before was still on its way
			err = errBehind
		}
		return err
	})
}

// join adds a node to a group: learner, caught up, voter.
func (w *fleet) join(group uint32, id wire.ServerID) {
	w.t.Helper()
	h, ctx := w.any().host, w.t.Context()
	what := fmt.Sprintf("add %s to group %d", id, group)
	w.try(what, func() error { return h.AddLearner(ctx, group, id, 0) })
	w.try(what, func() error {
		all, err := h.Progress(ctx, group)
		if err != nil {
			return err
		}
		var most, mine uint64
		for _, p := range all {
			most = max(most, p.Applied)
			if p.Server == id {
				mine = p.Applied
			}
		}
		if mine == 0 || mine+50 < most {
			return errBehind
		}
		return nil
	})
	w.try(what, func() error { return h.Promote(ctx, group, id, 0) })
}

// joinAll adds a node to all groups.
func (w *fleet) joinAll(id wire.ServerID) {
	w.t.Helper()
	for g := range len(w.any().host.groups) {
		w.join(uint32(g), id)
	}
}

// leave takes a node out of all groups.
func (w *fleet) leave(id wire.ServerID) {
	w.t.Helper()
	h, ctx := w.any().host, w.t.Context()
	for g := range uint32(len(h.groups)) {
		what := fmt.Sprintf("take %s out of group %d", id, g)
		w.try(what, func() error {
			m, err := h.Membership(ctx, g)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(m.Replicas, func(r plan.Replica) bool { return r.Server == id }) {
				return nil
			}
			if leader, _ := h.LeaderOf(g); leader == id && len(m.Replicas) > 1 {
				if err := h.TransferLeadership(ctx, g, ""); err != nil {
					return fmt.Errorf("%w: %w", wire.ErrNotLeader, err)
				}
				return wire.ErrNotLeader // the new one, next time
			}
			return h.RemoveReplica(ctx, g, id, m.Index)
		})
	}
}

// three makes a fleet of three nodes that have all groups.
func three(t testing.TB, configure ...func(*Config, *storage.Options)) *fleet {
	t.Helper()
	w := newFleet(t)
	w.start("one", false, configure...).ready()
	w.place([]wire.ServerID{"one", "two", "three"}, "one", "two", "three")
	for _, id := range []wire.ServerID{"two", "three"} {
		w.start(id, true, configure...)
		w.joinAll(id)
	}
	w.ready()
	return w
}

// ready waits until all nodes are.
func (w *fleet) ready() {
	w.t.Helper()
	for _, s := range w.all() {
		s.ready()
	}
}

// owner waits until some node leads a store's shard and returns it.
func (w *fleet) owner(id storage.StoreID) *server {
	w.t.Helper()
	var owner *server
	clustertest.WaitFor(w.t, func() bool {
		for _, s := range w.all() {
			if s.host.Lead(id.Org) == nil {
				owner = s
				return true
			}
		}
		return false
	})
	return owner
}

// writer is a client of one organization that does what the actors do: it opens
// the store where the shard is led, writes numbered rows in order, and after an
// unknown outcome opens anew and looks.
type writer struct {
	w     *fleet
	id    storage.StoreID
	acked atomic.Int64 // rows 0 to acked-1 are acknowledged
	value func(row int64) string
}

// valueOf is what a row holds, "v" unless somebody says otherwise.
func (c *writer) valueOf(row int64) string {
	if c.value == nil {
		return "v"
	}
	return c.value(row)
}

// put writes one row, however long it takes. The store counts what it takes: a row
// that was taken twice, or lost, would show in its version.
func (c *writer) put() {
	c.w.t.Helper()
	clustertest.WaitFor(c.w.t, func() bool {
		for _, s := range c.w.all() {
			if s.host.Lead(c.id.Org) == nil && c.attempt(s) {
				return true
			}
		}
		return false
	})
}

// attempt writes the row on one node, and reports whether it is there.
func (c *writer) attempt(s *server) bool {
	ctx, cancel := context.WithTimeout(c.w.t.Context(), 5*time.Second) // of a node that is cut off
	defer cancel()
	lease, err := s.host.OpenStore(ctx, c.id)
	if err != nil {
		return false
	}
	n := c.acked.Load()
	switch lease.Version {
	case uint64(n) + 1: // it was taken before, when nobody knew
		c.acked.Store(n + 1)
		return true
	case uint64(n):
	default:
		c.w.t.Errorf("%v is at version %d after %d acknowledged rows", c.id, lease.Version, n)
		return true
	}
	if _, err = s.host.Propose(ctx, c.id, lease, put(c.id, fmt.Sprint(n), c.valueOf(n))); err == nil {
		c.acked.Store(n + 1)
	}
	return err == nil
}

// check looks whether every node has exactly the rows that were acknowledged.
func (c *writer) check() {
	c.w.t.Helper()
	n := c.acked.Load()
	want := map[string]string{}
	for i := range n {
		want[fmt.Sprint(i)] = c.valueOf(i)
	}
	for _, s := range c.w.all() {
		if s.host.shard(c.id) == nil {
			continue
		}
		clustertest.WaitFor(c.w.t, func() bool { return fmt.Sprint(s.rows(c.id)) == fmt.Sprint(want) })
		st, err := s.node.AcquireForApply(c.id)
		if err != nil {
			c.w.t.Fatal(err)
		}
		// The rows are there a moment before the version that they make.
		clustertest.WaitFor(c.w.t, func() bool { return st.State().Version >= uint64(n) })
		if v := st.State().Version; v != uint64(n) {
			c.w.t.Errorf("%v is at version %d on %s, want %d", c.id, v, s.host.Server(), n)
		}
		st.Release()
	}
}

// seeded is a generator that says its seed when the test fails.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
