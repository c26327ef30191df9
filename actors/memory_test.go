package actors

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func itemStatus(job *pb.Job) []string {
	var out []string
	for _, it := range job.GetItems() {
		out = append(out, it.GetStatus())
	}
	return out
}

// interface: What the service does/2 partitions by subject
func TestTextIngestedForASubjectIsFoundByThatSubjectOnly(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.put("ben")
	c.as("anna").ingest(doc("", "The violin lesson moves to Thursday evening."))
	c.as("ben").ingest(doc("", "The dentist wants to see me on Monday."))
	c.ingest(doc("", "Our office plants are watered on Fridays."))

	if got := c.as("anna").chunks("violin lesson"); len(got) != 1 || !strings.Contains(got[0], "violin") {
		t.Errorf("anna finds %q", got)
	}
	for _, who := range []client{c.as("ben"), c} {
		if got := who.chunks("violin lesson"); slices.ContainsFunc(got,
			func(s string) bool { return strings.Contains(s, "violin") }) {
			t.Errorf("%q finds anna's text: %q", who.subject, got)
		}
	}
	org := c.search(&pb.Search{Query: "violin lesson", OrgScope: true})
	if len(org) == 0 || org[0].GetSubject() != "anna" {
		t.Errorf("scope org gives %v first", org)
	}
	c.as("ben").refused(pb.CodePermissionDenied, &pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{
		Query:    "violin",
		OrgScope: true,
	}}})
}

// interface: Endpoints/Search
func TestOrganizationsShareNothing(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	a := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	b := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "x@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	job := a.ingest(doc("", "The launch code name is Bluebird."))
	if got := b.search(&pb.Search{Query: "Bluebird launch", OrgScope: true}); len(got) != 0 {
		t.Errorf("another organization finds %v", got)
	}
	b.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: pb.JobID(job.GetId()).
		String()}}})
	b.refused(pb.CodeNodeNotFound,
		&pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: job.GetItems()[0].GetNode()}}})
}

func TestDocumentsAreUpsertedByExternalID(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const first, second = "The meeting is on Monday.", "The meeting is on Tuesday."
	check := func(job *pb.Job, want ...string) {
		t.Helper()
		if got := itemStatus(job); !slices.Equal(got, want) {
			t.Fatalf("item outcomes %v, want %v", got, want)
		}
	}
	find := func(want ...string) {
		t.Helper()
		got := c.chunks("meeting")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("found %q, want %q", got, want)
		}
	}
	created := c.ingest(doc("m1", first))
	check(created, pb.ItemCreated)
	check(c.ingest(doc("m1", first)), pb.ItemUnchanged)
	check(c.ingest(doc("m2", first)), pb.ItemUnchanged) // a second document with the same text
	find(first)
	if ids := c.nodeOf(created.GetItems()[0].GetNode()).GetSource().GetExternalIds(); !slices.Equal(ids,
		[]string{"m1", "m2"}) {
		t.Fatalf("external ids %v", ids)
	}

	check(c.ingest(doc("m1", second)), pb.ItemSuperseded)
	find(first, second) // m2 still says so
	check(c.ingest(doc("m2", second)), pb.ItemSuperseded)
	find(second)
	old := c.nodeOf(created.GetItems()[0].GetNode())
	if old.GetStatus() != pb.StatusSuperseded || old.GetSupersededBy() == "" || old.GetValidToMs() == 0 {
		t.Fatalf("the old node reads %v", old)
	}
	if got := c.search(&pb.Search{Query: "meeting", IncludeSuperseded: true}); len(got) != 2 {
		t.Fatalf("with superseded: %v", got)
	}

	check(c.ingest(doc("m1", first)), pb.ItemRevived)
	find(first, second)
	revived := c.nodeOf(created.GetItems()[0].GetNode())
	if revived.GetStatus() != pb.StatusLive || revived.GetValidToMs() != 0 ||
		!slices.Equal(revived.GetSource().GetExternalIds(), []string{"m1"}) {
		t.Fatalf("the revived node reads %v", revived)
	}
	// What was also sent for itself does not end with a document.
	check(c.ingest(doc("", first)), pb.ItemUnchanged)
	check(c.ingest(doc("m1", second)), pb.ItemSuperseded)
	find(first, second)
	// All of it in one batch, so in one slice.
	check(c.ingest(doc("x", "alpha one"), doc("x", "alpha two"), doc("x", "alpha one"), doc("y", "alpha one"),
		doc("", "alpha two")),
		pb.ItemCreated, pb.ItemSuperseded, pb.ItemRevived, pb.ItemUnchanged, pb.ItemRevived)
}

