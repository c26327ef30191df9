package tenant

import (
	"runtime"
	"sync"

	"orgmem/actors/budget"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	pb "orgmem/proto"
)

// maxReadingsPerOrg bounds the files of one organization that are read or wait for
// that. Each holds an upload, which the edge counts.
const maxReadingsPerOrg = 64

// resources are what the organizations of a node share out among themselves: its workers, with the working memory of
// each, and the memory for reading and embedding.
type resources struct {
	Reads           *node.ReadPool
	Readers         []Reader // one per read worker
	CPU             *node.CPUPool
	Computers       []computer     // one per CPU worker
	ReadingMemory   *budget.Budget // for reading files, until their texts are accepted
	EmbeddingMemory *budget.Budget // for cutting and embedding texts: apart, since that takes minutes

	readingsMu sync.Mutex
	readings   map[pb.OrgID]int // the files of an organization that are read or wait for that
}

func newResources(cfg *Config, queries *partition.QueryCache) resources {
	readers := 2 * runtime.GOMAXPROCS(0) // some wait for the disk
	log := cfg.Logger
	workers := make([]Reader, readers)
	for i := range workers {
		workers[i].Queries = queries
	}
	return resources{
		Reads:           node.NewReadPool(readers, func(err error) { log.Error("read failed", "err", err) }),
		Readers:         workers,
		CPU:             node.NewCPUPool(cfg.Workers, cfg.Clock),
		Computers:       make([]computer, cfg.Workers),
		ReadingMemory:   budget.New(cfg.ReadingBytes, cfg.Clock),
		EmbeddingMemory: budget.New(cfg.ReadingBytes/2, cfg.Clock),
		readings:        make(map[pb.OrgID]int),
	}
}

// AcquireReading counts a file of an organization; false: it has as many as it may.
func (r *resources) AcquireReading(org pb.OrgID) bool {
	r.readingsMu.Lock()
	defer r.readingsMu.Unlock()
	if r.readings[org] == maxReadingsPerOrg {
		return false
	}
	r.readings[org]++
	return true
}

// ReleaseReading counts it out.
func (r *resources) ReleaseReading(org pb.OrgID) {
	r.readingsMu.Lock()
	defer r.readingsMu.Unlock()
	if r.readings[org]--; r.readings[org] == 0 {
		delete(r.readings, org)
	}
}
