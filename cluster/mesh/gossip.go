package mesh

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// goodbyeTimeout bounds how long a node that stops waits until the others know. A node
	// that does not hear of it takes it for a failure, which is safe.
	goodbyeTimeout = time.Second
	// updateTimeout bounds how long a change of what a node says of itself waits to be
	// sent; one that was not sent is tried again when the node looks after its entry.
	updateTimeout = time.Second
	// reclaimAfter is how long a node must be dead before it may come back with
	// another address: so long that no packet of the old one is under way.
	reclaimAfter = time.Second
	// maxPacket is the largest UDP packet there is.
	maxPacket = 64 << 10
)

// gossip hides memberlist: who is there, over UDP packets that are encrypted with
// the authority's gossip key, and over streams of kind gossip. It is memberlist's
// transport and its delegate.
type gossip struct {
	*node
	dialer  *dialer
	calls   *calls
	members *members
	socket  net.PacketConn
	list    *memberlist.Memberlist
	keys    *memberlist.Keyring
	packets chan *memberlist.Packet
	streams chan net.Conn

	closeOnce sync.Once
	closed    chan struct{}

	mu     sync.Mutex // guards what follows
	meta   *pb.NodeMeta
	untold bool // others may not have heard meta as it is
	left   bool
}

// openGossip starts to listen to others and to tell them of this node, once
// somebody is found.
func openGossip(n *node, all *streams, d *dialer, c *calls, m *members, socket net.PacketConn) (*gossip, error) {
	instance := make([]byte, 8)
	if _, err := io.ReadFull(n.cfg.Random, instance); err != nil {
		return nil, fmt.Errorf("cluster: draw an instance: %w", err)
	}
	creds := n.creds.Load()
	g := &gossip{
		node: n, dialer: d, calls: c, members: m, socket: socket,
		packets: make(chan *memberlist.Packet),
		streams: make(chan net.Conn),
		closed:  make(chan struct{}),
		meta: &pb.NodeMeta{
			Address: n.advertise, Name: n.cfg.Name, Zone: n.cfg.Zone, Instance: hex.EncodeToString(instance),
			Version: n.cfg.speaks, Trusts: creds.trusts(), Issuer: creds.issuer,
		},
	}
	if size := proto.Size(g.meta) + metaSlack; size > memberlist.MetaMaxSize {
		return nil, fmt.Errorf(
			"cluster: address, name and zone take %d bytes of gossip, limit %d", size, memberlist.MetaMaxSize,
		)
	}
	primary, err := creds.gossipKey()
	if err != nil {
		return nil, err
	}
	if g.keys, err = memberlist.NewKeyring(creds.gossipKeys(), primary); err != nil {
		return nil, fmt.Errorf("cluster: gossip keys: %w", err)
	}
	port, err := portOf(n.advertise)
	if err != nil {
		return nil, err
	}
	// The LAN defaults: a dead node is noticed after about 5 s, at two packets a
	// second. What waits for a dead node waits for raft, which notices in one.
	cfg := memberlist.DefaultLANConfig()
	cfg.Name = string(n.Server())
	cfg.Transport = g
	cfg.BindPort, cfg.AdvertisePort = port, port
	cfg.Keyring = g.keys
	cfg.Delegate, cfg.Events, cfg.Alive = g, g, g
	cfg.EnableCompression = false // some hundred bytes
	cfg.DeadNodeReclaimTime = reclaimAfter
	cfg.Logger = log.New(logWriter{n.cfg.Logger}, "", 0)
	if n.cfg.tune != nil {
		n.cfg.tune(cfg)
	}
	all.Handle(KindGossip, g.receive)
	if g.list, err = memberlist.Create(cfg); err != nil {
		g.stop()
		return nil, fmt.Errorf("cluster: start gossip: %w", err)
	}
	n.wg.Go(g.listen)
	return g, nil
}

// metaSlack is what the numbers and flags of NodeMeta may still grow by.
const metaSlack = 40

// logWriter makes debug lines of memberlist's log: it warns of every packet that a
// stranger sends.
type logWriter struct{ to *slog.Logger }

