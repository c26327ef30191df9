package actors

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// subjectActor looks whether a partition's actor is in memory, and whether it was given anything to do.
func (c client) subjectActor(part *partition.Ref) (there, awake bool) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) {
		ch := o.InMemory()[part.ID]
		there, awake = ch != nil, ch != nil && ch.Awake()
	})
	return there, awake
}

// rested waits until a partition's actor has left memory, as time goes by.
func (c client) rested(part *partition.Ref) {
	c.n.t.Helper()
	c.n.waitFor(func() bool {
		there, _ := c.subjectActor(part)
		if there {
			c.n.clock.Advance(time.Minute)
		}
		return !there
	})
}

// An idle subject takes its partition's index and settings out of memory when its actor goes.
func TestAnIdleSubjectTakesItsSnapshotAlong(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	ann := c.as("ann")
	ann.ingest(doc("a", "A text about tea."))
	if got := ann.chunks("tea"); len(got) != 1 {
		t.Fatalf("found %v", got)
	}
	before := n.sys.Stats()
	if there, awake := c.subjectActor(ann.partition()); before.SnapshotsLoaded != 1 || !there || !awake {
		t.Errorf("%d partitions are in memory; the actor is there: %v, awake: %v", before.SnapshotsLoaded, there, awake)
	}
	c.rested(ann.partition())
	n.waitFor(func() bool { return n.sys.Stats().SnapshotsLoaded == 0 })
	if after := n.sys.Stats(); after.SnapshotBytes != 0 {
		t.Errorf("%d bytes are left", after.SnapshotBytes)
	}
	if got := ann.chunks("tea"); len(got) != 1 || n.sys.Stats().SnapshotLoads != before.SnapshotLoads+1 {
		t.Errorf("found %v after %d loads", got, n.sys.Stats().SnapshotLoads)
	}
}

// A subject that is only read has an actor that does nothing but hold what is read, for as long as it is.
func TestASubjectThatIsReadStays(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c.as("ann").ingest(doc("a", "A text about tea."))
	n.stop()
	n = startNode(t, disk)
	c.n = n
	ann := c.as("ann")
	for range 20 {
		if got := ann.chunks("tea"); len(got) != 1 {
			t.Fatalf("found %v", got)
		}
		n.clock.Advance(2 * time.Minute)
	}
	there, awake := c.subjectActor(ann.partition())
	if loads := n.sys.Stats().SnapshotLoads; loads != 1 || !there || awake {
		t.Errorf("%d loads; the actor is there: %v, awake: %v", loads, there, awake)
	}
	c.rested(ann.partition())
	n.waitFor(func() bool { return n.sys.Stats().SnapshotBytes == 0 })
	ann.ingest(doc("b", "More of tea.")) // the actor that only held it goes to work
	if got := ann.chunks("tea"); len(got) != 2 {
		t.Errorf("found %v", got)
	}
}

// Subjects that are only read keep no organization in memory.
func TestReadSubjectsLeaveWithTheirOrganization(t *testing.T) {
	disk := storagetest.NewDisk()
	configure := func(cfg *tenant.Config, _ *storage.Options) { cfg.IdleSubject = time.Hour }
	n := startNode(t, disk, configure)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "A text about tea."))
	n.stop()
	n = startNode(t, disk, configure)
	c.n = n
	if got := c.chunks("tea"); len(got) != 1 {
		t.Fatalf("found %v", got)
	}
	n.waitFor(func() bool {
		n.clock.Advance(time.Minute)
		return n.sys.Stats().ActiveOrgs == 0
	})
	n.waitFor(func() bool { return n.sys.Stats().SnapshotBytes == 0 })
}

