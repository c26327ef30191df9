package actors

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

const (
	benchNodes  = 100_000
	benchEdges  = 300_000
	benchPages  = 60 // of each list, from its first
	benchRepeat = 5  // the least of so many readings is a page's cost: the machine is not ours alone
)

// BenchmarkLists reads pages of 50 of every list of a partition with 100,000
// nodes and 300,000 edges, below the edge, and reports the median and the worst
// page. The records are written directly, as the worker would. Run it with
// -benchtime 1x.
func BenchmarkLists(b *testing.B) {
	// the service's own
	n := startNode(b, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) { o.CacheBytes = 64 << 20 })
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ok(find("nothing")) // the member is known
	var hub, leaf string
	c.inOrg(func(o *tenant.Org) { hub, leaf = fillGraph(b, o, memberOf(b, o, onlyMember(b, o))) })
	// the index is in memory
	c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Q: "note"}}}))

	at := func(month int) *int64 {
		return new(time.Date(2025, time.Month(month), 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	}
	measure := func(name string, list func(*pb.Page) *pb.Envelope) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				var costs []time.Duration
				entries, cursor := 0, ""
				for range benchPages {
					least := time.Duration(1 << 62)
					var r *pb.Reply
					for range benchRepeat {
						began := time.Now()
						r = c.ok(list(&pb.Page{Cursor: cursor}))
						least = min(least, time.Since(began))
					}
					costs = append(costs, least)
					ids, next := idsOf(r)
					entries += len(ids)
					if cursor = next; next == "" {
						break
					}
				}
				slices.Sort(costs)
				b.ReportMetric(float64(costs[len(costs)/2].Microseconds())/1000, "median-ms")
				b.ReportMetric(float64(costs[len(costs)-1].Microseconds())/1000, "worst-ms")
				b.ReportMetric(float64(entries)/float64(len(costs)), "entries/page")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
	nodes := func(op *pb.ListNodes) func(*pb.Page) *pb.Envelope {
		return func(p *pb.Page) *pb.Envelope {
			op := proto.CloneOf(op)
			op.Page = p
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: op}})
		}
	}
	edges := func(op *pb.ListEdges) func(*pb.Page) *pb.Envelope {
		return func(p *pb.Page) *pb.Envelope {
			op := proto.CloneOf(op)
			op.Page = p
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: op}})
		}
	}
	for _, l := range []struct {
		name string
		op   *pb.ListNodes
	}{
		{"nodes", &pb.ListNodes{}},
		{"nodes/from July down", &pb.ListNodes{CreatedBeforeMs: at(7)}},
		{"nodes/January", &pb.ListNodes{CreatedAfterMs: at(1), CreatedBeforeMs: at(2)}},
		{"nodes/live", &pb.ListNodes{Status: pb.StatusLive}},
		{"nodes/tombstoned", &pb.ListNodes{Status: pb.StatusTombstoned}},
		{"nodes/rare kind", &pb.ListNodes{Kind: "session"}},
		{"nodes/rare kind and status", &pb.ListNodes{Kind: "session", Status: pb.StatusSuperseded}},
		{"nodes/domain", &pb.ListNodes{Domain: "topic 3"}},
		{"nodes/rare domain", &pb.ListNodes{Domain: "rare topic"}},
		{"nodes/rare domain and kind", &pb.ListNodes{Domain: "rare topic", Kind: "belief"}},
		{"nodes/word of all", &pb.ListNodes{Q: "note"}},
		{"nodes/word of all, January", &pb.ListNodes{Q: "note", CreatedBeforeMs: at(2)}},
		{"nodes/two words of many", &pb.ListNodes{Q: "matter3 note"}},
		{"nodes/rare word", &pb.ListNodes{Q: "number77777"}},
		{"nodes/two words, never together", &pb.ListNodes{Q: "matter3 matter4"}},
		{"nodes/word of all, rare kind", &pb.ListNodes{Q: "note", Kind: "session"}},
		{"nodes/word of all, rare domain", &pb.ListNodes{Q: "note", Domain: "rare topic"}},
		{"nodes/word of all, superseded", &pb.ListNodes{Q: "note", Status: pb.StatusSuperseded}},
	} {
		measure(l.name, nodes(l.op))
	}
	measure("search/word of all", func(p *pb.Page) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{Page: p, Q: "note"}}})
	})
	for _, l := range []struct {
		name string
		op   *pb.ListEdges
	}{
		{"edges", &pb.ListEdges{}},
		{"edges/rare origin", &pb.ListEdges{Origin: pb.OriginProposal}},
		{"edges/common type", &pb.ListEdges{Type: "mentions"}},
		{"edges/rare type", &pb.ListEdges{Type: "rare"}},
		{"edges/rare type and origin", &pb.ListEdges{Type: "rare", Origin: pb.OriginProposal}},
		{"edges/source", &pb.ListEdges{Source: leaf}},
		{"edges/hub", &pb.ListEdges{Node: hub}},
		{"edges/hub and rare type", &pb.ListEdges{Node: hub, Type: "rare"}},
		{"edges/hub and type of nothing", &pb.ListEdges{Node: hub, Type: "nothing"}},
		{"edges/hub and leaf", &pb.ListEdges{Source: hub, Target: leaf}},
	} {
		measure(l.name, edges(l.op))
	}
	measure("domains", func(p *pb.Page) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: p}}})
	})
	measure("domains/rare keyword", func(p *pb.Page) *pb.Envelope {
		return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: p, Q: "unheard"}}})
	})
}

