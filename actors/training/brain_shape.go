package training

import (
	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
)

// SimilarityBatch is for how many passages one CPU task looks for the nearest others: some
// 20 ms.
const SimilarityBatch = 32

// JoinSimilar joins each text with the nearest others of its partition, as cycles do.
func (r *Run) JoinSimilar(st *storage.Store, parts []*partition.Ref, src *Source, snapshots []*index.Snapshot) error {
	near := make([][]community.Neighbour, len(src.Places)) // by passage, the nearest documents
	docs := make([]int32, 0, len(src.Places))
	for d := range src.Documents {
		for range src.Documents[d].Passages {
			docs = append(docs, int32(d))
		}
	}
	byID := make(map[pb.NodeID]int32, len(src.Documents))
	for d := range src.Documents {
		byID[src.Documents[d].ID] = int32(d)
	}
	var tasks []func(int) error
	for from := 0; from < len(near); from += SimilarityBatch {
		tasks = append(tasks, func(worker int) error {
			own := &r.Org.System.Computers[worker].Comparer
			for p := from; p < min(from+SimilarityBatch, len(near)); p++ {
				at := src.Places[p]
				q, err := r.likenessOf(st, parts[at.Part], at.Seq)
				if err != nil {
					return err
				}
				if q == nil { // it is like nothing; those behind it may be
					continue
				}
				for _, x := range own.Scratch.Candidates(snapshots[at.Part:at.Part+1], q) {
					if d, ok := byID[x.Node]; ok && d != docs[p] && x.Vector >= cognition.LeastSimilar {
						near[p] = append(near[p], community.Neighbour{Other: d, Cosine: float64(x.Vector)})
					}
				}
				own.Scratch.Reset()
			}
			return nil
		})
	}
	if err := r.compute(tasks...); err != nil {
		return err
	}
	src.JoinSimilar(near, docs, func(p int) *retriever.Shape { return src.shapes[src.Places[p].Part] })
	return nil
}

// likenessOf asks for what is near to a chunk; nil where it has no vector.
func (r *Run) likenessOf(st *storage.Store, part *partition.Ref, seq uint64) (*index.Query, error) {
	now, err := r.Org.Residents.Get(st, part, r.Org.System.Embedders.Dim)
	if err != nil {
		return nil, err
	}
	model := now.State.GetModel()
	v, err := partition.ReadVector(st, part, model, seq)
	if err != nil || v == nil {
		return nil, err
	}
	return r.Org.System.Embedders.LikenessQuery(model, v), nil
}
