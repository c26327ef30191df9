package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// fakeMeta is a meta group that all nodes of a test share: what one proposes all
// have at once.
type fakeMeta struct {
	clock clock.Clock

	mu        sync.Mutex
	authority *pb.AuthorityEntry
	tokens    map[[32]byte]*pb.JoinToken
	nodes     map[string]*pb.NodeEntry
	version   uint32
	changed   chan struct{}
}

func newFakeMeta(c clock.Clock) *fakeMeta {
	return &fakeMeta{
		clock: c, authority: &pb.AuthorityEntry{}, tokens: map[[32]byte]*pb.JoinToken{},
		nodes: map[string]*pb.NodeEntry{}, changed: make(chan struct{}),
	}
}

// change carries out one proposal.
func (m *fakeMeta) change(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}

func (m *fakeMeta) Authority() *pb.AuthorityEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.authority
}

func (m *fakeMeta) PutAuthority(_ context.Context, a *pb.AuthorityEntry) error {
	return m.change(func() error {
		if a.GetVersion() != m.authority.GetVersion() {
			return wire.ErrMapChanged
		}
		m.authority = &pb.AuthorityEntry{Data: a.GetData(), Version: a.GetVersion() + 1}
		return nil
	})
}

func (m *fakeMeta) PutJoinToken(_ context.Context, hash [32]byte, expires time.Time) error {
	return m.change(func() error {
		m.tokens[hash] = &pb.JoinToken{Hash: hash[:], ExpiresMs: expires.UnixMilli()}
		return nil
	})
}

func (m *fakeMeta) UseJoinToken(_ context.Context, hash [32]byte, id wire.ServerID) error {
	return m.change(func() error {
		t := m.tokens[hash]
		switch {
		case t == nil || t.GetExpiresMs() <= m.clock.Now().UnixMilli():
			return wire.ErrTokenUnknown
		case t.GetUsedBy() != "" && t.GetUsedBy() != string(id):
			return wire.ErrTokenUsed
		}
		used := proto.CloneOf(t)
		used.UsedBy = string(id)
		m.tokens[hash] = used
		return nil
	})
}

func (m *fakeMeta) JoinToken(hash [32]byte) *pb.JoinToken {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tokens[hash]; t.GetExpiresMs() > m.clock.Now().UnixMilli() {
		return t
	}
	return nil
}

func (m *fakeMeta) Nodes() []*pb.NodeEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*pb.NodeEntry
	for _, n := range m.nodes {
		all = append(all, n)
	}
	return all
}

func (m *fakeMeta) Version() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

func (m *fakeMeta) PutNode(_ context.Context, n *pb.NodeEntry) error {
	return m.change(func() error {
		if m.nodes[n.GetServer()].GetRemoved() {
			return wire.ErrNodeRemoved
		}
		m.nodes[n.GetServer()] = n
		return nil
	})
}

func (m *fakeMeta) remove(id wire.ServerID) {
	_ = m.change(func() error {
		m.nodes[string(id)] = &pb.NodeEntry{Server: string(id), Removed: true}
		return nil
	})
}

func (m *fakeMeta) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// campus is a cluster's network without the cluster: some nodes on loopback and the
// meta group that they share.
type campus struct {
	t     testing.TB
	clock clock.Clock
	meta  *fakeMeta
	first *Network
}

// quick makes memberlist notice a death within some two seconds. Whoever is suspected has
// one and a half to say that it lives: on a busy machine nobody answers at once.
func quick(cfg *memberlist.Config) {
	cfg.ProbeInterval, cfg.ProbeTimeout = 100*time.Millisecond, 80*time.Millisecond
	cfg.GossipInterval = 20 * time.Millisecond
	cfg.SuspicionMult = 15
	cfg.DisableTcpPings = true
}

