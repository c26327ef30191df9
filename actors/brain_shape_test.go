package actors

import (
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A passage that has no vector is like nothing, and keeps no other from being compared.
func TestWhatHasNoVectorIsPassedOver(t *testing.T) {
	c := client{n: startNode(t, storagetest.NewDisk(), drawn)}
	c.key = c.n.org(account.NewOrg{}).APIKey
	docs, _, _ := parish(training.SimilarityBatch) // one passage each: one batch
	c.ingest(docs...)
	st, err := c.n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Release()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	parts, err := view.AllPartitions(st)
	if err != nil {
		t.Fatal(err)
	}
	joined := func() (src *training.Source, documents int) {
		if src, err = training.ReadSource(st, parts, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		r := &training.Run{Trainer: &training.Trainer{Org: view}}
		snapshots, err := r.LiveSnapshots(st, parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.JoinSimilar(st, parts, src, snapshots); err != nil {
			t.Fatal(err)
		}
		ends := map[pb.NodeID]bool{}
		for _, x := range src.Ties {
			if x.Kind == retriever.TieSimilar {
				ends[x.From], ends[x.To] = true, true
			}
		}
		return src, len(ends)
	}
	src, before := joined()
	if before < training.SimilarityBatch/2 || len(src.Places) != training.SimilarityBatch {
		t.Fatalf("of %d passages %d are alike: the test says nothing", len(src.Places), before)
	}
	first := src.Places[0]
	c.derive(func(b *storage.Batch, _ storage.Space) {
		b.Delete(partition.VectorKey(parts[first.Part], "words", first.Seq))
	})
	if _, after := joined(); after < before-1 {
		t.Errorf("%d documents are alike, and %d where one of them has no vector", before, after)
	}
}
