package actors

import (
	"slices"
	"testing"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// TestNodesByExternalID finds a node by what a client calls it: the one that the id means now, of this partition alone,
// as far as the other filters let it pass.
func TestNodesByExternalID(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "ann"}}})
	ann := c.as("ann")
	node := func(c client, it *pb.IngestItem) string {
		return c.ingest(it).GetItems()[0].GetNode()
	}
	first := node(c, &pb.IngestItem{ExternalId: "bill", Content: "The bill is paid."})
	node(c, &pb.IngestItem{ExternalId: "bills", Content: "The bills are paid."})
	alias := node(c, &pb.IngestItem{ExternalId: "invoice", Content: "The bill is paid."})
	hers := node(ann, &pb.IngestItem{ExternalId: "bill", Content: "Ann owes a bill."})
	check := func(c client, op *pb.ListNodes, want ...string) {
		t.Helper()
		if got := c.nodes(op, 1); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", op, got, want)
		}
	}
	check(c, &pb.ListNodes{ExternalId: "bill"}, first)
	check(c, &pb.ListNodes{ExternalId: "invoice"}, alias)
	check(ann, &pb.ListNodes{ExternalId: "bill"}, hers)
	check(ann, &pb.ListNodes{ExternalId: "bills"})
	check(c, &pb.ListNodes{ExternalId: "bil"})

	second := node(c, &pb.IngestItem{ExternalId: "bill", Content: "The bill is overdue."})
	check(c, &pb.ListNodes{ExternalId: "bill"}, second)
	check(c, &pb.ListNodes{ExternalId: "bill", Q: "overdue"}, second)
	check(c, &pb.ListNodes{ExternalId: "bill", Q: "paid"})
	check(c, &pb.ListNodes{ExternalId: "bill", Status: pb.StatusSuperseded})
	check(c, &pb.ListNodes{ExternalId: "bill", Kind: "belief"})
	now := n.clock.Now().UnixMilli()
	check(c, &pb.ListNodes{ExternalId: "bill", CreatedBeforeMs: &now})
	check(c, &pb.ListNodes{ExternalId: "bill", CreatedAfterMs: &now}, second)
	// By ids: in the order asked, on one page, and never another partition's.
	check(c, &pb.ListNodes{Ids: []string{second, "ingest:none", alias, hers}}, second, alias)
	check(c, &pb.ListNodes{Ids: []string{alias, second}, CreatedBeforeMs: &now})
	check(ann, &pb.ListNodes{Ids: []string{second, hers}}, hers)
	c.forget(second)
	check(c, &pb.ListNodes{ExternalId: "bill"})
	check(c, &pb.ListNodes{Ids: []string{second, alias}}, alias)
	check(ann, &pb.ListNodes{ExternalId: "bill"}, hers)
}
