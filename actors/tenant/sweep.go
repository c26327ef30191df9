package tenant

import (
	"time"

	pb "orgmem/proto"
	"orgmem/storage"
)

// sweeper deletes what has expired of an organization.
type sweeper struct {
	org      *Org
	sweeping bool // a sweep's commit, or the pause to the next, is under way
}

// Expire deletes what has expired: outcomes for replay, finished jobs, and what the
// modules say. Where that is more than one sweep takes, it goes on soon.
func (s *sweeper) Expire() {
	if s.org.Failed != nil || s.org.Retired || s.org.record == nil || s.sweeping {
		return
	}
	now := s.org.System.Clock.Now()
	b := storage.NewBatch(s.org.Store)
	most := 0
	err := s.org.WithStore(func(st *storage.Store) error {
		outcomes, err := s.sweepOutcomes(st, b, now.Add(-IdempotencyRetention))
		if err != nil {
			return err
		}
		jobs, err := s.sweepJobs(st, b, now.Add(-JobRetention))
		if err != nil {
			return err
		}
		most = max(outcomes, jobs)
		for _, m := range s.org.Modules {
			n, err := m.Sweep(st, b, now)
			if err != nil {
				return err
			}
			most = max(most, n)
		}
		return nil
	})
	if err != nil {
		s.org.System.Log.Error("sweep failed; it is tried again", "org", s.org.ID.String(), "err", err)
		return
	}
	if b.Len() == 0 {
		return
	}
	s.sweeping = true
	s.org.Committer.Submit(b, func(err error) {
		if err != nil {
			s.org.System.Log.Warn("sweep was not committed; it is tried again", "org", s.org.ID.String(), "err", err)
		} else {
			s.org.InMailbox(func() {
				for _, m := range s.org.Modules {
					m.Swept()
				}
			})
		}
		again := func() { s.org.InMailbox(func() { s.sweeping = false; s.Expire() }) }
		if err == nil && most == MaxSweep {
			s.org.System.Clock.AfterFunc(SweepPause, again)
			return
		}
		s.org.InMailbox(func() { s.sweeping = false })
	})
}

// sweepOutcomes deletes outcomes for replay from before a time, and returns how
// many it has looked at.
func (s *sweeper) sweepOutcomes(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	for item, err := range st.Scan(s.org.Space.Prefix(storage.TableIdempotencyByTime),
		storage.ScanOptions{Limit: MaxSweep}) {
		if err != nil {
			return n, err
		}
		parts := item.Key.Parts()
		at, key := parts.U64(), parts.Hash32()
		if err := parts.Done(); err != nil {
			return n, err
		}
		if int64(at) > before.UnixMilli() {
			break
		}
		n++
		if _, underway := s.org.replaysInFlight[IdemKey(key)]; underway {
			continue // it is being used again; its new record may be on its way
		}
		b.Delete(item.Key)
		// A key used again after its first record expired has a newer one.
		rec := &pb.Idempotency{}
		recKey := s.org.Space.Key(storage.TableIdempotency, storage.Hash32(key))
		if found, err := st.Get(recKey, rec); err != nil {
			return n, err
		} else if found && rec.GetCreatedMs() == int64(at) {
			b.Delete(recKey)
		}
	}
	return n, nil
}

// sweepJobs deletes finished jobs that began before a time, and returns how many
// it has looked at.
func (s *sweeper) sweepJobs(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	for item, err := range st.Scan(s.org.Space.Prefix(storage.TableJobByTime),
		storage.ScanOptions{Reverse: true, Limit: MaxSweep}) {
		if err != nil {
			return n, err
		}
		parts := item.Key.Parts()
		at, id := parts.U64Desc(), pb.JobID(parts.ID16())
		if err := parts.Done(); err != nil {
			return n, err
		}
		if int64(at) > before.UnixMilli() {
			break
		}
		n++
		job := &pb.Job{}
		if found, err := st.Get(s.org.Space.Key(storage.TableJob, storage.ID16(id)), job); err != nil {
			return n, err
		} else if !found || !Terminal(job.GetStatus()) {
			continue
		}
		b.Delete(item.Key)
		b.Delete(s.org.Space.Key(storage.TableJob, storage.ID16(id)))
		if part, err := pb.PartitionIDFrom(job.GetPartition()); err == nil {
			b.DeleteRange(storage.PartitionSpace(s.org.Store, part).Prefix(storage.TableJobItem, storage.ID16(id)))
		}
	}
	return n, nil
}
