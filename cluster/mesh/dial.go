package mesh

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"orgmem/cluster/wire"
)

// dialer opens streams to other nodes.
type dialer struct {
	node    *node
	streams *streams
	members *members
}

// Dial opens a stream to a node; the error wraps ErrUnreachable, ErrNodeRemoved or
// ErrNetworkClosed. The caller closes the stream. The context bounds the dialling
// only, which takes at most dialTimeout.
func (d *dialer) Dial(ctx context.Context, to wire.ServerID, kind Kind) (net.Conn, error) {
	address, err := d.addressOf(to)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, to, address, kind, 0)
}

// dial opens a stream to the node at an address; to may be empty where only the
// address is known.
func (d *dialer) dial(
	ctx context.Context, to wire.ServerID, address string, kind Kind, group uint32,
) (*stream, error) {
	fail := func(err error) (*stream, error) {
		return nil, fmt.Errorf("dial %s at %s: %w: %w", to, address, wire.ErrUnreachable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := d.dialRaw(ctx, address, preambleMember)
	if err != nil {
		return fail(err)
	}
	conn := tls.Client(raw, d.node.clientTLS(to))
	if err := conn.HandshakeContext(ctx); err != nil {
		return fail(errors.Join(err, raw.Close()))
	}
	peer, err := serverOf(conn.ConnectionState().PeerCertificates[0].URIs)
	if err != nil {
		return fail(errors.Join(err, raw.Close()))
	}
	s, err := d.streams.adopt(conn, peer)
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
func (d *dialer) dialRaw(ctx context.Context, address string, preamble byte) (net.Conn, error) {
	if d.node.life.Err() != nil {
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
func (d *dialer) addressOf(id wire.ServerID) (string, error) {
	entry := d.node.table()[id]
	if entry.GetRemoved() {
		return "", fmt.Errorf("%s: %w", id, wire.ErrNodeRemoved)
	}
	seen, alive := d.members.address(id)
	if alive {
		return seen, nil
	}
	if address := cmp.Or(entry.GetAddress(), seen); address != "" {
		return address, nil
	}
	return "", fmt.Errorf("%w: nobody knows the address of %s", wire.ErrUnreachable, id)
}
