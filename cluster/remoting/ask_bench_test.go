package remoting_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/cluster"
	"orgmem/cluster/mesh"
	"orgmem/cluster/remoting"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

var quiet = slog.New(slog.DiscardHandler)

// BenchmarkAsk compares the two ways to ask another node a question: a call of package
// mesh and a message between actors. Both go over the same port with mutual TLS; the
// question has the bytes of the name, the answer is empty. DESIGN.md of package cluster
// has the figures and what follows from them.
func BenchmarkAsk(b *testing.B) {
	one, two := twoNetworks(b)
	one.HandleCall((*pb.NodeCall_Goodbye)(nil), func(
		context.Context, wire.ServerID, *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Done{Done: &pb.Empty{}}}, nil
	})
	startActors(b, one)
	actors, system := startActors(b, two)
	for _, size := range []int{64, 64 << 10, 1 << 20} {
		text := strings.Repeat("x", size)
		ways := map[string]func() error{
			"call": func() error {
				_, err := two.Call(
					b.Context(), one.Server(), &pb.NodeCall{Kind: &pb.NodeCall_Goodbye{Goodbye: &pb.NodeGoodbye{Instance: text}}},
				)
				return err
			},
			"actor": func() error {
				ask := &pb.NodeAsk{Id: 1, Org: []byte(text)}
				_, err := system.Root.RequestFuture(actors.At(one.Server()), ask, time.Minute).Result()
				return err
			},
		}
		for _, callers := range []int{1, 64} {
			for _, way := range []string{"call", "actor"} {
				b.Run(fmt.Sprintf("%s/bytes=%d/callers=%d", way, size, callers), func(b *testing.B) {
					b.SetBytes(int64(size))
					ask := ways[way]
					if callers == 1 {
						for b.Loop() {
							if err := ask(); err != nil {
								b.Fatal(err)
							}
						}
						return
					}
					b.SetParallelism(callers / runtime.GOMAXPROCS(0))
					b.RunParallel(func(p *testing.PB) {
						for p.Next() {
							if err := ask(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
		}
	}
}

// twoNetworks founds a cluster of two nodes, of which the second has no host.
func twoNetworks(b *testing.B) (one, two *mesh.Network) {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	node, err := storage.Open(
		storage.Options{Dir: b.TempDir(), Clock: clock.Real(), Logger: quiet, MinFreeBytes: -1, BallastBytes: -1},
	)
	must(err)
	b.Cleanup(func() { _ = node.Close() })
	host, err := cluster.Start(b.Context(), cluster.Config{Storage: node, Clock: clock.Real(), Logger: quiet, Shards: 1})
	must(err)
	must(host.WaitReady(b.Context()))
	creds, err := cluster.Found(b.Context(), host)
	must(err)
	must(host.Close())
	open := func(creds *mesh.Credentials, join ...string) *mesh.Network {
		n, err := mesh.Open(
			b.Context(), mesh.Config{Listen: "127.0.0.1:0", Join: join, Credentials: creds, Clock: clock.Real(), Logger: quiet},
		)
		must(err)
		b.Cleanup(func() { _ = n.Close() })
		return n
	}
	one = open(creds)
	host, err = cluster.Start(
		b.Context(),
		cluster.Config{Storage: node, Clock: clock.Real(), Logger: quiet, Network: one, Shards: 1, Server: creds.Server()},
	)
	must(err)
	b.Cleanup(func() { _ = host.Close() })
	must(host.WaitReady(b.Context()))
	token, _, err := one.NewToken(b.Context(), time.Hour)
	must(err)
	l, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	must(err)
	must(l.Close())
	joined, err := mesh.Join(
		b.Context(), mesh.JoinConfig{Token: token, Advertise: l.Addr().String(), Clock: clock.Real(), Logger: quiet},
	)
	must(err)
	two = open(joined, one.Addr())
	for {
		if _, err := two.Call(
			b.Context(), one.Server(), &pb.NodeCall{Kind: &pb.NodeCall_Probe{Probe: &pb.NodeProbe{}}},
		); err == nil {
			return one, two
		}
		must(clock.Wait(b.Context(), clock.Real(), 10*time.Millisecond))
	}
}

// nowhere says that no organization has a place; the benchmark names the node.
type nowhere struct{}

func (nowhere) Leader(pb.OrgID) (wire.ServerID, bool) { return "", false }

// startActors starts a node's actors with a gateway that answers every question.
func startActors(b *testing.B, n *mesh.Network) (*remoting.Remoting, *actor.ActorSystem) {
	b.Helper()
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	r := remoting.New(remoting.Config{Self: n.Server(), Placement: nowhere{}, Wire: n, Clock: clock.Real(), Logger: quiet})
	if err := r.Start(system, nil, func(wire.ServerID, bool) {}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		r.Stop()
		system.Shutdown()
	})
	if _, err := system.Root.SpawnNamed(actor.PropsFromFunc(func(ctx actor.Context) {
		if ask, ok := ctx.Message().(*pb.NodeAsk); ok {
			ctx.Respond(&pb.NodeReply{Id: ask.GetId()})
		}
	}), remoting.Gateway); err != nil {
		b.Fatal(err)
	}
	return r, system
}
