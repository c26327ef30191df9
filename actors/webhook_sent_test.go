package actors

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func getDelivery(hook []byte, id string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_GetDelivery{
		GetDelivery: &pb.GetDelivery{Webhook: pb.WebhookID(hook).String(), Id: id},
	}})
}

// sent is what the service tells of each attempt that an endpoint's log has, by the type of its event.
func (c client) sent(hook []byte) map[string]*pb.SentDelivery {
	c.n.t.Helper()
	all := map[string]*pb.SentDelivery{}
	for _, d := range c.webhook(hook).GetAttempts() {
		key := d.GetEventType()
		if len(d.GetPartition()) > 0 {
			key += " of " + pb.UserID(d.GetPartition()).String()
		}
		all[key] = c.ok(getDelivery(hook, pb.WebhookID(d.GetId()).String())).GetLink().GetSent()
	}
	return all
}

// TestWhatWasSentIsTold compares what receivers got with what is told of it afterwards, byte for byte: to whoever may
// know of the event, and while the event is there.
func TestWhatWasSentIsTold(t *testing.T) {
	type letter struct{ body, signature string }
	var mu sync.Mutex
	got := map[string]letter{}
	url, allow := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got[r.Header.Get("X-Svc-Delivery")] = letter{string(body), r.Header.Get("X-Svc-Signature")}
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	peer := n.member(owner, org, "peer@example.com")
	owner.put("ann")
	hook := owner.ok(newWebhook(url, "*")).GetLink().GetWebhook().GetId()
	owner.ingest(doc("a", "The owner's own text."))
	owner.as("ann").ingest(doc("b", "A text of ann's."))
	n.quiet(org.Org)
	n.clock.Advance(1500 * time.Millisecond) // the attempt's second is another than the event's
	owner.ok(link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook).String()}}}))

	told := owner.sent(hook)
	if len(told) < 5 { // two events of each memory, and the test
		t.Fatalf("only %d kinds of deliveries", len(told))
	}
	for key, s := range told {
		want := got[pb.WebhookID(s.GetAttempt().GetId()).String()]
		if want.body == "" || string(s.GetBody()) != want.body || s.GetSignature() != want.signature ||
			s.GetUnavailable() != "" {
			t.Errorf("%s: told %s %s %s, the receiver got %v", key, s.GetBody(), s.GetSignature(), s.GetUnavailable(), want)
		}
	}

	ofOwner := pb.EventGraphUpdated + " of " + org.Owner.String()
	for key, s := range peer.sent(hook) {
		withheld := s.GetUnavailable() == pb.SentWithheld && len(s.GetBody()) == 0 && s.GetSignature() == ""
		if ofMember := key == ofOwner || key == pb.EventJobCompleted+" of "+org.Owner.String(); withheld != ofMember {
			t.Errorf("a peer reads of %s: %v", key, s)
		}
	}
	for _, id := range []string{"nothing", pb.WebhookID{}.String()} {
		owner.refused(pb.CodeDeliveryNotFound, getDelivery(hook, id))
		owner.refused(pb.CodeWebhookNotFound, getDelivery(make([]byte, 16), id))
	}

	n.clock.Advance(webhook.OutboxRetention + time.Hour)
	owner.ingest(doc("c", "The newest event stays.")) // the sweep keeps the last
	n.quiet(org.Org)
	err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
		o.Expire()
		o.Committer.Submit(storage.NewBatch(o.Store), done) // behind the sweep's own
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, gone := 0, 0
	for _, d := range owner.webhook(hook).GetAttempts() {
		id := pb.WebhookID(d.GetId()).String()
		s := owner.ok(getDelivery(hook, id)).GetLink().GetSent()
		switch before := told[pb.EventWebhookTest]; {
		case d.GetEventType() == pb.EventWebhookTest:
			if string(s.GetBody()) != string(before.GetBody()) || s.GetSignature() != before.GetSignature() {
				t.Errorf("after 72 hours the test reads %v", s)
			}
		case s.GetUnavailable() == pb.SentGone && len(s.GetBody()) == 0 && s.GetSignature() == "":
			gone++
		case string(s.GetBody()) == got[id].body:
			kept++
		default:
			t.Errorf("after 72 hours: %v", s)
		}
	}
	if gone < 4 || kept < 1 {
		t.Errorf("after 72 hours %d are gone and %d are kept", gone, kept)
	}
}