func (w logWriter) Write(line []byte) (int, error) {
	w.to.Debug("cluster: gossip", "said", strings.TrimSpace(string(line)))
	return len(line), nil
}

// stop ends listening for memberlist.
func (g *gossip) stop() { g.closeOnce.Do(func() { close(g.closed) }) }

// listen hands packets to memberlist until the socket is closed.
func (g *gossip) listen() {
	buf := make([]byte, maxPacket)
	for {
		size, from, err := g.socket.ReadFrom(buf)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // an ICMP answer to a packet of ours; not about this one
		}
		p := &memberlist.Packet{Buf: slices.Clone(buf[:size]), From: from, Timestamp: g.cfg.Clock.Now()}
		select {
		case g.packets <- p:
		case <-g.closed:
			return
		}
	}
}

// receive hands a stream to memberlist, which closes it.
func (g *gossip) receive(_ context.Context, _ wire.ServerID, conn net.Conn) {
	select {
	case g.streams <- conn:
	case <-g.closed:
		_ = conn.Close() // nobody wants it
	}
}

// FinalAdvertiseAddr is memberlist.Transport's. memberlist wants an address where
// we have perhaps a name.
func (g *gossip) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	host, port, err := net.SplitHostPort(g.advertise)
	if err != nil {
		return nil, 0, err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, 0, err
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip, number, nil
	}
	ctx, cancel := context.WithTimeout(g.life, dialTimeout)
	defer cancel()
	found, err := g.cfg.Resolver.LookupHost(ctx, host)
	if err != nil || len(found) == 0 {
		return nil, 0, fmt.Errorf("address of %s: %w", host, err)
	}
	return net.ParseIP(found[0]), number, nil
}

// WriteTo is memberlist.Transport's.
func (g *gossip) WriteTo(b []byte, addr string) (time.Time, error) {
	return g.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress is memberlist.NodeAwareTransport's.
func (g *gossip) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	to, err := net.ResolveUDPAddr("udp", a.Addr) // memberlist has numbers only
	if err != nil {
		return time.Time{}, err
	}
	_, err = g.socket.WriteTo(b, to)
	return g.cfg.Clock.Now(), err
}

// PacketCh is memberlist.Transport's.
func (g *gossip) PacketCh() <-chan *memberlist.Packet { return g.packets }

// DialTimeout is memberlist.Transport's.
func (g *gossip) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return g.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout is memberlist.NodeAwareTransport's. The name is missing where
// the cluster is still being looked for; any of its nodes will do then.
func (g *gossip) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(g.life, timeout)
	defer cancel()
	s, err := g.dialer.dial(ctx, wire.ServerID(a.Name), a.Addr, KindGossip, 0)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// StreamCh is memberlist.Transport's.
func (g *gossip) StreamCh() <-chan net.Conn { return g.streams }

// Shutdown is memberlist.Transport's.
func (g *gossip) Shutdown() error {
	g.stop()
	return nil
}

// NodeMeta is memberlist.Delegate's: what is said of this node.
func (g *gossip) NodeMeta(int) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, err := proto.Marshal(g.meta)
	if err != nil {
		return nil // strings that are not UTF-8, which the configuration refuses
	}
	return b
}

// NotifyMsg is memberlist.Delegate's; nobody sends any.
func (g *gossip) NotifyMsg([]byte) {}

// GetBroadcasts is memberlist.Delegate's.
func (g *gossip) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState is memberlist.Delegate's.
func (g *gossip) LocalState(bool) []byte { return nil }

// MergeRemoteState is memberlist.Delegate's.
func (g *gossip) MergeRemoteState([]byte, bool) {}

// NotifyAlive is memberlist.AliveDelegate's: who may be a member.
func (g *gossip) NotifyAlive(node *memberlist.Node) error {
	if g.table()[wire.ServerID(node.Name)].GetRemoved() {
		return wire.ErrNodeRemoved
	}
	meta, err := metaOf(node)
	if r := g.node.meta(); err == nil && r != nil && meta.GetVersion() < r.Version() {
		// It has not heard yet that it must not go on; nobody counts on it meanwhile.
		return fmt.Errorf(
			"%s speaks version %d, the cluster %d: %w", node.Name, meta.GetVersion(), r.Version(), wire.ErrOutdated,
		)
	}
	return err
}

