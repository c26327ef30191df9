package account

import (
	"errors"
	"iter"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const sandboxKeyPrefix = "svc_sandbox_"

// MaxSandboxKeys bounds an organization's sandbox keys.
// Expired ones leave.
const MaxSandboxKeys = 1000

// sandboxScopes are what every sandbox key may do.
var sandboxScopes = []string{pb.ScopeRead, pb.ScopeWrite}

// handleSandboxKeys begins what is asked of the sandbox's keys.
func (o *Keys) handleSandboxKeys(c *tenant.Call, op *pb.AccountOp) bool {
	switch op := op.GetOp().(type) {
	case *pb.AccountOp_ListSandboxKeys:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			return o.sandboxKeysPage(st, op.ListSandboxKeys.GetPage())
		})
	case *pb.AccountOp_CreateSandboxKey:
		o.createSandboxKey(c, op.CreateSandboxKey)
	case *pb.AccountOp_RevokeSandboxKey:
		o.revoke(c, op.RevokeSandboxKey.GetId(), pb.ActionSandboxKeyRevoke, (*pb.Key).GetSandbox)
	default:
		return false
	}
	return true
}

// createSandboxKey makes a key for the sandbox. It is never replayed: a retry
// makes another.
func (o *Keys) createSandboxKey(c *tenant.Call, op *pb.CreateSandboxKey) {
	life := time.Duration(op.GetTtlS()) * time.Second
	if life == 0 {
		life = o.System.Config.SandboxKeyLife
	}
	order := &pb.Key{
		User: c.Principal.User.Bytes(), Scopes: sandboxScopes, Label: op.GetLabel(), Sandbox: true,
		ExpiresMs: clock.Millis(o.System.Clock.Now().Add(life)),
	}
	o.Exclusive(tenant.SandboxLock, func(release func()) {
		ref, err := o.SandboxRef()
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		o.Mint(order, func(ch *commit.Change, k CreatedKey) (err error) {
			if ref == nil {
				if ref, err = o.NewSandbox(ch.Batch); err != nil {
					return err
				}
			}
			ch.Audit(c.AuditOf("sandbox_key.create", k.Key.String()))
			return nil
		}, func(k CreatedKey, err error) {
			o.InMailbox(func() {
				if err == nil {
					o.RememberSandbox(ref)
				}
				release()
				if refusal, ok := errors.AsType[refusalError](err); ok {
					c.Refuse(refusal.problem)
					return
				}
				if err != nil {
					c.Fail(err)
					return
				}
				c.Reply(&pb.Reply{
					Status: 201,
					Result: &pb.Reply_Account{Account: &pb.AccountResult{Result: &pb.AccountResult_NewSandboxKey{
						NewSandboxKey: &pb.NewSandboxKey{
							ApiKey: k.APIKey, Id: k.Key.String(), Label: k.Label, Scopes: sandboxScopes,
							Subject: string(tenant.SandboxSubject), ExpiresMs: order.GetExpiresMs(),
						},
					}}},
				})
			})
		})
	})
}

// sandboxKeyIndex is a sandbox key's place in the list.
func (o *Keys) sandboxKeyIndex(k *pb.Key) storage.Key {
	return o.Space.Key(storage.TableSandboxKey, storage.U64Desc(uint64(k.GetCreatedMs())),
		storage.Hash32(pb.KeyHash(k.GetHash())))
}

func (o *Keys) deleteSandboxKey(b *storage.Batch, k *pb.Key) {
	o.deleteKey(b, pb.KeyHash(k.GetHash()))
	b.Delete(o.sandboxKeyIndex(k))
}

// sandboxKeys reads the sandbox's keys with their uses, newest first.
func (o *Keys) sandboxKeys(r storage.Reader) iter.Seq2[*pb.Key, error] {
	return func(yield func(*pb.Key, error) bool) {
		for item, err := range r.Scan(o.Space.Prefix(storage.TableSandboxKey), storage.ScanOptions{}) {
			var k *pb.Key
			if err == nil {
				k, err = o.keyAt(r, item, true)
			}
			if k == nil && err == nil {
				continue
			}
			if !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// dropExpired removes the sandbox's keys that have expired, and says which those are.
func (o *Keys) dropExpired(b *storage.Batch, r storage.Reader) (gone []pb.KeyHash, err error) {
	now := clock.Millis(o.System.Clock.Now())
	for k, err := range o.sandboxKeys(r) { // at most MaxSandboxKeys
		if err != nil {
			return gone, err
		}
		if k.GetExpiresMs() <= now {
			o.deleteSandboxKey(b, k)
			gone = append(gone, pb.KeyHash(k.GetHash()))
		}
	}
	return gone, nil
}

// sandboxKeysPage pages through the sandbox's keys that have not expired, newest
// first. It lists those of all members.
func (o *Keys) sandboxKeysPage(r storage.Reader, page *pb.Page) (*pb.Reply, error) {
	kind := tenant.CursorKind{List: "sandbox keys"}
	now := clock.Millis(o.System.Clock.Now())
	entries, next, p, err := tenant.PageOfKeys(&o.View, r, o.Space.Prefix(storage.TableSandboxKey), kind, page,
		MaxSandboxKeys, func(item storage.Item) (*pb.Key, bool, error) {
			k, err := o.keyAt(r, item, true)
			return k, k != nil && k.GetExpiresMs() > now, err
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_SandboxKeys{
		SandboxKeys: &pb.SandboxKeyList{Keys: entries, NextCursor: next},
	}}), err
}
