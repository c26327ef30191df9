package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// held is work that begins and goes on only when it is stopped, or released.
type held struct {
	kind  string
	begun chan struct{}
	once  sync.Once
	goOn  atomic.Bool
}

func holding(kind string) *held { return &held{kind: kind, begun: make(chan struct{})} }

func (h *held) configure(cfg *tenant.Config, _ *storage.Options) {
	cfg.JobWorkBegan = func(kind string, stopped func() bool) {
		if kind != h.kind {
			return
		}
		h.once.Do(func() { close(h.begun) })
		turn := time.NewTicker(time.Millisecond) // not all the processor while others stop or start
		defer turn.Stop()
		for !stopped() && !h.goOn.Load() {
			<-turn.C
		}
	}
}

func (h *held) begins() bool {
	select {
	case <-h.begun:
		return true
	default:
		return false
	}
}

// stored is a job as its record says.
func (n *testNode) stored(c account.CreatedOrg, id string) *pb.Job {
	n.t.Helper()
	for _, j := range records(n, storage.StoreID{Org: c.Org, Realm: storage.RealmMain}, storage.TableJob,
		func() *pb.Job { return &pb.Job{} }) {
		if pb.JobID(j.GetId()).String() == id {
			return j
		}
	}
	n.t.Fatalf("no job %s", id)
	return nil
}

// pass lets time go on while a job waits to begin; always, where another one's begin is
// waited for.
func (n *testNode) pass(c account.CreatedOrg, id string, always bool) {
	n.t.Helper()
	if job := n.stored(c, id); always || job.GetBegun() == "" && !tenant.Terminal(job.GetStatus()) {
		n.clock.Advance(100 * time.Millisecond)
	}
}

// kindsOfWork are the jobs that there are, each with what begins one.
var kindsOfWork = map[string]struct {
	work  string // that is held
	begin func(c client, feed string) (job string)
}{
	"ingest": {pb.JobIngest, func(c client, _ string) string { return jobOf(c.ok(items(doc("a", "Bread rises.")))) }},
	"import": {pb.JobIngest, func(c client, _ string) string {
		return jobOf(c.ok(file("a.txt", "Bread rises.")))
	}},
	"training": {pb.JobBrainTrain, func(c client, _ string) string {
		docs, _, _ := parish(60)
		c.ingest(docs...)
		return jobOf(c.ok(trainOp()))
	}},
	"finalization and cycle": {pb.JobCognition, func(c client, _ string) string {
		c.say(said("one", "Bread rises."))
		c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}}))
		return pb.JobID(c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobSessionFinalize}}}).
			GetJobs().GetJobs()[0].GetId()).String()
	}},
	"export": {pb.JobExport, func(c client, _ string) string {
		c.note("Bread rises.")
		c.ok(createExport(false))
		return pb.JobID(c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobExport}}}).GetJobs().
			GetJobs()[0].GetId()).String()
	}},
	"connector": {pb.JobConnectorSync, func(c client, feed string) string {
		id := c.follow(feed)
		return jobOf(c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: id}}})))
	}},
	"erasure": {pb.JobSubjectErase, func(c client, _ string) string {
		c.put("anna")
		c.as("anna").note("Bread rises.")
		return jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}}))
	}},
}

// Work whose process is stopped, or killed, in the middle of it more often than it may
// fail has not failed: it ends as it would have, at its first attempt.
func TestInterruptionsAreNoAttempts(t *testing.T) {
	for name, kind := range kindsOfWork {
		for _, how := range []string{"stopped", "killed"} {
			if kind.work == pb.JobSubjectErase && how == "stopped" {
				continue // a stop waits for it
			}
			t.Run(name+", "+how, func(t *testing.T) {
				feed := &newsroom{entries: []string{"one|It was worth the wait."}}
				url, allow := receiver(t, feed.ServeHTTP)
				also := func(cfg *tenant.Config, o *storage.Options) {
					allow(cfg, o)
					drawn(cfg, o)
					cfg.WithoutDerivation = kind.work != pb.JobCognition
				}
				disk := storagetest.NewDisk()
				var org account.CreatedOrg
				var c client
				var job string
				for round := range storagetest.LessUnderRace(t, tenant.MaxAttempts+2, 2) {
					held := holding(kind.work)
					n := startNode(t, disk, also, held.configure)
					if c.n = n; round == 0 {
						org = n.org(account.NewOrg{})
						c.key = org.APIKey
						job = kind.begin(c, url)
					}
					n.waitFor(func() bool {
						n.pass(org, job, kind.work == pb.JobCognition)
						return held.begins() && (kind.work == pb.JobCognition || n.stored(org, job).GetBegun() != "")
					})
					if got := c.job(job); got.GetAttempts() != 1 || got.GetStatus() != pb.JobRunning {
						t.Fatalf("round %d: %v", round, got)
					}
					if how == "killed" {
						disk = disk.Crash(0, 1)
					}
					n.stop()
				}
				c.n = startNode(t, disk, also)
				c.n.waitFor(func() bool {
					c.n.pass(org, job, kind.work == pb.JobCognition)
					return tenant.Terminal(c.n.stored(org, job).GetStatus())
				})
				if got := c.job(job); got.GetStatus() != pb.JobSucceeded || got.GetAttempts() != 1 || got.GetErrorCode() != "" {
					t.Errorf("%v", got)
				}
				if got := c.n.stored(org, job); got.GetBegun() != "" || got.GetUnclean() != nil {
					t.Errorf("behind its end: %v", got)
				}
			})
		}
	}
}

