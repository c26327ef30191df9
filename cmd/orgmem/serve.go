package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"orgmem/actors"
	"orgmem/cmd/orgmem/internal/config"
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
	c.Flags().BoolVar(&quickstart, "quickstart", false, "on an empty data directory, make a personal organization and print its key")
	return c
}

// serve is the whole service: each line needs the ones above it, and the defers
// take it down in the opposite order. Whoever wants to know what orgmem is made
// of reads this function.
func serve(c *cobra.Command, w world, server config.Server, values []config.Value, quickstart bool) (err error) {
	ctx := c.Context()
	log := newLogger(w, server)

	store, err := openStorage(w, server, log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "storage", store.Close)

	host, err := startCluster(ctx, w, store, log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "cluster", host.Close)

	model, former, err := openModels(server)
	if err != nil {
		return err
	}
	system, err := startActors(w, server, store, host, model, former, log)
	if err != nil {
		return err
	}
	defer closeWith(&err, "actors", system.Close)

	backups := actors.NewBackups(store, w.clock, rand.Reader, log)
	defer closeWith(&err, "backups", backups.Close)

	listeners, err := listen(ctx, server)
	if err != nil {
		return err
	}
	edge, err := newEdge(w, server, values, store, host, system, backups, model, log)
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
	if err := announce(c, w, server, listeners, system, quickstart); err != nil {
		return err
	}
	log.Info("ready", "listen", listeners.public.Addr().String(), "operator", listeners.operator.Addr().String())

	select {
	case err := <-failed:
		return fmt.Errorf("http: %w", err)
	case <-ctx.Done():
		log.Info("stopping")
		return nil
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
