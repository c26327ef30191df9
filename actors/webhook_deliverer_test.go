package actors

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// inbox is a receiver that remembers what it got.
type inbox struct {
	t     *testing.T
	url   string
	allow func(*tenant.Config, *storage.Options)

	mu     sync.Mutex
	status func(path string, nth int) int // by how often the event has come; nil: 204
	got    []letter
}

type letter struct {
	id, kind, path, delivery string
	n                        float64 // "n" of its data
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{t: t}
	in.url, in.allow = receiver(t, in.take)
	return in
}

func (in *inbox) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was cut off
	}
	var e struct {
		ID, Type string
		Data     map[string]any
	}
	if err := json.Unmarshal(body, &e); err != nil {
		in.t.Errorf("%s: %v", body, err)
	}
	in.mu.Lock()
	l := letter{id: e.ID, kind: e.Type, path: r.URL.Path, delivery: r.Header.Get("X-Svc-Delivery")}
	l.n, _ = e.Data["n"].(float64)
	nth := 1
	for _, before := range in.got {
		if before.id == l.id && before.path == l.path {
			nth++
		}
	}
	in.got = append(in.got, l)
	status := in.status
	in.mu.Unlock()
	if status != nil {
		w.WriteHeader(status(r.URL.Path, nth))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (in *inbox) letters() []letter {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.got)
}

func (in *inbox) count() int { return len(in.letters()) }

// unsee forgets what came behind the first letters.
func (in *inbox) unsee(first int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.got = in.got[:first]
}

func (in *inbox) answer(f func(path string, nth int) int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status = f
}

