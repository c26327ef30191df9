package actors

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/brain/format"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestFilesWaitForMemory: a file waits until there is memory to read it, is refused with
// the time to come again where there is none in time, and gives back what it held.
func TestFilesWaitForMemory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config,
		_ *storage.Options,
	) {
		cfg.ReadingBytes = tenant.MinReadingBytes
	})
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	all, err := n.sys.ReadingMemory.Begin(t.Context(), pb.OrgID{9}, tenant.MinReadingBytes, tenant.MinReadingBytes, 0)
	if err != nil {
		t.Fatal(err)
	}
	waiting := func(want int) {
		for n.sys.Stats().ReadingsWaiting != want {
			runtime.Gosched()
		}
	}
	var wg sync.WaitGroup
	var late *pb.Reply
	timers := n.clock.WaitersIn(subject.ReadingWait)
	wg.Go(func() { late = c.ask(file("late.txt", "Figs ripen late.")) })
	for n.clock.WaitersIn(subject.ReadingWait) == timers { // it waits, and its timer is set
		runtime.Gosched()
	}
	n.clock.Advance(subject.ReadingWait)
	wg.Wait()
	if p := late.GetProblem(); p.GetCode() != pb.CodeServiceDegraded || p.GetRetryAfterS() == 0 ||
		!strings.Contains(p.GetDetail(), "memory") {
		t.Errorf("without memory: %v", late)
	}
	var job string
	wg.Go(func() { job = jobOf(c.ask(file("soon.txt", "Plums ripen early."))) })
	waiting(1)
	all.End()
	wg.Wait()
	n.wait(job)
	if s := n.sys.Stats(); s.ReadingBytes != 0 || s.ReadingsWaiting != 0 || s.ReadingBytesLimit != tenant.MinReadingBytes {
		t.Errorf("%d of %d bytes are held, %d wait", s.ReadingBytes, s.ReadingBytesLimit, s.ReadingsWaiting)
	}
}

// TestNoFileIsHeldForNobody: a file whose sender has left is neither read nor held, however
// long it would have waited.
func TestNoFileIsHeldForNobody(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config,
		_ *storage.Options,
	) {
		cfg.ReadingBytes = tenant.MinReadingBytes
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	all, err := n.sys.ReadingMemory.Begin(t.Context(), pb.OrgID{9}, tenant.MinReadingBytes, tenant.MinReadingBytes, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer all.End()
	before := n.clock.WaitersIn(tenant.AbandonedCallLimit)
	ctx, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := n.sys.Ask(ctx, c.envelope(file("a.txt", "Figs ripen late."))); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	for n.sys.Stats().ReadingsWaiting != 1 {
		runtime.Gosched()
	}
	leave()
	wg.Wait()
	for n.sys.Stats().ReadingsWaiting != 0 || n.sys.Stats().CallsInFlight != 0 {
		runtime.Gosched()
	}
	if n.clock.WaitersIn(tenant.AbandonedCallLimit) != before {
		t.Error("a timer still holds the call, and that the file")
	}
}

// TestLargeTextsTakeTurns: the texts of many memories are cut and embedded one after the
// other where there is no memory for all, and none is lost.
func TestLargeTextsTakeTurns(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config,
		_ *storage.Options,
	) {
		cfg.ReadingBytes = tenant.MinReadingBytes
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	all, err := n.sys.EmbeddingMemory.Begin(t.Context(), pb.OrgID{9}, tenant.MinReadingBytes/2, tenant.MinReadingBytes/2,
		0)
	if err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, subject := range []string{"ann", "bob", "eve"} {
		c.put(subject)
		jobs = append(jobs, jobOf(c.as(subject).ok(file("a.txt", "Figs ripen late."))))
	}
	for n.sys.EmbeddingMemory.Waiting() != len(jobs) {
		runtime.Gosched()
	}
	all.End()
	n.wait(jobs...)
	n.waitFor(func() bool { return n.sys.EmbeddingMemory.Used() == 0 }) // it is given back behind the end of the job
}

// TestSmallPackedFilesLeaveTheReadsAlone: what may unpack to much is no quick read, however
// small it is.
func TestSmallPackedFilesLeaveTheReadsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		data  string
		quick bool
	}{
		"a note": {"Figs ripen late.", true}, "a table": {"a,b\n1,2\n", true}, "JSON": {`{"text":"Figs"}`, true},
		"an archive": {"PK\x03\x04", false}, "gzip": {"\x1f\x8b\x08", false}, "bzip2": {"BZh9", false},
		"PDF":          {"\n%PDF-1.7", false},
		"a mail":       {"From: a@x.org\nTo: b@x.org\nSubject: Figs\n\nFigs.", false},
		"a large note": {strings.Repeat("Figs.", 1<<16), false},
	} {
		if got := format.Quick([]byte(c.data)); got != c.quick {
			t.Errorf("%s is quick: %v", name, got)
		}
	}
}
