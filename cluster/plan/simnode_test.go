package plan

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// simNode is one machine of the simulation: its replicas, the organizations that
// are active on it, its gossip, and the controller that works while it leads the
// meta group.
type simNode struct {
	s       *sim
	id      wire.ServerID
	zone    string
	version uint32

	up      bool
	gone    bool // its disk is lost; it never comes back
	life    int  // counts starts
	paused  time.Duration
	stalled []func()      // what happened to it while it was paused
	skew    time.Duration // of its clock

	peers   map[uint32]*simPeer
	active  map[int]*simActivation
	heard   map[wire.ServerID]time.Duration
	seen    map[wire.ServerID]Presence
	begun   time.Time
	busy    bool // a round of the controller is under way
	entered bool // the node's entry was right once in this life
}

// clock is what the node's clock shows.
func (n *simNode) clock() time.Time { return time.Unix(1_700_000_000, 0).Add(n.s.now + n.skew) }

// after runs f on this node later, unless it dies before.
func (n *simNode) after(d time.Duration, f func()) {
	life := n.life
	n.s.after(d, func() { n.run(life, f) })
}

// run runs f now, or when the node wakes up.
func (n *simNode) run(life int, f func()) {
	switch {
	case !n.up || n.life != life:
	case n.paused > n.s.now:
		n.stalled = append(n.stalled, f)
	default:
		f()
	}
}

func (n *simNode) pause(d time.Duration) {
	life := n.life
	n.paused = n.s.now + d
	n.s.after(d, func() {
		if n.life != life || n.paused > n.s.now {
			return
		}
		// All that waited happens at once, and threads run in any order.
		late := n.stalled
		n.stalled = nil
		n.s.rng.Shuffle(len(late), func(i, j int) { late[i], late[j] = late[j], late[i] })
		for _, f := range late {
			n.run(life, f)
		}
	})
}

func (n *simNode) start() {
	n.up, n.paused, n.stalled, n.busy, n.entered = true, 0, nil, false, false
	n.life++
	n.active = map[int]*simActivation{}
	n.heard, n.seen = map[wire.ServerID]time.Duration{}, map[wire.ServerID]Presence{}
	n.begun = n.clock()
	if n.peers[wire.MetaGroup] == nil {
		n.peers[wire.MetaGroup] = n.s.newPeer(n, wire.MetaGroup)
	}
	for _, g := range n.hosted() {
		n.peers[g].start()
	}
	n.register()
	n.look()
	n.control()
}

func (n *simNode) crash() {
	n.up = false
	n.life++
}

