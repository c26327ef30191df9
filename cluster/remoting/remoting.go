package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	protocluster "github.com/asynkron/protoactor-go/cluster"
	"github.com/asynkron/protoactor-go/eventstream"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// MaxInFlightBytes bounds what a node may have on its way to one other node. An
	// import is at most 64 MiB, an ingest 10; the edge holds 128 MiB of bodies.
	MaxInFlightBytes = 192 << 20
	// batchSize is how many messages may travel as one. More saves little: two
	// processes exchanged 80,000 small messages a second with a thousand.
	batchSize = 16
	// maxMessage bounds one batch: all that may be on its way to a node, or
	// batchSize of the largest answers, which are nodes of 5 million characters.
	maxMessage = MaxInFlightBytes + batchSize*(10<<20)
	// queueSize is what an endpoint's queue begins with; protoactor lets it grow.
	// What may be in it is bounded by MaxInFlightBytes and by who sends.
	queueSize = 256
	// connectTries is how often a connection is tried before what waits for it is
	// given up. protoactor waits two seconds after each; the caller has another
	// node to ask by then.
	connectTries = 1
	// streamWindow and connWindow let one stream fill a fast network with some
	// milliseconds of round trip.
	streamWindow = 4 << 20
	connWindow   = 8 << 20
	// aliveAfter and aliveWithin find a machine that has vanished without a word:
	// gRPC allows no shorter interval.
	aliveAfter  = 10 * time.Second
	aliveWithin = 5 * time.Second
	// portTries is how often another port is tried, where somebody else took the
	// one that was found free.
	portTries = 8
	// forgiveAfter is when a node is tried again of which protoactor has not said that it
	// gave it up: a connection that it had let go already may have failed once more.
	forgiveAfter = 3 * time.Second
	// clusterName is used in protoactor's log, which nobody reads.
	clusterName = "orgmem"
	// never is when protoactor's cluster gossips; see the package's comment.
	never = 100 * 365 * 24 * time.Hour
)

// Wire is how remoting reaches other nodes, and knows of them. *mesh.Network
// implements it.
type Wire interface {
	Members
	// DialActors connects to another node's remoting.
	DialActors(ctx context.Context, to wire.ServerID) (net.Conn, error)
	// ServeActors says at which address of this machine the node's own remoting
	// listens; "" that it does no more.
	ServeActors(addr string)
	// ActorTLS is the client's side of a connection to a node: it shows this node's
	// certificate and accepts that node's alone.
	ActorTLS(to wire.ServerID) *tls.Config
	// ActorServerTLS is the server's side: it accepts any node of the cluster.
	ActorServerTLS() *tls.Config
}

// Config says what a Remoting is made of. All fields are required.
type Config struct {
	Self      wire.ServerID
	Placement Placement
	Wire      Wire
	Clock     clock.Clock
	Logger    *slog.Logger
}

// Remoting is a node's way to the actors of other nodes.
type Remoting struct {
	cfg      Config
	lookup   Lookup
	system   *actor.ActorSystem
	cluster  *protocluster.Cluster
	provider *Provider
	started  chan struct{} // closed when protoactor's StartMember has returned
	ended    *eventstream.Subscription
	kinds    []string
	lost     func(server wire.ServerID, sent bool)

	mu    sync.Mutex
	links map[wire.ServerID]link // absent: nobody has tried, or it is not known yet
}

// link is what is known of the way to a node.
type link struct {
	up     bool      // messages go over it, and may have arrived
	failed time.Time // when an attempt to connect failed; unset while up
}

// New returns a Remoting that is not started.
func New(cfg Config) *Remoting {
	return &Remoting{cfg: cfg, lookup: Lookup{cfg.Placement}, links: map[wire.ServerID]link{}}
}

// Start lets the system's actors be reached, and reach others. kinds are the names of its
// virtual actors' kinds, which protoactor's cluster gets to know. lost is called,
// from any goroutine, when the connection to a node has ended or could not be made:
// what was on its way there, or on its way back, does not arrive. sent says that
// the node may have received it.
func (r *Remoting) Start(
	system *actor.ActorSystem, kinds []string, lost func(server wire.ServerID, sent bool),
) error {
	r.system, r.kinds, r.lost = system, kinds, lost
	port, err := r.listen()
	if err != nil {
		return fmt.Errorf("remoting: %w", err)
	}
	r.ended = system.EventStream.Subscribe(r.note)
	r.cfg.Wire.ServeActors(net.JoinHostPort(loopback, strconv.Itoa(port)))
	return nil
}

// note takes in what protoactor says of its connections: that one is made, before
// anything is sent over it, and that one has ended, or was given up.
func (r *Remoting) note(event any) {
	switch e := event.(type) {
	case *remote.EndpointConnectedEvent:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.links[wire.ServerID(e.Address)] = link{up: true}
	case *remote.EndpointTerminatedEvent:
		to := wire.ServerID(e.Address)
		r.mu.Lock()
		sent := r.links[to].up
		delete(r.links, to)
		r.mu.Unlock()
		r.lost(to, sent)
	}
}

const loopback = "127.0.0.1"

// listen starts protoactor's cluster and with it the server. It wants a port's number and tells nobody
// which one it got, so a free one is found first; where somebody else takes it in
// between, it panics, and another one is tried.
func (r *Remoting) listen() (port int, err error) {
	for range portTries {
		var config net.ListenConfig
		free, err := config.Listen(context.Background(), "tcp", loopback+":0") //nolint:forbidigo // it is closed at once
		if err != nil {
			return 0, err
		}
		port = free.Addr().(*net.TCPAddr).Port
		if err := free.Close(); err != nil {
			return 0, err
		}
		if err = r.serve(port); err == nil {
			return port, nil
		}
		r.cfg.Logger.Info("remoting tries another port", "err", err)
	}
	return 0, errors.New("found no free port on the loopback interface")
}

