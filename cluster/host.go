package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Config says what a Host is made of. Storage, Clock and Logger are required. Large because
// each field is one thing that a host is given or one bound of it, and is argued for here.
type Config struct {
	// Storage is the node's stores and raft log. The host does not close it.
	Storage *storage.Node
	// Clock measures the age of what is not yet compacted.
	Clock clock.Clock
	// Logger receives what raft and the host report.
	Logger *slog.Logger
	// Fatal stops the process; it must not return. It is called when the state
	// machine cannot go on without lying: an unreadable log entry, a failed apply.
	// Nil logs the message and exits with status 70.
	Fatal func(msg string)

	// Network connects this node with the others; the host does not close it. Nil is
	// a node alone, which answers as long as it is the only voter of its groups.
	Network *mesh.Network
	// Join says that a new data directory waits to be added to the groups of a
	// cluster instead of being one. It needs Server and Shards, which the cluster
	// gives. It has no effect on a directory that exists.
	Join bool
	// TransferRate is how many bytes of stores the node sends to others per second.
	// 0 is DefaultTransferRate, negative no limit.
	TransferRate int64

	// GoneAfter is how long a node may be away before the controller makes its
	// replicas anew on others. 0 is ten minutes: a machine restarts in less, and
	// copying its data takes longer. All nodes should have the same.
	GoneAfter time.Duration

	// OnLead is called when this node begins to lead a shard (Host.Lead says yes from
	// here on) and when it has ceased to. Calls for one shard come one after the other,
	// from a goroutine of the host, which it must not block. It is also called for what
	// the node leads soon after Start, perhaps before Start has returned. Nil is not
	// called.
	OnLead func(shard uint32, leads bool)
	// OnHandOver is called when this node is about to give a shard to another one, by a
	// drain or to level, behind OnLead's word that it leads no more and before its last
	// proposals are waited for: what it has answered and not written yet can be written
	// now. Nobody answers for the shard until it returns, so it must within LeaderLease.
	// It is called by the goroutine that hands over. Nil: there is nothing to write.
	OnHandOver func(shard uint32)

	// Shards is the number of shard groups, fixed when the data directory is
	// created. 0 takes what the directory has, or DefaultShards for a new one.
	Shards int
	// Server is this node's id, fixed when the data directory is created. Empty
	// takes what the directory has, or draws one from Random for a new one.
	Server wire.ServerID
	// Random is read once, when a new directory gets its id. Nil is crypto/rand.
	Random io.Reader

	// CompactBytes is how many bytes of log a group may gather before its stores
	// are flushed and its log is cut. 0 is 8 MiB: large enough that a busy
	// organization's memtable would flush at about that size anyway, small enough
	// that a restart replays a group in well under a second.
	CompactBytes int64
	// CompactTotalBytes is the same for all groups of the node together; the
	// largest is compacted first. 0 is 64 MiB, which bounds what a restart replays
	// and holds in memory meanwhile.
	CompactTotalBytes int64
	// CompactAge is how long an entry may stay in a log although its group is
	// quiet. 0 is one minute: a restart has to open every store that the logs
	// mention (about 20 ms each), so logs of sleeping groups should be empty.
	CompactAge time.Duration

	// recovering are the groups that are opened, and no other, while Recover works.
	recovering []uint32

	peers peers // a test's network in the place of Network
	// speaks is ProtocolVersion and needs the function of that name; tests have other
	// programs.
	speaks uint32
	needs  func(*pb.Command) uint32
	// maxKeys is MaxKeys and maxKeysPerOrg the constant; less in tests.
	maxKeys, maxKeysPerOrg int
}

