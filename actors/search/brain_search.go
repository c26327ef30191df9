package search

import (
	"cmp"
	"errors"
	"math"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

// scoreFall is how quickly scores fall with what a brain thinks of a hit.
const scoreFall = 4

// findByBrain lets the organization's brain rank what a search finds and what that
// leads to; nil: there is none, or it is not for this search. A brain knows neither
// filters nor other modes, nothing of the sandbox, and it costs several times what
// the index does, which quality mode fast declines. It walks over nothing outside
// parts. The first hit's score is the best that the index gave; the others' fall from
// there, since a brain's own figures have no scale and may be negative.
func (o *Module) findByBrain(c *tenant.Call, st *storage.Store, parts []*partition.Ref, op *pb.Search,
	rd *searcher,
) (*pb.SearchResult, error) {
	if searchModes[op.GetMode()] != index.Hybrid || op.GetFilters() != nil || op.GetIncludeSuperseded() ||
		c.Part.Kind == pb.PartitionSandbox {
		return nil, nil
	}
	if s, err := c.Org.Residents.Settings(st, c.Part); err != nil || s.Quality == partition.QualityFast {
		return nil, err
	}
	n, err := tenant.ModuleOf[*training.Module](c.Org).Brain(st)
	if errors.Is(err, training.ErrNotTrained) || errors.Is(err, training.ErrNotReady) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all *compared
	var keep func([]index.Candidate, *index.Query)
	if op.GetExplain() {
		keep = func(candidates []index.Candidate, q *index.Query) { all = compare(parts, candidates, q) }
	}
	w, a, err := o.walkFrom(c, st, parts, n, op.GetQuery(), keep, rd)
	if err != nil {
		return nil, err
	}
	topK := int(cmp.Or(op.GetTopK(), DefaultTopK))
	p := rd.page(st)
	defer p.done()
	found, err := p.fillByBrain(topK, func(most int) ([]walked, error) {
		return foundBy(a, n, w.Passages(most+training.MaxSeeds), most, func(*pb.Node) bool { return true })
	})
	if err != nil {
		return nil, err
	}
	if len(found) < topK && a.More {
		return nil, nil // the best are all chunks of a few documents: the index looks further
	}
	out := &pb.SearchResult{EmbedTokens: uint64(a.Lookup.Tokens), BrainVersion: n.Artifact.GetVersion()}
	if all != nil {
		out.Explained = all.byBrain(w, a, n, found)
	}
	var top float32
	if len(a.Seeds) > 0 {
		top = a.Seeds[0].Score
	}
	for _, f := range found {
		f.hit.Score = float64(top) * math.Exp(scoreFall*(f.Total-found[0].Total))
	}
	if err := p.currentFirst(0); err != nil {
		return nil, err
	}
	for _, i := range p.arrange(topK) {
		out.Hits = append(out.Hits, p.found[i].hit)
	}
	out.ReadUnits = tenant.UnitsOf(len(out.Hits))
	c.ReadUnits += out.GetReadUnits()
	c.EmbedTokens += out.GetEmbedTokens()
	return out, nil
}
