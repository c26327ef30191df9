package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/export"
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	"orgmem/brain/document"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// restore brings a document into an organization, as `orgmem import-export` does, and
// returns for each of its memories what ids became of the document's.
func (n *testNode) restore(org pb.OrgID, doc exported) (moved []map[string]string) {
	n.t.Helper()
	send := func(part document.Part) export.Restored {
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
		first := send(document.Part{Partition: p.Partition, Domains: p.Domains})
		here := map[string]string{}
		var unread []string
		for nodes := range slices.Chunk(p.Nodes, export.MaxRestoreRecords) {
			made := send(document.Part{Partition: p.Partition, Nodes: nodes})
			for i, id := range made.NodeIDs {
				here[nodes[i].ID] = id
			}
			unread = append(unread, made.Unread...)
		}
		all := func(ids []string) (out []string) {
			for _, id := range ids {
				out = append(out, here[id])
			}
			return out
		}
		last := document.Part{Partition: p.Partition}
		var edges []document.Edge
		for _, node := range p.Nodes {
			link := document.Link{NodeID: here[node.ID], SupersededBy: here[node.SupersededBy], History: map[string]string{}}
			for _, h := range node.History {
				for _, x := range h.Changes {
					for _, id := range []*string{x.Before, x.After} {
						if graph.NamesNode(x.Field) && id != nil {
							link.History[*id] = here[*id]
						}
					}
				}
			}
			if node.Trace != nil {
				link.Follows = here[node.Trace.Follows]
			}
			if link.SupersededBy+link.Follows != "" || len(link.History) > 0 {
				last.Links = append(last.Links, link)
			}
		}
		for _, e := range p.Edges {
			e.ID = strings.Replace(strings.Replace(e.ID, e.Source, here[e.Source], 1), e.Target, here[e.Target], 1)
			e.Evidence = slices.Clone(e.Evidence)
			for i, chunk := range e.Evidence {
				at := strings.LastIndexByte(chunk, ':')
				e.Evidence[i] = here[chunk[:at]] + chunk[at:]
			}
			e.Grounds = slices.Clone(e.Grounds)
			for i, g := range e.Grounds {
				if here[g.NodeID] != "" {
					e.Grounds[i].NodeID = here[g.NodeID]
				}
			}
			e.Source, e.Target, e.TombstonedWith = here[e.Source], here[e.Target], here[e.TombstonedWith]
			edges = append(edges, e)
		}
		for some := range slices.Chunk(edges, export.MaxRestoreRecords) {
			send(document.Part{Partition: p.Partition, Edges: some})
		}
		for _, x := range p.ExternalIDs {
			last.External = append(last.External, document.External{ExternalID: x.ExternalID, NodeID: here[x.NodeID]})
		}
		for _, d := range p.Domains {
			d.TopNodes, d.NamedBy = all(d.TopNodes), all(d.NamedBy)
			last.Names = append(last.Names, d)
		}
		last.Unread = unread
		send(last)
		here[p.ID] = first.PartitionID
		moved = append(moved, here)
	}
	return moved
}

