package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Log is the raft log and stable store of every group of the node, in one
// Pebble instance with its write-ahead log on. One instance, because group
// commit works within one only: 64 writers reach about four times the appends
// per second that an instance per group gives.
//
// It speaks of groups and entries, not of raft's types; package cluster
// translates. Methods may be called from any goroutine. Appends and truncations
// of one group exclude each other: raft cuts a log from its snapshot goroutine
// while its main goroutine appends to it.
type Log struct {
	node *Node
	db   *instance
	gate *gate

	scrubbing sync.Mutex // one Erase at a time
	noting    sync.Mutex // one change of what is noted of erasures at a time; before mu

	mu      sync.Mutex
	groups  map[uint32]*logGroup
	hinted  map[StoreID]struct{} // erasures that are noted on disk
	owed    map[StoreID]uint64   // stores whose erasures the log has not followed, by the newest of them
	newest  uint64               // number of the newest erasure since Open
	nowOwed chan struct{}        // capacity 1: owed has grown
}

// logGroup is what is kept in memory of one group. write is held by the one
// append or truncation that runs, across its fsync; the figures are guarded by
// Log.mu. write comes before Log.mu.
type logGroup struct {
	write       sync.Mutex
	first, last uint64 // 0, 0: empty
	appended    uint64 // bytes since the last truncation of a prefix, or Open
}

// LogEntry is one entry of a group's log.
type LogEntry struct {
	Index, Term uint64
	Type        uint8
	Data        []byte
	Extensions  []byte
	AppendedAt  time.Time
}

var (
	// ErrLogNotFound says that the log has no entry of that index.
	ErrLogNotFound = errors.New("log entry not found")
	// ErrLogGap says that an append would leave a hole in the log.
	ErrLogGap = errors.New("log entries are not contiguous")
)

// Key spaces of the log's instance.
const (
	logEntries = 0x01 // group, index → entry
	logStable  = 0x02 // group, key → value
	logErasure = 0x03 // store name → empty: this store has erasures to carry out
	logOwed    = 0x04 // store name → empty: the log may hold what was erased from this store
	logEnd     = 0x05 // above every other key
)

const (
	logKeyBytes     = 1 + 4 + 8
	logEntryVersion = 1
)

func logKey(group uint32, index uint64) []byte {
	b := make([]byte, 1, logKeyBytes)
	b[0] = logEntries
	b = binary.BigEndian.AppendUint32(b, group)
	return binary.BigEndian.AppendUint64(b, index)
}

func stableKey(group uint32, key []byte) []byte {
	b := make([]byte, 1, 5+len(key))
	b[0] = logStable
	b = binary.BigEndian.AppendUint32(b, group)
	return append(b, key...)
}

