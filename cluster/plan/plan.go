package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"orgmem/cluster/wire"
)

// The planner is the controller's head: it looks at the cluster as it is and
// says what should happen next. It is a pure function without a memory, so that
// the next leader of the meta group continues where the last one stopped, and so
// that it can be tested by the million (plan_test.go, sim_test.go).

const (
	// shardReplicas is how many voters a shard has where there are nodes enough:
	// it outlives the loss of one, and each more would slow down every write.
	shardReplicas = 3
	// maxMetaVoters is the same for the meta group, which is small, written rarely
	// and must not be lost: with five nodes it outlives the loss of two.
	maxMetaVoters = 5
	// defaultGoneAfter is how long a node may be away before its replicas are made
	// anew elsewhere. A machine restarts in less; copying its data takes longer.
	defaultGoneAfter = 10 * time.Minute
	// settleTime is how long a node must have been there before it gets anything
	// new: one that comes and goes faster never does. It is some heartbeats of the
	// gossip, and small beside the minute in which a joined node has its share.
	settleTime = 10 * time.Second
	// maxMoves bounds the replicas that are being filled at one time. Each reads and
	// writes whole stores on machines that serve meanwhile; the transfer's rate is
	// shared among them, so more would end none of them sooner.
	maxMoves = 4
	// maxTransfers bounds the leaderships handed over in one round: during each its
	// shard's writes wait for some ten milliseconds. A drained node of 11 shards is
	// free after three rounds.
	maxTransfers = 4
)

// Policy holds what the plan strives for; a test may have another one than
// DefaultPolicy's.
type Policy struct {
	Replicas     int
	MetaVoters   int
	GoneAfter    time.Duration
	Settle       time.Duration
	MaxMoves     int
	MaxTransfers int
}

// DefaultPolicy is what a cluster strives for unless its operator says otherwise.
func DefaultPolicy() Policy {
	return Policy{
		Replicas: shardReplicas, MetaVoters: maxMetaVoters,
		GoneAfter: defaultGoneAfter, Settle: settleTime,
		MaxMoves: maxMoves, MaxTransfers: maxTransfers,
	}
}

// View is the cluster at one moment, as far as the meta group's leader knows it.
type View struct {
	Now     time.Time
	Version uint32  // of the commands that may be proposed
	Nodes   []Node  // that are not removed, by id
	Groups  []Group // by number, the meta group first
}

// Node is one node.
type Node struct {
	ID      wire.ServerID
	Zone    string
	Version uint32 // of the commands that it understands
	Alive   bool
	Since   time.Time // since when it is alive, or is not
	// Draining, by the operator's word or because it is about to stop: keeps its
	// replicas, leads nothing, gets nothing new. leaving: to be removed for good, as
	// soon as nothing depends on it.
	Draining, Leaving bool
}

// Group is one group as its leader describes it.
type Group struct {
	ID      uint32
	Leader  wire.ServerID // empty: nobody says that he leads, and members is hearsay
	Index   uint64        // of the configuration; changes are made on condition of it
	Members []Member
}

// Member is one replica.
type Member struct {
	ID       wire.ServerID
	Voter    bool // else a learner, which gets the log and has no vote
	CaughtUp bool // has applied, up to a short tail, what the leader has
}

// StepKind is what a step does.
type StepKind uint8

// The kinds of steps.
const (
	StepNone     StepKind = iota
	StepAdd               // make node a learner of group
	StepPromote           // make the learner a voter
	StepDemote            // make the voter a learner
	StepRemove            // remove the replica
	StepTransfer          // hand the group's leadership to node
	StepForget            // remove node from the cluster, which nothing names any more
	StepRaise             // allow commands of version
)

func (k StepKind) String() string {
	return [...]string{
		"none", "add-learner", "promote", "demote", "remove-replica", "transfer-leadership", "remove-node", "raise-version",
	}[k]
}

// Step is one thing to do. Steps of one plan are of different groups and may be
// done in any order, or not at all: the next plan starts from what is then.
type Step struct {
	Kind    StepKind
	Group   uint32
	Node    wire.ServerID
	Leader  wire.ServerID // of the group, who carries it out
	Index   uint64        // the configuration that it was planned for
	Version uint32        // StepRaise
	Reason  string        // for people
}

// Goal is what should become of one group, and what keeps it from becoming so.
type Goal struct {
	Group    uint32
	Voters   []wire.ServerID // should be its voters
	Replicas []wire.ServerID // should have a replica: the seats and learners
	Blocked  string          // why nothing is done although something is amiss
}

