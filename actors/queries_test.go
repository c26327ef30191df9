package actors

import (
	"strings"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What a partition has asked it is not made to wait for again; no other partition or
// organization is answered faster for it, and a purge forgets it.
func TestQueriesAreRememberedForThoseWhoAsked(t *testing.T) {
	const query = "where is the marzipan"
	var embedded atomic.Int64
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) {
		c.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if strings.Contains(s, query) {
				embedded.Add(1)
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for _, who := range []string{"ann", "bob"} {
		c.put(who)
		c.as(who).ingest(doc("a", "The marzipan of "+who+" is in the cellar."))
	}
	ann, bob := c.as("ann"), c.as("bob")
	asks := func(who client, op *pb.Search, want int64) uint64 {
		t.Helper()
		embedded.Store(0)
		found := who.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: op}}).GetSearch()
		if len(found.GetHits()) == 0 || embedded.Load() != want {
			t.Errorf("%d hits, the query was embedded %d times, want %d", len(found.GetHits()), embedded.Load(), want)
		}
		return found.GetEmbedTokens()
	}
	first := asks(ann, &pb.Search{Query: query}, 1)
	if again := asks(ann, &pb.Search{Query: query, TopK: 3}, 0); again != first || first == 0 {
		t.Errorf("%d tokens, and then %d", first, again)
	}
	asks(bob, &pb.Search{Query: query}, 1)
	asks(c, &pb.Search{Query: query, OrgScope: true}, 1)
	asks(c, &pb.Search{Query: query, OrgScope: true}, 0)

	token := c.ok(dryPurge("ann")).GetData().GetPurge().GetConfirmToken()
	c.ok(confirmPurge("ann", token))
	asks(c, &pb.Search{Query: query, OrgScope: true}, 1) // it was asked of ann's memory, too
	asks(bob, &pb.Search{Query: query}, 0)

	other := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	other.ingest(doc("a", "The marzipan of another house."))
	asks(other, &pb.Search{Query: query}, 1)
}
