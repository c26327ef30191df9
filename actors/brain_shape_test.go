package actors

import (
	"fmt"
	"slices"
	"testing"

	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A training joins what is alike and cuts domains out of what there is, in whatever
// order that came; what a person has taken apart stays so, and what people have put
// together is a domain beside those that were found.
func TestBrainShapes(t *testing.T) {
	t.Parallel()

	const documents = 8 // two topics of four
	id := func(i int) pb.NodeID { return pb.NodeID(fmt.Sprint("n", i)) }
	build := func(backwards bool, apart ...[2]pb.NodeID) *brainSource {
		src, shape := &brainSource{}, newBrainShape()
		src.shapes = []*brainShape{shape}
		near := make([][]likeness, documents)
		docs := make([]int32, documents)
		for i := range documents {
			n := &pb.Node{Id: string(id(i))}
			if i == 0 || i == documents-1 {
				n.Placed, n.Domain = true, "people's own"
			}
			shape.hold(n)
			src.Documents = append(src.Documents, retriever.Document{ID: id(i), Passages: []string{"text"}})
			src.places = append(src.places, chunkPlace{0, uint64(i + 1)})
			docs[i] = int32(i)
			for other := i / 4 * 4; other < i/4*4+4; other++ {
				if other != i {
					near[i] = append(near[i], likeness{int32(other), 0.9})
				}
			}
			if backwards {
				slices.Reverse(near[i])
			}
		}
		for _, pair := range apart {
			shape.apart[pair] = true
		}
		if backwards {
			shape.join(id(4), id(5), "works_for", 0.5)
			shape.join(id(0), id(1), "works_for", 0.5)
		} else {
			shape.join(id(0), id(1), "works_for", 0.5)
			shape.join(id(4), id(5), "works_for", 0.5)
		}
		src.join(near, docs)
		return src
	}
	src := build(false, [2]pb.NodeID{id(2), id(3)})
	if len(src.Ties) != 11 { // six of each topic
		t.Errorf("%d ties: %v", len(src.Ties), src.Ties)
	}
	for _, x := range src.Ties {
		if x.Kind != retriever.TieSimilar || min(x.From, x.To) == id(2) && max(x.From, x.To) == id(3) {
			t.Errorf("%+v", x)
		}
	}
	got := src.shapes[0].domains()
	want := []retriever.Domain{{id(0), id(1), id(2), id(3)}, {id(4), id(5), id(6), id(7)}, {id(0), id(7)}}
	slices.SortFunc(got[:max(0, len(got)-1)], slices.Compare) // of those that were found, whichever is first
	if !slices.EqualFunc(got, want, func(a, b retriever.Domain) bool { return slices.Equal(a, b) }) {
		t.Errorf("domains %v, want %v", got, want)
	}
	one, two := build(false).shapes[0].domains(), build(true).shapes[0].domains()
	if !slices.EqualFunc(one, two, func(a, b retriever.Domain) bool { return slices.Equal(a, b) }) {
		t.Errorf("in another order %v, and %v", two, one)
	}
}

// A passage that has no vector is like nothing, and keeps no other from being compared.
func TestWhatHasNoVectorIsPassedOver(t *testing.T) {
	c := client{n: startNode(t, storagetest.NewDisk(), drawn)}
	c.key = c.n.org(NewOrg{}).APIKey
	docs, _, _ := parish(likeBatch) // one passage each: one batch
	c.ingest(docs...)
	st, err := c.n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Release()
	var view *orgView
	c.inOrg(func(o *orgActor) { view = &o.orgView })
	parts, err := view.allPartitions(st)
	if err != nil {
		t.Fatal(err)
	}
	joined := func() (src *brainSource, documents int) {
		if src, err = readBrainSource(st, parts, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		r := &trainRun{trainer: &trainer{org: view}}
		snapshots, err := r.withoutGone(st, parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.alike(st, parts, src, snapshots); err != nil {
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
	if before < likeBatch/2 || len(src.places) != likeBatch {
		t.Fatalf("of %d passages %d are alike: the test says nothing", len(src.places), before)
	}
	first := src.places[0]
	c.derive(func(b *storage.Batch, _ storage.Space) {
		b.Delete(vectorKey(parts[first.part], "words", first.seq))
	})
	if _, after := joined(); after < before-1 {
		t.Errorf("%d documents are alike, and %d where one of them has no vector", before, after)
	}
}
