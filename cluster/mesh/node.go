package mesh

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"sync/atomic"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// node is this node as all parts of its network know it: what it was configured with,
// its credentials, the node table, and how long it lives.
type node struct {
	cfg       Config
	advertise string
	creds     atomic.Pointer[Credentials]

	// life ends when the network closes; everything it has started hangs on it.
	life context.Context //nolint:containedctx // of the network, not of a call
	end  context.CancelFunc
	wg   sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	nodes    map[wire.ServerID]*pb.NodeEntry // the node table; nil before attach
	registry Registry                        // nil before attach
}

// Server returns this node's id.
func (n *node) Server() wire.ServerID { return n.cfg.Credentials.Server() }

// Cluster returns the cluster's name.
func (n *node) Cluster() string { return n.cfg.Credentials.Cluster() }

// Addr returns the host:port that other nodes dial.
func (n *node) Addr() string { return n.advertise }

// run starts a goroutine that Close waits for; false when the network is closed.
func (n *node) run(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.wg.Go(f)
	return true
}

// meta returns the meta group, nil before attach.
func (n *node) meta() Registry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.registry
}

// table returns the node table, nil before attach. It is never changed.
func (n *node) table() map[wire.ServerID]*pb.NodeEntry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.nodes
}

// mayStream says why there may be no stream with a node: the network is closed, or the
// node was removed.
func (n *node) mayStream(peer wire.ServerID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return ErrNetworkClosed
	case n.nodes[peer].GetRemoved():
		return fmt.Errorf("%s: %w", peer, wire.ErrNodeRemoved)
	}
	return nil
}

// serverTLS is how a node meets those who dial it. Certificates are looked up for
// each connection, so that a renewed one is used at once; sessions are not
// resumed, so that a node that was removed is refused at its next connection.
func (n *node) serverTLS() *tls.Config {
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
func (n *node) clientTLS(to wire.ServerID) *tls.Config {
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
func (n *node) judge(cs tls.ConnectionState, want wire.ServerID) error {
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

// probed answers a NodeProbe.
func (n *node) probed(context.Context, wire.ServerID, *pb.NodeCall) (*pb.NodeAnswer, error) {
	return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Probed{Probed: &pb.NodeProbed{
		Server: string(n.Server()), Cluster: n.Cluster(), Version: n.cfg.speaks, NowMs: n.cfg.Clock.Now().UnixMilli(),
	}}}, nil
}
