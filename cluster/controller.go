package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/plan"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// roundEvery is how often the controller looks. A round costs a call to every
	// node; a joining node is noticed within it.
	roundEvery = time.Second
	// surveyTimeout bounds the wait for a node's report. A node that does not answer in time
	// is left out of this round.
	surveyTimeout = 700 * time.Millisecond
	// orderTimeout bounds a step. Raft's own limits are shorter. A step that hangs holds up
	// the next round, not the cluster.
	orderTimeout = 12 * time.Second
	// maxDecisions bounds what is remembered of past steps: an hour of a large
	// rebalance, in 100 KB.
	maxDecisions = 256
)

// controller keeps the cluster as plan would have it. One runs on every node; it
// acts while the node leads the meta group. Two may act for a moment, when that
// leadership changes: every order says which membership it was made for, the
// shard map is compared and set, and the node that carries out an order leads its
// group, so that the later one is refused.
type controller struct {
	*node
	groups
	leaders *leaders
	members func() []mesh.Member
	policy  plan.Policy
	begun   time.Time
	cancel  context.CancelFunc
	ended   chan struct{}

	mu        sync.Mutex // guards what follows
	acting    bool
	view      plan.View
	goals     []plan.Goal
	decisions []*pb.Decision // oldest first
	stats     ControllerStats
}

// ControllerStats is what the controller of a node did since it was started, and
// what it sees while it acts; the rest is zero while another node's does.
type ControllerStats struct {
	Acting   bool // this node leads the meta group
	Nodes    int  // of the cluster
	Away     int  // of them are not alive
	Short    int  // groups with fewer live voters than they should have
	Leadless int  // groups of which no leader answers
	Filling  int  // replicas that are being filled
	Waiting  int  // groups with something amiss that has to wait

	Steps    uint64 // carried out
	Moves    uint64 // of them, replicas begun elsewhere
	Failures uint64 // steps that failed; each is planned again
}

func startController(
	start context.Context, n *node, all groups, l *leaders, members func() []mesh.Member,
) *controller {
	ctx, cancel := context.WithCancel(context.WithoutCancel(start))
	c := &controller{
		node: n, groups: all, leaders: l, members: members, policy: plan.DefaultPolicy(), begun: n.cfg.Clock.Now(),
		cancel: cancel, ended: make(chan struct{}),
	}
	if n.cfg.GoneAfter > 0 {
		c.policy.GoneAfter = n.cfg.GoneAfter
	}
	n.peers.HandleCall((*pb.NodeCall_Survey)(nil), func(
		context.Context, wire.ServerID, *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Survey{Survey: all.survey()}}, nil
	})
	n.peers.HandleCall((*pb.NodeCall_Status)(nil), func(
		context.Context, wire.ServerID, *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		s, ok := c.status()
		if !ok {
			return nil, wire.NotApplied(wire.ErrNotLeader)
		}
		return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Status{Status: s}}, nil
	})
	go c.run(ctx)
	return c
}

// stop may be called twice.
func (c *controller) stop() {
	c.cancel()
	<-c.ended
}

func (c *controller) run(ctx context.Context) {
	defer close(c.ended)
	for clock.Wait(ctx, c.cfg.Clock, roundEvery) == nil {
		if c.group(wire.MetaGroup).lead() != nil {
			c.rest()
			continue
		}
		if err := c.round(ctx); err != nil && ctx.Err() == nil {
			c.cfg.Logger.Warn("cluster: the controller's round failed; trying again", "error", err)
		}
	}
}

// rest forgets what was seen, since another node's controller sees better now.
func (c *controller) rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acting, c.view, c.goals, c.decisions = false, plan.View{}, nil, nil
}

// round looks once and does what follows from it.
func (c *controller) round(ctx context.Context) error {
	meta := c.Meta()
	old := meta.ShardMap()
	if old.GetVersion() == 0 {
		return meta.PutShardMap(ctx, plan.First(c.identity.Server, len(c.groups)))
	}
	nodes := asRunning(meta.Nodes(), c.members())
	reports := c.ask(ctx, nodes)
	v := plan.Assemble(c.cfg.Clock.Now(), c.begun, meta.Version(), nodes, c.seen(), reports, old)
	steps, goals := plan.Next(v, c.policy)
	c.saw(v, goals)
	if fresh := plan.Redraw(old, v, steps, goals); fresh != nil {
		if err := meta.PutShardMap(ctx, fresh); err != nil {
			return err // somebody else was faster, or nobody knows; look again
		}
	}
	// Steps are of different groups, so at most one for each, and a few about nodes.
	return inParallel(len(steps), func(i int) error {
		c.carryOut(ctx, steps[i])
		return nil
	})
}