func (n *simNode) hosted() []uint32 {
	groups := make([]uint32, 0, len(n.peers))
	for g := range n.peers {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	return groups
}

func (n *simNode) meta() *simMeta { return n.peers[wire.MetaGroup].machine.(*simMeta) }

// register keeps the node's own entry right, which an operator may overwrite with
// what it was; only the first time does it end a drain.
func (n *simNode) register() {
	n.after(time.Second, n.register)
	own, known := n.meta().nodes[n.id]
	if known && (own.GetRemoved() || own.GetVersion() == n.version && (n.entered || !own.GetDraining())) {
		n.entered = true
		return
	}
	n.s.proposeMeta(n, &pb.Command{Kind: &pb.Command_PutNode{PutNode: &pb.PutNode{Node: &pb.NodeEntry{
		Server: string(n.id), Zone: n.zone, Version: n.version, Draining: n.entered && own.GetDraining(),
	}}}})
}

// look gossips, and opens and gives up replicas as the map says.
func (n *simNode) look() {
	for _, other := range n.s.order {
		if other != n.id {
			n.s.send(n, other, func(to *simNode) { to.heard[n.id] = to.s.now })
		}
	}
	for _, other := range n.s.order {
		at, ok := n.heard[other]
		alive := other == n.id || ok && n.s.now-at < 3*time.Second
		if p, known := n.seen[other]; (known || alive) && p.Alive != alive {
			n.seen[other] = Presence{Alive: alive, Since: n.clock()}
		}
	}
	n.tidy()
	n.after(700*time.Millisecond, n.look)
}

func (n *simNode) tidy() {
	for _, placed := range n.meta().shards.GetGroups() {
		g := placed.GetGroup()
		named := slices.Contains(placed.GetDesired(), string(n.id)) || slices.Contains(placed.GetPresent(), string(n.id))
		p := n.peers[g]
		switch {
		case named && p == nil:
			n.peers[g] = n.s.newPeer(n, g)
		case !named && p != nil && g != wire.MetaGroup && p.role != simLeader:
			_, own := p.conf()
			for _, id := range placed.GetPresent() {
				n.s.send(n, wire.ServerID(id), func(to *simNode) {
					q := to.peers[g]
					if q == nil || !q.leads() {
						return
					}
					conf, at := q.conf()
					if at <= q.commit && at > own && !slices.ContainsFunc(conf, func(r Replica) bool { return r.Server == n.id }) {
						n.s.send(to, n.id, func(*simNode) { n.drop(g, at) })
					}
				})
			}
		}
	}
}

// drop gives up a replica that configuration at does not name, unless it has
// heard of a newer one meanwhile.
func (n *simNode) drop(group uint32, at uint64) {
	p := n.peers[group]
	if p == nil {
		return
	}
	if _, own := p.conf(); own >= at {
		return
	}
	for _, placed := range n.meta().shards.GetGroups() {
		if placed.GetGroup() == group &&
			(slices.Contains(placed.GetPresent(), string(n.id)) || slices.Contains(placed.GetDesired(), string(n.id))) {
			return
		}
	}
	p.wipe()
}

// control is the controller: one round a second while the node leads the meta
// group.
func (n *simNode) control() {
	n.after(time.Second, n.control)
	if n.busy || !n.peers[wire.MetaGroup].leads() {
		return
	}
	n.busy = true
	var reports []Report
	for _, e := range n.meta().entries() {
		if e.GetRemoved() {
			continue
		}
		n.s.send(n, wire.ServerID(e.GetServer()), func(to *simNode) {
			r := to.report()
			n.s.send(to, n.id, func(*simNode) { reports = append(reports, r) })
		})
	}
	n.after(400*time.Millisecond, func() { n.decide(reports) })
	n.after(900*time.Millisecond, func() { n.busy = false })
}

func (n *simNode) report() Report {
	r := Report{Server: n.id}
	for _, g := range n.hosted() {
		p := n.peers[g]
		said := GroupReport{Group: g, Applied: p.applied, Fresh: p.fresh}
		if conf, at := p.conf(); p.leads() && at <= p.commit {
			said.Leads, said.Term, said.Index, said.Replicas = true, p.term, at, conf
		}
		r.Groups = append(r.Groups, said)
	}
	return r
}

func (n *simNode) decide(reports []Report) {
	if !n.peers[wire.MetaGroup].leads() {
		return
	}
	m := n.meta()
	slices.SortFunc(reports, func(a, b Report) int { return cmp.Compare(a.Server, b.Server) })
	v := Assemble(n.clock(), n.begun, m.version, m.entries(), n.seen, reports, m.shards)
	steps, goals := Next(v, n.s.policy)
	n.s.planned(n, steps)
	if fresh := Redraw(m.shards, v, steps, goals); fresh != nil {
		cmd := &pb.Command{
			Kind: &pb.Command_PutShardMap{PutShardMap: &pb.PutShardMap{Map: fresh, ExpectedVersion: m.shards.GetVersion()}},
		}
		n.peers[wire.MetaGroup].propose(cmd, func(answer any) {
			if answer == true {
				n.carryOut(v, steps)
			}
		})
		return
	}
	n.carryOut(v, steps)
}

func (n *simNode) carryOut(v View, steps []Step) {
	for _, st := range steps {
		switch st.Kind {
		case StepForget:
			n.s.proposeMeta(n, &pb.Command{Kind: &pb.Command_RemoveNode{RemoveNode: &pb.RemoveNode{Server: string(st.Node)}}})
		case StepRaise:
			n.s.proposeMeta(
				n, &pb.Command{Kind: &pb.Command_SetClusterVersion{SetClusterVersion: &pb.SetClusterVersion{Version: st.Version}}},
			)
		default:
			n.s.send(n, v.Groups[st.Group].Leader, func(to *simNode) {
				if p := to.peers[st.Group]; p != nil {
					n.s.log("%s: %v %s of group %d: %v", to.id, st.Kind, st.Node, st.Group, p.change(st))
				}
			})
		}
	}
}

// lost ends the activations of a shard that this node does not lead any more. A
// build that forgets to is what fencing is for.
func (n *simNode) lost(group uint32) {
	for org := range n.s.orgs {
		if a := n.active[org]; a != nil && n.s.shard(org) == group {
			if a.waiting = nil; n.s.rng.Float64() >= n.s.opts.stale {
				delete(n.active, org)
			}
			a.working = false
		}
	}
}

// simMeta is the meta group's state, applied as Meta.judge does.
type simMeta struct {
	nodes   map[wire.ServerID]*pb.NodeEntry
	shards  *pb.ShardMap
	version uint32
}

func (m *simMeta) entries() []*pb.NodeEntry {
	var all []*pb.NodeEntry
	for _, e := range m.nodes {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *pb.NodeEntry) int { return cmp.Compare(a.GetServer(), b.GetServer()) })
	return all
}

