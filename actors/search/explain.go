package search

import (
	"cmp"
	"slices"
	"strings"

	"orgmem/actors/partition"
	"orgmem/actors/training"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
)

// compared is what a search looked at, kept for explaining its hits. A nil one explains nothing.
type compared struct {
	q      *index.Query
	chunks map[training.ChunkID]index.Candidate
	// Places of nodes from 1 on: by the score, by likeness of meaning and by words.
	rank, meaning, words map[pb.NodeID]uint32
}

// compare keeps what the candidates of a search say. The scores that they are ranked by must be in them.
func compare(parts []*partition.Ref, candidates []index.Candidate, q *index.Query) *compared {
	c := &compared{q: q, chunks: make(map[training.ChunkID]index.Candidate, len(candidates))}
	kept := slices.Clone(candidates)
	for i := range kept {
		kept[i].Node = pb.NodeID(strings.Clone(string(kept[i].Node))) // shares memory that the scratch lets go of
		c.chunks[training.ChunkID{Part: parts[kept[i].Part].ID, Seq: kept[i].Seq}] = kept[i]
	}
	c.rank = placesBy(kept, func(x *index.Candidate) float32 { return x.Score })
	if q.Mode != index.KeywordOnly {
		c.meaning = placesBy(kept, func(x *index.Candidate) float32 { return x.Vector })
	}
	if q.Mode != index.VectorOnly {
		kept = slices.DeleteFunc(kept, func(x index.Candidate) bool { return x.Keyword == 0 })
		c.words = placesBy(kept, func(x *index.Candidate) float32 { return x.Keyword })
	}
	return c
}

// placesBy gives the places of the candidates' nodes, each by the best of its chunks.
func placesBy(all []index.Candidate, score func(*index.Candidate) float32) map[pb.NodeID]uint32 {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(x, y index.Candidate) int {
		return cmp.Or(cmp.Compare(score(&y), score(&x)), cmp.Compare(x.Part, y.Part), cmp.Compare(x.Seq, y.Seq))
	})
	places := make(map[pb.NodeID]uint32, len(order))
	for i := range order {
		if _, known := places[order[i].Node]; !known {
			places[order[i].Node] = uint32(len(places) + 1)
		}
	}
	return places
}

// result explains the search as a whole.
func (c *compared) result() *pb.SearchExplained {
	return &pb.SearchExplained{Passages: uint32(len(c.chunks)), Nodes: uint32(len(c.rank))}
}

// hit explains a passage that search compared.
func (c *compared) hit(at training.ChunkID, node pb.NodeID) (*pb.HitExplained, bool) {
	x, ok := c.chunks[at]
	if !ok {
		return nil, false
	}
	p := c.q.Parts(&x)
	return &pb.HitExplained{
		Rank: c.rank[node], MeaningRank: c.meaning[node], WordsRank: c.words[node],
		Meaning: float64(p.Meaning), Words: float64(p.Words), Phrases: float64(p.Phrases), Neighbours: float64(p.Neighbours),
		Time: float64(p.Time), Brevity: float64(p.Brevity), Reading: float64(p.Reading), Total: float64(x.Score),
	}, true
}

// byBrain explains what a walk found, in the order in which the brain ranks it: a passage that search has not compared
// has nothing but its likeness.
func (c *compared) byBrain(
	w *retriever.Walk, a *training.BrainQuery, n *training.Brain, found []walked,
) *pb.SearchExplained {
	out := c.result()
	out.Gate = w.ExplainGate()
	ranked := make([]retriever.Ranked, 0, len(found))
	for i := range found {
		f := &found[i]
		ranked = append(ranked, f.Ranked)
		node := pb.NodeID(f.node.GetId())
		told, ok := c.hit(chunkOf(a, n, &f.Ranked), node)
		if !ok {
			told = &pb.HitExplained{
				Rank: c.rank[node], MeaningRank: c.meaning[node], WordsRank: c.words[node],
				Meaning: float64(f.Cosine), Total: float64(f.Seed.Score),
			}
		}
		told.Brain = w.Explain(&f.Ranked)
		told.Brain.Rank = uint32(i + 1)
		f.hit.Explained = told
	}
	out.Tier = string(w.Tier(ranked))
	return out
}

// chunkOf gives the chunk of a passage that a walk ranked.
func chunkOf(a *training.BrainQuery, n *training.Brain, r *retriever.Ranked) training.ChunkID {
	if r.From >= 0 {
		c := a.Candidates[r.From]
		return training.ChunkID{Part: a.Parts[c.Part].ID, Seq: c.Seq}
	}
	return n.Chunks[r.Passage]
}