// newCampus founds a cluster with one node.
func newCampus(t testing.TB, c clock.Clock) *campus {
	t.Helper()
	w := &campus{t: t, clock: c, meta: newFakeMeta(c)}
	creds, err := Found(t.Context(), w.meta, "one", 3, rand.Reader, c.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.first = w.open(creds, func(*Config) {})
	return w
}

func (w *campus) config(creds *Credentials) Config {
	return Config{
		Listen: "127.0.0.1:0", Credentials: creds, Clock: w.clock, Logger: slog.New(slog.DiscardHandler), tune: quick,
	}
}

// open opens a node's network and gives it the meta group.
func (w *campus) open(creds *Credentials, configure func(*Config)) *Network {
	w.t.Helper()
	cfg := w.config(creds)
	configure(&cfg)
	n, err := Open(w.t.Context(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := n.shut(); err != nil {
			w.t.Error(err)
		}
	})
	n.Attach(w.meta)
	return n
}

// token makes a join token.
func (w *campus) token() Token {
	w.t.Helper()
	tok, _, err := w.first.NewToken(w.t.Context(), time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	return tok
}

func (w *campus) joinConfig(tok Token) JoinConfig {
	return JoinConfig{Token: tok, Name: "name", Zone: "zone", Clock: w.clock, Logger: slog.New(slog.DiscardHandler)}
}

// admitted joins a machine to the cluster.
func (w *campus) admitted() *Credentials {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), clustertest.Patience)
	defer cancel()
	creds, err := Join(ctx, w.joinConfig(w.token()))
	if err != nil {
		w.t.Fatal(err)
	}
	return creds
}

// grow joins a node, opens its network and waits until it has met the first.
func (w *campus) grow(configure ...func(*Config)) *Network {
	w.t.Helper()
	n := w.open(w.admitted(), func(cfg *Config) {
		cfg.Join = []string{w.first.Addr()}
		for _, f := range configure {
			f(cfg)
		}
	})
	acquainted(w.t, w.first, n)
	return n
}

// state is what a node's gossip thinks of another.
func state(n *Network, of wire.ServerID) MemberState {
	for _, m := range n.Members() {
		if m.Server == of {
			return m.State
		}
	}
	return MemberFailed
}

// acquainted waits until all see all.
func acquainted(t testing.TB, nodes ...*Network) {
	t.Helper()
	clustertest.WaitFor(t, func() bool {
		for _, n := range nodes {
			for _, other := range nodes {
				if state(n, other.Server()) != MemberAlive {
					return false
				}
			}
		}
		return true
	})
}

// echo makes a node send back what comes on streams of a kind, after the peer's
// name.
func echo(n *Network, kind Kind) {
	n.Handle(kind, func(_ context.Context, peer wire.ServerID, conn net.Conn) {
		defer conn.Close()
		fmt.Fprintf(conn, "%-20s", peer)
		_, _ = io.Copy(conn, conn)
	})
}

func probe() *pb.NodeCall { return &pb.NodeCall{Kind: &pb.NodeCall_Probe{Probe: &pb.NodeProbe{}}} }

func TestJoinedNodesTalk(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow(func(c *Config) { c.Name, c.Zone = "zwei", "attic" })
	three := w.grow()
	acquainted(t, w.first, two, three)

	// Two and three have never been told of each other by anybody but gossip and the
	// node table.
	for _, n := range []*Network{w.first, two, three} {
		for _, to := range []*Network{w.first, two, three} {
			a, err := n.Call(t.Context(), to.Server(), probe())
			if err != nil {
				t.Fatal(err)
			}
			if p := a.GetProbed(); p.GetServer() != string(to.Server()) || p.GetCluster() != w.first.Cluster() ||
				p.GetVersion() != wire.ProtocolVersion {
				t.Errorf("%s asked %s and got %v", n.Server(), to.Server(), p)
			}
		}
	}

	echo(three, KindExport)
	conn, err := two.Dial(t.Context(), three.Server(), KindExport)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "hello")
	got := make([]byte, 25)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != fmt.Sprintf("%-20shello", two.Server()) {
		t.Errorf("echo said %q, %v", got, err)
	}

	i := slices.IndexFunc(w.first.Members(), func(m Member) bool { return m.Server == two.Server() })
	want := Member{
		Server: two.Server(), Name: "zwei", Zone: "attic", Address: two.Addr(), Instance: two.Instance(),
		Version: wire.ProtocolVersion,
	}
	changing := cmpopts.IgnoreFields(Member{}, "Load", "Trusts", "Issuer", "State", "Since")
	if diff := cmp.Diff(want, w.first.Members()[i], changing); diff != "" {
		t.Errorf("what gossip knows (-want +got):\n%s", diff)
	}
	clustertest.WaitFor(t, func() bool { // the table has what each says of itself
		return w.meta.entry(two.Server()).GetName() == "zwei" && w.meta.entry(w.first.Server()).GetAddress() == w.first.Addr()
	})
}

