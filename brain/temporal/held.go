package temporal

import (
	"math"

	"orgmem/brain/claim"
	pb "orgmem/proto"
)

// HeldAt reports whether what a node says held at a time, in Unix milliseconds; 0 is any.
func HeldAt(n *pb.Node, at int64) bool { return HeldBetween(n.GetValidFromMs(), n.GetValidToMs(), at) }

// HeldBetween is HeldAt for a time that begins and perhaps ends; 0 is no end.
func HeldBetween(from, to, at int64) bool { return at == 0 || from <= at && (to == 0 || at < to) }

// CurrentFirst lets no hit stand before one that gives a later value to the same
// facts, as far as was known at a time; 0 is now. nodes are those of the hits.
// Places change, the scores that belong to them do not. See Current.
func CurrentFirst(hits []*pb.Hit, nodes []*pb.Node, asOf int64) {
	if len(hits) < 2 {
		return
	}
	if asOf == 0 {
		asOf = math.MaxInt64
	}
	stated := make([]Stated, len(hits))
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
	for i, from := range Current(stated, asOf) {
		hits[i] = before[from]
		hits[i].Score = scores[i]
	}
}
