package storage

// memtableSteps are how large a store's memtables may be: it is opened with the first
// size and opened anew with a larger one when it has taken some of it. Pebble begins with
// 256 KiB by itself and doubles with each that is flushed, so the last step grows as it
// is needed. There are two of each size: Pebble keeps the one that it flushed for the next
// time.
var memtableSteps = [...]int{smallMemtableBytes, middleMemtableBytes, storeMemtableBytes}

// filledMemtables of one size are what a store takes before it gets larger ones. Until
// then it is flushed as often, and a batch above half of a memtable, such as an import of
// twenty notes, becomes a table of its own: a millisecond each. Larger ones for such a
// batch would stay with every organization that was written to once.
const filledMemtables = 4

// growth is what a store has taken, and how much memory it has for that.
type growth struct {
	flushed uint64 // applied index known to be in tables
	dirty   bool   // own records were written since

	step  int // of memtableSteps
	taken int // bytes applied since it was opened
}

// full reports whether the store has taken so much that it is to have larger memtables.
func (g growth) full() bool {
	return g.step < len(memtableSteps)-1 && g.taken > filledMemtables*memtableSteps[g.step]
}

// grow opens the store anew with larger memtables where it has taken much and nobody reads
// at this instant: else the next batch tries again. A store of a small organization takes
// some kilobytes at a time and is closed before it comes here.
func (h *Store) grow() {
	s := h.s
	s.apply.Lock()
	grows, step := s.full(), s.step+1
	s.apply.Unlock()
	// On a full disk the flush would wait for space, and readers for the flush.
	if !grows || s.node.Writable() != nil || !s.erase.TryLock() {
		return
	}
	defer s.erase.Unlock()
	if h.released.Load() || !s.gate.tryShut() {
		return
	}
	defer s.gate.reopen()
	s.exchange(step)
}
