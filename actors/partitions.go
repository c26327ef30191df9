package actors

import (
	"fmt"
	"strings"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxOrgPartitions bounds an organization-wide search: its partitions are
// searched as one index, which has to be in memory. More of them is the caller's to
// mend (422), since waiting does not.
const maxOrgPartitions = 20_000

// errTooManyPartitions refuses an organization-wide search that would be
// incomplete.
var errTooManyPartitions = fmt.Errorf("org covers at most %d subjects and members, and this organization has more: ask with a subject, or with scope user", maxOrgPartitions)

// everywhere lists the partitions that the whole organization's reads cover: the
// sandbox sees itself.
func (c *call) everywhere(st *storage.Store) ([]*partition.Ref, error) {
	if c.part.Kind == pb.PartitionSandbox {
		return []*partition.Ref{c.part}, nil
	}
	return c.org.allPartitions(st)
}

// allPartitions lists the partitions that scope org covers.
func (o *orgView) allPartitions(r storage.Reader) ([]*partition.Ref, error) {
	var parts []*partition.Ref
	for rec, err := range storage.ScanRecords(r, o.space.Prefix(storage.TablePartition), storage.ScanOptions{}, func() *pb.Partition { return &pb.Partition{} }) {
		if err != nil {
			return nil, err
		}
		if rec.Value.GetErasing() {
			continue
		}
		if len(parts) == maxOrgPartitions {
			return nil, errTooManyPartitions
		}
		id, err := pb.PartitionIDFrom(rec.Value.GetId())
		if err != nil {
			return nil, err
		}
		parts = append(parts, partition.NewRef(o.store, o, id, rec.Value))
	}
	return parts, nil
}

// ownerOf returns the partition that a node's id says it lies in; nil when that is none
// of them.
func ownerOf(parts []*partition.Ref, id pb.NodeID) *partition.Ref {
	at, err := partitionIn(id)
	if err != nil {
		return nil
	}
	for _, part := range parts { // there may be thousands, and a walk asks for each entity
		if part.ID == at {
			return part
		}
	}
	return nil
}

// partitionIn reads the partition of a node's id: the second part of every one.
func partitionIn(id pb.NodeID) (pb.PartitionID, error) {
	_, rest, _ := strings.Cut(string(id), ":")
	owner, _, _ := strings.Cut(rest, ":")
	return pb.ParsePartitionID(owner)
}
