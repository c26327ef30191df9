package actors

import (
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// TestDamagedOrganizationIsOutOfService: an organization whose tables are damaged answers
// 503 to everything and says why, whether it was awake or not; others go on. The operator
// sees it in the list, and can delete it.
func TestDamagedOrganizationIsOutOfService(t *testing.T) {
	t.Parallel()
	n, _ := erasing(t, storagetest.NewDisk())
	bad, good := n.org(account.NewOrg{}), n.org(account.NewOrg{
		Name: "Other", OwnerEmail: "o@example.com",
		Plan: pb.PlanUnlimited,
	})
	for _, o := range []account.CreatedOrg{bad, good} {
		client{n: n, key: o.APIKey}.ingest(doc("a", "Lena likes green tea"))
	}
	n.stop() // flushes the stores
	disk := n.disk.Crash(0, 0)
	id := tenant.MainStoreOf(bad.Org)
	disk.FlipTables(t, id)

	n, l := erasing(t, disk)
	c := client{n: n, key: bad.APIKey}
	for range 3 {
		for _, op := range []*pb.Envelope{find("tea"), items(doc("b", "another"))} {
			if p := c.refused(pb.CodeServiceDegraded, op); !strings.Contains(p.GetDetail(), "damaged") ||
				p.GetRetryAfterS() == 0 {
				t.Errorf("%T: %v", op.GetOp(), p)
			}
		}
	}
	if hits := (client{n: n, key: good.APIKey}).search(&pb.Search{Query: "tea", TopK: 3}); len(hits) == 0 {
		t.Error("the other organization finds nothing")
	}
	page, err := n.sys.Orgs(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Orgs {
		if damaged := strings.Contains(e.OutOfService, ".sst"); damaged != (e.Org == bad.Org) {
			t.Errorf("%s in the list: %q", e.Slug, e.OutOfService)
		}
	}
	info, err := n.sys.Org(t.Context(), bad.Org)
	if err != nil || info.OutOfService == "" || info.Slug != bad.Slug {
		t.Errorf("shown: %+v, %v", info, err)
	}
	if !strings.Contains(string(l.Bytes()), "out of service") {
		t.Error("the log does not say it")
	}
	if err := n.sys.DeleteOrg(t.Context(), bad.Org); err != nil {
		t.Errorf("delete it: %v", err)
	}
	if err := n.store.OutOfService(id); err != nil {
		t.Errorf("it is deleted, and %v", err)
	}
}

// TestDeletionLogsNoError: the deletion of an organization that has work to do and is awake
// is no failure.
func TestDeletionLogsNoError(t *testing.T) {
	t.Parallel()
	n, l := erasing(t, storagetest.NewDisk())
	for range 3 {
		o := n.org(account.NewOrg{})
		c := client{n: n, key: o.APIKey}
		for range 5 {
			c.ok(items(doc("a", "Lena likes green tea"), doc("b", "Tom likes the mountains")))
		}
		if err := n.sys.DeleteOrg(t.Context(), o.Org); err != nil {
			t.Fatal(err)
		}
	}
	n.stop()
	for line := range strings.Lines(string(l.Bytes())) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "opens again") {
			t.Error(line)
		}
	}
}
