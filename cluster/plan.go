package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The planner is the controller's head: it looks at the cluster as it is and
// says what should happen next. It is a pure function without a memory, so that
// whoever leads the meta group next goes on where the last one stopped, and so
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

// policy holds what the plan strives for; a test may have another one than
// defaultPolicy's.
type policy struct {
	replicas     int
	metaVoters   int
	goneAfter    time.Duration
	settle       time.Duration
	maxMoves     int
	maxTransfers int
}

func defaultPolicy() policy {
	return policy{
		replicas: shardReplicas, metaVoters: maxMetaVoters,
		goneAfter: defaultGoneAfter, settle: settleTime,
		maxMoves: maxMoves, maxTransfers: maxTransfers,
	}
}

// view is the cluster at one moment, as far as the meta group's leader knows it.
type view struct {
	now     time.Time
	version uint32      // of the commands that may be proposed
	nodes   []nodeView  // that are not removed, by id
	groups  []groupView // by number, the meta group first
}

// nodeView is one node.
type nodeView struct {
	id      ServerID
	zone    string
	version uint32 // of the commands that it understands
	alive   bool
	since   time.Time // since when it is alive, or is not
	// draining, by the operator's word or because it is about to stop: keeps its
	// replicas, leads nothing, gets nothing new. leaving: to be removed for good, as
	// soon as nothing depends on it.
	draining, leaving bool
}

// groupView is one group as its leader describes it.
type groupView struct {
	id      uint32
	leader  ServerID // empty: nobody says that he leads, and members is hearsay
	index   uint64   // of the configuration; changes are made on condition of it
	members []memberView
}

// memberView is one replica.
type memberView struct {
	id       ServerID
	voter    bool // else a learner, which gets the log and has no vote
	caughtUp bool // has applied, up to a short tail, what the leader has
}

// stepKind is what a step does.
type stepKind uint8

const (
	stepNone     stepKind = iota
	stepAdd               // make node a learner of group
	stepPromote           // make the learner a voter
	stepDemote            // make the voter a learner
	stepRemove            // remove the replica
	stepTransfer          // hand the group's leadership to node
	stepForget            // remove node from the cluster, which nothing names any more
	stepRaise             // allow commands of version
)

func (k stepKind) String() string {
	return [...]string{"none", "add-learner", "promote", "demote", "remove-replica", "transfer-leadership", "remove-node", "raise-version"}[k]
}

// step is one thing to do. Steps of one plan are of different groups and may be
// done in any order, or not at all: the next plan starts from what is then.
type step struct {
	kind    stepKind
	group   uint32
	node    ServerID
	leader  ServerID // of the group, who carries it out
	index   uint64   // the configuration that it was planned for
	version uint32   // stepRaise
	why     string   // for people
}

// goal is what should become of one group, and what keeps it from becoming so.
type goal struct {
	group uint32
	seats []ServerID // should be its voters
	keep  []ServerID // should have a replica: the seats and learners
	waits string     // why nothing is done although something is amiss
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
	policy
	view
	node   map[ServerID]*nodeView
	home   map[ServerID]bool // may hold replicas
	leads  map[ServerID]int  // shards led, with the transfers planned so far
	goals  []goal
	steps  []step
	acted  map[uint32]bool // groups that have a step
	moves  int             // learners that are being filled
	passes int             // leaderships handed over in this plan
}

// plan returns the next steps, at most one per group, and the goal of each
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
//   - No more than maxMoves replicas are being filled when another one is begun.
//
// Where it runs short of nodes it does not give up voters by itself: a dead one
// that may come back with its data is worth more than none.
//
// Placement is rendezvous hashing (Thaler and Ravishankar, "Using name-based
// mappings to increase hit rates", 1998) in rounds over the zones: who joins
// takes over its share from the others and nothing else moves, and who leaves
// gives its share to the others.
func plan(v view, p policy) ([]step, []goal) {
	pl := &planner{
		policy: p, view: v,
		node: map[ServerID]*nodeView{}, home: map[ServerID]bool{},
		leads: map[ServerID]int{}, acted: map[uint32]bool{},
	}
	for i := range v.nodes {
		n := &v.nodes[i]
		pl.node[n.id] = n
		pl.home[n.id] = !n.leaving && n.version >= v.version && !pl.gone(n)
	}
	for i := range v.groups {
		g := &v.groups[i]
		if g.id != metaGroup && g.leader != "" {
			pl.leads[g.leader]++
		}
		for _, m := range g.members {
			if g.id != metaGroup && !m.voter && !m.caughtUp && pl.alive(m.id) {
				pl.moves++
			}
		}
	}
	pl.reshape()
	pl.unburden()
	pl.level()
	pl.part()
	return pl.steps, pl.goals
}

