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
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// zirconTexts are texts about two things, and of a firm that has to do with both. One
// word of the one thing names its domain, what joins the two, its trend and its basin,
// and stands in texts only of which none has to do with the firm.
func zirconTexts() (items []*pb.IngestItem) {
	at := func(day int) int64 { return time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC).UnixMilli() }
	for k := range 12 {
		items = append(items,
			&pb.IngestItem{OccurredMs: at(10 + 2*k), Content: fmt.Sprintf("The cook put %d zircon into jars.", k)},
			&pb.IngestItem{OccurredMs: at(2 * k), Content: fmt.Sprintf("The plumber put %d valves onto boilers.", k)})
	}
	for k := range 12 { // as many as make a topic
		if k < 4 {
			items = append(items, &pb.IngestItem{
				OccurredMs: at(3 * k),
				Content:    fmt.Sprintf("The cook put %d into jars, Initech.", k),
			})
		}
		items = append(items, &pb.IngestItem{
			OccurredMs: at(3 * k),
			Content:    fmt.Sprintf("The plumber put boilers of the plumber onto boilers %d for Initech.", k),
		})
	}
	return append(items, &pb.IngestItem{OccurredMs: at(30), Content: "Bo is responsible for the zircon."},
		&pb.IngestItem{OccurredMs: at(31), Content: "I prefer zircon in jars."},
		&pb.IngestItem{OccurredMs: at(32), Content: "I still prefer zircon in jars."})
}

// What is forgotten between any two commits of a cycle is in nothing that the cycle
// writes behind that, whether it is the first that finds it or goes on with labels of
// before, and also where the nodes are restored meanwhile, which holds no content.
func TestACycleWritesNothingThatIsForgottenMeanwhile(t *testing.T) {
	for _, way := range []struct {
		name             string
		earlier, restore bool
	}{{"first cycle", false, false}, {"second cycle", true, false}, {"restored", false, true}} {
		for at, forgot := 1, true; forgot; at += storagetest.LessUnderRace(t, 1, 3) {
			t.Run(fmt.Sprintf("%s, behind commit %d", way.name, at), func(t *testing.T) {
				forgot = forgetsInACycle(t, at, way.earlier, way.restore)
			})
		}
	}
}

// forgetsInACycle forgets what names zircon behind a commit of a cycle; false where it has
// fewer commits.
func forgetsInACycle(t *testing.T, at int, earlier, restore bool) (forgot bool) {
	var c client
	var secrets []string
	writes, watched := 0, !earlier
	n := startNode(t, storagetest.NewDisk(), thinking, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.CycleWrote = func(func()) {
			if !watched {
				return
			}
			if writes++; writes != at {
				return
			}
			forgot = true
			ops := []func(string) *pb.Envelope{forgetOp}
			if restore {
				ops = append(ops, undeleteOp)
			}
			for _, id := range secrets {
				for _, op := range ops {
					if p := c.ask(op(id)).GetProblem(); p != nil {
						t.Errorf("%s: %s", p.GetCode(), p.GetDetail())
					}
				}
			}
		}
	})
	defer n.stop()
	org := n.org(account.NewOrg{})
	c = client{n: n, key: org.APIKey}
	items := zirconTexts()
	for i, it := range c.ingest(items...).GetItems() {
		if strings.Contains(items[i].GetContent(), "zircon") {
			secrets = append(secrets, it.GetNode())
		}
	}
	if earlier {
		c.think()
		watched = true
		c.ingest(&pb.IngestItem{
			OccurredMs: items[0].GetOccurredMs(),
			Content:    "The plumber put the last valves onto boilers.",
		})
	}
	c.think() // no later cycle begins: the clock stands as soon as this one runs
	if forgot {
		n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "zircon")
		for _, id := range drawnNodes(n.storedPlot(org)) {
			if slices.Contains(secrets, id) {
				t.Errorf("the plot still has %s", id)
			}
		}
		return true
	}
	all := c.findings(org)
	for _, x := range c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetTrends() {
		all = append(all, "trend "+x.GetTopic())
	}
	for _, x := range c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView().GetBasins() {
		all = append(all, "basin "+x.GetLabel())
	}
	for _, x := range c.drawn() {
		all = append(all, x.GetKind()+" "+x.GetText())
	}
	for _, kind := range []string{"domain ", "insight ", "trend ", "basin ", "proposal ", "themes ", "preference "} {
		if !slices.ContainsFunc(all, func(s string) bool {
			return strings.HasPrefix(s, kind) && strings.Contains(strings.ToLower(s), "zircon")
		}) {
			t.Errorf("no %s is of it, so nothing was proved: %q", kind, all)
		}
	}
	return false
}

// A name that only a forgotten text used for an entity leaves what speaks for proposals,
// although the entity stays.
func TestAProposalLosesANameThatOnlyAForgottenTextUsed(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking, func(cfg *tenant.Config,
		_ *storage.Options,
	) {
		cfg.CognitionQuiet = time.Hour
	})
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	long := c.note("Quentin Marlowe opened the workshop.")
	c.note("The workshop of Q. Marlowe is closed in May.")
	entity := ""
	for _, x := range c.ok(graphEnvelope(&pb.GraphOp{
		Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Kind: graph.KindEntity, Page: &pb.Page{Size: 100}}},
	})).GetGraph().GetNodes().GetNodes() {
		if x.GetNode().GetTitle() == "Quentin Marlowe" {
			entity = x.GetNode().GetId()
		}
	}
	if entity == "" {
		t.Fatalf("entities %q", c.titles(graph.KindEntity))
	}
	a, b := c.note("The boiler is old."), c.note("The plumber came.")
	c.derive(func(batch *storage.Batch, space storage.Space) {
		for i, through := range [][]string{{entity}, {a}} {
			source := []string{a, entity}[i]
			graph.PutProposal(batch, space, &pb.Proposal{
				Id: derivedN(i), Source: source, Target: b, Type: "related", Rationale: "both are linked to “Quentin Marlowe”",
				Status: pb.ReviewOpen, CreatedMs: int64(i + 1), Through: through,
			})
		}
	})
	c.forget(long)
	list := c.ok(proposalsOp("", nil)).GetMind().GetProposals().GetProposals()
	if len(list) != 2 || list[0].GetRationale() != graph.Unnamed || list[1].GetRationale() != graph.Unnamed {
		t.Errorf("%v", list)
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "Quentin")
}