// spelled says everything that a document holds, a record a line, in an order that does
// not depend on ids, with the ids that moved says in the place of its own. Left out is what
// must differ in another organization (docs/export.md): the head, since when there is the
// memory, the jobs that nodes came by, which ran elsewhere, and coding sessions, which come
// back as the nodes they became.
func (d exported) spelled(moved []map[string]string) string {
	var all []string
	for i, p := range d.Partitions {
		var pairs []string
		if moved != nil {
			for _, old := range slices.Sorted(maps.Keys(moved[i])) {
				if old != p.ID { // it is also the name of a person, who did what they did
					pairs = append(pairs, old, moved[i][old])
				}
			}
			p.ID = moved[i][p.ID]
		}
		ids := strings.NewReplacer(pairs...)
		spell := func(table string, v any) {
			raw, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			all = append(all, p.Kind+" "+p.Subject+p.Email+" "+table+": "+ids.Replace(string(raw)))
		}
		for _, n := range p.Nodes {
			n.Source.JobID = ""
			spell("node", n)
		}
		for _, e := range p.Edges {
			spell("edge", e)
		}
		for _, x := range p.ExternalIDs {
			spell("external id", x)
		}
		for _, x := range p.Domains {
			spell("domain", x)
		}
		p.CreatedAt = 0
		spell("memory", p.Partition)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// unlike shows lines that only one of two texts has.
func unlike(a, b string) string {
	of := func(x, y string) (only []string) {
		there := strings.Split(y, "\n")
		for line := range strings.SplitSeq(x, "\n") {
			if !slices.Contains(there, line) && len(only) < 3 {
				only = append(only, line)
			}
		}
		return only
	}
	return "only before:\n" + strings.Join(of(a, b), "\n") + "\nonly after:\n" + strings.Join(of(b, a), "\n")
}

// comesBack exports an organization, imports the document into an empty one, twice, and
// holds what that exports to the document: every field of every record.
func (c client) comesBack(t interface{ Fatalf(string, ...any) }) (before exported, there client) {
	n := c.n
	before = readDocument(n.t, c.download(c.export(true)))
	n.clock.Advance(time.Hour) // what comes back is as old as it was
	other := n.org(account.NewOrg{Name: "Other", OwnerEmail: "owner@example.com", Plan: pb.PlanUnlimited})
	there = client{n: n, key: other.APIKey}
	moved := n.restore(other.Org, before)
	n.clock.Advance(time.Second)
	if again := n.restore(other.Org, before); !reflect.DeepEqual(moved, again) {
		t.Fatalf("the second time the ids were %v, and %v the first", again, moved)
	}
	after := readDocument(n.t, there.download(there.export(true)))
	if a, b := before.spelled(moved), after.spelled(nil); a != b {
		t.Fatalf("the document came back otherwise: %s", unlike(a, b))
	}
	return before, there
}

// TestExportComesBack makes a random memory, exports it, imports it into an empty
// organization, twice, and exports it again: both documents say the same.
func TestExportComesBack(t *testing.T) {
	storagetest.FewerUnderRace(t, 10)
	rapid.Check(t, func(rt *rapid.T) {
		n := startNode(t, storagetest.NewDisk())
		made := n.org(account.NewOrg{})
		c := client{n: n, key: made.APIKey}
		c.put("ann")
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			n.clock.Advance(time.Minute)
			who := rapid.SampledFrom([]client{c, c.as("ann")}).Draw(rt, "who")
			live := who.nodes(&pb.ListNodes{Status: pb.StatusLive}, 100)
			step := rapid.SampledFrom([]string{
				"ingest", "ingest", "edit", "assert", "supersede", "forget", "forget superseded",
				"undelete",
			}).Draw(rt, "step")
			if len(live) < 2 {
				step = "ingest"
			}
			text := fmt.Sprintf("common text %d", rapid.IntRange(0, 30).Draw(rt, "text"))
			pick := func() string { return rapid.SampledFrom(live).Draw(rt, "node") }
			any := func(status string) string {
				list := who.nodes(&pb.ListNodes{Status: status}, 100)
				if len(list) == 0 {
					return ""
				}
				return rapid.SampledFrom(list).Draw(rt, "node "+status)
			}
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
			case "forget superseded":
				if id := any(pb.StatusSuperseded); id != "" {
					who.forget(id)
				}
			case "undelete":
				if id := any(pb.StatusTombstoned); id != "" {
					who.ok(undeleteOp(id))
				}
			}
		}
		mode := "thorough"
		c.ok(accountOp(&pb.AccountOp{
			Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: &pb.Settings{QualityMode: &mode}}},
		}))
		_, there := c.comesBack(rt)
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

// TestWhatWasThoughtComesBack is TestExportComesBack of a memory that was read and looked
// at: with entities and relations, domains, sequences, and what was done by hand since.
// Nothing is derived anew while it comes back, and what is forgotten with a node comes back
// with it there, too.
func TestWhatWasThoughtComesBack(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	docs, names, _ := parish(60)
	var ids []string
	for k := 0; k < len(docs); k += 15 { // some at a time: times differ
		for _, item := range c.ingest(docs[k : k+15]...).GetItems() {
			ids = append(ids, item.GetNode())
		}
		c.as("ann").ingest(docs[k : k+8]...)
		n.clock.Advance(time.Minute)
	}
	c.note("Jane Lee works for Initech.")
	c.note(fmt.Sprintf("Jane Lee met %s on 3 May 2024.", names[0]))
	c.say(said("s", "Why does the importer fail?"), said("s", "It reads the header twice, said Amelia Norwood."),
		said("s", "Then mend the reader by 4 June 2026."))
	c.settled()
	c.think()
	n.clock.Advance(time.Minute)
	// What is done by hand after the cycle, and taken in without another.
	domains := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{}}})).GetGraph().
		GetDomains().GetDomains()
	if len(domains) < 2 {
		t.Fatalf("%d domains: the test says little", len(domains))
	}
	var domain string // another one than it is in
	for _, d := range domains {
		id, err := pb.DomainIDFrom(d.GetId())
		if err != nil {
			t.Fatal(err)
		}
		if id.String() != c.nodeOf(ids[0]).GetDomain() {
			domain = id.String()
		}
	}
	c.edit(&pb.EditNode{Id: ids[0], Domain: &domain})
	c.supersede(ids[1], "Nobody knows who kept the bees.")
	c.assertEdge(&pb.AssertEdge{Source: ids[2], Target: ids[3], Type: "about"})
	c.forget(ids[3])
	off := false
	c.ok(patchSettings("", &off))
	c.note("Private matters of the parish are nobody's business.")

	before, there := c.comesBack(t)
	// None of this may be missing, or the comparison says nothing about it.
	has := map[string]bool{}
	for _, p := range before.Partitions {
		for _, x := range p.Domains {
			has["a domain with a label"] = has["a domain with a label"] || x.Label != "" && len(x.Keywords) > 0 &&
				len(x.TopNodes) > 0 && len(x.NamedBy) > 0 && x.NodeCount > 0 && x.EdgeCount > 0
			has["a domain that was changed later than it was made"] = has["a domain that was changed later than it was made"] ||
				x.UpdatedAt > x.CreatedAt
		}
		for _, x := range p.Edges {
			has["edge "+x.Type] = true
			has["an edge with evidence"] = has["an edge with evidence"] || len(x.Evidence) > 0
			has["an edge of the cycle"] = has["an edge of the cycle"] || x.Origin == pb.OriginCognition
			has["an edge that went with its node"] = has["an edge that went with its node"] || x.TombstonedWith != ""
		}
		for _, x := range p.Nodes {
			has["node "+x.Kind], has["node "+x.Status] = true, true
			has["a derived node"] = has["a derived node"] || x.Derived != nil && len(x.Derived.Forms) > 0
			has["a placed node"] = has["a placed node"] || x.Placed
			has["an unlearned node"] = has["an unlearned node"] || x.Unlearned
			if x.Trace != nil {
				has["trace entities"] = has["trace entities"] || len(x.Trace.Entities) > 0
				has["trace dates"] = has["trace dates"] || len(x.Trace.Dates) > 0
				has["trace relations"] = has["trace relations"] || len(x.Trace.Relations) > 0
				has["trace follows"] = has["trace follows"] || x.Trace.Follows != ""
			}
		}
	}
	for _, what := range []string{
		"a domain with a label", "a domain that was changed later than it was made", "edge mentions", "edge follows",
		"edge superseded_by", "an edge with evidence",
		"an edge that went with its node", "an edge of the cycle", "node entity", "node document", "node session",
		"node live", "node superseded", "node tombstoned",
		"a derived node", "a placed node", "an unlearned node", "trace entities", "trace dates", "trace relations",
		"trace follows",
	} {
		if !has[what] {
			t.Errorf("there is no %s to come back", what)
		}
	}
	// An asserted edge comes back with the node that it was forgotten with where it was
	// forgotten. A document does not tell its type, and so not of it.
	if has["edge about"] {
		t.Error("the document tells the type of a forgotten edge")
	}
	for who, want := range map[client]int{c: 1, there: 0} {
		edges := len(who.edges(&pb.ListEdges{Type: "about"}, 100))
		for _, id := range who.nodes(&pb.ListNodes{Status: pb.StatusTombstoned}, 100) {
			who.ok(undeleteOp(id))
		}
		if now := len(who.edges(&pb.ListEdges{Type: "about"}, 100)); edges != 0 || now != want {
			t.Errorf("%d edges came back with their node, %d were there before, want %d", now, edges, want)
		}
	}
}

