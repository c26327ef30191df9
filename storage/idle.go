package storage

// maxRestsAtOnce bounds the stores that one sweep closes: each is flushed, and a
// node that has just gone quiet must not flush hundreds in one go.
const maxRestsAtOnce = 16

// awaitIdleLocked waits for the store that was released longest ago to have been
// unheld for long.
func (n *Node) awaitIdleLocked() {
	oldest := n.open.unheld.Back()
	if n.open.idle != nil || n.open.closed || n.opts.IdleStore < 0 || oldest == nil {
		return
	}
	left := n.opts.IdleStore - n.opts.Clock.Now().Sub(oldest.Value.(*openStore).since)
	n.open.idle = n.opts.Clock.AfterFunc(max(left, idlePause), n.closeIdle)
}

// closeIdle closes stores that nobody has held for long: an open one costs a
// memtable of up to storeMemtableBytes, and in a cluster a node has the stores of
// all organizations that ever wrote to its shards.
func (n *Node) closeIdle() {
	n.open.mu.Lock()
	defer n.open.mu.Unlock()
	n.open.idle = nil
	if n.open.closed {
		return
	}
	until := n.opts.Clock.Now().Add(-n.opts.IdleStore)
	var idle []*openStore
	for len(idle) < maxRestsAtOnce && n.open.unheld.Len() > 0 {
		s := n.open.unheld.Back().Value.(*openStore)
		if s.since.After(until) {
			break
		}
		n.open.takeLocked(s)
		idle = append(idle, s)
	}
	n.resting.Go(func() {
		n.counts.rests.Add(int64(len(idle)))
		n.shut(idle)
		n.open.mu.Lock()
		defer n.open.mu.Unlock()
		n.awaitIdleLocked()
	})
}
