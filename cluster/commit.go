package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/plan"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxGroupInFlight bounds the unanswered proposals of one group. 512 keep the
	// disk busy with group commits far above what two cores can produce, and are
	// at most a few milliseconds of work to fail when leadership is lost.
	maxGroupInFlight = plan.CatchUpTail // which has to count as caught up
	// maxGroupInFlightBytes bounds their bytes: two commands of the largest size,
	// one being written while the next one is read in.
	maxGroupInFlightBytes = 2 * storage.MaxBatchBytes
	// maxNodeInFlightBytes bounds them over all groups, since 33 groups times the
	// group's bound would be more memory than a small machine has.
	maxNodeInFlightBytes = 4 * storage.MaxBatchBytes
)

// Lease is the right to write one store: the epoch of the OPEN that gave it and
// the version that the next write expects.
type Lease struct {
	Epoch, Version uint64
}

// Next is the lease after one more write: {Epoch, Version+1}. Proposals are
// pipelined by using it before the first one is answered.
func (l Lease) Next() Lease { return Lease{Epoch: l.Epoch, Version: l.Version + 1} }

// OpenStore makes the caller the only writer of a store, which comes into being
// if it does not exist: it proposes OPEN, whose log index becomes the store's
// epoch, and returns when that entry is applied. So it is the read barrier too:
// everything acknowledged before is in the store now, and nothing that was
// proposed under an older lease will ever enter it. Load state after it returns.
// It works on a full disk too, since reading must, and reading needs a lease as
// its barrier; its entry is some 40 bytes of what the watermark keeps free.
// Errors: ErrNotApplied, ErrRemoved, ErrOutcomeUnknown.
func (h *Host) OpenStore(ctx context.Context, id storage.StoreID) (Lease, error) {
	if err := state.CheckStore(id); err != nil {
		return Lease{}, wire.NotApplied(err)
	}
	cmd := &pb.Command{Kind: &pb.Command_Open{Open: &pb.OpenStore{Store: id.Ref()}}}
	r, err := h.shard(id).proposeAndWait(ctx, cmd)
	if err != nil {
		return Lease{}, fmt.Errorf("open store %v: %w", id, err)
	}
	return Lease{Epoch: r.Epoch, Version: r.Version}, nil
}

// Propose is ProposeAsync that waits. When the context ends first, the outcome
// is unknown.
func (h *Host) Propose(
	ctx context.Context, id storage.StoreID, lease Lease, batch *storage.Batch,
) (version uint64, err error) {
	type answer struct {
		version uint64
		err     error
	}
	answered := make(chan answer, 1)
	if err := h.ProposeAsync(ctx, id, lease, batch, func(version uint64, err error) {
		answered <- answer{version, err}
	}); err != nil {
		return 0, err
	}
	a := <-answered // done is always called: the context's end calls it too
	return a.version, a.err
}

