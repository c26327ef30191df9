package account

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	keyPrefix = "svc_prod_"
	// KeyTokenBytes of randomness make a key: 43 characters of unpadded base64url.
	KeyTokenBytes = 32
	// MaxKeysPerUser bounds a list that the interface does not paginate.
	MaxKeysPerUser = 1000
	// maxLabelRunes bounds a key's label.
	maxLabelRunes = 200
)

// Keys is an organization's keys, those of its sandbox too, and what the cluster's directory knows of them.
type Keys struct {
	*tenant.Org
	tenant.NoModule
	expired  []pb.KeyHash            // keys that the sweep under way deletes
	minting  map[pb.KeyHash]struct{} // keys under way from the directory to the store
	gone     []pb.KeyHash            // keys to be dropped from the directory
	dropping bool                    // some are, or are being looked for
}

// NewKeys makes the module of an organization.
func NewKeys(o *tenant.Org) *Keys { return &Keys{Org: o, minting: map[pb.KeyHash]struct{}{}} }

func keysOf(o *tenant.Org) *Keys { return tenant.ModuleOf[*Keys](&o.View) }

// Handle begins what is asked of keys.
func (o *Keys) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_ListKeys:
		o.Read(c, o.listKeys(c))
	case *pb.Envelope_CreateKey:
		o.createKey(c, op.CreateKey)
	case *pb.Envelope_RevokeKey:
		o.revokeKey(c, op.RevokeKey)
	case *pb.Envelope_Account:
		if list := op.Account.GetListTeamKeys(); list != nil {
			o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.teamKeys(st, list) })
			return true
		}
		return o.handleSandboxKeys(c, op.Account)
	default:
		return false
	}
	return true
}

// Quiet reports whether no keys are being dropped from the directory.
func (o *Keys) Quiet() bool { return !o.dropping }

// Tick finds keys that the directory has and the organization does not know.
func (o *Keys) Tick() { o.dropLostKeys() }

// Sweep deletes the sandbox's keys that have expired.
func (o *Keys) Sweep(st *storage.Store, b *storage.Batch, _ time.Time) (_ int, err error) {
	o.expired, err = o.dropExpired(b, st)
	return 0, err
}

// Swept tells the directory of the keys that have expired.
func (o *Keys) Swept() { o.dropKeys(o.expired) }

