package actors

import (
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestQuestionsAskAboutATime: what is of the time that a question asks about is found first, reckoned from when it is
// asked, and the rest stays; other modes rank as before.
//
// interface: Endpoints/Search
func TestQuestionsAskAboutATime(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	on := func(text string, date string) *pb.IngestItem {
		return &pb.IngestItem{Content: text, OccurredMs: day(date)}
	}
	c.ingest(
		on("The council talked about the harbour, the bridge and the ferry.", "2023-05-09"),
		on("The council talked about the harbour, the bridge and the market.", "2024-11-02"),
		on("The council talked about the harbour, the bridge and the school.", "2025-07-20"),
		on("The council talked about the harbour, the bridge and the library.", "2026-02-27"), // two days before now
	)
	for question, want := range map[string]string{
		"What did the council say about the harbour and the bridge in May 2023?":   "ferry",
		"What did the council say about the harbour and the bridge in autumn 2024": "market",
		"What did the council say about the harbour and the bridge last summer?":   "school",
		"What did the council say about the harbour and the bridge two days ago?":  "library",
	} {
		hits := c.search(&pb.Search{Query: question})
		if len(hits) != 4 || !strings.Contains(hits[0].GetChunk(), want) {
			t.Errorf("%s: %v", question, hits)
		}
	}
	const question = "What did the council say about the harbour last summer?"
	before := c.search(&pb.Search{Query: question, Mode: "vector"})
	n.clock.Advance(400 * 24 * time.Hour)
	for i, h := range c.search(&pb.Search{Query: question, Mode: "vector"}) {
		if h.GetNode() != before[i].GetNode() || h.GetScore() != before[i].GetScore() {
			t.Errorf("mode vector ranks by time: %v", h)
		}
	}
	hits := c.search(&pb.Search{Query: question})
	if len(hits) != 4 || hits[0].GetScore()-hits[3].GetScore() > .15 {
		t.Errorf("a year later nothing is of last summer, but one is lifted: %v", hits)
	}
}

// TestWhatSpeaksOfATimeIsOfIt: a note that was written long before the time that is asked about, and has a moment of
// the timeline in it, is lifted like one of that time.
func TestWhatSpeaksOfATimeIsOfIt(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("The dentist has an appointment for the family and the dog.")
	spoken := c.note("The dentist has an appointment for the family and the cat.")
	const question = "Which appointment with the dentist was there in May 2023?"
	score := func() float64 {
		for _, h := range c.search(&pb.Search{Query: question}) {
			if h.GetNode() == spoken {
				return h.GetScore()
			}
		}
		return 0
	}
	before := score()
	c.derive(func(b *storage.Batch, space storage.Space) {
		graph.PutMoment(b, space, &pb.Moment{Id: derivedN(1), Node: spoken, AtMs: day("2023-05-31")})
	})
	if after := score(); after < before+.15 {
		t.Errorf("%f, and %f without the moment", after, before)
	}
	c.derive(func(b *storage.Batch, space storage.Space) {
		b.Delete(space.Key(storage.TableMoment, storage.I64Desc(day("2023-05-31")), storage.ID16(pb.DerivedID(derivedN(1)))))
		graph.PutMoment(b, space, &pb.Moment{Id: derivedN(2), Node: spoken, AtMs: day("2023-06-01")})
	})
	if after := score(); after != before {
		t.Errorf("%f with a moment of the month after, %f without any", after, before)
	}
}
