package cluster

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/storage"
)

const (
	// soloTimeout is the heartbeat, election and lease time of a group of one. It
	// has nobody to hear from, so the only effect is how often its idle loop wakes:
	// 33 groups at 1 s cost nothing measurable, at 100 ms 2 % of a core.
	soloTimeout = time.Second
	// commitTimeout is raft's default; it paces idle replication to followers.
	commitTimeout = 50 * time.Millisecond
	// never disables raft's own snapshots, which count entries where we count
	// bytes and age; see compactor.
	never = 24 * 365 * time.Hour
	// maxAppendEntries is the size of raft's apply channel and the largest batch
	// that ApplyBatch sees. One more than a group may have in flight: the watcher's
	// barrier uses the channel too, and neither may ever block in it.
	maxAppendEntries = maxGroupInFlight + 1
)

// group is one raft group of this node.
type group struct {
	id    uint32
	host  *Host
	raft  *raft.Raft
	fsm   *fsm
	marks *markers
	// maxBytes is maxGroupInFlightBytes; a test has less memory to spare.
	maxBytes int64

	mu            sync.Mutex // guards what follows, and the order of proposals
	closed        bool
	inFlight      int
	inFlightBytes int64

	pending   chan *proposal // in log order; closed by close
	current   atomic.Pointer[proposal]
	completed chan struct{} // closed when complete has ended

	// leading is the term in which this node leads and has applied all that its
	// log held when it was elected; 0 while it does not.
	leading   atomic.Uint64
	unwatch   chan struct{}
	unwatched chan struct{}
}

// raftConfig is the configuration of a group with one voter.
func raftConfig(self ServerID) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(self)
	// Slightly longer than what start reloads, which is what makes it elect itself
	// at once.
	c.HeartbeatTimeout = soloTimeout + 10*time.Millisecond
	c.ElectionTimeout = soloTimeout + 10*time.Millisecond
	c.LeaderLeaseTimeout = soloTimeout
	c.CommitTimeout = commitTimeout
	c.MaxAppendEntries = maxAppendEntries
	// Without it raft takes one entry per wait for the disk. Its two drawbacks do
	// not reach us: Apply's timeout is not used, and close drains the channel
	// before it shuts raft down, after which entries in it are never answered.
	c.BatchApplyCh = true
	c.SnapshotInterval = never
	c.SnapshotThreshold = math.MaxUint64
	// No follower could want entries that are in all stores already.
	c.TrailingLogs = 0
	c.NoSnapshotRestoreOnStart = true // the stores are the state
	c.ShutdownOnRemove = false        // a group ends by close, which answers everybody
	c.NoLegacyTelemetry = true
	// RestoreCommittedLogs stays off: with more than 128 batches to replay NewRaft
	// would wait for a state machine that it has not started yet, for ever.
	c.RestoreCommittedLogs = false
	return c
}

// openGroup starts a group. Its log must hold its membership (see bootstrap).
func openGroup(h *Host, id uint32, m machine) (*group, error) {
	g := &group{
		id:        id,
		host:      h,
		maxBytes:  maxGroupInFlightBytes,
		pending:   make(chan *proposal, maxGroupInFlight),
		completed: make(chan struct{}),
		unwatch:   make(chan struct{}),
		unwatched: make(chan struct{}),
	}
	g.fsm = &fsm{group: id, machine: m, fatal: h.halt, total: &h.logBytes, grown: h.compactor.grown}
	log := h.cfg.Storage.Log()
	stable := &stableStore{log: log, group: id}
	var err error
	if g.marks, err = newMarkers(stable); err != nil {
		return nil, err
	}
	g.fsm.applied.Store(g.marks.index.Load())
	conf := raftConfig(h.identity.Server)
	conf.Logger = newRaftLogger(h.cfg.Logger, id)
	g.raft, err = raft.NewRaft(conf, g.fsm, &logStore{log: log, group: id, failed: h.logFailed}, stable, g.marks, h.transports.group(id, h.identity.Server))
	if err != nil {
		return nil, fmt.Errorf("cluster: start group %d: %w", id, err)
	}
	go g.complete()
	go g.watch()
	g.campaign()
	return g, nil
}

