package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/transfer"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// A store in which damage is found is out of service on its node
// (storage.ErrOutOfService). Where others have a copy, the node gives the leadership of
// its shard away, so that the organization is served elsewhere, closes the group, fetches
// the store as a transfer does, and opens the group again, whose log brings what came
// meanwhile. Where no other node has it whole, the group stays open for its other
// organizations (see setAside).

// mendLooks is how many times a source's progress is looked at, a readyPoll apart, until
// it has all that this node had.
const mendLooks = 100

// mendPauseMost is the longest pause between two attempts to get a damaged store that no
// other node had. A copy that was put right on another node is fetched within this time.
const mendPauseMost = 5 * time.Minute

// errNoSource means that no other member of a group answers, or is far enough.
var errNoSource = errors.New("no other replica of the group answers")

// otherVoters returns the other voters of a group.
func (g *group) otherVoters() []wire.ServerID {
	var ids []wire.ServerID
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		if id := wire.ServerID(s.ID); id != g.node.identity.Server && s.Suffrage == raft.Voter {
			ids = append(ids, id)
		}
	}
	return ids
}

// mender gets whole copies of damaged stores from other nodes.
type mender struct {
	*node
	groups
	*leaders
	transfers *transfer.Transfers

	mu sync.Mutex // guards what follows
	// lacking are the damaged stores that no other node had when they were last asked for.
	lacking map[storage.StoreID]lack
}

func newMender(n *node, all groups, l *leaders, t *transfer.Transfers) *mender {
	return &mender{node: n, groups: all, leaders: l, transfers: t, lacking: map[storage.StoreID]lack{}}
}

// lack is what is known of a damaged store that no other node had.
type lack struct {
	pause time.Duration // before the others are asked again
	until time.Duration // in node.elapsed, when that is over
}

// outages returns the damaged stores of a shard.
func (m *mender) outages(group uint32) []storage.StoreID {
	var ids []storage.StoreID
	for id := range m.cfg.Storage.Outages() {
		if id != storage.MetaStore && m.Shard(id.Org) == group {
			ids = append(ids, id)
		}
	}
	return ids
}

// sought returns the damaged stores of a shard that the others are to be asked for now,
// and forgets its notes on stores that are whole again.
func (m *mender) sought(group uint32) []storage.StoreID {
	damaged := m.cfg.Storage.Outages()
	now := m.elapsed()
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.lacking, func(id storage.StoreID, _ lack) bool { _, still := damaged[id]; return !still })
	return slices.DeleteFunc(m.outages(group), func(id storage.StoreID) bool { return m.lacking[id].until > now })
}

// mendable reports whether a group has damaged stores of which another member has a whole
// copy. The group stays open while they are asked: closing it helps only where one of them
// has a copy.
func (m *mender) mendable(ctx context.Context, g *group) bool {
	if g.id == wire.MetaGroup || m.peers == nil {
		return false
	}
	found := false
	for _, id := range m.sought(g.id) {
		peers := g.otherVoters()
		if len(peers) == 0 {
			return false
		}
		err := m.offered(ctx, g.id, id, peers)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			m.soughtInVain(g.id, id, err)
			continue
		}
		found = true
	}
	return found
}

// offered returns nil when a member has a whole copy of a store.
func (m *mender) offered(ctx context.Context, group uint32, id storage.StoreID, members []wire.ServerID) error {
	var errs []error
	for _, member := range members {
		_, err := m.sourceOf(ctx, group, []wire.ServerID{member}, 0, 1)
		if err == nil {
			f := m.transfers.From(group, member, nil)
			err = f.Offered(ctx, id)
			f.HangUp()
		}
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", member, err))
	}
	return errors.Join(errs...)
}

// yields gives the leadership of a group with damaged stores away, if it is here, and
// reports whether it has gone.
func (m *mender) yields(g *group) bool {
	if g.leading.Load() != 0 {
		if err := g.handOver(""); err != nil {
			m.cfg.Logger.Warn("cluster: a shard with a damaged store stays here", "group", g.id, "error", err)
			return false
		}
	}
	return true
}

// sourceOf returns a member that has applied as much as this node had.
func (m *mender) sourceOf(
	ctx context.Context, group uint32, members []wire.ServerID, applied uint64, looks int,
) (wire.ServerID, error) {
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Progress{Progress: &pb.Empty{}}}
	for look := range looks {
		if look > 0 {
			if err := clock.Wait(ctx, m.cfg.Clock, readyPoll); err != nil {
				return "", err
			}
		}
		for _, id := range members {
			if a, err := m.ask(ctx, id, call); err == nil && a.GetIndex() >= applied {
				return id, nil
			}
		}
	}
	return "", errNoSource
}

// mend fetches the damaged stores of a group that was closed, from members that have
// applied all that this node had applied. Where one store fails, it goes on to the next.
func (m *mender) mend(ctx context.Context, group uint32, members []wire.ServerID, applied uint64) error {
	var errs []error
	for _, id := range m.sought(group) {
		err := m.fetchAnew(ctx, group, id, members, applied)
		if err != nil {
			if ctx.Err() == nil {
				m.soughtInVain(group, id, err)
			}
			errs = append(errs, fmt.Errorf("store %v: %w", id, err))
			continue
		}
		m.stats.storesMended.Add(1)
		m.cfg.Logger.Info("cluster: a damaged store was replaced by another node's", "group", group, "store", id.String())
	}
	return errors.Join(errs...)
}

func (m *mender) fetchAnew(
	ctx context.Context, group uint32, id storage.StoreID, members []wire.ServerID, applied uint64,
) error {
	var errs []error
	for _, member := range members { // one may have a damaged copy itself
		source, err := m.sourceOf(ctx, group, []wire.ServerID{member}, applied, mendLooks)
		if err == nil {
			f := m.transfers.From(group, source, m.machines[group-1])
			err = f.Fetch(ctx, id, 0)
			f.HangUp()
		}
		if err == nil && m.cfg.Storage.OutOfService(id) != nil {
			err = m.cfg.Storage.Remove(id) // the other one has removed it, as the log will say here
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, errNoSource)...)
}

// lacks reports whether a damaged store was looked for in vain. Until a copy is found, the
// log's entries for it are set aside, and the rest of its shard goes on.
func (m *mender) lacks(id storage.StoreID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.lacking[id]
	return ok
}

// soughtInVain notes that no other node had a damaged store. The next attempt comes after
// twice the pause of the one before: each makes the others read the store.
func (m *mender) soughtInVain(group uint32, id storage.StoreID, err error) {
	m.mu.Lock()
	pause := min(max(hostingRetry, 2*m.lacking[id].pause), mendPauseMost)
	m.lacking[id] = lack{pause: pause, until: m.elapsed() + pause}
	m.mu.Unlock()
	m.cfg.Logger.Warn("cluster: no other node has a damaged store; its shard goes on without it, and it is asked "+
		"for again", "group", group, "store", id.String(), "pause", pause, "error", err)
}
