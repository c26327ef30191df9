package actors

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A request that was admitted and waits while its memory begins to be erased
// writes nothing behind the erasure.
func TestAnErasedMemoryTakesNothingIn(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	for name, op := range map[string]*pb.Envelope{
		"ingest": items(doc("a", "a text")), "import": file("a.txt", "a text"),
		"export": createExport(false),
	} {
		made := n.org(account.NewOrg{Name: "Acme", OwnerEmail: name + "@example.com", Plan: pb.PlanUnlimited})
		c := client{n: n, key: made.APIKey}
		c.put("ann")
		erase, late := tenant.NewCall(c.envelope(eraseOp("ann"))), tenant.NewCall(c.as("ann").envelope(op))
		c.inOrg(func(o *tenant.Org) { // both wait for the directory's mark, in this order
			o.Handle(erase)
			o.Handle(late)
		})
		n.wait(jobOf(<-erase.Done))
		if r := <-late.Done; r.GetProblem().GetCode() != pb.CodeSubjectNotProvisioned {
			t.Errorf("%s: %v", name, r)
		}
		n.settle(storage.StoreID{Org: made.Org, Realm: storage.RealmMain})
		c.inOrg(func(o *tenant.Org) {
			if len(o.InMemory()) > 0 || o.OpenJobs() != 0 {
				t.Errorf("%s: %d actors, %d open jobs", name, len(o.InMemory()), o.OpenJobs())
			}
		})
	}
}

// interface: Endpoints/DELETE /v1/me
func TestARemovedMembersConnectorsGo(t *testing.T) {
	_, allow := receiver(t, nil)
	n, l := erasing(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	_, leaver := n.recruit(org.Org, "two@example.com", pb.RoleMember)
	p := &planter{seed: "connector"}
	config := func(token string) *pb.Envelope {
		return connectorOp(fmt.Sprintf(`{"url":"https://public.example/r.git","token":%q}`, token))
	}
	owner.ok(config("the owner's"))
	leaver.ok(config(p.next()))
	leaver.ok(config(p.next()))
	// One more is on its way: its address is being looked up.
	late, leave := tenant.NewCall(leaver.envelope(config(p.next()))), tenant.NewCall(leaver.envelope(deleteMe()))
	owner.inOrg(func(o *tenant.Org) {
		o.Handle(leave)
		o.Handle(late)
	})
	if r := <-leave.Done; r.GetProblem() != nil {
		t.Fatal(r)
	}
	<-late.Done // before or behind
	store := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
	n.settle(store)
	if left := records(n, store, storage.TableConnector,
		func() *pb.Connector { return &pb.Connector{} }); len(left) != 1 || pb.UserID(left[0].GetUser()) != org.Owner {
		t.Errorf("left: %v", left)
	}
	p.gone(t, n, l)
}

func TestADeletedWebhookLeavesNoByte(t *testing.T) {
	_, allow := receiver(t, nil)
	disk := storagetest.NewDisk()
	n := startNode(t, disk, allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	p := &planter{seed: "webhook"}
	hook := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_CreateWebhook{CreateWebhook: &pb.CreateWebhook{
		Url: "https://public.example/" + p.next(), EventTypes: []string{pb.EventWebhookTest},
	}}})).GetLink().GetWebhook()
	n.stop() // so that it lies in the store's files, not in its log only
	if where := disk.Find(t, hook.GetSecret()); len(where) > 0 {
		t.Errorf("the secret lies open in %v", where)
	}
	p.there(t, n)
	n, l := erasing(t, disk, allow)
	c.n = n
	id := pb.WebhookID(hook.GetId()).String()
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: id}}}))
	if err := n.host.Erase(t.Context(), storage.StoreID{Org: org.Org, Realm: storage.RealmMain}); err != nil {
		t.Fatal(err)
	}
	p.gone(t, n, l)
}

// What somebody still wants to read of a removed organization does not make its
// store anew.
func TestAPieceOfARemovedOrganizationsExport(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ingest(doc("a", "a text"))
	e := c.ok(downloadExport(c.export(true))).GetData().GetDownload()
	if err := n.sys.DeleteOrg(t.Context(), org.Org); err != nil {
		t.Fatal(err)
	}
	store := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
	exists := func() bool {
		there, err := n.store.Exists(store)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	n.waitFor(func() bool { n.clock.Advance(account.RemovalPause); return !exists() })
	if _, err := n.sys.ExportPiece(t.Context(), e, 0); err == nil {
		t.Error("it is still sent")
	}
	if exists() {
		t.Error("the store is there again")
	}
}

func TestASubjectIsNobodysUser(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("ann")
	user := pb.UserID(c.as("ann").partition().ID)
	if k, err := n.sys.CreateKey(t.Context(), account.NewKey{
		Org: org.Org, User: user,
		Scopes: []string{pb.ScopeRead},
	}); !errors.Is(err, tenant.ErrUserNotFound) {
		t.Errorf("a key %v, %v", k, err)
	}
	part := fmt.Sprintf(`{"partition":{"id":"x","kind":"member"},"user":%q}`, user)
	if r, err := n.sys.Restore(t.Context(), org.Org, []byte(part)); !errors.Is(err, tenant.ErrUserNotFound) {
		t.Errorf("restored %v, %v", r, err)
	}
}

// Whoever reads settings while a document comes back reads the restored ones
// afterwards.
func TestRestoredSettingsAreRead(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	read := func(who client) string {
		return who.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})).GetAccount().
			GetSettings().GetQualityMode()
	}
	for i := range 20 {
		name := fmt.Sprint("subject ", i)
		c.put(name)
		who := c.as(name)
		read(who)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					read(who)
				}
			}
		})
		part := fmt.Sprintf(`{"partition":{"id":"x","kind":"subject","subject":%q,"settings":{"qualityMode":"thorough"}}}`,
			name)
		_, err := n.sys.Restore(t.Context(), org.Org, []byte(part))
		close(stop)
		wg.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if got := read(who); got != "thorough" {
			t.Fatalf("%s: %q", name, got)
		}
	}
}