// happen commits n events, numbered from the given one, as a worker would.
func (n *testNode) happen(org pb.OrgID, kind string, from, count int) {
	n.t.Helper()
	err := n.sys.Visit(n.t.Context(), org, func(o *tenant.Org, done func(error)) {
		ch := commit.New(o.Store)
		for i := range count {
			if err := ch.Event(&o.View, kind, nil, map[string]any{"n": from + i}); err != nil {
				done(err)
				return
			}
		}
		o.Committer.SubmitChange(ch, done)
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// quiet waits until an organization has nothing under way for its webhooks.
func (n *testNode) quiet(org pb.OrgID) {
	n.t.Helper()
	n.waitFor(func() bool {
		quiet := false
		err := n.sys.Visit(n.t.Context(), org, func(o *tenant.Org, done func(error)) {
			quiet = tenant.ModuleOf[*webhook.Module](&o.View).Settled() && o.LocksHeld() == 0
			done(nil)
		})
		return err == nil && quiet
	})
}

// TestWebhookDelivery commits events in several groups: each comes once, and what
// was not subscribed to does not come.
//
// interface: What the service does/8 events
func TestWebhookDelivery(t *testing.T) {
	in := newInbox(t)
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	n.happen(org.Org, pb.EventInsightProposed, 1000, 3) // before there was an endpoint
	all := c.ok(newWebhook(in.url+"/all", "*")).GetLink().GetWebhook()
	some := c.ok(newWebhook(in.url+"/some", pb.EventBrainTrained)).GetLink().GetWebhook()
	total := 0
	for i := range 20 {
		n.happen(org.Org, pb.EventInsightProposed, total, i+1)
		total += i + 1
	}
	n.happen(org.Org, pb.EventBrainTrained, total, 1)
	n.happen(org.Org, pb.EventImportFinished, total+1, 1) // flows on the stream alone
	n.quiet(org.Org)
	times := map[string]int{}
	for _, l := range in.letters() {
		if l.n >= 1000 || l.kind == pb.EventImportFinished || strings.HasSuffix(l.path, "/some") &&
			l.kind != pb.EventBrainTrained {
			t.Errorf("%+v", l)
		}
		times[fmt.Sprint(l.path, l.n)]++
	}
	if len(times) != total+2 || in.count() != total+2 {
		t.Errorf("%d deliveries of %d, want %d", in.count(), len(times), total+2)
	}
	detail := c.webhook(all.GetId())
	if h := detail.GetWebhook(); h.GetFailures() != 0 || h.GetLastSuccessMs() == 0 || len(h.GetPending()) != 0 {
		t.Errorf("%v", h)
	}
	if len(detail.GetAttempts()) != webhook.MaxDeliveries || len(c.webhook(some.GetId()).GetAttempts()) != 1 {
		t.Errorf("%d and %d attempts in the logs", len(detail.GetAttempts()), len(c.webhook(some.GetId()).GetAttempts()))
	}
	left := records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableDelivery,
		func() *pb.Delivery { return &pb.Delivery{} })
	if len(left) != webhook.MaxDeliveries+1 {
		t.Errorf("%d entries of logs are stored", len(left))
	}
}

// retryAt waits for the timer of the next retry, and reports how far it is.
func (n *testNode) retryAt(hook []byte, org pb.OrgID) time.Duration {
	n.t.Helper()
	var due int64
	n.waitFor(func() bool {
		for _, h := range records(n, storage.StoreID{Org: org, Realm: storage.RealmMain}, storage.TableWebhook,
			func() *pb.Webhook { return &pb.Webhook{} }) {
			if string(h.GetId()) == string(hook) && len(h.GetPending()) == 1 {
				due = h.GetPending()[0].GetDueMs()
			}
		}
		return due > 0 && n.clock.WaitersIn(time.Duration(due-n.clock.Now().UnixMilli())*time.Millisecond) > 0
	})
	return time.Duration(due-n.clock.Now().UnixMilli()) * time.Millisecond
}

// TestWebhookRetries counts attempts and waits.
//
// interface: Limits/Webhook attempts and time-out
// interface: Events/Delivery attempts, retries and disabling
func TestWebhookRetries(t *testing.T) {
	if egress.AttemptTimeout != 10*time.Second {
		t.Errorf("an attempt may take %v", egress.AttemptTimeout)
	}
	in := newInbox(t)
	in.answer(func(_ string, nth int) int {
		if nth <= 2 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	hook := c.ok(newWebhook(in.url, "*")).GetLink().GetWebhook()
	n.happen(org.Org, pb.EventInsightProposed, 0, 1)
	for i, about := range []time.Duration{30 * time.Second, 120 * time.Second} {
		wait := n.retryAt(hook.GetId(), org.Org)
		if wait < about*8/10 || wait > about*12/10 {
			t.Errorf("retry %d after %v", i+1, wait)
		}
		n.clock.Advance(wait - time.Millisecond)
		if got := in.count(); got != i+1 {
			t.Fatalf("%d attempts before the retry was due", got)
		}
		n.clock.Advance(time.Millisecond)
		n.waitFor(func() bool { return in.count() == i+2 })
	}
	n.quiet(org.Org)
	detail := c.webhook(hook.GetId())
	var outcomes []string
	for _, a := range detail.GetAttempts() {
		outcomes = append(outcomes, fmt.Sprint(a.GetAttempt(), a.GetOk(), a.GetResponseStatus()))
	}
	if want := []string{"3 true 200", "2 false 500", "1 false 500"}; !slices.Equal(outcomes, want) ||
		detail.GetWebhook().GetFailures() != 0 {
		t.Errorf("%v, %v", outcomes, detail.GetWebhook())
	}
	letters := in.letters()
	if letters[0].id != letters[1].id || letters[0].delivery == letters[1].delivery {
		t.Errorf("%v", letters)
	}
}

// TestWebhookGivesUp lets every attempt fail: three of each event, and after eight
// in a row the endpoint receives nothing until it is enabled.
//
// interface: Limits/Webhook attempts and time-out
// interface: Events/Delivery attempts, retries and disabling
// interface: States/Webhook
func TestWebhookGivesUp(t *testing.T) {
	const attempts, failures = 3, 8 // the interface's
	in := newInbox(t)
	in.answer(func(string, int) int { return http.StatusBadGateway })
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	hook := c.ok(newWebhook(in.url, "*")).GetLink().GetWebhook()
	n.happen(org.Org, pb.EventInsightProposed, 0, 1)
	for range attempts - 1 {
		n.clock.Advance(n.retryAt(hook.GetId(), org.Org))
	}
	n.quiet(org.Org)
	if in.count() != attempts {
		t.Errorf("%d attempts", in.count())
	}
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}}))
	n.happen(org.Org, pb.EventInsightProposed, 1, failures)
	n.quiet(org.Org)
	got := c.webhook(hook.GetId()).GetWebhook()
	diff := prototest.Diff(&pb.Webhook{Disabled: true, Failures: failures}, got, "pending")
	if diff != "" || in.count() != failures+1 || got.GetDisabledReason() == "" {
		t.Errorf("after %d attempts, of which one was a test: %v (-want +got):\n%s", in.count(), got, diff)
	}
	if audits := n.audits(org.Org); audits[len(audits)-1] != "webhook.disable" {
		t.Errorf("%v", audits)
	}
	n.happen(org.Org, pb.EventInsightProposed, 100, 3)
	in.answer(nil)
	on := false
	if got := c.ok(patchWebhook(hook.GetId(), &pb.PatchWebhook{Disabled: &on})).GetLink().
		GetWebhook(); got.GetDisabled() || got.GetFailures() != 0 {
		t.Errorf("%v", got)
	}
	n.happen(org.Org, pb.EventInsightProposed, 200, 1)
	n.quiet(org.Org)
	letters := in.letters()
	if len(letters) != failures+2 || letters[len(letters)-1].n != 200 {
		t.Errorf("after it was enabled: %v", letters[failures:])
	}
}

