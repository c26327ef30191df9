package actors

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestRestartsDoNotUseUpAJobsAttempts stops the node in the middle of the same
// item more often than an item is tried.
func TestRestartsDoNotUseUpAJobsAttempts(t *testing.T) {
	disk := storagetest.NewDisk()
	var c client
	var job string
	for round := range tenant.MaxAttempts + 2 {
		blocked, stopping := make(chan struct{}), make(chan struct{})
		var entered, left sync.Once
		n := startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
			cfg.Embedder = wordEmbedder{id: "words", fail: func(string) {
				entered.Do(func() { close(blocked) })
				<-stopping
			}}
			cfg.StopRequested = func() { left.Do(func() { close(stopping) }) }
		})
		c.n = n
		if round == 0 {
			c.key = n.org(account.NewOrg{}).APIKey
			job = jobOf(c.ok(items(doc("a", "An item that takes its time."))))
		}
		<-blocked
		n.stop()
	}
	c.n = startNode(t, disk)
	c.n.wait(job)
	if got := itemStatus(c.job(job)); !slices.Equal(got, []string{pb.ItemCreated}) {
		t.Errorf("after many restarts: %v", got)
	}
}

// TestFailingUpkeepDoesNotHoldUpContent lets the change of model fail for ever:
// the clock stands still, so a back-off that concerned content would not end.
func TestFailingUpkeepDoesNotHoldUpContent(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "This is poison for the new model."))
	n.stop()
	var mu sync.Mutex
	tries := 0
	c.n = startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "other", fail: func(s string) {
			if strings.Contains(s, "poison") {
				mu.Lock()
				tries++
				mu.Unlock()
				panic("cannot digest this")
			}
		}}
		cfg.Former = []partition.Embedder{wordEmbedder{id: "words"}}
	})
	stands := c.n.clock.Now()
	for i := range 3 {
		job := c.ingest(doc("", fmt.Sprintf("New content %d.", i)))
		if got := itemStatus(job); got[0] == pb.ItemFailed {
			t.Fatalf("an item was charged with the upkeep's failure: %v", got)
		}
	}
	if now := c.n.clock.Now(); !now.Equal(stands) {
		t.Errorf("content waited until %v", now)
	}
	failed := func() int { mu.Lock(); defer mu.Unlock(); return tries }
	c.n.waitFor(func() bool { return failed() > 0 }) // behind the content
	before := failed()
	c.n.until(func() bool { return failed() > before }) // and again, when it has rested
}

// TestPanicRetiresTheActivation: nothing that a panicked organization has on its
// way may reach the one that takes its place.
func TestPanicRetiresTheActivation(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	visit := func(f func(o *tenant.Org)) error {
		return n.sys.Visit(t.Context(), c.orgID(), func(o *tenant.Org, done func(error)) { f(o); done(nil) })
	}
	var old, fresh *tenant.Org
	if err := visit(func(o *tenant.Org) { old = o }); err != nil {
		t.Fatal(err)
	}
	if err := visit(func(*tenant.Org) { panic("broken") }); err == nil {
		t.Fatal("the panic was answered with success")
	}
	if err := visit(func(o *tenant.Org) { fresh = o }); err != nil || fresh == old {
		t.Fatalf("the panicked activation goes on: %v", err)
	}
	if err := old.Committer.Commit(storage.NewBatch(old.Store)); !errors.Is(err, commit.ErrLost) {
		t.Errorf("it may still write: %v", err)
	}
	var reached *tenant.Org
	n.sys.ActorRoot.Send(old.PID, &tenant.Visit{
		Run:  func(o *tenant.Org, done func(error)) { reached = o; done(nil) },
		Done: func(error) {},
	})
	if err := visit(func(*tenant.Org) {}); err != nil {
		t.Fatal(err)
	}
	c.ingest(doc("", "Life goes on."))
	if err := visit(func(*tenant.Org) {
		if reached == fresh {
			t.Error("a closure of the panicked activation ran in its successor")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestPanickingWorkerIsReplaced: its slice must not report to a successor, which
// would then run two at once.
func TestPanickingWorkerIsReplaced(t *testing.T) {
	gate, blocked := make(chan struct{}), make(chan struct{})
	var once, boom sync.Once
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { once.Do(func() { close(blocked); <-gate }) }}
		cfg.CancelRequested = func(pb.JobID) { boom.Do(func() { panic("broken") }) }
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	job := jobOf(c.ok(items(doc("a", "Some text."))))
	<-blocked
	cancel := &pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: job}}}
	c.refused(pb.CodeServiceDegraded, cancel)
	close(gate)
	n.wait(job)
	if got := itemStatus(c.job(job)); !slices.Equal(got, []string{pb.ItemCreated}) {
		t.Errorf("items %v", got)
	}
	c.refused(pb.CodeJobNotCancellable, cancel)
}