// urgency orders groups that compete for the moves.
type urgency uint8

const (
	urgentMeta    urgency = iota // small, and a node without it cannot work
	urgentRepair                 // a replica is missing
	urgentLeaving                // somebody waits to switch a machine off
	urgentBalance
)

// planner is one run of plan.
type planner struct {
	Policy
	View
	node      map[wire.ServerID]*Node
	eligible  map[wire.ServerID]bool // may hold replicas
	leads     map[wire.ServerID]int  // shards led, with the transfers planned so far
	goals     []Goal
	steps     []Step
	busy      map[uint32]bool // groups that have a step
	moves     int             // learners that are being filled
	transfers int             // leaderships handed over in this plan
}

// Next returns the next steps, at most one per group, and the goal of each
// group, in the order of the view's. It is deterministic, and it is at rest (no
// steps) in the state that its steps lead to. What holds of every step, whatever
// the view:
//
//   - It leaves the group a majority of voters that are alive.
//   - No live voter is taken away before every voter that the group should have
//     is one, and is alive.
//   - A learner is promoted only when it has caught up, and the number of voters
//     does not stay even: from one voter it goes to three, when both others are
//     ready. With two, either one's death would stop the group, which one alone
//     would survive half the time.
//   - No more than MaxMoves replicas are being filled when another one is begun.
//
// Where it runs short of nodes it does not give up voters by itself: a dead one
// that may come back with its data is worth more than none.
//
// Placement is rendezvous hashing (Thaler and Ravishankar, "Using name-based
// mappings to increase hit rates", 1998) in rounds over the zones: who joins
// takes over its share from the others and nothing else moves, and who leaves
// gives its share to the others.
func Next(v View, p Policy) ([]Step, []Goal) {
	pl := &planner{
		Policy: p, View: v,
		node: map[wire.ServerID]*Node{}, eligible: map[wire.ServerID]bool{},
		leads: map[wire.ServerID]int{}, busy: map[uint32]bool{},
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		pl.node[n.ID] = n
		pl.eligible[n.ID] = !n.Leaving && n.Version >= v.Version && !pl.gone(n)
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		if g.ID != wire.MetaGroup && g.Leader != "" {
			pl.leads[g.Leader]++
		}
		for _, m := range g.Members {
			if g.ID != wire.MetaGroup && !m.Voter && !m.CaughtUp && pl.alive(m.ID) {
				pl.moves++
			}
		}
	}
	pl.moveReplicas()
	pl.drain()
	pl.balance()
	pl.forgetAndRaise()
	return pl.steps, pl.goals
}

// gone reports whether a node is away for good, as far as one may wait for it.
func (pl *planner) gone(n *Node) bool {
	return !n.Alive && pl.Now.Sub(n.Since) >= pl.GoneAfter
}

func (pl *planner) alive(id wire.ServerID) bool {
	n := pl.node[id]
	return n != nil && n.Alive
}

// settled reports whether a node has been there long enough to get something.
func (pl *planner) settled(id wire.ServerID) bool {
	n := pl.node[id]
	return n != nil && n.Alive && pl.Now.Sub(n.Since) >= pl.Settle
}

// goalOf returns the goal of a group.
func (pl *planner) goalOf(g *Group) Goal {
	if g.ID == wire.MetaGroup {
		return pl.wantsMeta(g)
	}
	// A node keeps its place while it is away; a new one is only given to a node that is
	// here. A learner is no loss: where a replica is missing, its place goes to a node that
	// can be filled now.
	short := slices.ContainsFunc(g.Members, func(m Member) bool { return m.Voter && !pl.eligible[m.ID] })
	var candidates []*Node
	for i := range pl.Nodes {
		n := &pl.Nodes[i]
		m, member := g.member(n.ID)
		if pl.eligible[n.ID] && (member && (m.Voter || !short || n.Alive) || !member && !n.Draining && pl.settled(n.ID)) {
			candidates = append(candidates, n)
		}
	}
	keep := place(g.ID, candidates, pl.Replicas, func(wire.ServerID) bool { return false })
	return Goal{Group: g.ID, Replicas: keep, Voters: pl.odd(g, keep)}
}

