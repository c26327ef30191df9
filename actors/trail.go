package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// change is a batch with what goes with its effect: who did it, what it means
// to those who listen, what it cost. All of it is committed together. The
// committer numbers audits and events in the order of the commits, so that
// somebody who has read up to a number has missed nothing below it.
type change struct {
	*storage.Batch
	audits []*pb.Audit
	events []*pb.OutboxEvent
	usage  []usage
	// user is who acts: some events reach only their own streams. What answers a
	// call need not set it.
	user []byte
	// costs: nothing is changed but what reads have cost, which goes with every group.
	costs bool
	// finishes: it carries to its end what was decided upon before, and without which the
	// organization cannot be read. It is taken below the disk's watermark, too.
	finishes bool
}

func newChange(store storage.StoreID) *change { return &change{Batch: storage.NewBatch(store)} }

// newCosts is a change that carries what reads have cost, and nothing else.
func newCosts(store storage.StoreID) *change {
	return &change{Batch: storage.NewBatch(store), costs: true}
}

// audit adds a record of who did what to the organization's trail. The trail
// outlives what it tells of, so it holds ids and no text: changes and reason go
// into the node's history, which is erased with its partition.
func (c *change) audit(a *pb.Audit) {
	c.audits = append(c.audits, &pb.Audit{
		AtMs: a.GetAtMs(), KeyHash: a.GetKeyHash(), User: a.GetUser(), Partition: a.GetPartition(),
		Action: a.GetAction(), Target: a.GetTarget(), RequestId: a.GetRequestId(),
	})
}

// event adds an event for webhooks and streams. data must marshal to an object
// of identifiers and small scalars, never content. part is whom it concerns, nil
// for the organization.
func (c *change) event(o *orgView, kind string, part *partition.Ref, data map[string]any) error {
	id, err := o.sys.newUUID()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", kind, err)
	}
	e := &pb.OutboxEvent{Id: id[:], Type: kind, AtMs: clock.Millis(o.sys.clock.Now()), Data: raw, User: c.user}
	if part != nil {
		e.Partition, e.Subject = part.ID.Bytes(), string(part.Subject)
	}
	c.events = append(c.events, e)
	return nil
}

// cost adds units to the hour in which they were used.
func (c *change) cost(u usage) { c.usage = append(c.usage, u) }

// auditOf begins an audit record of what a call does.
func (c *call) auditOf(action, target string) *pb.Audit {
	a := &pb.Audit{
		AtMs: clock.Millis(c.org.sys.clock.Now()), Partition: c.part.ID.Bytes(), Subject: string(c.part.Subject),
		Action: action, Target: target, RequestId: c.env.GetRequestId(),
	}
	if (c.who.key != pb.KeyHash{}) { // else the operator restores
		a.KeyHash, a.User = c.who.key[:], c.who.user.Bytes()
	}
	return a
}

// usageKey is one line of an organization's usage.
type usageKey struct {
	hour       int64 // Unix milliseconds at its begin, UTC
	capability string
	key        pb.KeyHash
	// part is whose memory it was. A subject's name would outlive the subject
	// here, since what was used stays counted when its memory is erased.
	part pb.PartitionID
}

// usage is what something cost. The units are defined in docs/usage.md.
type usage struct {
	usageKey
	readUnits, embedTokens uint64
}

const (
	// usageDelay is how long the cost of reads waits for a commit to go along
	// with before it gets one of its own. A crash loses at most this much of it;
	// the cost of writes is committed with them, and a move to another node waits for
	// it (System.settleCosts).
	usageDelay = 250 * time.Millisecond
	// maxUsageTotals bounds the lines of usage that are remembered while nothing
	// is under way; the rest is read again.
	maxUsageTotals = 4096
)

// usageLine names the line that a cost of now goes to.
func usageLine(now time.Time, capability string, key pb.KeyHash, part *partition.Ref) usageKey {
	return usageKey{hour: now.UTC().Truncate(time.Hour).UnixMilli(), capability: capability, key: key, part: part.ID}
}

// at is the line's place in the store.
func (u usageKey) at(space storage.Space) storage.Key {
	return space.Key(storage.TableUsage, storage.U64(uint64(u.hour)), storage.Str(u.capability), storage.Hash32(u.key), storage.ID16(u.part))
}

// usageKeyOf reads a line's place back.
func usageKeyOf(k storage.Key) (usageKey, error) {
	parts := k.Parts()
	u := usageKey{hour: int64(parts.U64()), capability: parts.Str(), key: parts.Hash32(), part: parts.ID16()}
	return u, parts.Done()
}

// trail numbers what goes with commits and adds up what it cost. It is guarded
// by its committer's lock, but for pending.
type trail struct {
	space storage.Space
	with  func(func(*storage.Store) error) error // withStore
	soon  func()                                 // flushUsageSoon

	audits, events uint64 // the last numbers given
	// totals are the lines of usage as they will be when what is under way is
	// applied.
	totals map[usageKey]*pb.Usage
	// reads and writes are what the last stamp added to totals, so that it can be
	// undone.
	reads, writes []usage

	mu      sync.Mutex
	pending map[usageKey]usage // what reads cost that no commit has taken along
	sealed  bool               // nothing more is counted (seal)
	armed   bool               // a timer will write it (flushUsageSoon)
}

