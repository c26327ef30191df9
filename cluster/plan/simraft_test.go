package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"orgmem/cluster/wire"
)

// The simulation's raft: the algorithm that hashicorp/raft implements (Ongaro and
// Ousterhout, "In Search of an Understandable Consensus Algorithm", 2014, with
// single-server changes and pre-vote of Ongaro's thesis), on one thread, a
// simulated network and a simulated clock. It is there so that what is ours, the
// controller, the lease and the fencing, meets leaders that come and go in every
// order; that the real raft keeps its promises is shown elsewhere (make histories).

const (
	simHeartbeat = 100 * time.Millisecond
	simElection  = wire.ElectionTimeout
	simLease     = wire.LeaderLease
	simBatch     = 16 // entries of one append
)

// simEntry is one entry of a log; entries are never changed.
type simEntry struct {
	term uint64
	conf []Replica // a membership, or
	cmd  any       // a command, or neither: the first entry of a term
}

type simRole uint8

const (
	simFollower simRole = iota
	simCandidate
	simLeader
)

// simPeer is one replica of a group.
type simPeer struct {
	n     *simNode
	group uint32

	// On disk.
	term  uint64
	voted wire.ServerID
	log   []simEntry
	// fresh: opened empty, and has not yet all that was committed when a leader first
	// spoke to it. It may believe in memberships long gone, whose other members were
	// never told, so it must not vote.
	fresh bool

	// In memory.
	role            simRole
	leader          wire.ServerID
	commit, applied uint64
	heard           time.Duration // when a leader was last heard of
	deadline        time.Duration // when to stand for election
	votes           map[wire.ServerID]bool
	pre             bool // the votes are for standing at all
	next, match     map[wire.ServerID]uint64
	acked           map[wire.ServerID]time.Duration // when the newest append that was answered was sent
	since           time.Duration                   // when it was elected
	barrier         uint64                          // index of the term's first entry
	handing         time.Duration                   // until when leadership is being handed over
	wary            time.Duration                   // from when on group.wary holds: an heir was asked, and takes its time
	waiting         map[uint64]simWaiter
	flush           bool // appends are about to be sent
	machine         simMachine
}

// simWaiter is told what became of its entry: the machine's answer, or nil when
// nobody knows.
type simWaiter struct {
	term   uint64
	answer func(any)
}

// simMachine is what a group's log is applied to.
type simMachine interface {
	apply(index uint64, cmd any) any
	digest() uint64
}

func (s *sim) newPeer(n *simNode, group uint32) *simPeer {
	p := &simPeer{n: n, group: group, fresh: true}
	p.start()
	return p
}

// start begins a life with what is on disk.
func (p *simPeer) start() {
	p.role, p.leader, p.commit, p.applied = simFollower, "", 0, 0
	p.waiting = map[uint64]simWaiter{}
	p.machine = p.n.s.newMachine(p.n, p.group)
	p.handing, p.flush = 0, false
	p.heard = math.MinInt64 / 2
	if p.n.s.opts.startDelay {
		p.heard = p.n.s.now // as if: nobody is elected by the forgetful
	}
	p.wait()
}

// wipe gives up the replica, and keeps the vote.
func (p *simPeer) wipe() {
	p.fail()
	p.log, p.fresh = nil, true
	p.start()
}

func (p *simPeer) last() uint64 { return uint64(len(p.log)) }

func (p *simPeer) termAt(i uint64) uint64 {
	if i == 0 || i > p.last() {
		return 0
	}
	return p.log[i-1].term
}

// conf returns the newest membership in the log, committed or not, and its index.
func (p *simPeer) conf() ([]Replica, uint64) {
	for i := len(p.log); i > 0; i-- {
		if c := p.log[i-1].conf; c != nil {
			return c, uint64(i)
		}
	}
	return nil, 0
}

func votersOf(conf []Replica) (ids []wire.ServerID) {
	for _, r := range conf {
		if r.Voter {
			ids = append(ids, r.Server)
		}
	}
	return ids
}

// wait sets a new time for standing.
func (p *simPeer) wait() {
	s := p.n.s
	p.deadline = s.now + simElection + time.Duration(s.rng.Int64N(int64(simElection)))
	p.n.after(p.deadline-s.now, p.tick)
}

