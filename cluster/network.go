package cluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"

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

// NetworkConfig says what a Network is made of.
type NetworkConfig struct {
	// Listen is where the node listens, host:port, TCP and UDP. Port 0 takes a
	// free one.
	Listen string
	// Advertise is the host:port that other nodes dial. Empty derives it from
	// Listen.
	Advertise string
	// Join are host:port of nodes to find the cluster by; a host name may have many
	// addresses. None of them needs to be there for ever.
	Join []string
	// Name is what people call the node, Zone where it stands.
	Name, Zone string
	// Credentials are this node's, made by Found or Join.
	Credentials *Credentials
	// Save keeps renewed credentials durably before they are used.
	Save func(*Credentials) error
	// Clock and Logger are required.
	Clock  clock.Clock
	Logger *slog.Logger
}

// Network is a node's place among the others: one port that carries everything
// they say to each other, and who they are.
type Network struct{ cfg NetworkConfig }

// Credentials are what a node needs to take part in a cluster.
type Credentials struct{ pb *pb.Credentials }

// registry is what the network reads and writes in the meta group. *Meta is it;
// reads are of the local copy, which readers must not change.
type registry interface {
	Authority() *pb.AuthorityEntry
	PutAuthority(ctx context.Context, a *pb.AuthorityEntry) error
	PutJoinToken(ctx context.Context, hash [32]byte, expires time.Time) error
	UseJoinToken(ctx context.Context, hash [32]byte, id ServerID) error
	Nodes() []*pb.NodeEntry
	PutNode(ctx context.Context, node *pb.NodeEntry) error
	Changed() <-chan struct{}
}

// MemberState says what gossip thinks of a node.
type MemberState byte

// The states of a member.
const (
	// MemberAlive answers.
	MemberAlive MemberState = iota
	// MemberLeft said goodbye.
	MemberLeft
	// MemberFailed stopped answering.
	MemberFailed
)

// Member is one node as gossip knows it.
type Member struct {
	Server   ServerID
	Name     string
	Zone     string
	Address  string // host:port of its cluster listener
	Instance string // new with every start
	Version  uint32 // of the protocol it speaks
	Load     uint32 // thousandths
	Leaving  bool   // being drained or on its way out
	Trusts   uint64 // newest generation of the authority that it trusts
	Issuer   uint64 // generation its certificate comes from
	State    MemberState
	Since    time.Time // of State, by this node's clock
}

var errNoNetwork = errors.New("cluster network is not open")

// OpenNetwork listens and begins to find the others.
func OpenNetwork(ctx context.Context, cfg NetworkConfig) (*Network, error) {
	return nil, errNoNetwork
}

// Server returns this node's id.
func (n *Network) Server() ServerID { return ServerID(n.cfg.Credentials.pb.GetServer()) }

// Addr returns the host:port that other nodes dial.
func (n *Network) Addr() string { return n.cfg.Advertise }

// attach gives the network the meta group, which has the authority and the nodes'
// addresses. Before it only gossip says where anybody is. The host calls it.
func (n *Network) attach(r registry) {}

// Dial opens a stream to a node. The caller closes it. The context bounds the
// dialling only.
func (n *Network) Dial(ctx context.Context, to ServerID, kind Kind) (net.Conn, error) {
	return nil, errNoNetwork
}

// Handle registers what serves the streams of a kind; f owns the connection and
// closes it. The context ends when the network closes, which waits for f. peer
// is who the other side's certificate says.
func (n *Network) Handle(kind Kind, f func(ctx context.Context, peer ServerID, conn net.Conn)) {}

// Call asks a node and waits for its answer or the context. An error wraps the
// sentinels of this package that the other side's error wrapped.
func (n *Network) Call(ctx context.Context, to ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error) {
	return nil, errNoNetwork
}

// HandleCall registers what answers the calls of one arm, for instance
// (*pb.NodeCall_Probe)(nil).
func (n *Network) HandleCall(arm any, f func(ctx context.Context, peer ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error)) {
}

// Members returns the nodes that gossip knows, this one included, by id.
func (n *Network) Members() []Member { return nil }

// Watch calls f with the members after every change, from one goroutine; f
// misses states that were overtaken while it ran, never the last one. The
// function it returns ends it and waits for f.
func (n *Network) Watch(f func([]Member)) (stop func()) { return func() {} }

// Close says goodbye and ends everything. It waits and may be called twice.
func (n *Network) Close() error { return nil }

// group implements transports.
func (n *Network) group(id uint32, self ServerID) raft.Transport { return nil }

var _ transports = (*Network)(nil)
