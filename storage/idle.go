package storage

import (
	"time"

	"orgmem/proto/clock"
)

const (
	// fewStores may all stay open for Options.IdleStore: together they cost some
	// megabytes.
	fewStores = 16
	// leastIdle is how long a store stays open however many are: a person who asks again
	// does so within seconds, and what a request leaves to be written follows it within
	// one.
	leastIdle = 5 * time.Second
)

// idleAfter is how long nobody may have held a store for it to be closed, while so many
// are open: the time shrinks as they become more, so that what a store costs in a day
// stays the same. One that stays open costs some 400 KiB, and opening it again half a
// millisecond, or three where it had been written to and must be flushed.
func (n *Node) idleAfter(open int) time.Duration {
	if open <= fewStores {
		return n.opts.IdleStore
	}
	return min(n.opts.IdleStore, max(n.opts.IdleStore*fewStores/time.Duration(open), leastIdle))
}

// maxRestsAtOnce bounds the stores that one sweep closes: each is flushed, and a
// node that has just gone quiet must not flush hundreds in one go.
const maxRestsAtOnce = 16

// idleWait is the wait for the next store that is due. It is guarded by openStores.mu.
type idleWait struct {
	timer clock.Timer // nil: none is awaited
	until time.Time
	turn  uint64 // of the wait that counts: one that was given up may fire all the same
}

// awaitIdleLocked waits for the store that was released longest ago to have been
// unheld for long. More open stores make that sooner.
func (n *Node) awaitIdleLocked() {
	oldest := n.open.unheld.Back()
	if n.open.closed || n.opts.IdleStore < 0 || oldest == nil {
		return
	}
	now, wait := n.opts.Clock.Now(), &n.open.idle
	left := n.idleAfter(len(n.open.stores)-n.open.closing) - now.Sub(oldest.Value.(*openStore).since)
	until := now.Add(max(left, idlePause))
	if wait.timer != nil {
		if !until.Before(wait.until) {
			return
		}
		wait.timer.Stop()
	}
	wait.turn++
	wait.until = until
	turn := wait.turn
	wait.timer = n.opts.Clock.AfterFunc(until.Sub(now), func() { n.closeIdle(turn) })
}

// closeIdle closes stores that nobody has held for long: an open one costs a
// memtable of up to storeMemtableBytes, and in a cluster a node has the stores of
// all organizations that ever wrote to its shards.
func (n *Node) closeIdle(turn uint64) {
	n.open.mu.Lock()
	defer n.open.mu.Unlock()
	if n.open.closed || n.open.idle.turn != turn {
		return
	}
	n.resting.Go(func() {
		for range maxRestsAtOnce {
			s := n.takeIdle()
			if s == nil {
				break
			}
			n.counts.rests.Add(1)
			n.shut([]*openStore{s})
		}
		n.open.mu.Lock()
		defer n.open.mu.Unlock()
		n.open.idle.timer = nil
		n.awaitIdleLocked()
	})
}

// takeIdle takes the store that was released longest ago, if nobody has held it for long: one at a time, so that who
// asks for one waits for no other to be closed.
func (n *Node) takeIdle() *openStore {
	n.open.mu.Lock()
	defer n.open.mu.Unlock()
	oldest := n.open.unheld.Back()
	if n.open.closed || oldest == nil {
		return nil
	}
	s := oldest.Value.(*openStore)
	if n.opts.Clock.Now().Sub(s.since) < n.idleAfter(len(n.open.stores)-n.open.closing) {
		return nil
	}
	n.open.takeLocked(s)
	return s
}