// tick is called when a deadline may have passed.
func (p *simPeer) tick() {
	s := p.n.s
	if p.n.peers[p.group] != p || p.role == simLeader || s.now < p.deadline {
		return
	}
	if conf, _ := p.conf(); p.n.s.opts.freshSilent && p.fresh || !slices.Contains(votersOf(conf), p.n.id) {
		p.wait()
		return
	}
	p.leader = ""
	p.stand(true, false)
}

// stand asks for votes. A leader that hands over makes its heir skip the question
// whether it may ask, and the others answer although they hear of a leader.
func (p *simPeer) stand(pre, handed bool) {
	s := p.n.s
	p.wait()
	p.role, p.pre, p.votes = simCandidate, pre, map[wire.ServerID]bool{p.n.id: true}
	term := p.term + 1
	if !pre {
		p.term, p.voted = term, p.n.id
	}
	lastIndex, lastTerm := p.last(), p.termAt(p.last())
	conf, _ := p.conf()
	for _, id := range votersOf(conf) {
		if id == p.n.id {
			continue
		}
		s.send(p.n, id, func(to *simNode) {
			q := to.peers[p.group]
			if q == nil {
				return
			}
			granted := q.vote(p.n.id, term, lastIndex, lastTerm, pre, handed)
			seen := q.term
			s.send(to, p.n.id, func(*simNode) { p.voteAnswer(id, term, seen, pre, granted) })
		})
	}
	p.count()
}

func (p *simPeer) vote(candidate wire.ServerID, term, lastIndex, lastTerm uint64, pre, handed bool) bool {
	s := p.n.s
	conf, _ := p.conf()
	known := slices.Contains(votersOf(conf), candidate)
	if s.opts.strictVotes && !known || s.opts.freshSilent && p.fresh || !handed &&
		(p.role == simLeader || s.now-p.heard < simElection) || term < p.term {
		return false
	}
	fresh := lastTerm > p.termAt(p.last()) || lastTerm == p.termAt(p.last()) && lastIndex >= p.last()
	if pre {
		return fresh && term > p.term
	}
	if term > p.term {
		p.step(term, "")
	}
	if !fresh || p.voted != "" && p.voted != candidate {
		return false
	}
	p.voted = candidate
	p.wait()
	return true
}

func (p *simPeer) voteAnswer(from wire.ServerID, term, seen uint64, pre, granted bool) {
	if seen > p.term {
		p.step(seen, "")
		return
	}
	if p.role != simCandidate || p.pre != pre || granted && (pre && term != p.term+1 || !pre && term != p.term) {
		return
	}
	if granted {
		p.votes[from] = true
		p.count()
	}
}

// count looks whether the votes suffice.
func (p *simPeer) count() {
	conf, _ := p.conf()
	voters, n := votersOf(conf), 0
	for _, id := range voters {
		if p.votes[id] {
			n++
		}
	}
	if n <= len(voters)/2 {
		return
	}
	if p.pre {
		p.stand(false, false)
		return
	}
	p.lead()
}

func (p *simPeer) lead() {
	s := p.n.s
	s.elected(p)
	p.role, p.leader, p.handing, p.wary = simLeader, p.n.id, 0, math.MaxInt64
	p.next, p.match, p.acked = map[wire.ServerID]uint64{}, map[wire.ServerID]uint64{}, map[wire.ServerID]time.Duration{}
	p.since = s.now
	p.append(simEntry{term: p.term})
	p.barrier = p.last()
	p.beat(p.term)
}

// append enters an entry into the leader's log.
func (p *simPeer) append(e simEntry) uint64 {
	p.log = append(p.log, e)
	p.advance()
	if !p.flush {
		p.flush = true
		p.n.after(time.Millisecond, func() {
			p.flush = false
			p.replicate()
		})
	}
	return p.last()
}

// beat keeps the followers from standing, and ends a leadership that a majority
// does not confirm.
func (p *simPeer) beat(term uint64) {
	if p.role != simLeader || p.term != term || p.n.peers[p.group] != p {
		return
	}
	if s := p.n.s; s.now-max(p.since, p.confirmed()) > simElection {
		p.step(p.term, "")
		return
	}
	p.replicate()
	p.n.after(simHeartbeat, func() { p.beat(term) })
}

