package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// restore brings a document into an organization, as `orgmem import-export` does.
func (n *node) restore(org pb.OrgID, doc document) {
	n.t.Helper()
	send := func(part restorePart) Restored {
		raw, err := json.Marshal(part)
		if err != nil {
			n.t.Fatal(err)
		}
		r, err := n.sys.Restore(n.t.Context(), org, raw)
		if err != nil {
			n.t.Fatal(err)
		}
		return r
	}
	for _, p := range doc.Partitions {
		ids := send(restorePart{Partition: p.documentPartition, Domains: p.Domains, Nodes: p.Nodes}).NodeIDs
		here := map[string]string{}
		for i, node := range p.Nodes {
			here[node.ID] = ids[i]
		}
		last := restorePart{Partition: p.documentPartition}
		for _, node := range p.Nodes {
			if node.SupersededBy != "" {
				last.Links = append(last.Links, documentLink{here[node.ID], here[node.SupersededBy]})
			}
		}
		for _, e := range p.Edges {
			e.ID = strings.Replace(strings.Replace(e.ID, e.Source, here[e.Source], 1), e.Target, here[e.Target], 1)
			for i, chunk := range e.Evidence {
				at := strings.LastIndexByte(chunk, ':')
				e.Evidence[i] = here[chunk[:at]] + chunk[at:]
			}
			e.Source, e.Target = here[e.Source], here[e.Target]
			last.Edges = append(last.Edges, e)
		}
		for _, x := range p.ExternalIDs {
			last.External = append(last.External, documentExternal{x.ExternalID, here[x.NodeID]})
		}
		send(last)
	}
}

// normal spells what a document says of memories, without the ids that depend on
// whose they are.
func (d document) normal() string {
	var all []string
	for _, p := range d.Partitions {
		names := map[string]string{"": ""}
		for _, n := range p.Nodes {
			names[n.ID] = "node " + n.Kind + " " + n.Title + " " + fmt.Sprint(n.CreatedAt)
			if n.Content != nil {
				names[n.ID] = "node " + *n.Content
			}
		}
		who := p.Kind + " " + p.Subject + p.Email
		for _, n := range p.Nodes {
			n.SupersededBy = names[n.SupersededBy]
			n.ID = names[n.ID]
			n.Source.JobID = ""
			all = append(all, spell(who, n))
		}
		for _, e := range p.Edges {
			if e.Origin == originSupersede {
				e.ID = ""
			}
			e.Source, e.Target = names[e.Source], names[e.Target]
			all = append(all, spell(who, e))
		}
		for _, x := range p.ExternalIDs {
			x.NodeID = names[x.NodeID]
			all = append(all, spell(who, x))
		}
		if p.Settings != nil {
			all = append(all, spell(who, p.Settings))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func spell(who string, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return who + ": " + string(raw)
}

// TestExportComesBack makes a random memory, exports it, imports it into an empty
// organization, twice, and exports it again: both documents say the same.
func TestExportComesBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := startNode(t, storagetest.NewDisk())
		made := n.org(NewOrg{})
		c := client{n: n, key: made.APIKey}
		c.put("ann")
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			who := rapid.SampledFrom([]client{c, c.as("ann")}).Draw(rt, "who")
			live := who.nodes(&pb.ListNodes{Status: statusLive}, 100)
			step := rapid.SampledFrom([]string{"ingest", "ingest", "edit", "assert", "supersede", "forget"}).Draw(rt, "step")
			if len(live) < 2 {
				step = "ingest"
			}
			text := fmt.Sprintf("common text %d", rapid.IntRange(0, 30).Draw(rt, "text"))
			pick := func() string { return rapid.SampledFrom(live).Draw(rt, "node") }
			switch step {
			case "ingest":
				item := doc(rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "external id"), text)
				item.Title = rapid.SampledFrom([]string{"", "A title"}).Draw(rt, "title")
				who.ingest(item, doc("", text+" again"))
			case "edit":
				edited := text + " edited"
				who.ask(editOp(&pb.EditNode{Id: pick(), Content: &edited, Reason: "better"}))
			case "assert":
				if a, b := pick(), pick(); a != b {
					who.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "about"})
				}
			case "supersede":
				who.ask(supersedeOp(pick(), text+" superseding"))
			case "forget":
				who.forget(pick())
			}
		}
		mode := "thorough"
		c.ok(account(&pb.AccountOp{Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: &pb.Settings{QualityMode: &mode}}}}))
		before := readDocument(t, c.download(c.export(true)))

		other := n.org(NewOrg{Name: "Other", OwnerEmail: "owner@example.com", Plan: planUnlimited})
		there := client{n: n, key: other.APIKey}
		n.restore(other.Org, before)
		n.restore(other.Org, before)
		after := readDocument(t, there.download(there.export(true)))
		if a, b := before.normal(), after.normal(); a != b {
			rt.Fatalf("the document came back as\n%s\nand was\n%s", b, a)
		}
		for _, s := range []string{"", "ann"} {
			was, is := c.as(s).chunks("common text"), there.as(s).chunks("common text")
			slices.Sort(was)
			slices.Sort(is)
			if !slices.Equal(was, is) {
				rt.Fatalf("%q finds %q, and found %q", s, is, was)
			}
		}
		n.stop()
	})
}

func TestRestoreKeepsWhatIsThere(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(NewOrg{})
	c := client{n: n, key: made.APIKey}
	id := c.ingest(doc("a", "a text")).GetItems()[0].GetNode()
	document := readDocument(t, c.download(c.export(false)))
	title := "changed since"
	c.edit(&pb.EditNode{Id: id, Title: &title})
	n.restore(made.Org, document)
	now := readDocument(t, c.download(c.export(false))).Partitions[0].Nodes
	if len(now) != 1 || now[0].ID != id || now[0].Title != title {
		t.Errorf("after the restoration: %+v", now)
	}
}

func TestRestoreRefusesWhatIsNoPart(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(NewOrg{})
	for raw, want := range map[string]error{
		`{"partition":{"kind":"member","id":"x","email":"stranger@example.com"}}`: ErrInvalid,
		`{"partition":{"kind":"sandbox"}}`:                                        ErrInvalid,
		`{"partition":{"kind":"subject","subject":""}}`:                           ErrInvalid,
		`{"surprise":1}`: ErrInvalid,
		`[]`:             ErrInvalid,
		`{"partition":{"kind":"subject","subject":"s"},"nodes":[{"id":"n","status":"odd","kind":"document"}]}`:                                         errRestore,
		`{"partition":{"kind":"subject","subject":"s"},"edges":[{"id":"e","source":"n","target":"n","type":"x","origin":"asserted","status":"live"}]}`: errRestore,
	} {
		if _, err := n.sys.Restore(t.Context(), made.Org, []byte(raw)); !errors.Is(err, want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := n.sys.Restore(t.Context(), pb.OrgID{1}, []byte(`{}`)); !errors.Is(err, ErrOrgNotFound) {
		t.Errorf("an unknown organization: %v", err)
	}
}
