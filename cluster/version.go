package cluster

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// allow stamps a command with what it needs, and refuses it (ErrNotSpoken) while
// some node might not understand it. This node's copy of the version may be old;
// since it never falls, that only makes it wait.
func (n *node) allow(cmd *pb.Command) error {
	if v := cmd.GetSetClusterVersion().GetVersion(); v > n.cfg.speaks {
		return fmt.Errorf("raise to version %d, this program speaks %d: %w", v, n.cfg.speaks, wire.ErrNotSpoken)
	}
	// A command that was forwarded may be of a newer program, which knows better.
	cmd.Needs = max(cmd.GetNeeds(), n.cfg.needs(cmd))
	if cmd.GetNeeds() == 0 {
		return nil // as nearly all; no lock for them
	}
	limit := n.cfg.speaks
	if n.peers != nil { // a node alone speaks with nobody
		limit = n.Meta().Version()
	}
	if cmd.GetNeeds() > limit {
		return fmt.Errorf("a command needs version %d, the cluster is at %d: %w", cmd.GetNeeds(), limit, wire.ErrNotSpoken)
	}
	return nil
}

// Speaks reports whether every node understands a version. This node's copy of what
// the cluster is at may be old; since it never falls, that only makes it wait.
func (n *node) Speaks(version uint32) bool {
	if n.peers == nil { // a node alone speaks with nobody
		return n.cfg.speaks >= version
	}
	return n.Meta().Version() >= version
}

// asRunning returns the node table with what gossip knows better: a node that came
// back with an older program has not said so in the table yet, or was refused.
func asRunning(nodes []*pb.NodeEntry, members []mesh.Member) []*pb.NodeEntry {
	running := make(map[wire.ServerID]uint32, len(members))
	for _, m := range members {
		if m.State == mesh.MemberAlive {
			running[m.Server] = m.Version
		}
	}
	nodes = slices.Clone(nodes)
	for i, e := range nodes {
		if v, alive := running[wire.ServerID(e.GetServer())]; alive && v < e.GetVersion() {
			nodes[i] = proto.CloneOf(e)
			nodes[i].Version = v
		}
	}
	return nodes
}
