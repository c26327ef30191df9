package actors

import (
	"encoding/binary"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// inOrg runs f in the key's organization.
func (c client) inOrg(f func(o *tenant.Org)) {
	c.n.t.Helper()
	err := c.n.sys.Visit(c.n.t.Context(), c.orgID(), func(o *tenant.Org, done func(error)) { f(o); done(nil) })
	if err != nil {
		c.n.t.Fatal(err)
	}
}

// count counts the records of a range of the organization's store.
func (c client) count(r storage.Range) int {
	c.n.t.Helper()
	st, err := c.n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		c.n.t.Fatal(err)
	}
	defer st.Release()
	n := 0
	for _, err := range st.Scan(r, storage.ScanOptions{}) {
		if err != nil {
			c.n.t.Fatal(err)
		}
		n++
	}
	return n
}

// TestSweepGoesOnUntilNothingIsLeft: not one sweep's worth each time that the
// organization looks.
func TestSweepGoesOnUntilNothingIsLeft(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var o *tenant.Org
	c.inOrg(func(org *tenant.Org) { o = org })
	const records = 2*tenant.MaxSweep + 1
	old := uint64(n.clock.Now().Add(-2 * tenant.IdempotencyRetention).UnixMilli())
	b := storage.NewBatch(o.Store)
	for i := range records {
		var key [32]byte
		binary.BigEndian.PutUint32(key[:], uint32(i))
		b.PutRaw(o.Space.Key(storage.TableIdempotencyByTime, storage.U64(old), storage.Hash32(key)), nil)
		b.Put(o.Space.Key(storage.TableIdempotency, storage.Hash32(key)), &pb.Idempotency{CreatedMs: int64(old)})
	}
	if err := o.Committer.Commit(b); err != nil {
		t.Fatal(err)
	}
	n.clock.Advance(tenant.SweepInterval)
	for sweep := 1; sweep <= 3; sweep++ {
		c.inOrg(func(*tenant.Org) {}) // the tick, or the end of the pause, came before
		if err := o.Committer.Commit(storage.NewBatch(o.Store)); err != nil {
			t.Fatal(err) // and the sweep's commit before this
		}
		want := max(0, records-sweep*tenant.MaxSweep)
		for _, table := range []storage.Table{storage.TableIdempotencyByTime, storage.TableIdempotency} {
			if got := c.count(o.Space.Prefix(table)); got != want {
				t.Fatalf("after sweep %d there are %d records in table %v, want %d", sweep, got, table, want)
			}
		}
		n.clock.Advance(tenant.SweepPause)
	}
}

// TestSubjectWithManyJobsIsErasedInBoundedBatches, and a crash between two of
// them is harmless.
func TestSubjectWithManyJobsIsErasedInBoundedBatches(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.put("ben")
	kept := jobOf(c.as("ben").ok(items(doc("", "Ben keeps this."))))
	n.wait(kept)
	var o *tenant.Org
	var part *partition.Ref
	var err error
	c.inOrg(func(org *tenant.Org) { o = org; part, err = org.LookupSubject("anna") })
	if err != nil || part == nil {
		t.Fatal(part, err)
	}
	st, err := n.store.Acquire(o.Store)
	if err != nil {
		t.Fatal(err)
	}
	const batches = 4
	b := storage.NewBatch(o.Store)
	for i := range batches*tenant.EraseAtOnce - 1 {
		var id pb.JobID
		binary.BigEndian.PutUint32(id[:], uint32(i))
		tenant.PutJob(b, o.Space, &pb.Job{
			Id: id[:], Type: pb.JobIngest, Status: pb.JobQueued, Partition: part.ID.Bytes(), Subject: "anna",
			CreatedMs: clock.Millis(n.clock.Now()),
		})
	}
	if err := o.Committer.Commit(b); err != nil {
		t.Fatal(err)
	}
	before := st.State().Version
	erase := jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}}))
	n.waitFor(func() bool { return st.State().Version >= before+3 }) // the order, and two batches
	crashed := disk.Crash(100, 1)
	n.wait(erase)
	if got := st.State().Version - before; got < batches+3 { // the order, the partition and the end are the others
		t.Errorf("%d batches in all", got)
	}
	st.Release()
	n.stop()
	for _, d := range []*storagetest.Disk{disk, crashed} {
		c.n = startNode(t, d)
		if c.job(erase).GetStatus() != pb.JobSucceeded {
			c.n.wait(erase)
		}
		for _, table := range []storage.Table{storage.TableJob, storage.TableJobByTime} {
			if got := c.count(o.Space.Prefix(table)); got != 2 { // ben's, and the erasure
				t.Errorf("%d records are left in table %v", got, table)
			}
		}
		if got := c.count(o.Space.Prefix(storage.TableJobOpen)) + c.count(part.Space.All()); got != 0 {
			t.Errorf("%d open jobs and records of the partition are left", got)
		}
		if got := c.job(kept).GetStatus(); got != pb.JobSucceeded {
			t.Errorf("ben's job is %q", got)
		}
		c.n.stop()
	}
}