// apply answers true when the command had its effect.
func (m *simMeta) apply(_ uint64, cmd any) any {
	switch k := cmd.(*pb.Command).GetKind().(type) {
	case *pb.Command_PutNode:
		e := proto.CloneOf(k.PutNode.GetNode())
		old := m.nodes[wire.ServerID(e.GetServer())]
		if old.GetRemoved() {
			return false
		}
		e.Leaving = e.GetLeaving() || old.GetLeaving()
		m.nodes[wire.ServerID(e.GetServer())] = e
	case *pb.Command_RemoveNode:
		id := k.RemoveNode.GetServer()
		m.nodes[wire.ServerID(id)] = &pb.NodeEntry{Server: id, Removed: true}
	case *pb.Command_PutShardMap:
		if k.PutShardMap.GetExpectedVersion() != m.shards.GetVersion() {
			return false
		}
		m.shards = proto.CloneOf(k.PutShardMap.GetMap())
		m.shards.Version = k.PutShardMap.GetExpectedVersion() + 1
	case *pb.Command_SetClusterVersion:
		m.version = max(m.version, k.SetClusterVersion.GetVersion())
	}
	return true
}

func (m *simMeta) digest() uint64 {
	h := fnv.New64a()
	for _, e := range m.entries() {
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(e)
		h.Write(b)
	}
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m.shards)
	h.Write(b)
	return h.Sum64() + uint64(m.version)
}

// simStores is a shard's state: of each organization the fencing that storage
// keeps, and its content, a list that grows. Lists are never changed.
type simStores struct {
	n      *simNode
	stores map[int]simStore
}

type simStore struct {
	state storage.State
	list  []int
}

type simOpen struct{ org int }

type simWrite struct {
	org            int
	epoch, version uint64
	list           []int
	needs          uint32 // the version that understands it
}

// simResult answers an OPEN or a write.
type simResult struct {
	outcome storage.Outcome
	store   simStore
}

func (m *simStores) apply(index uint64, cmd any) any {
	switch c := cmd.(type) {
	case simOpen:
		st := m.stores[c.org]
		var o storage.Outcome
		st.state, o = st.state.Step(storage.Entry{Index: index, Kind: storage.EntryOpen})
		m.stores[c.org] = st
		return simResult{o, st}
	case simWrite:
		if c.needs > m.n.version {
			m.n.s.violated("%s of version %d is given a command of version %d", m.n.id, m.n.version, c.needs)
		}
		st := m.stores[c.org]
		e := storage.Entry{Index: index, Kind: storage.EntryWrite, Epoch: c.epoch, Version: c.version}
		if !m.n.s.opts.fencing {
			e.Epoch, e.Version = st.state.Epoch, st.state.Version
		}
		var o storage.Outcome
		if st.state, o = st.state.Step(e); o == storage.OutcomeApplied {
			st.list = c.list
		}
		m.stores[c.org] = st
		return simResult{o, st}
	}
	return nil
}

func (m *simStores) digest() uint64 {
	h := uint64(0)
	for org, st := range m.stores {
		d := fnv.New64a()
		for _, x := range st.list {
			d.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16)})
		}
		h += (d.Sum64() ^ st.state.Version*31 ^ st.state.Epoch*131) * uint64(org*2+1)
	}
	return h
}

// simActivation is an organization that is active on a node: its memory, and the
// lease under which it writes.
type simActivation struct {
	term           uint64 // in which it was opened
	open           bool
	epoch, version uint64
	list           []int
	working        bool
	waiting        []*simRequest
}

// simRequest is one attempt of a client's operation.
type simRequest struct {
	org    int
	id     int           // of the write; 0 reads
	asked  time.Duration // when it came to the owner; 0 before
	answer func(ok bool, list []int)
}