func TestDocumentIsDescribedAnew(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	item := func(ext, title, meta string) *pb.IngestItem {
		return &pb.IngestItem{ExternalId: ext, Title: title, Content: "Bring two pairs of shoes.", Metadata: []byte(meta)}
	}
	first := c.ingest(item("a", "Packing list", `{"v":1}`), doc("f1", "Filler one."), doc("f2", "Filler two."),
		doc("f3", "Filler three."))
	if got := itemStatus(c.ingest(item("b", "Other title", `{"v":9}`))); got[0] != pb.ItemUnchanged {
		t.Errorf("a second document with the same content: %v", got)
	}
	job := c.ingest(item("a", "Holiday list", `{"v":2}`))
	if got := job.GetItems()[0]; got.GetStatus() != pb.ItemSuperseded || got.GetNode() != first.GetItems()[0].GetNode() {
		t.Errorf("a new title: %v", got)
	}
	check := func(c client) {
		t.Helper()
		if hits := c.search(&pb.Search{Query: "Holiday", Mode: "keyword"}); len(hits) != 1 ||
			hits[0].GetTitle() != "Holiday list" {
			t.Errorf("by the new title: %v", hits)
		}
		if hits := c.search(&pb.Search{Query: "Packing", Mode: "keyword"}); len(hits) != 0 {
			t.Errorf("by the old title: %v", hits)
		}
		for v, want := range map[string]int{"1": 0, "2": 1} {
			if hits := c.search(&pb.Search{
				Query: "shoes", Mode: "keyword",
				Filters: &pb.Filters{Metadata: map[string]string{"v": v}},
			}); len(hits) != want {
				t.Errorf("by v=%s: %d hits, want %d", v, len(hits), want)
			}
		}
	}
	check(c)
	n.stop()
	check(client{n: startNode(t, disk, smallSlices), key: c.key})
}

// TestLaterDescriptionInOneSliceCounts sends one content several times, described
// differently, so that all of it is one slice.
func TestLaterDescriptionInOneSliceCounts(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	item := func(ext, title, meta, content string) *pb.IngestItem {
		return &pb.IngestItem{ExternalId: ext, Title: title, Content: content, Metadata: []byte(meta)}
	}
	const shoes, boots = "Bring two pairs of shoes.", "Bring one pair of boots."
	job := c.ingest(item("a", "Packing", `{"v":1}`, shoes), doc("f", "Filler."), item("a", "Holiday", `{"v":2}`, shoes),
		item("a", "Holiday", `{"v":2}`, shoes))
	if got, want := itemStatus(job), []string{
		pb.ItemCreated, pb.ItemCreated, pb.ItemSuperseded,
		pb.ItemUnchanged,
	}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
	id := job.GetItems()[0].GetNode()
	check := func(title, other, meta string) {
		t.Helper()
		if node := c.nodeOf(id); node.GetTitle() != title || string(node.GetMetadata()) != meta {
			t.Errorf("the node is %q with %s, want %q with %s", node.GetTitle(), node.GetMetadata(), title, meta)
		}
		if hits := c.search(&pb.Search{Query: title, Mode: "keyword"}); len(hits) != 1 || hits[0].GetChunk() != shoes {
			t.Errorf("by the title %s: %v", title, hits)
		}
		if hits := c.search(&pb.Search{Query: other, Mode: "keyword"}); len(hits) != 0 {
			t.Errorf("by the title %s: %v", other, hits)
		}
	}
	check("Holiday", "Packing", `{"v":2}`)

	// Superseded, and back under another title: at once, and all in one slice.
	c.ingest(item("a", "Winter", `{"v":3}`, boots))
	if got := itemStatus(c.ingest(item("a", "Summer", `{"v":4}`, shoes))); got[0] != pb.ItemRevived {
		t.Errorf("outcome %v, want revived", got)
	}
	check("Summer", "Holiday", `{"v":4}`)
	job = c.ingest(item("a", "Winter", `{"v":5}`, boots), item("a", "Beach", `{"v":6}`, shoes))
	if got, want := itemStatus(job), []string{pb.ItemRevived, pb.ItemRevived}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
	check("Beach", "Summer", `{"v":6}`)
	n.stop()
	c.n = startNode(t, disk)
	check("Beach", "Summer", `{"v":6}`)
}

