package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"orgmem/actors"
	"orgmem/actors/tenant"
	"orgmem/api/console"
	"orgmem/cluster"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/heap"
	"orgmem/proto/clock"
)

func newServe(w world) *cobra.Command {
	var (
		settings   settingFlags
		quickstart bool
	)
	c := &cobra.Command{
		Use: "serve", Short: "Run the service", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, values, err := settings.load(c, w)
			if err != nil {
				return err
			}
			return serve(c, w, server, values, quickstart)
		},
	}
	settings.register(c)
	c.Flags().BoolVar(&quickstart, "quickstart", false, "on an empty data directory, make a personal organization and "+
		"print its key")
	return c
}

// serve is the whole service: each line needs the ones above it, and the defers
// take it down in the opposite order. Read this function to know what orgmem
// is made of.
func serve(c *cobra.Command, w world, server config.Server, values []config.Value, quickstart bool) (err error) {
	ctx := c.Context()
	log := newLogger(w, server)

	creds, err := nodeCredentials(ctx, w, server, log)
	if err != nil {
		return err
	}
	spans, err := startTraces(ctx, w, server, creds, log)
	if err != nil {
		return err
	}
	defer spans.Close()
	store, err := openStorage(w, server, log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "storage", store.Close)

	network, err := openNetwork(ctx, w, server, creds, log)
	if err != nil {
		return err
	}
	if network != nil {
		defer closeWith(&err, "network", network.Close)
	}
	leads := &tenant.LeadershipListener{}
	host, err := startCluster(ctx, w, server, store, network, creds, leads, log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "cluster", host.Close)

	read, err := openModels(server)
	if err != nil {
		return err
	}
	system, err := startActors(w, server, store, host, network, leads, read, spans.Tracer(), log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "actors", system.Close)

	keeper, err := newKeeper(w, server, system)
	if err != nil {
		return err
	}
	if keeper != nil {
		defer closeWith(&err, "backups", keeper.Close)
	}

	listeners, err := listen(ctx, server)
	if err != nil {
		return err
	}
	signIn := &console.SignIn{}
	edge, err := newEdge(w, server, values, store, host, network, system, read.serving, signIn, vaultOf(keeper), spans,
		log)
	if err != nil {
		return errors.Join(err, listeners.Close())
	}
	failed := make(chan error, 1) // ended by Shutdown below, which Serve waits for
	go func() { failed <- edge.Serve(listeners.public, listeners.operator) }()
	defer closeWith(&err, "http", func() error {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), server.ShutdownGrace)
		defer cancel()
		return edge.Shutdown(grace)
	})

	if err := host.WaitReady(ctx); err != nil {
		return fmt.Errorf("wait until what was logged is applied: %w", err)
	}
	if err := knowEverybody(ctx, w, host); err != nil { // quickstart looks whether there is anybody
		return fmt.Errorf("wait for the directory: %w", err)
	}
	if err := announce(c, w, server, listeners, system.Operator(), signIn, quickstart); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	go heap.Keep(serving, w.clock, w.lookupEnv)
	notify(ctx, w, log, notifyReady)
	log.Info("ready", "listen", listeners.public.Addr().String(), "operator", listeners.operator.Addr().String())

	select {
	case err := <-failed:
		return fmt.Errorf("http: %w", err)
	case <-ctx.Done():
		log.Info("stopping")
		notify(context.WithoutCancel(ctx), w, log, notifyStopping)
		if network != nil {
			leave(context.WithoutCancel(ctx), server, network, host, system, log)
		}
		return nil
	}
}

// leave hands over to the other nodes while this one still answers, for whatever
// is left of it by asking them: so nobody's request meets an election. What cannot
// be handed over in time the others take.
func leave(ctx context.Context, server config.Server, network *mesh.Network, host *cluster.Host,
	system *actors.Service, log *slog.Logger,
) {
	ctx, cancel := context.WithTimeout(ctx, server.ShutdownGrace)
	defer cancel()
	system.Drain() // load balancers turn away
	network.SetLeaving(true)
	if err := errors.Join(host.StepDown(ctx), system.AwaitMovedAway(ctx)); err != nil {
		log.Warn("the node leaves before everything was handed over", "err", err)
	}
}

// closeWith closes one part and keeps its error beside those before it.
func closeWith(err *error, part string, closePart func() error) {
	if cerr := closePart(); cerr != nil {
		*err = errors.Join(*err, fmt.Errorf("close %s: %w", part, cerr))
	}
}

func newLogger(w world, server config.Server) *slog.Logger {
	options := &slog.HandlerOptions{Level: server.LogLevel}
	if server.LogJSON {
		return slog.New(slog.NewJSONHandler(w.err, options))
	}
	return slog.New(slog.NewTextHandler(w.err, options))
}

// leaderLook is how often a start looks again for a leader of the directory.
const leaderLook = 200 * time.Millisecond

// knowEverybody waits until this node's directory holds all that was agreed. A node
// may start while the others are between two leaders, or are starting, too.
func knowEverybody(ctx context.Context, w world, host *cluster.Host) error {
	for {
		err := host.Directory().Fresh(ctx)
		if err == nil || !errors.Is(err, wire.ErrNotReady) || ctx.Err() != nil {
			return err
		}
		if clock.Wait(ctx, w.clock, leaderLook) != nil {
			return err
		}
	}
}
