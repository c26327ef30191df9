package raftlog

import (
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

// Trail says how far a group's log may be cut, which raft leaves to us. Without
// followers that is all behind the marker, since it is in the stores' files. With
// followers some is kept for them.
type Trail struct {
	Cutting sync.Mutex // one cut at a time

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

// Reset forgets the places: the log was emptied.
func (t *Trail) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks, t.kept = nil, 0
}

// Mark notes a marker.
func (t *Trail) Mark(index uint64, seen int64) {
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
func (t *Trail) End(seen int64) uint64 {
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

// Hold keeps what comes behind an entry until release is called; seen is how many
// bytes were applied when that was the newest.
func (t *Trail) Hold(index uint64, seen int64) (release func()) {
	m := &trailMark{index, seen}
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
