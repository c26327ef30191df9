package actors

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/quality"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func evaluateOp(org bool) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_EvaluateQuality{EvaluateQuality: &pb.EvaluateQuality{OrgScope: org}}})
}

func listQuality(org bool, page *pb.Page) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_ListQuality{ListQuality: &pb.ListQuality{OrgScope: org, Page: page}}})
}

// reports are all reports of a memory, newest first.
func (c client) reports(org bool) []*pb.QualityReport {
	c.n.t.Helper()
	return c.ok(listQuality(org, &pb.Page{Size: 200})).GetMind().GetQuality().GetReports()
}

// evaluate evaluates a memory, and returns the report.
func (c client) evaluate(org bool) *pb.QualityReport {
	c.n.t.Helper()
	c.n.clock.Advance(time.Second) // reports are listed by their time
	id := jobOf(c.ok(evaluateOp(org)))
	c.n.wait(id)
	if job := c.job(id); job.GetStatus() != pb.JobSucceeded || job.GetDone() != job.GetTotal() {
		c.n.t.Fatalf("the job: %v", job)
	}
	all := c.reports(org)
	if len(all) == 0 || pb.JobID(all[0].GetJob()).String() != id {
		c.n.t.Fatalf("the job left no report: %v", all)
	}
	return all[0]
}

// counted is a report without what differs from one to the next.
func counted(r *pb.QualityReport) *pb.QualityReport {
	r = proto.CloneOf(r)
	r.Job, r.AtMs = nil, 0
	return r
}

// bakery are n notes, each about something of its own.
func bakery(n int) (docs []*pb.IngestItem) {
	for i := range n {
		docs = append(docs, doc(fmt.Sprint("note-", i), fmt.Sprintf(
			"The %s of house %s was ordered by %s for the %s feast of the town.",
			word(i), word(i+1000), word(i+2000), word(i+3000))))
	}
	return docs
}

// word is a word of its own for each number.
func word(n int) string {
	var b strings.Builder
	for n += 26 * 26; n > 0; n /= 26 {
		b.WriteByte(byte('a' + n%26))
		b.WriteString("ora"[n%3 : n%3+1])
	}
	return b.String()
}

func found(r *pb.QualityReport, kind string) *pb.QualityRecall {
	for _, x := range r.GetRecall() {
		if x.GetKind() == kind {
			return x
		}
	}
	return nil
}

func TestEvaluationCountsWhatAMemoryFinds(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(bakery(60)...)
	c.ingest(
		doc("twin", bakery(60)[3].GetContent()+" Twice."),
		doc("german", "Der Laden von der Ecke ist am Montag nicht offen, und das ist auch gut so."),
		doc("moved", "The baker Wendelin Oster keeps his flour in the northern cellar of the mill."),
		doc("emoji", "🍞🥐🥖🥨"),
	)
	c.ingest(doc("moved", "The baker Wendelin Oster keeps his flour in the southern tower of the mill."))
	r := c.evaluate(false)
	if r.GetMemories() != 64 || r.GetSampled() != 64 || r.GetPartial() || r.GetOrg() || r.GetModel() != "words" {
		t.Errorf("memories: %v", r)
	}
	if r.GetAsked() != 63 || r.GetUnfound() > 3 { // nothing can be asked about emoji
		t.Errorf("%d of %d are not found", r.GetUnfound(), r.GetAsked())
	}
	for _, kind := range []string{"words", "paraphrase"} {
		x := found(r, kind)
		if x.GetQuestions() != 63 || x.GetAt10() < 57 || x.GetAt1() > x.GetAt5() || x.GetAt5() > x.GetAt10() {
			t.Errorf("%s: %v", kind, x)
		}
	}
	if x := found(r, "former"); x.GetQuestions() != 1 || x.GetAt10() != 1 {
		t.Errorf("what was superseded: %v", x)
	}
	if r.GetDuplicates() != 2 {
		t.Errorf("%d near duplicates", r.GetDuplicates())
	}
	if l := r.GetLanguages(); l["en"] != 62 || l["de"] != 1 || l["und"] != 1 {
		t.Errorf("languages %v", l)
	}
	if again := c.evaluate(false); !proto.Equal(counted(r), counted(again)) {
		t.Errorf("the same memory gives\n%v, and then\n%v", r, again)
	}
	if all := c.reports(false); len(all) != 2 || all[0].GetAtMs() < all[1].GetAtMs() {
		t.Errorf("%d reports", len(all))
	}
}

