package state

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxKeys bounds the key hashes of one cluster: at about 60 bytes each in memory
	// this is 240 MB. It is far above 100,000 organizations with a handful of keys.
	MaxKeys = 4_000_000
	// MaxKeysPerOrg bounds those of one organization, so that filling the directory
	// takes 200 of them: two keys for each of its 10,000 members, or twenty members
	// with as many as one may have.
	MaxKeysPerOrg = 20_000
	// maxDropKeys bounds one command that drops keys: 34 KB.
	maxDropKeys = 1000
)

// KeyStats is how full the directory of keys is.
type KeyStats struct {
	Keys, Limit int
}

// KeyStats returns the present figures.
func (d *Directory) KeyStats() KeyStats {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return KeyStats{Keys: len(d.keys), Limit: d.cfg.MaxKeys}
}

// KeyCount returns how many key hashes lead to an organization, those that it does
// not know itself (see PutKey) and those of a removed one included.
func (d *Directory) KeyCount(org pb.OrgID) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if o := d.orgs[org]; o != nil {
		return o.keys
	}
	return 0
}

// PutKey records that a key hash belongs to an organization, until it is dropped.
// It comes before the organization itself knows the key, so a failure or a crash
// in between leaves a hash that leads nowhere: DropKeys removes it.
// Doing it twice is no error; another organization is ErrKeyTaken. The organization
// must be in the directory (ErrOrgUnknown, ErrOrgRemoved). Further errors are the
// proposal's: ErrNotApplied (also wrapping ErrDirectoryFull and ErrTooManyKeys) and
// ErrOutcomeUnknown, after which it may simply be called again.
func (d *Directory) PutKey(ctx context.Context, key pb.KeyHash, org pb.OrgID) error {
	// Looked at here and not where it is applied: replicas of programs that did not
	// know these bounds must decide alike. What is under way goes beyond them a little.
	if s := d.KeyStats(); s.Keys >= s.Limit {
		return wire.NotApplied(wire.ErrDirectoryFull)
	}
	if d.KeyCount(org) >= d.cfg.MaxKeysPerOrg {
		return wire.NotApplied(wire.ErrTooManyKeys)
	}
	if err := d.cfg.Storage.Writable(); err != nil {
		return wire.NotApplied(err)
	}
	return d.propose(ctx, "put key", &pb.Command{Kind: &pb.Command_PutKey{
		PutKey: &pb.PutKey{KeyHash: key[:], Org: org.Bytes()},
	}})
}

// DropKeys removes key hashes of an organization, which must not know them any more;
// those that are not its own, or not there, stay as they are. It works on a full disk,
// as RemoveOrg does. Errors are the proposal's: ErrNotApplied (also wrapping
// ErrNotSpoken, while some node of the cluster is of version 2) and ErrOutcomeUnknown,
// after which some are dropped, and it may be called again.
func (d *Directory) DropKeys(ctx context.Context, org pb.OrgID, keys []pb.KeyHash) error {
	for some := range slices.Chunk(keys, maxDropKeys) {
		cmd := &pb.DropKeys{Org: org.Bytes()}
		for _, k := range some {
			cmd.KeyHashes = append(cmd.GetKeyHashes(), k[:])
		}
		if err := d.propose(ctx, "drop keys", &pb.Command{Kind: &pb.Command_DropKeys{DropKeys: cmd}}); err != nil {
			return err
		}
	}
	return nil
}

// KeysOf reads which key hashes lead to an organization, at most limit. It looks
// through the whole table, some 0.3 µs a key, without a lock: an index by
// organization would cost every key as much memory again, for what is seldom asked.
func (d *Directory) KeysOf(ctx context.Context, org pb.OrgID, limit int) ([]pb.KeyHash, error) {
	if d.KeyCount(org) == 0 {
		return nil, nil
	}
	store, err := d.cfg.Storage.Acquire(storage.MetaStore)
	if err != nil {
		return nil, fmt.Errorf("directory: read keys: %w", err)
	}
	defer store.Release()
	var keys []pb.KeyHash
	for k, err := range scanKeys(store) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("directory: read keys: %w", err)
		}
		if k.org != org {
			continue
		}
		if keys = append(keys, k.hash); len(keys) == limit {
			break
		}
	}
	return keys, nil
}

// DropKeysOfRemoved drops what is left of a removed organization's keys. They resolve to
// nothing already; this is for the room they take.
func (d *Directory) DropKeysOfRemoved(ctx context.Context, org pb.OrgID) error {
	for {
		keys, err := d.KeysOf(ctx, org, MaxKeysPerOrg)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := d.DropKeys(ctx, org, keys); err != nil {
			if errors.Is(err, wire.ErrNotSpoken) {
				return nil // the sweep drops them when the last node is upgraded
			}
			return err
		}
	}
}

func (d *Directory) judgeDrop(k *pb.DropKeys, batch *storage.Batch) (func(), error) {
	org, err := pb.OrgIDFrom(k.GetOrg())
	var drop []pb.KeyHash
	for _, raw := range k.GetKeyHashes() {
		key, err1 := pb.KeyHashFrom(raw)
		err = errors.Join(err, err1)
		if o := d.keys[key]; o != nil && o.id == org {
			batch.Delete(keyRow(key))
			drop = append(drop, key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadCommand, err)
	}
	return func() {
		for _, key := range drop {
			if o := d.keys[key]; o != nil { // once, however often it was named
				delete(d.keys, key)
				o.keys--
			}
		}
	}, nil
}

// keyEntry is one row of the table of keys.
type keyEntry struct {
	hash pb.KeyHash
	org  pb.OrgID
}

// scanKeys reads the table of keys.
func scanKeys(store *storage.Store) iter.Seq2[keyEntry, error] {
	return func(yield func(keyEntry, error) bool) {
		for item, err := range store.Scan(dirSpace.Prefix(storage.TableDirectoryKey), storage.ScanOptions{}) {
			var k keyEntry
			if err == nil {
				parts := item.Key.Parts()
				k.hash = pb.KeyHash(parts.Hash32())
				k.org, err = pb.OrgIDFrom(item.Value)
				err = errors.Join(err, parts.Done())
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}
