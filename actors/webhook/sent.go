package webhook

import (
	"encoding/json"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// testData is the data of every test event.
var testData = map[string]any{"message": "This is a test event."}

// getDelivery answers one attempt with the body that it has sent, byte for byte. Nothing is kept for that: the body is
// made from its event again, so that what was erased, or has left the outbox, does not come back. A test event is in no
// outbox, and says the same each time. user is who asks.
func (o *Module) getDelivery(r storage.Reader, user pb.UserID, op *pb.GetDelivery) (*pb.Reply, error) {
	return o.ofWebhook(r, op.GetWebhook(), func(hook *pb.Webhook, attempts []*pb.Delivery) (*pb.Reply, error) {
		for _, d := range attempts {
			if pb.WebhookID(d.GetId()).String() == op.GetId() {
				sent, err := o.sentBy(r, user, hook, d)
				return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Sent{Sent: sent}}), err
			}
		}
		return tenant.Refuse(tenant.NewProblem(pb.CodeDeliveryNotFound,
			"The endpoint's last %d attempts have none with this id.", MaxDeliveries)), nil
	})
}

// sentBy is an attempt with what it has sent, or why that cannot be told.
func (o *Module) sentBy(r storage.Reader, user pb.UserID, hook *pb.Webhook, d *pb.Delivery) (*pb.SentDelivery, error) {
	sent := &pb.SentDelivery{Attempt: d}
	event, err := o.sentEvent(r, d)
	switch {
	case err != nil:
		return nil, err
	case event == nil:
		sent.Unavailable = pb.SentGone
		return sent, nil
	case !o.endpoints.maySee(user.Bytes(), event):
		sent.Unavailable = pb.SentWithheld
		return sent, nil
	}
	if err := o.endpoints.unseal(hook); err != nil {
		return nil, err
	}
	if sent.Body, err = o.client.body(event); err != nil {
		return nil, err
	}
	sent.Signature = Signature(hook.GetSecret(), time.UnixMilli(d.GetAtMs()), sent.Body)
	return sent, nil
}

// sentEvent returns the event that an attempt has sent, nil when it is gone.
func (o *Module) sentEvent(r storage.Reader, d *pb.Delivery) (*pb.OutboxEvent, error) {
	if d.GetEventType() == pb.EventWebhookTest && d.GetEventMs() != 0 {
		return testEvent(d.GetEvent(), d.GetEventMs())
	}
	if d.GetSeq() == 0 { // it was recorded by a version that did not note where its event is
		return nil, nil
	}
	e, err := o.outbox.get(r, d.GetSeq())
	if err != nil || e == nil || string(e.GetId()) != string(d.GetEvent()) {
		return nil, err
	}
	return e, nil
}

// testEvent is a test event as it was sent at a time. All test events say the same.
func testEvent(id []byte, atMs int64) (*pb.OutboxEvent, error) {
	data, err := json.Marshal(testData)
	if err != nil {
		return nil, err
	}
	return &pb.OutboxEvent{Id: id, Type: pb.EventWebhookTest, AtMs: atMs, Data: data}, nil
}
