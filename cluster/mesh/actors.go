package mesh

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"orgmem/cluster/wire"
)

// actorPort carries the connections of the actors' remoting through the nodes' ports. The
// remoting brings its own TLS, and its own server, which listens on loopback.
type actorPort struct {
	node   *node
	dialer *dialer

	mu      sync.Mutex // guards what follows
	closed  bool
	address string                  // where the actors' own server listens
	spliced map[string]*pendingConn // by our address towards it
	pipes   map[net.Conn]struct{}   // both ends of each splice
}

func newActorPort(n *node, d *dialer) *actorPort {
	return &actorPort{node: n, dialer: d, spliced: map[string]*pendingConn{}, pipes: map[net.Conn]struct{}{}}
}

// ServeActors says where the server of the actors' remoting listens, on loopback and with
// ActorServerTLS; "" says that it has stopped.
func (a *actorPort) ServeActors(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.address = address
}

// ActorTLS is how the actors' remoting dials a node: it shows this node's
// certificate and accepts that node's alone.
func (a *actorPort) ActorTLS(to wire.ServerID) *tls.Config { return a.node.clientTLS(to) }

// ActorServerTLS is how the actors' remoting meets those who dial it: any node of
// the cluster.
func (a *actorPort) ActorServerTLS() *tls.Config {
	server := a.node.serverTLS()
	base := server.Clone()
	server.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		from := hello.Conn.RemoteAddr().String()
		c := base.Clone()
		c.NextProtos = []string{"h2"} // what gRPC speaks
		c.VerifyConnection = func(cs tls.ConnectionState) error {
			if err := a.node.judge(cs, ""); err != nil {
				return err
			}
			a.mu.Lock()
			v := a.spliced[from]
			a.mu.Unlock()
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
func (a *actorPort) DialActors(ctx context.Context, to wire.ServerID) (net.Conn, error) {
	address, err := a.dialer.addressOf(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := a.dialer.dialRaw(ctx, address, preambleActors)
	if err != nil {
		return nil, fmt.Errorf("dial actors of %s at %s: %w: %w", to, address, wire.ErrUnreachable, err)
	}
	return conn, nil
}

// receive connects a peer with the server of the actors' remoting. It stays
// a guest until that server has seen its certificate.
func (a *actorPort) receive(v *pendingConn) {
	a.mu.Lock()
	address := a.address
	a.mu.Unlock()
	if address == "" {
		v.reject(errors.New("the actors do not listen yet"))
		return
	}
	inner, err := new(net.Dialer).DialContext(a.node.life, "tcp", address)
	if err != nil {
		v.reject(fmt.Errorf("the actors' server: %w", err))
		return
	}
	key := inner.LocalAddr().String()
	a.mu.Lock()
	closed := a.closed
	if !closed {
		a.spliced[key] = v
		a.pipes[v.conn], a.pipes[inner] = struct{}{}, struct{}{}
	}
	a.mu.Unlock()
	if closed {
		_ = errors.Join(v.conn.Close(), inner.Close())
		return
	}
	pump(v.conn, inner)
	a.mu.Lock()
	delete(a.spliced, key)
	delete(a.pipes, v.conn)
	delete(a.pipes, inner)
	a.mu.Unlock()
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

// close ends what is spliced; nothing more is.
func (a *actorPort) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for conn := range a.pipes {
		_ = conn.Close() // the two that copy find out
	}
}
