package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Kind says what a stream between two nodes is for. The numbers are part of the
// protocol.
type Kind byte

// The kinds of streams.
const (
	// KindRaft carries one group's raft RPCs.
	KindRaft Kind = iota + 1
	// KindCall carries questions and answers; see Network.Call.
	KindCall
	// KindStore carries the files of one store.
	KindStore
	// KindGossip carries memberlist's exchanges of state.
	KindGossip
	// KindOperator carries HTTP requests of the operator interface.
	KindOperator
	// KindEvents carries an event stream.
	KindEvents
	// KindExport carries an export's bytes.
	KindExport
)

const (
	// dialTimeout bounds the opening of a stream beside the caller's own deadline: the
	// address, TCP and two round trips of TLS. Machines of a cluster are near each other: a
	// node that takes longer is not there, and the caller has others to ask.
	dialTimeout = 3 * time.Second
	// maxStreams bounds the streams of a peer, both ways together. The largest user is
	// raft with a handful per group.
	maxStreams = 4096
)

// Config says what a Network is made of. Listen, Credentials, Clock and
// Logger are required.
type Config struct {
	// Listen is where the node listens, host:port, TCP and UDP. Port 0 takes a
	// free one.
	Listen string
	// Advertise is the host:port that other nodes dial. Empty takes Listen, and
	// where that is every address of the machine, the first that is not loopback.
	Advertise string
	// Join are host:port of nodes to find the cluster by. A host name may have many
	// addresses. None of them needs to be there for ever: the node table knows all.
	Join []string
	// Name is what people call the node, Zone where it stands: replicas are spread
	// over zones. Each has at most maxNameBytes bytes.
	Name, Zone string
	// Credentials are this node's, made by Found or Join.
	Credentials *Credentials
	// Save keeps renewed credentials durably; they are used when it returned nil.
	// Nil keeps them in memory only, for tests.
	Save func(*Credentials) error
	// Clock measures certificates and waits; raft's and memberlist's own time-outs
	// follow the machine's.
	Clock clock.Clock
	// CPUTime returns the processor time that the process has used since its start,
	// user and system: the node's load is made of it. Nil tells a load of 0.
	CPUTime func() time.Duration
	// Logger receives what the network has to say.
	Logger *slog.Logger
	// Random makes keys. Nil is crypto/rand.
	Random io.Reader
	// Resolver finds the addresses of host names. Nil is net.DefaultResolver.
	Resolver Resolver

	// tune changes memberlist's pace, and seek is how often the others are looked
	// for; tests have less time. Zero leaves them.
	tune     func(*memberlist.Config)
	discover time.Duration
	// speaks is ProtocolVersion; a test has older nodes and newer ones.
	speaks uint32
}

// Resolver finds the addresses of a host name, as net.Resolver does.
type Resolver interface {
	LookupHost(ctx context.Context, host string) (addrs []string, err error)
}

// maxNameBytes bounds a node's name and its zone: with an address and some numbers
// they are in every node's gossip, which has 512 bytes for all of it.
const maxNameBytes = 64

func (c Config) withDefaults() (Config, error) {
	var errs []error
	if c.Credentials == nil {
		errs = append(errs, errors.New("cluster: NetworkConfig.Credentials is nil"))
	}
	if c.Clock == nil || c.Logger == nil {
		errs = append(errs, errors.New("cluster: NetworkConfig.Clock or Logger is nil"))
	}
	if _, err := portOf(c.Listen); err != nil {
		errs = append(errs, fmt.Errorf("cluster: listen: %w", err))
	}
	if c.Advertise != "" {
		if port, err := portOf(c.Advertise); err != nil || port == 0 {
			errs = append(errs, fmt.Errorf("cluster: advertise %q: want host:port", c.Advertise))
		}
	}
	for _, s := range []string{c.Name, c.Zone} {
		if len(s) > maxNameBytes {
			errs = append(errs, fmt.Errorf("cluster: name or zone %q is longer than %d bytes", s, maxNameBytes))
		}
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Resolver == nil {
		c.Resolver = net.DefaultResolver
	}
	if c.discover == 0 {
		c.discover = discoverEvery
	}
	if c.speaks == 0 {
		c.speaks = wire.ProtocolVersion
	}
	if c.Save == nil {
		c.Save = func(*Credentials) error { return nil }
	}
	return c, errors.Join(errs...)
}

func portOf(address string) (int, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("%q is not host:port", address)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q has no port from 0 to 65535", address)
	}
	return int(n), nil
}

