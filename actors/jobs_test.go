package actors

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// gated starts a node whose embedder waits at the first text with a word until the
// gate is opened.
func gated(t *testing.T, workers int, word string) (n *testNode, reached chan struct{}, open func(),
	embedded *atomic.Int64,
) {
	t.Helper()
	gate, reached := make(chan struct{}), make(chan struct{})
	var once, opened sync.Once
	open = func() { opened.Do(func() { close(gate) }) }
	t.Cleanup(open)
	embedded = &atomic.Int64{}
	n = startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Workers = workers
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			embedded.Add(1)
			if strings.Contains(s, word) {
				once.Do(func() { close(reached); <-gate })
			}
		}}
	})
	return n, reached, open, embedded
}

// TestJobsTellHowFarTheyAre: while a job runs, what it has done is counted and told
// item by item, and nothing that it has not.
func TestJobsTellHowFarTheyAre(t *testing.T) {
	n, reached, open, _ := gated(t, 1, "brake")
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const all = 2*subject.MaxSliceItems + 10
	var lines strings.Builder
	for i := range all {
		word := "wheel"
		if i == subject.MaxSliceItems { // the first of the second slice
			word = "brake"
		}
		fmt.Fprintf(&lines, "{\"content\":\"The %s of bicycle number %d.\"}\n", word, i)
	}
	id := jobOf(c.ok(file("bicycles.jsonl", lines.String())))
	<-reached
	job := c.job(id)
	running := &pb.Job{Status: pb.JobRunning, Done: subject.MaxSliceItems, Total: all}
	if diff := prototest.Diff(running, job, "finished_ms"); diff != "" || job.GetStartedMs() == 0 ||
		len(job.GetItems()) != subject.MaxSliceItems {
		t.Errorf("%d items, started %d (-want +got):\n%s", len(job.GetItems()), job.GetStartedMs(), diff)
	}
	for i, it := range job.GetItems() {
		if it.GetStatus() != pb.ItemCreated || it.GetNode() == "" {
			t.Errorf("item %d: %v", i, it)
		}
	}
	if e := c.imports()[0]; e.GetStatus() != pb.JobRunning || e.GetNodes() != 0 || e.GetFinishedMs() != 0 {
		t.Errorf("the history says %v", e)
	}
	open()
	n.wait(id)
	job = c.job(id)
	ended := &pb.Job{Status: pb.JobSucceeded, Done: all, Total: all, Created: all}
	if diff := prototest.Diff(ended, job); diff != "" || len(job.GetItems()) != all {
		t.Errorf("%d items (-want +got):\n%s", len(job.GetItems()), diff)
	}
}

// TestCancellationEndsALongDocument: what is cancelled ends with the batch that is
// being embedded, however long its document is, and leaves nothing but the news of it.
//
// interface: Events/job.completed
func TestCancellationEndsALongDocument(t *testing.T) {
	asked := make(chan pb.JobID, 1)
	gate, reached := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var embedded atomic.Int64
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Workers = 1
		c.CancelRequested = func(id pb.JobID) { asked <- id }
		c.Embedder = wordEmbedder{id: "words", fail: func(string) {
			embedded.Add(1)
			once.Do(func() { close(reached); <-gate })
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var long strings.Builder
	for i := range 500 {
		fmt.Fprintf(&long, "# Part %d\n\n%s\n\n", i, strings.Repeat("The tide tables of the harbour are pinned to the door. ",
			20))
	}
	stream := c.stream()
	id := jobOf(c.ok(file("tides.md", long.String())))
	<-reached
	var wg sync.WaitGroup
	wg.Go(func() { c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: id}}}) })
	<-asked
	close(gate)
	wg.Wait()
	if done := embedded.Load(); done > subject.EmbedBatch {
		t.Errorf("%d passages were embedded, want the %d of one batch at most", done, subject.EmbedBatch)
	}
	if job := c.job(id); job.GetStatus() != pb.JobCancelled || job.GetDone() != 0 || len(job.GetItems()) != 0 {
		t.Errorf("%v", job)
	}
	told := nextEvent(t, stream)
	for told.GetType() == pb.EventImportStarted || told.GetType() == pb.EventImportFinished {
		told = nextEvent(t, stream)
	}
	var data map[string]any
	if err := json.Unmarshal(told.GetData(), &data); err != nil || told.GetType() != pb.EventJobCompleted {
		t.Errorf("the stream says %s %s, %v", told.GetType(), told.GetData(), err)
	}
	want := map[string]any{"jobId": id, "jobType": "import", "status": "cancelled"}
	if diff := prototest.DiffObject(want, data); diff != "" {
		t.Errorf("the stream says of the job (-want +got):\n%s", diff)
	}
	if e := c.imports()[0]; e.GetStatus() != pb.JobCancelled || e.GetNodes() != 0 {
		t.Errorf("the history says %v", e)
	}
	if got := c.chunks("tide tables harbour"); len(got) != 0 {
		t.Errorf("%d passages are found", len(got))
	}
}

