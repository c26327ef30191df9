package graph

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxRecentNodes bounds the nodes that are kept for one organization in memory: those of some pages that people look
	// at, 128 KiB in all.
	MaxRecentNodes = 64
	// MaxRecentBytes bounds the size of one of them; a larger one is read each time.
	MaxRecentBytes = 2 << 10
)

// RecentNodes are nodes as they were last read, valid until the next write to the organization. Reading one of them
// again costs neither a turn in the read pool nor two lookups. Nobody changes a node here, since it may be in several
// answers. Its methods may be called from any goroutine.
type RecentNodes struct {
	Mu      sync.Mutex
	applied uint64 // by the store, when they were read
	Nodes   map[RecentKey]*pb.NodeInfo
}

// RecentKey is the partition and the id of a node that was read.
type RecentKey struct {
	Part pb.PartitionID
	ID   pb.NodeID
}

// Find returns a node that was read before, if the store has not changed since; nil when it has to be read.
func (r *RecentNodes) Find(o *tenant.View, key RecentKey) (*pb.NodeInfo, error) {
	r.Mu.Lock()
	info, applied := r.Nodes[key], r.applied
	r.Mu.Unlock()
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

// Keep remembers a node that was read since the store was settled at applied.
func (r *RecentNodes) Keep(applied uint64, key RecentKey, info *pb.NodeInfo) {
	if proto.Size(info) > MaxRecentBytes {
		return
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if applied < r.applied {
		return
	}
	if applied > r.applied || len(r.Nodes) >= MaxRecentNodes || r.Nodes == nil {
		r.applied, r.Nodes = applied, make(map[RecentKey]*pb.NodeInfo)
	}
	r.Nodes[key] = info
}

// forget drops all nodes, since the store has changed.
func (r *RecentNodes) forget() {
	r.Mu.Lock()
	r.Nodes = nil
	r.Mu.Unlock()
}