func openLog(n *Node) (*Log, error) {
	db, err := openInstance(n.disk, n.layout.path(logDir), n.logOptions(), nil)
	if err != nil {
		return nil, wrapPebble("open log", err)
	}
	ctx := context.Background() //nolint:forbidigo // a start has none to give, and reads what it would read anyway
	if err := db.verifyTables(ctx, n.disk, n.layout.path(logDir), n.logOptions()); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), db.Close())
	}
	l := &Log{
		node: n, db: db, gate: newGate(),
		groups: map[uint32]*logGroup{}, hinted: map[StoreID]struct{}{},
		owed: map[StoreID]uint64{}, nowOwed: make(chan struct{}, 1),
	}
	if err := l.readHints(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

func (l *Log) close() error {
	l.gate.close()
	return wrapPebble("close log", l.db.Close())
}

func (l *Log) begin(op string) error {
	if err := l.gate.enter(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// group returns a group's bounds, reading them from disk the first time.
// l.mu is held.
func (l *Log) group(id uint32) (*logGroup, error) {
	if g := l.groups[id]; g != nil {
		return g, nil
	}
	it, err := l.db.NewIter(&pebble.IterOptions{
		LowerBound: logKey(id, 0), UpperBound: successor(logKey(id, 0)[:5]),
	})
	if err != nil {
		return nil, wrapPebble("read log bounds", err)
	}
	g := &logGroup{}
	if it.First() {
		g.first = binary.BigEndian.Uint64(it.Key()[5:])
	}
	if it.Last() {
		g.last = binary.BigEndian.Uint64(it.Key()[5:])
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, wrapPebble("read log bounds", err)
	}
	l.groups[id] = g
	return g, nil
}

// Append writes entries behind a group's log. When it returns nil they are on
// disk: this is what "acknowledged" rests on. Appends of different goroutines
// share an fsync. Indexes must ascend by one and continue the log (ErrLogGap);
// an empty log may begin anywhere. A failed fsync does not return at all: the
// process stops.
func (l *Log) Append(group uint32, entries []LogEntry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := l.begin("append"); err != nil {
		return err
	}
	defer l.gate.leave()
	size := 0
	for i := range entries {
		size += entrySize(&entries[i]) + logKeyBytes + 16
	}
	g, err := l.lockGroup(group)
	if err != nil {
		return err
	}
	defer g.write.Unlock()
	if err := l.checkContiguous(g, group, entries); err != nil {
		return err
	}
	batch := l.db.NewBatchWithSize(size)
	defer closeBatch(batch)
	for i := range entries {
		e := &entries[i]
		op := batch.SetDeferred(logKeyBytes, entrySize(e))
		putLogKey(op.Key, group, e.Index)
		encodeEntry(op.Value, e)
		if err := op.Finish(); err != nil {
			return wrapPebble("append", err)
		}
	}
	if err := l.db.Apply(batch, pebble.Sync); err != nil {
		return wrapPebble("append", err)
	}
	// Pebble's Apply returns nil even after a failed WAL write, once its Fatalf
	// has returned. Ours does not return; this line also covers a failure that
	// another goroutine met after our sync had succeeded.
	l.node.disk.Guard()

	l.mu.Lock()
	defer l.mu.Unlock()
	if g.first == 0 {
		g.first = entries[0].Index
	}
	g.last = entries[len(entries)-1].Index
	g.appended += uint64(size)
	return nil
}

// lockGroup waits for a group's other append or truncation.
func (l *Log) lockGroup(id uint32) (*logGroup, error) {
	l.mu.Lock()
	g, err := l.group(id)
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	g.write.Lock()
	return g, nil
}

func (l *Log) checkContiguous(g *logGroup, group uint32, entries []LogEntry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := entries[0].Index
	if g.last != 0 {
		want = g.last + 1
	}
	for i := range entries {
		if entries[i].Index != want || want == 0 {
			return fmt.Errorf("append to group %d: index %d, want %d: %w", group, entries[i].Index, want, ErrLogGap)
		}
		want++
	}
	return nil
}

// Get reads one entry; Data and Extensions are the caller's. ErrLogNotFound when the log
// does not have it.
func (l *Log) Get(group uint32, index uint64) (LogEntry, error) {
	if err := l.begin("get log entry"); err != nil {
		return LogEntry{}, err
	}
	defer l.gate.leave()
	b, closer, err := l.db.Get(logKey(group, index))
	if errors.Is(err, pebble.ErrNotFound) {
		return LogEntry{}, fmt.Errorf("group %d index %d: %w", group, index, ErrLogNotFound)
	}
	if err != nil {
		return LogEntry{}, wrapPebble("get log entry", err)
	}
	e, err := decodeEntry(b)
	if err = errors.Join(err, closer.Close()); err != nil {
		return LogEntry{}, fmt.Errorf("group %d index %d: %w", group, index, err)
	}
	e.Index = index
	return e, nil
}

// Bounds returns the indexes of a group's first and last entry, 0 and 0 when it
// has none.
func (l *Log) Bounds(group uint32) (first, last uint64, err error) {
	if err := l.begin("log bounds"); err != nil {
		return 0, 0, err
	}
	defer l.gate.leave()
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.group(group)
	if err != nil {
		return 0, 0, err
	}
	return g.first, g.last, nil
}

// AppendedBytes returns how much was appended to a group since its last prefix
// was truncated, or since Open: the measure by which the host takes snapshots.
func (l *Log) AppendedBytes(group uint32) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.groups[group]; g != nil {
		return g.appended
	}
	return 0
}

// DeleteRange removes the entries from lo to hi, both included: a prefix after
// a snapshot, or a suffix that conflicts with the leader's. A range in the
// middle is refused with ErrLogGap. It is durable on return. The bytes leave
// the disk with the next compaction there; Erase forces it.
func (l *Log) DeleteRange(group uint32, lo, hi uint64) error {
	if err := l.begin("truncate log"); err != nil {
		return err
	}
	defer l.gate.leave()
	g, err := l.lockGroup(group)
	if err != nil {
		return err
	}
	defer g.write.Unlock()
	l.mu.Lock()
	first, last := g.first, g.last
	l.mu.Unlock()
	if last == 0 || lo > hi || hi < first || lo > last {
		return nil
	}
	prefix := lo <= first
	if !prefix && hi < last {
		return fmt.Errorf("truncate group %d from %d to %d of %d to %d: %w",
			group, lo, hi, first, last, ErrLogGap)
	}
	end := successor(logKey(group, 0)[:5])
	if hi < last {
		end = logKey(group, hi+1)
	}
	if err := l.db.DeleteRange(logKey(group, lo), end, pebble.Sync); err != nil {
		return wrapPebble("truncate log", err)
	}
	l.node.disk.Guard()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case prefix && hi >= last:
		g.first, g.last, g.appended = 0, 0, 0
	case prefix:
		g.first, g.appended = hi+1, 0
	default:
		g.last = lo - 1
	}
	return nil
}

// SetStable durably stores a small value of a group: its term and vote.
func (l *Log) SetStable(group uint32, key, value []byte) error {
	if err := l.begin("set stable value"); err != nil {
		return err
	}
	defer l.gate.leave()
	if err := l.db.Set(stableKey(group, key), value, pebble.Sync); err != nil {
		return wrapPebble("set stable value", err)
	}
	l.node.disk.Guard()
	return nil
}

// GetStable reads a value of SetStable; the bool says whether there is one.
func (l *Log) GetStable(group uint32, key []byte) ([]byte, bool, error) {
	if err := l.begin("get stable value"); err != nil {
		return nil, false, err
	}
	defer l.gate.leave()
	b, closer, err := l.db.Get(stableKey(group, key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, wrapPebble("get stable value", err)
	}
	out := append([]byte{}, b...)
	if err := closer.Close(); err != nil {
		return nil, false, wrapPebble("get stable value", err)
	}
	return out, true, nil
}

// DeleteStable durably deletes values of SetStable.
func (l *Log) DeleteStable(group uint32, keys ...[]byte) error {
	if err := l.begin("delete stable values"); err != nil {
		return err
	}
	defer l.gate.leave()
	batch := l.db.NewBatch()
	defer closeBatch(batch)
	for _, key := range keys {
		if err := batch.Delete(stableKey(group, key), nil); err != nil {
			return wrapPebble("delete stable values", err)
		}
	}
	if err := l.db.Apply(batch, pebble.Sync); err != nil {
		return wrapPebble("delete stable values", err)
	}
	l.node.disk.Guard()
	return nil
}

// StableKeys returns the keys of a group's stable values that begin with a
// prefix, in order.
func (l *Log) StableKeys(group uint32, prefix []byte) ([][]byte, error) {
	if err := l.begin("list stable values"); err != nil {
		return nil, err
	}
	defer l.gate.leave()
	lo := stableKey(group, prefix)
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: successor(lo)})
	if err != nil {
		return nil, wrapPebble("list stable values", err)
	}
	var keys [][]byte
	for ok := it.First(); ok; ok = it.Next() {
		keys = append(keys, bytes.Clone(it.Key()[5:]))
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, wrapPebble("list stable values", err)
	}
	return keys, nil
}

