package actors

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestLostKeysLeaveTheDirectory: keys that lead to an organization which does not know
// them, as a crash between the two leaves them and as another node may still believe,
// authenticate nothing, and are dropped. Those that it has stay.
func TestLostKeysLeaveTheDirectory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	second := c.ok(createKey("")).GetNewKey().GetApiKey()
	lost := func(i int) string { return fmt.Sprint("lost ", i) }
	for i := range account.MinLostKeys {
		if err := n.host.Directory().PutKey(t.Context(), pb.HashKey(lost(i)), org.Org); err != nil {
			t.Fatal(err)
		}
	}
	client{n: n, key: lost(7)}.refused(pb.CodeAuthentication, listKeys())
	n.waitFor(func() bool {
		n.clock.Advance(time.Minute)
		c.ok(listKeys()) // or it would leave memory
		return n.host.Directory().KeyCount(org.Org) == 2
	})
	client{n: n, key: lost(7)}.refused(pb.CodeAuthentication, listKeys())
	client{n: n, key: second}.ok(listKeys())
}

// TestGoneKeysLeaveTheDirectory: of a mint that was not stored, of the sandbox when
// their time has passed, and of a member who is removed no key stays in the directory.
func TestGoneKeysLeaveTheDirectory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	left := func(want int) {
		t.Helper()
		n.waitFor(func() bool { return n.host.Directory().KeyCount(org.Org) == want })
	}
	err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
		tenant.ModuleOf[*account.Keys](&o.View).Mint(&pb.Key{User: org.Owner.Bytes()},
			func(ch *commit.Change, k account.CreatedKey) error {
				ch.PutRaw(o.Space.Key(storage.TableKeyUse, storage.Hash32(k.Key)), make([]byte, storage.MaxBatchBytes))
				return nil
			}, func(_ account.CreatedKey, err error) { done(err) })
	})
	if !errors.Is(err, storage.ErrBatchTooLarge) {
		t.Errorf("a key that cannot be stored: %v", err)
	}
	left(1)

	mem, err := n.sys.AddMember(t.Context(), org.Org, "two@example.com", pb.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := n.sys.CreateKey(t.Context(), account.NewKey{
			Org: org.Org, User: mem.User,
			Scopes: []string{pb.ScopeRead},
		}); err != nil {
			t.Fatal(err)
		}
	}
	left(3)
	if err := n.sys.RemoveMember(t.Context(), org.Org, mem.User); err != nil {
		t.Fatal(err)
	}
	left(1)

	c.ok(createSandboxKey(time.Hour))
	left(2)
	n.clock.Advance(2 * time.Hour)
	n.waitFor(func() bool {
		n.clock.Advance(time.Minute)
		c.ok(listKeys())
		return n.host.Directory().KeyCount(org.Org) == 1
	})
}

// TestFullDirectoryIsSaid: who meets the bounds of the directory is told which.
func TestFullDirectoryIsSaid(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	full := fmt.Errorf("%w: %w", wire.ErrNotApplied, wire.ErrDirectoryFull)
	p := (&tenant.View{System: n.sys.System, ID: org.Org}).ProblemOf(full, "")
	if p.GetCode() != pb.CodeServiceDegraded || p.GetRetryAfterS() != tenant.RetryAfterNoSpaceSeconds ||
		p.GetDetail() != "The cluster holds its maximum of keys: no more can be made until some are deleted." {
		t.Errorf("%v", p)
	}
}
