package plan

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// nemesis lets something go wrong, and itself happen again.
func (s *sim) nemesis() {
	if s.now > simFaults {
		return
	}
	s.after(time.Duration(s.rng.Int64N(int64(2500*time.Millisecond))), s.nemesis)
	for {
		fault := simFaultKinds[s.rng.IntN(len(simFaultKinds))]
		if fault(s) {
			return
		}
	}
}

// simFaultKinds are what can go wrong; each reports whether it did.
var simFaultKinds = []func(*sim) bool{
	(*sim).cutOneWay, (*sim).cutLink, (*sim).isolate, (*sim).split, (*sim).bridge,
	(*sim).kill, (*sim).kill, (*sim).killQuick, (*sim).killAll, (*sim).hang, (*sim).hang,
	(*sim).jump, (*sim).loseDisk, (*sim).join, (*sim).drain, (*sim).leave, (*sim).upgrade,
	(*sim).hangLeader, (*sim).handOverDeaf, (*sim).handOverLate, (*sim).forgetFollower,
}

func (s *sim) some() *simNode { return s.nodes[s.order[s.rng.IntN(len(s.order))]] }

// span is a time that is mostly short, so that leases, elections and repairs are
// all met.
func (s *sim) span(most time.Duration) time.Duration {
	d := time.Duration(s.rng.Int64N(int64(most)))
	if s.rng.IntN(2) == 0 {
		d /= 8
	}
	return d
}

// sever cuts links for a while.
func (s *sim) sever(links [][2]wire.ServerID) bool {
	if len(links) == 0 {
		return false
	}
	s.severFor(s.span(9*time.Second), links)
	return true
}

func (s *sim) severFor(d time.Duration, links [][2]wire.ServerID) {
	s.log("cut %v for %v", links, d)
	for _, l := range links {
		s.cut[l]++
	}
	s.after(d, func() {
		for _, l := range links {
			s.cut[l]--
		}
	})
}

func (s *sim) cutOneWay() bool {
	a, b := s.some(), s.some()
	return a != b && s.sever([][2]wire.ServerID{{a.id, b.id}})
}

func (s *sim) cutLink() bool {
	a, b := s.some(), s.some()
	return a != b && s.sever([][2]wire.ServerID{{a.id, b.id}, {b.id, a.id}})
}

// sides cuts all links between nodes for which side differs.
func (s *sim) sides(side func(wire.ServerID) int) bool {
	var links [][2]wire.ServerID
	for _, a := range s.order {
		for _, b := range s.order {
			if x, y := side(a), side(b); x != y && x >= 0 && y >= 0 {
				links = append(links, [2]wire.ServerID{a, b})
			}
		}
	}
	return s.sever(links)
}

func (s *sim) isolate() bool {
	n := s.some().id
	return s.sides(func(id wire.ServerID) int {
		if id == n {
			return 1
		}
		return 0
	})
}

func (s *sim) split() bool {
	side := map[wire.ServerID]int{}
	for _, id := range s.order {
		side[id] = s.rng.IntN(2)
	}
	return s.sides(func(id wire.ServerID) int { return side[id] })
}

// bridge splits the cluster but for one node that reaches both sides.
func (s *sim) bridge() bool {
	side := map[wire.ServerID]int{}
	for _, id := range s.order {
		side[id] = s.rng.IntN(2)
	}
	side[s.some().id] = -1
	return s.sides(func(id wire.ServerID) int { return side[id] })
}

// someLeader returns a leader of some shard that is awake, and its followers that
// vote; nil when there is none or it is alone.
func (s *sim) someLeader() (*simPeer, []wire.ServerID) {
	p := s.leader(uint32(s.rng.IntN(simShards)) + 1)
	if p == nil || p.n.paused > s.now {
		return nil, nil
	}
	conf, _ := p.conf()
	followers := slices.DeleteFunc(votersOf(conf), func(id wire.ServerID) bool { return id == p.n.id })
	s.rng.Shuffle(len(followers), func(i, j int) { followers[i], followers[j] = followers[j], followers[i] })
	if len(followers) == 0 {
		return nil, nil
	}
	return p, followers
}

// simPress is how often a leader is asked whose end is near.
const simPress = 50 * time.Millisecond

// press lets clients write elsewhere and read at a node for a while: whoever
// believes wrongly that it leads says so now.
func (s *sim) press(n *simNode, group uint32, d time.Duration) {
	if d < 0 {
		return
	}
	for org := range s.orgs {
		if s.shard(org) == group {
			s.probe(n, org, false)
			if other := s.some(); other != n {
				s.probe(other, org, true)
			}
		}
	}
	s.after(simPress, func() { s.press(n, group, d-simPress) })
}

// hangLeader pauses a leader for about as long as its successor needs.
func (s *sim) hangLeader() bool {
	p, _ := s.someLeader()
	if p == nil {
		return false
	}
	d := simElection + time.Duration(s.rng.Int64N(int64(3*time.Second)))
	s.log("pause %s, leader of group %d, for %v", p.n.id, p.group, d)
	p.n.pause(d)
	s.press(p.n, p.group, d)
	return true
}