// withDefaults checks the configuration and fills in what is zero.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	if c.Storage == nil {
		errs = append(errs, errors.New("cluster: Config.Storage is nil"))
	}
	if c.Clock == nil {
		errs = append(errs, errors.New("cluster: Config.Clock is nil"))
	}
	if c.Logger == nil {
		errs = append(errs, errors.New("cluster: Config.Logger is nil"))
	}
	if c.Shards < 0 || c.Shards > wire.MaxShards {
		errs = append(errs, fmt.Errorf("cluster: Config.Shards is %d, want 0 to %d", c.Shards, wire.MaxShards))
	}
	if c.CompactBytes < 0 || c.CompactTotalBytes < 0 || c.CompactAge < 0 {
		errs = append(errs, errors.New("cluster: negative compaction limit"))
	}
	if c.GoneAfter < 0 {
		errs = append(errs, errors.New("cluster: negative Config.GoneAfter"))
	}
	if c.Join && (c.Server == "" || c.Shards == 0) {
		errs = append(errs, errors.New("cluster: Config.Join without Server and Shards"))
	}
	if len(errs) > 0 {
		return c, errors.Join(errs...)
	}
	if c.Network != nil {
		c.peers = meshPeers{c.Network, c.Logger}
	}
	if c.TransferRate == 0 {
		c.TransferRate = DefaultTransferRate
	}
	if c.Fatal == nil {
		logger := c.Logger
		c.Fatal = func(msg string) {
			logger.Error("cluster: stopping the process", "cause", msg)
			os.Exit(70) // EX_SOFTWARE, as storage does
		}
	}
	if c.speaks == 0 {
		c.speaks = wire.ProtocolVersion
	}
	if c.needs == nil {
		c.needs = wire.Needs
	}
	c.maxKeys, c.maxKeysPerOrg = cmp.Or(c.maxKeys, state.MaxKeys), cmp.Or(c.maxKeysPerOrg, state.MaxKeysPerOrg)
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.CompactBytes == 0 {
		c.CompactBytes = defaultCompactBytes
	}
	if c.CompactTotalBytes == 0 {
		c.CompactTotalBytes = defaultCompactTotalBytes
	}
	if c.CompactAge == 0 {
		c.CompactAge = defaultCompactAge
	}
	return c, nil
}

// Host runs the raft groups of one node. All methods may be called from any
// goroutine.
type Host struct {
	cfg          Config
	identity     identity
	transports   transports
	peers        peers // nil: a node alone
	directory    *state.Directory
	barrier      barrier                         // of freshMeta
	groups       []atomic.Pointer[group]         // by number; nil: not on this node
	hints        []atomic.Pointer[wire.ServerID] // who leads the groups that are not on this node
	machines     []*state.Stores                 // of the shards: group number less one
	compactor    *compactor
	eraser       *eraser // nil until the groups are open
	started      time.Time
	caughtUp     atomic.Bool // Ready was nil once; see Serves
	steppingDown atomic.Bool // StepDown has begun: no group is taken over

	pacer    *mesh.Pacer
	fetching chan struct{} // one for each store that is being fetched
	serving  chan struct{} // one for each connection on which stores are sent

	inFlightBytes atomic.Int64 // of all groups
	logBytes      atomic.Int64 // of all groups, since their markers
	stats         counters

	mu        sync.Mutex
	readyWait chan struct{} // closed and replaced when a group becomes ready, or its leader changes

	haltOnce sync.Once
	halted   chan struct{} // closed when a state machine has stopped

	closeOnce sync.Once
	closing   chan struct{}      // closed when Close has begun
	sweepStop context.CancelFunc // ends sweep
	swept     chan struct{}      // closed when the first sweep is over
	// sweepEnded is closed when there will be no more of them.
	sweepEnded chan struct{}
	hosting    *hosting    // nil for a node alone
	controller *controller // nil for a node alone
}

