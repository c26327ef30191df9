package tenant

import (
	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/storage"
)

// What erasing a memory, purging it and forgetting a part of it share. Bytes
// leave the disk by themselves once they are erased (storage.Batch.EraseRange,
// cluster.Host), within a minute and across restarts; here is what must be
// erased beside the memory itself, because it tells of it from outside.

// EraseAtOnce is how many records one commit of an erasure erases: some 130 KB in
// the log of the largest, which are jobs with their indexes. A subject may have
// hundreds of thousands of jobs, outcomes and events, which fit in no batch.
const EraseAtOnce = 1000

// EraseRecords erases the records of an organization's table that pick takes: it
// puts what goes into the batch and reports whether it did. Behind each commit
// committed is called. A crash between two leaves some of them erased, so
// the caller must be able to do it again.
func EraseRecords[M proto.Message](
	o *View, table storage.Table, empty func() M, pick func(*storage.Batch, storage.Key, M) (bool, error),
	committed func(),
) error {
	opts := storage.ScanOptions{}
	for {
		found := 0
		b := storage.NewBatch(o.Store)
		err := o.WithStore(func(st *storage.Store) error {
			for rec, err := range storage.ScanRecords(st, o.Space.Prefix(table), opts, empty) {
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
				if found++; found == EraseAtOnce {
					return nil
				}
			}
			return nil
		})
		if err != nil || found == 0 {
			return err
		}
		if err := o.Committer.Commit(b); err != nil {
			return err
		}
		committed()
		if found < EraseAtOnce {
			return nil
		}
	}
}

// EraseOf erases a record where it is of a partition, and reports whether it is.
func EraseOf(b *storage.Batch, key storage.Key, rec interface{ GetPartition() []byte }, ref *partition.Ref) bool {
	if string(rec.GetPartition()) != string(ref.ID[:]) {
		return false
	}
	b.Erase(key)
	return true
}
