package actors

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	keyPrefix     = "svc_prod_"
	keyTokenBytes = 32 // 43 characters of unpadded base64url
	// maxKeysPerUser bounds a list that the interface does not paginate.
	maxKeysPerUser = 1000
	// maxLabelRunes bounds a key's label.
	maxLabelRunes = 200
)

func (s *System) newAPIKey() (string, error) {
	token := make([]byte, keyTokenBytes)
	if _, err := io.ReadFull(s.cfg.Random, token); err != nil {
		return "", fmt.Errorf("draw a key: %w", err)
	}
	return keyPrefix + base64.RawURLEncoding.EncodeToString(token), nil
}

func (s *System) newUUID() (uuid.UUID, error) {
	id, err := uuid.NewRandomFromReader(s.cfg.Random)
	if err != nil {
		return id, fmt.Errorf("draw an id: %w", err)
	}
	return id, nil
}

func (o *orgActor) me(c *call) {
	c.reply(&pb.Reply{Result: &pb.Reply_Me{Me: &pb.Principal{
		Org: o.id.Bytes(), OrgName: o.record.GetName(), OrgSlug: o.record.GetSlug(),
		User: c.who.user.Bytes(), Scopes: c.who.scopes, Plan: o.record.GetPlan(),
	}}})
}

// listKeys gives the caller's own keys, newest first.
func (o *orgActor) listKeys(c *call) func(*storage.Store) (*pb.Reply, error) {
	user, view := c.who.user, c.org
	return func(st *storage.Store) (*pb.Reply, error) {
		list := &pb.KeyList{}
		own := view.space.Prefix(storage.TableKeyByUser, storage.ID16(user))
		for item, err := range st.Scan(own, storage.ScanOptions{Reverse: true, Limit: maxKeysPerUser}) {
			if err != nil {
				return nil, err
			}
			parts := item.Key.Parts()
			parts.ID16()
			parts.U64()
			hash := parts.Hash32()
			if err := parts.Done(); err != nil {
				return nil, err
			}
			k, use := &pb.Key{}, &pb.Key{}
			if _, err := st.Get(view.space.Key(storage.TableKey, storage.Hash32(hash)), k); err != nil {
				return nil, err
			}
			if _, err := st.Get(view.space.Key(storage.TableKeyUse, storage.Hash32(hash)), use); err != nil {
				return nil, err
			}
			k.LastUsedMs = use.GetLastUsedMs()
			list.Keys = append(list.Keys, k)
		}
		return &pb.Reply{Result: &pb.Reply_Keys{Keys: list}}, nil
	}
}

