package search

import (
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Asker is the working memory of questions that no request asks, such as those by which a memory's quality is
// measured. It remembers none of them, and belongs to one goroutine at a time.
type Asker struct{ searcher }

// NewAsker makes one. What it works in it takes with the first question, and keeps.
func NewAsker() *Asker { return &Asker{searcher{Reader: &tenant.Reader{}}} }

// Ask searches a memory as a request of its owner would, the brain included where one serves. It is counted for nobody.
func (o *Module) Ask(
	a *Asker, st *storage.Store, part *partition.Ref, query string, topK int,
) (*pb.SearchResult, error) {
	c := &tenant.Call{Org: &o.View, Part: part}
	return o.find(c, st, []*partition.Ref{part}, &pb.Search{Query: query, TopK: uint32(topK)}, &a.searcher)
}