func (c client) nodeOf(id string) *pb.Node {
	c.n.t.Helper()
	return c.ok(&pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: id}}}).GetNode().GetNode()
}

func TestManySlicesMergeAndReload(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const docs = 700
	var its []*pb.IngestItem
	for i := range docs {
		its = append(its, &pb.IngestItem{
			ExternalId: fmt.Sprintf("d%d", i),
			Content:    fmt.Sprintf("Entry number%d speaks of topic%d.", i, i%7), Metadata: fmt.Appendf(nil,
				`{"parity":%d,"name":"n%d"}`, i%2, i),
		})
	}
	job := c.ingest(its...)
	if job.GetStatus() != pb.JobSucceeded || job.GetDone() != docs || len(job.GetItems()) != docs {
		t.Fatalf("job %s, %d of %d done, %d items", job.GetStatus(), job.GetDone(), job.GetTotal(), len(job.GetItems()))
	}
	check := func(c client) {
		t.Helper()
		for _, i := range []int{0, 63, 64, 350, docs - 1} {
			hits := c.search(&pb.Search{Query: fmt.Sprintf("number%d", i), Mode: "keyword"})
			if len(hits) == 0 || hits[0].GetExternalId() != fmt.Sprintf("d%d", i) {
				t.Fatalf("number%d is not found: %v", i, hits)
			}
		}
		hits := c.search(&pb.Search{
			Query: "topic3", TopK: 100,
			Filters: &pb.Filters{Metadata: map[string]string{"parity": "1"}},
		})
		if len(hits) == 0 {
			t.Fatal("nothing passes the filter")
		}
		for _, h := range hits {
			var i int
			if _, err := fmt.Sscanf(h.GetExternalId(), "d%d", &i); err != nil || i%2 != 1 {
				t.Fatalf("%s passes the filter parity=1", h.GetExternalId())
			}
		}
	}
	check(c)
	n.stop()
	n2 := startNode(t, disk)
	check(client{n: n2, key: c.key})
}

// TestStoredSegmentsAreLoadedInTheOrderOfTheirChunks seals often, so that merged
// segments get newer ids than those behind them.
func TestStoredSegmentsAreLoadedInTheOrderOfTheirChunks(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for i := range 60 {
		c.ingest(doc("", fmt.Sprintf("Short note number%d.", i)))
	}
	n.stop()
	n = startNode(t, disk, smallSlices)
	c.n = n
	views := n.partitionOf(c).Snapshot.Views
	stored := 0
	var after uint64
	for _, v := range views {
		if v.ID != 0 {
			stored++
		}
		first, last := v.Segment.SeqRange()
		if first <= after {
			t.Fatalf("a view of chunks %d to %d stands behind chunk %d", first, last, after)
		}
		after = last
	}
	if stored == 0 { // how many there are depends on which merges were due
		t.Fatalf("%d stored segments: the test proves nothing", stored)
	}
	if got := c.chunks("number59"); len(got) == 0 || got[0] != "Short note number59." {
		t.Fatalf("after a restart the newest note is not found first: %q", got)
	}
}

