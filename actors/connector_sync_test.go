package actors

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/connector"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// newsroom is a feed on a server of its own.
type newsroom struct {
	mu      sync.Mutex
	entries []string // "id|text"
	status  int
	hold    chan struct{} // answers wait for it to be closed; nil: they do not
	asked   int
	kept    int // answered with 304
}

func (f *newsroom) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked++
	hold, status := f.hold, f.status
	var items []string
	for _, e := range f.entries {
		id, text, _ := strings.Cut(e, "|")
		items = append(items, fmt.Sprintf(`{"id":%q,"title":%q,"content_text":%q}`, id, id, text))
	}
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	if status != 0 {
		w.Header().Set("Retry-After", "100000")
		w.WriteHeader(status)
		return
	}
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(strings.Join(items, ""))))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		f.mu.Lock()
		f.kept++
		f.mu.Unlock()
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, `{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[%s]}`, strings.Join(items, ","))
}

// counts are how often it was asked, and how often nothing had changed.
func (f *newsroom) counts() [2]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return [2]int{f.asked, f.kept}
}

func (f *newsroom) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func feedOp(url string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_CreateConnector{CreateConnector: &pb.CreateConnector{
		Type: "feed", Name: "news", Config: fmt.Appendf(nil, `{"url":%q}`, url), IntervalS: 3600, Enabled: true,
	}}})
}

// follow makes a connector, and returns its id.
func (c client) follow(url string) string {
	c.n.t.Helper()
	return pb.ConnectorID(c.ok(feedOp(url)).GetLink().GetConnector().GetId()).String()
}

// followSite is follow for a sitemap.
func (c client) followSite(url string) string {
	c.n.t.Helper()
	return pb.ConnectorID(c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_CreateConnector{CreateConnector: &pb.CreateConnector{
		Type: "web", Name: "site", Config: fmt.Appendf(nil, `{"sitemap":%q}`, url), IntervalS: 300, Enabled: true,
	}}})).GetLink().GetConnector().GetId()).String()
}

func (c client) connector(id string) *pb.Connector {
	c.n.t.Helper()
	return c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_GetConnector{GetConnector: &pb.GetConnector{Id: id}}})).GetLink().
		GetConnector()
}

func (c client) syncNow(id string) *pb.Job {
	c.n.t.Helper()
	job := jobOf(c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: id}}})))
	c.n.wait(job)
	return c.job(job)
}

// awaitSchedule waits for the timer of the organization's one connector.
func (c client) awaitSchedule() {
	c.n.t.Helper()
	var store storage.StoreID
	c.inOrg(func(o *tenant.Org) { store = o.Store })
	c.n.waitFor(func() bool {
		all := records(c.n, store, storage.TableConnector, func() *pb.Connector { return &pb.Connector{} })
		return len(all) == 1 && c.n.clock.WaitersIn(time.UnixMilli(all[0].GetNextSyncMs()).Sub(c.n.clock.Now())) > 0
	})
}

// A connector fetches by its schedule, also behind a restart; what is unchanged is not
// taken in again, and what has changed takes the old text's place.
func TestConnectorSyncs(t *testing.T) {
	feed := &newsroom{entries: []string{"one|The walnut harvest begins.", "two|Hazelnut prices fall."}}
	url, allow := receiver(t, feed.ServeHTTP)
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.follow(url)
	if k := c.connector(id); k.GetLastSyncMs() != 0 || feed.counts() != [2]int{} {
		t.Errorf("before its time: %v", k)
	}
	c.awaitSchedule()
	n.clock.Advance(connector.InitialDelay)
	n.waitFor(func() bool { return c.connector(id).GetLastStatus() == pb.JobSucceeded })
	c.settled()
	if k := c.connector(id); k.GetDocuments() != 2 || k.GetLastError() != "" || k.GetLastSyncMs() == 0 {
		t.Errorf("%v", k)
	}
	hits := c.search(&pb.Search{Query: "walnut harvest", TopK: 1})
	if len(hits) != 1 || !strings.Contains(hits[0].GetChunk(), "walnut") || hits[0].GetExternalId() != "connector/"+id+
		"/one" {
		t.Fatalf("%v", hits)
	}
	if job := c.syncNow(id); job.GetStatus() != pb.JobSucceeded || job.GetTotal() != 0 || feed.counts() != [2]int{2, 1} {
		t.Errorf("nothing new: %v, asked and unchanged %v", job, feed.counts())
	}
	feed.set(func() {
		feed.entries = []string{"three|Almonds bloom.", "one|The walnut harvest is over.", "two|Hazelnut prices fall."}
	})
	n.stop()
	n = startNode(t, n.disk, allow)
	c.n = n
	c.awaitSchedule()
	n.clock.Advance(time.Hour + connector.InitialDelay)                   // no further: a fetch has a limit on this clock
	n.waitFor(func() bool { return c.connector(id).GetDocuments() == 3 }) // nobody asked for it
	var job *pb.Job
	n.waitFor(func() bool {
		newest := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobConnectorSync}}}).GetJobs().
			GetJobs()[0]
		job = c.job(pb.JobID(newest.GetId()).String())
		return tenant.Terminal(job.GetStatus())
	})
	if got := strings.Join(itemStatus(job), " "); got != "created superseded" {
		t.Errorf("items %s of %v", got, job)
	}
	for _, hit := range c.search(&pb.Search{Query: "walnut harvest", TopK: 10, Mode: "keyword"}) {
		if strings.Contains(hit.GetChunk(), "begins") {
			t.Errorf("the old text is found: %v", hit)
		}
	}
}