// confirmed returns the time at which a majority still followed: the youngest
// time such that appends sent then or later were answered by one.
func (p *simPeer) confirmed() time.Duration {
	s := p.n.s
	conf, _ := p.conf()
	voters := votersOf(conf)
	var at []time.Duration
	for _, id := range voters {
		if id == p.n.id {
			at = append(at, s.now)
		} else if t, ok := p.acked[id]; ok {
			at = append(at, t)
		} else {
			at = append(at, math.MinInt64/2)
		}
	}
	if len(at) == 0 {
		return math.MinInt64 / 2
	}
	slices.SortFunc(at, func(a, b time.Duration) int { return int(min(1, max(-1, b-a))) })
	return at[len(voters)/2]
}

// leads is Host.Lead: it is nil's condition.
func (p *simPeer) leads() bool {
	s := p.n.s
	if p.role != simLeader || p.applied < p.barrier || s.now < p.handing {
		return false
	}
	return !s.opts.lease || s.now-p.confirmed() < simLease
}

// sure is whether a leader that leads may answer a question asked at a time: one
// that is wary needs a majority's answer to what was sent since (group.confirm).
func (p *simPeer) sure(asked time.Duration) bool {
	return !p.n.s.opts.lease || p.n.s.now < p.wary || p.confirmed() >= asked
}

func (p *simPeer) replicate() {
	if p.role != simLeader {
		return
	}
	conf, _ := p.conf()
	for _, r := range conf {
		if r.Server != p.n.id {
			p.sendAppend(r.Server)
		}
	}
}

func (p *simPeer) sendAppend(id wire.ServerID) {
	s := p.n.s
	if p.next[id] == 0 {
		p.next[id] = p.last()
	}
	from := max(min(p.next[id], p.last()+1), 1)
	entries := p.log[from-1 : min(from-1+simBatch, p.last())]
	term, prev, prevTerm, commit, sent := p.term, from-1, p.termAt(from-1), p.commit, s.now
	s.send(p.n, id, func(to *simNode) {
		q := to.peers[p.group]
		if q == nil {
			return
		}
		ok, last := q.accept(p.n.id, term, prev, prevTerm, entries, commit)
		seen := q.term
		s.send(to, p.n.id, func(*simNode) { p.appendAnswer(id, term, seen, ok, last, sent) })
	})
}

// accept is a follower's part.
func (p *simPeer) accept(
	leader wire.ServerID, term, prev, prevTerm uint64, entries []simEntry, commit uint64,
) (bool, uint64) {
	s := p.n.s
	if term < p.term {
		return false, 0
	}
	if term > p.term || p.role != simFollower {
		p.step(term, leader)
	}
	p.leader, p.heard = leader, s.now
	p.wait()
	if prev > p.last() || p.termAt(prev) != prevTerm {
		return false, min(prev, p.last()+1)
	}
	for i, e := range entries {
		at := prev + uint64(i) + 1
		if p.termAt(at) != e.term {
			if at <= p.commit {
				s.violated("group %d: %s is told to take back entry %d, which is committed", p.group, p.n.id, at)
			}
			if at <= p.last() {
				p.log = slices.Clone(p.log[:at-1]) // messages under way look into the old one
			}
			p.log = append(p.log, entries[i:]...)
			break
		}
	}
	last := prev + uint64(len(entries))
	p.fresh = p.fresh && last < commit
	p.advanceTo(min(commit, last))
	return true, last
}

func (p *simPeer) appendAnswer(id wire.ServerID, term, seen uint64, ok bool, last uint64, sent time.Duration) {
	if seen > p.term {
		p.step(seen, "")
		return
	}
	if p.role != simLeader || p.term != term {
		return
	}
	p.acked[id] = max(p.acked[id], sent)
	if !ok {
		p.next[id] = max(1, min(last, p.next[id]-1))
		p.sendAppend(id)
		return
	}
	p.match[id] = max(p.match[id], last)
	p.next[id] = max(p.next[id], last+1)
	p.advance()
	if p.next[id] <= p.last() {
		p.sendAppend(id)
	}
}