// TestSegmentsOfAnotherAnalysisAreReplaced takes what a first node has stored for
// the work of an older text analysis.
func TestSegmentsOfAnotherAnalysisAreReplaced(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for i := range 60 {
		c.ingest(doc(fmt.Sprint(i), fmt.Sprintf("Short note number%d.", i)))
	}
	c.ingest(doc("7", "Another note in its place."))
	n.stop()
	n = startNode(t, disk, smallSlices)
	c.n = n
	var old []uint64
	for _, v := range n.partitionOf(c).Snapshot.Views {
		if v.ID != 0 {
			old = append(old, v.ID)
		}
	}
	if len(old) == 0 {
		t.Fatal("nothing is stored: the test proves nothing")
	}
	n.stop()
	newer := func(c *tenant.Config, _ *storage.Options) {
		c.SegmentUsable = func(v index.View) bool { return !slices.Contains(old, v.ID) }
	}
	check := func() {
		t.Helper()
		for _, q := range []string{"number0", "number31", "number59"} {
			if got := c.chunks(q); len(got) == 0 || got[0] != "Short note "+q+"." {
				t.Errorf("%s finds %q", q, got)
			}
		}
		if got := c.chunks("number7"); slices.Contains(got, "Short note number7.") {
			t.Error("what was replaced is found")
		}
	}
	n = startNode(t, disk, smallSlices, newer)
	c.n = n
	if got := len(n.partitionOf(c).Stale); got != len(old) {
		t.Fatalf("%d segments are stale, want %d", got, len(old))
	}
	check() // a search wakes the worker
	for deadline := time.Now().Add(patience); len(n.partitionOf(c).Stale) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("stale segments stay")
		}
	}
	check()
	n.stop()
	n = startNode(t, disk, smallSlices, newer)
	c.n = n
	now := n.partitionOf(c)
	if len(now.Stale) > 0 || now.Snapshot.Len() != 61 {
		t.Errorf("a cold start finds %d stale segments and %d chunks", len(now.Stale), now.Snapshot.Len())
	}
	for _, id := range old {
		if n.has(c, storage.TableSegment, id) || n.has(c, storage.TableSegmentPiece, id) ||
			n.has(c, storage.TableSegmentLiveness, id) {
			t.Errorf("segment %d is still stored", id)
		}
	}
	check()
}

// has reports whether the key owner's partition holds a record under a number.
func (n *testNode) has(c client, table storage.Table, id uint64) bool {
	n.t.Helper()
	me := c.ok(me()).GetMe()
	store := storage.StoreID{Org: pb.OrgID(me.GetOrg()), Realm: storage.RealmMain}
	st, err := n.store.Acquire(store)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	for _, err := range st.Scan(storage.PartitionSpace(store, pb.PartitionID(me.GetUser())).Prefix(table, storage.U64(id)),
		storage.ScanOptions{}) {
		if err != nil {
			n.t.Fatal(err)
		}
		return true
	}
	return false
}

// interface: Endpoints/Subjects
func TestErasedSubjectIsGoneFromDiskAndStartsEmpty(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.put("ben")
	const canary = "xylophone-canary-4711"
	c.as("anna").ingest(doc("e1", "A secret about the "+canary+" and nothing else."), &pb.IngestItem{
		Title:   "On " + canary,
		Content: "Some words.",
	})
	kept := c.as("ben").ingest(doc("e1", "Ben keeps his umbrella."))
	if len(disk.Find(t, canary)) == 0 {
		t.Fatal("the canary was never on the disk: the test would prove nothing")
	}
	r := c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}})
	c.as("anna").refused(pb.CodeSubjectNotProvisioned, find(canary))
	n.wait(jobOf(r))
	if job := c.job(jobOf(r)); job.GetStatus() != pb.JobSucceeded || job.GetSubject() != "" {
		t.Errorf("erase job: %v", job)
	}
	if files := disk.Find(t, canary); len(files) > 0 {
		t.Errorf("the erased text is still in %v", files)
	}
	c.put("anna")
	if got := c.as("anna").chunks("secret"); len(got) != 0 {
		t.Errorf("a new subject of the same name finds %q", got)
	}
	if got := c.as("ben").chunks("umbrella"); len(got) != 1 {
		t.Errorf("the neighbour finds %q", got)
	}
	if got := c.as("ben").job(pb.JobID(kept.GetId()).String()); got.GetStatus() != pb.JobSucceeded {
		t.Errorf("the neighbour's job: %v", got)
	}
}

func TestSubjectUnderErasureIsOfNoUse(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for round := range 20 {
		c.put("anna")
		c.as("anna").ingest(doc("", fmt.Sprintf("Text of round %d.", round)))
		var wg sync.WaitGroup
		var erase string
		wg.Go(func() {
			erase = jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}}))
		})
		for range 4 { // while the erasure is being committed
			wg.Go(func() {
				for range 10 {
					c.as("anna").ask(find("text"))
					c.as("anna").ask(items(doc("", "A late text.")))
				}
			})
		}
		wg.Wait()
		c.as("anna").refused(pb.CodeSubjectNotProvisioned, find("text"))
		n.wait(erase)
		c.put("anna")
		if got := c.as("anna").chunks("text"); len(got) != 0 {
			t.Fatalf("round %d: the new subject finds %q", round, got)
		}
	}
}