// What a domain says comes back only where all that it was read out of may be known.
func TestRestoredDomainsSayNothingThatWasForgotten(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, _, _ := parish(40)
	c.ingest(docs...)
	c.think()
	before := readDocument(t, c.download(c.export(true)))
	other := n.org(account.NewOrg{Name: "Other", OwnerEmail: "owner@example.com", Plan: pb.PlanUnlimited})
	there := client{n: n, key: other.APIKey}
	forgot := 0
	for _, d := range before.Partitions[0].Domains { // the first that each is named by is known there, and was forgotten
		i := slices.IndexFunc(before.Partitions[0].Nodes, func(x document.Node) bool { return x.ID == d.NamedBy[0] })
		if x := before.Partitions[0].Nodes[i]; x.OfContent {
			there.forget(there.note(*x.Content))
			forgot++
		}
	}
	here := n.restore(other.Org, before)[0]
	after := readDocument(t, there.download(there.export(true))).Partitions[0]
	known := map[string]bool{} // not forgotten, nor gone with what was
	for _, x := range after.Nodes {
		known[x.ID] = x.Status != pb.StatusTombstoned
	}
	silent := 0
	for _, d := range before.Partitions[0].Domains {
		i := slices.IndexFunc(after.Domains, func(x document.Domain) bool { return x.ID == d.ID })
		all := !slices.ContainsFunc(d.NamedBy, func(id string) bool { return !known[here[id]] })
		if x := after.Domains[i]; all != (x.Label == d.Label) || !all && len(x.Label)+len(x.Keywords) > 0 {
			t.Errorf("all that the domain %q was named by is known: %v, and it says %q and %q", d.Label, all, x.Label,
				x.Keywords)
		}
		if !all {
			silent++
		}
	}
	if forgot == 0 || silent < forgot {
		t.Errorf("%d domains say nothing, and of %d something was forgotten", silent, forgot)
	}
}

