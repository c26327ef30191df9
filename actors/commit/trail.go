package commit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// Change is a batch with what goes with its effect: who did it, what it means
// to those who listen, what it cost. All of it is committed together. The
// committer numbers audits and events in the order of the commits, so that
// somebody who has read up to a number has missed nothing below it.
type Change struct {
	*storage.Batch
	Audits []*pb.Audit
	Events []*pb.OutboxEvent
	usage  []Usage
	// User is who acts: some events reach only their own streams. What answers a
	// call need not set it.
	User []byte
	// Traces are what the change is a part of. Where it is one, events go on in it.
	Traces tracing.Contexts
	// Costs: nothing is changed but what reads have cost, which goes with every group.
	Costs bool
	// Finishes: it carries to its end what was decided upon before, and without which the
	// organization cannot be read. It is taken below the disk's watermark, too.
	Finishes bool
}

// New returns an empty change of a store.
func New(store storage.StoreID) *Change { return &Change{Batch: storage.NewBatch(store)} }

// NewCosts is a change that carries what reads have cost, and nothing else.
func NewCosts(store storage.StoreID) *Change {
	return &Change{Batch: storage.NewBatch(store), Costs: true}
}

// Audit adds a record of who did what to the organization's trail. The trail
// outlives what it tells of, so it holds ids and no text: changes and reason go
// into the node's history, which is erased with its partition.
func (c *Change) Audit(a *pb.Audit) {
	c.Audits = append(c.Audits, &pb.Audit{
		AtMs: a.GetAtMs(), KeyHash: a.GetKeyHash(), User: a.GetUser(), Partition: a.GetPartition(),
		Action: a.GetAction(), Target: a.GetTarget(), RequestId: a.GetRequestId(),
	})
}

// Event adds an event for webhooks and streams. data must marshal to an object
// of identifiers and small scalars, never content. part is whom it concerns, nil
// for the organization.
func (c *Change) Event(from Source, kind string, part *partition.Ref, data map[string]any) error {
	id, err := from.NewID()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", kind, err)
	}
	e := &pb.OutboxEvent{Id: id[:], Type: kind, AtMs: clock.Millis(from.Now()), Data: raw, User: c.User}
	if part != nil {
		e.Partition, e.Subject = part.ID.Bytes(), string(part.Subject)
	}
	c.Events = append(c.Events, e)
	return nil
}

// Source gives the time of events, and ids that nothing else has.
type Source interface {
	Now() time.Time
	NewID() (uuid.UUID, error)
}

// Cost adds units to the hour in which they were used.
func (c *Change) Cost(u Usage) { c.usage = append(c.usage, u) }

// Line is one line of an organization's usage.
type Line struct {
	Hour       int64 // Unix milliseconds at its begin, UTC
	Capability string
	Key        pb.KeyHash
	// Part is whose memory it was. A subject's name would outlive the subject
	// here, since what was used stays counted when its memory is erased.
	Part pb.PartitionID
}

// Usage is what something cost. The units are defined in docs/usage.md.
type Usage struct {
	Line
	ReadUnits, EmbedTokens uint64
}

const (
	// UsageDelay is how long the cost of reads waits for a commit to go along
	// with before it gets one of its own. A crash loses at most this much of it;
	// the cost of writes is committed with them, and a move to another node waits for
	// it (System.settleCosts).
	UsageDelay = 250 * time.Millisecond
	// maxUsageTotals bounds the lines of usage that are remembered while nothing
	// is under way; the rest is read again.
	maxUsageTotals = 4096
)

// LineAt names the line that a cost of now goes to.
func LineAt(now time.Time, capability string, key pb.KeyHash, part *partition.Ref) Line {
	return Line{Hour: now.UTC().Truncate(time.Hour).UnixMilli(), Capability: capability, Key: key, Part: part.ID}
}

// at is the line's place in the store.
func (u Line) at(space storage.Space) storage.Key {
	return space.Key(
		storage.TableUsage,
		storage.U64(uint64(u.Hour)), storage.Str(u.Capability), storage.Hash32(u.Key), storage.ID16(u.Part),
	)
}

// LineOf reads a line's place back.
func LineOf(k storage.Key) (Line, error) {
	parts := k.Parts()
	u := Line{Hour: int64(parts.U64()), Capability: parts.Str(), Key: parts.Hash32(), Part: parts.ID16()}
	return u, parts.Done()
}

// Trail numbers what goes with commits and adds up what it cost. It is guarded
// by its committer's lock, but for pending.
type Trail struct {
	space storage.Space
	with  func(func(*storage.Store) error) error // WithStore
	soon  func()                                 // FlushUsageSoon

	audits, events uint64 // the last numbers given
	// totals are the lines of usage as they will be when what is under way is
	// applied.
	totals map[Line]*pb.Usage
	// reads and writes are what the last stamp added to totals, so that it can be
	// undone.
	reads, writes []Usage

	mu      sync.Mutex
	pending map[Line]Usage // what reads cost that no commit has taken along
	sealed  bool           // nothing more is counted (seal)
	armed   bool           // a timer will write it (FlushUsageSoon)
}

