package retriever_test

import (
	"fmt"
	"slices"
	"testing"

	"orgmem/brain/community"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
)

// A training joins what is alike and cuts domains out of what there is, in whatever
// order that came; what a person has taken apart stays so, and what people have put
// together is a domain beside those that were found.
func TestShapes(t *testing.T) {
	t.Parallel()

	const documents = 8 // two topics of four
	id := func(i int) pb.NodeID { return pb.NodeID(fmt.Sprint("n", i)) }
	build := func(backwards bool, apart ...[2]pb.NodeID) (*retriever.Source, *retriever.Shape) {
		src, shape := &retriever.Source{}, retriever.NewShape()
		near := make([][]community.Neighbour, documents)
		docs := make([]int32, documents)
		for i := range documents {
			n := &pb.Node{Id: string(id(i))}
			if i == 0 || i == documents-1 {
				n.Placed, n.Domain = true, "people's own"
			}
			shape.Hold(n)
			src.Documents = append(src.Documents, retriever.Document{ID: id(i), Passages: []string{"text"}})
			docs[i] = int32(i)
			for other := i / 4 * 4; other < i/4*4+4; other++ {
				if other != i {
					near[i] = append(near[i], community.Neighbour{Other: int32(other), Cosine: 0.9})
				}
			}
			if backwards {
				slices.Reverse(near[i])
			}
		}
		for _, pair := range apart {
			shape.KeepApart(pair[0], pair[1])
		}
		if backwards {
			shape.Join(id(4), id(5), community.Related, 0.5)
			shape.Join(id(0), id(1), community.Related, 0.5)
		} else {
			shape.Join(id(0), id(1), community.Related, 0.5)
			shape.Join(id(4), id(5), community.Related, 0.5)
		}
		src.JoinSimilar(near, docs, func(int) *retriever.Shape { return shape })
		return src, shape
	}
	src, shape := build(false, [2]pb.NodeID{id(2), id(3)})
	if len(src.Ties) != 11 { // six of each topic
		t.Errorf("%d ties: %v", len(src.Ties), src.Ties)
	}
	for _, x := range src.Ties {
		if x.Kind != retriever.TieSimilar || min(x.From, x.To) == id(2) && max(x.From, x.To) == id(3) {
			t.Errorf("%+v", x)
		}
	}
	got := shape.Domains()
	want := []retriever.Domain{{id(0), id(1), id(2), id(3)}, {id(4), id(5), id(6), id(7)}, {id(0), id(7)}}
	slices.SortFunc(got[:max(0, len(got)-1)], slices.Compare) // of those that were found, whichever is first
	if !slices.EqualFunc(got, want, func(a, b retriever.Domain) bool { return slices.Equal(a, b) }) {
		t.Errorf("domains %v, want %v", got, want)
	}
	_, forwards := build(false)
	_, backwards := build(true)
	one, two := forwards.Domains(), backwards.Domains()
	if !slices.EqualFunc(one, two, func(a, b retriever.Domain) bool { return slices.Equal(a, b) }) {
		t.Errorf("in another order %v, and %v", two, one)
	}
}