// newTrail goes on behind what the store holds.
func newTrail(o *orgView) (*trail, error) {
	t := &trail{space: o.space, soon: o.flushUsageSoon, with: o.withStore, totals: map[usageKey]*pb.Usage{}, pending: map[usageKey]usage{}}
	err := o.withStore(func(st *storage.Store) error {
		for table, last := range map[storage.Table]*uint64{storage.TableAudit: &t.audits, storage.TableOutbox: &t.events} {
			for item, err := range st.Scan(o.space.Prefix(table), storage.ScanOptions{Reverse: true, Limit: 1}) {
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
		// A number that an endpoint is past may be of an event that was erased, or
		// never written; another one must not get it, since it would not be delivered.
		hooks, err := o.webhooks(st)
		for _, hook := range hooks {
			t.events = max(t.events, hook.GetCursor())
		}
		return err
	})
	return t, err
}

// count adds what a read cost to what waits, and reports whether nothing waited
// before; and whether it did, since behind seal nothing is counted any more.
func (t *trail) count(u usage) (first, counted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed {
		return false, false
	}
	first = len(t.pending) == 0
	t.wait(u)
	return first, true
}

// seal ends the counting: what has been counted can still be written, and what is not
// counted must not be answered (call.answer).
func (t *trail) seal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sealed = true
}

// over reports whether the counting has ended.
func (t *trail) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sealed
}

// wait adds a cost to what waits. t.mu is held.
func (t *trail) wait(u usage) {
	sum := t.pending[u.usageKey]
	sum.usageKey = u.usageKey
	sum.readUnits += u.readUnits
	sum.embedTokens += u.embedTokens
	t.pending[u.usageKey] = sum
}

func (t *trail) waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0
}

// stamp makes one batch of a group, with numbers and totals. Numbers of a batch
// that is not proposed in the end are not given again: gaps say nothing.
func (t *trail) stamp(group []write) (*storage.Batch, error) {
	t.mu.Lock()
	t.reads, t.writes = slices.Collect(maps.Values(t.pending)), nil
	clear(t.pending)
	t.mu.Unlock()
	for _, w := range group {
		t.writes = append(t.writes, w.usage...)
	}
	lines := map[usageKey]bool{}
	for _, u := range slices.Concat(t.reads, t.writes) {
		if err := t.load(u.usageKey); err != nil {
			t.putBack()
			return nil, err
		}
		lines[u.usageKey] = true
	}
	t.add(1)
	batch := group[0].Batch
	for i, w := range group {
		if i > 0 {
			batch.Append(w.Batch)
		}
		for _, a := range w.audits {
			t.audits++
			batch.Put(t.space.Key(storage.TableAudit, storage.U64(t.audits)), a)
		}
		for _, e := range w.events {
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
func (t *trail) unstamp() bool {
	t.add(^uint64(0)) // minus one
	t.putBack()
	return t.waits()
}

func (t *trail) add(sign uint64) {
	for _, u := range slices.Concat(t.reads, t.writes) {
		total := t.totals[u.usageKey]
		total.ReadUnits += sign * u.readUnits
		total.EmbedTokens += sign * u.embedTokens
	}
}

func (t *trail) putBack() {
	t.mu.Lock()
	for _, u := range t.reads {
		t.wait(u)
	}
	t.mu.Unlock()
	t.reads, t.writes = nil, nil
}

// load makes sure that a line's total is in memory.
func (t *trail) load(line usageKey) error {
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
func (t *trail) settled() {
	if len(t.totals) > maxUsageTotals {
		clear(t.totals)
	}
}

// cost is what a call that succeeds has used by itself; false: nothing, as whatever is
// not metered. Content is charged with its effect (effect.charge), not for being accepted.
func (c *call) cost() (usage, bool) {
	capability := c.env.GetCapability()
	if capability == "" || capability == pb.CapabilityIngest || c.part == nil || c.part.Kind == pb.PartitionSandbox {
		return usage{}, false
	}
	return usage{usageLine(c.org.sys.clock.Now(), capability, c.who.key, c.part), max(c.readUnits, 1), c.embedTokens}, true
}

// meter counts what a call that succeeded has used, unless that went with its effect.
// False: it cannot be counted here any more, because the organization moves.
func (c *call) meter() bool {
	u, ok := c.cost()
	if !ok || c.charged {
		return true
	}
	first, counted := c.org.committer.trail.count(u)
	if first {
		c.org.flushUsageSoon()
	}
	return counted
}

// flushUsageSoon gives what reads cost a commit of its own, unless another comes
// first. There is one timer at a time, however many ask for it: what is refused, as it is
// while the disk is full, asks again.
func (o *orgView) flushUsageSoon() {
	t := o.committer.trail
	if !t.arm() {
		return
	}
	o.sys.clock.AfterFunc(usageDelay, func() {
		t.disarm()
		o.flushUsage(func(error) {})
	})
}

// arm reports whether there is no timer yet, and notes that there is one.
func (t *trail) arm() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.armed
	t.armed = true
	return !was
}

func (t *trail) disarm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = false
}

// flushUsage makes durable what reads have cost so far.
func (o *orgView) flushUsage(done func(error)) {
	if !o.committer.trail.waits() {
		done(nil)
		return
	}
	// Close waits for it: the organization may have left memory while this waits
	// behind a group that is on its way, and then nobody else would.
	s := o.sys
	s.mu.Lock()
	counted := !s.closing
	if counted {
		s.underway.Add(1)
	}
	s.mu.Unlock()
	o.committer.submitChange(newCosts(o.store), func(err error) {
		if counted {
			defer s.underway.Done()
		}
		if err != nil && !errors.Is(err, errLost) && o.committer.trail.waits() {
			o.flushUsageSoon()
		}
		done(err)
	})
}