// interface: Resources/Ingest job
func TestIngestStatusIsConfinedToTheSubject(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	c.put("ben")
	id := jobOf(c.as("anna").ok(items(doc("private-name", "Text."))))
	status := func() *pb.Envelope {
		return &pb.Envelope{Op: &pb.Envelope_JobStatus{JobStatus: &pb.JobStatus{Id: id}}}
	}
	c.as("anna").ok(status())
	c.ok(status())
	c.as("ben").refused(pb.CodeJobNotFound, status())
}

func TestPanickingReadIsAnswered(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if s == "boom" {
				panic("cannot")
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("", "Something."))
	c.refused(pb.CodeInternal, find("boom"))
	c.ok(find("Something"))
}

func TestOneLongDocumentDoesNotCrowdOutTheOthers(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "Harvest harvest harvest report, part %d. %s\n\n", i, strings.Repeat("word ", 150))
	}
	its := []*pb.IngestItem{doc("book", long.String())}
	for i := range 20 {
		its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("Note %d mentions the harvest once among several other matters.",
			i)))
	}
	c.ingest(its...)
	if hits := c.search(&pb.Search{Query: "harvest", TopK: 10}); len(hits) != 10 {
		t.Errorf("%d hits, want 10", len(hits))
	}
}

// interface: What the service does/3 asynchronous ingestion
// interface: States/Ingest job
func TestQueuedWorkSurvivesACrashAndTakesEffectOnce(t *testing.T) {
	disk := storagetest.NewDisk()
	gate := make(chan struct{})
	var once sync.Once
	blocked := make(chan struct{})
	n := startNode(t, disk, func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(string) {
			once.Do(func() { close(blocked) })
			<-gate
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a := jobOf(c.ok(items(doc("a", "First unfinished text."), doc("b", "Second unfinished text."))))
	b := jobOf(c.ok(items(doc("c", "Third unfinished text."))))
	<-blocked
	after := disk.Crash(0, 1) // a power failure now: only what was synced is kept
	close(gate)

	n2 := startNode(t, after)
	n2.wait(a, b)
	c2 := client{n: n2, key: c.key}
	for _, id := range []string{a, b} {
		if job := c2.job(id); job.GetStatus() != pb.JobSucceeded {
			t.Errorf("job %s: %s", id, job.GetStatus())
		}
	}
	if got := c2.chunks("unfinished text"); len(got) != 3 {
		t.Errorf("after the crash %q are found", got)
	}
}

func TestPoisonItemIsIsolatedAndGivenUp(t *testing.T) {
	t.Run("in the computation", func(t *testing.T) {
		testPoison(t, wordEmbedder{id: "words", fail: func(s string) {
			if strings.Contains(s, "poison") {
				panic("cannot digest this")
			}
		}})
	})
	t.Run("in the effect", func(t *testing.T) { testPoison(t, notANumber{wordEmbedder{id: "words"}}) })
}

// notANumber gives a vector that the index refuses.
type notANumber struct{ wordEmbedder }

func (e notANumber) NewEncoder() partition.Encoder { return e }

func (e notANumber) Passages(texts []string) [][]float32 {
	out := e.wordEmbedder.Passages(texts)
	for i, s := range texts {
		if strings.Contains(s, "poison") {
			out[i][0] = float32(math.NaN())
		}
	}
	return out
}

func testPoison(t *testing.T, e partition.Embedder) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder, c.MaxBackOff = e, time.Millisecond
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := jobOf(c.ok(items(doc("a", "Bread."), doc("b", "This is poison."), doc("c", "Butter."))))
	behind := jobOf(c.ok(items(doc("d", "Cheese."))))
	n.waitMoving(time.Millisecond, id, behind)
	job := c.job(id)
	if got := itemStatus(job); !slices.Equal(got, []string{pb.ItemCreated, pb.ItemFailed, pb.ItemCreated}) ||
		job.GetStatus() != pb.JobSucceeded {
		t.Errorf("job %s with items %v", job.GetStatus(), got)
	}
	if job.GetItems()[1].GetError() == "" || strings.Contains(job.GetItems()[1].GetError(), "poison") {
		t.Errorf("the reason reads %q", job.GetItems()[1].GetError())
	}
	if got := c.chunks("Cheese"); len(got) == 0 {
		t.Error("what stood behind the poison item is not found")
	}
}

// interface: Endpoints/Jobs
func TestCancelledJobStopsAndLeavesTheRestAlone(t *testing.T) {
	gate, blocked := make(chan struct{}), make(chan struct{})
	asked := make(chan pb.JobID, 2)
	var once sync.Once
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(string) {
			once.Do(func() { close(blocked); <-gate })
		}}
		c.Workers = 1
		c.CancelRequested = func(id pb.JobID) { asked <- id }
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var many []*pb.IngestItem
	for i := range 40 {
		many = append(many, doc(fmt.Sprint(i), fmt.Sprintf("Cancelled text number %d.", i)))
	}
	running := jobOf(c.ok(items(many...)))
	waiting := jobOf(c.ok(items(doc("w", "Waiting text."))))
	behind := jobOf(c.ok(items(doc("k", "Kept text."))))
	<-blocked
	stop := func(id string) *pb.Envelope {
		return &pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: id}}}
	}
	var wg sync.WaitGroup
	for _, id := range []string{running, waiting} {
		wg.Go(func() { c.ok(stop(id)) })
	}
	<-asked
	<-asked
	close(gate)
	go func() {
		for range asked { // those of the refused cancellations below
			continue
		}
	}()
	defer close(asked)
	wg.Wait()
	n.wait(behind)
	for _, id := range []string{running, waiting} {
		if job := c.job(id); job.GetStatus() != pb.JobCancelled || job.GetFinishedMs() == 0 {
			t.Errorf("job is %s", job.GetStatus())
		}
		c.refused(pb.CodeJobNotCancellable, stop(id))
	}
	if got := c.chunks("text"); !slices.Contains(got, "Kept text.") || slices.Contains(got, "Waiting text.") {
		t.Errorf("found %q", got)
	}
	c.refused(pb.CodeJobNotFound, stop("00000000-0000-4000-8000-000000000000"))
}

