package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// tagged has texts tagged by a reader that takes these words for something, and all others for nothing.
func tagged(t *testing.T) func(*tenant.Config, *storage.Options) {
	t.Helper()
	r, err := readertest.Tagging(map[string]readertest.Tag{
		"mara": {Type: reader.Person}, "voss": {Type: reader.Person, Inside: true}, "kofi": {Type: reader.Person},
		"helios":    {Type: reader.Project},
		"friday":    {Type: reader.Time, Tense: reader.Past},
		"wednesday": {Type: reader.Time, Tense: reader.Recurring},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(c *tenant.Config, _ *storage.Options) { c.Reader = r }
}

// told is what is known of a memory's entities, with their types, and the days of its timeline.
func (c client) told() (entities, days []string) {
	c.n.t.Helper()
	for _, n := range c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{
		Kind: graph.KindEntity, Page: &pb.Page{Size: 100},
	}}})).GetGraph().GetNodes().GetNodes() {
		_, kind, _ := strings.Cut(string(n.GetNode().GetMetadata()), `"entityType":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		entities = append(entities, kind+" "+n.GetNode().GetTitle())
	}
	for _, m := range c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetMoments() {
		days = append(days, time.UnixMilli(m.GetAtMs()).UTC().Format(time.DateOnly))
	}
	slices.Sort(entities)
	slices.Sort(days)
	return entities, days
}

// TestTextsAreTaggedAsTheyAreTakenIn: what a node's reader finds in a text becomes its entities and its timeline;
// what it takes for no name and for no single day does not. Without a reader the rules decide.
func TestTextsAreTaggedAsTheyAreTakenIn(t *testing.T) {
	t.Parallel()
	const text = "Mara Voss shows Helios to Acme Corp on Friday. The choir meets on Wednesday."
	written := time.Date(2027, 5, 5, 12, 0, 0, 0, time.UTC).UnixMilli() // a Wednesday
	for name, x := range map[string]struct {
		configure      []func(*tenant.Config, *storage.Options)
		entities, days []string
	}{
		"by the reader": {
			[]func(*tenant.Config, *storage.Options){thinking, tagged(t)},
			[]string{"person Mara Voss", "project Helios"},
			[]string{"2027-04-30"},
		},
		"by the rules": {
			[]func(*tenant.Config, *storage.Options){thinking},
			[]string{"organization Acme Corp", "other Helios", "person Mara Voss"},
			[]string{"2027-05-05", "2027-05-07"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk(), x.configure...)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			c.ingest(&pb.IngestItem{Content: text, OccurredMs: written})
			c.think()
			if entities, days := c.told(); !slices.Equal(entities, x.entities) || !slices.Equal(days, x.days) {
				t.Errorf("%q and %q, want %q and %q", entities, days, x.entities, x.days)
			}
		})
	}
}

// TestLongTextsAreTaggedWhole: texts of one job are tagged each for itself, also those that several workers share.
func TestLongTextsAreTaggedWhole(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking, tagged(t))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	filler := strings.Repeat("The office is in the old town. Nobody knows since when.\n\n", 400) // some stretches
	items := []*pb.IngestItem{{Content: filler + "Kofi has the key.\n\n" + filler + "Mara Voss has the other."}}
	for i := range 12 {
		items = append(items, &pb.IngestItem{Content: fmt.Sprintf("Note %d: Helios is on time.", i)})
	}
	c.ingest(items...)
	if entities, _ := c.told(); !slices.Equal(entities, []string{"person Kofi", "person Mara Voss", "project Helios"}) {
		t.Errorf("%q", entities)
	}
}

// TestTaggedMentions: what a text names hangs on that text, and a name that comes again is the entity that it was.
func TestTaggedMentions(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking, tagged(t))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(&pb.IngestItem{Title: "First", Content: "The budget of Helios grows, and Kofi has signed it."})
	c.ingest(&pb.IngestItem{Title: "Second", Content: "They installed Helios on the laptop, and it crashed twice."})
	entities, _ := c.told()
	if !slices.Equal(entities, []string{"person Kofi", "project Helios"}) {
		t.Errorf("%q", entities)
	}
	var named []string
	for _, id := range c.edges(&pb.ListEdges{Type: string(graph.EdgeMentions)}, 100) {
		e := c.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge()
		text, entity := c.nodeOf(e.GetSource()), c.nodeOf(e.GetTarget())
		named = append(named, entity.GetTitle()+" in "+text.GetTitle())
	}
	slices.Sort(named)
	if !slices.Equal(named, []string{"Helios in First", "Helios in Second", "Kofi in First"}) {
		t.Errorf("%q", named)
	}
}

// TestStatementsThatTheReaderSees: a sentence in which no rule finds a preference, and the node's reader does, becomes
// one. Without the reader nothing is kept.
func TestStatementsThatTheReaderSees(t *testing.T) {
	t.Parallel()
	r, err := readertest.Classing(map[string]reader.Class{"sooner": reader.Preference}, "jane")
	if err != nil {
		t.Fatal(err)
	}
	sees := func(c *tenant.Config, _ *storage.Options) { c.Reader = r }
	for name, x := range map[string]struct {
		configure []func(*tenant.Config, *storage.Options)
		want      []string
	}{
		"by the reader": {
			[]func(*tenant.Config, *storage.Options){thinking, sees},
			[]string{`Jane would sooner run in the rain. {"object":"run in the rain","polarity":1,"speaker":"Jane"}`},
		},
		"by the rules": {[]func(*tenant.Config, *storage.Options){thinking}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk(), x.configure...)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			c.ingest(&pb.IngestItem{Content: "The club met.\n\nJane would sooner run in the rain. It is open."})
			var got []string
			for _, n := range c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{
				Kind: "preference", Page: &pb.Page{Size: 100},
			}}})).GetGraph().GetNodes().GetNodes() {
				got = append(got, n.GetNode().GetTitle()+" "+string(n.GetNode().GetMetadata()))
			}
			if !slices.Equal(got, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}
