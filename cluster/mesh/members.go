package mesh

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// MemberState says what gossip thinks of a node.
type MemberState byte

// The states of a member.
const (
	// MemberAlive answers.
	MemberAlive MemberState = iota
	// MemberLeft said goodbye: it was stopped on purpose.
	MemberLeft
	// MemberFailed stopped answering, or has not been heard of since this node
	// started.
	MemberFailed
)

// String returns alive, left or failed.
func (s MemberState) String() string {
	switch s {
	case MemberAlive:
		return "alive"
	case MemberLeft:
		return "left"
	case MemberFailed:
		return "failed"
	}
	return "unknown"
}

// Member is one node as gossip knows it. Of a node that is only in the node table,
// what gossip would tell is missing.
type Member struct {
	Server   wire.ServerID
	Name     string
	Zone     string
	Address  string // host:port of its cluster listener
	Instance string // new with every start
	Version  uint32 // of the protocol it speaks
	Load     uint32 // thousandths of what it can do, of some seconds
	Leaving  bool   // being drained or on its way out
	Trusts   uint64 // newest generation of the authority that it trusts
	Issuer   uint64 // generation its certificate comes from
	State    MemberState
	Since    time.Time // of State, by this node's clock
}

// members are the nodes that gossip has told of, and those in the node table.
type members struct {
	node        *node
	changes     chan struct{} // holds one: something has changed since notify looked
	maintaining chan struct{} // the same for maintenance

	mu       sync.Mutex // guards what follows
	all      map[wire.ServerID]Member
	watchers map[*watcher]struct{}
}

// watcher is one Watch. Its lock is held while it is being told.
type watcher struct {
	mu sync.Mutex
	f  func([]Member) // nil when it has ended
}

func newMembers(n *node) *members {
	return &members{
		node: n, all: map[wire.ServerID]Member{}, watchers: map[*watcher]struct{}{},
		changes: make(chan struct{}, 1), maintaining: make(chan struct{}, 1),
	}
}

func (m *members) list() []Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.all), func(a, b Member) int { return cmp.Compare(a.Server, b.Server) })
}

// notify calls the watchers until the network closes. memberlist must not be made to
// wait for them: it holds its lock while it calls us.
func (m *members) notify() {
	for {
		select {
		case <-m.changes:
		case <-m.node.life.Done():
			return
		}
		m.mu.Lock()
		watchers := make([]*watcher, 0, len(m.watchers))
		for w := range m.watchers {
			watchers = append(watchers, w)
		}
		m.mu.Unlock()
		for _, w := range watchers {
			w.mu.Lock()
			if w.f != nil {
				w.f(m.list())
			}
			w.mu.Unlock()
		}
	}
}

// wake says that something has changed.
func (m *members) wake() {
	select {
	case m.changes <- struct{}{}:
	default: // it will be seen with what is noted already
	}
	m.wakeMaintain()
}

func (m *members) wakeMaintain() {
	select {
	case m.maintaining <- struct{}{}:
	default: // as above
	}
}

// heard notes a node that gossip calls alive.
func (m *members) heard(id wire.ServerID, meta *pb.NodeMeta) {
	m.mu.Lock()
	old, known := m.all[id]
	if known && old.State == MemberLeft && old.Instance == meta.GetInstance() {
		m.mu.Unlock()
		return // an echo of a member that said goodbye
	}
	now := Member{
		Server: id, Name: meta.GetName(), Zone: meta.GetZone(), Address: meta.GetAddress(), Instance: meta.GetInstance(),
		Version: meta.GetVersion(), Load: meta.GetLoad(), Leaving: meta.GetLeaving(),
		Trusts: meta.GetTrusts(), Issuer: meta.GetIssuer(),
		State: MemberAlive, Since: m.node.cfg.Clock.Now(),
	}
	if known && old.State == MemberAlive && old.Instance == now.Instance {
		now.Since = old.Since
	}
	m.all[id] = now
	m.mu.Unlock()
	m.wake()
}

// lost notes a node that gossip has given up.
func (m *members) lost(id wire.ServerID) { m.gone(id, MemberFailed) }

// gone notes that a node is not alive any more.
func (m *members) gone(id wire.ServerID, state MemberState) {
	m.mu.Lock()
	who, known := m.all[id]
	if !known || who.State != MemberAlive {
		m.mu.Unlock()
		return
	}
	who.State, who.Since = state, m.node.cfg.Clock.Now()
	m.all[id] = who
	m.mu.Unlock()
	m.wake()
}

// goodbye answers a NodeGoodbye. memberlist knows the difference between leaving
// and failing, and does not tell it.
func (m *members) goodbye(_ context.Context, peer wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error) {
	m.mu.Lock()
	same := m.all[peer].Instance == call.GetGoodbye().GetInstance()
	m.mu.Unlock()
	if same {
		m.gone(peer, MemberLeft)
	}
	return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Done{Done: &pb.Empty{}}}, nil
}

// takeTable takes over the node table: a node that was removed is no member, and one that
// nobody has heard of counts as missing from now on.
func (m *members) takeTable(table map[wire.ServerID]*pb.NodeEntry) {
	m.mu.Lock()
	changed := false
	for id, e := range table {
		old, known := m.all[id]
		switch {
		case e.GetRemoved() && known:
			delete(m.all, id)
			changed = true
		case !e.GetRemoved() && (!known || old.Instance == ""):
			who := Member{
				Server: id, Name: e.GetName(), Zone: e.GetZone(), Address: e.GetAddress(), Version: e.GetVersion(),
				State: MemberFailed, Since: m.node.cfg.Clock.Now(),
			}
			if known {
				who.Since = old.Since
			}
			m.all[id] = who
			changed = changed || who != old
		}
	}
	m.mu.Unlock()
	if changed {
		m.wake()
	}
}

// address is where gossip last saw a node, and whether it is still there.
func (m *members) address(id wire.ServerID) (address string, alive bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	who := m.all[id]
	return who.Address, who.State == MemberAlive && who.Address != ""
}

// peers are the alive members beside this node.
func (m *members) peers() []Member {
	return slices.DeleteFunc(m.list(), func(who Member) bool {
		return who.State != MemberAlive || who.Server == m.node.Server()
	})
}

// Members returns the nodes that gossip or the node table knows and that were not
// removed, this one included, by id.
func (m *members) Members() []Member { return m.list() }

// InstanceOf names the start of a node that gossip has last heard of; "" where it has
// heard of none.
func (m *members) InstanceOf(server wire.ServerID) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[server].Instance
}

// Watch calls f with the members, now and after every change, from one goroutine;
// f misses states that were overtaken while it ran, never the last one. The
// function it returns ends that and waits for f; f must not call it.
func (m *members) Watch(f func([]Member)) (stop func()) {
	w := &watcher{f: f}
	m.mu.Lock()
	m.watchers[w] = struct{}{}
	m.mu.Unlock()
	m.wake()
	return func() {
		m.mu.Lock()
		delete(m.watchers, w)
		m.mu.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.f = nil
	}
}