func TestEvaluationOfLittle(t *testing.T) {
	t.Parallel()
	for name, docs := range map[string][]*pb.IngestItem{
		"nothing": nil, "one memory": {doc("a", "Bread of the northern mill rises slowly.")},
		"emoji only": {doc("a", "🍞🥐"), doc("b", "🥨")}, "a word": {doc("a", "Bread")},
		"no spaces": {doc("a", strings.Repeat("a", 100_000)), doc("b", "面包在北方的磨坊里慢慢地发酵。")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk())
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			if docs != nil {
				c.ingest(docs...)
			}
			r := c.evaluate(false)
			if r.GetMemories() != uint64(len(docs)) || r.GetSampled() != uint64(len(docs)) {
				t.Errorf("%v", r)
			}
			if name == "one memory" && (r.GetAsked() != 1 || r.GetUnfound() != 0 || r.GetDuplicates() != 0) {
				t.Errorf("%v", r)
			}
		})
	}
}

func TestReportsBelongToTheirMemories(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	c.put("ann")
	c.put("ben")
	ann, ben := c.as("ann"), c.as("ben")
	ann.ingest(bakery(8)...)
	c.ingest(bakery(3)...)
	if r := ann.evaluate(false); r.GetMemories() != 8 {
		t.Errorf("%v", r)
	}
	if r := c.evaluate(true); r.GetMemories() != 11 || !r.GetOrg() {
		t.Errorf("the organization: %v", r)
	}
	for who, reports := range map[string][]*pb.QualityReport{
		"another subject": ben.reports(false), "the owner": c.reports(false),
		"another organization": other.reports(false), "another organization as a whole": other.reports(true),
	} {
		if len(reports) != 0 {
			t.Errorf("%s sees %v", who, reports)
		}
	}
	ann.refused(pb.CodePermissionDenied, evaluateOp(true))
	ann.refused(pb.CodePermissionDenied, listQuality(true, nil))
	page := c.ok(listQuality(true, &pb.Page{Size: 1})).GetMind().GetQuality()
	if len(page.GetReports()) != 1 || page.GetNextCursor() != "" {
		t.Errorf("a page: %v", page)
	}
}

func TestReportsGoWithTheirMemory(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	ann := c.as("ann")
	ann.ingest(bakery(4)...)
	ann.evaluate(false)
	c.evaluate(true)
	gone := ann.search(&pb.Search{Query: bakery(4)[0].GetContent()})[0].GetNode()
	ann.forget(gone)
	if r := ann.evaluate(false); r.GetMemories() != 3 || r.GetSampled() != 3 {
		t.Errorf("behind a forget: %v", r)
	}
	purge := func(subject string) {
		t.Helper()
		r := c.ok(dryPurge(subject)).GetData().GetPurge()
		c.ok(confirmPurge(subject, r.GetConfirmToken()))
	}
	purge("ann")
	if all := ann.reports(false); len(all) != 0 {
		t.Errorf("behind a purge: %v", all)
	}
	if r := ann.evaluate(false); r.GetMemories() != 0 {
		t.Errorf("of a purged memory: %v", r)
	}
	c.evaluate(false)
	purge("")
	if mine, all := c.reports(false), c.reports(true); len(mine) != 0 || len(all) != 0 {
		t.Errorf("behind a purge of the organization: %v %v", mine, all)
	}
	ann.evaluate(false)
	n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "ann"}}})))
	if left := records(n, storage.StoreID{Org: made.Org, Realm: storage.RealmMain}, storage.TableQualityRun,
		func() *pb.QualityRun { return &pb.QualityRun{} }); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An evaluation that a crash interrupts goes on behind the last slice that was committed, and comes to the same report.
