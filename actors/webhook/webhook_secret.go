package webhook

import (
	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
	"orgmem/storage"
)

// WebhookSecrets seals the signing secrets of webhooks.
const WebhookSecrets = "orgmem webhook secret"

func (o *Module) resealWebhook(b *storage.Batch, hook *pb.Webhook) error {
	if hook.GetSecret() == "" {
		secret, keyless, err := o.Unseal(WebhookSecrets, hook.GetSealed(), hook.GetId())
		if err != nil || !keyless {
			return nil //nolint:nilerr // it is said where it is used
		}
		hook.Secret = string(secret)
	}
	stored, err := o.sealWebhook(hook)
	if err != nil {
		return err
	}
	key := o.KeyOf(pb.WebhookID(hook.GetId()))
	b.Erase(key)
	b.Put(key, stored)
	return nil
}

// sealWebhook returns an endpoint as it is stored: with its secret sealed.
func (o *Module) sealWebhook(hook *pb.Webhook) (*pb.Webhook, error) {
	sealed, err := o.Seal(WebhookSecrets, []byte(hook.GetSecret()), hook.GetId())
	if err != nil {
		return nil, err
	}
	stored := proto.CloneOf(hook)
	stored.Secret, stored.Sealed = "", sealed
	return stored, nil
}

// shownWebhook is what a caller sees of a stored endpoint.
func shownWebhook(hook *pb.Webhook) *pb.Webhook {
	return &pb.Webhook{
		Id: hook.Id, Url: hook.Url, EventTypes: hook.EventTypes, Disabled: hook.Disabled, DisabledReason: hook.DisabledReason,
		Failures: hook.Failures, LastDeliveryMs: hook.LastDeliveryMs, LastSuccessMs: hook.LastSuccessMs,
		CreatedMs: hook.CreatedMs, UpdatedMs: hook.UpdatedMs,
	}
}

// openWebhook puts a stored endpoint's secret into it.
func (o *Module) openWebhook(hook *pb.Webhook) error {
	if hook.GetSealed() == nil {
		return nil // it was made before secrets were sealed
	}
	secret, _, err := o.Unseal(WebhookSecrets, hook.GetSealed(), hook.GetId())
	if err != nil {
		return err
	}
	hook.Secret = string(secret)
	return nil
}
