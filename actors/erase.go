package actors

import (
	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// What erasing a memory, purging it and forgetting a part of it share. Bytes
// leave the disk by themselves once they are erased (storage.Batch.EraseRange,
// cluster.Host), within a minute and across restarts; here is what must be
// erased beside the memory itself, because it tells of it from outside.

// eraseAtOnce is how many records one commit of an erasure erases: some 130 KB in
// the log of the largest, which are jobs with their indexes. A subject may have
// hundreds of thousands of jobs, outcomes and events, which fit in no batch.
const eraseAtOnce = 1000

// eraseRecords erases the records of an organization's table that pick takes: it
// puts what goes into the batch and reports whether it did. Behind each commit
// committed is called. A crash between two leaves some of them erased: whoever
// calls this must be able to do it again.
func eraseRecords[M proto.Message](o *orgView, table storage.Table, empty func() M, pick func(*storage.Batch, storage.Key, M) (bool, error), committed func()) error {
	opts := storage.ScanOptions{}
	for {
		found := 0
		b := storage.NewBatch(o.store)
		err := o.withStore(func(st *storage.Store) error {
			for rec, err := range storage.ScanRecords(st, o.space.Prefix(table), opts, empty) {
				if err != nil {
					return err
				}
				opts.After = rec.Key
				picked, err := pick(b, rec.Key, rec.Value)
				if err != nil {
					return err
				}
				if !picked {
					continue
				}
				if found++; found == eraseAtOnce {
					return nil
				}
			}
			return nil
		})
		if err != nil || found == 0 {
			return err
		}
		if err := o.committer.Commit(b); err != nil {
			return err
		}
		committed()
		if found < eraseAtOnce {
			return nil
		}
	}
}

// eraseJobRecords erases the records of a partition's jobs, the unfinished ones
// too, but for those that erase it.
func (o *orgView) eraseJobRecords(ref *partition.Ref) error {
	dropped := 0
	return eraseRecords(o, storage.TableJob, func() *pb.Job { return &pb.Job{} }, func(b *storage.Batch, key storage.Key, job *pb.Job) (bool, error) {
		if string(job.GetPartition()) != string(ref.ID[:]) || job.GetType() == pb.JobSubjectErase {
			return false, nil
		}
		id, err := pb.JobIDFrom(job.GetId())
		if err != nil {
			return false, err
		}
		if !terminal(job.GetStatus()) {
			dropped++
		}
		b.Erase(key)
		b.Delete(o.space.Key(storage.TableJobByTime, storage.U64Desc(uint64(job.GetCreatedMs())), storage.ID16(id)))
		b.Delete(o.space.Key(storage.TableJobOpen, storage.ID16(id)))
		return true, nil
	}, func() {
		n := dropped
		dropped = 0
		o.tell(func(o *orgActor) { o.openJobs -= n })
	})
}

// eraseOutcomes erases what requests to a memory were answered, which a replay
// would answer again. Their entries in the order of expiry say nothing, and expire.
func (o *orgView) eraseOutcomes(ref *partition.Ref) error {
	return eraseRecords(o, storage.TableIdempotency, func() *pb.Idempotency { return &pb.Idempotency{} }, func(b *storage.Batch, key storage.Key, rec *pb.Idempotency) (bool, error) {
		return eraseOf(b, key, rec, ref), nil
	}, func() {})
}

// eraseEvents erases the events of a memory that nobody was told of yet.
func (o *orgView) eraseEvents(ref *partition.Ref) error {
	return eraseRecords(o, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }, func(b *storage.Batch, key storage.Key, rec *pb.OutboxEvent) (bool, error) {
		return eraseOf(b, key, rec, ref), nil
	}, func() {})
}

// eraseDeliveries erases the attempts at telling of a memory: what a receiver
// answered may name it.
func (o *orgView) eraseDeliveries(ref *partition.Ref) error {
	return eraseRecords(o, storage.TableDelivery, func() *pb.Delivery { return &pb.Delivery{} }, func(b *storage.Batch, key storage.Key, rec *pb.Delivery) (bool, error) {
		return eraseOf(b, key, rec, ref), nil
	}, func() {})
}

// eraseOf erases a record where it is of a partition, and reports whether it is.
func eraseOf(b *storage.Batch, key storage.Key, rec interface{ GetPartition() []byte }, ref *partition.Ref) bool {
	if string(rec.GetPartition()) != string(ref.ID[:]) {
		return false
	}
	b.Erase(key)
	return true
}

// sweepTickets deletes confirm tokens that were not used, and what came of those
// that were, long ago.
func (o *orgView) sweepTickets(b *storage.Batch, st storage.Reader) error {
	now := clock.Millis(o.sys.clock.Now())
	for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TablePurgeTicket), storage.ScanOptions{}, func() *pb.PurgeTicket { return &pb.PurgeTicket{} }) {
		if err != nil {
			return err
		}
		if now >= rec.Value.GetExpiresMs() {
			b.Delete(rec.Key)
		}
	}
	for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TablePurgeRun), storage.ScanOptions{}, func() *pb.PurgeRun { return &pb.PurgeRun{} }) {
		if err != nil {
			return err
		}
		if done := rec.Value.GetPurgedMs(); done != 0 && now-done >= purgeOutcomeLife.Milliseconds() {
			b.Delete(rec.Key)
		}
	}
	return nil
}
