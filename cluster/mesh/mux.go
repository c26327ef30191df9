package mesh

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

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
	logger            *slog.Logger
	rejected, crowded atomic.Uint64

	mu    sync.Mutex // guards what follows
	all   map[*pendingConn]struct{}
	hosts map[string]int
}

func newPendingConns(l *slog.Logger) *pendingConns {
	return &pendingConns{logger: l, all: map[*pendingConn]struct{}{}, hosts: map[string]int{}}
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

// door lets in who may come, and sends the others away.
type door struct {
	node      *node
	listener  net.Listener
	pending   *pendingConns
	streams   *streams
	actors    *actorPort
	admission *admission
}

// accept takes connections in until the network closes.
func (d *door) accept() {
	for {
		conn, err := d.listener.Accept()
		switch {
		case err == nil:
		case d.node.life.Err() != nil:
			return
		default:
			d.node.cfg.Logger.Warn("cluster: cannot accept connections", "error", err)
			if clock.Wait(d.node.life, d.node.cfg.Clock, acceptPause) != nil {
				return
			}
			continue
		}
		v := d.pending.enter(conn, d.node.cfg.Clock)
		if v == nil {
			_ = conn.Close() // it had no time to become anything
			continue
		}
		d.node.wg.Go(func() { d.receive(v) })
	}
}

// receive finds out what a connection is and serves it.
func (d *door) receive(v *pendingConn) {
	defer v.leave()
	var preamble [1]byte
	if _, err := io.ReadFull(v.conn, preamble[:]); err != nil {
		v.reject(err)
		return
	}
	switch preamble[0] {
	case preambleMember:
		d.receiveMember(v)
	case preambleActors:
		d.actors.receive(v)
	case preambleJoin:
		d.admission.receive(v)
	default:
		v.reject(fmt.Errorf("unknown preamble %q", preamble[0]))
	}
}

// receiveMember lets a node in and has its stream served.
func (d *door) receiveMember(v *pendingConn) {
	conn := tls.Server(v.conn, d.node.serverTLS())
	if err := conn.HandshakeContext(d.node.life); err != nil {
		v.reject(err)
		return
	}
	peer, err := serverOf(conn.ConnectionState().PeerCertificates[0].URIs)
	if err != nil {
		v.reject(err)
		return
	}
	h, err := readHeader(conn)
	if err != nil || !v.leave() {
		v.reject(errors.Join(err, errors.New("no header in time")))
		return
	}
	s, err := d.streams.adopt(conn, peer)
	if err != nil {
		v.reject(err)
		return
	}
	d.streams.serve(s, h)
}

// reject closes a connection that showed no certificate of this cluster. It is one debug
// line each: a flood at the door must not fill the log as well.
func (v *pendingConn) reject(err error) {
	_ = v.conn.Close() // it is of no use any more
	v.of.rejected.Add(1)
	v.of.logger.Debug("cluster: connection sent away", "from", v.host, "error", err)
}
