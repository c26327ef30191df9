package cluster

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// CatchUpTail is how many entries a replica may be behind the leader and still
// count as caught up: what a group may have in flight at any moment, and what is
// applied within milliseconds. It must have applied the newest membership in any
// case: a group with gigabytes of stores may have a log of a dozen entries.
const CatchUpTail = 512

// groupReport is what a node says of one group it hosts.
type groupReport struct {
	Group   uint32
	Applied uint64 // index of the last entry that its stores have
	Fresh   bool   // opened empty, and not allowed to vote yet
	// What follows is said by who leads the group, and has applied all that its log
	// held when it was elected.
	Leads    bool
	Term     uint64
	Index    uint64 // of the configuration
	Replicas []Replica
}

// report is what a node says of all its groups.
type report struct {
	server ServerID
	groups []groupReport
}

// presence is whether a node is there, and since when, and whether it is about to stop.
type presence struct {
	alive   bool
	since   time.Time
	leaving bool
}

// assemble makes the planner's view of what the meta group knows, what gossip
// sees and what the nodes said. Groups of which no leader reported are known by
// the shard map only. A node that gossip has never seen is away since begun; one that
// is about to stop is like one that is drained: what it has just handed over would look
// like room, and what it is given goes down with it.
func assemble(now, begun time.Time, version uint32, nodes []*pb.NodeEntry, seen map[ServerID]presence, reports []report, shards *pb.ShardMap) view {
	v := view{now: now, version: version}
	for _, n := range nodes {
		if n.GetRemoved() {
			continue
		}
		id := ServerID(n.GetServer())
		p, known := seen[id]
		if !known {
			p = presence{since: begun}
		}
		v.nodes = append(v.nodes, nodeView{
			id: id, zone: n.GetZone(), version: n.GetVersion(),
			alive: p.alive, since: p.since,
			draining: n.GetDraining() || p.leaving, leaving: n.GetLeaving(),
		})
	}
	slices.SortFunc(v.nodes, func(a, b nodeView) int { return cmp.Compare(a.id, b.id) })

	type spot struct {
		group uint32
		node  ServerID
	}
	said := map[spot]*groupReport{}
	leaders := map[uint32]*groupReport{}
	names := map[uint32]ServerID{}
	for _, r := range reports {
		for i := range r.groups {
			g := &r.groups[i]
			said[spot{g.Group, r.server}] = g
			// Two may say so for a moment; the later term is right.
			if old := leaders[g.Group]; g.Leads && (old == nil || g.Term > old.Term) {
				leaders[g.Group], names[g.Group] = g, r.server
			}
		}
	}
	for _, placed := range shards.GetGroups() {
		id := placed.GetGroup()
		g := groupView{id: id}
		if l := leaders[id]; l != nil {
			g.leader, g.index = names[id], l.Index
			for _, r := range l.Replicas {
				m := said[spot{id, r.Server}]
				g.members = append(g.members, memberView{
					id: r.Server, voter: r.Voter,
					caughtUp: m != nil && !m.Fresh && m.Applied >= l.Index && m.Applied+CatchUpTail >= l.Applied,
				})
			}
		} else {
			for _, server := range placed.GetPresent() {
				g.members = append(g.members, memberView{id: ServerID(server)})
			}
		}
		v.groups = append(v.groups, g)
	}
	return v
}

// redraw returns the shard map that must be in force before a plan's steps are
// carried out, or nil when the present one is it. Present names everybody whom a
// group's leader knows and those about to be added: a node opens a group when
// the map begins to name it, and may wipe it when neither the map nor the leader
// does any more. Of a group that has no leader nothing is known, so nothing
// changes.
func redraw(old *pb.ShardMap, v view, steps []step, goals []goal) *pb.ShardMap {
	fresh := proto.CloneOf(old)
	for i, g := range v.groups {
		if g.leader == "" {
			continue
		}
		var present []ServerID
		for _, m := range g.members {
			present = append(present, m.id)
		}
		for _, s := range steps {
			if s.kind == stepAdd && s.group == g.id && !slices.Contains(present, s.node) {
				present = append(present, s.node)
			}
		}
		placed := fresh.GetGroups()[i]
		placed.Present = sortedIDs(present)
		if seats := goals[i].seats; len(seats) > 0 {
			placed.Desired = sortedIDs(seats)
		}
	}
	if proto.Equal(old, fresh) {
		return nil
	}
	return fresh
}

func sortedIDs(ids []ServerID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	slices.Sort(out)
	return out
}

// Replica is one member of a group.
type Replica struct {
	Server ServerID
	Voter  bool // else a learner, which gets everything and decides nothing
}