// ProposeAsync is THE COMMIT: the one way in which a batch of changes to an
// organization's store becomes true. An acknowledgement, done(version, nil), is
// a promise that the batch survives everything but the loss of a majority of
// disks. These are its steps, in order; each gap between two of them has a crash
// test in crash_test.go, named here.
//
//  1. Admission. The store's id and the batch's size are checked, free disk space
//     is above the watermark (storage.Node.Writable: Pebble must never meet a full
//     disk, it would stop the process), and the group has room. A refusal here is
//     ErrNotApplied: nothing has happened.
//     TestNoSpaceRefusesBeforeTheLog, TestWhatIsDecidedIsFinishedBelowTheWatermark,
//     TestBusyIsRefused, TestBusyByBytes.
//  2. The batch, stamped with the caller's epoch and expected version, becomes one
//     entry of the shard's log. raft.Apply is called under the group's lock in call
//     order, so the order of calls for a store is the order of its entries.
//     TestPipelineKeepsOrder.
//  3. The log is written and fsynced, with the entries of all groups that are
//     waiting at that moment in one Pebble commit; and, with several voters, on a
//     majority of them. A failed write or fsync ends the process inside storage
//     before anybody is answered.
//     Crash between 2 and 3: TestCrashBeforeLogSync (entry may be gone; nobody was
//     told otherwise), TestProcessStopsRatherThanLie.
//  4. The entry is committed and reaches ApplyBatch on every replica. There, and
//     only there, it is decided: epoch and version of the store must be the
//     entry's. The log's order is the same everywhere, so the decision is, too. A
//     refusal is ErrFenced.
//     Crash between 3 and 4: TestCrashBeforeApply (replayed from the log).
//     TestSecondOpenFencesTheFirst.
//  5. The changes, the new version, the epoch and the entry's index are written to
//     the organization's Pebble store as one batch, in memory only: its WAL is off,
//     the log IS the WAL.
//     Crash between 4 and 5, or between 5 and the store's flush:
//     TestCrashAfterApplyReplays. Flushed in part, some stores but not others:
//     TestUnevenFlushesReplay. Replay over what is flushed: TestReplayIsIdempotent.
//  6. done(version, nil). Crash between 5 and 6: the effect is there and the client
//     was not told; its retry meets the idempotency record that was in the batch.
//     TestCrashBeforeAnswer.
//  7. Later, the log is cut: only up to a marker that was written and fsynced after
//     every store of the shard had been flushed.
//     Crash between flush, marker and cut: TestCrashAroundCompaction,
//     TestTruncationWaitsForStores.
//
// TestModel and TestKill go through all of them at random.
//
// Done is called exactly once, from a goroutine of the host, in the order of the
// calls for the group; it must not block. Its error is nil, ErrFenced, ErrRemoved,
// ErrNotApplied (the shard lost its leader before the entry entered the log) or
// ErrOutcomeUnknown, which it also is when the context ends first: then, and only
// then, done is called out of order, while the proposal goes on. An error of
// ProposeAsync itself is always ErrNotApplied, and done is not called.
//
// Calls for one store must come from one goroutine at a time. If a proposal of a
// pipeline is not applied, those after it are refused with ErrFenced, so a gap
// can never arise. The batch must not be changed after the call; its bytes are
// copied before ProposeAsync returns.
func (h *Host) ProposeAsync(
	ctx context.Context, id storage.StoreID, lease Lease, batch *storage.Batch, done func(version uint64, err error),
) error {
	return h.proposeAsync(ctx, id, lease, batch, h.cfg.Storage.Writable, done)
}

// FinishAsync is ProposeAsync for a batch that finishes what was decided upon while there
// was room, and without which the store could not be read, like the deletions of a purge
// that has begun. It is taken down to a quarter of the watermark
// (storage.Node.Finishable). The caller must not let requests decide how much it brings.
func (h *Host) FinishAsync(
	ctx context.Context, id storage.StoreID, lease Lease, batch *storage.Batch, done func(version uint64, err error),
) error {
	return h.proposeAsync(ctx, id, lease, batch, h.cfg.Storage.Finishable, done)
}

func (h *Host) proposeAsync(
	ctx context.Context, id storage.StoreID, lease Lease, batch *storage.Batch, room func() error,
	done func(version uint64, err error),
) error {
	if err := state.CheckStore(id); err != nil {
		return wire.NotApplied(err)
	}
	if batch.Store() != id {
		// Another organization's changes under this one's lease must not reach a log.
		//nolint:forbidigo // a caller's bug, not input
		panic(fmt.Sprintf("cluster: batch for %v proposed for %v", batch.Store(), id))
	}
	if err := batch.Check(); err != nil {
		return wire.NotApplied(err)
	}
	cmd := &pb.Command{Kind: &pb.Command_Write{Write: &pb.WriteStore{
		Store:           id.Ref(),
		Epoch:           lease.Epoch,
		ExpectedVersion: lease.Version,
		Changes:         batch.Changes(),
	}}}
	if err := room(); err != nil {
		return wire.NotApplied(err)
	}
	return h.shard(id).propose(ctx, cmd, func(r state.Result) { done(r.Version, r.Err) })
}

