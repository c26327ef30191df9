package actors

import (
	"testing"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// TestWebhooksMoveWithTheirOrganization takes the organization from one node to the
// other while it delivers, again and again: whoever leads goes on where the last one
// was, without anybody asking, and what two of them deliver is the same event. At the
// end the one that led is no more.
func TestWebhooksMoveWithTheirOrganization(t *testing.T) {
	const moves, each = 6, 40
	in := newInbox(t)
	w := startTownWith(t, in.allow, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	w.at("a").client(made.APIKey).ok(newWebhook(in.url, "*"))
	total := 0
	leads, rests := wire.ServerID("a"), wire.ServerID("b")
	for range moves {
		w.at(leads).happen(made.Org, pb.EventInsightProposed, total, each)
		total += each
		leads, rests = rests, leads
		w.lead(leads)
	}
	w.at(leads).waitFor(func() bool { return len(distinct(in.letters())) == total })

	w.at(leads).happen(made.Org, pb.EventInsightProposed, total, each)
	total += each
	w.lead("") // it is gone, and nobody knows better yet
	w.lead(rests)
	w.at(rests).waitFor(func() bool { return len(distinct(in.letters())) == total })
}