// handOverDeaf lets a leader hand over and not hear what comes of it.
func (s *sim) handOverDeaf() bool {
	p, followers := s.someLeader()
	if p == nil {
		return false
	}
	_, at := p.conf()
	if p.change(Step{Kind: StepTransfer, Group: p.group, Node: followers[0], Index: at}) != nil {
		return false
	}
	s.log("%s hands group %d over to %s", p.n.id, p.group, followers[0])
	s.deafen(p.n)
	s.press(p.n, p.group, simElection)
	return true
}

// deafen loses what others send to a node, for a while.
func (s *sim) deafen(n *simNode) {
	var links [][2]wire.ServerID
	for _, id := range s.order {
		if id != n.id {
			links = append(links, [2]wire.ServerID{id, n.id})
		}
	}
	s.sever(links)
}

// handOverLate lets a leader hand over to a process that sleeps, and takes the
// order up after the leader has given it up.
func (s *sim) handOverLate() bool {
	p, followers := s.someLeader()
	if p == nil {
		return false
	}
	heir := s.nodes[followers[0]]
	_, at := p.conf()
	if !heir.up || heir.paused > s.now ||
		p.change(Step{Kind: StepTransfer, Group: p.group, Node: heir.id, Index: at}) != nil {
		return false
	}
	d := simElection + time.Duration(s.rng.Int64N(int64(simElection)))
	s.log("%s hands group %d over to %s, which is paused for %v", p.n.id, p.group, heir.id, d)
	heir.pause(d)
	s.after(d, func() {
		s.deafen(p.n)
		s.press(p.n, p.group, simElection)
	})
	return true
}

// forgetFollower cuts one of a leader's followers off from it, until that one wants
// to be elected, and then lets the others forget that they have just promised the
// leader to elect nobody. Meanwhile nothing is written, or nobody would vote for one
// that lacks it.
func (s *sim) forgetFollower() bool {
	p, followers := s.someLeader()
	if p == nil || len(followers) < 2 {
		return false
	}
	heir, leader := followers[0], p.n.id
	s.log("cut %s off from %s, which leads group %d", heir, leader, p.group)
	later := simElection + time.Duration(s.rng.Int64N(int64(simElection)))
	s.calm[p.group] = s.now + later
	s.part(later+simElection, heir, leader)
	s.after(later, func() {
		for _, id := range followers[1:] {
			if n := s.nodes[id]; n.up {
				s.part(simElection, id, leader)
				s.restart(n, 0)
			}
		}
		s.press(p.n, p.group, simElection)
	})
	return true
}

// part cuts both directions of a link.
func (s *sim) part(d time.Duration, a, b wire.ServerID) {
	s.severFor(d, [][2]wire.ServerID{{a, b}, {b, a}})
}

func (s *sim) restart(n *simNode, d time.Duration) {
	s.log("kill %s for %v", n.id, d)
	n.crash()
	life := n.life
	s.after(d, func() {
		if n.life == life && !n.up && !n.gone {
			s.log("%s starts", n.id)
			n.start()
		}
	})
}

func (s *sim) kill() bool {
	n := s.some()
	if !n.up {
		return false
	}
	s.restart(n, s.span(8*time.Second))
	return true
}

// killQuick is a process that its supervisor starts again at once.
func (s *sim) killQuick() bool {
	n := s.some()
	if !n.up {
		return false
	}
	s.restart(n, time.Duration(s.rng.Int64N(int64(200*time.Millisecond))))
	return true
}

func (s *sim) killAll() bool {
	for _, id := range s.order {
		if n := s.nodes[id]; n.up {
			s.restart(n, s.span(4*time.Second))
		}
	}
	return true
}

func (s *sim) hang() bool {
	n := s.some()
	if !n.up || n.paused > s.now {
		return false
	}
	d := s.span(5 * time.Second)
	s.log("pause %s for %v", n.id, d)
	n.pause(d)
	return true
}

// jump sets a node's clock.
func (s *sim) jump() bool {
	n := s.some()
	n.skew = time.Duration(s.rng.Int64N(int64(20*time.Second))) - 10*time.Second
	s.log("clock of %s is %v off", n.id, n.skew)
	return true
}

// loseDisk destroys one machine of a run.
func (s *sim) loseDisk() bool {
	n := s.some()
	return s.dispensable() && s.destroy(n)
}

// dispensable reports whether every group could do without any one machine: it has
// three voters, and the operator has given up none of them.
func (s *sim) dispensable() bool {
	if s.diskGone || len(s.order) < 3 {
		return false
	}
	for g := range uint32(simShards + 1) {
		p := s.leader(g)
		if p == nil {
			return false
		}
		conf, at := p.conf()
		voters := votersOf(conf)
		if len(voters) < 3 || len(voters)%2 == 0 || at > p.commit {
			return false
		}
		for _, id := range voters {
			if s.leader(wire.MetaGroup).machine.(*simMeta).nodes[id].GetLeaving() {
				return false
			}
		}
	}
	return true
}

