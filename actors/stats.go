package actors

import (
	"sync/atomic"

	"orgmem/actors/node"
)

// counters count since the start.
type counters struct {
	orgActivations, orgsLost, itemsIngested, cycles atomic.Uint64
}

// Stats is what the actors show of themselves, for metrics.
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
	// Of a node of several: what it asked others, what it answered them, and what
	// was lost on the way because a connection ended.
	AskedElsewhere, AnsweredForOthers, LostOnTheWay uint64
}

// Stats returns the current figures.
func (s *System) Stats() Stats {
	s.mu.Lock()
	active := len(s.orgs)
	s.mu.Unlock()
	st := Stats{
		ActiveOrgs: active, CallsInFlight: s.calls.Load(), OrgActivations: s.counters.orgActivations.Load(), OrgsLost: s.counters.orgsLost.Load(),
		ItemsIngested: s.counters.itemsIngested.Load(), CognitionCycles: s.counters.cycles.Load(), SnapshotLoads: s.parts.Loads.Load(),
		ReadQueueLen: s.reads.Length(), ReadQueueCap: node.ReadQueue, IngestTasksQueue: s.cpu.Waiting(),
		ReadingBytes: s.memory.Used(), ReadingBytesLimit: s.memory.Limit(), ReadingsWaiting: s.memory.Waiting(),
	}
	st.SnapshotBytes, st.SnapshotsLoaded = s.parts.Use()
	for _, f := range s.features {
		f.Stats(&st)
	}
	return st
}
