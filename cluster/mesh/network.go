package mesh

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
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
	// dialTimeout bounds the opening of a stream beside the caller's own deadline:
	// the address, TCP and two round trips of TLS. Machines of a cluster are near
	// each other; what takes longer is not there, and its caller has another.
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
// goroutine.
type Network struct {
	cfg       Config
	advertise string
	listener  net.Listener
	packets   net.PacketConn
	creds     atomic.Pointer[Credentials]
	pending   pendingConns
	calls     *calls
	gossip    *gossip
	members   *members

	// life ends when the network closes; everything it has started hangs on it.
	life context.Context
	end  context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	handlers map[Kind]func(ctx context.Context, peer wire.ServerID, conn net.Conn)
	streams  map[*stream]struct{}
	perPeer  map[wire.ServerID]int
	groups   map[uint32]*GroupStreams
	nodes    map[wire.ServerID]*pb.NodeEntry // the node table; nil before attach
	registry Registry                        // nil before attach
	actors   string                          // where the actors' own server listens
	spliced  map[string]*pendingConn         // by our address towards it
	pipes    map[net.Conn]struct{}           // both ends of each splice

	maintaining sync.Mutex // guards what follows
	entryPut    bool       // since the start
	settling    settling

	closeOnce sync.Once
}

// Open listens and begins to find the others. The context bounds the
// opening only.
func Open(ctx context.Context, cfg Config) (*Network, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Network{
		cfg:      cfg,
		handlers: map[Kind]func(context.Context, wire.ServerID, net.Conn){},
		streams:  map[*stream]struct{}{},
		perPeer:  map[wire.ServerID]int{},
		groups:   map[uint32]*GroupStreams{},
		spliced:  map[string]*pendingConn{},
		pipes:    map[net.Conn]struct{}{},
		pending:  pendingConns{hosts: map[string]int{}},
	}
	n.creds.Store(cfg.Credentials)
	if n.listener, n.packets, err = listen(ctx, cfg.Listen); err != nil {
		return nil, err
	}
	n.life, n.end = context.WithCancel(context.WithoutCancel(ctx))
	if n.advertise, err = advertised(cfg.Advertise, n.listener.Addr()); err != nil {
		return nil, errors.Join(err, n.closeListeners())
	}
	n.members = newMembers(n)
	n.calls = newCalls(n)
	n.Handle(KindCall, n.calls.serve)
	n.HandleCall((*pb.NodeCall_Probe)(nil), n.probed)
	n.HandleCall((*pb.NodeCall_Goodbye)(nil), n.members.goodbye)
	if n.gossip, err = openGossip(n); err != nil {
		return nil, errors.Join(err, n.closeListeners())
	}
	n.wg.Go(n.accept)
	n.wg.Go(n.members.notify)
	n.wg.Go(n.discover)
	n.wg.Go(n.maintain)
	if n.cfg.CPUTime != nil {
		n.wg.Go(n.gaugeLoad)
	}
	return n, nil
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
	return errors.Join(n.listener.Close(), n.packets.Close())
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

// Server returns this node's id.
func (n *Network) Server() wire.ServerID { return n.cfg.Credentials.Server() }

// Cluster returns the cluster's name.
func (n *Network) Cluster() string { return n.cfg.Credentials.Cluster() }

// Addr returns the host:port that other nodes dial.
func (n *Network) Addr() string { return n.advertise }

// stream is one connection between two nodes. It belongs to the one it was handed
// to, and known here so that it ends with the network, the peer or the group.
type stream struct {
	*tls.Conn
	n     *Network
	peer  wire.ServerID
	group *GroupStreams // nil unless KindRaft
	once  sync.Once
}

// Close closes the connection. It may be called twice.
func (s *stream) Close() error {
	var err error
	s.once.Do(func() {
		s.n.forget(s)
		err = s.Conn.Close()
	})
	return err
}

// cut ends the connection without a goodbye, which could wait for a peer that does
// not read. Its users see an error; raft keeps some in a pool that nobody uses
// any more when its group has ended.
func (s *stream) cut() {
	_ = s.NetConn().Close() // before the goodbye
	_ = s.Close()           // cannot say goodbye any more
}

// adopt makes a connection a stream of this network.
func (n *Network) adopt(conn *tls.Conn, peer wire.ServerID) (*stream, error) {
	s := &stream{Conn: conn, n: n, peer: peer}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return nil, ErrNetworkClosed
	case n.nodes[peer].GetRemoved():
		return nil, fmt.Errorf("%s: %w", peer, wire.ErrNodeRemoved)
	case n.perPeer[peer] >= maxStreams:
		return nil, fmt.Errorf("%s: %w", peer, errTooManyStreams)
	}
	n.streams[s] = struct{}{}
	n.perPeer[peer]++
	return s, nil
}

func (n *Network) forget(s *stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.streams, s)
	if n.perPeer[s.peer]--; n.perPeer[s.peer] == 0 {
		delete(n.perPeer, s.peer)
	}
}

