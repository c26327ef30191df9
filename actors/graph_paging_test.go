package actors

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"orgmem/actors/account"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// graphLists are the lists of a partition's graph, by a name for messages.
func graphLists(nodes []string) map[string]func(*pb.Page) *pb.Envelope {
	lists := map[string]func(*pb.Page) *pb.Envelope{}
	for name, op := range map[string]*pb.ListNodes{
		"nodes": {}, "live nodes": {Status: pb.StatusLive}, "superseded nodes": {Status: pb.StatusSuperseded},
		"tombstones": {Status: pb.StatusTombstoned}, "beliefs": {Kind: "belief"}, "live documents": {
			Kind:   "document",
			Status: pb.StatusLive,
		},
		"nodes by word": {Q: "common"}, "superseded nodes by words": {Q: "common word", Status: pb.StatusSuperseded},
	} {
		lists[name] = func(p *pb.Page) *pb.Envelope {
			op := proto.CloneOf(op)
			op.Page = p
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: op}})
		}
	}
	lists["search"] = func(p *pb.Page) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{Page: p, Q: "word"}}})
	}
	for name, op := range map[string]*pb.ListEdges{
		"edges": {}, "near": {Type: "near"}, "asserted": {Origin: pb.OriginAsserted}, "from one": {Source: nodes[0]},
		"to one": {Target: nodes[0]},
		"of one": {Node: nodes[0]}, "between two": {Source: nodes[0], Target: nodes[1]}, "near of one": {
			Node: nodes[0],
			Type: "near",
		},
	} {
		lists[name] = func(p *pb.Page) *pb.Envelope {
			op := proto.CloneOf(op)
			op.Page = p
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: op}})
		}
	}
	return lists
}

// pager reads a list page by page while others write.
type pager struct {
	list   func(*pb.Page) *pb.Envelope
	size   uint32
	cursor string
	ended  bool
	seen   []string
	// stayed are the entries that the list has had since the first page was read.
	stayed []string
}

// TestPagesNeitherSkipNorRepeat reads every list of the graph page by page, with
// writes of all kinds between the pages. What was in a list from the first page
// to the last is read once; nothing is read twice. In the end the lists' entries
// and the degrees fit the records.
//
// interface: Endpoints/Conventions lists
func TestPagesNeitherSkipNorRepeat(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	n := startNode(t, storagetest.NewDisk())
	var orgs int
	rapid.Check(t, func(rt *rapid.T) {
		orgs++
		c := client{n: n, key: n.org(account.NewOrg{
			Name: fmt.Sprint("Org ", orgs), OwnerEmail: fmt.Sprintf("o%d@example.com",
				orgs),
			Plan: pb.PlanUnlimited,
		}).APIKey}
		var nodes []string
		content := func(i int) string { return fmt.Sprintf("A common word, and entry%d.", i) }
		write := func(what string) {
			n.clock.Advance(time.Duration(rapid.IntRange(0, 1).Draw(rt, "milliseconds")) * time.Millisecond)
			node := func() string { return rapid.SampledFrom(nodes).Draw(rt, "node") }
			var op *pb.GraphOp
			switch what {
			case "ingest", "upsert":
				var its []*pb.IngestItem
				for range rapid.IntRange(1, 3).Draw(rt, "items") {
					it := &pb.IngestItem{
						Content: content(rapid.IntRange(0, 15).Draw(rt, "content")),
						Kind:    rapid.SampledFrom([]string{"document", "belief"}).Draw(rt, "kind"),
					}
					if what == "upsert" {
						it.ExternalId = rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "external id")
					}
					its = append(its, it)
				}
				for _, it := range c.ingest(its...).GetItems() {
					nodes = append(nodes, it.GetNode())
				}
				return
			case "assert":
				a, b := node(), node()
				if a == b {
					return // the edge refuses it
				}
				op = &pb.GraphOp{Op: &pb.GraphOp_AssertEdge{AssertEdge: &pb.AssertEdge{
					Source: a, Target: b,
					Type: rapid.SampledFrom([]string{"near", "far"}).Draw(rt, "type"),
				}}}
			case "forget edge":
				all := c.edges(&pb.ListEdges{}, 100)
				if len(all) == 0 {
					return
				}
				op = &pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: rapid.SampledFrom(all).Draw(rt,
					"edge")}}}
			case "edit":
				op = &pb.GraphOp{Op: &pb.GraphOp_EditNode{EditNode: &pb.EditNode{
					Id:      node(),
					Content: new(content(rapid.IntRange(10, 30).Draw(rt, "new content"))), Kind: new("belief"),
				}}}
			case "forget":
				op = &pb.GraphOp{Op: &pb.GraphOp_ForgetNode{ForgetNode: &pb.ForgetNode{Id: node()}}}
			case "restore":
				op = &pb.GraphOp{Op: &pb.GraphOp_UndeleteNode{UndeleteNode: &pb.UndeleteNode{Id: node()}}}
			case "supersede":
				op = &pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
					Id:      node(),
					Content: content(rapid.IntRange(0, 40).Draw(rt, "other content")),
				}}}
			}
			r := c.ask(graphEnvelope(op)) // a refusal is as good: it must change nothing
			if code := r.GetProblem().GetCode(); code == pb.CodeInternal {
				rt.Fatalf("%s: %v", what, r)
			}
			if s := r.GetGraph().GetSuperseded(); s != nil {
				nodes = append(nodes, s.GetNewNode())
			}
		}
		whats := []string{"ingest", "upsert", "assert", "assert", "forget edge", "edit", "forget", "restore", "supersede"}
		write("ingest")
		write("upsert")
		write("ingest")
		if len(nodes) < 2 {
			write("ingest")
		}
		for range rapid.IntRange(0, 8).Draw(rt, "writes before") {
			write(rapid.SampledFrom(whats).Draw(rt, "before"))
		}
		nodes = append(nodes, nodes[0]) // there are two, at least
		lists := graphLists(nodes[:2])
		all := func(list func(*pb.Page) *pb.Envelope) []string { return c.walk(100, list) }
		pagers := map[string]*pager{}
		for name, list := range lists {
			pagers[name] = &pager{list: list, stayed: all(list)}
		}
		for _, name := range slices.Sorted(maps.Keys(pagers)) {
			pagers[name].size = uint32(rapid.IntRange(1, 3).Draw(rt, "page size"))
		}
		for left := rapid.IntRange(0, 6).Draw(rt, "writes between"); ; left-- {
			ended := true
			for name, p := range pagers {
				if p.ended {
					continue
				}
				page, next := idsOf(c.ok(p.list(&pb.Page{Size: p.size, Cursor: p.cursor})))
				if len(page) > int(p.size) {
					rt.Fatalf("%s: a page of %d has %d", name, p.size, len(page))
				}
				p.seen, p.cursor, p.ended = append(p.seen, page...), next, next == ""
				ended = ended && p.ended
			}
			if ended {
				break
			}
			if left > 0 {
				write(rapid.SampledFrom(whats).Draw(rt, "between"))
				for _, p := range pagers {
					now := all(p.list)
					p.stayed = slices.DeleteFunc(p.stayed, func(id string) bool { return !slices.Contains(now, id) })
				}
			}
		}
		for name, p := range pagers {
			sorted := slices.Sorted(slices.Values(p.seen))
			if len(slices.Compact(sorted)) != len(p.seen) {
				rt.Fatalf("%s repeats: %q", name, p.seen)
			}
			for _, id := range p.stayed {
				if !slices.Contains(p.seen, id) {
					rt.Fatalf("%s skips %s: %q", name, id, p.seen)
				}
			}
		}
		c.graphHolds(rt)
	})
}