func TestEvaluationsGoOnAfterACrash(t *testing.T) {
	t.Parallel()
	const memories, cut = 40, 2
	slices, hold := make(chan struct{}, 100), make(chan struct{})
	start := func(disk *storagetest.Disk, hold chan struct{}) *testNode {
		done := 0
		return startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
			cfg.QualitySliced = func() {
				slices <- struct{}{}
				if done++; hold != nil && done == cut {
					<-hold
				}
			}
		})
	}
	disk := storagetest.NewDisk()
	first := start(disk, hold)
	c := client{n: first, key: first.org(account.NewOrg{}).APIKey}
	c.ingest(bakery(memories)...)
	id := jobOf(c.ok(evaluateOp(false)))
	for range cut {
		<-slices
	}
	c.refused(pb.CodeConflict, evaluateOp(false))
	interrupted := disk.Crash(0, 1)
	close(hold)
	first.wait(id)
	whole := c.reports(false)[0]
	for len(slices) > 0 {
		<-slices
	}
	c.n = start(interrupted, nil)
	c.n.waitFor(func() bool { c.n.clock.Advance(time.Second); return tenant.Terminal(c.job(id).GetStatus()) })
	if got := len(slices); got != memories/8-cut {
		t.Errorf("%d slices after the crash", got)
	}
	if again := c.reports(false); len(again) != 1 || !proto.Equal(counted(whole), counted(again[0])) {
		t.Errorf("%v\ninstead of %v", again, whole)
	}
}

func TestEvaluationsWaitForEachOther(t *testing.T) {
	t.Parallel()
	held := holding(pb.JobQuality)
	n := startNode(t, storagetest.NewDisk(), held.configure)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var jobs []string
	for i := range quality.MaxOpen {
		name := fmt.Sprint("s", i)
		c.put(name)
		jobs = append(jobs, jobOf(c.as(name).ok(evaluateOp(false))))
	}
	n.waitFor(held.begins)
	c.as("s0").refused(pb.CodeConflict, evaluateOp(false))
	c.refused(pb.CodeServiceDegraded, evaluateOp(false))
	if s := c.job(jobs[1]).GetStatus(); s != pb.JobQueued {
		t.Errorf("the second is %s", s)
	}
	for _, i := range []int{0, 2} { // one that runs, and one that waits
		if s := c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: jobs[i]}}}).GetJob().GetJob().
			GetStatus(); s != pb.JobCancelled {
			t.Errorf("cancelled: %s", s)
		}
	}
	held.goOn.Store(true)
	n.wait(jobs[1], jobs[3])
	if len(c.as("s2").reports(false)) != 0 || len(c.as("s1").reports(false)) != 1 {
		t.Error("a cancelled evaluation left a report, or the others none")
	}
}

// What is forgotten while it is evaluated is in no report.
func TestEvaluationsBeginAnewForWhatIsForgotten(t *testing.T) {
	t.Parallel()
	reached, hold := make(chan struct{}, 100), make(chan struct{})
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.QualitySliced = func() { reached <- struct{}{}; <-hold }
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(bakery(20)...)
	gone := c.search(&pb.Search{Query: bakery(20)[0].GetContent()})[0].GetNode()
	id := jobOf(c.ok(evaluateOp(false)))
	<-reached
	c.forget(gone)
	close(hold)
	n.wait(id)
	if r := c.reports(false)[0]; r.GetMemories() != 19 || r.GetSampled() != 19 || r.GetAsked() != 19 {
		t.Errorf("%v", r)
	}
}

func TestOldReportsMakeRoom(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for range quality.MaxReports + 2 {
		c.evaluate(false)
	}
	if got := len(c.reports(false)); got != quality.MaxReports {
		t.Errorf("%d reports are kept", got)
	}
}