// advance commits what a majority has, of the leader's own term.
func (p *simPeer) advance() {
	conf, _ := p.conf()
	voters := votersOf(conf)
	var have []uint64
	for _, id := range voters {
		if id == p.n.id {
			have = append(have, p.last())
		} else {
			have = append(have, p.match[id])
		}
	}
	if len(have) == 0 {
		return
	}
	slices.SortFunc(have, func(a, b uint64) int { return int(min(1, max(-1, int64(b)-int64(a)))) })
	if at := have[len(voters)/2]; p.termAt(at) == p.term {
		p.advanceTo(at)
	}
}

// advanceTo applies what is committed and answers for it.
func (p *simPeer) advanceTo(commit uint64) {
	p.commit = max(p.commit, commit)
	for p.applied < p.commit {
		p.applied++
		e := p.log[p.applied-1]
		var answer any
		if e.cmd != nil {
			answer = p.machine.apply(p.applied, e.cmd)
		}
		p.n.s.applied(p, e)
		if w, ok := p.waiting[p.applied]; ok {
			delete(p.waiting, p.applied)
			if w.term != e.term {
				answer = nil
			}
			w.answer(answer)
		}
		if conf, at := p.conf(); p.role == simLeader && e.conf != nil && at == p.applied &&
			!slices.Contains(votersOf(conf), p.n.id) {
			p.step(p.term, "") // it has taken itself out
		}
	}
}

// step goes on as a follower.
func (p *simPeer) step(term uint64, leader wire.ServerID) {
	if term > p.term {
		p.term, p.voted = term, ""
	}
	was := p.role
	p.role, p.leader, p.handing = simFollower, leader, 0
	if was == simLeader {
		p.fail()
		p.n.lost(p.group)
	}
	p.wait()
}

// fail tells those who wait that nobody knows.
func (p *simPeer) fail() {
	indexes := make([]uint64, 0, len(p.waiting))
	for i := range p.waiting {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	for _, i := range indexes {
		w := p.waiting[i]
		delete(p.waiting, i)
		w.answer(nil)
	}
}

// propose enters a command; false when this node does not lead.
func (p *simPeer) propose(cmd any, answer func(any)) bool {
	if p.role != simLeader || p.n.s.now < p.handing {
		return false
	}
	// The waiter first: alone, the entry is applied at once.
	p.waiting[p.last()+1] = simWaiter{p.term, answer}
	p.append(simEntry{term: p.term, cmd: cmd})
	return true
}

// change carries out a step on the membership, as replicas.go promises.
func (p *simPeer) change(st Step) error {
	s := p.n.s
	conf, at := p.conf()
	if p.role != simLeader || p.applied < p.barrier || s.now < p.handing {
		return wire.ErrNotLeader
	}
	if at != st.Index || at > p.commit {
		return wire.ErrMapChanged
	}
	if st.Kind == StepTransfer {
		return p.handOver(st.Node)
	}
	conf = slices.Clone(conf)
	i := slices.IndexFunc(conf, func(r Replica) bool { return r.Server == st.Node })
	switch {
	case st.Kind == StepAdd && i < 0:
		conf = append(conf, Replica{Server: st.Node})
	case st.Kind == StepPromote && i >= 0:
		conf[i].Voter = true
	case st.Kind == StepDemote && i >= 0:
		conf[i].Voter = false
	case st.Kind == StepRemove && i >= 0:
		conf = slices.Delete(conf, i, i+1)
	default:
		return fmt.Errorf("%v of %s makes no sense", st.Kind, st.Node)
	}
	p.append(simEntry{term: p.term, conf: conf})
	if st.Kind == StepPromote {
		s.promoted(p, st.Node)
	}
	return nil
}

// handOver stops answering, lets the heir catch up and makes it stand.
func (p *simPeer) handOver(to wire.ServerID) error {
	s := p.n.s
	if p.match[to] < p.last() {
		return wire.ErrBusy
	}
	if s.opts.quietTransfer {
		p.handing = s.now + simElection
	}
	if s.opts.wary {
		p.wary = min(p.wary, s.now+simElection)
	}
	term := p.term
	s.send(p.n, to, func(n *simNode) {
		q := n.peers[p.group]
		if q != nil && q.term == term && q.role != simLeader {
			q.stand(false, true)
		}
	})
	return nil
}