// A source that fails is told, and left alone for as long as it asks.
func TestConnectorBacksOff(t *testing.T) {
	feed := &newsroom{status: 503}
	url, allow := receiver(t, feed.ServeHTTP)
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.follow(url)
	job := c.syncNow(id)
	if job.GetStatus() != pb.JobFailed || job.GetErrorCode() != pb.ErrorConnector ||
		!strings.Contains(job.GetErrorDetail(), "answered 503") {
		t.Errorf("%v", job)
	}
	k := c.connector(id)
	if k.GetLastStatus() != pb.JobFailed || !strings.Contains(k.GetLastError(), "tried again at 2026-03-02T12:00:00Z") {
		t.Errorf("%v", k)
	}
	c.awaitSchedule()
	n.clock.Advance(20 * time.Hour)
	c.connector(id)
	if asked := feed.counts()[0]; asked != 1 {
		t.Errorf("asked %d times within the pause", asked)
	}
	feed.set(func() { feed.status, feed.entries = 0, []string{"one|Back again."} })
	n.clock.Advance(100_000*time.Second - 20*time.Hour)
	n.waitFor(func() bool {
		k := c.connector(id)
		return k.GetLastStatus() == pb.JobSucceeded && k.GetLastError() == ""
	})
	c.settled()
}

// A site that gives some pages and then wants to be left alone is, however often it is
// fetched for; what came is kept, and the next sync goes on where that one ended, also
// behind one that failed.
func TestConnectorGoesOnWhereASiteWasBusy(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	busy := true
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch asked = append(asked, r.URL.Path); {
		case r.URL.Path == "/in":
			at := "https://" + r.Host
			fmt.Fprintf(w, "<urlset><url><loc>%s/one</loc></url><url><loc>%s/two</loc></url></urlset>", at, at)
		case r.URL.Path == "/robots.txt":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/two" && busy:
			w.Header().Set("Retry-After", "80000")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			fmt.Fprintf(w, "<p>This is page %s.</p>", r.URL.Path)
		}
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.followSite(url)
	pages := func() (paths []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, path := range asked {
			if path == "/one" || path == "/two" {
				paths = append(paths, path)
			}
		}
		return paths
	}
	if job := c.syncNow(id); job.GetStatus() != pb.JobSucceeded || strings.Join(itemStatus(job), " ") != pb.ItemCreated {
		t.Fatalf("%v", job)
	}
	if k := c.connector(id); k.GetLastStatus() != pb.JobSucceeded || !strings.Contains(k.GetLastError(), "left alone") ||
		k.GetDocuments() != 1 {
		t.Errorf("%v", k)
	}
	c.awaitSchedule() // which is that of the site
	if n.clock.WaitersIn(80000*time.Second) == 0 {
		t.Error("it is not left alone for as long as it asks")
	}
	if job := c.syncNow(id); job.GetStatus() != pb.JobFailed {
		t.Errorf("%v", job)
	}
	mu.Lock()
	busy = false
	mu.Unlock()
	if job := c.syncNow(id); job.GetStatus() != pb.JobSucceeded || strings.Join(itemStatus(job), " ") != pb.ItemCreated {
		t.Errorf("%v", job)
	}
	if got := strings.Join(pages(), " "); got != "/one /two /two /two" {
		t.Errorf("asked %s", got)
	}
	c.settled()
}