// TestWebhookReach is the table of reach: whose endpoint gets which event. Rights
// count at the delivery, not when an endpoint was made.
//
// interface: What the service does/8 events
// interface: Events/Delivery reach
func TestWebhookReach(t *testing.T) {
	in := newInbox(t)
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	peer := n.member(owner, org, "peer@example.com")
	owner.ok(newWebhook(in.url+"/owner", "*"))
	theirs := peer.ok(newWebhook(in.url+"/peer", "*")).GetLink().GetWebhook()
	me := org.Owner.Bytes()
	for i, c := range []struct {
		name        string
		event       *pb.OutboxEvent
		owner, peer bool
	}{
		{"a person's graph", &pb.OutboxEvent{Type: pb.EventGraphUpdated, User: me, Partition: me}, true, false},
		{"a subject's graph", &pb.OutboxEvent{
			Type: pb.EventGraphUpdated, User: me, Partition: []byte("0123456789abcdef"),
			Subject: "ann",
		}, true, true},
		{"a person's job", &pb.OutboxEvent{Type: pb.EventJobCompleted, Partition: me}, true, false},
		{"a person's belief", &pb.OutboxEvent{Type: pb.EventBeliefSuperseded, Partition: me}, true, false},
		{"a person's contradiction", &pb.OutboxEvent{Type: pb.EventContradictionFound, Partition: me}, true, false},
		{"a person's basin", &pb.OutboxEvent{Type: pb.EventBasinShifted, Partition: me}, true, false},
		{"a subject's job", &pb.OutboxEvent{
			Type: pb.EventJobCompleted, Subject: "ann",
			Partition: []byte("0123456789abcdef"),
		}, true, true},
		{"an insight", &pb.OutboxEvent{Type: pb.EventInsightProposed, Partition: me}, true, true},
		{"a brain", &pb.OutboxEvent{Type: pb.EventBrainTrained}, true, true},
		{"what concerns all", &pb.OutboxEvent{Type: pb.EventJobCompleted}, true, true},
		{"an import", &pb.OutboxEvent{Type: pb.EventImportFinished, User: me, Subject: "ann"}, false, false},
		{"a test", &pb.OutboxEvent{Type: pb.EventWebhookTest, User: me}, false, false},
	} {
		id := fmt.Sprintf("%016d", i)
		c.event.Id, c.event.Data = []byte(id), []byte(`{}`)
		before := in.count()
		n.emit(org.Org, c.event)
		n.quiet(org.Org)
		var got []string
		for _, l := range in.letters()[before:] {
			got = append(got, l.path[len("/in/"):])
		}
		slices.Sort(got)
		var want []string
		if c.owner {
			want = append(want, "owner")
		}
		if c.peer {
			want = append(want, "peer")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s reached %v, want %v", c.name, got, want)
		}
	}
	before := in.count()
	peerID, err := pb.UserIDFrom(theirs.GetUser())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.sys.RemoveMember(t.Context(), org.Org, peerID); err != nil {
		t.Fatal(err)
	}
	n.waitFor(func() bool {
		return slices.ContainsFunc(in.letters()[before:], func(l letter) bool { return l.kind == pb.EventJobCompleted })
	}) // the end of the erasure
	n.quiet(org.Org)
	before = in.count()
	n.happen(org.Org, pb.EventBrainTrained, 0, 1)
	n.quiet(org.Org)
	if letters := in.letters()[before:]; len(letters) != 1 || letters[0].path != "/in/owner" {
		t.Errorf("after the peer has left: %v", letters)
	}
	if got := owner.webhook(theirs.GetId()).GetWebhook(); !got.GetDisabled() || !strings.Contains(got.GetDisabledReason(),
		"left") {
		t.Errorf("%v", got)
	}
	on := false
	owner.ok(patchWebhook(theirs.GetId(), &pb.PatchWebhook{Disabled: &on}))
	before = in.count()
	n.emit(org.Org, &pb.OutboxEvent{
		Id: []byte("fedcba9876543210"), Type: pb.EventJobCompleted, Partition: me,
		Data: []byte(`{}`),
	})
	n.quiet(org.Org)
	if letters := in.letters()[before:]; len(letters) != 1 || letters[0].path != "/in/owner" {
		t.Errorf("a person's event reached the endpoint of one who has left: %v", letters)
	}
	before = in.count()
	n.emit(org.Org, &pb.OutboxEvent{Id: []byte("fedcba9876543211"), Type: pb.EventBrainTrained, Data: []byte(`{}`)})
	n.quiet(org.Org)
	if got := in.count() - before; got != 2 {
		t.Errorf("what concerns all came %d times to two endpoints", got)
	}
	if got := owner.webhook(theirs.GetId()).GetWebhook(); got.GetDisabled() {
		t.Errorf("disabled again: %v", got)
	}
}

