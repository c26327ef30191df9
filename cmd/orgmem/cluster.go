package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cluster"
	"orgmem/cluster/mesh"
	"orgmem/cmd/orgmem/internal/client"
)

func newCluster(w world) *cobra.Command {
	var at operatorFlags
	operated := []*cobra.Command{
		newClusterStatus(w, &at), newClusterWait(w, &at), newClusterDrain(w, &at), newClusterRemove(w, &at),
		newClusterToken(w, &at), newClusterRotate(w, &at),
	}
	for _, c := range operated {
		at.register(w, c)
	}
	return group("cluster", "Make a cluster of this node and manage it (operator)",
		append(operated, newClusterInit(w), newClusterRecover(w))...)
}

// founded is what `cluster init` tells.
type founded struct {
	Cluster string `json:"cluster"`
	Server  string `json:"server"`
	Shards  int    `json:"shards"`
	Data    string `json:"data"`
}

func newClusterInit(w world) *cobra.Command {
	var settings settingFlags
	c := &cobra.Command{
		Use: "init", Short: "Make a stopped node, or a new data directory, the first of a cluster", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			server, _, err := settings.load(c, w)
			if err != nil {
				return err
			}
			log := newLogger(w, server)
			store, err := openStorage(w, server, log)
			if err != nil {
				return fmt.Errorf("cluster init: %w (a server that runs on this directory must be stopped first)", err)
			}
			defer closeWith(&err, "storage", store.Close)
			host, err := startCluster(c.Context(), w, server, store, nil, nil, nil, log)
			if err != nil {
				return err
			}
			defer closeWith(&err, "cluster", host.Close)
			if err := host.WaitReady(c.Context()); err != nil {
				return err
			}
			creds, err := cluster.Found(c.Context(), host)
			if err != nil {
				return fmt.Errorf("cluster init: %w", err)
			}
			if err := keepCredentials(server.Data, creds); err != nil {
				return fmt.Errorf("cluster init: %w", err)
			}
			f := founded{creds.Cluster(), string(creds.Server()), creds.Shards(), server.Data}
			return w.answer(c, f, func(out io.Writer) {
				fmt.Fprintf(out, `%s is the first node of cluster %s.

Serve it where the other machines can reach it:

  orgmem serve --data %[1]s --cluster-listen ADDRESS:7946

Then for each other machine make a token here, and start it there on a new data directory:

  orgmem cluster token --data %[1]s
  ORGMEM_JOIN_TOKEN=... orgmem serve --cluster-listen ADDRESS:7946
`, f.Data, f.Cluster)
			})
		},
	}
	settings.register(c)
	return c
}

func newClusterToken(w world, at *operatorFlags) *cobra.Command {
	var life time.Duration
	c := &cobra.Command{
		Use: "token", Short: "Make a token with which one machine may join", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if life < time.Second || life > mesh.MaxTokenLife {
				return fmt.Errorf("%w: --ttl must be from 1s to %v", errUsage, mesh.MaxTokenLife)
			}
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			t, err := operator.NewJoinToken(c.Context(), life)
			if err != nil {
				return fmt.Errorf("cluster token: %w", err)
			}
			return w.answer(c, t, func(out io.Writer) { // the token alone, for $(...)
				fmt.Fprintln(out, t.Token)
				fmt.Fprintf(w.err, "Good for one machine, until %s. Whoever has it can read everything the cluster holds.\n",
					t.ExpiresAt)
			})
		},
	}
	c.Flags().DurationVar(&life, "ttl", time.Hour, "how long the token can be used")
	return c
}

func newClusterRotate(w world, at *operatorFlags) *cobra.Command {
	var look bool
	c := &cobra.Command{
		Use: "rotate", Short: "Replace the cluster's certificate authority and all certificates, while it serves",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			ask := operator.Rotate
			if look {
				ask = operator.Rotation
			}
			r, err := ask(c.Context())
			if err != nil {
				return fmt.Errorf("cluster rotate: %w", err)
			}
			return w.answer(c, r, func(out io.Writer) { printRotation(out, r) })
		},
	}
	c.Flags().BoolVar(&look, "status", false, "only show how far a rotation is")
	return c
}

func printRotation(out io.Writer, r client.Rotation) {
	switch {
	case r.Done():
		fmt.Fprintf(out, "Generation %d signs; no rotation is under way.\n", r.Signing)
	case r.Signing == r.Generations[0]:
		fmt.Fprintf(out, "Generation %d is being made known; %d signs.\n", r.Generations[1], r.Signing)
	default:
		fmt.Fprintf(out, "Generation %d signs; certificates of %d are being replaced.\n", r.Signing, r.Generations[0])
	}
	if len(r.Waiting) > 0 {
		fmt.Fprintf(out, "Waiting for: %v (a node that is gone for good: orgmem cluster remove)\n", r.Waiting)
	}
	fmt.Fprintf(out, "This node's certificate ends %s and is renewed a month before.\n", r.ExpiresAt)
}
