package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/ground"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// insights are what the caller is told, by kind; asOf 0 is now.
func (c client) insights(asOf int64) map[string][]*pb.Insight {
	c.n.t.Helper()
	by := map[string][]*pb.Insight{}
	for _, i := range c.ok(recallOp(&pb.Recall{Type: pb.RecallInsights, AsOfMs: asOf})).GetMind().GetInsights().
		GetInsights() {
		by[i.GetKind()] = append(by[i.GetKind()], i)
	}
	return by
}

func titlesOf(all []*pb.Insight) (titles []string) {
	for _, i := range all {
		titles = append(titles, i.GetTitle())
	}
	return titles
}

// plainNotes are notes of two people in February 2026, before the time of the test's clock.
func plainNotes() []*pb.IngestItem {
	at := func(day int) int64 { return time.Date(2026, 2, day, 9, 0, 0, 0, time.UTC).UnixMilli() }
	var items []*pb.IngestItem
	for i, said := range []string{
		"Nadia takes care of the invoices from now on.",
		"The printer is jammed again.",
		"The opening of the shop is on 20 March.",
		"Lunch at the new place, it was good.",
		"printer jammed again, on the big sheets",
		"The council needs the floor plan by 15 March.",
		"Printer jam, third time this month.",
		"The opening of the shop has been moved to 27 March.",
		"Who can lend us a ladder for the front window?",
		"I will order a new kettle for the kitchen.",
		"The weather was fine and the street was full.",
	} {
		items = append(items, &pb.IngestItem{
			ExternalId: fmt.Sprint("note ", i), Content: said, OccurredMs: at(2 + 2*i),
			Metadata: fmt.Appendf(nil, `{"author":%q}`, []string{"Tom", "Dana"}[i%2]),
		})
	}
	return items
}

// Of ordinary notes is told who is responsible, what has changed, what is due, what comes
// back, what was promised and what was asked, each with its evidence and the time of its
// text, and called the same by the next cycle.
func TestInsightsOfOrdinaryNotes(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	items := plainNotes()
	var nodes []string
	for _, it := range c.ingest(items...).GetItems() {
		nodes = append(nodes, it.GetNode())
	}
	c.think()
	first := c.insights(0)
	for kind, want := range map[string][]int{ // which notes are the evidence
		"responsibility": {0}, "change": {7, 2}, "recurrence": {6, 4, 1}, "commitment": {9}, "open_question": {8},
	} {
		if len(first[kind]) != 1 {
			t.Errorf("%s: %q", kind, titlesOf(first[kind]))
			continue
		}
		i := first[kind][0]
		var grounds []string
		for _, k := range want {
			grounds = append(grounds, nodes[k])
		}
		if !slices.Equal(i.GetNodes(), grounds) || i.GetCreatedMs() != items[want[0]].GetOccurredMs() ||
			i.GetDetail() == "" || !(i.GetConfidence() > 0 && i.GetConfidence() <= 1) {
			t.Errorf("%s: %v, want the evidence %q of %d", kind, i, grounds, items[want[0]].GetOccurredMs())
		}
	}
	if got := titlesOf(first["due"]); !slices.Equal(got, []string{
		"The opening of the shop: 27 March 2026",
		"The council needs the floor plan by 15 March",
	}) {
		t.Errorf("due are %q", got)
	}
	if got := titlesOf(first["commitment"]); !slices.Equal(got,
		[]string{"Dana: I will order a new kettle for the kitchen"}) {
		t.Errorf("promised are %q", got)
	}
	c.note("The garden is large and green.")
	c.think()
	again := c.insights(0)
	for kind, all := range first {
		for k, i := range all {
			if len(again[kind]) != len(all) || string(again[kind][k].GetId()) != string(i.GetId()) ||
				again[kind][k].GetCreatedMs() != i.GetCreatedMs() {
				t.Errorf("%s was %v, and is %v", kind, all, again[kind])
			}
		}
	}
}

