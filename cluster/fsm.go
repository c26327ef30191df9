package cluster

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// entry is one committed command, in log order.
type entry struct {
	index uint64
	cmd   *pb.Command
}

// result answers one entry. It is a function of the log alone: every replica,
// and every replay, comes to the same one.
type result struct {
	epoch   uint64
	version uint64
	err     error
}

// machine is what a group does with its entries: stores for a shard, Directory
// for the meta group.
type machine interface {
	// apply carries out entries in order and returns as many results. It is called
	// from one goroutine. Effects are idempotent under replay: an entry whose effect
	// is already in a store is skipped. An error means that the machine cannot go
	// on.
	apply(entries []entry) ([]result, error)
	// flush makes durable every effect that was applied before the call. It may run
	// beside apply.
	flush() error
}

// errHalted answers what reaches a state machine that has stopped.
var errHalted = errors.New("cluster: state machine has stopped")

// fsm connects a machine to raft. It is a raft.BatchingFSM.
type fsm struct {
	group   uint32
	machine machine
	fatal   func(msg string)
	total   *atomic.Int64            // logBytes of all groups
	grown   func(group, total int64) // told of both after each batch; quick

	applied  atomic.Uint64 // index of the last entry whose effects are in the stores
	logBytes atomic.Int64  // bytes of entries applied since the last marker
	halted   atomic.Bool
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
	entries := make([]entry, 0, len(logs))
	at := make([]int, 0, len(logs)) // position of each entry in logs
	var bytes int64
	for i, l := range logs {
		bytes += int64(len(l.Data))
		if l.Type != raft.LogCommand { // membership: raft's own business
			continue
		}
		cmd := new(pb.Command)
		if err := proto.Unmarshal(l.Data, cmd); err != nil {
			f.halt(fmt.Sprintf("log entry %d is not a command: %v", l.Index, err))
			return answers
		}
		entries = append(entries, entry{index: l.Index, cmd: cmd})
		at = append(at, i)
	}
	results, err := f.machine.apply(entries)
	if err == nil && len(results) != len(entries) {
		err = fmt.Errorf("%d results for %d entries", len(results), len(entries))
	}
	if err != nil {
		f.halt(err.Error())
		return answers
	}
	for i, r := range results {
		answers[at[i]] = r
	}
	f.applied.Store(logs[len(logs)-1].Index)
	f.grown(f.logBytes.Add(bytes), f.total.Add(bytes))
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
	if err := f.machine.flush(); err != nil {
		return nil, fmt.Errorf("cluster: flush group %d: %w", f.group, err)
	}
	return flushed{f: f, bytes: bytes}, nil
}

// Restore would rebuild the stores from another node's snapshot.
func (f *fsm) Restore(io.ReadCloser) error { return errNoTransfer }

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
	s.f.logBytes.Add(-s.bytes)
	s.f.total.Add(-s.bytes)
	return nil
}

// Release does nothing.
func (flushed) Release() {}
