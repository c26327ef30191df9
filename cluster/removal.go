package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Removal of an organization takes two logs, which no order connects: the meta
// group's, which says that it is removed, and the shard's, which says when its
// stores end. So it is done in this order, and finished by the next start when a
// crash comes between:
//
//  1. The meta entry: from here on no key resolves.
//  2. REMOVE in the shard's log, for each realm. Where it is applied, a tombstone is
//     written and fsynced beside the log before the directory is deleted. A
//     member that applies or replays an entry of a store with a tombstone skips it without
//     touching the disk, so neither a late proposal nor an old entry in the log
//     brings the directory back, half filled.
//  3. DROP of its keys in the meta group's log, which only makes room.
//
// Ids of organizations are never used twice, so a tombstone is for ever. It is a
// key of some 60 bytes.

// sweepRetry is the pause after a sweep that could not finish, and between looks
// for what others have left.
const sweepRetry = time.Minute

// sweeper finishes the removals that a crash has cut short, of the shards that this
// node leads. What it cannot finish is tried again, here or by the shard's next
// leader.
type sweeper struct {
	*node
	groups
	*leaders
	readiness *readiness

	cancel context.CancelFunc // nil before start
	swept  chan struct{}      // closed when the first sweep is over
	ended  chan struct{}
}

func newSweeper(n *node, all groups, l *leaders, r *readiness) *sweeper {
	return &sweeper{
		node: n, groups: all, leaders: l, readiness: r, swept: make(chan struct{}), ended: make(chan struct{}),
	}
}

// removeStores proposes REMOVE for every store that an organization may have, at
// the leader of the shard.
func (s *sweeper) removeStores(ctx context.Context, org pb.OrgID) error {
	for _, realm := range storage.OrgRealms {
		id := storage.StoreID{Org: org, Realm: realm}
		cmd := &pb.Command{Kind: &pb.Command_RemoveStore{RemoveStore: &pb.RemoveStore{Store: id.Ref()}}}
		if err := s.proposeAnywhere(ctx, s.Shard(org), cmd); err != nil {
			return fmt.Errorf("remove store %v: %w", id, err)
		}
	}
	return nil
}

func (s *sweeper) start(start context.Context) {
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(start))
	go s.run(ctx)
}

// stop may be called twice, and without start.
func (s *sweeper) stop() {
	if s.cancel != nil {
		s.cancel()
		<-s.ended
	}
}

func (s *sweeper) run(ctx context.Context) {
	defer close(s.ended)
	first := sync.OnceFunc(func() { close(s.swept) })
	defer first()
	if err := s.readiness.wait(ctx, s.sweepable); err != nil {
		return // closing
	}
	s.deleteBuried(ctx)
	for ctx.Err() == nil {
		changed := s.LeadersChanged()
		// Where there are others, one of them may have died between the two logs.
		done := s.sweep(ctx)
		first()
		if done && s.peers == nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		timer := s.cfg.Clock.NewTimer(sweepRetry)
		select {
		case <-changed:
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// sweep finishes the removals in the shards that this node leads. It reports
// whether there is nothing left to do.
func (s *sweeper) sweep(ctx context.Context) bool {
	done := true
	for _, org := range s.directory.RemovedOrgs() {
		if g := s.group(s.Shard(org)); g == nil || g.leading.Load() == 0 {
			continue
		}
		if err := s.finishRemoval(ctx, org); err != nil {
			done = false
			if !errors.Is(err, context.Canceled) {
				s.cfg.Logger.Warn("removal of an organization not finished; it is tried again", "org", org, "error", err)
			}
		}
	}
	return done
}

// deleteBuried deletes the directories of stores that have a tombstone: they
// were still held open, or a crash came, when the tombstone was written.
func (s *sweeper) deleteBuried(ctx context.Context) {
	ids, err := s.cfg.Storage.Stores()
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		if id == storage.MetaStore {
			continue
		}
		var gone bool
		if gone, err = s.machines[s.Shard(id.Org)-1].IsRemoved(id); err == nil && gone {
			err = s.cfg.Storage.Remove(id)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		s.cfg.Logger.Warn("directories of removed stores not deleted; the next start tries again", "error", err)
	}
}

// finishRemoval removes the stores of a removed organization, unless all of them
// have their tombstones, and its keys.
func (s *sweeper) finishRemoval(ctx context.Context, org pb.OrgID) error {
	done, err := s.storesRemoved(org)
	if err == nil && !done {
		err = s.removeStores(ctx, org)
	}
	if err != nil {
		return err
	}
	return s.directory.DropKeysOfRemoved(ctx, org)
}

// storesRemoved is Host.StoresRemoved.
func (s *sweeper) storesRemoved(org pb.OrgID) (bool, error) {
	for _, realm := range storage.OrgRealms {
		id := storage.StoreID{Org: org, Realm: realm}
		if gone, err := s.machines[s.Shard(org)-1].IsRemoved(id); err != nil || !gone {
			return false, err
		}
	}
	return true, nil
}

// sweepable is Ready for the sweep: without others it waits for all groups; with
// others some may be without a leader for long.
func (s *sweeper) sweepable() error {
	if s.peers == nil {
		return s.readiness.Ready()
	}
	if g := s.group(wire.MetaGroup); g == nil || !g.ready() {
		return wire.ErrNotReady
	}
	return nil
}
