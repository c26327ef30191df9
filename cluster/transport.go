package cluster

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/mesh"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// raftTimeout is how long one RPC may take before its connection is given up.
	// After a cut network heals, a group's old connections may hang until their next
	// retransmission; this is how long a follower can be behind for that. A disk that
	// stalls for longer costs a new connection and sending a batch again.
	raftTimeout = 5 * time.Second
	// raftPool is how many idle connections a group keeps to each of its members,
	// beside the two of its pipeline and its heartbeat: one is taken back and forth by
	// votes and by RPCs that fall out of the pipeline.
	raftPool = 1
	// raftTimeoutScale stretches the time-out of an InstallSnapshot by raftTimeout for
	// each byte of the snapshot. Ours is a manifest of some hundred bytes, and the RPC
	// waits while the stores that it lists are being fetched, up to hours. A source
	// that died meanwhile is noticed by the transfer, not by this RPC.
	raftTimeoutScale = 1
)

// transports is the seam between the groups and the network: it gives each
// group its own transport. A node that is a cluster of one has nobody to talk
// to and uses soloTransports; Network is the multiplexed mutual-TLS listener.
type transports interface {
	// group returns a new transport for one group. raft closes it when the group
	// shuts down. The transport is raft.WithPreVote and raft.WithClose.
	group(id uint32, self wire.ServerID) raft.Transport
}

// peers is what a host needs of the network. Network is it; tests of replication
// have one that they can cut.
type peers interface {
	transports
	Dial(ctx context.Context, to wire.ServerID, kind mesh.Kind) (net.Conn, error)
	Handle(kind mesh.Kind, f func(ctx context.Context, peer wire.ServerID, conn net.Conn))
	Call(ctx context.Context, to wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error)
	HandleCall(arm any, f func(ctx context.Context, peer wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error))
	attach(r mesh.Registry)
}

var _ peers = meshPeers{}

// soloTransports connects nothing. raft still wants a transport, for its own
// address and for the pre-vote check, which it switches off with a warning where
// the transport cannot do it.
type soloTransports struct{}

func (soloTransports) group(_ uint32, self wire.ServerID) raft.Transport {
	_, t := raft.NewInmemTransportWithTimeout(raft.ServerAddress(self), wire.ElectionTimeout)
	return t
}

// heartbeats is a group's transport that notes when its followers heard from this
// node (see lease), and looks at what others ask of it (see ballot).
type heartbeats struct {
	raft.Transport
	group  *group
	ballot *ballot
}

// newHeartbeats stands before a transport until it is closed.
func newHeartbeats(t raft.Transport, g *group, b *ballot) *heartbeats {
	b.watch(t.Consumer())
	return &heartbeats{Transport: t, group: g, ballot: b}
}

// Consumer is where raft takes requests from.
func (t *heartbeats) Consumer() <-chan raft.RPC { return t.ballot.outer }

var (
	_ raft.WithPreVote = (*heartbeats)(nil)
	_ raft.WithClose   = (*heartbeats)(nil)
)

// AppendEntries is what raft sends as a heartbeat, and what it falls back to
// where it does not pipeline.
func (t *heartbeats) AppendEntries(
	id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse,
) error {
	if err := raftlog.CheckSeam(args); err != nil {
		return err
	}
	sent := t.group.node.elapsed()
	if err := t.Transport.AppendEntries(id, target, args, resp); err != nil {
		return err
	}
	if resp.Success && resp.Term == args.Term {
		t.group.lease.heard(id, args.Term, sent)
	}
	return nil
}

// RequestPreVote passes on what embedding hides.
func (t *heartbeats) RequestPreVote(
	id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse,
) error {
	return t.Transport.(raft.WithPreVote).RequestPreVote(id, target, args, resp)
}

// Close passes on what embedding hides.
func (t *heartbeats) Close() error {
	t.ballot.close()
	return t.Transport.(raft.WithClose).Close()
}

// meshPeers is the network that a node of several has.
type meshPeers struct {
	*mesh.Network
	logger *slog.Logger
}

func (p meshPeers) attach(r mesh.Registry) { p.Attach(r) }

func (p meshPeers) group(id uint32, self wire.ServerID) raft.Transport {
	t := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: raftStreams{p.OpenGroup(id, self)}, MaxPool: raftPool, Timeout: raftTimeout,
		Logger: raftlog.NewTransportLogger(p.logger, id),
	})
	t.TimeoutScale = raftTimeoutScale
	return t
}

// raftStreams is raft's StreamLayer. raft's addresses are server ids.
type raftStreams struct{ *mesh.GroupStreams }

// Dial is raft.StreamLayer's.
func (s raftStreams) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return s.GroupStreams.Dial(wire.ServerID(to), timeout)
}

// AppendEntriesPipeline gives raft a pipeline whose answers are always taken.
func (t *heartbeats) AppendEntriesPipeline(id raft.ServerID, target raft.ServerAddress) (raft.AppendPipeline, error) {
	inner, err := t.Transport.AppendEntriesPipeline(id, target)
	if err != nil {
		return nil, err
	}
	return raftlog.NewPipeline(inner), nil
}
