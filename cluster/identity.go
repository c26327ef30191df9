package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orgmem/cluster/mesh"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
)

// Refusals of Start.
var (
	// ErrShardCount means that the data directory was created with another number
	// of shards.
	ErrShardCount = errors.New("number of shards is fixed when the data directory is created")
	// ErrServerID means that the data directory belongs to a server of another id.
	ErrServerID = errors.New("data directory belongs to another server")
)

// identityKey holds the record among the meta group's stable values.
const identityKey = "orgmem/identity"

// identityFormat is the version of what this package writes beside the stores:
// the shard function, the log's encoding, the keys of the stable values.
const identityFormat = 1

// identity says once and for all whose data directory this is. It is written
// when everything else of a new directory exists.
type identity struct {
	Format int           `json:"format"`
	Server wire.ServerID `json:"server"`
	Shards int           `json:"shards"`
	// Joined says that the directory was created to join a cluster: it has the
	// groups that others add it to, and none of its own.
	Joined bool `json:"joined,omitempty"`
}

// establish reads the directory's identity, or creates the groups and then the
// identity. It is idempotent: a creation that was killed is taken up again, even
// with another configuration, since no group has ever run.
func establish(ctx context.Context, cfg Config) (identity, error) {
	stable := &raftlog.StableStore{Log: cfg.Storage.Log(), Group: wire.MetaGroup}
	b, err := stable.Get([]byte(identityKey))
	if err != nil {
		return identity{}, fmt.Errorf("cluster: read identity: %w", err)
	}
	if len(b) > 0 {
		half, err := stable.Get([]byte(recoveryKey))
		if err != nil {
			return identity{}, fmt.Errorf("cluster: read recovery: %w", err)
		}
		if len(half) > 0 && cfg.recovering == nil {
			return identity{}, fmt.Errorf("cluster: %w", ErrRecovering)
		}
		return recognize(b, cfg)
	}
	id := identity{Format: identityFormat, Server: cfg.Server, Shards: cfg.Shards, Joined: cfg.Join}
	if id.Shards == 0 {
		id.Shards = wire.DefaultShards
	}
	if id.Server == "" {
		var raw [8]byte
		if _, err := io.ReadFull(cfg.Random, raw[:]); err != nil {
			return identity{}, fmt.Errorf("cluster: draw a server id: %w", err)
		}
		id.Server = wire.ServerID("n-" + hex.EncodeToString(raw[:]))
	}
	if !id.Joined {
		if err := state.ForgetCluster(cfg.Storage); err != nil {
			return identity{}, err
		}
		if err := inParallel(1+id.Shards, func(i int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return bootstrap(cfg.Storage.Log(), uint32(i), id.Server)
		}); err != nil {
			return identity{}, err
		}
	}
	if b, err = json.Marshal(id); err != nil {
		return identity{}, fmt.Errorf("cluster: encode identity: %w", err)
	}
	if err := stable.Set([]byte(identityKey), b); err != nil {
		return identity{}, fmt.Errorf("cluster: write identity: %w", err)
	}
	return id, nil
}

// recognize compares a directory's identity with what the operator asks for.
func recognize(b []byte, cfg Config) (identity, error) {
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return id, fmt.Errorf("cluster: identity record: %w", err)
	}
	if id.Format != identityFormat {
		return id, fmt.Errorf(
			"cluster: data directory has format %d, this program knows %d: run the version that wrote it", id.Format,
			identityFormat,
		)
	}
	if cfg.Shards != 0 && cfg.Shards != id.Shards {
		return id, fmt.Errorf(
			"directory has %d shards, configuration says %d; leave it out or say %d: %w", id.Shards, cfg.Shards, id.Shards,
			ErrShardCount,
		)
	}
	if cfg.Server != "" && cfg.Server != id.Server {
		return id, fmt.Errorf("directory belongs to %q, configuration says %q: %w", id.Server, cfg.Server, ErrServerID)
	}
	return id, nil
}

// Found makes a node's data directory the first of a cluster: it creates the
// authority in the meta group, unless it is there, and returns the node's own
// credentials. The host must lead the meta group, as a cluster of one does. It
// may be repeated: each time the node gets a new certificate.
func Found(ctx context.Context, h *Host) (*mesh.Credentials, error) {
	return mesh.Found(ctx, h.Meta(), h.Server(), h.Shards(), rand.Reader, h.cfg.Clock.Now())
}
