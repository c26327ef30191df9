package mesh

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/cluster/wire"
	"orgmem/proto/clock"
)

// One port carries everything. The first byte of a connection, in the clear, says
// what comes; all that follows is TLS.
const (
	// preambleMember is a node's: mutual TLS, then a header, then a stream.
	preambleMember byte = 'M'
	// preambleActors is a node's actors': their own mutual TLS with the server of
	// protoactor's remoting, which listens on loopback.
	preambleActors byte = 'A'
	// preambleJoin is a machine's that wants to become a node: TLS with our
	// certificate only.
	preambleJoin byte = 'J'
)

const (
	// handshakeTimeout is how long a connection may stay at the door without having
	// shown a certificate of ours and said what it wants. Two round trips and some
	// milliseconds of arithmetic, behind a few hundred others on a busy machine.
	handshakeTimeout = 5 * time.Second
	// maxPending bounds the connections at the door: a goroutine and the buffers of a
	// handshake each, some 20 KB, so 20 MB at most. When a node starts, all groups of
	// all others dial it at once, a hundred connections from each.
	maxPending = 1024
	// maxPendingPerHost leaves room for others beside a host that floods us.
	maxPendingPerHost = 512
	// acceptPause is how long accepting rests after an error such as too many open
	// files.
	acceptPause = 50 * time.Millisecond
)

// headerSize is the length of a header on the wire.
const headerSize = 5

// header is what the dialling node says first, inside TLS.
type header struct {
	kind  Kind
	group uint32 // of KindRaft, else 0
}

func (h header) bytes() []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(h.kind)}, h.group)
}

func readHeader(r io.Reader) (header, error) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return header{}, err
	}
	return header{kind: Kind(b[0]), group: binary.BigEndian.Uint32(b[1:])}, nil
}

// pendingConns are the connections of those whom nobody knows yet.
type pendingConns struct {
	rejected, crowded atomic.Uint64

	mu    sync.Mutex // guards what follows
	all   map[*pendingConn]struct{}
	hosts map[string]int
}

// pendingConn is one connection at the door. It is closed when its time is up, unless it
// was admitted before.
type pendingConn struct {
	of    *pendingConns
	conn  net.Conn
	host  string
	timer clock.Timer
}

// enter takes a connection in; nil when there are too many.
func (g *pendingConns) enter(conn net.Conn, c clock.Clock) *pendingConn {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return nil // not TCP, which nothing else produces
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.all) >= maxPending || g.hosts[host] >= maxPendingPerHost {
		g.crowded.Add(1)
		return nil
	}
	if g.all == nil {
		g.all = map[*pendingConn]struct{}{}
	}
	v := &pendingConn{of: g, conn: conn, host: host}
	g.all[v] = struct{}{}
	g.hosts[host]++
	v.timer = c.AfterFunc(handshakeTimeout, func() { _ = conn.Close() }) // its reader sees an error
	return v
}

// leave makes room. It reports whether the guest was still in time.
func (v *pendingConn) leave() bool {
	inTime := v.timer.Stop()
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	if _, here := v.of.all[v]; !here {
		return inTime
	}
	delete(v.of.all, v)
	if v.of.hosts[v.host]--; v.of.hosts[v.host] == 0 {
		delete(v.of.hosts, v.host)
	}
	return inTime
}

// closeAll closes all.
func (g *pendingConns) closeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for v := range g.all {
		_ = v.conn.Close() // its reader sees an error
	}
}

func (g *pendingConns) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.all)
}

// accept takes connections in until the network closes.
func (n *Network) accept() {
	for {
		conn, err := n.listener.Accept()
		switch {
		case err == nil:
		case n.life.Err() != nil:
			return
		default:
			n.cfg.Logger.Warn("cluster: cannot accept connections", "error", err)
			if clock.Wait(n.life, n.cfg.Clock, acceptPause) != nil {
				return
			}
			continue
		}
		v := n.pending.enter(conn, n.cfg.Clock)
		if v == nil {
			_ = conn.Close() // it had no time to become anything
			continue
		}
		n.wg.Go(func() { n.receive(v) })
	}
}

// receive finds out what a connection is and serves it.
func (n *Network) receive(v *pendingConn) {
	defer v.leave()
	var preamble [1]byte
	if _, err := io.ReadFull(v.conn, preamble[:]); err != nil {
		n.reject(v, err)
		return
	}
	switch preamble[0] {
	case preambleMember:
		n.receiveMember(v)
	case preambleActors:
		n.receiveActors(v)
	case preambleJoin:
		n.receiveJoin(v)
	default:
		n.reject(v, fmt.Errorf("unknown preamble %q", preamble[0]))
	}
}

// reject closes a connection that showed no certificate of this cluster. It is one debug line
// each: who floods the door shall not fill the log as well.
func (n *Network) reject(v *pendingConn, err error) {
	_ = v.conn.Close() // it is of no use any more
	n.pending.rejected.Add(1)
	n.cfg.Logger.Debug("cluster: connection sent away", "from", v.host, "error", err)
}