func TestChangeOfModelEmbedsAnewWhileTheOldOneServes(t *testing.T) {
	for _, keepOld := range []bool{true, false} {
		t.Run(fmt.Sprintf("old model present %v", keepOld), func(t *testing.T) {
			disk := storagetest.NewDisk()
			n := startNode(t, disk)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			var its []*pb.IngestItem
			for i := range 150 {
				its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("Passage w%d about v%d.", i, i)))
			}
			c.ingest(its...)
			n.stop()

			n2 := startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
				cfg.Embedder = wordEmbedder{id: "other"}
				if keepOld {
					cfg.Former = []partition.Embedder{wordEmbedder{id: "words"}}
				}
			})
			c2 := client{n: n2, key: c.key}
			if keepOld {
				if hits := c2.search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
					hits[0].GetExternalId() != "17" {
					t.Fatalf("the old vectors do not serve: %v", hits)
				}
			}
			c2.ingest(doc("new", "A new passage wakes the worker."))
			// The worker embeds anew after its queue; a second item waits behind that.
			for range 200 {
				c2.ingest(doc("again", "Another passage."))
				part := n2.partitionOf(c2)
				if part.State.GetModel() == "other" {
					break
				}
			}
			part := n2.partitionOf(c2)
			if part.State.GetModel() != "other" {
				t.Fatalf("still served by %q", part.State.GetModel())
			}
			for _, v := range part.Snapshot.Views {
				if v.Segment.Model() != "other" {
					t.Fatalf("a segment of model %q is left", v.Segment.Model())
				}
			}
			if hits := c2.search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
				hits[0].GetExternalId() != "17" {
				t.Fatalf("the new vectors do not find it: %v", hits)
			}
			n2.stop()
			n3 := startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) { cfg.Embedder = wordEmbedder{id: "other"} })
			if hits := (client{n: n3, key: c.key}).search(&pb.Search{
				Query: "Passage w99 about v99",
				Mode:  "vector",
			}); len(hits) == 0 || hits[0].GetExternalId() != "99" {
				t.Fatalf("after a restart %d hits do not begin with it", len(hits))
			}
		})
	}
}

// PartitionOf reads the key owner's partition as the index sees it.
func (n *testNode) partitionOf(c client) *partition.Index {
	n.t.Helper()
	me := c.ok(&pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}}).GetMe()
	org, user := pb.OrgID(me.GetOrg()), pb.PartitionID(me.GetUser())
	id := storage.StoreID{Org: org, Realm: storage.RealmMain}
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	now, err := view.Residents.Get(st, &partition.Ref{ID: user, Store: id, Space: storage.PartitionSpace(id, user)},
		n.sys.Embedders.Dim)
	if err != nil {
		n.t.Fatal(err)
	}
	return now
}