// wantsMeta is wants for the meta group: every node has a replica, since each
// needs the directory; who votes changes only when it must.
func (pl *planner) wantsMeta(g *Group) Goal {
	d := Goal{Group: g.ID}
	var candidates []*Node
	for i := range pl.Nodes {
		n := &pl.Nodes[i]
		m, member := g.member(n.ID)
		if n.Leaving || !member && n.Version < pl.Version {
			continue // the log has commands that it does not understand
		}
		d.Replicas = append(d.Replicas, n.ID)
		if pl.eligible[n.ID] && (member && m.Voter || !n.Draining && pl.settled(n.ID)) {
			candidates = append(candidates, n)
		}
	}
	size := pl.MetaVoters
	for size > shardReplicas && len(candidates) < size {
		size -= 2
	}
	d.Voters = pl.odd(g, place(g.ID, candidates, size, g.voter))
	return d
}

// odd keeps a group of one voter from getting a second one and no third.
func (pl *planner) odd(g *Group, keep []wire.ServerID) []wire.ServerID {
	voters := g.voters()
	if len(keep) != 2 || len(voters) != 1 {
		return keep
	}
	if slices.Contains(keep, voters[0]) {
		return voters
	}
	return keep[:1]
}

// member finds a node among the replicas.
func (g *Group) member(id wire.ServerID) (Member, bool) {
	for _, m := range g.Members {
		if m.ID == id {
			return m, true
		}
	}
	return Member{}, false
}

func (g *Group) voter(id wire.ServerID) bool {
	m, _ := g.member(id)
	return m.Voter
}

func (g *Group) voters() (ids []wire.ServerID) {
	for _, m := range g.Members {
		if m.Voter {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// place picks n nodes for a group: one of each zone, then the second of each,
// and so on. Within a round the preferred go first, then those with the higher
// score.
func place(group uint32, nodes []*Node, n int, prefer func(wire.ServerID) bool) []wire.ServerID {
	type ranked struct {
		id        wire.ServerID
		zone      string
		preferred bool
		score     uint64
		round     int // place in its zone
	}
	all := make([]ranked, 0, len(nodes))
	for _, node := range nodes {
		all = append(all, ranked{node.ID, node.Zone, prefer(node.ID), score(group, node.ID), 0})
	}
	best := func(a, b ranked) int {
		if a.preferred != b.preferred {
			if a.preferred {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	}
	slices.SortFunc(all, best)
	seen := map[string]int{}
	for i := range all {
		all[i].round = seen[all[i].zone]
		seen[all[i].zone]++
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.round, b.round), best(a, b)) })
	ids := make([]wire.ServerID, 0, n)
	for _, r := range all[:min(n, len(all))] {
		ids = append(ids, r.id)
	}
	return ids
}

// score is a node's claim to a group. Leaders of other versions must agree on
// it, or the cluster would turn over at every change of leadership: the function
// is as fixed as ShardOf.
func score(group uint32, id wire.ServerID) uint64 {
	b := binary.BigEndian.AppendUint32(nil, group)
	sum := sha256.Sum256(append(b, id...))
	return binary.BigEndian.Uint64(sum[:8])
}

// moveReplicas makes the steps that change who holds a replica.
func (pl *planner) moveReplicas() {
	type claim struct {
		at      int
		urgency urgency
		alive   int
	}
	claims := make([]claim, 0, len(pl.Groups))
	for i := range pl.Groups {
		g := &pl.Groups[i]
		pl.goals = append(pl.goals, pl.goalOf(g))
		u, alive := pl.urgency(g)
		claims = append(claims, claim{i, u, alive})
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(a.alive, b.alive))
	})
	for _, c := range claims {
		g, d := &pl.Groups[c.at], &pl.goals[c.at]
		if g.Leader == "" || !pl.alive(g.Leader) {
			d.Blocked = "no leader answers"
			continue
		}
		if len(d.Voters) == 0 {
			d.Blocked = "no node may hold it"
			continue
		}
		r := reshaping{planner: pl, g: g, goal: d, voters: g.voters()}
		s := r.next()
		if s.Kind == StepNone {
			continue
		}
		d.Blocked = ""
		pl.add(g, s)
	}
}

// urgency returns how pressing a group's needs are, and how many voters of it
// are alive.
func (pl *planner) urgency(g *Group) (urgency, int) {
	u, alive, voters := urgentBalance, 0, 0
	for _, m := range g.Members {
		if n := pl.node[m.ID]; n != nil && n.Leaving {
			u = min(u, urgentLeaving)
		}
		if m.Voter {
			voters++
			if pl.alive(m.ID) {
				alive++
			}
		}
	}
	if alive < voters || alive < min(pl.Replicas, len(pl.Nodes)) {
		u = urgentRepair
	}
	if g.ID == wire.MetaGroup {
		u = urgentMeta
	}
	return u, alive
}