// checkScopes normalises requested scopes; the field error names the first that
// is unknown.
func checkScopes(scopes []string) ([]string, *pb.Problem) {
	for i, s := range scopes {
		if !knownScope(s) {
			return nil, invalid(fmt.Sprintf("scopes[%d]", i), "is not a scope; known are "+strings.Join(allScopes, ", "))
		}
	}
	out := slices.Clone(scopes)
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (o *orgActor) createKey(c *call, op *pb.CreateKey) {
	scopes, p := checkScopes(op.GetScopes())
	if p != nil {
		c.refuse(p)
		return
	}
	for _, s := range scopes {
		if !grants(c.who.scopes, s) {
			c.refuse(problem(codePermissionDenied, "The key lacks the scope %q and cannot grant it.", s))
			return
		}
	}
	if len(op.GetScopes()) == 0 {
		scopes = c.who.scopes
	}
	if utf8.RuneCountInString(op.GetLabel()) > maxLabelRunes {
		c.refuse(invalid("label", fmt.Sprintf("is longer than %d characters", maxLabelRunes)))
		return
	}
	o.mintKey(c.who.user, scopes, op.GetLabel(), func(b *storage.Batch, k CreatedKey) error {
		return c.idem.record(b, newKeyReply(k))
	}, func(k CreatedKey, err error) {
		var refusal refusalError
		switch {
		case errors.As(err, &refusal):
			c.refuseSettled(refusal.problem)
		case err != nil:
			c.fail(err)
		default:
			c.reply(newKeyReply(k))
		}
	})
}

func newKeyReply(k CreatedKey) *pb.Reply {
	return &pb.Reply{Status: 201, Result: &pb.Reply_NewKey{NewKey: &pb.NewKey{ApiKey: k.APIKey, Id: k.Key.String(), Label: k.Label}}}
}

// refusalError carries a problem through an error path.
type refusalError struct{ problem *pb.Problem }

func (e refusalError) Error() string { return e.problem.GetDetail() }

// mintKey makes a key for a member. The directory learns of it first: a crash
// in between leaves a hash that leads to an organization which does not know
// it, and that is refused like any other unknown key.
func (o *orgActor) mintKey(user pb.UserID, scopes []string, label string, with func(*storage.Batch, CreatedKey) error, done func(CreatedKey, error)) {
	count := 0
	err := o.withStore(func(st *storage.Store) error {
		for _, err := range st.Scan(o.space.Prefix(storage.TableKeyByUser, storage.ID16(user)), storage.ScanOptions{Limit: maxKeysPerUser}) {
			if err != nil {
				return err
			}
			count++
		}
		return nil
	})
	if err != nil {
		done(CreatedKey{}, err)
		return
	}
	if count >= maxKeysPerUser {
		done(CreatedKey{}, refusalError{problem("key_limit_reached", "A member can have at most %d keys, revoked ones included.", maxKeysPerUser)})
		return
	}
	apiKey, err := o.sys.newAPIKey()
	if err != nil {
		done(CreatedKey{}, err)
		return
	}
	made := CreatedKey{APIKey: apiKey, Key: pb.HashKey(apiKey), Label: label}
	now := clock.Millis(o.sys.clock.Now())
	b := storage.NewBatch(o.store)
	putKey(b, o.space, &pb.Key{Hash: made.Key[:], User: user.Bytes(), Label: label, Scopes: scopes, Status: keyActive, CreatedMs: now}, user)
	if err := with(b, made); err != nil {
		done(CreatedKey{}, err)
		return
	}
	o.sys.background(func(ctx context.Context) {
		if err := o.sys.cfg.Host.Directory().PutKey(ctx, made.Key, o.id); err != nil {
			done(CreatedKey{}, err)
			return
		}
		o.committer.submit(b, func(err error) { done(made, err) })
	})
}

func putKey(b *storage.Batch, space storage.Space, k *pb.Key, user pb.UserID) {
	hash := pb.KeyHash(k.GetHash())
	b.Put(space.Key(storage.TableKey, storage.Hash32(hash)), k)
	b.PutRaw(space.Key(storage.TableKeyByUser, storage.ID16(user), storage.U64(uint64(k.GetCreatedMs())), storage.Hash32(hash)), nil)
}

// revokeKey revokes a key of the caller. From the answer on, and in this
// actor's memory from now on, it authenticates nothing.
func (o *orgActor) revokeKey(c *call, op *pb.RevokeKey) {
	notFound := problem(codeKeyNotFound, "There is no such key of yours.")
	hash, err := pb.ParseKeyHash(op.GetId())
	if err != nil {
		c.refuse(notFound)
		return
	}
	o.exclusive("key "+op.GetId(), func(release func()) {
		k := &pb.Key{}
		var found bool
		err := o.withStore(func(st *storage.Store) (err error) {
			found, err = st.Get(o.space.Key(storage.TableKey, storage.Hash32(hash)), k)
			return err
		})
		switch {
		case err != nil:
			release()
			c.fail(err)
		case !found || string(k.GetUser()) != string(c.who.user[:]):
			release()
			c.refuse(notFound)
		case k.GetStatus() == keyRevoked:
			release()
			c.reply(&pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}})
		default:
			k.Status, k.RevokedMs = keyRevoked, clock.Millis(o.sys.clock.Now())
			b := storage.NewBatch(o.store)
			b.Put(o.space.Key(storage.TableKey, storage.Hash32(hash)), k)
			// The memory follows the store, not the other way round: a refused
			// revocation leaves the key working, as its answer says.
			o.committer.submit(b, func(err error) {
				o.tell(func(o *orgActor) {
					if err == nil {
						delete(o.keys, hash)
					}
					release()
					if err != nil {
						c.fail(err)
						return
					}
					c.reply(&pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}})
				})
			})
		}
	})
}
