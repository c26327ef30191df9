package actors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/peer"
	"orgmem/actors/tenant"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// town is several nodes over one log and one set of stores, as if each had a
// replica that is always up to date: where organizations live is the test's to
// say, and fencing is real.
type town struct {
	t     *testing.T
	nodes map[wire.ServerID]*townNode

	mu     sync.Mutex
	leader wire.ServerID // of all shards; empty: none
	cut    bool          // between all nodes
	down   bool          // likewise, connections alone
	many   bool          // who does not know the leader's name may ask all
	pipes  []net.Conn    // connections that were made
	seen   func(from wire.ServerID, m proto.Message) (lost bool)
	// nil: it is on its way no longer than the others
	held func(from wire.ServerID, m proto.Message) (until <-chan struct{})
}

// townNode is one node: what it is to the System, and the System.
type townNode struct {
	*testNode
	town   *town
	self   wire.ServerID
	system *actor.ActorSystem
	lost   func(wire.ServerID, bool)
	leads  tenant.LeadershipListener

	mu      sync.Mutex
	events  func(context.Context, wire.ServerID, net.Conn)
	believe wire.ServerID // who this node thinks leads; empty: who does
	carried int           // messages that came in
	stopped bool          // its connections have ended
	looked  int           // questions for the leader
	starts  int           // of which the others have heard
}

// again makes the others hear that the node was started again.
func (n *townNode) again() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.starts++
}

// InstanceOf names a node's newest start.
func (n *townNode) InstanceOf(server wire.ServerID) string {
	of := n.town.at(server)
	of.mu.Lock()
	defer of.mu.Unlock()
	return fmt.Sprintf("%s, start %d", server, of.starts)
}

func startTown(t *testing.T, names ...wire.ServerID) *town {
	t.Helper()
	return startTownWith(t, func(*tenant.Config, *storage.Options) {}, names...)
}

