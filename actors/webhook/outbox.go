package webhook

import (
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// OutboxRetention is how long an event can wait to be delivered. The retries of one event end within minutes: an older
// one waits for a receiver that is slower than the events come, or for a service that was down for days.
const OutboxRetention = 72 * time.Hour

// outbox is the committed events of an organization, by their numbers. It keeps nothing in memory, and may be used from
// any goroutine.
type outbox struct{ org *tenant.View }

// get reads one event, nil when it is gone.
func (x outbox) get(r storage.Reader, seq uint64) (*pb.OutboxEvent, error) {
	e := &pb.OutboxEvent{}
	found, err := r.Get(x.org.Space.Key(storage.TableOutbox, storage.U64(seq)), e)
	if err != nil || !found {
		return nil, err
	}
	return e, nil
}

// sweep deletes events that are past their retention, and returns how many. The newest stays, since the next event is
// numbered after it.
func (x outbox) sweep(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	var old storage.Key // goes once a newer one is seen
	for rec, err := range storage.ScanRecords(st, x.org.Space.Prefix(storage.TableOutbox),
		storage.ScanOptions{Limit: tenant.MaxSweep + 1}, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			return n, err
		}
		if !old.IsZero() {
			b.Delete(old)
			n++
		}
		if rec.Value.GetAtMs() > before.UnixMilli() {
			return n, nil
		}
		old = rec.Key
	}
	return n, nil
}

// erase erases the events of a memory. It is called beside the mailbox.
func (x outbox) erase(ref *partition.Ref) error {
	return tenant.EraseRecords(x.org, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} },
		func(b *storage.Batch, key storage.Key, rec *pb.OutboxEvent) (bool, error) {
			return tenant.EraseOf(b, key, rec, ref), nil
		}, func() {})
}
