package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// errHalted answers what reaches a state machine that has stopped.
var errHalted = errors.New("cluster: state machine has stopped")

// fsm connects a machine to raft. It is a raft.BatchingFSM.
type fsm struct {
	group   uint32
	machine state.Machine
	fatal   func(msg string)
	speaks  uint32 // the version up to which entries are understood
	progress
	logMeter

	// configured is called with every membership that the group has agreed on.
	configured func(index uint64)
	// fetch brings the machine's stores to what a manifest demands.
	fetch func(ctx context.Context, m *pb.StoreManifest, machine state.Machine) error
	// damaged is called when the machine cannot apply an entry because a store is damaged,
	// and other nodes have a copy. The group is closed, the store replaced and the group
	// opened again. Until then the state machine stands still, and the process does not end.
	damaged func(err error)
	// restored is called when a snapshot is complete; it publishes the marker.
	restored func(index uint64) error

	halted    atomic.Bool
	restoring atomic.Bool
	life      context.Context //nolint:containedctx // raft's Restore has none; closed by the group
	end       context.CancelFunc
}

var _ raft.BatchingFSM = (*fsm)(nil)

// progress is how far a state machine is.
type progress struct {
	applied atomic.Uint64 // index of the last entry whose effects are in the stores
	moved   broadcast     // of applied
}

// advance moves applied.
func (p *progress) advance(index uint64) {
	p.applied.Store(index)
	p.moved.wake()
}

// logMeter counts the bytes of the entries that were applied, by which the compactor
// decides when a log is cut.
type logMeter struct {
	logBytes atomic.Int64             // since the last marker
	seen     atomic.Int64             // of all entries
	total    *atomic.Int64            // logBytes of all groups
	grown    func(group, total int64) // called with both after each batch; quick
}

// add counts a batch.
func (m *logMeter) add(bytes int64) {
	m.seen.Add(bytes)
	m.grown(m.logBytes.Add(bytes), m.total.Add(bytes))
}

// marked takes off what a new marker covers.
func (m *logMeter) marked(bytes int64) {
	m.logBytes.Add(-bytes)
	m.total.Add(-bytes)
}

// reset takes off everything: the log was emptied or is here no more.
func (m *logMeter) reset() { m.total.Add(-m.logBytes.Swap(0)) }

