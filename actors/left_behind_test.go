package actors

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/export"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What is durable is gone on with by somebody, without another request: here is what
// came between.

// mark says in the directory whether an organization may have unfinished jobs.
func (n *testNode) mark(org pb.OrgID, busy bool) {
	n.t.Helper()
	e, ok := n.host.Directory().Org(org)
	if !ok {
		n.t.Fatal("the organization is not in the directory")
	}
	err := n.host.Directory().PutOrg(n.t.Context(), &pb.OrgEntry{
		Org: e.GetOrg(), Name: e.GetName(), Slug: e.GetSlug(),
		CreatedMs: e.GetCreatedMs(), Busy: busy,
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *testNode) isMarked(org pb.OrgID) bool {
	e, ok := n.host.Directory().Org(org)
	return ok && e.GetBusy()
}

// Organizations that cannot be opened wait to be tried again without the places that
// those have who are woken.
func TestWhatCannotBeOpenedKeepsNobodyAsleep(t *testing.T) {
	disk := storagetest.NewDisk()
	gate := make(chan struct{})
	n := startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { <-gate }}
	})
	for range tenant.ResumeAtOnce {
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		n.mark(c.orgID(), true)
		c.inOrg(func(o *tenant.Org) {
			b := storage.NewBatch(o.Store)
			b.PutRaw(o.Space.Key(storage.TableJobOpen, storage.ID16(pb.JobID{1})), nil) // of no job
			if err := o.Committer.Commit(b); err != nil {
				t.Error(err)
			}
		})
		n.clock.Advance(1e9) // they are woken in the order of their creation
	}
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	job := jobOf(c.ok(items(doc("a", "A text behind two that are broken."))))
	after := disk.Crash(0, 1)
	close(gate)
	startNode(t, after).wait(job)
}

// A subject whose upkeep has failed stays until it was tried again.
func TestASubjectStaysForItsUpkeep(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ingest(doc("a", "This is poison for the new model."))
	n.stop()
	var tries atomic.Int64
	const rest = tenant.MinBackOff / 4
	n = startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.IdleSubject = rest
		cfg.Former = []partition.Embedder{wordEmbedder{id: "words"}}
		cfg.Embedder = wordEmbedder{id: "other", fail: func(s string) {
			if strings.Contains(s, "poison") && tries.Add(1) == 1 {
				panic("not yet")
			}
		}}
	})
	c.n = n
	c.ingest(doc("b", "This is not."))
	n.waitFor(func() bool { return tries.Load() == 1 })
	n.clock.Advance(2 * rest) // it has been idle for long, and is not tried again yet
	left := func() (left bool) {
		c.inOrg(func(o *tenant.Org) { left = len(o.InMemory()) == 0 })
		return left
	}
	for range 1000 {
		if left() {
			t.Fatal("it has left memory with its upkeep undone")
		}
	}
	n.waitFor(func() bool {
		n.clock.Advance(rest)
		state := ofPartition(c, org, storage.TableState, func() *pb.PartitionState { return &pb.PartitionState{} })[0]
		return state.GetModel() == "other"
	})
	n.waitFor(func() bool { n.clock.Advance(rest); return left() })
}

// A sandbox that found itself idle is told to look after its connectors, and only then
// is released.
func TestASandboxThatIsToLookStaysInMemory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	sandbox.ingest(doc("a", "A text for the sandbox."))
	n.waitFor(func() bool { return n.sys.Stats().CallsInFlight == 0 })
	c.inOrg(func(o *tenant.Org) {
		ch, idle := o.Sandbox, o.Sandbox.Sent
		tenant.ModuleOf[*account.Members](&o.View).SweepSandbox()
		if o.ReleaseSandbox(ch, idle); o.Sandbox != ch {
			t.Error("it has left memory")
		}
	})
}

// The directory's mark comes back where it was lost while there is work: an earlier
// activation may clear it after the next has found it.
func TestAnOrganizationWithWorkKeepsItsMark(t *testing.T) {
	n, reached, open, _ := gated(t, 1, "anvil")
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	org := c.orgID()
	job := jobOf(c.ok(items(doc("a", "The anvil stands in the yard."))))
	<-reached
	if !n.isMarked(org) {
		t.Error("an organization with a job is not marked")
	}
	n.mark(org, false)
	n.waitFor(func() bool { n.clock.Advance(n.sys.Config.IdleOrg); return n.isMarked(org) })
	open()
	n.wait(job)
	n.waitFor(func() bool {
		n.clock.Advance(n.sys.Config.IdleOrg)
		return n.sys.Stats().ActiveOrgs == 0
	})
	if n.isMarked(org) {
		t.Error("a sleeping organization without jobs is marked")
	}
}

