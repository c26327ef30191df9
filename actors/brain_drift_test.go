package actors

import (
	"fmt"
	"math"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// graphOf lists what an organization's graph is made of: live nodes that may be learned
// from, their passages, and edges but those of likeness that a cycle has found.
func (c client) graphOf() map[string]bool {
	c.n.t.Helper()
	all := map[string]bool{}
	c.withParts(func(st *storage.Store, parts []*partition.Ref) {
		for _, part := range parts {
			for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableNode), storage.ScanOptions{},
				func() *pb.Node { return &pb.Node{} }) {
				if err != nil {
					c.n.t.Fatal(err)
				}
				if n := rec.Value; n.GetStatus() == "live" && !n.GetUnlearned() {
					all["node "+n.GetId()] = true
					for _, seq := range n.GetChunks() {
						all[fmt.Sprint("passage ", part.ID, seq)] = true
					}
				}
			}
			for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableEdge), storage.ScanOptions{},
				func() *pb.Edge { return &pb.Edge{} }) {
				if err != nil {
					c.n.t.Fatal(err)
				}
				if e := rec.Value; e.GetStatus() == "live" && (e.GetType() != "similar_to" || e.GetOrigin() != "cognition") {
					all["edge "+e.GetId()+" "+e.GetSource()+" "+e.GetTarget()] = true
				}
			}
		}
	})
	return all
}

func (c client) withParts(f func(st *storage.Store, parts []*partition.Ref)) {
	c.n.t.Helper()
	st, err := c.n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		c.n.t.Fatal(err)
	}
	defer st.Release()
	var parts []*partition.Ref
	c.inOrg(func(o *tenant.Org) { parts, err = o.AllPartitions(st) })
	if err != nil {
		c.n.t.Fatal(err)
	}
	f(st, parts)
}

// seen is what a training that begins now would note of the graph.
func (c client) seen() (artifact *pb.BrainArtifact) {
	c.n.t.Helper()
	c.withParts(func(st *storage.Store, parts []*partition.Ref) {
		src, err := training.ReadSource(st, parts, func() error { return nil })
		if err != nil {
			c.n.t.Fatal(err)
		}
		artifact = &pb.BrainArtifact{Seen: src.Seen}
	})
	return artifact
}

// A partition's counters are the graph that it holds.
func (c client) driftAddsUp() error {
	for _, s := range c.seen().GetSeen() {
		if s.GetCame()-s.GetWent() != s.GetSize() {
			return fmt.Errorf("%d came and %d went, and there are %d", s.GetCame(), s.GetWent(), s.GetSize())
		}
	}
	return nil
}

// Whatever happens to a memory, its brain's drift is the part of the graph that the one
// of today and that of the training do not have in common.
func TestDriftIsHowFarTheGraphHasMoved(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	anna := c.as("anna")
	id := func(ext string) string {
		for _, x := range c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{
			Query: "Initech boiler report",
			TopK:  100,
		}}}).GetSearch().GetHits() {
			if x.GetExternalId() == ext {
				return x.GetNode()
			}
		}
		t.Fatalf("%s is not found", ext)
		return ""
	}
	put := func(c client, ext, title, content string) func() {
		return func() { c.ingest(&pb.IngestItem{ExternalId: ext, Title: title, Content: content}) }
	}
	put(c, "a", "Report", "Jane Lee of Initech wrote the report about the boiler. She works for Initech in Leeds.")()
	put(c, "b", "Boiler", "The boiler of Initech was serviced by Omar Diaz in May.")()
	put(c, "c", "Roof", "Omar Diaz wrote the report about the roof of Initech, and that of the boiler.")()
	put(anna, "hers", "Diary", "The boiler of Initech is cold, says Jane Lee.")()
	var first, second string
	var edge *pb.Edge
	for _, x := range []struct {
		name  string
		do    func()
		still bool
	}{
		{"nothing", func() {}, true},
		{"a cycle joins what is alike", c.think, true},
		{"a text comes", put(c, "d", "Garden", "Mary Major of Hooli planted the garden near the boiler."), false},
		{"a text says something else", put(c, "d", "Garden",
			"Mary Major of Hooli sold the garden and the boiler to Bob Stone."), false},
		{"a text has another title", put(c, "d", "Gardens",
			"Mary Major of Hooli sold the garden and the boiler to Bob Stone."), false},
		{"a person supersedes", func() {
			first = id("b")
			second = c.ok(supersedeOp(first, "The boiler of Initech was serviced by Bob Stone in June.")).GetGraph().
				GetSuperseded().GetNewNode()
		}, false},
		{
			"a person edits", func() { c.edit(&pb.EditNode{Id: second, Content: new("The boiler of Initech burst in June.")}) },
			false,
		},
		{"a person asserts", func() {
			edge, _ = c.assertEdge(&pb.AssertEdge{
				Source: id("a"), Target: second,
				Type: "about",
			})
		}, false},
		{"again", func() {
			c.assertEdge(&pb.AssertEdge{Source: id("a"), Target: second, Type: "about", Note: new("Surely.")})
		}, true},
		{"a person forgets an edge", func() { c.ok(forgetEdgeOp(edge.GetId())) }, false},
		{"a person forgets a text", func() { c.forget(second) }, false},
		{"it comes back empty", func() { c.ok(undeleteOp(second)) }, false},
		{"what must not be learned from", func() {
			c.ok(patchSettings("", new(bool)))
			put(c, "e", "Secret",
				"The boiler of Initech leaks.")()
		}, true},
		{"a subject writes", put(anna, "more", "Letter", "Jane Lee told Bob Stone about the boiler."), false},
		{"a subject is purged", func() {
			c.ok(confirmPurge("anna", c.ok(dryPurge("anna")).GetData().GetPurge().GetConfirmToken()))
		}, false},
		{"it writes again", put(anna, "anew", "Letter", "Jane Lee is silent."), false},
		{"a subject is erased", func() {
			c.n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}})))
		}, false},
	} {
		before, artifact := c.graphOf(), c.seen()
		x.do()
		after := c.graphOf()
		moved, all := 0, len(after)
		for e := range before {
			if !after[e] {
				moved++
				all++
			}
		}
		for e := range after {
			if !before[e] {
				moved++
			}
		}
		var got float64
		c.withParts(func(st *storage.Store, parts []*partition.Ref) {
			var err error
			if got, err = search.DriftOf(st, parts, artifact); err != nil {
				t.Fatal(err)
			}
		})
		if want := float64(moved) / float64(all); math.Abs(got-want) > 1e-9 || (want == 0) != x.still {
			t.Errorf("%s: drift %v, want %v: %d of %d", x.name, got, want, moved, all)
		}
		if err := c.driftAddsUp(); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}
