package actors

import (
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// plantJobs queues jobs of one item each into a partition, as far as the store
// goes: its actor does not know of them before it starts anew.
func plantJobs(c client, o *tenant.View, part *partition.Ref, n int, session bool) {
	c.n.t.Helper()
	b := storage.NewBatch(o.Store)
	for i := range n {
		var id pb.JobID
		binary.BigEndian.PutUint32(id[:], uint32(i+1))
		seq := uint64(1000 + i)
		tenant.PutJob(b, o.Space, &pb.Job{
			Id: id[:], Type: pb.JobIngest, Status: pb.JobQueued, Partition: part.ID.Bytes(), Subject: string(part.Subject),
			CreatedMs: clock.Millis(c.n.clock.Now()), Total: 1, QueueSeq: seq, Session: session,
		})
		b.Put(part.Space.Key(storage.TableQueue, storage.U64(seq)), &pb.QueueEntry{
			Job: id[:], Last: true,
			Item: doc("", fmt.Sprint("text ", i)),
		})
		if b.Bytes() > graph.MaxPieceBytes {
			if err := o.Committer.Commit(b); err != nil {
				c.n.t.Fatal(err)
			}
			b = storage.NewBatch(o.Store)
		}
	}
	if err := o.Committer.Commit(b); err != nil {
		c.n.t.Fatal(err)
	}
	c.inOrg(func(o *tenant.Org) { o.CountJobs(n) })
}

// A purge that does not fit into one commit is several. Where a crash comes between
// two of them, it is carried to its end before anything of the memory is seen, and
// whoever confirms once more is told so.
func TestPurgeOfMoreThanOneCommitTakes(t *testing.T) {
	disk := storagetest.NewDisk()
	jobs := storagetest.LessUnderRace(t, 25_000, 1000)
	pieces := func(cfg *tenant.Config, _ *storage.Options) { // as many of them
		cfg.PieceBytes = storagetest.LessUnderRace(t, graph.MaxPieceBytes, graph.MaxPieceBytes/25)
	}
	n := startNode(t, disk, pieces)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	ann := c.as(strings.Repeat("a", tenant.MaxSubjectBytes)) // so that few jobs are large
	c.put(ann.subject)
	part := ann.partition()
	var o *tenant.View
	c.inOrg(func(org *tenant.Org) { o = &org.View })
	plantJobs(c, o, part, jobs, true)
	dry := c.ok(dryPurge("")).GetData().GetPurge()
	if got := dry.GetCounts()["queued_items"]; got != uint64(jobs) {
		t.Fatalf("%d items are queued", got)
	}
	st, err := n.store.AcquireToRead(o.Store)
	if err != nil {
		t.Fatal(err)
	}
	before := st.State().Version
	done := make(chan *pb.Reply, 1)
	go func() { done <- c.ask(confirmPurge("", dry.GetConfirmToken())) }()
	for st.State().Version < before+2 && len(done) == 0 { // the barrier, and a piece
		runtime.Gosched()
	}
	crashed := disk.Crash(100, 1)
	r := <-done
	st.Release()
	if r.GetProblem() != nil || r.GetData().GetPurge().GetPurgedMs() == 0 {
		t.Fatalf("purge: %v", r)
	}
	if got := c.count(o.Space.Prefix(storage.TableJobOpen)); got != 0 {
		t.Errorf("%d jobs are open", got)
	}
	c.inOrg(func(o *tenant.Org) {
		if o.OpenJobs() != 0 {
			t.Errorf("%d jobs are counted as open", o.OpenJobs())
		}
	})
	if got := c.count(part.Space.All()); got != 0 {
		t.Errorf("%d records of the memory are left", got)
	}
	n.stop()

	c.n = startNode(t, crashed, pieces, func(cfg *tenant.Config, _ *storage.Options) {
		// nothing is taken in: the clock stands
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { panic("not now") }}
	})
	again := c.ok(confirmPurge("", dry.GetConfirmToken())).GetData().GetPurge()
	if !maps.Equal(again.GetCounts(), dry.GetCounts()) || again.GetPurgedMs() == 0 || again.GetDryRun() {
		t.Errorf("confirmed once more: %v", again)
	}
	open, left := c.count(o.Space.Prefix(storage.TableJobOpen)), c.count(part.Space.All())
	if open != 0 || left != 0 {
		t.Errorf("after a crash %d jobs are open, and %d records left", open, left)
	}
	c.inOrg(func(o *tenant.Org) {
		if o.OpenJobs() != 0 {
			t.Errorf("%d jobs are counted as open", o.OpenJobs())
		}
	})
	if got := c.n.audits(o.ID); countOf(got, "purge") != 1 {
		t.Errorf("the trail says %q", got)
	}
}