// cutStreams ends the streams that match.
func (n *Network) cutStreams(match func(*stream) bool) {
	n.mu.Lock()
	var cut []*stream
	for s := range n.streams {
		if match(s) {
			cut = append(cut, s)
		}
	}
	n.mu.Unlock()
	for _, s := range cut {
		s.cut()
	}
}

// Dial opens a stream to a node; the error wraps ErrUnreachable, ErrNodeRemoved or
// ErrNetworkClosed. The caller closes the stream. The context bounds the dialling
// only, which takes at most dialTimeout.
func (n *Network) Dial(ctx context.Context, to wire.ServerID, kind Kind) (net.Conn, error) {
	address, err := n.addressOf(to)
	if err != nil {
		return nil, err
	}
	return n.dial(ctx, to, address, kind, 0)
}

// dial opens a stream to the node at an address; to may be empty where only the
// address is known.
func (n *Network) dial(
	ctx context.Context, to wire.ServerID, address string, kind Kind, group uint32,
) (*stream, error) {
	fail := func(err error) (*stream, error) {
		return nil, fmt.Errorf("dial %s at %s: %w: %w", to, address, wire.ErrUnreachable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := n.dialRaw(ctx, address, preambleMember)
	if err != nil {
		return fail(err)
	}
	conn := tls.Client(raw, n.clientTLS(to))
	if err := conn.HandshakeContext(ctx); err != nil {
		return fail(errors.Join(err, raw.Close()))
	}
	peer, err := serverOf(conn.ConnectionState().PeerCertificates[0].URIs)
	if err != nil {
		return fail(errors.Join(err, raw.Close()))
	}
	s, err := n.adopt(conn, peer)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	stop := context.AfterFunc(ctx, s.cut)
	_, err = s.Write(header{kind: kind, group: group}.bytes())
	if !stop() || err != nil {
		return fail(errors.Join(err, ctx.Err(), s.Close()))
	}
	return s, nil
}

// dialRaw connects to a node's port and says what comes.
func (n *Network) dialRaw(ctx context.Context, address string, preamble byte) (net.Conn, error) {
	if n.life.Err() != nil {
		return nil, ErrNetworkClosed
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write([]byte{preamble}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// addressOf says where a node is: gossip knows best, unless it has lost the node,
// then the node table.
func (n *Network) addressOf(id wire.ServerID) (string, error) {
	n.mu.Lock()
	entry := n.nodes[id]
	n.mu.Unlock()
	if entry.GetRemoved() {
		return "", fmt.Errorf("%s: %w", id, wire.ErrNodeRemoved)
	}
	seen, alive := n.members.address(id)
	if alive {
		return seen, nil
	}
	if address := cmp.Or(entry.GetAddress(), seen); address != "" {
		return address, nil
	}
	return "", fmt.Errorf("%w: nobody knows the address of %s", wire.ErrUnreachable, id)
}

// Handle registers what serves the streams of a kind; f owns the connection and
// closes it. The context ends when the network closes, which waits for f. peer is
// who the other side's certificate says.
func (n *Network) Handle(kind Kind, f func(ctx context.Context, peer wire.ServerID, conn net.Conn)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handlers[kind] = f
}

// Attach gives the network the meta group, which has the authority and the nodes'
// addresses. Before it only gossip says where anybody is. The host calls it.
func (n *Network) Attach(r Registry) {
	n.mu.Lock()
	n.registry = r
	n.mu.Unlock()
	n.refresh(r)
	n.run(func() { n.follow(r) })
}

// follow keeps the network's copy of the node table up to date, and wakes maintain.
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
	n.mu.Lock()
	n.nodes = table
	n.mu.Unlock()
	n.cutStreams(func(s *stream) bool { return table[s.peer].GetRemoved() })
	n.members.takeTable(table)
}

// run starts a goroutine that Close waits for; false when the network is closed.
func (n *Network) run(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.wg.Go(f)
	return true
}

// meta returns the meta group, nil before attach.
func (n *Network) meta() Registry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.registry
}

// table returns the node table, nil before attach. It is never changed.
func (n *Network) table() map[wire.ServerID]*pb.NodeEntry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.nodes
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
		n.mu.Lock()
		n.closed = true
		pipes := n.pipes
		n.pipes = map[net.Conn]struct{}{}
		n.mu.Unlock()
		err = n.gossip.close()
		err = errors.Join(err, n.closeListeners())
		for conn := range pipes {
			_ = conn.Close() // the two that copy find out
		}
		n.pending.closeAll()
		n.cutStreams(func(*stream) bool { return true })
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
	n.mu.Lock()
	streams := len(n.streams)
	n.mu.Unlock()
	return Status{
		Streams: streams, Pending: n.pending.count(),
		Rejected: n.pending.rejected.Load(), Crowded: n.pending.crowded.Load(),
	}
}