// An export whose cancellation failed is queued anew; the end of the attempt that was
// cancelled is not its end.
func TestAnExportOutlivesACancellationThatFailed(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.inOrg(func(o *tenant.Org) {
		cancelled, next := &export.Run{Gone: true}, &export.Run{}
		exports := tenant.ModuleOf[*export.Module](&o.View)
		exports.Runs[next.ID] = next
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		exports.Export(ctx, cancelled)
		if exports.Runs[next.ID] != next {
			t.Error("it is forgotten")
		}
		delete(exports.Runs, next.ID)
	})
}

// A training is told of although the commit that does was refused.
func TestATrainingIsToldOfInTheEnd(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	full := func(o *tenant.Org, bytes int) {
		held := fieldOf[sync.Mutex](o.Committer, "mu")
		held.Lock()
		defer held.Unlock()
		*fieldOf[int](o.Committer, "bytes") += bytes
	}
	c.inOrg(func(o *tenant.Org) {
		b := storage.NewBatch(o.Store)
		b.Put(o.Space.Key(storage.TableTraining), &pb.Training{Status: pb.JobSucceeded, FinishedMs: 1})
		if err := o.Committer.Commit(b); err != nil {
			t.Error(err)
		}
		full(o, commit.MaxWaitingBytes)
		tenant.ModuleOf[*training.Module](&o.View).PublishTrained()
	})
	n.waitFor(func() bool { return n.clock.WaitersIn(training.EventRetry) > 0 })
	c.inOrg(func(o *tenant.Org) { full(o, -commit.MaxWaitingBytes) })
	n.clock.Advance(training.EventRetry)
	store := storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain}
	n.waitFor(func() bool {
		told := records(n, store, storage.TableTraining, func() *pb.Training { return &pb.Training{} })
		return len(told) == 1 && told[0].GetTold()
	})
}

// Whoever leads a shard next looks once more for unfinished jobs when its copy of the
// directory has caught up: the last mark before the leader died may not be there yet.
func TestAMarkThatComesLateIsSeen(t *testing.T) {
	gate, reached := make(chan struct{}), make(chan struct{})
	var held atomic.Bool
	var w *town
	var org atomic.Pointer[pb.OrgID]
	w = startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) {
			if held.CompareAndSwap(false, true) { // a's
				close(reached)
				<-gate
			}
		}}
		cfg.CaughtUp = func(context.Context) error {
			if id := org.Load(); id != nil {
				w.at("b").mark(*id, true)
			}
			return nil
		}
	}, "a", "b")
	t.Cleanup(func() { close(gate) })
	made := w.org("a", pb.PlanUnlimited)
	job := jobOf(w.at("a").client(made.APIKey).ok(items(doc("1", "Ada wrote the first program."))))
	<-reached
	w.at("a").mark(made.Org, false) // as b sees it
	org.Store(&made.Org)
	w.lead("b")
	w.at("b").wait(job)
}

// Who is told that a job has ended finds what it brought, also while the worker has not
// come to show what is committed.
func TestAnEndedJobIsFound(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "A first text."))
	if got := c.chunks("text"); len(got) != 1 { // it is in memory
		t.Fatalf("found %q", got)
	}
	gate, reached := make(chan struct{}), make(chan struct{})
	c.inOrg(func(o *tenant.Org) {
		published := fieldOf[func([]*pb.OutboxEvent)](o.Committer, "published")
		told := *published
		*published = func(events []*pb.OutboxEvent) { // behind the commit, before its answer
			if events[0].GetType() == pb.EventJobCompleted || events[len(events)-1].GetType() == pb.EventJobCompleted {
				close(reached)
				<-gate
			}
			told(events)
		}
	})
	id := jobOf(c.ok(items(doc("b", "A second text."))))
	<-reached
	found := make(chan int, 1)
	go func() {
		for !tenant.Terminal(c.job(id).GetStatus()) {
			continue
		}
		found <- len(c.chunks("text"))
	}()
	n.waitFor(func() bool { return len(found) > 0 || n.clock.WaitersIn(partition.ShownWithin) > 0 })
	close(gate)
	if got := <-found; got != 2 {
		t.Errorf("%d passages are found", got)
	}
	n.wait(id)
}