func metaOf(node *memberlist.Node) (*pb.NodeMeta, error) {
	if err := wire.CheckServerID(node.Name); err != nil {
		return nil, err
	}
	meta := new(pb.NodeMeta)
	if err := proto.Unmarshal(node.Meta, meta); err != nil {
		return nil, fmt.Errorf("gossip of %s: %w", node.Name, err)
	}
	return meta, nil
}

// NotifyJoin is memberlist.EventDelegate's.
func (g *gossip) NotifyJoin(node *memberlist.Node) { g.NotifyUpdate(node) }

// NotifyUpdate is memberlist.EventDelegate's.
func (g *gossip) NotifyUpdate(node *memberlist.Node) {
	if meta, err := metaOf(node); err == nil { // NotifyAlive has let it through
		g.members.heard(wire.ServerID(node.Name), meta)
	}
}

// NotifyLeave is memberlist.EventDelegate's.
func (g *gossip) NotifyLeave(node *memberlist.Node) { g.members.lost(wire.ServerID(node.Name)) }

// change changes what this node says of itself, and tells the others if that is
// something new.
func (g *gossip) change(f func(*pb.NodeMeta)) {
	g.mu.Lock()
	before := proto.CloneOf(g.meta)
	f(g.meta)
	if !proto.Equal(before, g.meta) {
		g.untold = true
	}
	g.mu.Unlock()
	if err := g.tell(); err != nil {
		g.cfg.Logger.Debug("cluster: gossip", "said", err.Error())
	}
}

// tell tells the others what this node says of itself, if they may not know it. The
// error means that it has to be told again: memberlist drops an update when at the same
// time it denies a rumour of this node's death, and does not come back to it.
func (g *gossip) tell() error {
	g.mu.Lock()
	untold := g.untold
	g.untold = false
	g.mu.Unlock()
	if !untold {
		return nil
	}
	err := g.list.UpdateNode(updateTimeout)
	if err != nil {
		g.mu.Lock()
		g.untold = true
		g.mu.Unlock()
		return fmt.Errorf("tell the other nodes of this one: %w", err)
	}
	return nil
}

// rekey takes over the keys of new credentials: those of all generations are
// understood, the signing one's is used.
func (g *gossip) rekey(c *Credentials) error {
	keep := c.gossipKeys()
	for _, key := range keep {
		if err := g.keys.AddKey(key); err != nil {
			return fmt.Errorf("cluster: gossip keys: %w", err)
		}
	}
	primary, err := c.gossipKey()
	if err != nil {
		return err
	}
	if err := g.keys.UseKey(primary); err != nil {
		return fmt.Errorf("cluster: gossip keys: %w", err)
	}
	for _, key := range g.keys.GetKeys() {
		if !slices.ContainsFunc(keep, func(k []byte) bool { return slices.Equal(k, key) }) {
			if err := g.keys.RemoveKey(key); err != nil {
				return fmt.Errorf("cluster: gossip keys: %w", err)
			}
		}
	}
	return nil
}

// leave says goodbye: to each node that is alive, and with memberlist's own way of
// doing it. It may be called twice.
func (g *gossip) leave() {
	g.mu.Lock()
	left := g.left
	g.left = true
	instance := g.meta.GetInstance()
	g.mu.Unlock()
	if left || g.life.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(g.life, goodbyeTimeout)
	defer cancel()
	bye := &pb.NodeCall{Kind: &pb.NodeCall_Goodbye{Goodbye: &pb.NodeGoodbye{Instance: instance}}}
	var wg sync.WaitGroup
	for _, who := range g.members.peers() { // as many as the node table has at most
		wg.Go(func() {
			if _, err := g.calls.Call(ctx, who.Server, bye); err != nil {
				g.cfg.Logger.Debug("cluster: goodbye not heard", "peer", string(who.Server), "error", err)
			}
		})
	}
	wg.Wait()
	if err := g.list.Leave(goodbyeTimeout); err != nil {
		g.cfg.Logger.Debug("cluster: gossip", "said", err.Error())
	}
}

// close ends memberlist.
func (g *gossip) close() error { return g.list.Shutdown() }
