package actors

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxRecentNodes and maxRecentBytes bound what one organization in memory keeps of
	// the nodes that were read: those of some pages that people look at, 128 KiB.
	maxRecentNodes = 64
	maxRecentBytes = 2 << 10 // of one node
)

// recentNodes are nodes as they were read, for as long as their store holds nothing
// newer: a node that is read again costs neither a turn in the read pool nor two
// lookups. Whatever is written to the organization, they are forgotten. Nobody
// changes one: it may be in several answers.
type recentNodes struct {
	mu      sync.Mutex
	applied uint64 // by the store, when they were read
	nodes   map[recentKey]*pb.NodeInfo
}

type recentKey struct {
	part pb.PartitionID
	id   pb.NodeID
}

// find returns a node that was read before, if that is what the store still holds;
// nil when it has to be read.
func (r *recentNodes) find(o *tenant.View, key recentKey) (*pb.NodeInfo, error) {
	r.mu.Lock()
	info, applied := r.nodes[key], r.applied
	r.mu.Unlock()
	if info == nil {
		return nil, nil
	}
	err := o.WithStore(func(st *storage.Store) error {
		if now, settled := st.Settled(); !settled || now != applied {
			info = nil
		}
		return nil
	})
	return info, err
}

// keep remembers a node that was read since the store was settled at applied.
func (r *recentNodes) keep(applied uint64, key recentKey, info *pb.NodeInfo) {
	if proto.Size(info) > maxRecentBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if applied < r.applied {
		return
	}
	if applied > r.applied || len(r.nodes) >= maxRecentNodes || r.nodes == nil {
		r.applied, r.nodes = applied, make(map[recentKey]*pb.NodeInfo)
	}
	r.nodes[key] = info
}

// forget drops them: the store has moved on.
func (r *recentNodes) forget() {
	r.mu.Lock()
	r.nodes = nil
	r.mu.Unlock()
}