// add makes a step part of the plan.
func (pl *planner) add(g *Group, s Step) {
	s.Group, s.Leader, s.Index = g.ID, g.Leader, g.Index
	switch s.Kind {
	case StepAdd:
		if g.ID != wire.MetaGroup {
			pl.moves++
		}
	case StepTransfer:
		pl.transfers++
		if g.ID != wire.MetaGroup {
			pl.leads[g.Leader]--
			pl.leads[s.Node]++
		}
	default:
	}
	pl.busy[g.ID] = true
	pl.steps = append(pl.steps, s)
}

// reshaping is one group's way to its goal.
type reshaping struct {
	*planner
	g      *Group
	goal   *Goal
	voters []wire.ServerID
}

// next returns the next step, or none and says in d.waits what is amiss.
func (r *reshaping) next() Step {
	if alive := r.liveVoters(); alive <= len(r.voters)/2 {
		r.goal.Blocked = fmt.Sprintf("%d of %d voters are alive", alive, len(r.voters))
		return Step{}
	}
	for _, next := range []func() Step{r.removeStray, r.demoteDead, r.addLearner, r.promoteReady, r.demoteSpare} {
		if s := next(); s.Kind != StepNone {
			return s
		}
	}
	return Step{}
}

// liveVoters returns how many voters are alive.
func (r *reshaping) liveVoters() int {
	n := 0
	for _, id := range r.voters {
		if r.alive(id) {
			n++
		}
	}
	return n
}

// confirmed returns how many voters but the given one have just said that they are
// alive and caught up. Gossip takes seconds to miss somebody; a membership that
// takes effect meanwhile may need the very one that has died.
func (r *reshaping) confirmed(without wire.ServerID) int {
	n := 0
	for _, m := range r.g.Members {
		if m.Voter && m.CaughtUp && m.ID != without && r.alive(m.ID) {
			n++
		}
	}
	return n
}

// note remembers the first thing that is amiss.
func (r *reshaping) note(format string, args ...any) Step {
	if r.goal.Blocked == "" {
		r.goal.Blocked = fmt.Sprintf(format, args...)
	}
	return Step{}
}

// removeStray removes a learner that has no business here.
func (r *reshaping) removeStray() Step {
	for _, m := range r.g.Members {
		if !m.Voter && !slices.Contains(r.goal.Replicas, m.ID) && r.mayRemove(m.ID) {
			return Step{Kind: StepRemove, Node: m.ID, Reason: "its place is elsewhere"}
		}
	}
	return Step{}
}

// mayRemove reports whether a node may lose its replica of the group. From the
// meta group a live one goes last: with it goes its knowledge of what to give
// up.
func (r *reshaping) mayRemove(id wire.ServerID) bool {
	return r.g.ID != wire.MetaGroup || !r.alive(id) || !r.mayHoldShard(id)
}

// mayHoldShard reports whether a node may hold a replica of a shard.
func (pl *planner) mayHoldShard(id wire.ServerID) bool {
	for i := range pl.Groups {
		g := &pl.Groups[i]
		if g.ID == wire.MetaGroup {
			continue
		}
		if _, member := g.member(id); member || g.Leader == "" {
			return true
		}
	}
	return false
}