// Work that kills its process every time is given up, after a bound of its own; what
// waits behind it goes on. That the process dies while the work waits does not count.
func TestWorkThatKillsItsProcessIsGivenUp(t *testing.T) {
	disk := storagetest.NewDisk()
	var org account.CreatedOrg
	var c client
	var poison, behind string
	for round := 0; ; round++ {
		held := holding(pb.JobIngest)
		n := startNode(t, disk, held.configure)
		if c.n = n; round == 0 {
			org = n.org(account.NewOrg{})
			c.key = org.APIKey
			poison, behind = jobOf(c.ok(items(doc("a", "Poison.")))), jobOf(c.ok(items(doc("b", "Bread rises."))))
			n.waitFor(held.begins)
		}
		stored := func() *pb.Job { return n.stored(org, poison) }
		// The last of them is told in one commit and given up for in the next.
		n.waitFor(func() bool {
			job := stored()
			return tenant.Terminal(job.GetStatus()) || round < tenant.MaxUncleanEnds && len(job.GetUnclean()) == round
		})
		if tenant.Terminal(stored().GetStatus()) {
			if round != tenant.MaxUncleanEnds {
				t.Errorf("it is given up after %d processes have ended", round)
			}
			held.goOn.Store(true)
			break
		}
		if round > tenant.FreeUncleanEnds && stored().GetBegun() == "" { // it waits: to die now is not its fault
			waiting := startNode(t, disk.Crash(0, 1))
			got := waiting.stored(org, poison)
			waiting.stop()
			if len(got.GetUnclean()) != round || got.GetBegun() != "" {
				t.Errorf("a process that died while it waited: %v", got)
			}
		}
		n.waitFor(func() bool {
			if stored().GetBegun() == "" {
				n.clock.Advance(time.Second)
			}
			return stored().GetBegun() != "" && held.begins()
		})
		if got := stored(); got.GetAttempts() != 1 || len(got.GetUnclean()) != round {
			t.Fatalf("in process %d: %v", round, got)
		}
		disk = disk.Crash(0, 1)
		n.stop()
	}
	c.n.waitMoving(100*time.Millisecond, poison, behind)
	job := c.job(poison)
	if job.GetStatus() != pb.JobFailed || job.GetAttempts() > tenant.MaxAttempts || !strings.Contains(job.GetErrorDetail(),
		fmt.Sprintf("ended %d times", tenant.MaxUncleanEnds)) {
		t.Errorf("%v", job)
	}
	if got := itemStatus(c.job(behind)); !slices.Equal(got, []string{pb.ItemCreated}) {
		t.Errorf("what waited behind it: %v", got)
	}
}

// An attempt whose organization has moved while its node lives on does not count, nor is
// its end unclean; one whose node says nothing ends uncleanly.
func TestAMoveIsNoAttempt(t *testing.T) {
	for name, silent := range map[string]bool{"the node lives": false, "the node says nothing": true} {
		t.Run(name, func(t *testing.T) {
			held := holding(pb.JobIngest)
			w := startTownWith(t, held.configure, "a", "b")
			org := w.org("a", pb.PlanUnlimited)
			defer held.goOn.Store(true)
			a := w.at("a").client(org.APIKey)
			job := jobOf(a.ok(items(doc("a", "Bread rises."))))
			stored := func() *pb.Job { return w.at("a").stored(org, job) }
			begunBy := func(server wire.ServerID) bool { return tenant.ServerOf(stored().GetBegun()) == server }
			w.at("a").waitFor(func() bool { return held.begins() && begunBy("a") })
			w.watch(func(_ wire.ServerID, m proto.Message) bool {
				r, is := m.(*pb.NodeReply)
				_, about := r.GetWhat().(*pb.NodeReply_Outlived)
				return silent && is && about
			})
			w.lead("b")
			w.at("b").waitFor(func() bool { return begunBy("b") })
			unclean := 0
			if silent {
				unclean = 1
			}
			if got := stored(); got.GetAttempts() != 1 || len(got.GetUnclean()) != unclean {
				t.Errorf("%v", got)
			}
			held.goOn.Store(true)
			w.at("b").wait(job)
			if got := w.at("b").client(org.APIKey).job(job); got.GetStatus() != pb.JobSucceeded || got.GetAttempts() != 1 {
				t.Errorf("%v", got)
			}
		})
	}
}

// A job that a former version gave up at a sixth attempt has had five.
func TestNoMoreAttemptsAreShownThanThereAre(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	id := jobOf(c.ok(items(doc("a", "Bread."))))
	n.wait(id)
	c.inOrg(func(o *tenant.Org) {
		job := n.stored(org, id)
		job.Attempts = tenant.MaxAttempts + 1
		b := storage.NewBatch(o.Store)
		tenant.UpdateJob(b, o.Space, job)
		if err := o.Committer.Commit(b); err != nil {
			t.Error(err)
		}
	})
	listed := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{}}}).GetJobs().GetJobs()[0].GetAttempts()
	if got := c.job(id).GetAttempts(); got != tenant.MaxAttempts || listed != tenant.MaxAttempts {
		t.Errorf("%d, and %d in the list", got, listed)
	}
}