// Start creates the groups on the first start, else reopens them, and lets those
// that have no other voter elect themselves. It returns once they run; WaitReady
// tells when they have applied what their logs held. It refuses to start with a
// number of shards (ErrShardCount) or a server id (ErrServerID) other than the
// directory's, and on a directory of a cluster that speaks a later version
// (ErrOutdated). The context bounds Start only.
func Start(ctx context.Context, cfg Config) (*Host, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Host{
		cfg:        cfg,
		transports: soloTransports{},
		peers:      cfg.peers,
		started:    cfg.Clock.Now(),
		pacer:      mesh.NewPacer(cfg.Clock, cfg.TransferRate),
		fetching:   make(chan struct{}, fetchStreams),
		serving:    make(chan struct{}, serveStreams),
		readyWait:  make(chan struct{}),
		halted:     make(chan struct{}),
		closing:    make(chan struct{}),
		swept:      make(chan struct{}),
		sweepEnded: make(chan struct{}),
	}
	if h.peers != nil {
		h.transports, h.hosting = h.peers, newHosting(h)
	}
	if h.identity, err = establish(ctx, cfg); err != nil {
		return nil, err
	}
	h.groups = make([]atomic.Pointer[group], 1+h.identity.Shards)
	h.hints = make([]atomic.Pointer[wire.ServerID], len(h.groups))
	h.machines = make([]*state.Stores, h.identity.Shards)
	for i := range h.machines {
		h.machines[i] = state.NewStores(uint32(i+1), h.identity.Shards, h.cfg.Storage)
	}
	h.compactor = newCompactor(h)
	if h.directory, err = state.OpenDirectory(h.directoryConfig()); err != nil {
		return nil, err
	}
	if v := h.Meta().Version(); v > cfg.speaks {
		h.directory.Close()
		return nil, fmt.Errorf("cluster: %w", wire.Outdated(v, cfg.speaks))
	}
	if err := h.openGroups(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.compactor.start()
	h.startSweep(ctx)
	h.eraser = startEraser(ctx, h)
	if h.peers != nil {
		h.serve()
		h.hosting.start(ctx)
	}
	if n := cfg.Network; n != nil {
		h.controller = startController(ctx, h, n.Members)
	}
	return h, nil
}

// directoryConfig is what the directory needs of the host.
func (h *Host) directoryConfig() state.DirectoryConfig {
	return state.DirectoryConfig{
		Storage: h.cfg.Storage, Clock: h.cfg.Clock, Logger: h.cfg.Logger, Halt: h.halt,
		Shards: h.identity.Shards, Speaks: h.cfg.speaks, MaxKeys: h.cfg.maxKeys, MaxKeysPerOrg: h.cfg.maxKeysPerOrg,
		Propose: func(ctx context.Context, cmd *pb.Command) error {
			return h.proposeAnywhere(ctx, wire.MetaGroup, cmd)
		},
		RemoveStores: h.removeStores, Fresh: h.freshMeta,
	}
}

// openGroups starts all groups of this node side by side, so that their first
// writes share fsyncs.
func (h *Host) openGroups(ctx context.Context) error {
	if h.peers != nil {
		if err := clock.Wait(ctx, h.cfg.Clock, h.forgotten()); err != nil {
			return err
		}
	}
	return inParallel(len(h.groups), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !h.wants(uint32(i)) {
			return nil
		}
		return h.openGroup(uint32(i))
	})
}

// openGroup opens one group.
func (h *Host) openGroup(id uint32) error {
	var m state.Machine = h.directory
	if id != wire.MetaGroup {
		m = h.machines[id-1]
	}
	g, err := openGroup(h, id, m)
	if err == nil {
		h.groups[id].Store(g)
		h.notifyReady()
	}
	return err
}

// group returns a group, nil when it is not on this node.
func (h *Host) group(id uint32) *group {
	if int(id) >= len(h.groups) {
		return nil
	}
	return h.groups[id].Load()
}

// hosted returns the groups that are on this node, by number.
func (h *Host) hosted() []*group {
	groups := make([]*group, 0, len(h.groups))
	for i := range h.groups {
		if g := h.groups[i].Load(); g != nil {
			groups = append(groups, g)
		}
	}
	return groups
}

// Close refuses new proposals, hands leadership over where there is somebody to
// take it, answers the proposals in flight, flushes the stores so that the next
// start has nothing to replay, and stops the groups. It waits and may be called
// twice. An error means that some stores could not be flushed; nothing is lost,
// since the log has it.
func (h *Host) Close() error {
	var err error
	h.closeOnce.Do(func() {
		close(h.closing)
		if h.controller != nil {
			h.controller.stop()
		}
		if h.hosting != nil {
			h.hosting.stop()
		}
		var wg sync.WaitGroup
		for _, g := range h.hosted() {
			g.fsm.end() // a transfer that nobody waits for any more
			if !g.alone.Load() {
				// A failure costs the others the time to notice, as a crash would.
				wg.Go(func() { _ = g.handOver("") })
			}
		}
		wg.Wait()
		if h.sweepStop != nil {
			h.sweepStop()
			<-h.sweepEnded
		}
		if h.eraser != nil {
			h.eraser.stop()
		}
		err = h.compactor.stop()
		for _, g := range h.hosted() {
			wg.Go(g.close)
		}
		wg.Wait()
		if h.directory != nil {
			h.directory.Close()
		}
	})
	return err
}

