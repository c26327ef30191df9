package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	"orgmem/storage"
)

const (
	// commitTimeout paces what a leader sends its followers while nothing is written: how
	// long they may not know yet that the last entry is committed, which concerns nobody,
	// since leaders answer. At raft's default of 50 ms it was half of what an idle node of
	// three costs: 14 % of a core on a busy machine, and 8 % with this.
	commitTimeout = 250 * time.Millisecond
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
	id   uint32
	node *node
	raft *raft.Raft
	fsm  *fsm
	log  *raftlog.GroupLog
	// ballot says who may have this node's vote.
	ballot *ballot
	proposals
	leadership
	silence silence

	// opened says that raft is there: the state machine may be called before.
	opened    atomic.Bool
	unwatch   chan struct{}
	unwatched chan struct{}
}

const (
	// settlePause is how often settle looks: a proposal under way takes about a
	// millisecond.
	settlePause = 2 * time.Millisecond
	// settleMost bounds settle where the others are there and the disks are slow: an
	// fsync has been seen to take a second on a disk that many write to. It leaves a
	// node that stops the time for the transfer.
	settleMost = 3 * time.Second
)

// raftConfig is the configuration of a group with one voter.
func raftConfig(self wire.ServerID) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(self)
	// Slightly longer than what campaign sets, which makes a group of one elect itself at
	// once.
	c.HeartbeatTimeout = wire.ElectionTimeout + 10*time.Millisecond
	c.ElectionTimeout = wire.ElectionTimeout + 10*time.Millisecond
	c.LeaderLeaseTimeout = wire.ElectionTimeout
	c.CommitTimeout = commitTimeout
	c.MaxAppendEntries = maxAppendEntries
	// Without it raft takes one entry per wait for the disk. Its two drawbacks do
	// not reach us: Apply's timeout is not used, and close drains the channel
	// before it shuts raft down, after which entries in it are never answered.
	c.BatchApplyCh = true
	c.SnapshotInterval = never
	c.SnapshotThreshold = math.MaxUint64
	// raft cuts nothing: it would count entries, and know of no erasure; see cut.
	c.TrailingLogs = math.MaxUint64
	c.NoSnapshotRestoreOnStart = true // the stores are the state
	c.ShutdownOnRemove = false        // a group ends by close, which answers everybody
	c.NoLegacyTelemetry = true
	// RestoreCommittedLogs stays off: with more than 128 batches to replay NewRaft
	// would wait for a state machine that it has not started yet, for ever.
	c.RestoreCommittedLogs = false
	return c
}

// openGroup starts a group. Its log holds its membership (see bootstrap), or
// nothing: then it waits until a leader adds this node.
func openGroup(w *hosting, id uint32, m state.Machine) (*group, error) {
	g := &group{
		id:         id,
		node:       w.node,
		proposals:  newProposals(),
		leadership: leadership{node: w.node, group: id, lease: newLease(w.identity.Server)},
		unwatch:    make(chan struct{}),
		unwatched:  make(chan struct{}),
	}
	g.fsm = &fsm{
		group: id, machine: m, fatal: w.halt, speaks: w.cfg.speaks,
		logMeter:   logMeter{total: &w.logBytes, grown: w.compactor.grown},
		configured: g.configured, fetch: w.transfers.Fetch,
		restored: func(index uint64) error {
			behind, err := g.log.Restored(index)
			if behind {
				w.reopenLater(g)
			}
			return err
		},
	}
	if w.peers != nil {
		g.fsm.damaged = func(err error) {
			w.cfg.Logger.Error(
				"cluster: a store is damaged; the group is opened again when it has come from another node",
				"group", id, "err", err,
			)
			w.reopenLater(g)
		}
	}
	g.fsm.life, g.fsm.end = context.WithCancel(context.Background()) //nolint:forbidigo // ends with the group
	var err error
	if g.log, err = raftlog.OpenGroupLog(w.cfg.Storage.Log(), id); err != nil {
		return nil, err
	}
	g.log.Logs.Failed = w.logFailed
	g.log.Marks.Manifest = g.manifest
	g.fsm.applied.Store(g.log.Marks.Index.Load())
	if err := g.log.Mend(); err != nil {
		return nil, fmt.Errorf("cluster: start group %d: %w", id, err)
	}
	if id != wire.MetaGroup {
		shard := w.machines[id-1]
		shard.FromPeer = func(id storage.StoreID) bool {
			return w.peers != nil && !g.alone.Load() && !w.mender.lacks(id)
		}
		if err := shard.ApplyAside(g.log.Marks.Index.Load()); err != nil {
			return nil, fmt.Errorf("cluster: start group %d: %w", id, err)
		}
	}
	conf := raftConfig(w.identity.Server)
	conf.Logger = raftlog.NewLogger(w.cfg.Logger, id)
	if g.ballot, err = newBallot(g, g.log.Stable); err != nil {
		return nil, err
	}
	transport := w.transports.group(id, w.identity.Server)
	closed := func() error { return nil }
	if w.peers != nil {
		watched := newHeartbeats(transport, g, g.ballot)
		transport, closed = watched, watched.Close
	}
	g.raft, err = raft.NewRaft(conf, g.fsm, g.log.Logs, g.log.Stable, g.log.Marks, transport)
	if err != nil {
		err = errors.Join(err, closed())
		return nil, fmt.Errorf("cluster: start group %d: %w", id, err)
	}
	g.log.Logs.Seam.Raft.Store(g.raft)
	g.opened.Store(true)
	g.readVoters()
	go g.complete()
	go g.watch()
	if g.alone.Load() {
		g.campaign()
	}
	return g, nil
}

