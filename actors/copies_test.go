package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// texts are the passages of some hits.
func texts(hits []*pb.Hit) (all []string) {
	for _, h := range hits {
		all = append(all, h.GetChunk())
	}
	return all
}

// fall tells whether scores fall from hit to hit.
func fall(hits []*pb.Hit) bool {
	return slices.IsSortedFunc(hits, func(a, b *pb.Hit) int {
		switch {
		case a.GetScore() > b.GetScore():
			return -1
		case a.GetScore() < b.GetScore():
			return 1
		}
		return 0
	})
}

const ovenNote = "The oven of the northern mill burns wood of the old orchard"

// mill tells of an oven, five times in the same words, and of seven other things.
func mill(c client) {
	var its []*pb.IngestItem
	for i, form := range []string{"%s.", "**%s**", "> %s!", "%s;", " %s …"} {
		its = append(its, doc(fmt.Sprint("oven", i), fmt.Sprintf(form, ovenNote)))
	}
	for i, of := range strings.Fields("cellar attic garden stairs kitchen pond fence") {
		its = append(its, doc(fmt.Sprint("other", i), "The "+of+" of the mill is where the wood for the oven lies."))
	}
	c.ingest(its...)
}

func ovens(hits []*pb.Hit) (n int) {
	for _, h := range hits {
		if strings.Contains(h.GetChunk(), ovenNote) {
			n++
		}
	}
	return n
}

// TestAPageIsNotSpentOnCopies: what says the same as a hit before it stands behind all that does not, is reached by a
// larger page, and says on request what it copies.
//
// interface: Endpoints/Search
func TestAPageIsNotSpentOnCopies(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	mill(c)
	const query = "which wood does the oven of the northern mill burn"
	small := c.search(&pb.Search{Query: query, TopK: 5})
	if len(small) != 5 || ovens(small) != 1 || ovens(small[:1]) != 1 || !fall(small) {
		t.Errorf("a small page: %q", texts(small))
	}
	found := c.searched(&pb.Search{Query: query, TopK: 12, Explain: true}).GetHits()
	if len(found) != 12 || ovens(found) != 5 || ovens(found[:8]) != 1 || !fall(found) {
		t.Fatalf("a large page: %q", texts(found))
	}
	for i, h := range found {
		want := ""
		if i >= 8 {
			want = found[0].GetNode()
		}
		if h.GetDuplicateOf() != want || !sums(h.GetExplained()) || h.GetExplained().GetRank() == 0 ||
			h.GetExplained().GetTotal() < h.GetScore()-1e-6 {
			t.Errorf("hit %d copies %q: %v", i, h.GetDuplicateOf(), h)
		}
	}
	if got := c.search(&pb.Search{Query: query, TopK: 4, Mode: "keyword"}); ovens(got) != 4 {
		t.Errorf("by words alone: %q", texts(got))
	}
	if got := c.search(&pb.Search{Query: query, TopK: 4, IncludeSuperseded: true}); ovens(got) != 4 {
		t.Errorf("versions and all: %q", texts(got))
	}
	for _, topK := range []uint32{5, 12} {
		r := c.ok(&pb.Envelope{Op: &pb.Envelope_Mind{Mind: &pb.MindOp{Op: &pb.MindOp_Retrieve{
			Retrieve: &pb.Retrieve{Query: query, TopK: topK, MaxHops: 1},
		}}}}).GetMind().GetRetrieved()
		hits := r.GetHits()
		if len(hits) != int(topK) || ovens(hits[:5]) != 1 || !fall(hits) || len(r.GetPaths()) != len(hits) {
			t.Errorf("retrieved: %q", texts(hits))
		}
		for i, p := range r.GetPaths() {
			if p.GetNodes()[len(p.GetNodes())-1] != hits[i].GetNode() || p.GetActivation() != hits[i].GetScore() {
				t.Errorf("hit %d, %v, is reached by %v", i, hits[i], p)
			}
		}
	}
	s := c.ok(&pb.Envelope{Op: &pb.Envelope_Mind{Mind: &pb.MindOp{Op: &pb.MindOp_ConditionScaffold{
		ConditionScaffold: &pb.ConditionScaffold{Prompt: query},
	}}}}).GetMind().GetScaffold()
	if strings.Count(s.GetPrompt(), ovenNote) != 2 || // with its title, which is the same
		!strings.Contains(s.GetPrompt(), "pond") {
		t.Errorf("a scaffold of copies: %s", s.GetPrompt())
	}
}

