package actors

import (
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// What erasing a memory, purging it and forgetting a part of it share. Bytes
// leave the disk by themselves once they are erased (storage.Batch.EraseRange,
// cluster.Host), within a minute and across restarts; here is what must be
// erased beside the memory itself, because it tells of it from outside.

// endJobs cancels the jobs of memories that are purged. Their items lie in the
// memories and go with them; the records stay, without the words of an error,
// which may quote what is gone. It returns the jobs that it has ended.
func (o *orgView) endJobs(ch *change, st storage.Reader, parts []*partitionRef, now int64) (ended []pb.JobID, err error) {
	purged := map[pb.PartitionID]bool{}
	for _, part := range parts {
		purged[part.id] = true
	}
	for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TableJob), storage.ScanOptions{}, func() *pb.Job { return &pb.Job{} }) {
		if err != nil {
			return nil, err
		}
		job := rec.Value
		part, err := pb.PartitionIDFrom(job.GetPartition())
		if err != nil {
			return nil, err
		}
		if !purged[part] || job.GetType() == jobSubjectErase || job.GetType() == jobExport {
			continue
		}
		open := !terminal(job.GetStatus())
		if !open && job.GetErrorDetail() == "" {
			continue
		}
		ch.Erase(rec.Key) // the record that is written behind it is the only one that is left
		if job.ErrorDetail != "" {
			job.ErrorDetail = "The memory was purged."
		}
		if !open {
			updateJob(ch.Batch, o.space, job)
			continue
		}
		id := pb.JobID(job.GetId())
		job.Status, job.FinishedMs = jobCancelled, now
		finishJob(ch.Batch, o.space, job)
		if err := ch.jobCompleted(o, job); err != nil {
			return nil, err
		}
		ended = append(ended, id)
	}
	return ended, nil
}

// eraseOutcomes erases what requests to memories were answered, which a replay
// would answer again.
func (o *orgView) eraseOutcomes(b *storage.Batch, st storage.Reader, parts []*partitionRef) error {
	gone := map[pb.PartitionID]bool{}
	for _, part := range parts {
		gone[part.id] = true
	}
	for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TableIdempotency), storage.ScanOptions{}, func() *pb.Idempotency { return &pb.Idempotency{} }) {
		if err != nil {
			return err
		}
		part, err := pb.PartitionIDFrom(rec.Value.GetPartition())
		if err != nil {
			return err
		}
		if gone[part] {
			b.Erase(rec.Key) // its entry in the order of expiry says nothing, and expires
		}
	}
	return nil
}

// eraseEvents erases the events of a memory that nobody was told of yet.
func (o *orgView) eraseEvents(b *storage.Batch, st storage.Reader, part pb.PartitionID) error {
	for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TableOutbox), storage.ScanOptions{}, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			return err
		}
		if string(rec.Value.GetPartition()) == string(part[:]) {
			b.Erase(rec.Key)
		}
	}
	return nil
}

// sweepTickets deletes confirm tokens that were not used.
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
	return nil
}