// seen returns who is there, as gossip says.
func (c *controller) seen() map[wire.ServerID]plan.Presence {
	seen := map[wire.ServerID]plan.Presence{}
	for _, m := range c.members() {
		seen[m.Server] = plan.Presence{
			Alive: m.State == mesh.MemberAlive, Since: m.Since, Leaving: m.State == mesh.MemberAlive && m.Leaving,
		}
	}
	// A node that talks to itself only must still see itself.
	self := seen[c.identity.Server]
	if !self.Alive {
		self = plan.Presence{Alive: true, Since: c.begun}
	}
	seen[c.identity.Server] = self
	return seen
}

// ask asks every node for its report, all at once. Their number is bounded by
// MaxNodes.
func (c *controller) ask(ctx context.Context, nodes []*pb.NodeEntry) []plan.Report {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := c.cfg.Clock.AfterFunc(surveyTimeout, cancel)
	defer limit.Stop()
	answers := make([]*plan.Report, len(nodes))
	_ = inParallel(len(nodes), func(i int) error {
		id := wire.ServerID(nodes[i].GetServer())
		if nodes[i].GetRemoved() {
			return nil
		}
		if id == c.identity.Server {
			r := plan.ReportOf(id, c.survey())
			answers[i] = &r
			return nil
		}
		// A node that does not answer reports nothing; gossip says whether it is away.
		if a, err := c.peers.Call(ctx, id, &pb.NodeCall{Kind: &pb.NodeCall_Survey{Survey: &pb.Empty{}}}); err == nil {
			r := plan.ReportOf(id, a.GetSurvey())
			answers[i] = &r
		}
		return nil
	})
	reports := make([]plan.Report, 0, len(answers))
	for _, r := range answers {
		if r != nil {
			reports = append(reports, *r)
		}
	}
	return reports
}

// carryOut does one step and notes what came of it.
func (c *controller) carryOut(ctx context.Context, s plan.Step) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := c.cfg.Clock.AfterFunc(orderTimeout, cancel)
	defer limit.Stop()
	var err error
	switch s.Kind {
	case plan.StepForget:
		err = c.Meta().RemoveNode(ctx, s.Node)
	case plan.StepRaise:
		err = c.Meta().SetVersion(ctx, s.Version)
	case plan.StepTransfer:
		err = c.order(ctx, s, &pb.GroupCall{Kind: &pb.GroupCall_Transfer{Transfer: string(s.Node)}})
	default:
		err = c.order(ctx, s, &pb.GroupCall{Kind: &pb.GroupCall_Change{
			Change: &pb.MemberChange{Kind: changes[s.Kind], Server: string(s.Node), Prev: s.Index},
		}})
	}
	if ctx.Err() != nil && err == nil {
		err = ctx.Err()
	}
	c.decided(s, err)
}

// changes are the steps that change a membership.
var changes = map[plan.StepKind]pb.MemberChange_Kind{
	plan.StepAdd: pb.MemberChange_ADD_LEARNER, plan.StepPromote: pb.MemberChange_PROMOTE,
	plan.StepDemote: pb.MemberChange_DEMOTE, plan.StepRemove: pb.MemberChange_REMOVE,
}

// order tells the leader that the survey found to carry out a step. This node
// may be no member of the group, and know less of it.
func (c *controller) order(ctx context.Context, s plan.Step, call *pb.GroupCall) error {
	call.Group = s.Group
	if _, err := c.leaders.ask(ctx, s.Leader, call); err != nil {
		return fmt.Errorf("%v %s of group %d at %s: %w", s.Kind, s.Node, s.Group, s.Leader, err)
	}
	return nil
}

// decided remembers a step. The same step that fails again is one decision, tried
// so often.
func (c *controller) decided(s plan.Step, err error) {
	d := &pb.Decision{
		AtMs: c.cfg.Clock.Now().UnixMilli(), Action: s.Kind.String(), Group: s.Group, Server: string(s.Node),
		Why: s.Reason, Outcome: "done", Times: 1,
	}
	log := c.cfg.Logger.Info
	if err != nil {
		d.Outcome = err.Error()
		log = c.cfg.Logger.Warn
	}
	c.mu.Lock()
	again := false
	for i, old := range slices.Backward(c.decisions) {
		if old.GetAction() == d.GetAction() && old.GetGroup() == d.GetGroup() && old.GetServer() == d.GetServer() {
			if again = old.GetOutcome() != "done"; again {
				d.Times += old.GetTimes()
				c.decisions = slices.Delete(c.decisions, i, i+1)
			}
			break
		}
	}
	c.decisions = append(c.decisions, d)
	if len(c.decisions) > maxDecisions {
		c.decisions = slices.Delete(c.decisions, 0, len(c.decisions)-maxDecisions)
	}
	if err != nil {
		c.stats.Failures++
	} else {
		c.stats.Steps++
		if s.Kind == plan.StepAdd {
			c.stats.Moves++
		}
	}
	c.mu.Unlock()
	if again && err != nil {
		return // said once; the status counts on
	}
	log(
		"cluster: decision", "action", d.GetAction(), "group", d.GetGroup(), "server", d.GetServer(),
		"why", d.GetWhy(), "outcome", d.GetOutcome(),
	)
}

