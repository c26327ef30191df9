package cognition

import (
	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// near sets all texts of a small memory against each other: of notes of a few words hardly two are alike outright, and
// they would be in no domain. A memory that is not small has nothing here.
func (c domainsStage) near() (ties []community.Edge, err error) {
	passages := c.FewPassages()
	if len(passages) == 0 {
		return nil, nil
	}
	model := c.hot.State.GetModel()
	seen, line := c.org.System.Embedders.Themes(model)
	err = c.compute([]func(int) error{func(worker int) error {
		var reader partition.VectorReader
		var vectors [][]float32
		words := make([][]text.Term, len(passages))
		analyzer := &c.comparer(worker).Analyzer
		err := c.org.WithStore(func(st *storage.Store) (err error) {
			seqs := make([]uint64, len(passages))
			for i, p := range passages {
				seqs[i] = p.Seq
				chunk := &pb.Chunk{}
				if _, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(p.Seq)), chunk); err != nil {
					return err
				}
				words[i] = analyzer.Passage("", chunk.GetText()).Sequence
			}
			vectors, err = reader.ReadAll(st, c.part, model, seqs)
			return err
		})
		for i, v := range vectors {
			if len(v) > 0 {
				vectors[i] = seen(v)
			}
		}
		if err == nil {
			ties = community.Near(cognition.Texts(passages, vectors, words), line.Factor, line.Offset)
		}
		return err
	}})
	return ties, err
}
