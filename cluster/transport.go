package cluster

import (
	"context"
	"net"

	"github.com/hashicorp/raft"

	pb "orgmem/proto"
)

// transports is the seam between the groups and the network: it gives each
// group its own transport. A node that is a cluster of one has nobody to talk
// to and uses soloTransports; Network is the multiplexed mutual-TLS listener.
type transports interface {
	// group returns a new transport for one group. raft closes it when the group
	// shuts down. The transport is raft.WithPreVote and raft.WithClose.
	group(id uint32, self ServerID) raft.Transport
}

// peers is what a host needs of the network. Network is it; tests of replication
// have one that they can cut.
type peers interface {
	transports
	Dial(ctx context.Context, to ServerID, kind Kind) (net.Conn, error)
	Handle(kind Kind, f func(ctx context.Context, peer ServerID, conn net.Conn))
	Call(ctx context.Context, to ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error)
	HandleCall(arm any, f func(ctx context.Context, peer ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error))
	attach(r registry)
}

var _ peers = (*Network)(nil)

// soloTransports connects nothing. raft still wants a transport, for its own
// address and for the pre-vote check, which it switches off with a warning where
// the transport cannot do it.
type soloTransports struct{}

func (soloTransports) group(_ uint32, self ServerID) raft.Transport {
	_, t := raft.NewInmemTransportWithTimeout(raft.ServerAddress(self), soloTimeout)
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
func (t *heartbeats) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if err := checkSeam(args); err != nil {
		return err
	}
	sent := t.group.host.elapsed()
	if err := t.Transport.AppendEntries(id, target, args, resp); err != nil {
		return err
	}
	if resp.Success && resp.Term == args.Term {
		t.group.lease.heard(id, args.Term, sent)
	}
	return nil
}

// RequestPreVote passes on what embedding hides.
func (t *heartbeats) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.Transport.(raft.WithPreVote).RequestPreVote(id, target, args, resp)
}

// Close passes on what embedding hides.
func (t *heartbeats) Close() error {
	t.ballot.close()
	return t.Transport.(raft.WithClose).Close()
}