func (r *Remoting) serve(port int) error {
	config := remote.Configure(loopback, port,
		remote.WithAdvertisedHost(string(r.cfg.Self)),
		remote.WithEndpointWriterBatchSize(batchSize),
		remote.WithEndpointWriterQueueSize(queueSize),
		remote.WithEndpointManagerBatchSize(batchSize),
		remote.WithEndpointManagerQueueSize(queueSize),
		remote.WithServerOptions(
			grpc.Creds(credentials.NewTLS(r.cfg.Wire.ActorServerTLS())),
			grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
			grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connWindow),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: aliveAfter, Timeout: aliveWithin}),
			grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: aliveAfter / 2, PermitWithoutStream: true}),
			grpc.StreamInterceptor(r.survive),
		),
		remote.WithDialOptions(
			grpc.WithContextDialer(func(ctx context.Context, to string) (net.Conn, error) {
				return r.dial(ctx, wire.ServerID(to))
			}),
			grpc.WithTransportCredentials(&clientCreds{r}),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
			grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connWindow),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: aliveAfter, Timeout: aliveWithin}),
			grpc.WithNoProxy(),
		),
	)
	config.MaxRetryCount = connectTries

	began := make(chan error, 2)
	r.provider = &Provider{members: r.cfg.Wire, kinds: r.kinds, began: func() { began <- nil }}
	as := protocluster.Configure(clusterName, r.provider, &r.lookup, config,
		protocluster.WithKinds(registered(r.kinds, r.cfg.Self)...))
	as.GossipInterval = never
	r.cluster = protocluster.New(r.system, as)
	started := make(chan struct{})
	r.started = started
	// It sleeps for a second when all is done, for others to notice; ours have gossip.
	go func() {
		defer close(started)
		defer func() {
			if p := recover(); p != nil {
				began <- fmt.Errorf("start: %v", p)
			}
		}()
		r.cluster.StartMember()
	}()
	return <-began
}

// dial connects to a node, which may yet hang up: see clientCreds.
func (r *Remoting) dial(ctx context.Context, to wire.ServerID) (net.Conn, error) {
	conn, err := r.cfg.Wire.DialActors(ctx, to)
	if err != nil {
		r.unreached(ctx, to)
	}
	return conn, err
}

// unreached notes that an attempt to connect has failed. protoactor says so two seconds
// later; callers that wait learn it at once. Of a connection before, nobody may have heard yet
// that it has ended: what went over that may have arrived. An attempt that was called
// off is of a connection that protoactor has given up, and told of.
func (r *Remoting) unreached(ctx context.Context, to wire.ServerID) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	r.mu.Lock()
	before := r.links[to].up
	r.links[to] = link{failed: r.cfg.Clock.Now()}
	r.mu.Unlock()
	r.lost(to, before)
}

// survive keeps a message that this version does not know from ending the
// process: protoactor panics where it looks for its type.
func (r *Remoting) survive(
	srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler,
) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Logger.Error("a message from another node was not understood", "panic", fmt.Sprint(p))
			err = status.Error(codes.Internal, "message not understood")
		}
	}()
	return handler(srv, stream)
}

// Owner returns the gateway of the node where an organization lives and that
// node's id; false while nobody knows.
func (r *Remoting) Owner(org pb.OrgID) (*actor.PID, bool) {
	id := OrganizationIdentity(org)
	pid := r.cluster.Get(id.GetIdentity(), id.GetKind())
	return pid, pid != nil
}

// Reachable reports whether it makes sense to send to a node: false from an attempt
// to connect that failed until protoactor is ready for another one, which is two
// seconds. What is sent meanwhile never leaves.
func (r *Remoting) Reachable(server wire.ServerID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, tried := r.links[server]
	return !tried || l.up || r.cfg.Clock.Now().Sub(l.failed) >= forgiveAfter
}

// At returns the gateway of a node.
func (r *Remoting) At(server wire.ServerID) *actor.PID { return gatewayOf(server) }

// Stop ends all connections. What is on its way is lost. The system's actors must
// not send to others any more.
func (r *Remoting) Stop() {
	r.cfg.Wire.ServeActors("")
	r.system.EventStream.Unsubscribe(r.ended)
	// Not cluster.Shutdown: it stops the actors first, and sleeps for two seconds.
	<-r.started // at most a second after Start
	_ = r.provider.Shutdown(true)
	r.cluster.Gossip.Shutdown()
	// Not remote.Shutdown(true): it takes the table of connections from under those
	// who use it, and waits up to ten seconds for streams that do not end.
	for _, name := range []string{"EndpointSupervisor", "activator"} {
		_ = r.system.Root.StopFuture(r.system.NewLocalPID(name)).Wait() // its own time-out only means that it was gone
	}
	r.cluster.Remote.Shutdown(false)
}

// clientCreds is mutual TLS towards the node that is dialled: gRPC hands over its
// address, which is its server id. A node that has stopped taking messages, and has not
// ended yet, hangs up here.
type clientCreds struct{ r *Remoting }

func (c *clientCreds) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	to := wire.ServerID(authority)
	conn, info, err := credentials.NewTLS(c.r.cfg.Wire.ActorTLS(to)).ClientHandshake(ctx, authority, raw)
	if err != nil {
		c.r.unreached(ctx, to)
	}
	return conn, info, err
}

func (c *clientCreds) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("remoting: not a server's credentials")
}

func (c *clientCreds) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

func (c *clientCreds) Clone() credentials.TransportCredentials { return &clientCreds{c.r} }

func (c *clientCreds) OverrideServerName(string) error { return nil }