// campaign makes a group of one elect itself now instead of after one to two
// heartbeat times: shortening the timeout makes a follower's timer fire, and it
// has never heard of a leader.
func (g *group) campaign() {
	rc := g.raft.ReloadableConfig()
	rc.HeartbeatTimeout, rc.ElectionTimeout = soloTimeout+10*time.Millisecond, soloTimeout+10*time.Millisecond
	up := rc
	rc.HeartbeatTimeout, rc.ElectionTimeout = soloTimeout, soloTimeout
	for _, c := range []raft.ReloadableConfig{up, rc} {
		if err := g.raft.ReloadConfig(c); err != nil {
			panic(fmt.Sprintf("cluster: raft refuses its own configuration: %v", err)) //nolint:forbidigo // they are constants above
		}
	}
}

// watch follows the group's leadership. A new leader is ready once a barrier, an
// entry of its own term, is applied: raft's AppliedIndex would only say that
// entries were handed over.
func (g *group) watch() {
	defer close(g.unwatched)
	for {
		select {
		case leader := <-g.raft.LeaderCh():
			if g.leading.Swap(0) != 0 {
				g.told(false)
			}
			if !leader {
				// It takes one to two of its time-outs to elect itself again. At once
				// would be a busy loop wherever the cause lasts.
				continue
			}
			term := g.raft.CurrentTerm()
			if err := g.raft.Barrier(0).Error(); err != nil {
				continue // leadership lost again: LeaderCh tells
			}
			g.leading.Store(term)
			g.host.notifyReady()
			g.told(true)
		case <-g.unwatch:
			return
		}
	}
}

// told passes a change of leadership on.
func (g *group) told(leads bool) {
	if f := g.host.cfg.OnLead; f != nil && g.id != metaGroup {
		f(g.id, leads)
	}
}

// close refuses new proposals and waits until all are answered, as raft does
// within its time-outs while it runs; only then it shuts raft down. The order
// matters: raft never answers what is in its channels when it stops.
func (g *group) close() {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.pending)
	}
	g.mu.Unlock()

	// A state machine that halted answers nothing more. Its process is ending; a
	// test's is not, so everybody gets the one true answer.
	select {
	case <-g.completed:
	case <-g.host.halted:
	}
	close(g.unwatch)
	select {
	case <-g.unwatched:
	case <-g.host.halted:
	}
	g.leading.Store(0)
	_ = g.raft.Shutdown().Error() // waits; never fails
	if p := g.current.Load(); p != nil {
		p.finish(result{err: unknown(ErrClosed)})
	}
	for p := range g.pending {
		p.finish(result{err: unknown(ErrClosed)})
	}
}

// status reports the group.
func (g *group) status() GroupStatus {
	_, leader := g.raft.LeaderWithID()
	g.mu.Lock()
	inFlight := g.inFlight
	g.mu.Unlock()
	return GroupStatus{
		Group:    g.id,
		Leader:   ServerID(leader),
		Leading:  g.leading.Load() != 0,
		Term:     g.raft.CurrentTerm(),
		Last:     g.raft.LastIndex(),
		Applied:  g.fsm.applied.Load(),
		Snapshot: g.marks.index.Load(),
		LogBytes: g.fsm.logBytes.Load(),
		InFlight: inFlight,
	}
}

// bootstrap writes the membership, this server alone, as the first entry of a
// new group's log. It is only called while a data directory is being created; a
// creation that was killed half way is taken up again, and raft would then
// refuse a group that has a term but no membership, so such a term is cleared.
// Nobody can have voted or proposed in it.
func bootstrap(log *storage.Log, id uint32, self ServerID, trans transports) error {
	logs, stable := &logStore{log: log, group: id}, &stableStore{log: log, group: id}
	last, err := logs.LastIndex()
	if err != nil {
		return err
	}
	if last > 0 {
		return nil // done by the earlier attempt
	}
	if err := stable.SetUint64([]byte("CurrentTerm"), 0); err != nil {
		return err
	}
	marks, err := newMarkers(stable)
	if err != nil {
		return err
	}
	t := trans.group(id, self)
	err = raft.BootstrapCluster(raftConfig(self), logs, stable, marks, t, raft.Configuration{
		Servers: []raft.Server{{Suffrage: raft.Voter, ID: raft.ServerID(self), Address: raft.ServerAddress(self)}},
	})
	if err != nil {
		return fmt.Errorf("cluster: create group %d: %w", id, err)
	}
	return nil
}
