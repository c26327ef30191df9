package cluster

import (
	"sync/atomic"

	"orgmem/cluster/wire"
)

// GroupStatus is one group as doctor and the metrics see it.
type GroupStatus struct {
	Group    uint32        // 0 is the meta group, 1 to n are the shards
	Leader   wire.ServerID // empty while the group has no leader
	Leading  bool          // this node leads and has caught up
	Term     uint64        // raft's current term
	Last     uint64        // index of the last log entry
	Applied  uint64        // index of the last entry that was applied to a store
	Fresh    bool          // it began with nothing and does not know its group yet; it votes for nobody
	Restores bool          // stores are being fetched from another node
	Snapshot uint64        // index up to which the stores are flushed
	LogBytes int64         // bytes of entries applied since Snapshot
	InFlight int           // proposals not answered yet
}

// Stats counts what happened since the host was started.
type Stats struct {
	Proposed           uint64 // entered a log, or were on their way to it
	Busy               uint64 // refused because too much was in flight
	Fenced             uint64 // refused where they would have been applied
	Unknown            uint64 // ended with an unknown outcome
	Compactions        uint64 // logs flushed, marked and cut
	CompactionFailures uint64 // tried again later
	Transfers          uint64 // stores that came from other nodes
	TransferRetries    uint64 // attempts at one that failed
	TransferredBytes   uint64 // received for them
	StoresMended       uint64 // damaged here, and replaced by another node's

	Load uint32 // how busy this node says it is, in thousandths of what it can do; 0 without a network

	InFlightBytes int64 // of all proposals not answered yet
	LogBytes      int64 // that a restart now would replay

	Keys, KeysLimit int // key hashes in the directory, and how many there may be
}

// counters are Stats as they are counted.
type counters struct {
	proposed, busy, fenced, unknown, compactions, compactionFailures atomic.Uint64
	storesMended                                                     atomic.Uint64
}

// Stats returns the counters.
func (h *Host) Stats() Stats {
	keys := h.directory.KeyStats()
	var load uint32
	if h.cfg.Network != nil {
		load = h.cfg.Network.Load()
	}
	return Stats{
		Load:               load,
		Proposed:           h.stats.proposed.Load(),
		Busy:               h.stats.busy.Load(),
		Fenced:             h.stats.fenced.Load(),
		Unknown:            h.stats.unknown.Load(),
		Compactions:        h.stats.compactions.Load(),
		CompactionFailures: h.stats.compactionFailures.Load(),
		Transfers:          h.transfers.Fetched.Load(),
		TransferRetries:    h.transfers.Retried.Load(),
		TransferredBytes:   h.transfers.Received.Load(),
		StoresMended:       h.stats.storesMended.Load(),
		InFlightBytes:      h.inFlightBytes.Load(),
		LogBytes:           h.logBytes.Load(),
		Keys:               keys.Keys,
		KeysLimit:          keys.Limit,
	}
}
