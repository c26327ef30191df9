package actors

import (
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// fallingClock goes back by a millisecond with each look at it.
type fallingClock struct {
	*clock.Fake
	looks atomic.Int64
}

func (c *fallingClock) Now() time.Time {
	return c.Fake.Now().Add(-time.Duration(c.looks.Add(1)) * time.Millisecond)
}

// TestJobTimesFollowEachOther makes jobs of several kinds on a clock that goes back all
// the time, as one that is put back does, or another node's: none begins before it was
// made, and none ends before it began.
func TestJobTimesFollowEachOther(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	n := startNode(t, disk, func(c *tenant.Config, _ *storage.Options) {
		fake, ok := c.Clock.(*clock.Fake)
		if !ok {
			t.Fatalf("the harness's clock is a %T", c.Clock)
		}
		c.Clock, c.WithoutDerivation = &fallingClock{Fake: fake}, false
	})
	made := n.org(account.NewOrg{Plan: pb.PlanUnlimited})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.ingest(doc("a", "The boiler is loud."))
	c.ingest(doc("b", "The boiler was repaired."), doc("c", "The valve was replaced."))
	c.as("ann").ingest(doc("a", "The pump is new."))
	c.say(&pb.SessionEvent{Session: "s", Role: "user", Text: "Fix the pump."})
	c.export(false)
	c.think()
	c.train()
	kinds := map[string]int{}
	for _, job := range records(n, storage.StoreID{Org: made.Org, Realm: storage.RealmMain}, storage.TableJob,
		func() *pb.Job { return &pb.Job{} }) {
		kinds[job.GetType()]++
		if at := job.GetStartedMs(); at != 0 && at < job.GetCreatedMs() {
			t.Errorf("a job of type %s, %s, began %d ms before it was made", job.GetType(), job.GetStatus(),
				job.GetCreatedMs()-at)
		}
		if at := job.GetFinishedMs(); at != 0 && (at < job.GetStartedMs() || at < job.GetCreatedMs()) {
			t.Errorf("a job of type %s, %s, ended at %d, began at %d and was made at %d", job.GetType(), job.GetStatus(), at,
				job.GetStartedMs(), job.GetCreatedMs())
		}
	}
	for _, kind := range []string{pb.JobIngestBatch, pb.JobExport, pb.JobCognition, pb.JobBrainTrain} {
		if kinds[kind] == 0 {
			t.Errorf("no job of type %s: %v", kind, kinds)
		}
	}
}
