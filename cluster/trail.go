package cluster

import (
	"fmt"
	"sync"
)

const (
	// trailBytes is how much of a group's log stays behind the marker for followers
	// that were away for a while, where there are any: 64 MiB for a node with 33
	// groups, some 60,000 small writes, against fetching whole stores.
	trailBytes = 2 << 20
	// maxTrail bounds the places where the log may be cut that are remembered: with
	// one a minute, the fewest there are, an hour.
	maxTrail = 64
	// maxHeldBytes is how much of a group's log stays for a replica that is fetching
	// stores: what comes in the meantime. More, and it has to begin again.
	maxHeldBytes = 64 << 20
)

// trail says how far a group's log may be cut, which raft leaves to us. Without
// followers that is all behind the marker, since it is in the stores' files. With
// followers some is kept for them.
type trail struct {
	cutting sync.Mutex // one cut at a time

	mu    sync.Mutex  // guards what follows
	marks []trailMark // in order of index; the last is the newest marker
	kept  uint64      // the last one that was passed
	held  map[*trailMark]struct{}
}

// trailMark is a place in the log: an entry, and how many bytes were applied when
// it was the newest.
type trailMark struct {
	index uint64
	seen  int64
}

// reset forgets the places: the log was emptied.
func (t *trail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks, t.kept = nil, 0
}

// Mark notes a marker.
func (t *trail) mark(index uint64, seen int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.marks); n > 0 && t.marks[n-1].index >= index {
		return
	}
	if len(t.marks) >= maxTrail {
		t.marks = append(t.marks[:1], t.marks[2:]...)
	}
	t.marks = append(t.marks, trailMark{index, seen})
}

// End returns the entry up to which the log is not kept for anybody.
func (t *trail) end(seen int64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var to uint64
	for len(t.marks) > 0 && seen-t.marks[0].seen >= trailBytes {
		to = t.marks[0].index
		t.marks = t.marks[1:]
	}
	to = max(to, t.kept) // what was passed before may have been held then
	t.kept = to
	for m := range t.held {
		if seen-m.seen < maxHeldBytes {
			to = min(to, m.index)
		}
	}
	return to
}

// hold keeps what comes behind a marker in the log until release is called.
func (g *group) hold(index uint64) (release func()) {
	m := &trailMark{index, g.fsm.seen.Load()}
	t := &g.trail
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = map[*trailMark]struct{}{}
	}
	t.held[m] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.held, m)
	}
}

// cut deletes entries that are in the stores' files and that nobody may want. Up
// to upTo it does not ask: what was erased has to go, and who still wants it gets
// the stores instead.
func (g *group) cut(upTo uint64) error {
	g.trail.cutting.Lock()
	defer g.trail.cutting.Unlock()
	marker, seen := g.marks.Index.Load(), g.fsm.seen.Load()
	to := marker
	if !g.alone.Load() {
		g.trail.mark(marker, seen-g.fsm.logBytes.Load())
		to = max(g.trail.end(seen), min(upTo, marker))
	}
	first, err := g.logs.FirstIndex()
	if err != nil || first == 0 || first > to {
		return err
	}
	last, err := g.logs.LastIndex()
	if err != nil {
		return err
	}
	if err := g.logs.DeleteRange(first, min(to, last)); err != nil {
		return fmt.Errorf("cluster: cut the log of group %d: %w", g.id, err)
	}
	return nil
}