// Over the byte bound the subject that was read least recently leaves memory, and its actor too.
func TestTheLeastRecentlyReadSubjectPassivates(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	names := []string{"ann", "bob", "cid"}
	for _, name := range names {
		c.put(name)
		c.as(name).ingest(doc("a", "A text about tea by "+name+"."))
	}
	n.stop()
	n = startNode(t, disk)
	c.n = n
	for _, name := range names {
		c.as(name).chunks("tea")
	}
	total := n.sys.Stats().SnapshotBytes
	n.stop()
	n = startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) { cfg.SnapshotBytes = total - 1 })
	c.n = n
	for _, name := range []string{"ann", "bob", "ann", "cid"} {
		if got := c.as(name).chunks("tea"); len(got) != 1 {
			t.Fatalf("found %v", got)
		}
	}
	part := func(name string) *partition.Ref { return c.as(name).partition() }
	n.waitFor(func() bool { there, _ := c.subjectActor(part("bob")); return !there })
	n.waitFor(func() bool { return n.sys.Stats().SnapshotsLoaded == 2 })
	for _, name := range []string{"ann", "cid"} {
		n.waitFor(func() bool { there, _ := c.subjectActor(part(name)); return there })
	}
	c.as("ann").chunks("tea")
	if loads := n.sys.Stats().SnapshotLoads; loads != 3 {
		t.Errorf("%d loads", loads)
	}
}

// A read that comes while its subject leaves memory, and while it is made again, sees all that was answered before.
func TestAReadDuringPassivationIsCurrent(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) { cfg.SnapshotBytes = 1 })
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	names := []string{"ann", "bob", "cid"}
	for _, name := range names {
		c.put(name)
	}
	var wg sync.WaitGroup
	for _, name := range names { // each evicts the others
		wg.Go(func() {
			c := c.as(name)
			for i := range 15 {
				c.ingest(doc(fmt.Sprint(i), fmt.Sprintf("Tea number%d.", i)))
				if got := c.chunks("tea"); len(got) != i+1 {
					t.Errorf("%s finds %d texts of %d", name, len(got), i+1)
				}
			}
		})
	}
	wg.Wait()
}

// A search over all of an organization gives every partition an actor; the organization ends with all of them, and so
// does the node.
func TestThousandsOfReadSubjects(t *testing.T) {
	const subjects = 2000
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "A text about tea."))
	c.makeSubjects(subjects)
	search := func() {
		t.Helper()
		if got := c.search(&pb.Search{Query: "tea", OrgScope: true}); len(got) != 1 {
			t.Fatalf("found %v", got)
		}
	}
	search()
	n.waitFor(func() (all bool) {
		c.inOrg(func(o *tenant.Org) {
			all = len(o.InMemory()) == subjects+1
			for id := range o.InMemory() {
				all = all && !o.Residents.Unowned(id)
			}
		})
		return all
	})
	if st := n.sys.Stats(); st.SnapshotsLoaded != subjects+1 {
		t.Errorf("%d partitions are in memory", st.SnapshotsLoaded)
	}
	n.sys.RetireOrg(c.orgID())
	n.waitFor(func() bool { return n.sys.Stats().SnapshotsLoaded == 0 })
	search()
	n.stop()
	if st := n.sys.Stats(); st.SnapshotsLoaded != 0 || st.SnapshotBytes != 0 {
		t.Errorf("%d partitions are in memory after the end", st.SnapshotsLoaded)
	}
}

// makeSubjects provisions subjects behind the organization's back, in some commits.
func (c client) makeSubjects(count int) {
	c.n.t.Helper()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	for from := 0; from < count; from += 500 {
		b := storage.NewBatch(view.Store)
		for i := from; i < min(from+500, count); i++ {
			id, err := view.System.NewUUID()
			if err != nil {
				c.n.t.Fatal(err)
			}
			ref, err := view.NewPartition(pb.PartitionID(id), pb.PartitionSubject, pb.SubjectKey(fmt.Sprintf("s%d", i)))
			if err != nil {
				c.n.t.Fatal(err)
			}
			tenant.PutPartition(b, view.Space, ref)
		}
		if err := view.Committer.Commit(b); err != nil {
			c.n.t.Fatal(err)
		}
	}
}
