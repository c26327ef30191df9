package actors

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// A signing secret lies in its endpoint's record sealed: AES-256-GCM under a key made
// of the operator's (Config.SecretsKey) and the organization's own, and bound to the
// endpoint. The organization's lies in the same store, in another table; so without
// an operator's key this keeps a secret out of what shows only a part of a store
// (a dump of a table, a log's remains, a file's strings), and with one, that is kept
// elsewhere, also from whoever has the disk.

// errSealed means that a secret was sealed under another key.
var errSealed = errors.New("the webhook secret cannot be opened: is secrets-key-file what it was when the endpoint was made?")

// sealing is the organization's cipher for secrets.
func (o *orgView) sealing() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, slices.Concat(o.sys.cfg.SecretsKey, o.secret), nil, "orgmem webhook secret", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealWebhook returns an endpoint as it is stored: with its secret sealed.
func (o *orgView) sealWebhook(hook *pb.Webhook) (*pb.Webhook, error) {
	aead, err := o.sealing()
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	stored := proto.CloneOf(hook)
	stored.Secret, stored.Sealed = "", aead.Seal(nil, nil, []byte(hook.GetSecret()), hook.GetId()) //nolint:gosec // it draws its nonce itself
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
func (o *orgView) openWebhook(hook *pb.Webhook) error {
	if hook.GetSealed() == nil {
		return nil // it was made before secrets were sealed
	}
	aead, err := o.sealing()
	if err != nil {
		return fmt.Errorf("open secret: %w", err)
	}
	secret, err := aead.Open(nil, nil, hook.GetSealed(), hook.GetId())
	if err != nil {
		return errSealed
	}
	hook.Secret = string(secret)
	return nil
}
