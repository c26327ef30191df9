package tenant

import (
	"fmt"
	"strings"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// MaxOrgPartitions bounds an organization-wide search: its partitions are
// searched as one index, which has to be in memory. More of them is the caller's to
// mend (422), since waiting does not.
const MaxOrgPartitions = 20_000

// errTooManyPartitions refuses an organization-wide search that would be
// incomplete.
var errTooManyPartitions = fmt.Errorf("org covers at most %d subjects and members, and this organization has more: "+
	"ask with a subject, or with scope user", MaxOrgPartitions)

// VisiblePartitions lists the partitions that the whole organization's reads cover: the
// sandbox sees itself.
func (c *Call) VisiblePartitions(st *storage.Store) ([]*partition.Ref, error) {
	if c.Part.Kind == pb.PartitionSandbox {
		return []*partition.Ref{c.Part}, nil
	}
	return c.Org.AllPartitions(st)
}

// AllPartitions lists the partitions that scope org covers.
func (o *View) AllPartitions(r storage.Reader) ([]*partition.Ref, error) {
	var parts []*partition.Ref
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TablePartition), storage.ScanOptions{},
		func() *pb.Partition { return &pb.Partition{} }) {
		if err != nil {
			return nil, err
		}
		if rec.Value.GetErasing() {
			continue
		}
		if len(parts) == MaxOrgPartitions {
			return nil, errTooManyPartitions
		}
		id, err := pb.PartitionIDFrom(rec.Value.GetId())
		if err != nil {
			return nil, err
		}
		parts = append(parts, partition.NewRef(o.Store, o, id, rec.Value))
	}
	return parts, nil
}

// OwnerOf returns the partition that a node's id says it lies in, or nil where
// that is another one.
func OwnerOf(parts []*partition.Ref, id pb.NodeID) *partition.Ref {
	at, err := PartitionIn(id)
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

// PartitionIn reads the partition of a node's id: the second part of every one.
func PartitionIn(id pb.NodeID) (pb.PartitionID, error) {
	_, rest, _ := strings.Cut(string(id), ":")
	owner, _, _ := strings.Cut(rest, ":")
	return pb.ParsePartitionID(owner)
}
