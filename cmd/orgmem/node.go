package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"orgmem/actors/tenant"
	"orgmem/api/operator"
	"orgmem/cluster"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	"orgmem/cmd/orgmem/internal/config"
	pb "orgmem/proto"
)

// credentialsFile is the file in the data directory that makes it a node's: its
// certificate and key, and the cluster's gossip keys. Mode 0600.
const credentialsFile = "cluster.credentials"

// joinPatience is how long a start tries to join. The nodes that the token names
// are there, or will be in a minute.
const joinPatience = 2 * time.Minute

// nodeCredentials returns what makes this data directory a node's, nil where it is
// none. With a join token a new directory becomes one.
func nodeCredentials(ctx context.Context, w world, server config.Server,
	log *slog.Logger,
) (*mesh.Credentials, error) {
	creds, err := readCredentials(server.Data)
	if err != nil || creds != nil || server.ClusterListen == "" {
		return creds, err
	}
	token, err := joinToken(w, server)
	if err != nil {
		return nil, err
	}
	if err := mustBeNew(server.Data); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	advertise := server.ClusterAdvertise
	if advertise == "" {
		advertise = server.ClusterListen // until the network says better
	}
	creds, err = mesh.Join(ctx, mesh.JoinConfig{
		Token: token, Addresses: server.Join, Advertise: advertise, Name: nodeName(server), Zone: server.Zone,
		Clock: w.clock, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	// From here on the token is spent: what it bought goes to the disk first.
	if err := keepCredentials(server.Data, creds); err != nil {
		return nil, err
	}
	log.Info("joined", "cluster", creds.Cluster(), "server", string(creds.Server()))
	return creds, nil
}

// joinToken finds the token of a machine that wants to join.
func joinToken(w world, server config.Server) (mesh.Token, error) {
	text := w.env(config.EnvJoinToken, "")
	if server.JoinTokenFile != "" {
		raw, err := config.ReadSmall(server.JoinTokenFile)
		if err != nil {
			return mesh.Token{}, fmt.Errorf("join-token-file: %w", err)
		}
		text = string(raw)
	}
	if strings.TrimSpace(text) == "" {
		return mesh.Token{},
			fmt.Errorf("cluster-listen is set and %s belongs to no cluster: make it the first node with `orgmem cluster init`, "+
				"or join with a token of `orgmem cluster token` in %s or join-token-file", server.Data, config.EnvJoinToken)
	}
	return mesh.ParseToken(text)
}

// mustBeNew refuses to make a node of a directory that has data: it would have to
// throw them away.
func mustBeNew(data string) error {
	entries, err := os.ReadDir(data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			return fmt.Errorf("%s has data of its own; a machine joins with a new data directory", data)
		}
	}
	return nil
}

func readCredentials(data string) (*mesh.Credentials, error) {
	text, err := config.ReadSmall(filepath.Join(data, credentialsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	creds, err := mesh.ParseCredentials(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", credentialsFile, err)
	}
	return creds, nil
}

func keepCredentials(data string, creds *mesh.Credentials) error {
	text, err := creds.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, config.DirMode0700); err != nil {
		return err
	}
	return writeSecret(filepath.Join(data, credentialsFile), strings.TrimSpace(string(text)))
}

// openNetwork is the way to the other nodes; nil where there are none.
func openNetwork(ctx context.Context, w world, server config.Server, creds *mesh.Credentials,
	log *slog.Logger,
) (*mesh.Network, error) {
	if server.ClusterListen == "" {
		return nil, nil
	}
	return mesh.Open(ctx, mesh.Config{
		Listen: server.ClusterListen, Advertise: server.ClusterAdvertise, Join: server.Join,
		Name: nodeName(server), Zone: server.Zone,
		Credentials: creds, Save: func(c *mesh.Credentials) error { return keepCredentials(server.Data, c) },
		Clock: w.clock, CPUTime: cpuTime, Logger: log,
	})
}

// cpuTime is what the process has used of all processors since its start.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails for bad arguments alone
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// nodeName is what people call the node.
func nodeName(server config.Server) string {
	if server.NodeName != "" {
		return server.NodeName
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name[:min(len(name), config.MaxName)]
}

// clusterAdmin is what the operator does with the cluster.
type clusterAdmin struct {
	network *mesh.Network
	host    *cluster.Host
}

func (a clusterAdmin) JoinToken(ctx context.Context, life time.Duration) (operator.JoinToken, error) {
	t, expires, err := a.network.NewToken(ctx, life)
	if errors.Is(err, wire.ErrTooManyTokens) {
		return operator.JoinToken{}, fmt.Errorf("%w: %w", tenant.ErrConflict, err)
	}
	return operator.JoinToken{Token: t.String(), Expires: expires}, err
}

func (a clusterAdmin) Rotate(ctx context.Context) error {
	err := a.network.Rotate(ctx)
	if errors.Is(err, mesh.ErrRotating) || errors.Is(err, wire.ErrMapChanged) {
		return fmt.Errorf("%w: %w", tenant.ErrConflict, mesh.ErrRotating)
	}
	return err
}

func (a clusterAdmin) Rotation(context.Context) (operator.Rotation, error) {
	s, err := a.network.Rotation()
	r := operator.Rotation{Generations: s.Generations, Signing: s.Signing, Expires: s.Expires}
	for _, id := range s.Waiting {
		r.Waiting = append(r.Waiting, string(id))
	}
	return r, err
}

func (a clusterAdmin) Status(ctx context.Context) (*pb.ClusterStatus, error) {
	return a.host.ClusterStatus(ctx)
}

func (a clusterAdmin) Drain(ctx context.Context, node string, drain bool) error {
	return a.onNode(node, func(id wire.ServerID) error { return a.host.DrainNode(ctx, id, drain) })
}

func (a clusterAdmin) Remove(ctx context.Context, node string) error {
	return a.onNode(node, func(id wire.ServerID) error { return a.host.LeaveNode(ctx, id) })
}

// onNode does something to the node that the operator names by its id, or by its
// name where only one has it.
func (a clusterAdmin) onNode(name string, do func(wire.ServerID) error) error {
	var found []wire.ServerID
	for _, n := range a.host.Meta().Nodes() {
		if n.GetServer() == name {
			found = []wire.ServerID{wire.ServerID(name)}
			break
		}
		if n.GetName() == name && !n.GetRemoved() {
			found = append(found, wire.ServerID(n.GetServer()))
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("%w: no node has the id or name %q; `orgmem cluster status` lists them", tenant.ErrInvalid, name)
	case 1:
	default:
		return fmt.Errorf("%w: %d nodes are called %q; use the id", tenant.ErrInvalid, len(found), name)
	}
	err := do(found[0])
	switch {
	case errors.Is(err, wire.ErrNodeRemoved), errors.Is(err, cluster.ErrLastNode), errors.Is(err, cluster.ErrAlone):
		return fmt.Errorf("%w: %w", tenant.ErrConflict, err)
	case errors.Is(err, wire.ErrNotApplied), errors.Is(err, wire.ErrOutcomeUnknown),
		errors.Is(err, wire.ErrNotReady):
		// The meta group has no leader that a majority follows: 503, try again.
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}