// fillGraph writes a graph as the worker writes it, but for vectors, and returns
// a node with a tenth of all edges and one with a few.
func fillGraph(b *testing.B, o *tenant.Org, part *partition.Ref) (hub, leaf string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	ch := commit.New(o.Store)
	flush := func(at int) {
		if ch.Bytes() < at {
			return
		}
		if err := o.Committer.CommitChange(ch); err != nil {
			b.Fatal(err)
		}
		ch = commit.New(o.Store)
	}
	// share picks the first part of a list far more often than the last.
	share := func(parts ...string) string { return parts[min(int(rnd.ExpFloat64()*1.2), len(parts)-1)] }
	begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	const year = 365 * 24 * 3600 * 1000
	domains := make([]string, 40)
	for i := range domains {
		domains[i] = fmt.Sprintf("topic %d", i)
	}
	nodes := make([]*pb.Node, benchNodes)
	for i := range nodes {
		content := fmt.Sprintf("Note number%d speaks of matter%d, and of what came of it in the end.", i, i%50)
		n := &pb.Node{
			Id: string(part.NodeFor(content)), Kind: share("document", "entity", "belief", "event", "preference"),
			Title:  fmt.Sprintf("Note number%d", i),
			Status: pb.StatusLive, Domain: domains[rnd.IntN(len(domains))], Authority: 0.5, Confidence: 1,
			Source:    &pb.Source{Type: "ingest", ExternalIds: []string{fmt.Sprint(i)}},
			CreatedMs: begin + int64(i)*year/benchNodes, UpdatedMs: begin, ValidFromMs: begin,
			Metadata: []byte(`{"source":"bench"}`), Chunks: []uint64{uint64(i + 1)},
		}
		switch {
		case i%10 == 1:
			n.Status, n.SupersededBy = pb.StatusSuperseded, nodes[i-1].GetId()
		case i%100 == 3:
			n.Status = pb.StatusTombstoned
		}
		if i%10_000 == 11 {
			n.Kind = "session"
		}
		if i%5_000 == 7 {
			n.Domain = "rare topic"
		}
		nodes[i] = n
	}
	hub, leaf = nodes[0].GetId(), nodes[benchNodes/2].GetId()
	for i := range benchEdges {
		from, to := nodes[rnd.IntN(benchNodes)], nodes[rnd.IntN(benchNodes)]
		if i%10 == 0 {
			from = nodes[0]
		}
		if from == to {
			continue
		}
		e := &pb.Edge{
			Id: fmt.Sprintf("00000000-0000-0000-0000-%012d", i), Source: from.GetId(), Target: to.GetId(),
			Type: share("mentions", "near", "after"), Origin: pb.OriginIngest,
			Weight: 0.5, Confidence: 0.5, Status: pb.StatusLive, CreatedMs: begin + int64(i)*year/benchEdges, UpdatedMs: begin,
			ValidFromMs: begin,
		}
		if i%3 == 0 {
			e.Origin = pb.OriginCognition
		}
		switch i % 10_000 {
		case 10:
			e.Type = "rare"
		case 20:
			e.Type, e.Origin, e.Target = "rare", pb.OriginProposal, leaf
		}
		from.Degree++
		to.Degree++
		graph.PutEdge(ch.Batch, part.Space, nil, e)
		flush(4 << 20)
	}
	state := &pb.PartitionState{
		NextChunk: benchNodes + 1, Nodes: benchNodes, Chunks: benchNodes,
		Model: o.System.Config.Embedder.ID(),
	}
	for i, n := range nodes {
		content := fmt.Sprintf("Note number%d speaks of matter%d, and of what came of it in the end.", i, i%50)
		seq := uint64(i + 1)
		graph.PutNode(ch.Batch, part.Space, graph.NodePlace{}, n)
		ch.Put(part.Space.Key(storage.TableContent, storage.Str(n.GetId())), &pb.Content{Text: content})
		if n.GetStatus() != pb.StatusTombstoned {
			ch.Put(part.Space.Key(storage.TableChunk, storage.U64(seq)), &pb.Chunk{
				Seq: seq, Node: n.GetId(), Text: content,
				Tokens: 20, CreatedMs: n.GetCreatedMs(), End: uint32(len(content)),
			})
			ch.PutRaw(part.Space.Key(storage.TableUnsealed, storage.U64(seq)), nil)
		}
		flush(4 << 20)
	}
	for i := range 1000 {
		id := pb.DomainID{byte(i >> 8), byte(i)}
		graph.PutDomain(ch.Batch, part.Space, &pb.Domain{
			Id: id[:], Label: fmt.Sprintf("Topic %d", i), Keywords: []string{
				"heating", "water",
				cmp.Or(map[int]string{3: "unheard"}[i], "light"),
			}, CreatedMs: begin + int64(i), UpdatedMs: begin,
		})
	}
	ch.Put(part.Space.Key(storage.TableState), state)
	flush(0)
	o.Residents.Drop(part.ID) // it has been filled behind its back
	return hub, leaf
}