// configured takes note of a membership that was agreed on; the state machine calls it.
func (g *group) configured(index uint64) {
	g.log.ConfIndex.Store(index)
	if g.opened.Load() { // else openGroup looks when raft is there
		g.readVoters()
	}
}

// readVoters notes who votes, by the newest membership there is.
func (g *group) readVoters() {
	var voters []raft.ServerID
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters = append(voters, s.ID)
		}
	}
	g.setVoters(voters)
}

// campaign makes a group of one elect itself now instead of after one to two
// heartbeat times: shortening the timeout makes a follower's timer fire, and it
// has never heard of a leader.
func (g *group) campaign() {
	rc := g.raft.ReloadableConfig()
	longer := wire.ElectionTimeout + 10*time.Millisecond
	rc.HeartbeatTimeout, rc.ElectionTimeout = longer, longer
	up := rc
	rc.HeartbeatTimeout, rc.ElectionTimeout = wire.ElectionTimeout, wire.ElectionTimeout
	for _, c := range []raft.ReloadableConfig{up, rc} {
		if err := g.raft.ReloadConfig(c); err != nil {
			//nolint:forbidigo // they are constants above
			panic(fmt.Sprintf("cluster: raft refuses its own configuration: %v", err))
		}
	}
}

// watch follows the group's leadership. A new leader is ready once a barrier, an
// entry of its own term, is applied: raft's AppliedIndex would only say that
// entries were handed over.
func (g *group) watch() {
	defer close(g.unwatched)
	changes := make(chan raft.Observation, 1) // what does not fit says the same
	observer := raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		_, leader := o.Data.(raft.LeaderObservation)
		return leader
	})
	g.raft.RegisterObserver(observer)
	defer g.raft.DeregisterObserver(observer)
	for {
		select {
		case <-changes:
			g.leaderless() // notes it
			g.node.changes.wake()
		case leader := <-g.raft.LeaderCh():
			g.resign()
			if !leader {
				// It elects itself again after one to two time-outs. At once would be a busy loop
				// while the cause lasts.
				g.node.changes.wake()
				continue
			}
			term := g.raft.CurrentTerm()
			if err := g.raft.Barrier(0).Error(); err != nil {
				continue // leadership lost again: LeaderCh tells
			}
			g.readVoters()
			g.wary.Store(false)
			g.assume(term)
		case <-g.unwatch:
			return
		}
	}
}

// handOver makes another voter the leader: the one that has applied the most, unless one
// is named. The node stops answering before it begins, since followers vote for the other
// one although they hear from this one.
func (g *group) handOver(to wire.ServerID) error {
	if to != "" && !g.node.stays(to) {
		return wire.NotApplied(fmt.Errorf("group %d: %q is not there, or about to stop: %w", g.id, to, wire.ErrNotReady))
	}
	term := g.resign()
	if term == 0 {
		return wire.NotApplied(wire.ErrNotLeader)
	}
	if f := g.node.cfg.OnHandOver; f != nil && g.id != wire.MetaGroup {
		f(g.id)
	}
	g.settle(term)
	defer g.proposals.resume()
	// That took time: another node may have led meanwhile, and this one again. What it
	// answers for now was not meant, and it has not stopped answering.
	if g.raft.State() != raft.Leader || g.raft.CurrentTerm() != term {
		return wire.NotApplied(wire.ErrNotLeader)
	}
	var err error
	if to == "" {
		err = g.raft.LeadershipTransfer().Error()
	} else {
		err = g.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(to)).Error()
	}
	if err == nil {
		return nil
	}
	g.wary.Store(true) // it may have been asked, and take its time
	if !g.node.isClosing() && g.raft.State() == raft.Leader && g.raft.CurrentTerm() == term {
		g.assume(term) // if that has just ended, watch is about to hear of it
	}
	return fmt.Errorf("hand over group %d: %w", g.id, err)
}

// settle refuses new proposals and waits for those under way: raft would answer them as
// lost with the leadership, and nobody could say whether they took effect. They need one
// round to a majority. Where that does not come within LeaderLease there is no majority,
// unless one keeps answering this term's heartbeats, which need no disk.
func (g *group) settle(term uint64) {
	g.proposals.pause()
	for began := g.node.elapsed(); ; {
		left := g.proposals.underWay()
		took := g.node.elapsed() - began
		if left == 0 || took >= settleMost || took >= wire.LeaderLease && !g.heard(term) {
			return
		}
		timer := g.node.cfg.Clock.NewTimer(settlePause)
		select {
		case <-timer.C():
		case <-g.node.closing:
			timer.Stop()
			return
		}
	}
}