func startTownWith(t *testing.T, change func(*tenant.Config, *storage.Options), names ...wire.ServerID) *town {
	t.Helper()
	w := &town{t: t, nodes: map[wire.ServerID]*townNode{}, leader: names[0]}
	first := startNode(t, storagetest.NewDisk())
	for _, name := range names {
		n := &townNode{town: w, self: name}
		w.nodes[name] = n
		n.testNode = &testNode{
			t: t, disk: first.disk, store: first.store, host: first.host, clock: first.clock,
			jobs: map[pb.JobID]bool{},
		}
		n.finished = sync.NewCond(&n.testNode.mu)
		cfg := tenant.Config{
			Platform: tenant.Platform{
				Host: first.host, Storage: first.store, Clock: clock.Real(), Random: rand.Reader,
				Logger: slog.New(slog.DiscardHandler),
			},
			Models: tenant.Models{Embedder: wordEmbedder{id: "words"}},
			Bounds: tenant.Bounds{Workers: 1},
		}
		change(&cfg, nil)
		cfg.JobFinished = func(id pb.JobID) {
			n.testNode.mu.Lock()
			n.jobs[id] = true
			n.testNode.mu.Unlock()
			n.finished.Broadcast()
		}
		var err error
		if n.sys, err = Start(cfg, &peer.Config{Placement: n, Remote: n, Network: n}); err != nil {
			t.Fatal(err)
		}
		n.leads.Of(n.sys.System)
		t.Cleanup(func() {
			if err := n.sys.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return w
}

func (w *town) at(name wire.ServerID) *townNode { return w.nodes[name] }

// lead moves all shards, and tells those whom it concerns.
func (w *town) lead(name wire.ServerID) {
	w.mu.Lock()
	was := w.leader
	w.leader = name
	w.mu.Unlock()
	for server, leads := range map[wire.ServerID]bool{was: false, name: true} {
		n := w.nodes[server]
		if n == nil {
			continue // nobody
		}
		for shard := range n.host.Shards() {
			n.leads.OnLead(uint32(shard+1), leads)
		}
	}
}

// handOver moves all shards as a host does that is asked to: whoever led answers no
// more, has its time to write, and only then another one leads.
func (w *town) handOver(to wire.ServerID) {
	w.mu.Lock()
	was := w.nodes[w.leader]
	w.leader = ""
	w.mu.Unlock()
	for shard := range was.host.Shards() {
		was.leads.OnLead(uint32(shard+1), false)
		was.leads.OnHandOver(uint32(shard + 1))
	}
	w.lead(to)
}

// sever cuts or mends all connections.
func (w *town) sever(cut bool) {
	w.mu.Lock()
	w.cut = cut
	w.mu.Unlock()
	if !cut {
		return
	}
	for _, n := range w.nodes {
		for other := range w.nodes {
			if other != n.self {
				n.lost(other, true)
			}
		}
	}
}

// bridge ends the connections that events come by and allows no more, or allows them
// again.
func (w *town) bridge(up bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = !up
	for _, pipe := range w.pipes {
		_ = pipe.Close()
	}
	w.pipes = nil
}

func (w *town) now() (leader wire.ServerID, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leader, w.cut
}

// Placement.

func (n *townNode) Server() wire.ServerID { return n.self }

func (n *townNode) Lead(pb.OrgID) error {
	if leader, _ := n.town.now(); leader != n.self {
		return wire.ErrNotLeader
	}
	return nil
}

func (n *townNode) Leader(pb.OrgID) (wire.ServerID, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looked++
	if n.believe != "" {
		return n.believe, true
	}
	leader, _ := n.town.now()
	return leader, leader != ""
}

func (n *townNode) Candidates(org pb.OrgID) []wire.ServerID {
	var ids []wire.ServerID
	if leader, ok := n.Leader(org); ok {
		ids = append(ids, leader)
	}
	n.town.mu.Lock()
	defer n.town.mu.Unlock()
	for id := range n.town.nodes {
		if n.town.many && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (*townNode) Draining() bool                   { return false }
func (*townNode) NoteLeader(uint32, wire.ServerID) {}
func (*townNode) LeadersChanged() <-chan struct{}  { return nil }

func (n *townNode) Shard(org pb.OrgID) uint32 { return n.host.Shard(org) }

func (n *townNode) Leads() (shards []uint32) {
	if n.Lead(pb.OrgID{}) == nil {
		for shard := range n.host.Shards() {
			shards = append(shards, uint32(shard+1))
		}
	}
	return shards
}

// Remote.

const townGateway = "organizations"

func (n *townNode) Start(system *actor.ActorSystem, _ []string, lost func(wire.ServerID, bool)) error {
	n.system, n.lost = system, lost
	system.ProcessRegistry.Address = string(n.self)
	system.ProcessRegistry.RegisterAddressResolver(func(pid *actor.PID) (actor.Process, bool) {
		return townWire{from: n, to: n.town.at(wire.ServerID(pid.GetAddress()))}, true
	})
	return nil
}

func (n *townNode) At(server wire.ServerID) *actor.PID {
	return actor.NewPID(string(server), townGateway)
}

func (n *townNode) Owner(org pb.OrgID) (*actor.PID, bool) {
	leader, ok := n.Leader(org)
	return n.At(leader), ok
}

func (*townNode) Reachable(wire.ServerID) bool { return true }

// Stop ends the connections: what is on its way is lost, and the others hear of it.
func (n *townNode) Stop() {
	n.mu.Lock()
	n.stopped = true
	n.mu.Unlock()
	for name, other := range n.town.nodes {
		if name != n.self && other.lost != nil {
			other.lost(n.self, true)
		}
	}
}

func (n *townNode) ended() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopped
}

// townWire carries messages as bytes.
type townWire struct{ from, to *townNode }

func (p townWire) SendUserMessage(pid *actor.PID, message any) {
	_, m, sender := actor.UnwrapEnvelope(message)
	if _, cut := p.from.town.now(); cut {
		return
	}
	in := m.(proto.Message)
	raw, err := proto.Marshal(in)
	out := in.ProtoReflect().New().Interface()
	if err == nil {
		err = proto.Unmarshal(raw, out)
	}
	if err != nil {
		p.from.t.Error(err)
		return
	}
	p.from.town.mu.Lock()
	seen, held := p.from.town.seen, p.from.town.held
	p.from.town.mu.Unlock()
	if seen != nil && seen(p.from.self, out) {
		return
	}
	if held != nil {
		if until := held(p.from.self, out); until != nil {
			go func() {
				<-until
				p.deliver(pid, out, sender)
			}()
			return
		}
	}
	p.deliver(pid, out, sender)
}

func (p townWire) deliver(pid *actor.PID, m proto.Message, sender *actor.PID) {
	if p.from.ended() || p.to.ended() {
		return
	}
	p.to.mu.Lock()
	p.to.carried++
	p.to.mu.Unlock()
	if sender != nil {
		sender = actor.NewPID(string(p.from.self), sender.GetId())
	}
	p.to.system.Root.Send(actor.NewPID(pid.GetAddress(), pid.GetId()), &actor.MessageEnvelope{Message: m, Sender: sender})
}

func (townWire) SendSystemMessage(*actor.PID, any) {}
func (townWire) Stop(*actor.PID)                   {}

// Network.

func (n *townNode) Handle(kind mesh.Kind, f func(context.Context, wire.ServerID, net.Conn)) {
	if kind == mesh.KindEvents {
		n.events = f
	}
}

func (n *townNode) Dial(_ context.Context, to wire.ServerID, _ mesh.Kind) (net.Conn, error) {
	n.town.mu.Lock()
	defer n.town.mu.Unlock()
	if n.town.cut || n.town.down {
		return nil, errors.New("no way there")
	}
	near, far := net.Pipe()
	n.town.pipes = append(n.town.pipes, near)
	go n.town.at(to).events(context.Background(), n.self, far)
	return near, nil
}

func (n *townNode) client(key string) client { return client{n: n.testNode, key: key} }

// operator is the operator interface of a node.
func (n *townNode) operator() account.Operator { return n.sys.Operator() }

func (w *town) org(at wire.ServerID, plan string) account.CreatedOrg {
	w.t.Helper()
	made, err := w.at(at).operator().CreateOrg(w.t.Context(), account.NewOrg{
		Name: "Acme", OwnerEmail: "owner@example.com",
		Plan: plan,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// within bounds an envelope's deadline.
func within(op *pb.Envelope, d time.Duration) *pb.Envelope {
	op.DeadlineMs = time.Now().Add(d).UnixMilli()
	return op
}