// TestWebhookReachIsItsCreators lets a peer change everything of the owner's endpoint
// that can be changed: it goes on to receive what the owner may read, and nothing of
// the peer's.
//
// interface: Events/Delivery reach
func TestWebhookReachIsItsCreators(t *testing.T) {
	t.Parallel()
	in := newInbox(t)
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	member, peer := n.recruit(org.Org, "peer@example.com", pb.RoleAdmin, pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin)
	hook := owner.ok(newWebhook(in.url+"/before", "*")).GetLink().GetWebhook().GetId()
	off, on, url := true, false, in.url+"/after"
	peer.ok(patchWebhook(hook, &pb.PatchWebhook{Url: &url}))
	peer.ok(patchWebhook(hook, &pb.PatchWebhook{Disabled: &off}))
	peer.ok(patchWebhook(hook, &pb.PatchWebhook{Disabled: &on, EventTypes: []string{pb.EventJobCompleted}}))
	for i, of := range []pb.UserID{org.Owner, member.User} {
		n.emit(org.Org, &pb.OutboxEvent{
			Id: fmt.Appendf(nil, "%016d", i), Type: pb.EventJobCompleted, Partition: of.Bytes(),
			Data: fmt.Appendf(nil, `{"n":%d}`, 7+i),
		})
	}
	n.quiet(org.Org)
	if letters := in.letters(); len(letters) != 1 || letters[0].path != "/in/after" || letters[0].n != 7 {
		t.Errorf("the endpoint received %v", letters)
	}
}

// TestWebhookSurvivesCrashes lets events happen in three lives of a node, each of
// which ends with a stop or a power failure, in all combinations, at rest or in the
// middle of the deliveries: none is lost, and one that comes twice has the same id.
func TestWebhookSurvivesCrashes(t *testing.T) {
	const lives = 3
	for history := range 1 << lives {
		t.Run(fmt.Sprintf("%0*b", lives, history), func(t *testing.T) {
			in := newInbox(t)
			disk := storagetest.NewDisk()
			n := startNode(t, disk, in.allow)
			org := n.org(account.NewOrg{})
			c := client{n: n, key: org.APIKey}
			c.ok(newWebhook(in.url, "*"))
			total := 0
			for life := range lives {
				for commit := range 3 {
					count := 1 + (7*history+13*life+29*commit)%40
					n.happen(org.Org, pb.EventInsightProposed, total, count)
					total += count
				}
				if (history+life)%2 == 0 {
					n.quiet(org.Org)
				}
				if history>>life&1 == 1 {
					after := disk.Crash(0, 0)
					seen := in.count()
					n.stop()
					in.unsee(seen) // what the dead node still sent, of which its disk knows nothing
					disk = after
				} else {
					n.stop()
				}
				n = startNode(t, disk, in.allow)
			}
			n.waitFor(func() bool { return len(distinct(in.letters())) == total })
			n.quiet(org.Org)
			if got := in.count(); history == 0 && got != total {
				t.Errorf("%d deliveries of %d events, and nothing crashed", got, total)
			}
		})
	}
}

