package webhook

import (
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// MaxDeliveries is how many attempts are kept of each endpoint.
const MaxDeliveries = 50

// deliveryLog is the last attempts to deliver to each endpoint of an organization.
type deliveryLog struct{ org *tenant.Org }

// entries are the keys of an endpoint's attempts.
func (l deliveryLog) entries(id pb.WebhookID) storage.Range {
	return l.org.Space.Prefix(storage.TableDelivery, storage.ID16(id))
}

// last reads the attempts that are kept of an endpoint, newest first. It may be called from any goroutine.
func (l deliveryLog) last(r storage.Reader, id pb.WebhookID) (attempts []*pb.Delivery, err error) {
	for rec, err := range storage.ScanRecords(r, l.entries(id), storage.ScanOptions{Reverse: true, Limit: MaxDeliveries},
		func() *pb.Delivery { return &pb.Delivery{} }) {
		if err != nil {
			return nil, err
		}
		attempts = append(attempts, rec.Value)
	}
	return attempts, nil
}

// add adds attempts to an endpoint's log, whose oldest entries leave. The caller writes the endpoint. Attempts to
// deliver an event of a memory that was erased meanwhile are counted and not kept: a receiver may have answered with
// its name.
func (l deliveryLog) add(ch *commit.Change, hook *pb.Webhook, made []*pb.Delivery) error {
	before := hook.GetAttempts()
	entry := func(n uint64) storage.Key {
		return l.org.Space.Key(storage.TableDelivery, storage.ID16(pb.WebhookID(hook.GetId())), storage.U64(n))
	}
	for i, d := range made {
		hook.Attempts++
		hook.LastDeliveryMs = d.GetAtMs()
		if d.GetOk() {
			hook.LastSuccessMs = d.GetAtMs()
		}
		if len(made)-i > MaxDeliveries { // it would leave at once
			continue
		}
		if of := d.GetPartition(); len(of) > 0 {
			id, err := pb.PartitionIDFrom(of)
			if err != nil {
				return err
			}
			part, err := l.org.LoadPartition(id)
			if err != nil {
				return err
			}
			if part == nil {
				continue
			}
		}
		ch.Put(entry(hook.GetAttempts()), d)
	}
	for n := before + 1; n <= hook.GetAttempts(); n++ {
		if n > MaxDeliveries && n-MaxDeliveries <= before {
			ch.Delete(entry(n - MaxDeliveries))
		}
	}
	return nil
}

// erase erases the attempts to deliver events of a memory: what a receiver answered may name it. It is called beside
// the mailbox.
func (l deliveryLog) erase(ref *partition.Ref) error {
	return tenant.EraseRecords(&l.org.View, storage.TableDelivery, func() *pb.Delivery { return &pb.Delivery{} },
		func(b *storage.Batch, key storage.Key, rec *pb.Delivery) (bool, error) {
			return tenant.EraseOf(b, key, rec, ref), nil
		}, func() {})
}
