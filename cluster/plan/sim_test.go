package plan

import (
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// The simulation runs a whole cluster on one thread: the planner, what turns the
// nodes' reports into its view and its plans into orders, and the fencing of writes
// are the ones of the service; raft, network, clocks and disks are models, and so are
// the lease for reads, the hand-over and who may vote (simraft_test.go): what is shown
// of these is that their rules suffice, and the tests of lease.go, hosting.go and
// ballot.go hold the service to the rules. A seed decides everything that happens, so
// a number is a reproduction:
//
//	go test ./cluster/plan -run 'TestSimulation$' -sim.seed 4711 -v
//
// Clients append numbers to lists and read them while nodes die, hang, are cut
// off, join and leave. Lists make linearizability exact and cheap: an operation
// names its place in one order, and the order must respect real time.

var simSeed = flag.Uint64("sim.seed", 0, "run the simulation with this seed only, and print its trace")

// simOptions are what a build may do wrong.
type simOptions struct {
	fencing       bool // epoch and version are checked where the log is applied
	lease         bool // a leader answers only while a majority confirmed it lately
	quietTransfer bool // a leader stops answering before it hands over
	wary          bool // after it has asked an heir, it asks the others before each answer
	startDelay    bool // who starts elects nobody for as long as a lease may last
	freshSilent   bool // a replica that was opened empty does not vote before it knows the membership
	// strictVotes: votes are refused to who is no voter in one's own membership, which
	// may be old. hashicorp/raft does so unless the request hides who asks.
	strictVotes bool
	// stale is how often a node keeps an organization active that is active
	// elsewhere.
	stale float64
}

func rightBuild() simOptions {
	return simOptions{
		fencing: true, lease: true, quietTransfer: true, wary: true, startDelay: true, freshSilent: true, stale: 0.3,
	}
}

const (
	simShards  = 3
	simOrgs    = 3
	simClients = 3
	// simFaults is how long things go wrong, simPatience how long everything may
	// take to be well again. A repair waits for the policy's GoneAfter.
	simFaults   = 45 * time.Second
	simPatience = 120 * time.Second
	// simNodes bounds the machines of one run.
	simNodes = 6
	// simTrace is how much of the end is told of a run that failed.
	simTrace = 60
)

type sim struct {
	seed   uint64
	opts   simOptions
	policy Policy
	rng    *rand.Rand
	now    time.Duration
	queue  simQueue
	seq    int

	nodes map[wire.ServerID]*simNode
	order []wire.ServerID
	cut   map[[2]wire.ServerID]int // cut links, how often
	orgs  int

	digests map[[2]uint64]uint64        // of group and index
	leaders map[[2]uint64]wire.ServerID // of group and term

	nextID   int
	history  []*simOp
	idle     int  // clients that have nothing under way
	over     bool // no new operations
	lastly   time.Duration
	fenced   int
	steps    int
	diskGone bool
	ambush   bool                     // promoted may destroy a disk
	calm     map[uint32]time.Duration // until when clients only read in a group

	verbose bool
	trace   []string
	failure string
}

// simOp is one operation of a client.
type simOp struct {
	org        int
	id         int // 0: a read
	from, till time.Duration
	list       []int // what a read saw
	done       bool
}

type simEvent struct {
	at  time.Duration
	seq int
	f   func()
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func newSim(seed uint64, opts simOptions) *sim {
	s := &sim{
		seed: seed, opts: opts, policy: DefaultPolicy(),
		rng:   rand.New(rand.NewPCG(seed, 0x6f72676d656d)),
		nodes: map[wire.ServerID]*simNode{}, cut: map[[2]wire.ServerID]int{}, orgs: simOrgs,
		digests: map[[2]uint64]uint64{}, leaders: map[[2]uint64]wire.ServerID{}, calm: map[uint32]time.Duration{},
	}
	s.ambush = s.rng.IntN(8) == 0
	s.policy.GoneAfter, s.policy.Settle = 15*time.Second, 2*time.Second
	return s
}

func (s *sim) after(d time.Duration, f func()) {
	s.seq++
	heap.Push(&s.queue, simEvent{s.now + max(d, 0), s.seq, f})
}

// send delivers f at another node, unless the link is cut or nobody is there. To
// itself a node talks at once.
func (s *sim) send(from *simNode, to wire.ServerID, f func(to *simNode)) {
	n := s.nodes[to]
	if n == nil || s.cut[[2]wire.ServerID{from.id, to}] > 0 {
		return
	}
	d := time.Duration(0)
	if from != n {
		d = time.Millisecond + time.Duration(s.rng.Int64N(int64(4*time.Millisecond)))
		if s.rng.IntN(50) == 0 {
			d += time.Duration(s.rng.Int64N(int64(400 * time.Millisecond)))
		}
	}
	s.after(d, func() {
		if s.cut[[2]wire.ServerID{from.id, to}] <= 0 {
			n.run(n.life, func() { f(n) })
		}
	})
}

func (s *sim) log(format string, args ...any) {
	line := fmt.Sprintf("%8.3f ", s.now.Seconds()) + fmt.Sprintf(format, args...)
	if s.verbose {
		fmt.Fprintln(os.Stderr, line)
	}
	if len(s.trace) >= 2*simTrace {
		s.trace = append(s.trace[:0], s.trace[len(s.trace)-simTrace:]...)
	}
	s.trace = append(s.trace, line)
}

// violated ends the run.
func (s *sim) violated(format string, args ...any) {
	if s.failure != "" {
		return
	}
	s.failure = fmt.Sprintf(format, args...)
	for _, id := range s.order {
		n := s.nodes[id]
		for _, g := range n.hosted() {
			p := n.peers[g]
			conf, at := p.conf()
			s.log("%s up=%t group %d: role %d term %d entries %d/%d/%d fresh=%t members %v at %d",
				id, n.up, g, p.role, p.term, p.applied, p.commit, p.last(), p.fresh, conf, at)
		}
	}
	s.log("VIOLATED: %s", s.failure)
}

func (s *sim) shard(org int) uint32 { return uint32(org%simShards) + 1 }

func (s *sim) newMachine(n *simNode, group uint32) simMachine {
	if group == wire.MetaGroup {
		return &simMeta{nodes: map[wire.ServerID]*pb.NodeEntry{}, shards: &pb.ShardMap{}, version: 1}
	}
	return &simStores{n: n, stores: map[int]simStore{}}
}

// add makes a machine. The first one is a cluster of one.
func (s *sim) add() *simNode {
	n := &simNode{
		s: s, id: wire.ServerID(fmt.Sprintf("n%d", len(s.order)+1)), zone: fmt.Sprint(s.rng.IntN(3)), version: 1,
		peers: map[uint32]*simPeer{},
	}
	first := len(s.order) == 0
	for _, other := range s.nodes {
		n.version = max(n.version, other.version) // nobody installs an old one
	}
	s.nodes[n.id] = n
	s.order = append(s.order, n.id)
	if first {
		placed := &pb.ShardMap{}
		for g := range uint32(simShards + 1) {
			placed.Groups = append(
				placed.Groups, &pb.GroupPlacement{Group: g, Desired: []string{string(n.id)}, Present: []string{string(n.id)}},
			)
		}
		for g := range uint32(simShards + 1) {
			p := s.newPeer(n, g)
			p.log = []simEntry{{term: 1, conf: []Replica{{Server: n.id, Voter: true}}}}
			p.term, p.fresh = 1, false
			n.peers[g] = p
		}
		meta := n.peers[wire.MetaGroup]
		meta.log = append(
			meta.log,
			simEntry{term: 1, cmd: &pb.Command{Kind: &pb.Command_PutShardMap{PutShardMap: &pb.PutShardMap{Map: placed}}}},
		)
	}
	n.start()
	return n
}

// elected notes who leads a term, which must be one.
func (s *sim) elected(p *simPeer) {
	at := [2]uint64{uint64(p.group), p.term}
	if other, ok := s.leaders[at]; ok {
		s.violated("group %d: %s and %s lead term %d", p.group, other, p.n.id, p.term)
	}
	s.leaders[at] = p.n.id
	s.log("%s leads group %d in term %d", p.n.id, p.group, p.term)
}

// applied compares what replicas make of the same entry.
func (s *sim) applied(p *simPeer, e simEntry) {
	if e.cmd == nil {
		return
	}
	at := [2]uint64{uint64(p.group), p.applied}
	d := p.machine.digest()
	if other, ok := s.digests[at]; !ok {
		s.digests[at] = d
	} else if other != d {
		s.violated("group %d: %s differs after entry %d", p.group, p.n.id, p.applied)
	}
}

func (s *sim) planned(n *simNode, steps []Step) {
	for _, st := range steps {
		s.log("%s plans: %v %s of group %d, %s", n.id, st.Kind, st.Node, st.Group, st.Reason)
	}
	s.steps += len(steps)
	if len(steps) > 0 {
		s.lastly = s.now
	}
}

// proposeMeta carries a command to the meta group's leader, once.
func (s *sim) proposeMeta(n *simNode, cmd *pb.Command) {
	to := n.peers[wire.MetaGroup].leader
	if to == "" || s.rng.IntN(4) == 0 {
		to = s.order[s.rng.IntN(len(s.order))]
	}
	s.send(n, to, func(first *simNode) {
		s.send(first, first.peers[wire.MetaGroup].leader, func(leader *simNode) {
			leader.peers[wire.MetaGroup].propose(cmd, func(any) {})
		})
	})
}

// client does one operation after the other.
func (s *sim) client() {
	if s.over {
		s.idle++
		return
	}
	s.after(time.Duration(s.rng.Int64N(int64(400*time.Millisecond))), func() {
		op := &simOp{org: s.rng.IntN(s.orgs), from: s.now}
		if s.rng.IntN(3) > 0 && s.now >= s.calm[s.shard(op.org)] {
			s.nextID++
			op.id = s.nextID
		}
		s.history = append(s.history, op)
		s.attempt(op)
	})
}

// attempt sends an operation to some node, and again until it is done.
func (s *sim) attempt(op *simOp) {
	decided := false
	again := func() {
		if !decided {
			decided = true
			s.after(100*time.Millisecond+time.Duration(s.rng.Int64N(int64(300*time.Millisecond))), func() { s.attempt(op) })
		}
	}
	n := s.nodes[s.order[s.rng.IntN(len(s.order))]]
	r := &simRequest{org: op.org, id: op.id, answer: func(ok bool, list []int) {
		s.after(time.Duration(s.rng.Int64N(int64(3*time.Millisecond))), func() {
			if decided {
				return
			}
			if !ok {
				again()
				return
			}
			decided = true
			op.done, op.till, op.list = true, s.now, list
			s.client()
		})
	}}
	s.after(time.Millisecond, func() { n.run(n.life, func() { n.serve(r, 2) }) })
	s.after(3*time.Second, again)
}

// probe asks one node one thing, once.
func (s *sim) probe(n *simNode, org int, write bool) {
	op := &simOp{org: org, from: s.now}
	if write {
		s.nextID++
		op.id = s.nextID
	}
	s.history = append(s.history, op)
	r := &simRequest{org: org, id: op.id, answer: func(ok bool, list []int) {
		s.after(time.Duration(s.rng.Int64N(int64(3*time.Millisecond))), func() {
			if ok {
				op.done, op.till, op.list = true, s.now, list
			}
		})
	}}
	s.after(time.Millisecond, func() { n.run(n.life, func() { n.serve(r, 2) }) })
}

// run lets it all happen, and returns what was violated, "" for nothing.
func (s *sim) run() string {
	s.add()
	s.after(500*time.Millisecond, func() { s.add() })
	s.after(time.Second, func() { s.add() })
	for range simClients {
		s.after(2*time.Second, s.client)
	}
	s.after(6*time.Second, s.nemesis)
	s.after(simFaults, s.heal)
	for len(s.queue) > 0 && s.failure == "" {
		e := heap.Pop(&s.queue).(simEvent)
		s.now = e.at
		e.f()
		if s.now > simFaults+2*time.Second && s.now-s.lastly > 5*time.Second && s.idle == simClients && s.wellPlaced() == "" {
			break
		}
		if s.now > simFaults+simPatience {
			s.violated("not well again after %v: %d of %d clients done, %s", simPatience, s.idle, simClients, s.wellPlaced())
		}
	}
	if s.failure == "" {
		s.check()
	}
	return s.failure
}

// leader returns a group's leader as an all-knowing observer sees it.
func (s *sim) leader(group uint32) *simPeer {
	var best *simPeer
	for _, id := range s.order {
		if p := s.nodes[id].peers[group]; p != nil && s.nodes[id].up && p.role == simLeader &&
			(best == nil || p.term > best.term) {
			best = p
		}
	}
	return best
}

// wellPlaced says what is missing to a cluster that is well.
func (s *sim) wellPlaced() string {
	meta := s.leader(wire.MetaGroup)
	if meta == nil {
		return "no leader of the meta group"
	}
	stay := 0
	for _, e := range meta.machine.(*simMeta).entries() {
		if n := s.nodes[wire.ServerID(e.GetServer())]; !e.GetRemoved() && !n.gone {
			if stay++; e.GetLeaving() {
				return fmt.Sprintf("%s has not left", n.id)
			}
		}
	}
	for g := range uint32(simShards + 1) {
		p := s.leader(g)
		if p == nil || p.applied < p.barrier {
			return fmt.Sprintf("no leader of group %d", g)
		}
		conf, _ := p.conf()
		live := 0
		for _, id := range votersOf(conf) {
			if n := s.nodes[id]; n.up && !n.gone && n.peers[g] != nil && n.peers[g].applied == p.applied {
				live++
			}
		}
		if stay == 2 && live == 1 {
			continue // and a learner
		}
		if live < min(3, stay) {
			return fmt.Sprintf("group %d has %d voters of %d nodes", g, live, stay)
		}
	}
	return ""
}

// check judges the history by the lists as they are in the end.
func (s *sim) check() {
	final := make([][]int, s.orgs)
	place := map[int]int{} // of each write in its list
	for org := range s.orgs {
		final[org] = s.leader(s.shard(org)).machine.(*simStores).stores[org].list
		for i, id := range final[org] {
			if _, twice := place[id]; twice {
				s.violated("write %d is in its list twice", id)
			}
			place[id] = i
		}
	}
	begun := map[int]time.Duration{}
	var ends []*simOp
	for _, op := range s.history {
		if op.id != 0 {
			begun[op.id] = op.from
		}
		if op.done {
			ends = append(ends, op)
		}
	}
	slices.SortStableFunc(ends, func(a, b *simOp) int { return int(min(1, max(-1, a.till-b.till))) })
	starts := slices.Clone(ends)
	slices.SortStableFunc(starts, func(a, b *simOp) int { return int(min(1, max(-1, a.from-b.from))) })
	known := make([]int, s.orgs) // how much of each list was seen by somebody who was done
	next := 0
	for _, op := range starts {
		for ; next < len(ends) && ends[next].till < op.from; next++ {
			seen := len(ends[next].list)
			if id := ends[next].id; id != 0 {
				at, ok := place[id]
				if !ok {
					s.violated("write %d was acknowledged at %v and is lost", id, ends[next].till)
				}
				seen = at + 1
			}
			known[ends[next].org] = max(known[ends[next].org], seen)
		}
		if op.id != 0 {
			at, ok := place[op.id]
			switch {
			case !ok:
				s.violated("write %d was acknowledged at %v and is lost", op.id, op.till)
			case at < known[op.org]:
				s.violated(
					"write %d began at %v and took place %d of organization %d, of which %d were known", op.id, op.from, at, op.org,
					known[op.org],
				)
			}
			continue
		}
		if len(op.list) > len(final[op.org]) || !slices.Equal(op.list, final[op.org][:len(op.list)]) {
			s.violated("a read of organization %d at %v saw what never was: %v", op.org, op.from, op.list)
			continue
		}
		if len(op.list) < known[op.org] {
			s.violated(
				"a read of organization %d from %v to %v saw %d entries, %d were known", op.org, op.from, op.till, len(op.list),
				known[op.org],
			)
		}
		for _, id := range op.list {
			if begun[id] > op.till {
				s.violated("a read saw write %d before it began", id)
			}
		}
	}
}

// simulate runs seeds on both processors until one fails or all are done, and
// returns the smallest seed that failed.
func simulate(from, n uint64, opts simOptions) (failed *sim, steps, ops, fenced int64) {
	var next, bad atomic.Uint64
	next.Store(from)
	bad.Store(from + n)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				seed := next.Add(1) - 1
				if seed >= bad.Load() {
					return
				}
				s := newSim(seed, opts)
				failure := s.run()
				mu.Lock()
				steps, ops, fenced = steps+int64(s.steps), ops+int64(len(s.history)), fenced+int64(s.fenced)
				if failure != "" && seed < bad.Load() {
					bad.Store(seed)
					failed = s
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed, steps, ops, fenced
}

// simSeedsEnv says how many seeds TestSimulation runs.
const simSeedsEnv = "ORGMEM_SIM_SEEDS"

// TestSimulation runs a few seeds, or as many as simSeedsEnv says.
func TestSimulation(t *testing.T) {
	if *simSeed != 0 {
		s := newSim(*simSeed, rightBuild())
		s.verbose = true
		if failure := s.run(); failure != "" {
			t.Errorf("seed %d: %s", s.seed, failure)
		}
		return
	}
	seeds := uint64(30)
	if text := os.Getenv(simSeedsEnv); text != "" {
		var err error
		if seeds, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	failed, steps, ops, fenced := simulate(1, seeds, rightBuild())
	if failed != nil {
		t.Fatalf("seed %d: %s\n%s", failed.seed, failed.failure, strings.Join(failed.trace, "\n"))
	}
	t.Logf("%d seeds: %d operations, %d of the controller's steps, %d writes fenced", seeds, ops, steps, fenced)
	if steps == 0 || fenced == 0 {
		t.Error("nothing was moved, or nothing was fenced: the simulation shows nothing")
	}
}

// TestSimulationIsDeterministic: without it a seed would be no reproduction.
func TestSimulationIsDeterministic(t *testing.T) {
	a, b := newSim(7, rightBuild()), newSim(7, rightBuild())
	if fa, fb := a.run(), b.run(); fa != fb || !slices.Equal(a.trace, b.trace) || a.now != b.now || a.seq != b.seq {
		t.Errorf("seed 7 ran to %v and %v, with %d and %d events", a.now, b.now, a.seq, b.seq)
	}
}

// TestSimulationCatchesBrokenBuilds takes away what the promises rest on, one at
// a time. A simulation that does not notice would prove nothing.
func TestSimulationCatchesBrokenBuilds(t *testing.T) {
	for _, broken := range []struct {
		name  string
		seeds uint64 // within which it shows
		take  func(*simOptions)
	}{
		{"fencing", 200, func(o *simOptions) { o.fencing = false }},
		{"the lease", 200, func(o *simOptions) { o.lease = false }},
		{"silence while handing over", 200, func(o *simOptions) { o.quietTransfer = false }},
		{"wariness after handing over", 200, func(o *simOptions) { o.wary = false }},
		{"clustertest.Patience after a start", 500, func(o *simOptions) { o.startDelay = false }},
		{"silence of the fresh", 200, func(o *simOptions) { o.freshSilent = false }},
		{"votes for the unknown", 200, func(o *simOptions) { o.strictVotes = true }},
	} {
		t.Run(broken.name, func(t *testing.T) {
			opts := rightBuild()
			broken.take(&opts)
			failed, _, _, _ := simulate(1, broken.seeds, opts)
			if failed == nil {
				t.Fatalf("%d seeds do not notice", broken.seeds)
			}
			t.Logf("seed %d: %s", failed.seed, failed.failure)
		})
	}
}