// Errors of the network.
var (
	// ErrNetworkClosed means that the network is closed or closing.
	ErrNetworkClosed = errors.New("cluster network is closed")
	// errTooManyStreams means that a peer has maxStreams open.
	errTooManyStreams = errors.New("too many streams with one node")
)

// Registry is what the network reads and writes in the meta group. *Meta is it;
// reads are of the local copy, which readers must not change.
type Registry interface {
	Authority() *pb.AuthorityEntry
	PutAuthority(ctx context.Context, a *pb.AuthorityEntry) error
	PutJoinToken(ctx context.Context, hash [32]byte, expires time.Time) error
	UseJoinToken(ctx context.Context, hash [32]byte, id wire.ServerID) error
	JoinToken(hash [32]byte) *pb.JoinToken
	Nodes() []*pb.NodeEntry
	Version() uint32
	PutNode(ctx context.Context, node *pb.NodeEntry) error
	Changed() <-chan struct{}
}

// Network is a node's place among the others: one port that carries everything
// they say to each other, and who they are. All methods may be called from any
// goroutine. The parts that it embeds answer its callers; doc.go says what they are.
type Network struct {
	*node
	*streams
	*dialer
	*calls
	*members
	*actorPort
	*maintenance
	*admission

	door    *door
	gossip  *gossip
	packets net.PacketConn

	closeOnce sync.Once
}