// TestOneOrganizationDoesNotHoldUpAnother: nor one subject of an organization another,
// with a job that gets no further.
func TestOneOrganizationDoesNotHoldUpAnother(t *testing.T) {
	n, reached, open, _ := gated(t, 2, "anvil")
	stuck := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	stuck.put("ann")
	other := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	held := jobOf(stuck.ok(items(doc("a", "The anvil stands in the yard."))))
	<-reached
	for name, c := range map[string]client{"another organization": other, "another subject": stuck.as("ann")} {
		if job := c.ingest(doc("b", "The bellows were oiled.")); job.GetStatus() != pb.JobSucceeded {
			t.Errorf("%s: %v", name, job)
		}
	}
	if job := stuck.job(held); tenant.Terminal(job.GetStatus()) {
		t.Errorf("%v", job)
	}
	open()
	n.wait(held)
}

// TestVersionsOfADocumentAreTakenInTheirOrder: in one job, in several, and in several
// slices, the last that was sent is what stands.
func TestVersionsOfADocumentAreTakenInTheirOrder(t *testing.T) {
	n, reached, open, _ := gated(t, 2, "gatehouse")
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	jobs := []string{jobOf(c.ok(items(doc("g", "The gatehouse is shut."))))}
	<-reached
	version := 0
	next := func() *pb.IngestItem {
		version++
		return doc("timetable", fmt.Sprintf("Version %d of the timetable.", version))
	}
	for range 5 {
		jobs = append(jobs, jobOf(c.ok(items(next()))))
	}
	var many []*pb.IngestItem
	for range 2 * subject.MaxSliceItems {
		many = append(many, next())
	}
	jobs = append(jobs, jobOf(c.ok(items(many...))))
	open()
	n.wait(jobs...)
	got := slices.DeleteFunc(c.chunks("timetable"), func(s string) bool { return !strings.Contains(s, "Version") })
	if want := []string{fmt.Sprintf("Version %d of the timetable.", version)}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	status := itemStatus(c.job(jobs[len(jobs)-1]))
	if slices.ContainsFunc(status, func(s string) bool { return s != pb.ItemSuperseded }) || len(status) != len(many) {
		t.Errorf("%q", status)
	}
}

// TestPoisonInAnImport: the one document that cannot be digested is told, in words for
// people, at its place; the others of its file are there.
func TestPoisonInAnImport(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.MaxBackOff = 1
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if strings.Contains(s, "hemlock") {
				panic("cannot digest hemlock")
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := jobOf(c.ok(file("herbs.jsonl", `{"content":"Thyme by the wall."}`+"\n"+`{"content":"A row of hemlock."}`+"\n"+
		`{"content":"Sage in the pot."}`)))
	n.waitMoving(1, id)
	job := c.job(id)
	if got := itemStatus(job); !slices.Equal(got, []string{pb.ItemCreated, pb.ItemFailed, pb.ItemCreated}) ||
		job.GetStatus() != pb.JobSucceeded || job.GetFailed() != 1 || job.GetDone() != 3 {
		t.Errorf("%v", job)
	}
	if reason := job.GetItems()[1].GetError(); reason == "" || strings.Contains(reason, "hemlock") ||
		strings.Contains(reason, "goroutine") {
		t.Errorf("the reason reads %q", reason)
	}
	if e := c.imports()[0]; e.GetStatus() != pb.JobSucceeded || e.GetNodes() != 2 {
		t.Errorf("the history says %v", e)
	}
	if got := strings.Join(c.chunks("thyme sage row"), "|"); !strings.Contains(got, "Sage") ||
		!strings.Contains(got, "Thyme") || strings.Contains(got, "hemlock") {
		t.Errorf("found %s", got)
	}
}

// A subject that found itself idle gets a job, which is accepted, and only then is
// released: the job would wait for whoever asks for the subject next.
func TestASubjectWithAJobStaysInMemory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c = c.as("ann")
	c.ingest(doc("", "a first text"))
	part, late := c.partition(), tenant.NewCall(c.envelope(items(doc("", "a second text"))))
	var job string
	c.inOrg(func(o *tenant.Org) {
		ch := o.Child(part)
		idle := ch.Sent
		o.Handle(late)
		job = jobOf(<-late.Done)
		if o.ReleaseSubject(part.ID, ch, idle); o.InMemory()[part.ID] != ch {
			t.Error("it has left memory")
		}
	})
	if !t.Failed() {
		n.wait(job)
	}
}
