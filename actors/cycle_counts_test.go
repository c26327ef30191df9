package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/subject"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// An import tells how many domains its documents are in once a cycle has looked at them,
// and a partition how many edges its coding sessions have, as the lists of both say.
//
// interface: Endpoints/Import
func TestWhatACycleCounts(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	var lines []string
	for i := range 12 {
		lines = append(lines,
			fmt.Sprintf(`{"content":"Anselm Vogt repaired the heating of the greenhouse and ordered seedlings, for the %dth time."}`, i+4),
			fmt.Sprintf(`{"content":"Priya Nair rewrote the tokenizer of the parser and tagged release %d of the parser."}`,
				i+4))
	}
	n.wait(jobOf(c.ok(file("work.jsonl", strings.Join(lines, "\n")))))
	if e := c.imports()[0]; e.GetNodes() != 24 || e.GetDomains() != 0 {
		t.Fatalf("before any cycle: %v", e)
	}
	if s := c.sessionState(); s.GetSessionEdges() != 0 || len(s.GetWarmLayers()) != 0 {
		t.Errorf("before any cycle: %v", s)
	}
	c.say(said("one", "Priya Nair tests the parser on long files."),
		said("one", "Priya Nair found a crash in the tokenizer."))
	c.settled()
	c.think()
	domains := map[string]bool{}
	of := ofPartition(c, org, storage.TableNode, func() *pb.Node { return &pb.Node{} })
	for _, one := range of {
		if one.GetKind() == graph.DefaultKind && one.GetDomain() != "" {
			domains[one.GetDomain()] = true
		}
	}
	if e := c.imports()[0]; len(domains) < 2 || e.GetDomains() != uint64(len(domains)) {
		t.Errorf("%d domains of its documents, and it says %d", len(domains), e.GetDomains())
	}
	edges := uint64(0)
	for _, e := range ofPartition(c, org, storage.TableEdge, func() *pb.Edge { return &pb.Edge{} }) {
		if e.GetStatus() == pb.StatusLive && slices.ContainsFunc(of, func(one *pb.Node) bool {
			return one.GetKind() == subject.KindSession && (one.GetId() == e.GetSource() || one.GetId() == e.GetTarget())
		}) {
			edges++
		}
	}
	s := c.sessionState()
	if edges == 0 || s.GetSessionEdges() != edges || !slices.Contains(s.GetWarmLayers(), pb.RecallGraph) {
		t.Errorf("%d edges of sessions, and it says %v", edges, s)
	}
	c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "one"}}}))
	if s := c.sessionState(); s.GetSessionEdges() != 0 {
		t.Errorf("of sessions that are gone: %v", s)
	}
}
