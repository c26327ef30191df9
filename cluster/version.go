package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
	"orgmem/storage"
)

// ProtocolVersion is what this program speaks with other nodes: commands in the
// logs, calls, and what a snapshot brings. It speaks all earlier ones, too. A node
// tells it in its gossip and in the node table; what is newer than the lowest
// present is not said. Raise it with whatever an earlier program would not
// understand, and write down here what that is.
//
// Commands that write a store carry records that cluster does not look into, and the
// actors of another node may read them: where the store has moved, and where an
// operation travels to its owner. They are not gated; each change of a record
// has to be of one of two kinds.
//
//   - What an earlier program may leave out: a new field that is as good as absent
//     there, a new key that it never looks at. protobuf keeps fields that a program does
//     not know as long as it writes back the message that it read, so records are changed
//     in place and never built anew. This needs no version.
//   - What it must not leave out, since it would answer, erase or bill wrongly: another
//     meaning of a field, a key that moves, a value of an enumeration that it would
//     refuse, a record of which it would drop the half. This needs a version here, and
//     whoever writes the new form asks Meta.Version first and writes the old one until
//     then; what reads takes both, for good.
//
// make upgrade holds both to it, as far as its load reaches. The versions:
//
//	1  the first
//	2  commands say what they need (Command.needs); the node table and the version
//	   are judged by it (judgeOutdated, judgeVersion)
//	3  keys are dropped from the directory (DropKeys)
//	4  the secrets of connectors, what requests were answered and the types of the edges
//	   of forgotten nodes are sealed (Connector.sealed, Outcome.sealed, Edge.sealed)
const ProtocolVersion = 4

// dropVersion is the version that brought DropKeys.
const dropVersion = 3

// SealedVersion is the version from which on whoever opens an organization finds in
// its store what is sealed: an earlier program would fetch without the secrets of a
// connector, and replay an empty answer.
const SealedVersion = 4

// judgedVersion is the version of the cluster from which on entries of nodes and
// raises of the version are refused where they are applied. Before it some replica
// may run a program that takes them all, and replicas must decide alike.
const judgedVersion = 2

// ErrOutdated means that a program is older than what its cluster speaks: it must
// not take part, since it would not understand what the others write.
var ErrOutdated = errors.New("this program is older than its cluster; start the version that the other nodes run")

// ErrNotSpoken comes with ErrNotApplied: some node of the cluster is older than
// what was to be proposed.
var ErrNotSpoken = errors.New("not every node of the cluster understands this yet")

func outdated(cluster, program uint32) error {
	return fmt.Errorf("the cluster is at version %d, this program speaks %d: %w", cluster, program, ErrOutdated)
}

// needs returns the version that a command asks of whoever carries it out, 0 where
// the first one knew it. A new kind of command is entered here,
// and a field that changes what an old one does, with the ProtocolVersion that
// brings it: then it is refused until the last node has that version, and nothing
// else has to be done. What raises the version asks for nothing: an old node must
// be able to refuse it as all others do, and stops where it takes effect
// (Directory.apply).
func needs(cmd *pb.Command) uint32 {
	if cmd.GetDropKeys() != nil {
		return dropVersion
	}
	return 0
}

// allow stamps a command with what it needs, and refuses it (ErrNotSpoken) while
// some node might not understand it. This node's copy of the version may be old;
// since it never falls, that only makes it wait.
func (h *Host) allow(cmd *pb.Command) error {
	if v := cmd.GetSetClusterVersion().GetVersion(); v > h.cfg.speaks {
		return fmt.Errorf("raise to version %d, this program speaks %d: %w", v, h.cfg.speaks, ErrNotSpoken)
	}
	// A command that was forwarded may be of a newer program, which knows better.
	cmd.Needs = max(cmd.GetNeeds(), h.cfg.needs(cmd))
	if cmd.GetNeeds() == 0 {
		return nil // as nearly all; no lock for them
	}
	limit := h.cfg.speaks
	if h.peers != nil { // a node alone speaks with nobody
		limit = h.Meta().Version()
	}
	if cmd.GetNeeds() > limit {
		return fmt.Errorf("a command needs version %d, the cluster is at %d: %w", cmd.GetNeeds(), limit, ErrNotSpoken)
	}
	return nil
}

// Version returns the version of the commands that may be proposed. It never
// falls.
func (m *Meta) Version() uint32 {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return m.version
}

// Speaks reports whether every node understands a version. This node's copy of what
// the cluster is at may be old; since it never falls, that only makes it wait.
func (h *Host) Speaks(version uint32) bool {
	if h.peers == nil { // a node alone speaks with nobody
		return h.cfg.speaks >= version
	}
	return h.Meta().Version() >= version
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
	if v > m.version && m.version >= judgedVersion {
		for _, id := range slices.Sorted(maps.Keys(m.nodes)) {
			if n := m.nodes[id]; !n.GetRemoved() && n.GetVersion() < v {
				return nil, fmt.Errorf("node %s speaks version %d: %w", id, n.GetVersion(), ErrNotSpoken)
			}
		}
	}
	batch.Put(settingRow(settingVersion), &pb.SetClusterVersion{Version: v})
	return m.publish(func() { m.version = v }), nil
}

// judgeOutdated refuses a node that is too old for the cluster, and one that has
// become too old. What else is changed in an entry is none of its business: such
// a node can still be removed.
func (m *Meta) judgeOutdated(old, n *pb.NodeEntry) error {
	if m.version < judgedVersion || n.GetVersion() >= m.version || old != nil && n.GetVersion() >= old.GetVersion() {
		return nil
	}
	return outdated(m.version, n.GetVersion())
}

// mayJoin says why a machine may not join, and whether it may ask again: while the
// version is about to rise nobody knows what it will have to understand. speaks is
// this node's version, which the cluster's does not exceed.
func mayJoin(r registry, speaks, version uint32) (again bool, refusal error) {
	if version < r.Version() {
		return false, outdated(r.Version(), version)
	}
	if version >= speaks {
		return false, nil
	}
	older := func(e *pb.NodeEntry) bool { return !e.GetRemoved() && e.GetVersion() <= r.Version() }
	if !slices.ContainsFunc(r.Nodes(), older) {
		return true, fmt.Errorf("the cluster's version %d is about to rise: %w", r.Version(), ErrNotReady)
	}
	return false, nil
}

// asRunning returns the node table with what gossip knows better: a node that came
// back with an older program has not said so in the table yet, or was refused.
func asRunning(nodes []*pb.NodeEntry, members []Member) []*pb.NodeEntry {
	running := make(map[ServerID]uint32, len(members))
	for _, m := range members {
		if m.State == MemberAlive {
			running[m.Server] = m.Version
		}
	}
	nodes = slices.Clone(nodes)
	for i, e := range nodes {
		if v, alive := running[ServerID(e.GetServer())]; alive && v < e.GetVersion() {
			nodes[i] = proto.CloneOf(e)
			nodes[i].Version = v
		}
	}
	return nodes
}
