package claim

import pb "orgmem/proto"

// maxFacts bounds the facts that are kept of one text: one that states more is
// about many things, and no later text replaces it as a whole.
const (
	maxFacts      = 8
	maxFactsBytes = maxFacts * 1000 // each is a sentence
)

// Facts are the facts that a text states, none where these are many.
func (r *Reader) Facts(s Source) (facts []*pb.StatedFact) {
	if len(s.Text) > maxFactsBytes {
		return nil
	}
	for _, c := range r.Read(s) {
		if c.Fact.Key != 0 {
			facts = append(facts, &pb.StatedFact{Key: uint64(c.Fact.Key), Value: c.Fact.Same})
		}
	}
	if len(facts) > maxFacts {
		return nil
	}
	return facts
}