// RemoveGroup deletes everything of a group that has left this node, but the
// stable values of the given keys.
func (l *Log) RemoveGroup(group uint32, keep ...[]byte) error {
	if err := l.begin("remove group"); err != nil {
		return err
	}
	defer l.gate.leave()
	g, err := l.lockGroup(group)
	if err != nil {
		return err
	}
	defer g.write.Unlock()
	batch := l.db.NewBatch()
	defer closeBatch(batch)
	for _, lo := range [][]byte{logKey(group, 0)[:5], stableKey(group, nil)} {
		if err := batch.DeleteRange(lo, successor(lo), nil); err != nil {
			return wrapPebble("remove group", err)
		}
	}
	for _, key := range keep {
		value, ok, err := l.GetStable(group, key)
		if err != nil {
			return err
		}
		if ok {
			if err := batch.Set(stableKey(group, key), value, nil); err != nil {
				return wrapPebble("remove group", err)
			}
		}
	}
	if err := l.db.Apply(batch, pebble.Sync); err != nil {
		return wrapPebble("remove group", err)
	}
	l.node.disk.Guard()
	l.mu.Lock()
	defer l.mu.Unlock()
	// Emptied, not forgotten: somebody may wait for its lock.
	g.first, g.last, g.appended = 0, 0, 0
	return nil
}