// receiveMember lets a node in and hands its stream to whom it is for.
func (n *Network) receiveMember(v *pendingConn) {
	conn := tls.Server(v.conn, n.serverTLS())
	if err := conn.HandshakeContext(n.life); err != nil {
		n.reject(v, err)
		return
	}
	peer, err := serverOf(conn.ConnectionState().PeerCertificates[0].URIs)
	if err != nil {
		n.reject(v, err)
		return
	}
	h, err := readHeader(conn)
	if err != nil || !v.leave() {
		n.reject(v, errors.Join(err, errors.New("no header in time")))
		return
	}
	s, err := n.adopt(conn, peer)
	if err != nil {
		n.reject(v, err)
		return
	}
	if h.kind == KindRaft {
		n.deliver(h.group, s)
		return
	}
	n.mu.Lock()
	serve := n.handlers[h.kind]
	n.mu.Unlock()
	if serve == nil { // not yet, or of a newer version
		n.cfg.Logger.Debug("cluster: nobody serves this kind of stream", "kind", byte(h.kind), "peer", string(peer))
		_ = s.Close()
		return
	}
	serve(n.life, peer, s)
}

// serverTLS is how a node meets those who dial it. Certificates are looked up for
// each connection, so that a renewed one is used at once; sessions are not
// resumed, so that a node that was removed is refused at its next connection.
func (n *Network) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		ClientAuth:             tls.RequireAnyClientCert, // VerifyConnection judges it
		SessionTicketsDisabled: true,
		Time:                   n.cfg.Clock.Now,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &n.creds.Load().chain, nil
		},
		VerifyConnection: func(cs tls.ConnectionState) error {
			return n.judge(cs, "")
		},
	}
}

// clientTLS is how a node dials another one, or any where the id is empty. Names
// of hosts mean nothing here: a node is who its certificate says.
func (n *Network) clientTLS(to wire.ServerID) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection checks the chain and the node's id instead of a host name
		Time:               n.cfg.Clock.Now,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &n.creds.Load().chain, nil
		},
		VerifyConnection: func(cs tls.ConnectionState) error {
			return n.judge(cs, to)
		},
	}
}

// judge decides whether the other side is a node of this cluster, and the one that
// is meant.
func (n *Network) judge(cs tls.ConnectionState, want wire.ServerID) error {
	peer, err := n.creds.Load().verify(cs.PeerCertificates, n.cfg.Clock.Now())
	if err != nil {
		return err
	}
	if want != "" && peer != want {
		return fmt.Errorf("%w: it is %s, not %s", ErrNotMember, peer, want)
	}
	if n.table()[peer].GetRemoved() {
		return fmt.Errorf("%s: %w", peer, wire.ErrNodeRemoved)
	}
	return nil
}

// ServeActors says where the server of the actors' remoting listens, on loopback
// and with ActorServerTLS; "" that it does no more.
func (n *Network) ServeActors(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.actors = address
}

// ActorTLS is how the actors' remoting dials a node: it shows this node's
// certificate and accepts that node's alone.
func (n *Network) ActorTLS(to wire.ServerID) *tls.Config { return n.clientTLS(to) }

// ActorServerTLS is how the actors' remoting meets those who dial it: any node of
// the cluster.
func (n *Network) ActorServerTLS() *tls.Config {
	server := n.serverTLS()
	base := server.Clone()
	server.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		from := hello.Conn.RemoteAddr().String()
		c := base.Clone()
		c.NextProtos = []string{"h2"} // what gRPC speaks
		c.VerifyConnection = func(cs tls.ConnectionState) error {
			if err := n.judge(cs, ""); err != nil {
				return err
			}
			n.mu.Lock()
			v := n.spliced[from]
			n.mu.Unlock()
			if v != nil {
				v.leave()
			}
			return nil
		}
		return c, nil
	}
	return server
}

// DialActors connects to the actors of a node; what goes over the connection is
// the remoting's own TLS.
func (n *Network) DialActors(ctx context.Context, to wire.ServerID) (net.Conn, error) {
	address, err := n.addressOf(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := n.dialRaw(ctx, address, preambleActors)
	if err != nil {
		return nil, fmt.Errorf("dial actors of %s at %s: %w: %w", to, address, wire.ErrUnreachable, err)
	}
	return conn, nil
}

// receiveActors connects a peer with the server of the actors' remoting. It stays
// a guest until that server has seen its certificate.
func (n *Network) receiveActors(v *pendingConn) {
	n.mu.Lock()
	address := n.actors
	n.mu.Unlock()
	if address == "" {
		n.reject(v, errors.New("the actors do not listen yet"))
		return
	}
	inner, err := new(net.Dialer).DialContext(n.life, "tcp", address)
	if err != nil {
		n.reject(v, fmt.Errorf("the actors' server: %w", err))
		return
	}
	key := inner.LocalAddr().String()
	n.mu.Lock()
	closed := n.closed
	if !closed {
		n.spliced[key] = v
		n.pipes[v.conn], n.pipes[inner] = struct{}{}, struct{}{}
	}
	n.mu.Unlock()
	if closed {
		_ = errors.Join(v.conn.Close(), inner.Close())
		return
	}
	pump(v.conn, inner)
	n.mu.Lock()
	delete(n.spliced, key)
	delete(n.pipes, v.conn)
	delete(n.pipes, inner)
	n.mu.Unlock()
}

// pump copies both ways until either side ends, then ends both.
func pump(a, b net.Conn) {
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // the end of either is the end of both
			_ = errors.Join(a.Close(), b.Close())
		})
	}
	wg.Wait()
}
