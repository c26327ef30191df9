package actors

import (
	"fmt"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// BenchmarkSearch is a search below the edge at 10,000 chunks, with a model that
// costs nothing.
func BenchmarkSearch(b *testing.B) {
	// the service's own
	n := startNode(b, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) { o.CacheBytes = 64 << 20 })
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for from := 0; from < 10_000; from += 1000 {
		var its []*pb.IngestItem
		for i := from; i < from+1000; i++ {
			its = append(its,
				doc(fmt.Sprint(i),
					fmt.Sprintf("Entry number%d speaks of topic%d and of matter%d, at some length, for the sake of a passage that "+
						"is about as long as those of real notes, with words that many of them share and words%d that few do.", i, i%70,
						i%700, i%1500)))
		}
		c.ingest(its...)
	}
	for _, mode := range []string{"hybrid", "keyword", "vector"} {
		b.Run(mode, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				if got := c.search(&pb.Search{
					Query: fmt.Sprintf("what matter%d says of topic%d", i%700, i%70),
					Mode:  mode,
				}); len(got) != 10 {
					b.Fatalf("%d hits", len(got))
				}
			}
		})
	}
}

// BenchmarkAccept is the acceptance of one small item by 64 clients at once.
func BenchmarkAccept(b *testing.B) {
	n := startNode(b, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			c.ok(items(doc("", "A note of three hundred bytes or so, which is accepted and waits for its turn.")))
		}
	})
}
