package tenant

import pb "orgmem/proto"

// WakePartition wakes a partition's worker, which looks after the partition by itself.
// One that is being purged or erased is left alone.
func (o *Org) WakePartition(id pb.PartitionID) {
	if _, held := o.HeldCalls[id]; held || o.Retired || o.Children[id] != nil {
		return
	}
	part, err := o.LoadPartition(id)
	if err != nil {
		o.System.Log.Error("could not look after a partition; the next search tries again", "org", o.ID.String(), "err", err)
		return
	}
	if part != nil {
		o.Child(part)
	}
}
