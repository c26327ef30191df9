package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// What replicated writes are measured with: 64 clients have an organization each,
	// 256 share them.
	baselineOrgs   = 64
	baselineGroups = 16
	baselineBytes  = 256
	baselineRounds = 3
)

// bare is hashicorp/raft and nothing else: three nodes with the same disk store,
// the same configuration and plain TCP, without leases, fencing, TLS or
// organizations. It is what BenchmarkReplicated compares with.
type bare struct {
	nodes      [3]*storage.Node
	stores     []*storage.Store
	transports [baselineGroups][3]*raft.NetworkTransport
	groups     [baselineGroups][3]*raft.Raft
}

// bareFSM puts what it is told into one store of its group.
type bareFSM struct {
	raft.FSM // snapshots are not taken
	store    *storage.Store
	id       storage.StoreID
}

func (f *bareFSM) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

func (f *bareFSM) ApplyBatch(logs []*raft.Log) []any {
	entries := make([]storage.Entry, 0, len(logs))
	for _, l := range logs {
		if l.Type == raft.LogCommand {
			entries = append(entries, storage.Entry{Index: l.Index, Kind: storage.EntryPlain, Changes: bareRow(f.id, l)})
		}
	}
	answers := make([]any, len(logs))
	if _, err := f.store.ApplyBatch(entries); err != nil {
		for i := range answers {
			answers[i] = err
		}
	}
	return answers
}

func bareRow(id storage.StoreID, l *raft.Log) []*pb.Change {
	b := storage.NewBatch(id)
	b.PutRaw(row(id, fmt.Sprintf("%010d", l.Index)), l.Data)
	return b.Changes()
}