// TestWhatIsLikeACopyIsNone: notes that differ in a number, a negation or a name, in the title or headings that they
// stand under or, if they are short, in who wrote them or the day, keep their places.
func TestWhatIsLikeACopyIsNone(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	for i, x := range []struct {
		query string
		shown int // of the two notes, on a page of two
		notes [2]*pb.IngestItem
	}{
		{"the invoice", 1, [2]*pb.IngestItem{{Content: "Invoice of the miller"}, {Content: "invoice of the miller."}}},
		{"the invoice", 2, [2]*pb.IngestItem{{Content: "Invoice 41 of the miller"}, {Content: "Invoice 42 of the miller"}}},
		{"is the door locked", 2, [2]*pb.IngestItem{{Content: "The door is locked"}, {Content: "The door is not locked"}}},
		{"who has the key", 2, [2]*pb.IngestItem{{Content: "Ann has the key."}, {Content: "Ben has the key."}}},
		{"how was the work", 2, [2]*pb.IngestItem{
			{Title: "Ann's review", Content: "The work was good"}, {Title: "Ben's review", Content: "The work was good."},
		}},
		{"how was the work", 1, [2]*pb.IngestItem{
			{Title: "Ann's review", Content: "The work was good"}, {Title: "Re: Ann's review", Content: "The work was good."},
		}},
		{"who is away", 2, [2]*pb.IngestItem{
			{Content: "I am away on Friday", Metadata: []byte(`{"author":"Ann"}`)},
			{Content: "I am away on Friday.", Metadata: []byte(`{"author":"Ben"}`)},
		}},
		{"who ran", 2, [2]*pb.IngestItem{
			{Content: "Ran to the mill", OccurredMs: day("2026-01-03")},
			{Content: "Ran to the mill.", OccurredMs: day("2026-01-04")},
		}},
		{"flour and the old cellar", 1, [2]*pb.IngestItem{
			{Content: strings.Repeat("The flour of the mill lies in the old cellar. ", 3), OccurredMs: day("2026-01-03")},
			{
				Content:    "> " + strings.Repeat("The flour of the mill lies in the old cellar. ", 3),
				OccurredMs: day("2026-01-04"), Metadata: []byte(`{"author":"Ben"}`),
			},
		}},
	} {
		c := client{n: n, key: n.org(account.NewOrg{OwnerEmail: fmt.Sprintf("x%d@example.com", i)}).APIKey}
		c.ingest(x.notes[:]...)
		c.ingest(doc("other", "Nothing here is like anything else."))
		got := c.search(&pb.Search{Query: x.query, TopK: 2})
		other := len(got) == 2 && strings.HasPrefix(got[1].GetChunk(), "Nothing")
		if len(got) != 2 || other != (x.shown == 1) {
			t.Errorf("%q: %q", x.query, texts(got))
		}
	}
}

// TestTheLatestOfCopiesIsShown: of texts that say the same equally well, the one in front is the latest.
func TestTheLatestOfCopiesIsShown(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("first", ovenNote+"."))
	n.clock.Advance(3 * time.Hour)
	c.ingest(doc("second", ovenNote+"!"))
	n.clock.Advance(3 * time.Hour)
	c.ingest(doc("third", ovenNote+";"))
	got := c.search(&pb.Search{Query: "the oven of the mill"})
	if len(got) != 3 || got[0].GetExternalId() != "third" || !fall(got) ||
		got[1].GetDuplicateOf() != got[0].GetNode() || got[2].GetDuplicateOf() != got[0].GetNode() {
		t.Errorf("%v", got)
	}
}

// TestCopiesOfMembersAreOne: in a search of the whole organization a text that two have is one, and a few words that
// two have written are not.
func TestCopiesOfMembersAreOne(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	long := strings.Repeat(ovenNote+", and its smoke goes over the pond. ", 2)
	for _, who := range []string{"anna", "ben", "carl"} {
		c.put(who)
		c.as(who).ingest(doc("", long), doc("", "I am away on Friday, the oven is cold."))
	}
	got := c.search(&pb.Search{Query: "where does the smoke of the oven go", OrgScope: true, TopK: 4})
	if len(got) != 4 || ovens(got) != 1 {
		t.Errorf("%q", texts(got))
	}
	again := c.search(&pb.Search{Query: "where does the smoke of the oven go", OrgScope: true, TopK: 6})
	if len(again) != 6 || ovens(again) != 3 || ovens(again[:4]) != 1 {
		t.Errorf("%q", texts(again))
	}
}

// TestCopiesAreReadOnce: where the reader reads what leads, a copy has what was found of its first, and costs nothing.
func TestCopiesAreReadOnce(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), answering(t, readertest.Rules{Answers: map[string]float64{"orchard": 4}}))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	mill(c)
	c.ok(patchSettings("thorough", nil))
	found := c.searched(&pb.Search{Query: "which wood does the oven of the mill burn", TopK: 12, Explain: true}).GetHits()
	if len(found) != 12 || ovens(found[:1]) != 1 || ovens(found[:8]) != 1 {
		t.Fatalf("%q", texts(found))
	}
	for _, h := range found {
		if h.GetDuplicateOf() != "" && h.GetExplained().GetReading() != found[0].GetExplained().GetReading() {
			t.Errorf("a copy: %v", h)
		}
	}
	if found[0].GetExplained().GetReading() <= 0 {
		t.Errorf("nothing was read: %v", found[0])
	}
}
