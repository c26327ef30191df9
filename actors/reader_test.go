package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What a reader of the views would find odd, and no rule of the interface names.

// An entity, and what a text says of it, is there since the first time of which a text
// tells it, in whatever order the texts come.
func TestAnEntityHoldsSinceTheFirstTextThatNamesIt(t *testing.T) {
	day := func(d int) int64 { return time.Date(2025, 1, d, 0, 0, 0, 0, time.UTC).UnixMilli() }
	for _, order := range [][]int{{20, 10}, {10, 20}} {
		n := startNode(t, storagetest.NewDisk(), thinking)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		for _, d := range order {
			c.ingest(&pb.IngestItem{Content: fmt.Sprintf("On day %d: Maria Lopez works for Globex.", d), OccurredMs: day(d)})
		}
		then := func(asOf int64) string {
			g := c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph, AsOfMs: asOf})).GetMind().GetGraph()
			titles := map[string]string{}
			for _, x := range g.GetNodes() {
				titles[x.GetId()] = x.GetTitle()
			}
			var all []string
			for _, e := range g.GetEdges() {
				if e.GetType() == "works_for" {
					all = append(all, titles[e.GetSource()]+" works for "+titles[e.GetTarget()])
				}
			}
			return fmt.Sprintf("%d nodes; %s", len(g.GetNodes()), strings.Join(all, "; "))
		}
		for at, want := range map[int64]string{
			day(5): "0 nodes; ", day(15): "3 nodes; Maria Lopez works for Globex",
			day(25): "4 nodes; Maria Lopez works for Globex", 0: "4 nodes; Maria Lopez works for Globex",
		} {
			if got := then(at); got != want {
				t.Errorf("in the order %v, as of %v: %s", order, time.UnixMilli(at).UTC(), got)
			}
		}
		n.stop()
	}
}

// meeting is a text of some passages about a crane, in which somebody states much else.
func meeting() string {
	var b strings.Builder
	for k := range 30 {
		fmt.Fprintf(&b, "I think that tea number %d is too cold.\n\n", k)
		b.WriteString(strings.Repeat("The harbour crane lifts the heavy containers from the quay and sets them onto the "+
			"ship. ", 3) + "\n\n")
	}
	return b.String()
}

// A text of which many statements were read speaks for its domain with all its passages,
// and stands itself among what is recent.
func TestStatementsDoNotCrowdTheirTextOut(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ingest(&pb.IngestItem{Title: "Meeting of the harbour board", Content: meeting()})
	c.think()
	stated := len(c.titles("belief")) + len(c.titles("preference"))
	if stated < 20 {
		t.Fatalf("%d statements", stated)
	}
	labels := ""
	for _, d := range ofPartition(c, org, storage.TableDomain, func() *pb.Domain { return &pb.Domain{} }) {
		labels += strings.ToLower(d.GetLabel()) + "\n"
	}
	if !strings.Contains(labels, "crane") {
		t.Errorf("domains %q", labels)
	}
	pack := c.ok(sessionOp(org.Org, org.Owner, "/harbour")).GetMind().GetPack()
	if !slices.Equal(pack.GetContext(), []string{"Meeting of the harbour board"}) {
		t.Errorf("recent %q", pack.GetContext())
	}
}

// The title of a moment is a line.
func TestAMomentIsToldInOneLine(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note("Dana: We open the new hall on 3 May 2027\nLee: and nobody\nwill be late.")
	c.think()
	all := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetMoments()
	for _, m := range all {
		if strings.ContainsAny(m.GetTitle(), "\n\r") {
			t.Errorf("%q", m.GetTitle())
		}
	}
	if len(all) == 0 {
		t.Error("no moment")
	}
}
