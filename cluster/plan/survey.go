package plan

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// CatchUpTail is how many entries a replica may be behind the leader and still
// count as caught up: what a group may have in flight at any moment, and what is
// applied within milliseconds. It must have applied the newest membership in any
// case: a group with gigabytes of stores may have a log of a dozen entries.
const CatchUpTail = 512

// GroupReport is what a node says of one group it hosts.
type GroupReport struct {
	Group   uint32
	Applied uint64 // index of the last entry that its stores have
	Fresh   bool   // opened empty, and not allowed to vote yet
	// Only the group's leader says what follows, when it has applied all that its log held
	// when it was elected.
	Leads    bool
	Term     uint64
	Index    uint64 // of the configuration
	Replicas []Replica
}

// Report is what a node says of all its groups.
type Report struct {
	Server wire.ServerID
	Groups []GroupReport
}

// Presence is whether a node is there, and since when, and whether it is about to stop.
type Presence struct {
	Alive   bool
	Since   time.Time
	Leaving bool
}

// Assemble makes the planner's view of what the meta group knows, what gossip
// sees and what the nodes said. Groups of which no leader reported are known by
// the shard map only. A node that gossip has never seen is away since begun; one that
// is about to stop is like one that is drained: what it has just handed over would look
// like room, and what it is given goes down with it.
func Assemble(
	now, begun time.Time, version uint32, nodes []*pb.NodeEntry, seen map[wire.ServerID]Presence, reports []Report,
	shards *pb.ShardMap,
) View {
	v := View{Now: now, Version: version}
	for _, n := range nodes {
		if n.GetRemoved() {
			continue
		}
		id := wire.ServerID(n.GetServer())
		p, known := seen[id]
		if !known {
			p = Presence{Since: begun}
		}
		v.Nodes = append(v.Nodes, Node{
			ID: id, Zone: n.GetZone(), Version: n.GetVersion(),
			Alive: p.Alive, Since: p.Since,
			Draining: n.GetDraining() || p.Leaving, Leaving: n.GetLeaving(),
		})
	}
	slices.SortFunc(v.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })

	type spot struct {
		group uint32
		node  wire.ServerID
	}
	said := map[spot]*GroupReport{}
	leaders := map[uint32]*GroupReport{}
	names := map[uint32]wire.ServerID{}
	for _, r := range reports {
		for i := range r.Groups {
			g := &r.Groups[i]
			said[spot{g.Group, r.Server}] = g
			// Two may say so for a moment; the later term is right.
			if old := leaders[g.Group]; g.Leads && (old == nil || g.Term > old.Term) {
				leaders[g.Group], names[g.Group] = g, r.Server
			}
		}
	}
	for _, placed := range shards.GetGroups() {
		id := placed.GetGroup()
		g := Group{ID: id}
		if l := leaders[id]; l != nil {
			g.Leader, g.Index = names[id], l.Index
			for _, r := range l.Replicas {
				m := said[spot{id, r.Server}]
				g.Members = append(g.Members, Member{
					ID: r.Server, Voter: r.Voter,
					CaughtUp: m != nil && !m.Fresh && m.Applied >= l.Index && m.Applied+CatchUpTail >= l.Applied,
				})
			}
		} else {
			for _, server := range placed.GetPresent() {
				g.Members = append(g.Members, Member{ID: wire.ServerID(server)})
			}
		}
		v.Groups = append(v.Groups, g)
	}
	return v
}

// Redraw returns the shard map that must be in force before a plan's steps are
// carried out, or nil when the present one is it. Present names everybody whom a
// group's leader knows and those about to be added: a node opens a group when
// the map begins to name it, and may wipe it when neither the map nor the leader
// does any more. Of a group that has no leader nothing is known, so nothing
// changes.
func Redraw(old *pb.ShardMap, v View, steps []Step, goals []Goal) *pb.ShardMap {
	fresh := proto.CloneOf(old)
	for i, g := range v.Groups {
		if g.Leader == "" {
			continue
		}
		var present []wire.ServerID
		for _, m := range g.Members {
			present = append(present, m.ID)
		}
		for _, s := range steps {
			if s.Kind == StepAdd && s.Group == g.ID && !slices.Contains(present, s.Node) {
				present = append(present, s.Node)
			}
		}
		placed := fresh.GetGroups()[i]
		placed.Present = SortedIDs(present)
		if seats := goals[i].Voters; len(seats) > 0 {
			placed.Desired = SortedIDs(seats)
		}
	}
	if proto.Equal(old, fresh) {
		return nil
	}
	return fresh
}

// SortedIDs returns ids as text, in order.
func SortedIDs(ids []wire.ServerID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	slices.Sort(out)
	return out
}

// Replica is one member of a group.
type Replica struct {
	Server wire.ServerID
	Voter  bool // else a learner, which gets everything and decides nothing
}

// ReportOf reads a node's answer to a survey.
func ReportOf(server wire.ServerID, s *pb.NodeSurvey) Report {
	r := Report{Server: server}
	for _, g := range s.GetGroups() {
		said := GroupReport{
			Group: g.GetGroup(), Applied: g.GetApplied(), Fresh: g.GetFresh(),
			Leads: g.GetLeads(), Term: g.GetTerm(), Index: g.GetIndex(),
		}
		for _, m := range g.GetMembers() {
			said.Replicas = append(said.Replicas, Replica{Server: wire.ServerID(m.GetServer()), Voter: m.GetVoter()})
		}
		r.Groups = append(r.Groups, said)
	}
	return r
}

// First is the map of a cluster that was one node: it has everything.
func First(self wire.ServerID, groups int) *pb.ShardMap {
	sm := &pb.ShardMap{}
	all := []string{string(self)}
	for g := range groups {
		sm.Groups = append(sm.Groups, &pb.GroupPlacement{Group: uint32(g), Desired: all, Present: all})
	}
	return sm
}