// proposeAndWait enters a command and waits for its result. The error is the
// proposal's or the result's.
func (g *group) proposeAndWait(ctx context.Context, cmd *pb.Command) (state.Result, error) {
	answered := make(chan state.Result, 1)
	if err := g.propose(ctx, cmd, func(r state.Result) { answered <- r }); err != nil {
		return state.Result{}, err
	}
	r := <-answered
	return r, r.Err
}

// propose does steps 1 to 3 for an encoded command, and arranges for the answer.
func (g *group) propose(ctx context.Context, cmd *pb.Command, answer func(state.Result)) error {
	if err := ctx.Err(); err != nil {
		return wire.NotApplied(err)
	}
	if g == nil { // the shard has no replica here
		return wire.NotApplied(wire.ErrNotLeader)
	}
	if err := g.node.allow(cmd); err != nil {
		return wire.NotApplied(err)
	}
	data, err := proto.Marshal(cmd)
	if err != nil { // invalid UTF-8 in a text field; storage.Batch has refused it before
		return wire.NotApplied(fmt.Errorf("encode command: %w", err))
	}
	p := &proposal{bytes: int64(len(data)), answer: answer}

	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return wire.NotApplied(wire.ErrClosed)
	}
	if g.handing {
		return wire.NotApplied(wire.ErrNotLeader)
	}
	if g.inFlight >= maxGroupInFlight || (g.inFlight > 0 && g.inFlightBytes+p.bytes > g.maxBytes) {
		g.node.stats.busy.Add(1)
		return wire.NotApplied(
			fmt.Errorf("group %d has %d proposals of %d bytes in flight: %w", g.id, g.inFlight, g.inFlightBytes, wire.ErrBusy),
		)
	}
	if n := g.node.inFlightBytes.Add(p.bytes); n > maxNodeInFlightBytes && n > p.bytes {
		g.node.inFlightBytes.Add(-p.bytes)
		g.node.stats.busy.Add(1)
		return wire.NotApplied(fmt.Errorf("node has %d bytes in flight: %w", n-p.bytes, wire.ErrBusy))
	}
	g.node.stats.proposed.Add(1)
	g.inFlight++
	g.inFlightBytes += p.bytes
	if ctx.Done() != nil {
		p.unwatch = context.AfterFunc(ctx, func() { p.finish(state.Result{Err: wire.Unknown(ctx.Err())}) })
	}
	// Neither line blocks: raft's channel (BatchApplyCh) and ours each have room for
	// every proposal that the bound above lets in.
	p.future = g.raft.Apply(data, 0)
	g.pending <- p
	return nil
}

// complete answers the group's proposals in order, until close has let the last
// one through.
func (g *group) complete() {
	defer close(g.completed)
	for p := range g.pending {
		g.current.Store(p)
		r := await(p.future)
		g.proposals.answered(p)
		g.node.inFlightBytes.Add(-p.bytes)
		if p.unwatch != nil {
			p.unwatch()
		}
		switch {
		case errors.Is(r.Err, wire.ErrFenced):
			g.node.stats.fenced.Add(1)
		case errors.Is(r.Err, wire.ErrOutcomeUnknown):
			g.node.stats.unknown.Add(1)
		}
		p.finish(r)
	}
}

// await turns raft's answer into a result.
func await(f raft.ApplyFuture) state.Result {
	if err := f.Error(); err != nil {
		return state.Result{Err: classify(err)}
	}
	r, ok := f.Response().(state.Result)
	if !ok {
		// The state machine halted while it held this entry: it may be applied when
		// the process starts again.
		return state.Result{Err: wire.Unknown(errHalted)}
	}
	r.Index = f.Index()
	return r
}

// classify maps raft's answer to a proposal to ours. The list of errors that
// prove "never entered the log" is closed: raft answers them before it hands
// the entry to the log store. ErrLeadershipLost, ErrRaftShutdown and errors of
// the log store all come after, when a copy may lie on some disk, so whatever is
// not on the list is unknown.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader),
		errors.Is(err, raft.ErrLeadershipTransferInProgress),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrNotLeader, err))
	default:
		return wire.Unknown(err)
	}
}