// Ready returns nil when every group of this node has caught up: it is led by
// this node, which has applied all that its log held when it was elected, or by
// another one, and this node has what was agreed on. Else it is ErrNotReady naming
// a group. Shards in which it has no vote (yet) do not count: they come and go while
// the controller works, and nobody waits for this node's copy.
func (h *Host) Ready() error {
	if h.peers != nil && h.group(wire.MetaGroup) == nil {
		return fmt.Errorf("the meta group is being opened again: %w", wire.ErrNotReady)
	}
	for _, g := range h.hosted() {
		if !g.ready() && (g.id == wire.MetaGroup || g.votes()) {
			return fmt.Errorf("group %d of %d: %w", g.id, len(h.groups), wire.ErrNotReady)
		}
	}
	return nil
}

// sweepable is Ready for the sweep: without others it waits for all groups; with
// others some may be without a leader for long.
func (h *Host) sweepable() error {
	if h.peers == nil {
		return h.Ready()
	}
	if g := h.group(wire.MetaGroup); g == nil || !g.ready() {
		return wire.ErrNotReady
	}
	return nil
}

// readyPoll is how often WaitReady looks again where there are others: that a
// follower has caught up with its leader nobody tells.
const readyPoll = 50 * time.Millisecond

// WaitReady waits until Ready returns nil or the context ends.
func (h *Host) WaitReady(ctx context.Context) error { return h.waitReady(ctx, h.Ready) }

func (h *Host) waitReady(ctx context.Context, ready func() error) error {
	for {
		changed := h.LeadersChanged()
		err := ready()
		if err == nil {
			return nil
		}
		if err := h.await(ctx, changed, err); err != nil {
			return err
		}
	}
}

// await waits for a change, or where there are others for a moment; why is what
// keeps the caller waiting.
func (h *Host) await(ctx context.Context, changed <-chan struct{}, why error) error {
	var poll <-chan time.Time
	if h.peers != nil {
		timer := h.cfg.Clock.NewTimer(readyPoll)
		defer timer.Stop()
		poll = timer.C()
	}
	select {
	case <-changed:
		return nil
	case <-poll:
		return nil
	case <-h.halted:
		return errHalted
	case <-h.closing:
		return wire.ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", why, ctx.Err())
	}
}

// LeadersChanged returns a channel that is closed when this node notices that
// some group has another leader, or none, or is ready. Take it before looking.
func (h *Host) LeadersChanged() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readyWait
}

// notifyReady wakes those who wait for LeadersChanged.
func (h *Host) notifyReady() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.readyWait)
	h.readyWait = make(chan struct{})
}

// halt is a group's word that it cannot go on.
func (h *Host) halt(msg string) {
	// In this order: the goroutines that wait must not end the process with other words.
	h.cfg.Fatal(msg)
	h.haltOnce.Do(func() { close(h.halted) })
}

// logFailed is called when the log refuses an append. What storage knows to be
// bad for the disk has stopped the process before; what is left is a broken
// invariant (a gap in a log), after which no entry's place is certain.
func (h *Host) logFailed(group uint32, err error) {
	h.halt(fmt.Sprintf("cluster: group %d cannot append to its log: %v", group, err))
}

// Server returns this node's id.
func (h *Host) Server() wire.ServerID { return h.identity.Server }

// Shards returns the number of shard groups.
func (h *Host) Shards() int { return h.identity.Shards }

// shard returns the group of a store's organization, nil when it is not on this
// node.
func (h *Host) shard(id storage.StoreID) *group { return h.group(h.Shard(id.Org)) }

// Compact flushes the stores of an organization's shard and cuts the shard's
// log up to now, so that no replay meets what was erased from a store. The cut
// entries' bytes leave the disk with storage.Log.Erase; Erase does all of it. It
// returns when the cut is done; the context only keeps it from beginning. A shard
// that is not on this node is ErrNotLeader.
func (h *Host) Compact(ctx context.Context, id storage.StoreID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := h.shard(id)
	if g == nil {
		return wire.ErrNotLeader
	}
	return h.compactor.compactTo(g, g.fsm.applied.Load())
}

// inParallel runs f for 0 to n-1 side by side and joins the errors. n is the number of
// groups, which is bounded.
func inParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Directory returns the host's directory.
func (h *Host) Directory() *state.Directory { return h.directory }

// Meta returns the host's copy of what the cluster knows of itself.
func (h *Host) Meta() *state.Meta { return h.directory.Meta() }