// A sync that found none of a site's first pages has failed, and the next one goes on
// behind them all the same.
func TestConnectorGoesOnBehindAFailure(t *testing.T) {
	const pages = 501 // one more than a sync asks for
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/in":
			fmt.Fprint(w, "<urlset>")
			for i := range pages {
				fmt.Fprintf(w, "<url><loc>https://%s/%d</loc></url>", r.Host, i+1)
			}
			fmt.Fprint(w, "</urlset>")
		case fmt.Sprint("/", pages):
			fmt.Fprint(w, "<p>The last page.</p>")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.followSite(url)
	if job := c.syncNow(id); job.GetStatus() != pb.JobFailed || !strings.Contains(job.GetErrorDetail(), "answered 404") {
		t.Errorf("%v", job)
	}
	if job := c.syncNow(id); job.GetStatus() != pb.JobSucceeded || strings.Join(itemStatus(job), " ") != pb.ItemCreated {
		t.Errorf("%v", job)
	}
	if k := c.connector(id); !strings.Contains(k.GetLastError(), "withheld 500 of 501 pages") {
		t.Errorf("%v", k)
	}
	c.settled()
}

// The node stops more often in the middle of a fetch than a fetch is tried.
func TestRestartsDoNotUseUpAFetchsAttempts(t *testing.T) {
	feed := &newsroom{hold: make(chan struct{}), entries: []string{"one|It came at last."}}
	url, allow := receiver(t, feed.ServeHTTP)
	disk := storagetest.NewDisk()
	var c client
	var id, job string
	for round := range tenant.MaxAttempts + 2 {
		n := startNode(t, disk, allow)
		if c.n = n; round == 0 {
			c.key = n.org(account.NewOrg{}).APIKey
			id = c.follow(url)
			job = jobOf(c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: id}}})))
		}
		n.waitFor(func() bool { return feed.counts()[0] == round+1 })
		if got := c.job(job).GetAttempts(); got != 1 {
			t.Errorf("round %d: %d attempts", round, got)
		}
		n.stop()
	}
	close(feed.hold)
	feed.set(func() { feed.hold = nil })
	c.n = startNode(t, disk, allow)
	c.n.waitFor(func() bool { return c.connector(id).GetLastSyncMs() != 0 })
	if k := c.connector(id); k.GetLastStatus() != pb.JobSucceeded || k.GetDocuments() != 1 {
		t.Errorf("behind many restarts: %v", k)
	}
	c.settled()
}

// Two organizations have slow sources, and take the node's turns to fetch. What a third
// one waits is none of its source's time: it has its own when the turn comes.
func TestConnectorsWaitForTheirTurn(t *testing.T) {
	slow, quick := &newsroom{hold: make(chan struct{})}, &newsroom{entries: []string{"one|It was worth the wait."}}
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/in" {
			slow.ServeHTTP(w, r)
		} else {
			quick.ServeHTTP(w, r)
		}
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	var all []client
	var ids, jobs []string
	begin := func(i int, url string) {
		c := client{n: n, key: n.org(account.NewOrg{
			Name: "Acme", OwnerEmail: fmt.Sprintf("owner%d@example.com", i),
			Plan: pb.PlanUnlimited,
		}).APIKey}
		all, ids = append(all, c), append(ids, c.follow(url))
		jobs = append(jobs,
			jobOf(c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: ids[i]}}}))))
	}
	for i := range connector.MaxConcurrentSyncs {
		begin(i, url)
	}
	n.waitFor(func() bool { return slow.counts()[0] == connector.MaxConcurrentSyncs })
	begin(connector.MaxConcurrentSyncs, strings.TrimSuffix(url, "/in")+"/quick")
	n.waitFor(func() bool {
		return all[connector.MaxConcurrentSyncs].job(jobs[connector.MaxConcurrentSyncs]).GetStatus() == pb.JobRunning
	})
	if quick.counts() != [2]int{} {
		t.Error("three fetch at once")
	}
	n.clock.Advance(connector.SyncTimeout)
	for i, c := range all {
		n.waitFor(func() bool { return c.connector(ids[i]).GetLastSyncMs() != 0 })
		k := c.connector(ids[i])
		slow := i < connector.MaxConcurrentSyncs
		if slow && !strings.Contains(k.GetLastError(), "within 30 minutes") || !slow &&
			k.GetLastStatus() != pb.JobSucceeded {
			t.Errorf("organization %d: %v", i, k)
		}
	}
	close(slow.hold)
}

