package storage

import (
	"sync/atomic"
	"time"
)

// Stats is what the metrics show of a Node. Counts run since Open. Large because each field is a metric.
type Stats struct {
	// OpenStores, HeldStores: open now, and those of them that somebody holds.
	// MaxOpenStores is the limit in force.
	OpenStores, HeldStores, MaxOpenStores int
	// Opens of stores, Evictions to make room for others, Rests of those that nobody
	// held for long.
	Opens, Evictions, Rests int64
	// Erasures carried out, and stores that have some to carry out.
	Erasures        int64
	PendingErasures int

	// CacheBytes is what the block cache holds; hits and misses are blocks.
	CacheBytes             int64
	CacheHits, CacheMisses int64
	// OpenTables is the number of table files held open.
	OpenTables int64

	// LogBytes is the raft log's size on disk.
	LogBytes uint64
	// Syncs counts fsyncs of all files, SyncTime is their sum, SlowestSync the
	// longest.
	Syncs       int64
	SyncTime    time.Duration
	SlowestSync time.Duration

	// FreeBytes is free disk space at the last look; LowSpace says that writes
	// are refused, Refused how often one was, DiskFull how often a write met a
	// full disk all the same. Ballast says whether the ballast is in place.
	FreeBytes         uint64
	LowSpace, Ballast bool
	Refused, DiskFull int64

	// BackgroundErrors of Pebble (retried by it), Corruptions found, and
	// WriteStalls begun.
	BackgroundErrors, Corruptions, WriteStalls int64
	// OutOfService is how many stores are out of service because they are damaged.
	OutOfService int
	// Stopping says that the process is on its way out after a fatal error.
	Stopping bool
}

// Stats returns a reading. It costs some tens of microseconds.
func (n *Node) Stats() Stats {
	n.open.mu.Lock()
	st := Stats{
		OpenStores: len(n.open.stores) - n.open.closing, HeldStores: n.open.held, MaxOpenStores: n.limits.stores,
	}
	n.open.mu.Unlock()
	st.Opens, st.Evictions = n.counts.opens.Load(), n.counts.evictions.Load()
	st.Rests, st.Erasures = n.counts.rests.Load(), n.counts.erasures.Load()
	st.PendingErasures = len(n.log.notedErasures())
	d := n.disk.Stats()
	st.Syncs, st.SyncTime, st.SlowestSync = d.Syncs, d.SyncTime, d.SlowestSync
	st.FreeBytes, st.LowSpace, st.Ballast = d.Free, d.Low, d.Ballast
	st.Refused, st.DiskFull = d.Refused, d.Full
	st.BackgroundErrors, st.Corruptions = n.counts.backgroundErrors.Load(), n.counts.corruptions.Load()
	st.WriteStalls, st.Stopping = n.counts.stalls.Load(), n.disk.Stopping()
	n.outages.mu.Lock()
	st.OutOfService = len(n.outages.why)
	n.outages.mu.Unlock()
	if n.log.gate.enter() == nil {
		// Block and file cache are shared, so any instance shows them whole.
		m := n.log.db.Metrics()
		n.log.gate.leave()
		st.LogBytes = m.DiskSpaceUsage()
		st.CacheBytes = m.BlockCache.Size
		st.CacheHits, st.CacheMisses = m.BlockCache.Hits, m.BlockCache.Misses
		st.OpenTables = m.FileCache.TableCount
	}
	return st
}

// counts are what a Node counts for its Stats.
type counts struct {
	backgroundErrors, corruptions, stalls atomic.Int64
	opens, evictions, rests, erasures     atomic.Int64

	logged atomic.Int64 // when background work was last logged to fail, in Unix milliseconds; 0: never
}