// Open listens and begins to find the others. The context bounds the
// opening only.
func Open(ctx context.Context, cfg Config) (*Network, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	me := &node{cfg: cfg}
	me.creds.Store(cfg.Credentials)
	listener, packets, err := listen(ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	me.life, me.end = context.WithCancel(context.WithoutCancel(ctx))
	if me.advertise, err = advertised(cfg.Advertise, listener.Addr()); err != nil {
		me.end()
		return nil, errors.Join(err, listener.Close(), packets.Close())
	}
	n := assemble(me, listener, packets)
	n.Handle(KindCall, n.calls.serve)
	n.HandleCall((*pb.NodeCall_Probe)(nil), me.probed)
	n.HandleCall((*pb.NodeCall_Goodbye)(nil), n.members.goodbye)
	if n.gossip, err = openGossip(me, n.streams, n.dialer, n.calls, n.members, packets); err != nil {
		return nil, errors.Join(err, n.closeListeners())
	}
	n.maintenance.gossip = n.gossip
	me.wg.Go(n.door.accept)
	me.wg.Go(n.members.notify)
	me.wg.Go(n.gossip.discover)
	me.wg.Go(n.maintenance.run)
	if cfg.CPUTime != nil {
		me.wg.Go(n.gossip.gaugeLoad)
	}
	return n, nil
}

// assemble makes the parts of a network but gossip. Nothing runs yet.
func assemble(me *node, l net.Listener, packets net.PacketConn) *Network {
	n := &Network{node: me, streams: newStreams(me), members: newMembers(me), packets: packets}
	n.dialer = &dialer{node: me, streams: n.streams, members: n.members}
	n.calls = newCalls(me, n.dialer)
	n.actorPort = newActorPort(me, n.dialer)
	n.maintenance = &maintenance{node: me, members: n.members}
	n.admission = &admission{node: me, members: n.members}
	n.door = &door{
		node: me, listener: l, pending: newPendingConns(me.cfg.Logger),
		streams: n.streams, actors: n.actorPort, admission: n.admission,
	}
	return n
}

// listenTries bounds the search for a port that is free for both TCP and UDP.
const listenTries = 10

func listen(ctx context.Context, address string) (net.Listener, net.PacketConn, error) {
	var lc net.ListenConfig
	port, err := portOf(address)
	if err != nil {
		return nil, nil, err
	}
	tries := 1
	if port == 0 {
		tries = listenTries
	}
	for range tries {
		var l net.Listener
		if l, err = lc.Listen(ctx, "tcp", address); err != nil {
			continue
		}
		var p net.PacketConn
		if p, err = lc.ListenPacket(ctx, "udp", l.Addr().String()); err == nil {
			return l, p, nil
		}
		err = errors.Join(err, l.Close())
	}
	return nil, nil, fmt.Errorf("cluster: listen: %w", err)
}

func (n *Network) closeListeners() error {
	n.end()
	return errors.Join(n.door.listener.Close(), n.packets.Close())
}

// advertised is the host:port that others dial.
func advertised(given string, listening net.Addr) (string, error) {
	if given != "" {
		return given, nil
	}
	addr, ok := listening.(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("cluster: listening on %v, not TCP", listening)
	}
	if !addr.IP.IsUnspecified() {
		return addr.String(), nil
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("cluster: addresses of this machine: %w", err)
	}
	for _, a := range all {
		if ipnet, ok := a.(*net.IPNet); ok && ipnet.IP.IsGlobalUnicast() {
			return net.JoinHostPort(ipnet.IP.String(), strconv.Itoa(addr.Port)), nil
		}
	}
	return "", errors.New(
		"cluster: this machine has no address that others could dial; say which with --cluster-advertise",
	)
}

// Attach gives the network the meta group, which has the authority and the nodes'
// addresses. Before it only gossip says where anybody is. The host calls it.
func (n *Network) Attach(r Registry) {
	n.node.mu.Lock()
	n.registry = r
	n.node.mu.Unlock()
	n.refresh(r)
	n.node.run(func() { n.follow(r) })
}

// follow keeps the network's copy of the node table up to date, and wakes maintenance.
func (n *Network) follow(r Registry) {
	for {
		changed := r.Changed() // before reading, so that nothing is missed
		n.refresh(r)
		n.members.wakeMaintain()
		select {
		case <-changed:
		case <-n.life.Done():
			return
		}
	}
}

// refresh takes over the node table.
func (n *Network) refresh(r Registry) {
	table := map[wire.ServerID]*pb.NodeEntry{}
	for _, e := range r.Nodes() {
		table[wire.ServerID(e.GetServer())] = e
	}
	n.node.mu.Lock()
	n.nodes = table
	n.node.mu.Unlock()
	n.streams.cut(func(s *stream) bool { return table[s.peer].GetRemoved() })
	n.members.takeTable(table)
}

// Close says goodbye to the others, so that nobody takes it for a failure, and
// ends everything. It waits and may be called twice. Close the host first.
func (n *Network) Close() error {
	n.gossip.leave()
	return n.shut()
}

// shut ends everything without a goodbye.
func (n *Network) shut() error {
	var err error
	n.closeOnce.Do(func() {
		n.node.mu.Lock()
		n.node.closed = true
		n.node.mu.Unlock()
		err = n.gossip.close()
		err = errors.Join(err, n.closeListeners())
		n.actorPort.close()
		n.door.pending.closeAll()
		n.streams.cut(func(*stream) bool { return true })
		n.wg.Wait()
	})
	return err
}

// Status counts what happens at the door.
type Status struct {
	Streams  int    // open, both ways
	Pending  int    // at the door: not known yet
	Rejected uint64 // sent away: no certificate of ours, or too slow
	Crowded  uint64 // sent away: too many at the door
}

// Status reports the network.
func (n *Network) Status() Status {
	return Status{
		Streams: n.streams.count(), Pending: n.door.pending.count(),
		Rejected: n.door.pending.rejected.Load(), Crowded: n.door.pending.crowded.Load(),
	}
}

// Load is what this node says of how busy it is, in thousandths of what it can do.
func (n *Network) Load() uint32 { return n.gossip.load() }

// SetLeaving says whether this node is being drained or on its way out.
func (n *Network) SetLeaving(leaving bool) {
	n.gossip.change(func(m *pb.NodeMeta) { m.Leaving = leaving })
}

// Instance names this start of the node: no other ever has the same.
func (n *Network) Instance() string { return n.gossip.meta.GetInstance() } // never changed