// reached waits until the entry of an index is applied here.
func (f *fsm) reached(ctx context.Context, index uint64) error {
	for {
		moved := f.moved.wait()
		if f.applied.Load() >= index {
			return nil
		}
		select {
		case <-moved:
		case <-f.life.Done():
			return wire.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ApplyBatch is called with up to MaxAppendEntries committed entries. It decodes
// them, lets the machine apply them, and answers each. Whatever keeps it from
// doing so, a torn entry, a command of a newer version, a store that fails, stops
// the process: skipping an entry that other replicas apply would make two truths
// out of one.
func (f *fsm) ApplyBatch(logs []*raft.Log) (answers []any) {
	answers = make([]any, len(logs)) // nil: unanswered, which await takes for unknown
	if f.halted.Load() {
		return answers
	}
	defer func() {
		// A panic here would be raft's goroutine dying, which ends the process
		// anyhow; through fatal it ends with a message that names the group.
		if p := recover(); p != nil {
			f.halt(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	entries := make([]state.Entry, 0, len(logs))
	at := make([]int, 0, len(logs)) // position of each entry in logs
	var bytes int64
	var configured uint64
	for i, l := range logs {
		bytes += int64(len(l.Data))
		if l.Type == raft.LogConfiguration {
			configured = l.Index
		}
		if l.Type != raft.LogCommand { // membership: raft's own business
			continue
		}
		cmd := new(pb.Command)
		if err := proto.Unmarshal(l.Data, cmd); err != nil {
			f.halt(fmt.Sprintf("log entry %d is not a command: %v", l.Index, err))
			return answers
		}
		if cmd.GetNeeds() > f.speaks {
			f.halt(fmt.Sprintf("log entry %d: %v", l.Index, wire.Outdated(cmd.GetNeeds(), f.speaks)))
			return answers
		}
		entries = append(entries, state.Entry{Index: l.Index, Command: cmd})
		at = append(at, i)
	}
	results, err := f.machine.Apply(entries)
	if err == nil && len(results) != len(entries) {
		err = fmt.Errorf("%d results for %d entries", len(results), len(entries))
	}
	if errors.Is(err, storage.ErrOutOfService) && f.damaged != nil && f.group != wire.MetaGroup {
		f.halted.Store(true)
		f.damaged(err)
		return answers
	}
	if err != nil {
		f.halt(err.Error())
		return answers
	}
	for i, r := range results {
		answers[at[i]] = r
	}
	f.advance(logs[len(logs)-1].Index)
	if configured > 0 {
		f.configured(configured)
	}
	f.add(bytes)
	return answers
}

// halt stops the process. In a test's stand-in that returns, the machine at
// least never moves again and acknowledges nothing.
func (f *fsm) halt(why string) {
	f.halted.Store(true)
	f.fatal(fmt.Sprintf("cluster: group %d cannot apply its log: %s", f.group, why))
}

// Apply is ApplyBatch of one.
func (f *fsm) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// Snapshot flushes every store that has unflushed effects, before raft may write
// the marker that says so and cut the log. This is the last safe place: with the
// WAL of the stores off, an entry that is neither in a store's files nor in the
// log is lost. A flush that fails fails the snapshot; the log stays whole and the
// compactor tries again later.
func (f *fsm) Snapshot() (raft.FSMSnapshot, error) {
	if f.halted.Load() {
		return nil, errHalted
	}
	bytes := f.logBytes.Load()
	f.machine.Mark()
	if err := f.machine.Flush(); err != nil {
		return nil, fmt.Errorf("cluster: flush group %d: %w", f.group, err)
	}
	return flushed{f: f, bytes: bytes}, nil
}

// Restore brings the stores to where another node's are. raft calls it on a
// replica that misses entries which the leader's log has no more. The snapshot is
// only a manifest (see StoreManifest); each store that is behind it is fetched,
// and the marker is published when all of them are in their places, durably.
// Killed half way it has replaced some stores by newer ones, which is no harm:
// each says itself which entries it has. An error makes the leader try again.
func (f *fsm) Restore(r io.ReadCloser) error {
	if f.halted.Load() {
		return errHalted
	}
	f.restoring.Store(true)
	defer f.restoring.Store(false)
	b, err := io.ReadAll(io.LimitReader(r, raftlog.MaxManifestBytes+1))
	if err != nil {
		return fmt.Errorf("cluster: read manifest of group %d: %w", f.group, err)
	}
	m := new(pb.StoreManifest)
	if len(b) > raftlog.MaxManifestBytes {
		err = fmt.Errorf("more than %d bytes", raftlog.MaxManifestBytes)
	} else if err = proto.Unmarshal(b, m); err == nil && m.GetGroup() != f.group {
		err = fmt.Errorf("it is of group %d", m.GetGroup())
	}
	if err != nil {
		return fmt.Errorf("cluster: manifest of group %d: %w", f.group, err)
	}
	if err := f.fetch(f.life, m, f.machine); err != nil {
		return fmt.Errorf("cluster: restore group %d from %s: %w", f.group, m.GetSource(), err)
	}
	// The stores that were far enough may have it in memory only.
	if err := f.machine.Flush(); err != nil {
		return fmt.Errorf("cluster: flush group %d: %w", f.group, err)
	}
	if err := f.restored(m.GetIndex()); err != nil {
		return err
	}
	f.reset()
	f.advance(m.GetIndex())
	return nil
}

// flushed is the snapshot of a machine whose state is on disk already.
type flushed struct {
	f     *fsm
	bytes int64
}

// Persist has nothing left to write; the sink's Close publishes the marker.
func (s flushed) Persist(sink raft.SnapshotSink) error {
	if err := sink.Close(); err != nil {
		return err
	}
	s.f.marked(s.bytes)
	return nil
}

// Release does nothing.
func (flushed) Release() {}
