package state

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Version returns the version of the commands that may be proposed. It never
// falls.
func (m *Meta) Version() uint32 {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return m.version
}

// SetVersion raises the version of commands that may be proposed (ErrNotSpoken
// when a node of the table does not understand it). A lower one than the present
// has no effect.
func (m *Meta) SetVersion(ctx context.Context, version uint32) error {
	return m.d.propose(ctx, "set cluster version", &pb.Command{Kind: &pb.Command_SetClusterVersion{
		SetClusterVersion: &pb.SetClusterVersion{Version: version},
	}})
}

// judgeVersion decides a raise: between its planning and its place in the log an
// old node may have joined.
func (m *Meta) judgeVersion(k *pb.SetClusterVersion, batch *storage.Batch) (func(), error) {
	v := max(k.GetVersion(), m.version)
	if v > m.version && m.version >= wire.JudgedVersion {
		for _, id := range slices.Sorted(maps.Keys(m.nodes)) {
			if n := m.nodes[id]; !n.GetRemoved() && n.GetVersion() < v {
				return nil, fmt.Errorf("node %s speaks version %d: %w", id, n.GetVersion(), wire.ErrNotSpoken)
			}
		}
	}
	batch.Put(settingRow(settingVersion), &pb.SetClusterVersion{Version: v})
	return m.publish(func() { m.version = v }), nil
}

// judgeOutdated refuses a node that is too old for the cluster, and one that has
// become too old. It does not look at what else is changed in an entry: such
// a node can still be removed.
func (m *Meta) judgeOutdated(old, n *pb.NodeEntry) error {
	if m.version < wire.JudgedVersion || n.GetVersion() >= m.version || old != nil && n.GetVersion() >= old.GetVersion() {
		return nil
	}
	return wire.Outdated(m.version, n.GetVersion())
}