// Erase makes the bytes of truncated entries leave the disk: tables are
// compacted, and the write-ahead logs that Pebble keeps for recycling are given
// up. It writes about as much as the log holds; it is for the end of an erasure
// and not for every truncation.
func (l *Log) Erase(ctx context.Context) error {
	if err := l.begin("erase log"); err != nil {
		return err
	}
	defer l.gate.leave()
	l.scrubbing.Lock()
	defer l.scrubbing.Unlock()
	l.node.disk.Scrub(true)
	defer l.node.disk.Scrub(false)
	lo, hi := []byte{logEntries}, []byte{logEnd}
	batch := l.db.NewBatch()
	defer closeBatch(batch)
	if err := batch.RangeKeyDelete(lo, hi, nil); err != nil { // see compactSpans
		return wrapPebble("erase log", err)
	}
	if err := l.db.Apply(batch, pebble.Sync); err != nil {
		return wrapPebble("erase log", err)
	}
	l.node.disk.Guard()
	if err := l.db.Compact(ctx, lo, hi, false); err != nil {
		return wrapPebble("erase log", err)
	}
	// Each flush begins a new write-ahead log and retires one. A retired one
	// waits in a queue of logMemtables+1 for reuse, and scrub makes reuse a
	// removal, so after one round more than the queue is long nothing old is
	// left.
	for range logMemtables + 3 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("erase log: %w", err)
		}
		if err := l.db.Set([]byte{logEnd}, nil, pebble.Sync); err != nil {
			return wrapPebble("erase log", err)
		}
		if err := l.db.Flush(); err != nil {
			return wrapPebble("erase log", err)
		}
	}
	l.node.disk.Guard()
	return nil
}

// DiskBytes returns what the log occupies on disk.
func (l *Log) DiskBytes() uint64 {
	if l.gate.enter() != nil {
		return 0
	}
	defer l.gate.leave()
	return l.db.Metrics().DiskSpaceUsage()
}

func putLogKey(b []byte, group uint32, index uint64) {
	b[0] = logEntries
	binary.BigEndian.PutUint32(b[1:], group)
	binary.BigEndian.PutUint64(b[5:], index)
}

// An entry's value: version, type, term, appended-at in Unix nanoseconds
// (0: zero time), length of the extensions, extensions, data. Fixed width,
// written in place: the log is the hottest writer of the node.
const entryHeader = 1 + 1 + 8 + 8 + 4

func entrySize(e *LogEntry) int { return entryHeader + len(e.Extensions) + len(e.Data) }

func encodeEntry(b []byte, e *LogEntry) {
	b[0], b[1] = logEntryVersion, e.Type
	binary.BigEndian.PutUint64(b[2:], e.Term)
	var at int64
	if !e.AppendedAt.IsZero() {
		at = e.AppendedAt.UnixNano()
	}
	binary.BigEndian.PutUint64(b[10:], uint64(at))
	binary.BigEndian.PutUint32(b[18:], uint32(len(e.Extensions)))
	n := copy(b[entryHeader:], e.Extensions)
	copy(b[entryHeader+n:], e.Data)
}

func decodeEntry(b []byte) (LogEntry, error) {
	if len(b) < 1 || b[0] != logEntryVersion {
		return LogEntry{}, fmt.Errorf("log entry: %w", ErrUnknownVersion)
	}
	if len(b) < entryHeader || uint64(len(b)-entryHeader) < uint64(binary.BigEndian.Uint32(b[18:])) {
		return LogEntry{}, fmt.Errorf("log entry: %w", ErrCorrupt)
	}
	e := LogEntry{Type: b[1], Term: binary.BigEndian.Uint64(b[2:])}
	if at := int64(binary.BigEndian.Uint64(b[10:])); at != 0 {
		e.AppendedAt = time.Unix(0, at).UTC()
	}
	rest := append([]byte(nil), b[entryHeader:]...)
	n := binary.BigEndian.Uint32(b[18:])
	if n > 0 {
		e.Extensions = rest[:n:n]
	}
	if len(rest) > int(n) {
		e.Data = rest[n:]
	}
	return e, nil
}
