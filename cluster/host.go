package cluster

import (
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

	"orgmem/proto/clock"
	"orgmem/storage"
)

// ServerID names one node of a cluster, for ever: it is written into every
// group's membership and never used again by another machine.
type ServerID string

// Config says what a Host is made of. Storage, Clock and Logger are required.
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

	// OnLead is told when this node begins to lead a shard (Host.Lead says yes from
	// here on) and when it has ceased to. Calls for one shard come one after the
	// other, from a goroutine of the host; until it returns the shard's next change is
	// not noticed. It is also called for what the node leads soon after Start, perhaps
	// before Start has returned. Nil: nobody wants to know.
	OnLead func(shard uint32, leads bool)

	// Shards is the number of shard groups, fixed when the data directory is
	// created. 0 takes what the directory has, or DefaultShards for a new one.
	Shards int
	// Server is this node's id, fixed when the data directory is created. Empty
	// takes what the directory has, or draws one from Random for a new one.
	Server ServerID
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
	if c.Shards < 0 || c.Shards > maxShards {
		errs = append(errs, fmt.Errorf("cluster: Config.Shards is %d, want 0 to %d", c.Shards, maxShards))
	}
	if c.CompactBytes < 0 || c.CompactTotalBytes < 0 || c.CompactAge < 0 {
		errs = append(errs, errors.New("cluster: negative compaction limit"))
	}
	if len(errs) > 0 {
		return c, errors.Join(errs...)
	}
	if c.Fatal == nil {
		logger := c.Logger
		c.Fatal = func(msg string) {
			logger.Error("cluster: stopping the process", "cause", msg)
			os.Exit(70) // EX_SOFTWARE, as storage does
		}
	}
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
	cfg        Config
	identity   identity
	transports transports
	directory  *Directory
	groups     []*group  // by number; set before Start returns, then constant
	machines   []*stores // of the shards: group number less one
	compactor  *compactor
	eraser     *eraser // nil until the groups are open

	inFlightBytes atomic.Int64 // of all groups
	logBytes      atomic.Int64 // of all groups, since their markers
	stats         counters

	mu        sync.Mutex
	readyWait chan struct{} // closed and replaced when a group becomes ready

	haltOnce sync.Once
	halted   chan struct{} // closed when a state machine has stopped

	closeOnce sync.Once
	closing   chan struct{}      // closed when Close has begun
	sweepStop context.CancelFunc // ends sweep
	swept     chan struct{}      // closed when sweep has ended
}

// Start creates the groups on the first start, else reopens them, and lets them
// elect themselves. It returns once they run; WaitReady tells when they have
// applied what their logs held. It refuses to start with a number of shards
// (ErrShardCount) or a server id (ErrServerID) other than the directory's. The
// context bounds Start only.
func Start(ctx context.Context, cfg Config) (*Host, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Host{
		cfg:        cfg,
		transports: soloTransports{},
		readyWait:  make(chan struct{}),
		halted:     make(chan struct{}),
		closing:    make(chan struct{}),
		swept:      make(chan struct{}),
	}
	if h.identity, err = establish(ctx, cfg, h.transports); err != nil {
		return nil, err
	}
	h.compactor = newCompactor(h)
	if h.directory, err = openDirectory(h); err != nil {
		return nil, err
	}
	if err := h.openGroups(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.compactor.start()
	h.startSweep(ctx)
	h.eraser = startEraser(ctx, h)
	return h, nil
}

// openGroups starts all groups side by side, so that their first writes share
// fsyncs.
func (h *Host) openGroups(ctx context.Context) error {
	h.groups = make([]*group, 1+h.identity.Shards)
	h.machines = make([]*stores, h.identity.Shards)
	for i := range h.machines {
		h.machines[i] = newStores(uint32(i+1), h.identity.Shards, h.cfg.Storage)
	}
	return each(len(h.groups), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var m machine = h.directory
		if uint32(i) != metaGroup {
			m = h.machines[i-1]
		}
		var err error
		h.groups[i], err = openGroup(h, uint32(i), m)
		return err
	})
}

// Close refuses new proposals, answers those in flight, flushes the stores so
// that the next start has nothing to replay, and stops the groups. It waits and
// may be called twice. An error means that some stores could not be flushed;
// nothing is lost, since the log has it.
func (h *Host) Close() error {
	var err error
	h.closeOnce.Do(func() {
		close(h.closing)
		if h.sweepStop != nil {
			h.sweepStop()
			<-h.swept
		}
		if h.eraser != nil {
			h.eraser.stop()
		}
		err = h.compactor.stop()
		var wg sync.WaitGroup
		for _, g := range h.groups {
			if g != nil {
				wg.Go(g.close)
			}
		}
		wg.Wait()
		if h.directory != nil {
			h.directory.close()
		}
	})
	return err
}

// Ready returns nil when every group is led by this node and has applied all
// that its log held when it was elected, else ErrNotReady naming a group.
func (h *Host) Ready() error {
	for _, g := range h.groups {
		if g.leading.Load() == 0 {
			return fmt.Errorf("group %d of %d: %w", g.id, len(h.groups), ErrNotReady)
		}
	}
	return nil
}

// WaitReady waits until Ready returns nil or the context ends.
func (h *Host) WaitReady(ctx context.Context) error {
	for {
		h.mu.Lock()
		wait := h.readyWait
		h.mu.Unlock()
		err := h.Ready()
		if err == nil {
			return nil
		}
		select {
		case <-wait:
		case <-h.halted:
			return errHalted
		case <-h.closing:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

// notifyReady wakes WaitReady to look again.
func (h *Host) notifyReady() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.readyWait)
	h.readyWait = make(chan struct{})
}

// halt is a group's word that it cannot go on.
func (h *Host) halt(msg string) {
	h.haltOnce.Do(func() { close(h.halted) })
	h.cfg.Fatal(msg)
}

// logFailed is called when the log refuses an append. What storage knows to be
// bad for the disk has stopped the process before; what is left is a broken
// invariant (a gap in a log), after which no entry's place is certain.
func (h *Host) logFailed(group uint32, err error) {
	h.halt(fmt.Sprintf("cluster: group %d cannot append to its log: %v", group, err))
}

// Server returns this node's id.
func (h *Host) Server() ServerID { return h.identity.Server }

// Shards returns the number of shard groups.
func (h *Host) Shards() int { return h.identity.Shards }

// shard returns the group of a store's organization.
func (h *Host) shard(id storage.StoreID) *group {
	return h.groups[shardOf(id.Org, h.identity.Shards)]
}

// Compact flushes the stores of an organization's shard and cuts the shard's
// log up to now, so that no replay meets what was erased from a store. The cut
// entries' bytes leave the disk with storage.Log.Erase; Erase does all of it. It
// returns when the cut is done; the context only keeps it from beginning.
func (h *Host) Compact(ctx context.Context, id storage.StoreID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.compactor.compact(h.shard(id))
}

// each runs f for 0 to n-1 side by side and joins the errors. n is the number of
// groups, which is bounded.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