func (s *sim) destroy(n *simNode) bool {
	if n.gone {
		return false
	}
	s.log("%s loses its disk", n.id)
	s.diskGone = true
	n.crash()
	n.gone = true
	if s.rng.IntN(2) == 0 {
		s.after(time.Second, func() { s.ask(n.id, func(e *pb.NodeEntry) { e.Leaving = true }) })
	}
	return true
}

// promoted strikes when a voter has been added, which is when memberships differ.
// The second of three, which has not heard of the third, is left alone with it; or
// one of the old three is cut off with the old membership in mind from all but
// another one, which may have to go for the new one.
func (s *sim) promoted(p *simPeer, fresh wire.ServerID) {
	conf, _ := p.conf()
	old := slices.DeleteFunc(votersOf(conf), func(id wire.ServerID) bool { return id == p.n.id || id == fresh })
	switch {
	case len(old) == 1 && s.ambush:
		s.severFor(simElection, [][2]wire.ServerID{{p.n.id, old[0]}})
		s.after(simHeartbeat/2, func() {
			if s.dispensable() {
				s.ambush = false
				s.destroy(p.n)
			}
		})
	case len(old) == 2 && s.rng.IntN(4) == 0:
		apart, friend := old[0], old[1]
		if s.rng.IntN(2) == 0 {
			apart, friend = friend, apart
		}
		for _, id := range s.order {
			if id != apart && id != friend {
				s.part(simEstranged, id, apart)
			}
		}
	}
}

// simEstranged is long enough for the controller to take a replica away.
const simEstranged = 12 * time.Second

// ask is the operator, who changes a node's entry until it is so. He asks any
// node that is up.
func (s *sim) ask(id wire.ServerID, change func(*pb.NodeEntry)) {
	for _, at := range s.order {
		n := s.nodes[at]
		e := n.meta().nodes[id]
		if !n.up || n.paused > s.now || e == nil {
			continue
		}
		if e.GetRemoved() {
			return
		}
		fresh := proto.CloneOf(e)
		change(fresh)
		if proto.Equal(e, fresh) {
			return
		}
		s.proposeMeta(n, &pb.Command{Kind: &pb.Command_PutNode{PutNode: &pb.PutNode{Node: fresh}}})
		break
	}
	if s.now < simFaults {
		s.after(time.Second, func() { s.ask(id, change) })
	}
}

func (s *sim) join() bool {
	if len(s.order) >= simNodes {
		return false
	}
	n := s.add()
	s.log("%s joins", n.id)
	return true
}

func (s *sim) drain() bool {
	n := s.some()
	s.log("drain %s", n.id)
	s.ask(n.id, func(e *pb.NodeEntry) { e.Draining = true })
	return true
}

// leave removes a node, live or not, while enough stay.
func (s *sim) leave() bool {
	n, staying := s.some(), 0
	meta := s.leader(wire.MetaGroup)
	if meta == nil {
		return false
	}
	for _, e := range meta.machine.(*simMeta).entries() {
		if id := wire.ServerID(e.GetServer()); !e.GetRemoved() && !e.GetLeaving() && id != n.id && !s.nodes[id].gone {
			staying++
		}
	}
	if staying < 3 {
		return false
	}
	s.log("remove %s", n.id)
	s.ask(n.id, func(e *pb.NodeEntry) { e.Leaving = true })
	return true
}

func (s *sim) upgrade() bool {
	n := s.some()
	if !n.up || n.version >= 3 {
		return false
	}
	s.log("upgrade %s", n.id)
	n.version++
	s.restart(n, s.span(2*time.Second))
	return true
}

// heal ends all faults. The operator is done with whatever he drained, and with
// the upgrade.
func (s *sim) heal() {
	s.log("all is mended")
	s.over = true
	newest := uint32(0)
	for _, id := range s.order {
		newest = max(newest, s.nodes[id].version)
	}
	for _, id := range s.order {
		n := s.nodes[id]
		n.skew = 0
		if n.gone {
			continue
		}
		if n.up && n.version < newest {
			n.crash()
		}
		n.version = newest
		if !n.up {
			n.start()
		}
	}
	clear(s.cut)
	s.resume()
}

// resume takes back every drain.
func (s *sim) resume() {
	s.after(time.Second, s.resume)
	meta := s.leader(wire.MetaGroup)
	if meta == nil {
		return
	}
	for _, e := range meta.machine.(*simMeta).entries() {
		if e.GetDraining() {
			fresh := proto.CloneOf(e)
			fresh.Draining = false
			s.proposeMeta(meta.n, &pb.Command{Kind: &pb.Command_PutNode{PutNode: &pb.PutNode{Node: fresh}}})
		}
	}
}