// ready returns the learners that should vote and can.
func (r *reshaping) ready() (ids []wire.ServerID) {
	for _, m := range r.g.Members {
		if !m.Voter && m.CaughtUp && r.alive(m.ID) && slices.Contains(r.goal.Voters, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// votersInPlace reports how many of those who should vote do, and are alive.
func (r *reshaping) votersInPlace() int {
	n := 0
	for _, id := range r.goal.Voters {
		if r.alive(id) && r.g.voter(id) {
			n++
		}
	}
	return n
}

// takeVote takes away a voter's vote, and its replica unless it should keep one.
func (r *reshaping) takeVote(id wire.ServerID, why string) Step {
	if slices.Contains(r.goal.Replicas, id) {
		return Step{Kind: StepDemote, Node: id, Reason: why}
	}
	if !r.mayRemove(id) {
		return r.note("%s leaves when it holds no shard any more", id)
	}
	return Step{Kind: StepRemove, Node: id, Reason: why}
}

// demoteDead takes away the vote of a dead voter that is not coming back, when a learner
// is ready to take its place or its place is not to be taken. It goes before the new one
// is promoted: otherwise there would be four voters, of whom three are needed and three
// are alive. One that may come back keeps its vote, wherever its place is by now: should
// a second one die, the two that are left need it.
func (r *reshaping) demoteDead() Step {
	full := max(r.Replicas, len(r.goal.Voters))
	for _, id := range r.voters {
		n := r.node[id]
		if r.alive(id) || slices.Contains(r.goal.Voters, id) {
			continue
		}
		removed := n == nil || n.Leaving
		switch {
		case !removed && !r.gone(n):
			r.note("%s is away since %s, and its place is elsewhere", id, r.Now.Sub(n.Since).Round(time.Second))
		case len(r.ready()) == 0 && r.votersInPlace() < full && !(removed && r.votersInPlace() == len(r.goal.Voters)):
			r.note("%s is gone, and its place is not filled yet", id)
		case r.confirmed(id) <= (len(r.voters)-1)/2:
			r.note("%s is gone, and without it there would be no majority", id)
		case removed:
			return r.takeVote(id, "it was removed from the cluster")
		default:
			return r.takeVote(id, fmt.Sprintf("it is gone since %s", r.Now.Sub(n.Since).Round(time.Second)))
		}
	}
	for _, id := range r.voters {
		if n := r.node[id]; n != nil && !n.Alive && slices.Contains(r.goal.Voters, id) {
			r.note(
				"%s is away since %s; its replica is made anew after %s", id, r.Now.Sub(n.Since).Round(time.Second), r.GoneAfter,
			)
		}
	}
	return Step{}
}

// addLearner makes a node a learner.
func (r *reshaping) addLearner() Step {
	for _, id := range r.goal.Replicas {
		if _, member := r.g.member(id); member || !r.alive(id) {
			continue
		}
		if r.g.ID != wire.MetaGroup && r.moves >= r.MaxMoves {
			return r.note("%d replicas are being filled already", r.moves)
		}
		why := "it has the best claim"
		switch {
		case r.g.ID == wire.MetaGroup:
			why = "every node knows the directory"
		case len(r.voters) < min(r.Replicas, len(r.goal.Replicas)):
			why = "a replica is missing"
		}
		return Step{Kind: StepAdd, Node: id, Reason: why}
	}
	return Step{}
}

// promoteReady makes a learner a voter.
func (r *reshaping) promoteReady() Step {
	ready := r.ready()
	missing := 0
	for _, id := range r.goal.Voters {
		if !r.g.voter(id) {
			missing++
		}
	}
	if missing == 0 {
		return Step{}
	}
	if len(ready) == 0 {
		return r.note("%s is not filled yet", strings.Join(r.missingVoters(), ", "))
	}
	if len(r.voters) == 1 && len(r.goal.Voters) >= 3 && len(ready) < 2 && slices.Contains(r.goal.Voters, r.voters[0]) {
		return r.note("%s waits for a third voter", ready[0])
	}
	if r.confirmed("") < (len(r.voters)+1)/2 {
		return r.note("%s waits until the voters have caught up", ready[0])
	}
	// An odd number of voters with a dead one becomes no safer by one more, and
	// meets two deaths worse. An even number does.
	if len(r.voters)%2 == 1 && r.liveVoters() < len(r.voters) {
		return r.note("%s waits until every voter is alive", ready[0])
	}
	return Step{Kind: StepPromote, Node: ready[0], Reason: "it has caught up"}
}

func (r *reshaping) missingVoters() (ids []string) {
	for _, id := range r.goal.Voters {
		if !r.g.voter(id) {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// demoteSpare takes away the vote of a live voter whose place is elsewhere, once all
// places are taken. A leader hands over first.
func (r *reshaping) demoteSpare() Step {
	if r.votersInPlace() < len(r.goal.Voters) {
		return Step{}
	}
	spare := 0
	for _, there := range r.eligible {
		if there {
			spare++
		}
	}
	for _, id := range r.voters {
		if slices.Contains(r.goal.Voters, id) || !r.alive(id) {
			continue
		}
		if len(r.goal.Voters) < min(r.Replicas, spare) {
			// Somebody who could take its place is just starting, or being drained.
			return r.note("%s leaves when another node can take its place", id)
		}
		if r.confirmed(id) <= (len(r.voters)-1)/2 {
			// A dead voter that nobody replaces counts still.
			return r.note("%s cannot leave: without it there would be no majority", id)
		}
		s := r.takeVote(id, "its place is elsewhere")
		if s.Kind == StepNone || id != r.g.Leader {
			return s
		}
		return r.transfer(r.g, r.goal, "its leader loses its place")
	}
	return Step{}
}

// transfer returns the transfer to the voter that leads least.
func (pl *planner) transfer(g *Group, d *Goal, why string) Step {
	if pl.transfers >= pl.MaxTransfers {
		if d.Blocked == "" {
			d.Blocked = fmt.Sprintf("%d leaderships are being handed over already", pl.transfers)
		}
		return Step{}
	}
	to := pl.successor(g, d, func(n *Node) bool { return pl.settled(n.ID) })
	if to == "" {
		to = pl.successor(g, d, func(n *Node) bool { return n.Alive })
	}
	if to == "" {
		if d.Blocked == "" {
			d.Blocked = "no other voter can lead"
		}
		return Step{}
	}
	return Step{Kind: StepTransfer, Node: to, Reason: why}
}

// successor returns the voter that leads least among those who may lead a group,
// empty if only the leader may.
func (pl *planner) successor(g *Group, d *Goal, fit func(*Node) bool) wire.ServerID {
	var best wire.ServerID
	for _, m := range g.Members {
		n := pl.node[m.ID]
		if m.ID == g.Leader || !m.Voter || !m.CaughtUp || n == nil || !n.Alive || n.Draining || n.Leaving || !fit(n) ||
			!slices.Contains(d.Voters, m.ID) {
			continue
		}
		if best == "" || pl.leads[m.ID] < pl.leads[best] || pl.leads[m.ID] == pl.leads[best] &&
			score(g.ID, m.ID) > score(g.ID, best) {
			best = m.ID
		}
	}
	return best
}

// drain takes leaderships from nodes that are to be switched off, be it for a
// minute.
func (pl *planner) drain() {
	for i := range pl.Groups {
		g, d := &pl.Groups[i], &pl.goals[i]
		n := pl.node[g.Leader]
		if pl.busy[g.ID] || n == nil || !n.Alive || !n.Draining && !n.Leaving {
			continue
		}
		if s := pl.transfer(g, d, "its leader is being drained"); s.Kind != StepNone {
			pl.add(g, s)
		}
	}
}

// balance evens out the leaderships of shards: from a node that leads more to one that
// leads at least two fewer, so that no transfer can provoke the opposite one.
func (pl *planner) balance() {
	for pl.transfers < pl.MaxTransfers {
		best, gap := -1, 1
		var heir wire.ServerID
		for i := range pl.Groups {
			g := &pl.Groups[i]
			if g.ID == wire.MetaGroup || pl.busy[g.ID] || g.Leader == "" || !pl.settled(g.Leader) {
				continue
			}
			to := pl.successor(g, &pl.goals[i], func(n *Node) bool { return pl.settled(n.ID) })
			if to != "" && pl.leads[g.Leader]-pl.leads[to] > gap {
				best, gap, heir = i, pl.leads[g.Leader]-pl.leads[to], to
			}
		}
		if best < 0 {
			return
		}
		pl.add(&pl.Groups[best], Step{Kind: StepTransfer, Node: heir, Reason: fmt.Sprintf("it leads %d shards fewer", gap)})
	}
}

// forgetAndRaise forgets nodes that have left, and raises the version when everybody
// understands the next one.
func (pl *planner) forgetAndRaise() {
	if len(pl.Nodes) == 0 {
		return
	}
	lowest := pl.Nodes[0].Version
	for i := range pl.Nodes {
		n := &pl.Nodes[i]
		lowest = min(lowest, n.Version)
		if n.Leaving && !pl.referenced(n.ID) {
			pl.steps = append(pl.steps, Step{Kind: StepForget, Node: n.ID, Reason: "nothing names it any more"})
		}
	}
	if lowest > pl.Version {
		pl.steps = append(pl.steps, Step{Kind: StepRaise, Version: lowest, Reason: "every node understands it"})
	}
}

// referenced reports whether any group may still count on a node.
func (pl *planner) referenced(id wire.ServerID) bool {
	for i := range pl.Groups {
		g := &pl.Groups[i]
		if _, member := g.member(id); member || g.Leader == "" {
			return true
		}
	}
	return false
}