func newAPIKey(s *tenant.System, prefix string) (string, error) {
	token := make([]byte, KeyTokenBytes)
	if _, err := io.ReadFull(s.Config.Random, token); err != nil {
		return "", fmt.Errorf("draw a key: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(token), nil
}

// listKeys gives the caller's own keys, newest first. A sandbox key is nobody's
// own: it has no list, and is in none but the sandbox's.
func (o *Keys) listKeys(c *tenant.Call) func(*storage.Store) (*pb.Reply, error) {
	user, view := c.Principal.User, c.Org
	return func(st *storage.Store) (*pb.Reply, error) {
		list := &pb.KeyList{}
		if c.Principal.Sandbox {
			return &pb.Reply{Result: &pb.Reply_Keys{Keys: list}}, nil
		}
		own := view.Space.Prefix(storage.TableKeyByUser, storage.ID16(user))
		for item, err := range st.Scan(own, storage.ScanOptions{Reverse: true, Limit: MaxKeysPerUser}) {
			if err != nil {
				return nil, err
			}
			k, err := o.keyAt(st, item, false)
			if err != nil {
				return nil, err
			}
			if k != nil {
				list.Keys = append(list.Keys, k)
			}
		}
		return &pb.Reply{Result: &pb.Reply_Keys{Keys: list}}, nil
	}
}

// readKey reads a key with its use, nil when it was removed since it was found in
// a list.
func (o *Keys) readKey(r storage.Reader, hash pb.KeyHash) (*pb.Key, error) {
	k, use := &pb.Key{}, &pb.Key{}
	found, err := r.Get(o.Space.Key(storage.TableKey, storage.Hash32(hash)), k)
	if err != nil || !found {
		return nil, err
	}
	if _, err := r.Get(o.Space.Key(storage.TableKeyUse, storage.Hash32(hash)), use); err != nil {
		return nil, err
	}
	k.LastUsedMs = use.GetLastUsedMs()
	return k, nil
}

// checkScopes normalises requested scopes; the field error names the first that
// is unknown.
func checkScopes(scopes []string) ([]string, *pb.Problem) {
	for i, s := range scopes {
		if !tenant.KnownScope(s) {
			return nil, tenant.Invalid(fmt.Sprintf("scopes[%d]", i), "is not a scope; known are "+strings.Join(tenant.AllScopes,
				", "))
		}
	}
	out := slices.Clone(scopes)
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (o *Keys) createKey(c *tenant.Call, op *pb.CreateKey) {
	scopes, p := checkScopes(op.GetScopes())
	if p != nil {
		c.Refuse(p)
		return
	}
	for _, s := range scopes {
		if !tenant.Grants(c.Principal.Scopes, s) {
			c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "The key lacks the scope %q and cannot grant it.", s))
			return
		}
	}
	if len(op.GetScopes()) == 0 {
		scopes = c.Principal.Scopes
	}
	if utf8.RuneCountInString(op.GetLabel()) > maxLabelRunes {
		c.Refuse(tenant.Invalid("label", fmt.Sprintf("is longer than %d characters", maxLabelRunes)))
		return
	}
	order := &pb.Key{User: c.Principal.User.Bytes(), Scopes: scopes, Label: op.GetLabel()}
	o.Mint(order, func(ch *commit.Change, k CreatedKey) error {
		ch.Audit(c.AuditOf(pb.ActionKeyCreate, k.Key.String()))
		return c.Idempotency.Record(ch.Batch, newKeyReply(k))
	}, func(k CreatedKey, err error) {
		var refusal refusalError
		switch {
		case errors.As(err, &refusal):
			c.RefuseSettled(refusal.problem)
		case err != nil:
			c.Fail(err)
		default:
			c.Reply(newKeyReply(k))
		}
	})
}

func newKeyReply(k CreatedKey) *pb.Reply {
	return &pb.Reply{Status: 201, Result: &pb.Reply_NewKey{NewKey: &pb.NewKey{
		ApiKey: k.APIKey, Id: k.Key.String(),
		Label: k.Label,
	}}}
}

// refusalError carries a problem through an error path.
type refusalError struct{ problem *pb.Problem }

func (e refusalError) Error() string { return e.problem.GetDetail() }

// Mint makes a key: order says whose, with which label and scopes, and of a
// sandbox key until when. with adds to the commit. The directory learns of the
// key first: a crash in between leaves a hash that leads to an organization which
// does not know it, and that is refused like any other unknown key.
//
// Those of one user come one after the other: what is counted for the bound is in
// the store only once it is committed.
func (o *Keys) Mint(order *pb.Key, with func(*commit.Change, CreatedKey) error,
	done func(CreatedKey, error),
) {
	o.Exclusive(tenant.KeysLock(order.GetUser()), func(release func()) {
		made, ch, gone, err := o.newKey(order, with)
		if err != nil {
			release()
			done(CreatedKey{}, err)
			return
		}
		o.minting[made.Key] = struct{}{}
		view := &o.View
		o.System.RunInBackground(func(ctx context.Context) {
			err := view.System.Config.Host.Directory().PutKey(ctx, made.Key, view.ID)
			if err != nil {
				o.InMailbox(func() { delete(o.minting, made.Key) })
				release()
				if errors.Is(err, wire.ErrTooManyKeys) {
					err = refusalError{tenant.NewProblem(pb.CodeKeyLimitReached, "An organization can have at most %d keys.",
						state.MaxKeysPerOrg)}
				}
				done(CreatedKey{}, err)
				return
			}
			view.Committer.SubmitChange(ch, func(err error) {
				// One that may be in the store all the same stays: the next activation sees.
				if !errors.Is(err, wire.ErrOutcomeUnknown) {
					o.InMailbox(func() {
						delete(o.minting, made.Key)
						if err != nil {
							gone = []pb.KeyHash{made.Key}
						}
						o.dropKeys(gone)
					})
				}
				release()
				done(made, err)
			})
		})
	})
}

// newKey prepares a key, and says which others make way for it.
func (o *Keys) newKey(order *pb.Key, with func(*commit.Change, CreatedKey) error) (made CreatedKey,
	ch *commit.Change, gone []pb.KeyHash, err error,
) {
	user, err := pb.UserIDFrom(order.GetUser())
	if err != nil {
		return CreatedKey{}, nil, nil, err
	}
	prefix, index, limit := keyPrefix, o.Space.Prefix(storage.TableKeyByUser, storage.ID16(user)), MaxKeysPerUser
	if order.GetSandbox() {
		prefix, index, limit = sandboxKeyPrefix, o.Space.Prefix(storage.TableSandboxKey), MaxSandboxKeys
	}
	ch = commit.New(o.Store)
	count := 0
	err = o.WithStore(func(st *storage.Store) (err error) {
		snap, err := st.Snapshot() // a sweep may remove between two looks what both count on
		if err != nil {
			return err
		}
		defer partition.CloseSnapshot(snap, &err)
		for _, err := range snap.Scan(index, storage.ScanOptions{Limit: limit}) {
			if err != nil {
				return err
			}
			count++
		}
		if count < limit {
			return nil
		}
		gone, err = o.dropUseless(ch.Batch, snap, index, order.GetSandbox())
		count -= len(gone)
		return err
	})
	if err != nil {
		return CreatedKey{}, nil, nil, err
	}
	if count >= limit {
		return CreatedKey{}, nil, nil, refusalError{tenant.NewProblem(pb.CodeKeyLimitReached,
			"There can be at most %d keys that are not revoked.", limit)}
	}
	apiKey, err := newAPIKey(o.System, prefix)
	if err != nil {
		return CreatedKey{}, nil, nil, err
	}
	made = CreatedKey{APIKey: apiKey, Key: pb.HashKey(apiKey), Label: order.GetLabel()}
	order.Hash, order.Status, order.CreatedMs = made.Key[:], pb.KeyActive, clock.Millis(o.System.Clock.Now())
	ch.Put(o.Space.Key(storage.TableKey, storage.Hash32(made.Key)), order)
	if order.GetSandbox() {
		ch.PutRaw(o.sandboxKeyIndex(order), nil)
	} else {
		ch.PutRaw(o.Space.Key(storage.TableKeyByUser, storage.ID16(user), storage.U64(uint64(order.GetCreatedMs())),
			storage.Hash32(made.Key)), nil)
	}
	return made, ch, gone, with(ch, made)
}

// dropUseless makes room in a full list of keys, and says which went: those of the
// sandbox that have expired, else the one that was made first of those that are
// revoked. Who rotates keys for years must not run out of them.
func (o *Keys) dropUseless(
	b *storage.Batch, r storage.Reader, list storage.Range, sandbox bool,
) ([]pb.KeyHash, error) {
	if sandbox {
		if gone, err := o.dropExpired(b, r); len(gone) > 0 || err != nil {
			return gone, err
		}
	}
	for item, err := range r.Scan(list, storage.ScanOptions{Reverse: sandbox}) { // at most as many as there can be
		if err != nil {
			return nil, err
		}
		k, err := o.keyAt(r, item, sandbox)
		if err != nil {
			return nil, err
		}
		if k.GetStatus() == pb.KeyRevoked {
			hash := pb.KeyHash(k.GetHash())
			o.deleteKey(b, hash)
			b.Delete(item.Key)
			return []pb.KeyHash{hash}, nil
		}
	}
	return nil, nil
}

// keyAt reads the key of an entry of a list, its member's or the sandbox's; nil when
// there is none any more.
func (o *Keys) keyAt(r storage.Reader, item storage.Item, sandbox bool) (*pb.Key, error) {
	hash, err := listedKey(item, sandbox)
	if err != nil {
		return nil, err
	}
	return o.readKey(r, hash)
}

// listedKey says whose entry of such a list it is.
func listedKey(item storage.Item, sandbox bool) (pb.KeyHash, error) {
	parts := item.Key.Parts()
	if sandbox {
		parts.U64Desc()
	} else {
		parts.ID16()
		parts.U64()
	}
	hash := pb.KeyHash(parts.Hash32())
	return hash, parts.Done()
}

// deleteKey removes a key, but for its place in a list. When that is committed, it goes
// from the directory too (dropKeys).
func (o *Keys) deleteKey(b *storage.Batch, hash pb.KeyHash) {
	b.Delete(o.Space.Key(storage.TableKey, storage.Hash32(hash)))
	b.Delete(o.Space.Key(storage.TableKeyUse, storage.Hash32(hash)))
}

// revokeKey revokes a key of the caller. From the answer on, and in this
// actor's memory from now on, it authenticates nothing.
func (o *Keys) revokeKey(c *tenant.Call, op *pb.RevokeKey) {
	o.revoke(c, op.GetId(), pb.ActionKeyRevoke, func(k *pb.Key) bool {
		return !k.GetSandbox() && !c.Principal.Sandbox && string(k.GetUser()) == string(c.Principal.User[:])
	})
}

// revoke revokes a key that may be the caller's to revoke.
func (o *Keys) revoke(c *tenant.Call, id, action string, may func(*pb.Key) bool) {
	notFound := tenant.NewProblem(pb.CodeKeyNotFound, "There is no such key of yours.")
	hash, err := pb.ParseKeyHash(id)
	if err != nil {
		c.Refuse(notFound)
		return
	}
	o.Exclusive(tenant.KeyLock(id), func(release func()) {
		k := &pb.Key{}
		var found bool
		err := o.WithStore(func(st *storage.Store) (err error) {
			found, err = st.Get(o.Space.Key(storage.TableKey, storage.Hash32(hash)), k)
			return err
		})
		switch {
		case err != nil:
			release()
			c.Fail(err)
		case !found || !may(k):
			release()
			c.Refuse(notFound)
		case k.GetStatus() == pb.KeyRevoked:
			release()
			c.Reply(tenant.EmptyReply())
		default:
			k.Status, k.RevokedMs = pb.KeyRevoked, clock.Millis(o.System.Clock.Now())
			ch := commit.New(o.Store)
			ch.Put(o.Space.Key(storage.TableKey, storage.Hash32(hash)), k)
			ch.Audit(c.AuditOf(action, hash.String()))
			// The memory follows the store, not the other way round: a refused
			// revocation leaves the key working, as its answer says.
			o.Committer.SubmitChange(ch, func(err error) {
				o.InMailbox(func() {
					if err == nil {
						o.ForgetKey(hash)
					}
					release()
					if err != nil {
						c.Fail(err)
						return
					}
					c.Reply(tenant.EmptyReply())
				})
			})
		}
	})
}

// deleteOf removes all keys that a member minted, those of the sandbox too, and
// returns them.
func (o *Keys) deleteOf(b *storage.Batch, user pb.UserID) ([]pb.KeyHash, error) {
	var hashes []pb.KeyHash
	err := o.WithStore(func(st *storage.Store) error {
		own := o.Space.Prefix(storage.TableKeyByUser, storage.ID16(user))
		for item, err := range st.Scan(own, storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			hash, err := listedKey(item, false)
			if err != nil {
				return err
			}
			hashes = append(hashes, hash)
			o.deleteKey(b, hash)
			b.Erase(o.Space.Key(storage.TableKey, storage.Hash32(hash))) // its label is their text
		}
		b.DeleteRange(own)
		for k, err := range o.sandboxKeys(st) {
			if err != nil {
				return err
			}
			if string(k.GetUser()) == string(user[:]) {
				hashes = append(hashes, pb.KeyHash(k.GetHash()))
				o.deleteSandboxKey(b, k)
				b.Erase(o.Space.Key(storage.TableKey, storage.Hash32(pb.KeyHash(k.GetHash()))))
			}
		}
		return nil
	})
	return hashes, err
}

// operatorsKey adds to a key's commit that the operator made it.
func (o *Keys) operatorsKey(ch *commit.Change, k CreatedKey) error {
	ch.Audit(o.ByOperator(pb.ActionKeyCreate, k.Key.String()))
	return nil
}
