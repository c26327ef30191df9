package actors

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A receiver may answer with what it was told, the name of a subject. That answer is
// in the endpoint's log, and goes with the subject, also where it comes when the
// subject has gone.
func TestErasedSubjectLeavesNoAnswer(t *testing.T) {
	var hold atomic.Pointer[chan struct{}]
	var held atomic.Int64
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if until := hold.Load(); until != nil {
			held.Add(1)
			<-*until
		}
		_, _ = w.Write(body)
	})
	n, l := erasing(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	p := &planter{seed: "answer"}
	name := p.next()
	c.put(name)
	hook := c.ok(newWebhook(url, "*")).GetLink().GetWebhook()
	node := c.as(name).ingest(doc("a", "common text")).GetItems()[0].GetNode()
	retitle := func(title string) { c.as(name).edit(&pb.EditNode{Id: node, Title: &title}) }
	told := func() bool {
		return slices.ContainsFunc(c.webhook(hook.GetId()).GetAttempts(), func(d *pb.Delivery) bool {
			return strings.Contains(d.GetResponseSnippet(), name)
		})
	}
	retitle("one")
	n.waitFor(told)
	n.quiet(org.Org)
	sent := pb.WebhookID(c.webhook(hook.GetId()).GetAttempts()[0].GetId()).String()
	if body := c.ok(getDelivery(hook.GetId(), sent)).GetLink().GetSent().GetBody(); !strings.Contains(string(body), name) {
		t.Errorf("what was sent reads %s", body)
	}
	p.there(t, n)

	until := make(chan struct{})
	hold.Store(&until)
	retitle("another")
	n.waitFor(func() bool { return held.Load() > 0 })
	n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: name}}})))
	if told() {
		t.Error("behind the erasure the endpoint's log names the subject")
	}
	c.refused(pb.CodeDeliveryNotFound, getDelivery(hook.GetId(), sent))
	hold.Store(nil)
	close(until)
	n.quiet(org.Org)
	if told() {
		t.Error("an answer that came late names the subject")
	}
	n.settle(storage.StoreID{Org: org.Org, Realm: storage.RealmMain})
	p.gone(t, n, l)
}