// gone reports whether a node is away for good, as far as one may wait for it.
func (pl *planner) gone(n *nodeView) bool {
	return !n.alive && pl.now.Sub(n.since) >= pl.goneAfter
}

func (pl *planner) alive(id ServerID) bool {
	n := pl.node[id]
	return n != nil && n.alive
}

// settled reports whether a node has been there long enough to get something.
func (pl *planner) settled(id ServerID) bool {
	n := pl.node[id]
	return n != nil && n.alive && pl.now.Sub(n.since) >= pl.settle
}

// wants returns the goal of a group.
func (pl *planner) wants(g *groupView) goal {
	if g.id == metaGroup {
		return pl.wantsMeta(g)
	}
	// Whoever has a place keeps it while away; a new one is only given to a node
	// that is here. A learner is no loss: where a replica is missing, its place goes
	// to somebody who can be filled now.
	short := slices.ContainsFunc(g.members, func(m memberView) bool { return m.voter && !pl.home[m.id] })
	var candidates []*nodeView
	for i := range pl.nodes {
		n := &pl.nodes[i]
		m, member := g.member(n.id)
		if pl.home[n.id] && (member && (m.voter || !short || n.alive) || !member && !n.draining && pl.settled(n.id)) {
			candidates = append(candidates, n)
		}
	}
	keep := place(g.id, candidates, pl.replicas, func(ServerID) bool { return false })
	return goal{group: g.id, keep: keep, seats: pl.odd(g, keep)}
}

// wantsMeta is wants for the meta group: every node has a replica, since each
// needs the directory; who votes changes only when it must.
func (pl *planner) wantsMeta(g *groupView) goal {
	d := goal{group: g.id}
	var candidates []*nodeView
	for i := range pl.nodes {
		n := &pl.nodes[i]
		m, member := g.member(n.id)
		if n.leaving || !member && n.version < pl.version {
			continue // the log has commands that it does not understand
		}
		d.keep = append(d.keep, n.id)
		if pl.home[n.id] && (member && m.voter || !n.draining && pl.settled(n.id)) {
			candidates = append(candidates, n)
		}
	}
	size := pl.metaVoters
	for size > shardReplicas && len(candidates) < size {
		size -= 2
	}
	d.seats = pl.odd(g, place(g.id, candidates, size, g.voter))
	return d
}

