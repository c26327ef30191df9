package tenant

import (
	"sync/atomic"

	"orgmem/actors/node"
)

// counters count since the start.
type counters struct {
	orgActivations, orgsLost, ItemsIngested, Cycles, ChunksMoved atomic.Uint64
}

// Stats is what the actors show of themselves, for metrics. Large because it is a flat list of figures, one for each
// metric of docs/operations.md, that the edge copies out by name.
type Stats struct {
	ActiveOrgs      int
	CallsInFlight   int64
	OrgActivations  uint64
	OrgsLost        uint64
	ItemsIngested   uint64
	CognitionCycles uint64
	EventStreams    int
	// Of webhooks: attempts that succeeded and that failed, and endpoints that were
	// disabled for it.
	Deliveries, DeliveriesFailed, WebhooksDisabled uint64
	SnapshotBytes                                  int64
	SnapshotsLoaded                                int
	SnapshotLoads                                  uint64
	ReadQueueLen                                   int
	ReadQueueCap                                   int
	IngestTasksQueue                               int
	// Of the memory for reading files: what is granted, what may be, and who waits.
	ReadingBytes, ReadingBytesLimit, ReadingsWaiting int
	// ChunksMoved were embedded anew, ChunksToMove are still to be, as far as the node knows of those that it leads.
	ChunksMoved, ChunksToMove uint64
	// Of a node of several: what it asked others, what it answered them, and what
	// was lost on the way because a connection ended.
	AskedElsewhere, AnsweredForOthers, LostOnTheWay uint64
}

// Stats returns the current figures.
func (s *System) Stats() Stats {
	st := Stats{
		ActiveOrgs: s.number(), CallsInFlight: s.calls.Calls(),
		OrgActivations: s.Counters.orgActivations.Load(), OrgsLost: s.Counters.orgsLost.Load(),
		ItemsIngested: s.Counters.ItemsIngested.Load(), CognitionCycles: s.Counters.Cycles.Load(),
		SnapshotLoads: s.Memory.Loads.Load(),
		ReadQueueLen:  s.Reads.Length(), ReadQueueCap: node.ReadQueue, IngestTasksQueue: s.CPU.Waiting(),
		ReadingBytes: s.ReadingMemory.Used(), ReadingBytesLimit: s.ReadingMemory.Limit(),
		ReadingsWaiting: s.ReadingMemory.Waiting(), ChunksMoved: s.Counters.ChunksMoved.Load(),
	}
	st.SnapshotBytes, st.SnapshotsLoaded = s.Memory.Use()
	for _, f := range s.Features {
		f.Stats(&st)
	}
	return st
}
