package tenant

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"orgmem/storage"
)

// A secret that must be used, and so cannot be kept as a hash, lies in its record
// sealed: the signing secret of a webhook and what a connector shows its source.
// AES-256-GCM under a key made of the operator's (Config.SecretsKey) and the
// organization's own, and bound to what it belongs to. The organization's lies in the
// same store, in another table; so without an operator's key this keeps a secret out
// of what shows only a part of a store (a dump of a table, a log's remains, a file's
// strings), and with one, that is kept elsewhere, also from somebody who holds the disk.
// What an earlier version, or one without an operator's key, has left readable is
// sealed when the organization is opened (resealSecrets).

// ErrSealed means that a secret was sealed under another key.
var ErrSealed = errors.New("the secret cannot be opened: is secrets-key-file what it was when it was stored?")

// sealing is the organization's cipher for one kind of secrets.
func (o *View) sealing(kind string, operator []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, slices.Concat(operator, o.Secret), nil, kind, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal encrypts a secret under the organization's key for one kind of secrets, and binds it to what it belongs to:
// Unseal must be given the same kind and owner. It may be called from any goroutine.
func (o *View) Seal(kind string, secret, owner []byte) ([]byte, error) {
	aead, err := o.sealing(kind, o.System.Config.SecretsKey)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return aead.Seal(nil, nil, secret, owner), nil //nolint:gosec // it draws its nonce itself
}

// Unseal opens what Seal has made, and fails with ErrSealed where that was sealed under
// another key. weak says that it was sealed before there was an operator's key.
func (o *View) Unseal(kind string, sealed, owner []byte) (secret []byte, weak bool, err error) {
	for _, operator := range [][]byte{o.System.Config.SecretsKey, nil} {
		aead, err := o.sealing(kind, operator)
		if err != nil {
			return nil, false, fmt.Errorf("open secret: %w", err)
		}
		if secret, err := aead.Open(nil, nil, sealed, owner); err == nil {
			return secret, operator == nil && o.System.Config.SecretsKey != nil, nil
		}
	}
	return nil, false, ErrSealed
}

// resealSecrets seals what lies in the store readable, or sealed without the
// operator's key that there is now, and erases how it was. What cannot be opened
// stays as it is: the owner gets an error where it is used. On a full disk all stays as it is
// until the next opening: reading must go on.
func (o *Org) resealSecrets() error {
	b := storage.NewBatch(o.Store)
	err := o.WithStore(func(st *storage.Store) error {
		for _, m := range o.Modules {
			if err := m.Reseal(st, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && b.Len() > 0 {
		err = o.Committer.Commit(b) // what reads an endpoint and writes it back must not undo it
	}
	if errors.Is(err, storage.ErrNoSpace) {
		o.System.Log.Warn("secrets are sealed anew when the organization is next opened", "org", o.ID.String(), "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("seal secrets: %w", err)
	}
	return nil
}
