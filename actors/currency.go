package actors

import (
	"math"

	"orgmem/brain/claim"
	"orgmem/brain/moments"
	pb "orgmem/proto"
)

// heldAt reports whether what a node says held at a time; 0 is any.
func heldAt(n *pb.Node, at int64) bool { return heldBetween(n.GetValidFromMs(), n.GetValidToMs(), at) }

// heldBetween is heldAt for a time that begins and perhaps ends; 0 is no end.
func heldBetween(from, to, at int64) bool { return at == 0 || from <= at && (to == 0 || at < to) }

// maxFacts bounds the facts that are kept of one text: one that states more is
// about many things, and no later text replaces it as a whole.
const maxFacts = 8

// factsOf are the facts that a text states, none where these are many.
func factsOf(r *claim.Reader, item *pb.IngestItem, speaker string) (facts []*pb.StatedFact) {
	if len(item.GetContent()) > maxFacts*maxStatement {
		return nil
	}
	for _, c := range r.Read(claim.Source{Text: item.GetContent(), Title: item.GetTitle(), Speaker: speaker}) {
		if c.Fact.Key != 0 {
			facts = append(facts, &pb.StatedFact{Key: uint64(c.Fact.Key), Value: c.Fact.Same})
		}
	}
	if len(facts) > maxFacts {
		return nil
	}
	return facts
}

// currentFirst lets no hit stand before one that gives a later value to the same
// facts, as far as was known at a time; 0 is now. nodes are those of the hits.
// Places change, the scores that belong to them do not.
func currentFirst(hits []*pb.Hit, nodes []*pb.Node, asOf int64) {
	if len(hits) < 2 {
		return
	}
	if asOf == 0 {
		asOf = math.MaxInt64
	}
	stated := make([]moments.Stated, len(hits))
	states := 0
	for i, n := range nodes {
		stated[i].AtMs = n.GetValidFromMs()
		for _, f := range n.GetFacts() {
			stated[i].Facts = append(stated[i].Facts, claim.Fact{Key: claim.Key(f.GetKey()), Same: f.GetValue()})
		}
		if len(n.GetFacts()) > 0 {
			states++
		}
	}
	if states < 2 {
		return
	}
	before := make([]*pb.Hit, len(hits))
	scores := make([]float64, len(hits))
	for i, h := range hits {
		before[i], scores[i] = h, h.GetScore()
	}
	for i, from := range moments.Current(stated, asOf) {
		hits[i] = before[from]
		hits[i].Score = scores[i]
	}
}