// The outcomes and events of a partition, like its jobs, may be more than one
// commit takes.
func TestErasureTakesOutcomesAndEventsInPieces(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c.put("bob")
	ann, bob := c.as("ann").partition(), c.as("bob").partition()
	var o *tenant.View
	c.inOrg(func(org *tenant.Org) { o = &org.View })
	const each = 2*tenant.EraseAtOnce + 1
	b := storage.NewBatch(o.Store)
	for i := range each + 1 {
		part := ann
		if i == each {
			part = bob
		}
		var key tenant.IdemKey
		binary.BigEndian.PutUint32(key[:], uint32(i))
		b.Put(o.Space.Key(storage.TableIdempotency, storage.Hash32(key)), &pb.Idempotency{
			Partition: part.ID.Bytes(),
			CreatedMs: clock.Millis(n.clock.Now()),
		})
		b.Put(o.Space.Key(storage.TableOutbox, storage.U64(uint64(1_000_000+i))), &pb.OutboxEvent{
			Partition: part.ID.Bytes(),
			AtMs:      clock.Millis(n.clock.Now()),
		})
	}
	if err := o.Committer.Commit(b); err != nil {
		t.Fatal(err)
	}
	st, err := n.store.AcquireToRead(o.Store)
	if err != nil {
		t.Fatal(err)
	}
	before := st.State().Version
	job := jobOf(c.ok(eraseOp("ann")))
	for st.State().Version < before+4 { // the order, the begin, two pieces
		runtime.Gosched()
	}
	crashed := disk.Crash(100, 1)
	n.wait(job)
	if got := st.State().Version - before; got < 2+3+3+2 { // the order, the begin; the pieces; the partition, the end
		t.Errorf("%d commits in all", got)
	}
	st.Release()
	n.stop()
	for _, d := range []*storagetest.Disk{disk, crashed} {
		c.n = startNode(t, d)
		if c.job(job).GetStatus() != pb.JobSucceeded {
			c.n.wait(job)
		}
		events := 0
		for _, e := range records(c.n, o.Store, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
			if string(e.GetPartition()) == string(ann.ID[:]) {
				t.Fatalf("left: %v", e)
			}
			if string(e.GetPartition()) == string(bob.ID[:]) {
				events++
			}
		}
		if got := c.count(o.Space.Prefix(storage.TableIdempotency)); got != 1 || events != 1 {
			t.Errorf("%d outcomes and %d events of bob", got, events)
		}
		c.n.stop()
	}
}

// What is on its way into the store when an erasure begins goes with it.
func TestErasureMissesNothingThatIsUnderWay(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var o *tenant.View
	c.inOrg(func(org *tenant.Org) { o = &org.View })
	for i := range 20 {
		name := fmt.Sprint("subject ", i)
		c.put(name)
		part := c.as(name).partition()
		job, err := o.NewJob(pb.JobSubjectErase, tenant.Principal{}, part, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := storage.NewBatch(o.Store)
		tenant.PutJob(b, o.Space, job)
		if err := o.Committer.Commit(b); err != nil {
			t.Fatal(err)
		}
		late := storage.NewBatch(o.Store)
		var key tenant.IdemKey
		binary.BigEndian.PutUint32(key[:], uint32(i))
		late.Put(o.Space.Key(storage.TableIdempotency, storage.Hash32(key)), &pb.Idempotency{Partition: part.ID.Bytes()})
		o.Committer.Submit(late, func(error) {})
		if err := o.EraseNow(t.Context(), part, job); err != nil {
			t.Fatal(err)
		}
		if got := c.count(o.Space.Prefix(storage.TableIdempotency)); got != 0 {
			t.Fatalf("%d outcomes of an erased partition", got)
		}
	}
}

func countOf(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}