// An insight goes at once with any of the texts that it quotes, and the next cycle tells
// what is left of it; the others stay meanwhile.
func TestAnInsightGoesWithItsTexts(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	var nodes []string
	for _, it := range c.ingest(plainNotes()...).GetItems() {
		nodes = append(nodes, it.GetNode())
	}
	c.think()
	c.forget(nodes[6]) // of three about the printer
	now := c.insights(0)
	if len(now["recurrence"]) != 0 || len(now["due"]) != 2 || len(now["responsibility"]) != 1 {
		t.Errorf("behind forgetting: %v", now)
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "third time")
	c.forget(nodes[2]) // from when the opening was moved
	c.think()
	now = c.insights(0)
	if got := now["change"]; len(got) != 1 || strings.Contains(got[0].GetDetail(), "20 March") ||
		!slices.Equal(got[0].GetNodes(), []string{nodes[7]}) {
		t.Errorf("changes %v", got)
	}
	c.forget(nodes[0])
	c.forget(nodes[7])
	if now = c.insights(0); len(now["responsibility"]) != 0 || len(now["change"]) != 0 || len(now["due"]) != 1 {
		t.Errorf("behind forgetting: %v", now)
	}
	// Nothing is left under the texts that stand.
	for _, id := range ofPartition(c, org, storage.TableInsight, func() *pb.Insight { return &pb.Insight{} }) {
		for _, node := range id.GetNodes() {
			if slices.Contains([]string{nodes[0], nodes[2], nodes[6], nodes[7]}, node) {
				t.Errorf("%v rests on a forgotten text", id)
			}
		}
	}
	left := 0
	c.inOrg(func(o *tenant.Org) {
		space := memberOf(t, o, org.Owner).Space
		err := o.WithStore(func(st *storage.Store) error {
			keys, err := ground.RestingOn(st, space, pb.NodeID(nodes[4]), 0)
			for _, key := range keys {
				found, err := st.Get(key, &pb.Insight{})
				if key.Table() == storage.TableInsight && (err != nil || !found) {
					left++
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if left != 0 {
		t.Errorf("%d entries of insights that are gone", left)
	}
}

// A text that is replaced takes what it told along.
func TestAnInsightGoesWithATextThatIsReplaced(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(plainNotes()...)
	c.think()
	if got := c.insights(0)["responsibility"]; len(got) != 1 {
		t.Fatalf("%v", got)
	}
	other := plainNotes()[0]
	other.Content = "Nadia is away for a month."
	c.ingest(other)
	if got := c.insights(0)["responsibility"]; len(got) != 0 {
		t.Errorf("it outlives its text: %v", got)
	}
	c.think()
	if got := c.insights(0)["responsibility"]; len(got) != 0 {
		t.Errorf("it is back: %v", got)
	}
}

// What is due is told until its day is over, without a cycle that looks again, and of a
// time before as it was then.
func TestWhatIsDueIsOverWithItsDay(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(plainNotes()...)
	c.think()
	before := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	n.clock.Advance(14*24*time.Hour + 11*time.Hour) // to 15 March, 23:00
	if got := titlesOf(c.insights(0)["due"]); len(got) != 2 {
		t.Errorf("on its day due are %q", got)
	}
	n.clock.Advance(time.Hour)
	if got := titlesOf(c.insights(0)["due"]); !slices.Equal(got, []string{"The opening of the shop: 27 March 2026"}) {
		t.Errorf("the day after due are %q", got)
	}
	if got := titlesOf(c.insights(before)["due"]); len(got) != 2 {
		t.Errorf("as of 2 March due are %q", got)
	}
}

// What one of the newest texts told stays told when it is no more among these, as long as
// it stands.
func TestAnInsightOfATextThatIsNoMoreAmongTheNewest(t *testing.T) {
	withoutRace(t)
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	ground := c.ingest(plainNotes()[0]).GetItems()[0].GetNode()
	c.think()
	first := c.insights(0)["responsibility"]
	var items []*pb.IngestItem
	for i := range cognition.MaxInsightPassages {
		items = append(items, &pb.IngestItem{Content: fmt.Sprintf("w%d x%d y%d", i, i, i)})
	}
	for part := range slices.Chunk(items, 100) {
		c.ingest(part...)
	}
	c.think()
	if got := c.insights(0)["responsibility"]; len(first) != 1 || len(got) != 1 ||
		string(got[0].GetId()) != string(first[0].GetId()) {
		t.Errorf("%v, and before %v", got, first)
	}
	c.forget(ground)
	c.think()
	if got := c.insights(0)["responsibility"]; len(got) != 0 {
		t.Errorf("it outlives its text: %v", got)
	}
}