func TestRestoreKeepsWhatIsThere(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	id := c.ingest(doc("a", "a text")).GetItems()[0].GetNode()
	whole := readDocument(t, c.download(c.export(false)))
	title := "changed since"
	c.edit(&pb.EditNode{Id: id, Title: &title})
	n.restore(made.Org, whole)
	now := readDocument(t, c.download(c.export(false))).Partitions[0].Nodes
	if len(now) != 1 || now[0].ID != id || now[0].Title != title {
		t.Errorf("after the restoration: %+v", now)
	}
}

func TestRestoreRefusesWhatIsNoPart(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	for raw, want := range map[string]string{ // what is said of it
		`{"partition":{"kind":"member","id":"x","email":"stranger@example.com"}}`: "nobody here is the member",
		`{"partition":{"kind":"sandbox","id":"x"}}`:                               `kind "sandbox"`,
		`{"partition":{"kind":"subject","id":"x","subject":""}}`:                  "a subject's id",
		`{"surprise":1}`: "unknown field",
		`[]`:             "not one of an export",
		`{"partition":{"kind":"subject","subject":"s"}}`: "the memory: id is " +
			"missing",
		`{"partition":{"kind":"subject","subject":"s","id":"x","settings":{"qualityMode":"odd"}}}`:  "settings.qualityMode",
		`{"partition":{"kind":"subject","subject":"s","id":"x"},"domains":[{"id":"d"}]}`:            "a domain: id",
		`{"partition":{"kind":"subject","subject":"s","id":"x"},"names":[{"id":"d"}]}`:              "a domain: id",
		`{"partition":{"kind":"subject","subject":"s","id":"x"},"externalIds":[{"externalId":""}]}`: "externalId",
	} {
		if _, err := n.sys.Restore(t.Context(), made.Org, []byte(raw)); !errors.Is(err, tenant.ErrInvalid) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	const good = `"id":"n","kind":"document","authority":0.5,"confidence":1,"status":"live","title":"t"`
	const dead = `"id":"n","kind":"document","authority":0.5,"confidence":1,"status":"tombstoned","was":"live"`
	const edge = `"id":"e","source":"a","target":"b","type":"about","weight":0.4,"confidence":0.4,"origin":"asserted","status":"live"`
	const gone = `"id":"e","source":"a","target":"b","type":"about","weight":0.4,"confidence":0.4,"origin":"asserted","status":"tombstoned"`
	long := strings.Repeat("x", 2000)
	for _, x := range []struct{ table, record, change, want string }{
		{"nodes", good, `"id":""`, "id"},
		{"nodes", good, `"id":"` + long + `"`, "id has 2000 bytes"},
		{"nodes", good, `"status":"odd"`, `status is "odd"`},
		{"nodes", good, `"kind":"odd"`, `kind is "odd"`},
		{"nodes", good, `"authority":1.5`, "authority is 1.5"},
		{"nodes", good, `"authority":-1`, "authority is -1"},
		{"nodes", good, `"confidence":2`, "confidence is 2"},
		{"nodes", good, `"domainId":"d"`, `domainId is "d"`},
		{"nodes", good, `"metadata":[1]`, "metadata must be an object"},
		{"nodes", good, `"was":"live"`, `was is "live"`},
		{"nodes", good, `"derived":{"type":"` + long + `"}`, "derived.type"},
		{"nodes", dead, `"was":""`, `was is ""`},
		{"nodes", dead, `"was":"odd"`, `was is "odd"`},
		{"nodes", dead, `"was":"tombstoned"`, `was is "tombstoned"`},
		{"nodes", dead, `"title":"t"`, "title must be empty"},
		{"nodes", dead, `"content":"t"`, "content must not be"},
		{"nodes", dead, `"metadata":{"a":1}`, "metadata must not be"},
		{"edges", edge, `"id":""`, "id"},
		{"edges", edge, `"source":""`, "source"},
		{"edges", edge, `"target":"` + long + `"`, "target has 2000 bytes"},
		{"edges", edge, `"target":"a"`, "target is its source"},
		{"edges", edge, `"type":""`, "type"},
		{"edges", edge, `"type":"` + long + `"`, "type"},
		{"edges", edge, `"type":"a\u0000b"`, "type"},
		{"edges", edge, `"origin":"odd"`, `origin is "odd"`},
		{"edges", edge, `"status":"odd"`, `status is "odd"`},
		{"edges", edge, `"weight":1`, "weight is 1, and must be within 0 and 0.4"},
		{"edges", edge, `"confidence":0.5`, "confidence is 0.5"},
		{"edges", edge, `"origin":"ingest","weight":1.5`, "weight is 1.5"},
		{"edges", edge, `"weight":-0.1`, "weight is -0.1"},
		{"edges", edge, `"tombstonedWith":"a"`, "tombstonedWith"},
		{"edges", gone, `"tombstonedWith":"c"`, "tombstonedWith"},
		{"edges", gone, `"note":"n"`, "note must be empty"},
		{"edges", gone, `"evidence":["a:0"]`, "evidence must be empty"},
	} {
		part := func(change string) []byte {
			return fmt.Appendf(nil, `{"partition":{"kind":"subject","subject":"s","id":"x"},%q:[{%s%s}]}`, x.table, x.record,
				change)
		}
		raw := part("," + x.change) // of a field that is there twice, the last is read
		if _, err := n.sys.Restore(t.Context(), made.Org, raw); !errors.Is(err, tenant.ErrInvalid) ||
			!strings.Contains(err.Error(), ": "+x.want) {
			t.Errorf("%s: %v", raw, err)
		}
		// the change is what it is refused for
		if in, err := document.ReadPart(part(""), export.MaxRestoreRecords); err != nil || export.CheckPart(in) != nil {
			t.Errorf("%s: %v, %v", part(""), err, export.CheckPart(in))
		}
	}
	if _, err := n.sys.Restore(t.Context(), pb.OrgID{1}, []byte(`{"partition":{"id":"x"}}`)); !errors.Is(err,
		tenant.ErrOrgNotFound) {
		t.Errorf("an unknown organization: %v", err)
	}
}

// What was forgotten where a document comes to stays forgotten: no edge leads there that is
// not forgotten with it, and neither its words come back, nor what only they said.
//
// interface: States/Node forgotten
func TestRestoreLeavesForgottenWhatIsForgotten(t *testing.T) {
	first := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: first, key: first.org(account.NewOrg{}).APIKey}
	const words = "Jane Lee of Initech met Zebediah Quimby of Globex."
	secret, kept := c.note(words), c.note("Jane Lee works for Initech.")
	c.say(said("s", "Nothing of this is about anybody."))
	c.settled()
	c.assertEdge(&pb.AssertEdge{Source: secret, Target: kept, Type: "about", Note: new("because of marmalade")})
	exported := readDocument(t, c.download(c.export(false)))
	if all := c.titles(graph.KindEntity); !slices.Contains(all, "Zebediah Quimby") || !slices.Contains(all, "Jane Lee") {
		t.Fatalf("entities %q: the test would say nothing", all)
	}

	for _, then := range []string{"undelete", "removal"} {
		t.Run(then, func(t *testing.T) {
			disk := storagetest.NewDisk()
			n := startNode(t, disk, thinking, func(c *tenant.Config, _ *storage.Options) { c.TombstoneRetention = time.Hour })
			org := n.org(account.NewOrg{})
			there := client{n: n, key: org.APIKey}
			dead := there.note(words)
			there.forget(dead)
			var here map[string]string
			for range 2 { // a repetition changes nothing
				here = n.restore(org.Org, exported)[0]
			}
			if here[secret] != dead {
				t.Fatalf("%s came back as %s, and was forgotten as %s", secret, here[secret], dead)
			}
			// live says how many edges of each node are not forgotten.
			live := func() (of map[string]uint32, edges []document.Edge) {
				doc := readDocument(t, there.download(there.export(false))).Partitions[0]
				status, of := map[string]string{}, map[string]uint32{}
				for _, x := range doc.Nodes {
					status[x.ID] = x.Status
				}
				for _, e := range doc.Edges {
					if e.Status == pb.StatusTombstoned {
						continue
					}
					of[e.Source]++
					of[e.Target]++
					if status[e.Source] == pb.StatusTombstoned || status[e.Target] == pb.StatusTombstoned || status[e.Source] == "" ||
						status[e.Target] == "" {
						t.Errorf("a live edge leads to what is forgotten: %+v", e)
					}
				}
				for id := range status {
					if is := n.nodeIn(there, id).GetDegree(); is != of[id] {
						t.Errorf("node %s has the degree %d, and %d edges", id, is, of[id])
					}
				}
				return of, doc.Edges
			}
			if of, _ := live(); of[here[kept]] == 0 {
				t.Error("what is not forgotten has no edges")
			}
			silent := func() {
				store := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
				n.nothingSays(store, "Quimby", "Globex", "marmalade")
				if err := n.host.Erase(t.Context(), store); err != nil { // at once, what is erased within a minute
					t.Fatal(err)
				}
				for _, word := range []string{"Quimby", "Globex", "marmalade"} {
					if at := disk.Find(t, word); len(at) > 0 {
						t.Errorf("%q stands in %v", word, at)
					}
				}
			}
			silent()
			if left := there.titles(graph.KindEntity); !slices.Contains(left, "Jane Lee") || !slices.Contains(left, "Initech") {
				t.Errorf("entities %q: what another text says is missing", left)
			}
			before := n.nodeIn(there, here[kept]).GetDegree()
			if then == "removal" {
				n.clock.Advance(2 * time.Hour)
				n.until(func() bool { return n.nodeIn(there, dead) == nil })
				if _, edges := live(); slices.ContainsFunc(edges, func(e document.Edge) bool {
					return e.Source == dead ||
						e.Target == dead
				}) {
					t.Errorf("edges are left: %+v", edges)
				}
				if now := n.nodeIn(there, here[kept]).GetDegree(); now != before {
					t.Errorf("the neighbour's degree is %d, and was %d", now, before)
				}
				return
			}
			there.ok(undeleteOp(dead))
			_, edges := live()
			i := slices.IndexFunc(edges, func(e document.Edge) bool { return e.Type == "about" })
			if i < 0 || edges[i].Status != pb.StatusLive || edges[i].Source != dead || edges[i].Note != "" {
				t.Errorf("what was forgotten with it did not come back: %+v", edges)
			}
			if now := n.nodeIn(there, here[kept]).GetDegree(); now != before+1 {
				t.Errorf("the neighbour's degree is %d, and was %d", now, before)
			}
			silent()
			// What the last text said goes with it: what was forgotten does not count.
			there.forget(here[kept])
			if left := there.titles(graph.KindEntity); len(left) > 0 {
				t.Errorf("entities %q rest on nothing", left)
			}
		})
	}
}
