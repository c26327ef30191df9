package actors

import pb "orgmem/proto"

// attend wakes a partition's worker, which looks after the partition by itself.
// One that is being purged or erased is left alone.
func (o *orgActor) attend(id pb.PartitionID) {
	if _, held := o.held[id]; held || o.lost || o.children[id] != nil {
		return
	}
	part, err := o.loadPartition(id)
	if err != nil {
		o.sys.log.Error("could not look after a partition; the next search tries again", "org", o.id.String(), "err", err)
		return
	}
	if part != nil {
		o.child(part)
	}
}