// serve is a request at a node: it goes to where the shard leads, in one hop.
func (n *simNode) serve(r *simRequest, hops int) {
	p := n.peers[n.s.shard(r.org)]
	if p == nil || p.role != simLeader {
		to := n.leaderOf(n.s.shard(r.org))
		if hops == 0 || to == "" || to == n.id {
			r.answer(false, nil)
			return
		}
		answer := r.answer
		n.s.send(n, to, func(owner *simNode) {
			owner.serve(&simRequest{org: r.org, id: r.id, answer: func(ok bool, list []int) {
				n.s.send(owner, n.id, func(*simNode) { answer(ok, list) })
			}}, hops-1)
		})
		return
	}
	if r.asked == 0 {
		r.asked = n.s.now
	}
	if !p.leads() || n.s.now-r.asked > simLease {
		r.answer(false, nil)
		return
	}
	if !p.sure(r.asked) {
		n.after(simHeartbeat, func() { n.serve(r, hops) })
		return
	}
	a := n.active[r.org]
	if a == nil || a.term != p.term && (r.id == 0 || !a.open) {
		// A read from the memory of an earlier term would be stale: nothing fences
		// reads but this. A write would be fenced. The product compares no terms here:
		// when a leadership ends, and before the next one can begin, each activation is
		// sent word to lose what it remembers (actors.System.shardLost). This check stands
		// for that; the message and its way through a mailbox are not simulated, so
		// what is proved of them is what the tests of package actors prove.
		a = &simActivation{term: p.term}
		n.active[r.org] = a
	}
	if len(a.waiting) < 64 {
		a.waiting = append(a.waiting, r)
	}
	n.work(r.org, a, p)
}

func (n *simNode) leaderOf(group uint32) wire.ServerID {
	if p := n.peers[group]; p != nil && p.leader != "" {
		return p.leader
	}
	for _, placed := range n.meta().shards.GetGroups() {
		if placed.GetGroup() == group && len(placed.GetPresent()) > 0 {
			return wire.ServerID(placed.GetPresent()[n.s.rng.IntN(len(placed.GetPresent()))])
		}
	}
	return ""
}

// work lets an activation go on with what waits for it.
func (n *simNode) work(org int, a *simActivation, p *simPeer) {
	if a.working || len(a.waiting) == 0 || n.active[org] != a {
		return
	}
	if !a.open {
		a.working = true
		if !p.propose(simOpen{org}, func(answer any) { n.opened(org, a, p, answer) }) {
			n.retire(org, a)
		}
		return
	}
	r := a.waiting[0]
	a.waiting = a.waiting[1:]
	if r.id == 0 {
		r.answer(p.leads() && a.term == p.term, a.list)
		n.work(org, a, p)
		return
	}
	if slices.Contains(a.list, r.id) {
		r.answer(true, a.list) // a retry; the idempotency record
		n.work(org, a, p)
		return
	}
	a.working = true
	list := append(slices.Clip(a.list), r.id)
	// Between reading its memory and proposing, an actor computes.
	n.after(time.Duration(n.s.rng.Int64N(int64(40*time.Millisecond))), func() {
		if n.active[org] != a {
			return
		}
		w := simWrite{org: org, epoch: a.epoch, version: a.version, list: list, needs: n.meta().version}
		if !p.propose(w, func(answer any) { n.written(org, a, p, r, answer) }) {
			r.answer(false, nil)
			a.working = false
			if n.s.rng.Float64() >= n.s.opts.stale {
				n.retire(org, a)
			}
		}
	})
}

func (n *simNode) opened(org int, a *simActivation, p *simPeer, answer any) {
	r, known := answer.(simResult)
	if n.active[org] != a {
		return
	}
	if !known {
		n.retire(org, a)
		return
	}
	a.open, a.working = true, false
	a.epoch, a.version, a.list = r.store.state.Epoch, r.store.state.Version, r.store.list
	n.work(org, a, p)
}

func (n *simNode) written(org int, a *simActivation, p *simPeer, r *simRequest, answer any) {
	result, known := answer.(simResult)
	switch {
	case known && result.outcome == storage.OutcomeApplied:
		if n.active[org] == a {
			a.version++
			a.list = result.store.list
			a.working = false
		}
		r.answer(true, nil)
		n.work(org, a, p)
	case known:
		n.s.fenced++
		r.answer(false, nil)
		n.retire(org, a)
	default:
		r.answer(false, nil)
		n.retire(org, a)
	}
}

// retire throws an activation's memory away.
func (n *simNode) retire(org int, a *simActivation) {
	if n.active[org] == a {
		delete(n.active, org)
	}
	for _, r := range a.waiting {
		r.answer(false, nil)
	}
	a.waiting = nil
}