// distinct counts letters by event.
func distinct(all []letter) map[float64]string {
	out := map[float64]string{}
	for _, l := range all {
		if id, ok := out[l.n]; ok && id != l.id {
			panic("one event has two ids")
		}
		out[l.n] = l.id
	}
	return out
}

// TestWebhookWakesItsOrganization stops a node while a retry waits: the next one
// brings it without anybody asking for the organization.
func TestWebhookWakesItsOrganization(t *testing.T) {
	in := newInbox(t)
	in.answer(func(string, int) int { return http.StatusServiceUnavailable })
	disk := storagetest.NewDisk()
	idle := func(c *tenant.Config, _ *storage.Options) { c.IdleOrg = time.Minute }
	n := startNode(t, disk, in.allow, idle)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	hook := c.ok(newWebhook(in.url, "*")).GetLink().GetWebhook()
	n.happen(org.Org, pb.EventInsightProposed, 0, 1)
	wait := n.retryAt(hook.GetId(), org.Org)
	at := n.clock.Now()
	n.stop()
	in.answer(nil)
	n = startNode(t, disk, in.allow, idle)
	n.clock.Set(at.Add(wait))
	n.waitFor(func() bool { return in.count() == 2 })

	// Then it rests: nothing is left to bring, and the directory knows.
	n.quiet(org.Org)
	n.waitFor(func() bool {
		n.clock.Advance(time.Minute)
		e, ok := n.host.Directory().Org(org.Org)
		return ok && !e.GetBusy() && n.sys.Stats().ActiveOrgs == 0
	})
	// The next change is marked before it happens.
	c.n = n
	c.put("ann")
	if e, ok := n.host.Directory().Org(org.Org); !ok || !e.GetBusy() {
		t.Error("something happened in an organization with an endpoint that is not marked")
	}
}

// TestWebhookOfHangingReceiverDelaysNobody has all endpoints but one of an
// organization hang.
func TestWebhookOfHangingReceiverDelaysNobody(t *testing.T) {
	in := newInbox(t)
	hang := make(chan struct{})
	in.answer(func(path string, _ int) int {
		if strings.HasSuffix(path, "/hang") {
			<-hang
		}
		return http.StatusOK
	})
	n := startNode(t, storagetest.NewDisk(), in.allow)
	t.Cleanup(sync.OnceFunc(func() { close(hang) })) // before the node stops, which waits for what is under way
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	for range webhook.MaxWebhooks - 1 {
		c.ok(newWebhook(in.url+"/hang", "*"))
	}
	c.ok(newWebhook(in.url+"/healthy", "*"))
	const events = 200
	for i := range events {
		n.happen(org.Org, pb.EventInsightProposed, i, 1)
	}
	healthy := func() int {
		return len(slices.DeleteFunc(in.letters(), func(l letter) bool { return strings.HasSuffix(l.path, "/hang") }))
	}
	n.waitFor(func() bool { return healthy() == events })
}