// TestSubjectThatCouldNotOpenTriesAgain: with the next request, not after it has
// been idle.
func TestSubjectThatCouldNotOpenTriesAgain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) { o.MaxOpenStores = 4 })
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(me())
	c.put("somebody") // behind whatever was being written
	var held []*storage.Store
	for i, full := byte(1), 0; full < 20; i++ { // until no place is left, nor becomes free
		st, err := n.store.Acquire(storage.StoreID{Org: pb.OrgID{i}, Realm: storage.RealmMain})
		switch {
		case err == nil:
			held, full = append(held, st), 0
		case errors.Is(err, storage.ErrTooManyStores):
			full++
			runtime.Gosched()
		default:
			t.Fatal(err)
		}
	}
	c.refused(pb.CodeServiceDegraded, items(doc("", "No room for this.")))
	for _, st := range held {
		st.Release()
	}
	job := jobOf(c.ok(items(doc("", "Now there is room."))))
	n.until(func() bool { return n.ended(job) }) // the worker had no room either, and waits on the test's clock
	if got := itemStatus(c.job(job)); got[0] != pb.ItemCreated {
		t.Errorf("items %v", got)
	}
}

func (n *testNode) ended(job string) bool {
	id, err := pb.ParseJobID(job)
	if err != nil {
		n.t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.jobs[id]
}

// TestCloseAnswersWhatItHasTaken: many answers come by way of a mailbox, after
// their commit.
func TestCloseAnswersWhatItHasTaken(t *testing.T) {
	for range 5 {
		n := startNode(t, storagetest.NewDisk())
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		var wg sync.WaitGroup
		started := make(chan struct{}, 1)
		for i := range 50 {
			wg.Go(func() {
				select {
				case started <- struct{}{}:
				default:
				}
				r := c.ask(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: fmt.Sprint(i)}}})
				if code := r.GetProblem().GetCode(); code != "" && code != pb.CodeServiceDraining {
					t.Errorf("call %d: %s", i, code)
				}
			})
		}
		<-started
		n.stop()
		wg.Wait() // a dropped answer would be waited for until its deadline, and the clock stands
	}
}

func TestAbandonedCallsCountUntilTheyAreAnswered(t *testing.T) {
	gate, blocked := make(chan struct{}), make(chan struct{})
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if s == "slowly" {
				close(blocked)
				<-gate
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("", "Something to find."))
	n.waitFor(func() bool { return n.sys.Stats().CallsInFlight == 0 }) // an answer is heard before its call is uncounted
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		<-blocked
		giveUp()
	}()
	if _, err := n.sys.Ask(ctx, c.envelope(find("slowly"))); !errors.Is(err, context.Canceled) {
		t.Fatalf("a call that was given up: %v", err)
	}
	if got := n.sys.Stats().CallsInFlight; got != 1 {
		t.Errorf("%d calls count, want the one that is still worked on", got)
	}
	close(gate)
	n.waitFor(func() bool { return n.sys.Stats().CallsInFlight == 0 })
}