func (m *fakeMeta) entry(id wire.ServerID) *pb.NodeEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes[string(id)]
}

func TestTokenAdmitsOneMachineOnce(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	try := func(cfg JoinConfig) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := Join(ctx, cfg)
			done <- err
		}()
		// A join that is not refused for good waits to try again.
		clustertest.WaitFor(t, func() bool { return len(done) > 0 || fake.WaitersIn(joinPause) > 0 })
		cancel()
		return <-done
	}

	tok := w.token()
	if err := try(w.joinConfig(tok)); err != nil {
		t.Fatal(err)
	}
	if err := try(w.joinConfig(tok)); !errors.Is(err, ErrJoinRefused) {
		t.Errorf("second use gave %v", err)
	}

	late := w.token()
	fake.Advance(time.Hour)
	if err := try(w.joinConfig(late)); !errors.Is(err, context.Canceled) {
		t.Errorf("expired token gave %v", err) // unknown here, perhaps elsewhere not
	}

	guess := w.token()
	guess.pb.Secret[0] ^= 1
	if err := try(w.joinConfig(guess)); !errors.Is(err, context.Canceled) {
		t.Errorf("guessed token gave %v", err)
	}

	// A node of another cluster must not learn the secret.
	other := newCampus(t, fake)
	astray := w.token()
	astray.pb.Addresses = []string{other.first.Addr()}
	if err := try(w.joinConfig(astray)); !errors.Is(err, ErrNotMember) {
		t.Errorf("token of another cluster gave %v", err)
	}
	if n := len(w.meta.Nodes()); n != 2 {
		t.Errorf("%d nodes in the table, want the first and the one that joined", n)
	}
}

func TestJoinSurvivesALostAnswer(t *testing.T) {
	w := newCampus(t, clock.Real())
	tok := w.token()
	// A proxy that loses the first answer: the token is spent, nobody has it.
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	var lost atomic.Bool
	go func() {
		for i := 0; ; i++ {
			in, err := proxy.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", w.first.Addr())
			if err != nil {
				return
			}
			if i > 0 {
				go pump(in, out)
				continue
			}
			go io.Copy(out, in)
			go func() { // until the token is spent: the handshake, and not the answer
				buf := make([]byte, 4096)
				for {
					size, err := out.Read(buf)
					if err != nil || w.meta.JoinToken(tok.hash()).GetUsedBy() != "" {
						break
					}
					_, _ = in.Write(buf[:size])
				}
				lost.Store(true)
				in.Close()
				out.Close()
			}()
		}
	}()
	tok.pb.Addresses = []string{proxy.Addr().String()}
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	creds, err := Join(ctx, w.joinConfig(tok))
	if err != nil {
		t.Fatal(err)
	}
	if !lost.Load() {
		t.Error("the first answer was not lost")
	}
	if by := w.meta.JoinToken(tok.hash()).GetUsedBy(); by != string(creds.Server()) {
		t.Errorf("token is spent for %q, joined as %q", by, creds.Server())
	}
	if n := len(w.meta.Nodes()); n != 2 {
		t.Errorf("%d nodes in the table, want 2", n)
	}
}

func TestTokenMakesNobodyAnotherNode(t *testing.T) {
	w := newCampus(t, clock.Real())
	victim := w.grow()
	tok := w.token()
	_, key, err := newNodeKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := newRequest(victim.Server(), key, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	j := &joiner{cfg: w.joinConfig(tok), id: victim.Server(), key: key, ask: &pb.JoinRequest{
		Secret: tok.pb.GetSecret(), Request: request, Node: &pb.NodeEntry{
			Server: string(victim.Server()), Version: wire.ProtocolVersion,
		},
	}}
	if _, err := j.try(t.Context(), w.first.Addr()); !errors.Is(err, ErrJoinRefused) {
		t.Errorf("joined as a node that exists: %v", err)
	}
}
