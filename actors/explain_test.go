package actors

import (
	"math"
	"testing"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage/storagetest"
)

func (c client) searched(op *pb.Search) *pb.SearchResult {
	c.n.t.Helper()
	return c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: op}}).GetSearch()
}

// sums says whether the parts of an explanation are what its total is made of.
func sums(e *pb.HitExplained) bool {
	sum := e.GetMeaning() + e.GetWords() + e.GetPhrases() + e.GetNeighbours()
	sum += e.GetTime() + e.GetBrevity() + e.GetReading()
	return math.Abs(sum-e.GetTotal()) < 1e-5
}

// TestSearchExplainsItsHits: on request each hit has its places and the parts of its score. The hits are those of the
// same search without explanations.
func TestSearchExplainsItsHits(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, names, _ := parish(30)
	c.ingest(docs...)
	for _, mode := range []string{"", "vector", "keyword"} {
		op := &pb.Search{Query: "the mother of " + names[2], Mode: mode}
		plain := c.searched(op)
		op.Explain = true
		found := c.searched(op)
		if e := found.GetExplained(); e.GetNodes() < uint32(len(found.GetHits())) || e.GetPassages() < e.GetNodes() ||
			e.GetGate() != nil || plain.GetExplained() != nil {
			t.Errorf("mode %q went by %v", mode, e)
		}
		for i, h := range found.GetHits() {
			e := h.GetExplained()
			if e.GetRank() != uint32(i+1) || !sums(e) || math.Abs(e.GetTotal()-h.GetScore()) > 1e-6 || e.GetBrain() != nil ||
				(e.GetMeaningRank() == 0) != (mode == "keyword") || mode == "vector" && e.GetWordsRank() != 0 {
				t.Errorf("mode %q: hit %d of score %v: %v", mode, i, h.GetScore(), e)
			}
			h.Explained = nil
			if diff := prototest.Diff(plain.GetHits()[i], h); diff != "" {
				t.Errorf("mode %q, hit %d: %s", mode, i, diff)
			}
		}
	}
	one := c.searched(&pb.Search{Query: names[5], Explain: true}).GetHits()[0].GetExplained()
	if one.GetWordsRank() == 0 || one.GetWords() <= 0 || one.GetPhrases() <= 0 {
		t.Errorf("who is named has %v", one)
	}
}

// explained holds what a search that a brain ranks says of a question that names somebody.
func explained(t *testing.T, c client, query, name string) {
	t.Helper()
	found := c.searched(&pb.Search{Query: query, Explain: true})
	gate := found.GetExplained().GetGate()
	pull := 0.0
	for _, r := range gate.GetReasons() {
		pull += r.GetPull()
		if r.GetSign() == pb.GateSubjects && r.GetSeen() != 1 {
			t.Errorf("the gate does not see that a document is about %s: %v", name, gate)
		}
	}
	if math.Abs(1/(1+math.Exp(-pull))-gate.GetOpen()) > 1e-9 || found.GetExplained().GetTier() == "" {
		t.Errorf("the pulls come to %v: %v", pull, found.GetExplained())
	}
	walked := false
	for i, h := range found.GetHits() {
		e := h.GetExplained()
		b := e.GetBrain()
		if b.GetRank() != uint32(i+1) || !sums(e) || math.Abs(e.GetTotal()+b.GetChange()-b.GetTotal()) > 1e-6 ||
			math.Abs(b.GetWalk()+b.GetMeaning()+b.GetWords()+b.GetNear()-b.GetChange()) > 1e-6 {
			t.Errorf("hit %d: %v", i, e)
		}
		walked = walked || b.GetWalk() > 0 && b.GetSeen()
	}
	if !walked {
		t.Errorf("no hit owes anything to the walk: %v", found.GetHits())
	}
}