// ready reports whether the node has what the group has agreed on: as its leader,
// or as a follower that has heard from one.
func (g *group) ready() bool {
	if g.leading.Load() != 0 {
		return true
	}
	if _, leader := g.raft.LeaderWithID(); leader == "" || wire.ServerID(leader) == g.node.identity.Server {
		return false
	}
	committed := g.raft.CommitIndex()
	return committed > 0 && g.raft.AppliedIndex() >= committed && !g.fsm.restoring.Load()
}

// close refuses new proposals and waits until all are answered, as raft does
// within its time-outs while it runs; only then it shuts raft down. The order
// matters: raft never answers what is in its channels when it stops.
func (g *group) close() {
	g.proposals.shut()

	// A state machine that halted answers nothing more. Its process is ending; a
	// test's is not, so everybody gets the one true answer.
	select {
	case <-g.completed:
	case <-g.node.halted:
	}
	close(g.unwatch)
	g.fsm.end()
	select {
	case <-g.unwatched:
	case <-g.node.halted:
	}
	g.resign()
	_ = g.raft.Shutdown().Error() // waits; never fails
	g.proposals.abandon()
}

// lead returns nil while this node may answer for the group, which may be on another
// one.
func (g *group) lead() error {
	if g == nil {
		return wire.ErrNotLeader
	}
	return g.holds()
}

// fresh reports whether the replica began with nothing and does not know its group
// yet; see ballot. It must not become a voter before.
func (g *group) fresh() bool { return g.ballot.fresh.Load() }

// status reports the group.
func (g *group) status() GroupStatus {
	_, leader := g.raft.LeaderWithID()
	return GroupStatus{
		Group:    g.id,
		Leader:   wire.ServerID(leader),
		Leading:  g.leading.Load() != 0,
		Term:     g.raft.CurrentTerm(),
		Last:     g.raft.LastIndex(),
		Applied:  g.fsm.applied.Load(),
		Restores: g.fsm.restoring.Load(),
		Fresh:    g.fresh(),
		Snapshot: g.log.Marks.Index.Load(),
		LogBytes: g.fsm.logBytes.Load(),
		InFlight: g.proposals.underWay(),
	}
}

// bootstrap writes the membership, this server alone, as the first entry of a
// new group's log. It is only called while a data directory is being created; a
// creation that was killed half way is taken up again, and raft would then
// refuse a group that has a term but no membership, so such a term is cleared.
// Nobody can have voted or proposed in it.
func bootstrap(log *storage.Log, id uint32, self wire.ServerID) error {
	logs, stable := &raftlog.LogStore{Log: log, Group: id}, &raftlog.StableStore{Log: log, Group: id}
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
	marks, err := raftlog.OpenMarkers(stable)
	if err != nil {
		return err
	}
	alone := raft.Configuration{
		Servers: []raft.Server{{Suffrage: raft.Voter, ID: raft.ServerID(self), Address: raft.ServerAddress(self)}},
	}
	transport := soloTransports{}.group(id, self)
	err = raft.BootstrapCluster(raftConfig(self), logs, stable, marks, transport, alone)
	if errors.Is(err, raft.ErrCantBootstrap) {
		err = fmt.Errorf(
			"the data directory is not new, but says not whose it is: it is damaged, or files of it are missing (%w)", err,
		)
	}
	if err != nil {
		return fmt.Errorf("cluster: create group %d: %w", id, err)
	}
	return nil
}

// hold keeps what comes behind a marker in the log until release is called.
func (g *group) hold(index uint64) (release func()) {
	return g.log.Trail.Hold(index, g.fsm.seen.Load())
}

// cut deletes entries that are in the stores' files and that nobody may want. Up
// to upTo it does not ask: what was erased has to go, and who still wants it gets
// the stores instead.
func (g *group) cut(upTo uint64) error {
	g.log.Trail.Cutting.Lock()
	defer g.log.Trail.Cutting.Unlock()
	marker, seen := g.log.Marks.Index.Load(), g.fsm.seen.Load()
	to := marker
	if !g.alone.Load() {
		g.log.Trail.Mark(marker, seen-g.fsm.logBytes.Load())
		to = max(g.log.Trail.End(seen), min(upTo, marker))
	}
	first, err := g.log.Logs.FirstIndex()
	if err != nil || first == 0 || first > to {
		return err
	}
	last, err := g.log.Logs.LastIndex()
	if err != nil {
		return err
	}
	if err := g.log.Logs.DeleteRange(first, min(to, last)); err != nil {
		return fmt.Errorf("cluster: cut the log of group %d: %w", g.id, err)
	}
	return nil
}