// odd keeps a group of one voter from getting a second one and no third.
func (pl *planner) odd(g *groupView, keep []ServerID) []ServerID {
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
func (g *groupView) member(id ServerID) (memberView, bool) {
	for _, m := range g.members {
		if m.id == id {
			return m, true
		}
	}
	return memberView{}, false
}

func (g *groupView) voter(id ServerID) bool {
	m, _ := g.member(id)
	return m.voter
}

func (g *groupView) voters() (ids []ServerID) {
	for _, m := range g.members {
		if m.voter {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// place picks n nodes for a group: one of each zone, then the second of each,
// and so on. Within a round the preferred go first, then those with the higher
// score.
func place(group uint32, nodes []*nodeView, n int, prefer func(ServerID) bool) []ServerID {
	type ranked struct {
		id        ServerID
		zone      string
		preferred bool
		score     uint64
		round     int // place in its zone
	}
	all := make([]ranked, 0, len(nodes))
	for _, node := range nodes {
		all = append(all, ranked{node.id, node.zone, prefer(node.id), score(group, node.id), 0})
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
	ids := make([]ServerID, 0, n)
	for _, r := range all[:min(n, len(all))] {
		ids = append(ids, r.id)
	}
	return ids
}

// score is a node's claim to a group. Leaders of other versions must agree on
// it, or the cluster would turn over at every change of leadership: the function
// is as fixed as shardOf.
func score(group uint32, id ServerID) uint64 {
	b := binary.BigEndian.AppendUint32(nil, group)
	sum := sha256.Sum256(append(b, id...))
	return binary.BigEndian.Uint64(sum[:8])
}

// reshape makes the steps that change who holds a replica.
func (pl *planner) reshape() {
	type claim struct {
		at      int
		urgency urgency
		alive   int
	}
	claims := make([]claim, 0, len(pl.groups))
	for i := range pl.groups {
		g := &pl.groups[i]
		pl.goals = append(pl.goals, pl.wants(g))
		u, alive := pl.urgency(g)
		claims = append(claims, claim{i, u, alive})
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(a.alive, b.alive))
	})
	for _, c := range claims {
		g, d := &pl.groups[c.at], &pl.goals[c.at]
		if g.leader == "" || !pl.alive(g.leader) {
			d.waits = "no leader answers"
			continue
		}
		if len(d.seats) == 0 {
			d.waits = "no node may hold it"
			continue
		}
		r := reshaping{planner: pl, g: g, d: d, voters: g.voters()}
		s := r.next()
		if s.kind == stepNone {
			continue
		}
		d.waits = ""
		pl.take(g, s)
	}
}

// urgency returns how pressing a group's needs are, and how many voters of it
// are alive.
func (pl *planner) urgency(g *groupView) (urgency, int) {
	u, alive, voters := urgentBalance, 0, 0
	for _, m := range g.members {
		if n := pl.node[m.id]; n != nil && n.leaving {
			u = min(u, urgentLeaving)
		}
		if m.voter {
			voters++
			if pl.alive(m.id) {
				alive++
			}
		}
	}
	if alive < voters || alive < min(pl.replicas, len(pl.nodes)) {
		u = urgentRepair
	}
	if g.id == metaGroup {
		u = urgentMeta
	}
	return u, alive
}

// take makes a step part of the plan.
func (pl *planner) take(g *groupView, s step) {
	s.group, s.leader, s.index = g.id, g.leader, g.index
	switch s.kind {
	case stepAdd:
		if g.id != metaGroup {
			pl.moves++
		}
	case stepTransfer:
		pl.passes++
		if g.id != metaGroup {
			pl.leads[g.leader]--
			pl.leads[s.node]++
		}
	default:
	}
	pl.acted[g.id] = true
	pl.steps = append(pl.steps, s)
}

// reshaping is one group's way to its goal.
type reshaping struct {
	*planner
	g      *groupView
	d      *goal
	voters []ServerID
}

// next returns the next step, or none and says in d.waits what is amiss.
func (r *reshaping) next() step {
	if alive := r.living(); alive <= len(r.voters)/2 {
		r.d.waits = fmt.Sprintf("%d of %d voters are alive", alive, len(r.voters))
		return step{}
	}
	for _, next := range []func() step{r.dismiss, r.bury, r.invite, r.promote, r.retire} {
		if s := next(); s.kind != stepNone {
			return s
		}
	}
	return step{}
}

// living returns how many voters are alive.
func (r *reshaping) living() int {
	n := 0
	for _, id := range r.voters {
		if r.alive(id) {
			n++
		}
	}
	return n
}

// sure returns how many voters but the given one have just said that they are
// alive and caught up. Gossip takes seconds to miss somebody; a membership that
// takes effect meanwhile may need the very one that has died.
func (r *reshaping) sure(without ServerID) int {
	n := 0
	for _, m := range r.g.members {
		if m.voter && m.caughtUp && m.id != without && r.alive(m.id) {
			n++
		}
	}
	return n
}

// note remembers the first thing that is amiss.
func (r *reshaping) note(format string, args ...any) step {
	if r.d.waits == "" {
		r.d.waits = fmt.Sprintf(format, args...)
	}
	return step{}
}

// dismiss removes a learner that has no business here.
func (r *reshaping) dismiss() step {
	for _, m := range r.g.members {
		if !m.voter && !slices.Contains(r.d.keep, m.id) && r.departs(m.id) {
			return step{kind: stepRemove, node: m.id, why: "its place is elsewhere"}
		}
	}
	return step{}
}

// departs reports whether a node may lose its replica of the group. From the
// meta group a live one goes last: with it goes its knowledge of what to give
// up.
func (r *reshaping) departs(id ServerID) bool {
	return r.g.id != metaGroup || !r.alive(id) || !r.holds(id)
}

// holds reports whether a node may hold a replica of a shard.
func (pl *planner) holds(id ServerID) bool {
	for i := range pl.groups {
		g := &pl.groups[i]
		if g.id == metaGroup {
			continue
		}
		if _, member := g.member(id); member || g.leader == "" {
			return true
		}
	}
	return false
}

// ready returns the learners that should vote and can.
func (r *reshaping) ready() (ids []ServerID) {
	for _, m := range r.g.members {
		if !m.voter && m.caughtUp && r.alive(m.id) && slices.Contains(r.d.seats, m.id) {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// seated reports how many of those who should vote do, and are alive.
func (r *reshaping) seated() int {
	n := 0
	for _, id := range r.d.seats {
		if r.alive(id) && r.g.voter(id) {
			n++
		}
	}
	return n
}

// leave takes away a voter's vote, and its replica unless it should keep one.
func (r *reshaping) leave(id ServerID, why string) step {
	if slices.Contains(r.d.keep, id) {
		return step{kind: stepDemote, node: id, why: why}
	}
	if !r.departs(id) {
		return r.note("%s leaves when it holds no shard any more", id)
	}
	return step{kind: stepRemove, node: id, why: why}
}

// bury takes away the vote of a dead voter that is not coming back, when somebody
// is ready to take its place or nobody is to. It goes before the new one is
// promoted: otherwise there would be four voters, of whom three are needed and
// three are alive. One that may come back keeps its vote, wherever its place is
// by now: should a second one die, the two that are left need it.
func (r *reshaping) bury() step {
	full := max(r.replicas, len(r.d.seats))
	for _, id := range r.voters {
		n := r.node[id]
		if r.alive(id) || slices.Contains(r.d.seats, id) {
			continue
		}
		removed := n == nil || n.leaving
		switch {
		case !removed && !r.gone(n):
			r.note("%s is away since %s, and its place is elsewhere", id, r.now.Sub(n.since).Round(time.Second))
		case len(r.ready()) == 0 && r.seated() < full && !(removed && r.seated() == len(r.d.seats)):
			r.note("%s is gone, and its place is not filled yet", id)
		case r.sure(id) <= (len(r.voters)-1)/2:
			r.note("%s is gone, and without it there would be no majority", id)
		case removed:
			return r.leave(id, "it was removed from the cluster")
		default:
			return r.leave(id, fmt.Sprintf("it is gone since %s", r.now.Sub(n.since).Round(time.Second)))
		}
	}
	for _, id := range r.voters {
		if n := r.node[id]; n != nil && !n.alive && slices.Contains(r.d.seats, id) {
			r.note("%s is away since %s; its replica is made anew after %s", id, r.now.Sub(n.since).Round(time.Second), r.goneAfter)
		}
	}
	return step{}
}

// invite makes a node a learner.
func (r *reshaping) invite() step {
	for _, id := range r.d.keep {
		if _, member := r.g.member(id); member || !r.alive(id) {
			continue
		}
		if r.g.id != metaGroup && r.moves >= r.maxMoves {
			return r.note("%d replicas are being filled already", r.moves)
		}
		why := "it has the best claim"
		switch {
		case r.g.id == metaGroup:
			why = "every node knows the directory"
		case len(r.voters) < min(r.replicas, len(r.d.keep)):
			why = "a replica is missing"
		}
		return step{kind: stepAdd, node: id, why: why}
	}
	return step{}
}

// promote makes a learner a voter.
func (r *reshaping) promote() step {
	ready := r.ready()
	missing := 0
	for _, id := range r.d.seats {
		if !r.g.voter(id) {
			missing++
		}
	}
	if missing == 0 {
		return step{}
	}
	if len(ready) == 0 {
		return r.note("%s is not filled yet", strings.Join(r.unseated(), ", "))
	}
	if len(r.voters) == 1 && len(r.d.seats) >= 3 && len(ready) < 2 && slices.Contains(r.d.seats, r.voters[0]) {
		return r.note("%s waits for a third voter", ready[0])
	}
	if r.sure("") < (len(r.voters)+1)/2 {
		return r.note("%s waits until the voters have caught up", ready[0])
	}
	// An odd number of voters with a dead one becomes no safer by one more, and
	// meets two deaths worse. An even number does.
	if len(r.voters)%2 == 1 && r.living() < len(r.voters) {
		return r.note("%s waits until every voter is alive", ready[0])
	}
	return step{kind: stepPromote, node: ready[0], why: "it has caught up"}
}

func (r *reshaping) unseated() (ids []string) {
	for _, id := range r.d.seats {
		if !r.g.voter(id) {
			ids = append(ids, string(id))
		}
	}
	return ids
}

// retire takes away the vote of a live voter whose place is elsewhere, once all
// places are taken. A leader hands over first.
func (r *reshaping) retire() step {
	if r.seated() < len(r.d.seats) {
		return step{}
	}
	spare := 0
	for _, there := range r.home {
		if there {
			spare++
		}
	}
	for _, id := range r.voters {
		if slices.Contains(r.d.seats, id) || !r.alive(id) {
			continue
		}
		if len(r.d.seats) < min(r.replicas, spare) {
			// Somebody who could take its place is just starting, or being drained.
			return r.note("%s leaves when another node can take its place", id)
		}
		if r.sure(id) <= (len(r.voters)-1)/2 {
			// A dead voter that nobody replaces counts still.
			return r.note("%s cannot leave: without it there would be no majority", id)
		}
		s := r.leave(id, "its place is elsewhere")
		if s.kind == stepNone || id != r.g.leader {
			return s
		}
		return r.handOver(r.g, r.d, "its leader loses its place")
	}
	return step{}
}

// handOver returns the transfer to the voter that leads least.
func (pl *planner) handOver(g *groupView, d *goal, why string) step {
	if pl.passes >= pl.maxTransfers {
		if d.waits == "" {
			d.waits = fmt.Sprintf("%d leaderships are being handed over already", pl.passes)
		}
		return step{}
	}
	to := pl.heir(g, d, func(n *nodeView) bool { return pl.settled(n.id) })
	if to == "" {
		to = pl.heir(g, d, func(n *nodeView) bool { return n.alive })
	}
	if to == "" {
		if d.waits == "" {
			d.waits = "no other voter can lead"
		}
		return step{}
	}
	return step{kind: stepTransfer, node: to, why: why}
}

// heir returns the voter that leads least among those who may lead a group,
// empty if there is none but the leader.
func (pl *planner) heir(g *groupView, d *goal, fit func(*nodeView) bool) ServerID {
	var best ServerID
	for _, m := range g.members {
		n := pl.node[m.id]
		if m.id == g.leader || !m.voter || !m.caughtUp || n == nil || !n.alive || n.draining || n.leaving || !fit(n) || !slices.Contains(d.seats, m.id) {
			continue
		}
		if best == "" || pl.leads[m.id] < pl.leads[best] || pl.leads[m.id] == pl.leads[best] && score(g.id, m.id) > score(g.id, best) {
			best = m.id
		}
	}
	return best
}

// unburden takes leaderships from nodes that are to be switched off, be it for a
// minute.
func (pl *planner) unburden() {
	for i := range pl.groups {
		g, d := &pl.groups[i], &pl.goals[i]
		n := pl.node[g.leader]
		if pl.acted[g.id] || n == nil || !n.alive || !n.draining && !n.leaving {
			continue
		}
		if s := pl.handOver(g, d, "its leader is being drained"); s.kind != stepNone {
			pl.take(g, s)
		}
	}
}

// level evens out the leaderships of shards: from whoever leads more to whoever
// leads at least two fewer, so that no transfer can provoke the opposite one.
func (pl *planner) level() {
	for pl.passes < pl.maxTransfers {
		best, gap := -1, 1
		var heir ServerID
		for i := range pl.groups {
			g := &pl.groups[i]
			if g.id == metaGroup || pl.acted[g.id] || g.leader == "" || !pl.settled(g.leader) {
				continue
			}
			to := pl.heir(g, &pl.goals[i], func(n *nodeView) bool { return pl.settled(n.id) })
			if to != "" && pl.leads[g.leader]-pl.leads[to] > gap {
				best, gap, heir = i, pl.leads[g.leader]-pl.leads[to], to
			}
		}
		if best < 0 {
			return
		}
		pl.take(&pl.groups[best], step{kind: stepTransfer, node: heir, why: fmt.Sprintf("it leads %d shards fewer", gap)})
	}
}

// part forgets nodes that have left, and raises the version when everybody
// understands the next one.
func (pl *planner) part() {
	if len(pl.nodes) == 0 {
		return
	}
	lowest := pl.nodes[0].version
	for i := range pl.nodes {
		n := &pl.nodes[i]
		lowest = min(lowest, n.version)
		if n.leaving && !pl.named(n.id) {
			pl.steps = append(pl.steps, step{kind: stepForget, node: n.id, why: "nothing names it any more"})
		}
	}
	if lowest > pl.version {
		pl.steps = append(pl.steps, step{kind: stepRaise, version: lowest, why: "every node understands it"})
	}
}

// named reports whether any group may still count on a node.
func (pl *planner) named(id ServerID) bool {
	for i := range pl.groups {
		g := &pl.groups[i]
		if _, member := g.member(id); member || g.leader == "" {
			return true
		}
	}
	return false
}
