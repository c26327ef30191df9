package cluster

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"orgmem/storage"
)

// identityKey holds the record among the meta group's stable values.
const identityKey = "orgmem/identity"

// identityFormat is the version of what this package writes beside the stores:
// the shard function, the log's encoding, the keys of the stable values.
const identityFormat = 1

// identity says once and for all whose data directory this is. It is written
// when everything else of a new directory exists.
type identity struct {
	Format int      `json:"format"`
	Server ServerID `json:"server"`
	Shards int      `json:"shards"`
	// Joined says that the directory was created to join a cluster: it has the
	// groups that others add it to, and none of its own.
	Joined bool `json:"joined,omitempty"`
}

// establish reads the directory's identity, or creates the groups and then the
// identity. It is idempotent: a creation that was killed is taken up again, even
// with another configuration, since no group has ever run.
func establish(ctx context.Context, cfg Config) (identity, error) {
	stable := &stableStore{log: cfg.Storage.Log(), group: metaGroup}
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
		id.Shards = DefaultShards
	}
	if id.Server == "" {
		var raw [8]byte
		if _, err := io.ReadFull(cfg.Random, raw[:]); err != nil {
			return identity{}, fmt.Errorf("cluster: draw a server id: %w", err)
		}
		id.Server = ServerID("n-" + hex.EncodeToString(raw[:]))
	}
	if !id.Joined {
		if err := forgetCluster(cfg.Storage); err != nil {
			return identity{}, err
		}
		if err := each(1+id.Shards, func(i int) error {
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

// forgetCluster takes what a restored directory says of the cluster that was backed
// up out of it: with the old shard map the new node would wait for the old ones, and
// the old authority's key is in every backup. The version stays, since the commands
// of that version have been used. Nothing to do in a directory that is really new.
//
// It is written as entry 1, which in every group that is created is the membership
// and no command, so that doing it again after a crash changes nothing.
func forgetCluster(node *storage.Node) error {
	there, err := node.Exists(storage.MetaStore)
	if err != nil || !there {
		return err
	}
	store, err := node.Acquire(storage.MetaStore)
	if err != nil {
		return err
	}
	defer store.Release()
	batch := storage.NewBatch(storage.MetaStore)
	for _, table := range []storage.Table{storage.TableNodeInfo, storage.TableJoinToken} {
		for item, err := range store.Scan(dirSpace.Prefix(table), storage.ScanOptions{}) {
			if err != nil {
				return fmt.Errorf("cluster: forget the cluster that was backed up: %w", err)
			}
			batch.Delete(item.Key)
		}
	}
	batch.Delete(shardMapRow())
	batch.Delete(settingRow(settingAuthority))
	if _, err = store.Apply(storage.Entry{Index: 1, Kind: storage.EntryPlain, Changes: batch.Changes()}); err == nil {
		err = store.Flush()
	}
	if err != nil {
		return fmt.Errorf("cluster: forget the cluster that was backed up: %w", err)
	}
	return nil
}

// recognize compares a directory's identity with what the operator asks for.
func recognize(b []byte, cfg Config) (identity, error) {
	var id identity
	if err := json.Unmarshal(b, &id); err != nil {
		return id, fmt.Errorf("cluster: identity record: %w", err)
	}
	if id.Format != identityFormat {
		return id, fmt.Errorf("cluster: data directory has format %d, this program knows %d: run the version that wrote it", id.Format, identityFormat)
	}
	if cfg.Shards != 0 && cfg.Shards != id.Shards {
		return id, fmt.Errorf("directory has %d shards, configuration says %d; leave it out or say %d: %w", id.Shards, cfg.Shards, id.Shards, ErrShardCount)
	}
	if cfg.Server != "" && cfg.Server != id.Server {
		return id, fmt.Errorf("directory belongs to %q, configuration says %q: %w", id.Server, cfg.Server, ErrServerID)
	}
	return id, nil
}
