package actors

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/webhook"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// The limits of endpoints and streams are the organization's, its sandbox included:
// the sandbox has a store and an actor of its own, so it can forget to count, or be
// forgotten.

func (c client) webhookIDs() (ids []string) {
	c.n.t.Helper()
	list := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListWebhooks{ListWebhooks: &pb.ListWebhooks{Page: &pb.Page{Size: 100}}}})).
		GetLink().GetWebhooks()
	for _, hook := range list.GetWebhooks() {
		ids = append(ids, pb.WebhookID(hook.GetId()).String())
	}
	return ids
}

func deleteWebhook(id string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: id}}})
}

// TestWebhookLimitCountsTheSandbox fills the limit from both sides: the 21st is refused
// on either, what one side deletes the other may make, and so it is after a power
// failure, when neither is in memory, and after a reset, which frees the sandbox's.
//
// interface: Limits/Webhook endpoints
func TestWebhookLimitCountsTheSandbox(t *testing.T) {
	t.Parallel()
	const boxed = 8
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	disk := storagetest.NewDisk()
	n := startNode(t, disk, allow)
	c := client{n: n, key: n.org(account.NewOrg{Plan: pb.PlanUnlimited}).APIKey}
	sandbox := n.sandboxKey(c)
	for range boxed {
		sandbox.ok(newWebhook(url, "*"))
	}
	for range webhook.MaxWebhooks - boxed {
		c.ok(newWebhook(url, "*"))
	}
	full := func(when string) {
		t.Helper()
		for name, who := range map[string]client{"the organization": c, "the sandbox": sandbox} {
			if p := who.ask(newWebhook(url, "*")).GetProblem(); p.GetCode() != pb.CodeWebhookLimit {
				t.Errorf("%s: the 21st, by %s: %v", when, name, p)
			}
		}
	}
	full("at first")
	c.ok(deleteWebhook(c.webhookIDs()[0]))
	sandbox.ok(newWebhook(url, "*"))
	full("one made in the sandbox for one of the organization's")
	sandbox.ok(deleteWebhook(sandbox.webhookIDs()[0]))
	c.ok(newWebhook(url, "*"))
	full("and back")

	disk = disk.Crash(0, 1)
	n.stop()
	n = startNode(t, disk, allow)
	c.n, sandbox.n = n, n
	full("after a power failure") // the organization asks first, or the sandbox: a map decides

	c.ok(resetSandbox())
	for range boxed {
		c.ok(newWebhook(url, "*"))
	}
	full("after the sandbox's were freed by a reset")
	if own, box := len(c.webhookIDs()), len(sandbox.webhookIDs()); own != webhook.MaxWebhooks || box != 0 {
		t.Errorf("%d endpoints, %d in the sandbox", own, box)
	}
}

// TestWebhookLimitHoldsForBothSidesAtOnce lets both sides ask for more than there is
// room for, at the same time, and the sandbox is reset meanwhile: there are never more
// than there may be.
//
// interface: Limits/Webhook endpoints
func TestWebhookLimitHoldsForBothSidesAtOnce(t *testing.T) {
	t.Parallel()
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	n := startNode(t, storagetest.NewDisk(), allow)
	for round := range 6 {
		c := client{n: n, key: n.org(account.NewOrg{
			Plan: pb.PlanUnlimited, Name: fmt.Sprint("Round ", round),
			OwnerEmail: "owner@example.com",
		}).APIKey}
		sandbox := n.sandboxKey(c)
		reset := round%2 == 1
		var made, refused atomic.Int64
		var asking sync.WaitGroup
		for i := range 2 * webhook.MaxWebhooks {
			who := []client{c, sandbox}[i%2]
			asking.Go(func() {
				switch p := who.ask(newWebhook(url, "*")).GetProblem(); {
				case p == nil:
					made.Add(1)
				case p.GetCode() == pb.CodeWebhookLimit:
					refused.Add(1)
				case !reset || p.GetCode() != pb.CodeServiceDegraded: // a write of the sandbox that was replaced
					t.Errorf("%s: %s", p.GetCode(), p.GetDetail())
				}
			})
		}
		if reset {
			asking.Go(func() { c.ok(resetSandbox()) })
		}
		asking.Wait()
		there := len(c.webhookIDs()) + len(sandbox.webhookIDs())
		if there > webhook.MaxWebhooks || !reset && (there != webhook.MaxWebhooks || made.Load() != webhook.MaxWebhooks ||
			refused.Load() != webhook.MaxWebhooks) {
			t.Errorf("round %d: %d are there, %d were made, %d refused", round, there, made.Load(), refused.Load())
		}
	}
}

// TestWebhookLimitHoldsAcrossMoves lets both sides ask all nodes while the organization
// moves between them: at the end there are as many as there may be, and no more.
//
// interface: Limits/Webhook endpoints
func TestWebhookLimitHoldsAcrossMoves(t *testing.T) {
	t.Parallel()
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	w := startTownWith(t, allow, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	box := w.at("a").sandboxKey(w.at("a").client(made.APIKey)).key
	nodes := []wire.ServerID{"a", "b"}
	var asking sync.WaitGroup
	for i := range 4 {
		c := w.at(nodes[i%2]).client([]string{made.APIKey, box}[i/2])
		asking.Go(func() {
			for range 3 * webhook.MaxWebhooks { // more than there is room for
				r, err := c.n.sys.Ask(context.Background(), c.envelope(newWebhook(url, "*")))
				if err != nil || r.GetProblem().GetCode() == pb.CodeWebhookLimit {
					return
				}
			}
		})
	}
	for i := range 6 {
		w.lead(nodes[(i+1)%2])
	}
	asking.Wait()
	leader, _ := w.now()
	c, sandbox := w.at(leader).client(made.APIKey), w.at(leader).client(box)
	for range 2 * webhook.MaxWebhooks { // whatever the moves left free
		if c.ask(newWebhook(url, "*")).GetProblem() != nil {
			break
		}
	}
	c.refused(pb.CodeWebhookLimit, newWebhook(url, "*"))
	sandbox.refused(pb.CodeWebhookLimit, newWebhook(url, "*"))
	if there := len(c.webhookIDs()) + len(sandbox.webhookIDs()); there != webhook.MaxWebhooks {
		t.Errorf("%d are there", there)
	}
}

// TestStreamLimitCountsTheSandbox: the sandbox's streams and the organization's are
// five together.
//
// interface: Limits/Concurrent event streams
func TestStreamLimitCountsTheSandbox(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	boxed := sandbox.stream()
	sandbox.stream()
	for range webhook.MaxStreams - 2 {
		c.stream()
	}
	for name, who := range map[string]client{"the organization": c, "the sandbox": sandbox} {
		if p := who.ask(openStream()).GetProblem(); p.GetCode() != pb.CodeTooManyStreams || p.GetRetryAfterS() != 15 {
			t.Errorf("the sixth, by %s: %v", name, p)
		}
	}
	boxed.Close()
	c.stream()
	sandbox.refused(pb.CodeTooManyStreams, openStream())
}