// TestSlowReceiversHaveTheirOwnPlaces: an endpoint that let an attempt wait goes on in
// the places for slow ones, so that those of one organization, when all of these are
// taken, do not delay another. One that is quick again leaves them.
func TestSlowReceiversHaveTheirOwnPlaces(t *testing.T) {
	in := newInbox(t)
	var n *testNode
	var slow atomic.Bool
	slow.Store(true)
	in.answer(func(path string, _ int) int {
		if slow.Load() && strings.HasSuffix(path, "/slow") {
			n.clock.Advance(webhook.SlowReceiver)
		}
		return http.StatusOK
	})
	var out *egress.Client
	n = startNode(t, storagetest.NewDisk(), in.allow, func(c *tenant.Config, _ *storage.Options) { out = c.Egress })
	one, other := n.org(account.NewOrg{}), n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com"})
	client{n: n, key: one.APIKey}.ok(newWebhook(in.url+"/slow", "*"))
	client{n: n, key: other.APIKey}.ok(newWebhook(in.url+"/quick", "*"))
	happens := func(i int) {
		n.happen(one.Org, pb.EventInsightProposed, i, 1)
		n.happen(other.Org, pb.EventInsightProposed, i, 1)
	}
	came := func(path string, count int) {
		t.Helper()
		n.waitFor(func() bool {
			return len(slices.DeleteFunc(in.letters(), func(l letter) bool { return l.path != "/in"+path })) == count
		})
	}
	// fill takes all places for slow receivers, as if other organizations had them.
	fill := func() (empty func()) {
		over, cancel := context.WithCancel(t.Context())
		cancel() // so that it does not wait
		var leaves []func()
		for leave, err := out.Enter(over, true); err == nil; leave, err = out.Enter(over, true) {
			leaves = append(leaves, leave)
		}
		return func() {
			for _, leave := range leaves {
				leave()
			}
		}
	}
	n.happen(one.Org, pb.EventInsightProposed, 0, 1)
	came("/slow", 1)
	n.quiet(one.Org)
	empty := fill()
	for i := range 3 {
		happens(1 + i)
		came("/quick", 1+i)
	}
	if got := in.count(); got != 4 {
		t.Errorf("%d deliveries, while the places for slow receivers were taken", got)
	}
	slow.Store(false)
	empty()
	came("/slow", 4)
	n.quiet(one.Org)
	defer fill()()
	happens(4)
	came("/slow", 5)
}

// TestWebhookSecretsAreSealed: none can be read off the disk, and without the
// operator's key nothing is delivered, nor lost.
func TestWebhookSecretsAreSealed(t *testing.T) {
	in := newInbox(t)
	disk := storagetest.NewDisk()
	keyed := func(key string) func(*tenant.Config, *storage.Options) {
		return func(c *tenant.Config, _ *storage.Options) { c.SecretsKey = []byte(key) }
	}
	n := startNode(t, disk, in.allow, keyed("one"))
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	hook := c.ok(newWebhook(in.url, "*")).GetLink().GetWebhook()
	test := link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}})
	n.stop()
	if where := disk.Find(t, hook.GetSecret()); len(where) > 0 {
		t.Errorf("the secret lies open in %v", where)
	}
	n = startNode(t, disk, in.allow, keyed("another"))
	c.n = n
	c.refused(pb.CodeInternal, test)
	n.happen(org.Org, pb.EventInsightProposed, 1, 1)
	n.stop()
	if in.count() != 0 {
		t.Error("something was delivered under a wrong key")
	}
	n = startNode(t, disk, in.allow, keyed("one"))
	n.waitFor(func() bool { return in.count() == 1 })
}

// TestWebhookInTheSandbox: endpoints of the sandbox receive what happens there, and
// nothing else.
func TestWebhookInTheSandbox(t *testing.T) {
	in := newInbox(t)
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	key := c.ok(&pb.Envelope{
		Op: &pb.Envelope_Account{Account: &pb.AccountOp{Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: &pb.CreateSandboxKey{}}}},
	})
	sandbox := client{n: n, key: key.GetAccount().GetNewSandboxKey().GetApiKey()}
	sandbox.ok(newWebhook(in.url+"/sandbox", "*"))
	c.ok(newWebhook(in.url+"/main", "*"))
	sandbox.ingest(doc("a", "A note in the sandbox."))
	n.happen(org.Org, pb.EventInsightProposed, 7, 1)
	n.waitFor(func() bool {
		kinds := map[string]bool{}
		for _, l := range in.letters() {
			kinds[l.path+" "+l.kind] = true
		}
		return kinds["/in/sandbox "+pb.EventJobCompleted] && kinds["/in/main "+pb.EventInsightProposed]
	})
	n.quiet(org.Org)
	for _, l := range in.letters() {
		if l.path == "/in/main" && l.kind != pb.EventInsightProposed || l.path == "/in/sandbox" &&
			l.kind == pb.EventInsightProposed {
			t.Errorf("%+v", l)
		}
	}
}