// NewTrail continues behind what the store holds. with opens the store, soon is called when what reads have cost must
// be written, and past tells an event number that has been used though the store may not have it.
func NewTrail(
	space storage.Space, with func(func(*storage.Store) error) error, soon func(),
	past func(*storage.Store) (uint64, error),
) (*Trail, error) {
	t := &Trail{space: space, soon: soon, with: with, totals: map[Line]*pb.Usage{}, pending: map[Line]Usage{}}
	err := with(func(st *storage.Store) error {
		for table, last := range map[storage.Table]*uint64{storage.TableAudit: &t.audits, storage.TableOutbox: &t.events} {
			for item, err := range st.Scan(space.Prefix(table), storage.ScanOptions{Reverse: true, Limit: 1}) {
				if err != nil {
					return err
				}
				parts := item.Key.Parts()
				*last = parts.U64()
				if err := parts.Done(); err != nil {
					return err
				}
			}
		}
		used, err := past(st)
		t.events = max(t.events, used)
		return err
	})
	return t, err
}

// Count adds what a read cost to what waits, and reports whether nothing waited
// before; and whether it did, since behind seal nothing is counted any more.
func (t *Trail) Count(u Usage) (first, counted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed {
		return false, false
	}
	first = len(t.pending) == 0
	t.wait(u)
	return first, true
}

// Seal ends the counting: what has been counted can still be written, and what is not
// counted must not be answered (call.answer).
func (t *Trail) Seal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = true
}

// Sealed reports whether the counting has ended.
func (t *Trail) Sealed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// wait adds a cost to what waits. t.mu is held.
func (t *Trail) wait(u Usage) {
	sum := t.pending[u.Line]
	sum.Line = u.Line
	sum.ReadUnits += u.ReadUnits
	sum.EmbedTokens += u.EmbedTokens
	t.pending[u.Line] = sum
}

// Waits reports whether reads have cost something that no commit has taken along.
func (t *Trail) Waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0
}

// stamp makes one batch of a group, with numbers and totals. Numbers of a batch
// that is not proposed in the end are not given again: gaps say nothing.
func (t *Trail) stamp(group []write) (*storage.Batch, error) {
	t.mu.Lock()
	t.reads, t.writes = slices.Collect(maps.Values(t.pending)), nil
	clear(t.pending)
	t.mu.Unlock()
	for _, w := range group {
		t.writes = append(t.writes, w.usage...)
	}
	lines := map[Line]bool{}
	for _, u := range slices.Concat(t.reads, t.writes) {
		if err := t.load(u.Line); err != nil {
			t.putBack()
			return nil, err
		}
		lines[u.Line] = true
	}
	t.add(1)
	batch := group[0].Batch
	for i, w := range group {
		if i > 0 {
			batch.Append(w.Batch)
		}
		for _, a := range w.Audits {
			t.audits++
			batch.Put(t.space.Key(storage.TableAudit, storage.U64(t.audits)), a)
		}
		for _, e := range w.Events {
			t.events++
			batch.Put(t.space.Key(storage.TableOutbox, storage.U64(t.events)), e)
		}
	}
	for line := range lines {
		batch.Put(line.at(t.space), t.totals[line])
	}
	return batch, nil
}

// unstamp takes back what the last stamp added: its batch was not proposed. What
// reads cost waits for the next one; unstamp reports whether there is any.
func (t *Trail) unstamp() bool {
	t.add(^uint64(0)) // minus one
	t.putBack()
	return t.Waits()
}

func (t *Trail) add(sign uint64) {
	for _, u := range slices.Concat(t.reads, t.writes) {
		total := t.totals[u.Line]
		total.ReadUnits += sign * u.ReadUnits
		total.EmbedTokens += sign * u.EmbedTokens
	}
}

func (t *Trail) putBack() {
	t.mu.Lock()
	for _, u := range t.reads {
		t.wait(u)
	}
	t.mu.Unlock()
	t.reads, t.writes = nil, nil
}

// load makes sure that a line's total is in memory.
func (t *Trail) load(line Line) error {
	if t.totals[line] != nil {
		return nil
	}
	total := &pb.Usage{}
	err := t.with(func(st *storage.Store) error {
		_, err := st.Get(line.at(t.space), total)
		return err
	})
	if err != nil {
		return fmt.Errorf("read usage: %w", err)
	}
	t.totals[line] = total
	return nil
}

// settled is called when nothing is under way: the store has all totals.
func (t *Trail) settled() {
	if len(t.totals) > maxUsageTotals {
		clear(t.totals)
	}
}

// Arm reports whether there is no timer yet, and notes that there is one.
func (t *Trail) Arm() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.armed
	t.armed = true
	return !was
}

// Disarm notes that there is no timer any more.
func (t *Trail) Disarm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = false
}