// TestDeletingAnOrganizationIsFinishedByRepeatingIt: the caller goes away between
// the directory's entry and the stores.
func TestDeletingAnOrganizationIsFinishedByRepeatingIt(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	for try := 0; ; try++ {
		org := n.org(account.NewOrg{}).Org
		ctx, giveUp := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			n.waitFor(func() bool { e, _ := n.host.Directory().Org(org); return e.GetRemoved() })
			giveUp()
		})
		err := n.sys.DeleteOrg(ctx, org)
		wg.Wait()
		if err == nil && try < 50 {
			continue // it was faster
		}
		if err == nil {
			t.Fatal("no deletion was interrupted: the test proves nothing")
		}
		if done, err := n.host.StoresRemoved(org); err != nil {
			t.Fatal(err)
		} else if done && try < 50 {
			continue // it was done all the same
		}
		if err := n.sys.DeleteOrg(t.Context(), org); err != nil {
			t.Fatalf("the second attempt: %v", err)
		}
		n.gone(org)
		if err := n.sys.DeleteOrg(t.Context(), org); !errors.Is(err, tenant.ErrOrgNotFound) {
			t.Errorf("what is deleted is deleted again: %v", err)
		}
		return
	}
}

// gone waits until nothing is left of an organization's stores.
func (n *testNode) gone(org pb.OrgID) {
	n.t.Helper()
	for deadline := time.Now().Add(patience); ; n.clock.Advance(account.RemovalPause) {
		if !n.hasStores(org) {
			return
		}
		if time.Now().After(deadline) {
			n.t.Fatal("the stores stay")
		}
	}
}

func (n *testNode) hasStores(org pb.OrgID) bool {
	n.t.Helper()
	for _, realm := range storage.OrgRealms {
		there, err := n.store.Exists(storage.StoreID{Org: org, Realm: realm})
		if err != nil {
			n.t.Fatal(err)
		}
		if there {
			return true
		}
	}
	return false
}

// TestLateReadsDoNotBringBackAnOrganization: neither one that holds the store
// while it is deleted, nor one that comes after.
func TestLateReadsDoNotBringBackAnOrganization(t *testing.T) {
	gate, blocked := make(chan struct{}), make(chan struct{})
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if s == "slowly" {
				close(blocked)
				<-gate
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("", "Something to find."))
	org := c.orgID()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	var wg sync.WaitGroup
	wg.Go(func() { c.ask(find("slowly")) })
	<-blocked
	if err := n.sys.DeleteOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	if !n.hasStores(org) {
		t.Fatal("the reader did not hold the store: the test proves nothing")
	}
	close(gate)
	wg.Wait()
	n.gone(org)
	err := view.WithStore(func(*storage.Store) error { return nil })
	if !errors.Is(err, storage.ErrNoStore) {
		t.Errorf("a late read: %v", err)
	}
	if _, err := n.sys.Org(t.Context(), org); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("the operator's look: %v", err)
	}
	if n.hasStores(org) {
		t.Error("the store is there again")
	}
}

// An item that fails is tried five times, each after twice the wait of the one before, and
// the job tells how often; then it is given up without being touched again.
//
// interface: Endpoints/Jobs
func TestAnItemIsTriedFiveTimes(t *testing.T) {
	var tries atomic.Int32
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) {
			tries.Add(1)
			panic("cannot digest this")
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := jobOf(c.ok(items(doc("a", "Bread."))))
	for k, wait := range []time.Duration{
		100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
		800 * time.Millisecond, 1600 * time.Millisecond,
	} {
		// That an attempt began is on its way to the disk meanwhile.
		n.waitFor(func() bool { return n.clock.WaitersIn(wait) > 0 && int(c.job(id).GetAttempts()) > k })
		if job := c.job(id); int(tries.Load()) != k+1 || int(job.GetAttempts()) != k+1 || job.GetStatus() != pb.JobRunning {
			t.Fatalf("before the wait of %v it was tried %d times: %v", wait, tries.Load(), job)
		}
		n.clock.Advance(wait)
	}
	n.wait(id)
	job := c.job(id)
	if tries.Load() != tenant.MaxAttempts || job.GetStatus() != pb.JobFailed || job.GetAttempts() != tenant.MaxAttempts {
		t.Errorf("tried %d times: %v", tries.Load(), job)
	}
	if reason := job.GetItems()[0].GetError(); !strings.Contains(reason, "5 attempts") {
		t.Errorf("the reason reads %q", reason)
	}
}