// saw keeps a round's view for the status and the metrics.
func (c *controller) saw(v plan.View, goals []plan.Goal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acting, c.view, c.goals = true, v, goals
}

// status returns the cluster as this node's controller sees it; false while it
// does not act.
func (c *controller) status() (*pb.ClusterStatus, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.acting {
		return nil, false
	}
	s := c.describe(c.members(), c.view)
	s.Controller = string(c.identity.Server)
	for i, g := range s.GetGroups() {
		g.Waits = c.goals[i].Blocked
		g.Desired = plan.SortedIDs(c.goals[i].Voters)
	}
	for _, d := range slices.Backward(c.decisions) {
		s.Decisions = append(s.Decisions, proto.CloneOf(d))
	}
	return s, true
}

// describe tells a view.
func (c *controller) describe(members []mesh.Member, v plan.View) *pb.ClusterStatus {
	s := &pb.ClusterStatus{Version: v.Version}
	if c.cfg.Network != nil {
		s.Cluster = c.cfg.Network.Cluster()
	}
	nodes := map[wire.ServerID]*pb.NodeStatus{}
	for _, n := range v.Nodes {
		node := &pb.NodeStatus{
			Server: string(n.ID), Zone: n.Zone, Version: n.Version, State: mesh.MemberFailed.String(),
			SinceMs: n.Since.UnixMilli(), Draining: n.Draining, Leaving: n.Leaving,
		}
		if n.Alive {
			node.State = mesh.MemberAlive.String()
		}
		if e, ok := c.Meta().Node(n.ID); ok {
			node.Name, node.Address = e.GetName(), e.GetAddress()
		}
		for _, m := range members {
			if m.Server == n.ID {
				if n.Alive {
					node.Load = m.Load
				} else {
					node.State = m.State.String()
				}
			}
		}
		nodes[n.ID] = node
		s.Nodes = append(s.Nodes, node)
	}
	sm := c.Meta().ShardMap()
	for _, g := range v.Groups {
		place := &pb.GroupPlace{Group: g.ID, Leader: string(g.Leader)}
		if int(g.ID) < len(sm.GetGroups()) {
			place.Desired = sm.GetGroups()[g.ID].GetDesired()
		}
		for _, m := range g.Members {
			place.Replicas = append(place.Replicas, &pb.ReplicaPlace{Server: string(m.ID), Voter: m.Voter, CaughtUp: m.CaughtUp})
			if n := nodes[m.ID]; n != nil && m.Voter {
				n.Voters++
			} else if n != nil {
				n.Learners++
			}
		}
		if n := nodes[g.Leader]; n != nil {
			n.Leads++
		}
		s.Groups = append(s.Groups, place)
	}
	return s
}

// clusterStatus is operations.ClusterStatus of a node that is not alone.
func (c *controller) clusterStatus(ctx context.Context) *pb.ClusterStatus {
	if s, ok := c.status(); ok {
		return s
	}
	self := c.identity.Server
	if leader, ok := c.leaders.LeaderOf(wire.MetaGroup); ok && leader != self {
		ctx, cancel := context.WithTimeout(ctx, 2*surveyTimeout)
		defer cancel()
		if a, err := c.peers.Call(ctx, leader, &pb.NodeCall{Kind: &pb.NodeCall_Status{Status: &pb.Empty{}}}); err == nil {
			return a.GetStatus()
		}
	}
	meta := c.Meta()
	v := plan.Assemble(
		c.cfg.Clock.Now(), c.begun, meta.Version(), meta.Nodes(), c.seen(),
		[]plan.Report{plan.ReportOf(self, c.survey())}, meta.ShardMap(),
	)
	return c.describe(c.members(), v)
}

// figures are the controller's, as operations.ControllerStats tells them.
func (c *controller) figures() ControllerStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Acting, s.Nodes = c.acting, len(c.view.Nodes)
	away := map[wire.ServerID]bool{}
	for _, n := range c.view.Nodes {
		if !n.Alive {
			s.Away++
			away[n.ID] = true
		}
	}
	for i, g := range c.view.Groups {
		live := 0
		for _, m := range g.Members {
			switch {
			case m.Voter && !away[m.ID]:
				live++
			case !m.Voter && !m.CaughtUp && !away[m.ID]:
				s.Filling++
			}
		}
		if g.Leader == "" {
			s.Leadless++
		}
		if live < len(c.goals[i].Voters) {
			s.Short++
		}
		if c.goals[i].Blocked != "" {
			s.Waiting++
		}
	}
	return s
}