func newBare(b *testing.B) *bare {
	b.Helper()
	w := &bare{}
	b.Cleanup(w.close)
	dir := b.TempDir()
	var conf [baselineGroups]raft.Configuration
	for g := range w.transports {
		for i := range w.transports[g] {
			t, err := raft.NewTCPTransport("127.0.0.1:0", nil, 3, 10*time.Second, io.Discard)
			if err != nil {
				b.Fatal(err)
			}
			w.transports[g][i] = t
			conf[g].Servers = append(conf[g].Servers, raft.Server{ID: raft.ServerID(fmt.Sprint(i)), Address: t.LocalAddr()})
		}
	}
	for i := range w.nodes {
		var err error
		w.nodes[i], err = storage.Open(storage.Options{
			Dir: filepath.Join(dir, fmt.Sprint(i)), Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1,
		})
		if err != nil {
			b.Fatal(err)
		}
		for g := range baselineGroups {
			id := mainStore(g)
			store, err := w.nodes[i].Acquire(id)
			if err != nil {
				b.Fatal(err)
			}
			w.stores = append(w.stores, store)
			log := w.nodes[i].Log()
			logs, stable := &raftlog.LogStore{
				Log: log, Group: uint32(g + 1),
			}, &raftlog.StableStore{Log: log, Group: uint32(g + 1)}
			c := raftConfig(wire.ServerID(fmt.Sprint(i)))
			c.Logger = raftlog.NewLogger(slog.New(slog.DiscardHandler), uint32(g+1))
			snapshots := raft.NewDiscardSnapshotStore()
			if err := raft.BootstrapCluster(c, logs, stable, snapshots, w.transports[g][i], conf[g]); err != nil {
				b.Fatal(err)
			}
			w.groups[g][i], err = raft.NewRaft(c, &bareFSM{store: store, id: id}, logs, stable, snapshots, w.transports[g][i])
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	// As many leaders on each node as on the others.
	for g := range w.groups {
		want := conf[g].Servers[g%3]
		clustertest.WaitFor(b, func() bool {
			for _, r := range w.groups[g] {
				if r.State() == raft.Leader {
					if _, id := r.LeaderWithID(); id == want.ID {
						return true
					}
					_ = r.LeadershipTransferToServer(want.ID, want.Address).Error()
				}
			}
			return false
		})
	}
	return w
}

// close may be called twice.
func (w *bare) close() {
	for g := range w.groups {
		for i, r := range w.groups[g] {
			if r != nil {
				_ = r.Shutdown().Error() // and its listener
				w.groups[g][i] = nil
			}
		}
	}
	for g := range w.transports {
		for i, t := range w.transports[g] {
			if t != nil {
				t.CloseStreams()
				w.transports[g][i] = nil
			}
		}
	}
	for _, s := range w.stores {
		s.Release()
	}
	w.stores = nil
	for i, n := range w.nodes {
		if n != nil {
			_ = n.Close()
			w.nodes[i] = nil
		}
	}
}

// BenchmarkReplicated measures durable replicated writes of 256 bytes: clients
// that each wait for the answer before they write again, at the leaders, with
// three nodes on one machine. First bare raft, then ours, then bare raft again:
// the machine may have changed meanwhile.
func BenchmarkReplicated(b *testing.B) {
	measureBare := func() {
		w := newBare(b)
		for range baselineRounds {
			for _, clients := range []int{64, 256} {
				b.Run(fmt.Sprintf("bare/clients=%d", clients), func(b *testing.B) {
					closedLoop(b, clients, func(k int) func() error {
						r := w.groups[k%baselineGroups][k%baselineGroups%3]
						return func() error { return r.Apply(make([]byte, baselineBytes), 0).Error() }
					})
				})
			}
		}
		w.close()
	}
	measureBare()
	d := newDistrict(b, baselineGroups)
	pens := make([]*pen, baselineOrgs)
	for i := range pens {
		pens[i] = &pen{d: d, id: mainStore(i)}
		if err := pens[i].write(); err != nil { // its store is there
			b.Fatal(err)
		}
	}
	for range baselineRounds {
		for _, clients := range []int{64, 256} {
			b.Run(fmt.Sprintf("ours/clients=%d", clients), func(b *testing.B) {
				closedLoop(b, clients, func(k int) func() error { return pens[k%baselineOrgs].write })
			})
		}
	}
	d.close()
	measureBare()
}

// closedLoop lets clients write b.N times in all; begin makes the k-th one.
func closedLoop(b *testing.B, clients int, begin func(k int) func() error) {
	b.Helper()
	writes := make([]func() error, clients)
	for k := range writes {
		writes[k] = begin(k)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	before := cpuTime()
	b.ResetTimer()
	for _, write := range writes {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := write(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op") // of all three nodes
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// pen writes to one organization for all its clients, as its actor does: their
// writes are under way together, in order. It follows the organization if it moves.
type pen struct {
	d  *district
	id storage.StoreID

	mu    sync.Mutex
	at    *station // nil: to be found
	lease Lease
	rows  int
}

// begin puts one write under way; the answer comes on the channel. The epoch is the
// one that it is written under.
func (p *pen) begin(ctx context.Context) (_ <-chan error, epoch uint64, _ error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.at == nil {
		for _, s := range p.d.stations {
			if s.host.Lead(p.id.Org) != nil {
				continue
			}
			if lease, err := s.host.OpenStore(ctx, p.id); err == nil {
				p.at, p.lease = s, lease
				break
			}
		}
		if err := clock.Wait(ctx, clock.Real(), time.Millisecond); err != nil {
			return nil, 0, err
		}
	}
	p.rows++
	answer := make(chan error, 1)
	err := p.at.host.ProposeAsync(ctx, p.id, p.lease, put(
		p.id, fmt.Sprintf("%010d", p.rows), string(make([]byte, baselineBytes)),
	), func(_ uint64, err error) {
		answer <- err
	})
	if err != nil {
		p.at = nil
		return nil, 0, err
	}
	p.lease = p.lease.Next()
	return answer, p.lease.Epoch, nil
}

// write is one durable write, however often it has to be tried: a leadership may
// move while the controller levels them.
func (p *pen) write() error {
	ctx := context.Background() // ends with the benchmark's loop
	for {
		answer, epoch, err := p.begin(ctx)
		if err == nil {
			if err = <-answer; err == nil {
				return nil
			}
			p.mu.Lock()
			if p.lease.Epoch == epoch { // else somebody has opened it anew, and must not be fenced
				p.at = nil
			}
			p.mu.Unlock()
		}
		if !errors.Is(err, wire.ErrNotApplied) && !errors.Is(err, wire.ErrFenced) && !errors.Is(err, wire.ErrOutcomeUnknown) {
			return err
		}
	}
}

const (
	joinBytes = 1 << 30
	joinOrgs  = 64
	joinRow   = 256 << 10
)

// BenchmarkJoin lets two nodes join one that has 1 GB in 64 organizations, one
// after the other, and measures how long the third one takes until every group has
// three voters and everybody leads its share: the ten seconds in which a newcomer
// gets nothing included. Run it with -benchtime 1x.
func BenchmarkJoin(b *testing.B) {
	for range b.N {
		b.StopTimer()
		ctx, dir := b.Context(), b.TempDir()
		var dirs, ports [3]string
		for i := range dirs {
			dirs[i], ports[i] = filepath.Join(dir, fmt.Sprint("n", i)), stationPort(b)
		}
		if err := foundStation(ctx, dirs[0], wire.DefaultShards, fillForJoin(ctx)); err != nil {
			b.Fatal(err)
		}
		var stations [3]*station
		join := func(i int) {
			var err error
			if i > 0 {
				err = joinStation(ctx, dirs[i], ports[i], stations[0])
			}
			if err == nil {
				stations[i], err = openStation(ctx, dirs[i], ports[i])
			}
			if err == nil {
				b.Cleanup(func() { _ = stations[i].close() })
				err = stations[i].host.WaitReady(ctx)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		join(0)
		began := time.Now()
		join(1)
		for !followsAll(ctx, stations[0].host, stations[1].host.Server()) {
			if err := clock.Wait(ctx, clock.Real(), 50*time.Millisecond); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(began).Seconds(), "second-s")
		b.StartTimer()
		began = time.Now()
		join(2)
		if err := spreadOver(ctx, stations[:]...); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		b.ReportMetric(time.Since(began).Seconds(), "third-s")
	}
}

// fillForJoin writes joinBytes that no compression makes smaller.
func fillForJoin(ctx context.Context) func(*Host) error {
	return func(h *Host) error {
		return inParallel(joinOrgs, func(i int) error {
			id := mainStore(i)
			random := rand.NewChaCha8([32]byte{byte(i)})
			lease, err := h.OpenStore(ctx, id)
			for n := 0; err == nil && n < joinBytes/joinOrgs/joinRow; n++ {
				value := make([]byte, joinRow)
				_, _ = random.Read(value) // never fails
				if _, err = h.Propose(
					ctx, id, lease, put(id, fmt.Sprintf("%010d", n), string(value)),
				); errors.Is(err, wire.ErrBusy) {
					n, err = n-1, clock.Wait(ctx, clock.Real(), 10*time.Millisecond)
					continue
				}
				lease = lease.Next()
			}
			return err
		})
	}
}

// followsAll reports whether a server has a copy of every group that is not far
// behind.
func followsAll(ctx context.Context, h *Host, id wire.ServerID) bool {
	for g := range h.groups {
		all, err := h.Progress(ctx, uint32(g))
		if err != nil {
			return false
		}
		var most, its uint64
		for _, p := range all {
			most = max(most, p.Applied)
			if p.Server == id {
				its = p.Applied
			}
		}
		if its == 0 || its+50 < most {
			return false
		}
	}
	return true
}