func TestConnectorSyncIsCancelled(t *testing.T) {
	feed := &newsroom{hold: make(chan struct{}), entries: []string{"one|Never taken in."}}
	url, allow := receiver(t, feed.ServeHTTP)
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.follow(url)
	sync := link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: id}}})
	job := jobOf(c.ok(sync))
	if again := jobOf(c.ok(sync)); again != job {
		t.Error("a second sync began beside the first")
	}
	n.waitFor(func() bool { return feed.counts()[0] == 1 })
	c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: job}}})
	if got := c.job(job).GetStatus(); got != pb.JobCancelled || c.connector(id).GetLastStatus() != pb.JobCancelled {
		t.Errorf("%s, %v", got, c.connector(id))
	}
	// One that is deleted while it fetches ends, too.
	job = jobOf(c.ok(sync))
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteConnector{DeleteConnector: &pb.DeleteConnector{Id: id}}}))
	if got := c.job(job).GetStatus(); got != pb.JobCancelled {
		t.Errorf("behind its deletion: %s", got)
	}
	close(feed.hold)
	n.waitFor(func() bool {
		rest := false
		c.inOrg(func(o *tenant.Org) { rest = o.Modules.Idle() && o.OpenJobs() == 0 })
		return rest
	})
	if hits := c.search(&pb.Search{Query: "never taken", TopK: 1, Mode: "keyword"}); len(hits) != 0 {
		t.Errorf("%v", hits)
	}
}

// TestALostLeaseEndsAFetch: what cannot be committed any more is not fetched to its end. The next activation does.
func TestALostLeaseEndsAFetch(t *testing.T) {
	asked, gone := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if first.CompareAndSwap(false, true) {
			close(asked)
			<-r.Context().Done()
			close(gone)
			return
		}
		(&newsroom{entries: []string{"one|Taken in by the second."}}).ServeHTTP(w, r)
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	id := c.follow(url)
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: id}}}))
	<-asked
	c.inOrg(func(o *tenant.Org) { o.Retire() })
	<-gone
	n.waitFor(func() bool { return c.connector(id).GetLastStatus() == pb.JobSucceeded })
	c.settled()
	if hits := c.search(&pb.Search{Query: "second", TopK: 1, Mode: "keyword"}); len(hits) != 1 {
		t.Errorf("%v", hits)
	}
}

// What a removed member left in the sandbox goes, and no byte of their keys' labels
// stays.
func TestARemovedMembersSandboxConnectorsGo(t *testing.T) {
	_, allow := receiver(t, nil)
	n, l := erasing(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	_, leaver := n.recruit(org.Org, "two@example.com", pb.RoleMember)
	p := &planter{seed: "label"}
	leaver.ok(&pb.Envelope{Op: &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{Label: p.next()}}})
	sandboxed := func(c client) client {
		made := c.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: &pb.CreateSandboxKey{}}}))
		return client{n: n, key: made.GetAccount().GetNewSandboxKey().GetApiKey()}
	}
	plant := func(c client) { c.ok(connectorOp(`{"url":"https://public.example/r.git","token":"sesame"}`)) }
	plant(sandboxed(leaver))
	plant(sandboxed(owner))
	store := tenant.SandboxStore(org.Org)
	left := func() []*pb.Connector {
		return records(n, store, storage.TableConnector, func() *pb.Connector { return &pb.Connector{} })
	}
	if len(left()) != 2 {
		t.Fatalf("%d connectors", len(left()))
	}
	leaver.ok(deleteMe())
	n.waitFor(func() bool { return len(left()) == 1 })
	if pb.UserID(left()[0].GetUser()) != org.Owner {
		t.Error("another's connector went")
	}
	n.settle(storage.StoreID{Org: org.Org, Realm: storage.RealmMain})
	p.gone(t, n, l)
}
