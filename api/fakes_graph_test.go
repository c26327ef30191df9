package api

import pb "orgmem/proto"

// graphSamples holds a valid body for each of the routes of proto/graph.proto that
// want one.
var graphSamples = map[string]string{
	"editNode":      `{"title":"Figs","content":"Figs ripen early.","domainId":null,"reason":"so they said"}`,
	"supersedeNode": `{"content":"Figs ripen early.","reason":"so they said"}`,
	"assertEdge":    `{"source":"ingest:x:y","target":"ingest:x:z","type":"relates_to","weight":0.3,"note":"said so"}`,
}

// graphQueries holds the query of those routes that cannot do without one.
var graphQueries = map[string]string{
	"recallGraphSearch": "q=figs",
}

func fakeNode(id string) *pb.NodeInfo {
	ms := testNow.UnixMilli()
	return &pb.NodeInfo{Content: "Figs ripen late.", Subject: "ann", Etag: `"7-ab"`, Node: &pb.Node{
		Id: id, Kind: "document", Title: "Figs", Authority: 0.5, Confidence: 1, Status: "live",
		Source:      &pb.Source{Type: "ingest", Job: testJob.Bytes(), ExternalIds: []string{"doc-1", "doc-2"}},
		ValidFromMs: ms, CreatedMs: ms, UpdatedMs: ms, Metadata: []byte(`{"page":3}`), Degree: 2,
	}}
}

func fakeTombstone(id string) *pb.NodeInfo {
	n := fakeNode(id)
	n.Content = ""
	n.Node.Status, n.Node.Title, n.Node.Metadata, n.Node.Source.ExternalIds = "tombstoned", "", nil, nil
	n.Node.TombstonedMs, n.Node.RestorableMs = n.GetNode().GetCreatedMs()+1, n.GetNode().GetCreatedMs()+2
	return n
}

func fakeEdge(id string) *pb.Edge {
	ms := testNow.UnixMilli()
	return &pb.Edge{
		Id: id, Source: "ingest:x:y", Target: "ingest:x:z", Type: "relates_to", Weight: 0.4, Confidence: 0.2,
		Origin:   "asserted",
		Evidence: []string{"ingest:x:y:0"}, Status: "live", ValidFromMs: ms, CreatedMs: ms, UpdatedMs: ms, Note: "said so",
	}
}

// fakeGraph answers an operation of proto/graph.proto with a full record.
func fakeGraph(op *pb.GraphOp) *pb.Reply {
	ms := testNow.UnixMilli()
	answer := func(r *pb.GraphResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Graph{Graph: r}} }
	edge := func(e *pb.Edge) *pb.Reply {
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Edge{Edge: &pb.EdgeInfo{Edge: e, Subject: "ann"}}})
	}
	chunk := &pb.Chunk{Node: "ingest:x:y", Ordinal: 1, Text: "Figs ripen late.", TitlePath: []string{"Fruit", "Figs"}}
	domain := &pb.Domain{
		Id: testJob.Bytes(), Label: "Figs", Keywords: []string{"fig", "ripe"}, Nodes: 3, Edges: 2, Cohesion: 0.5,
		TopNodes: []string{"ingest:x:y"}, CreatedMs: ms, UpdatedMs: ms,
	}
	switch op := op.GetOp().(type) {
	case *pb.GraphOp_ListNodes:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Nodes{Nodes: &pb.NodeList{
			NextCursor: "next", Nodes: []*pb.NodeInfo{fakeNode("ingest:x:y"), fakeTombstone("ingest:x:z")},
		}}})
	case *pb.GraphOp_NodeContext:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Surroundings{Surroundings: &pb.NodeSurroundings{
			Node: fakeNode(op.NodeContext.GetId()), Chunks: []*pb.Chunk{chunk},
			Neighbours: []*pb.Neighbour{{Node: fakeNode("ingest:x:z"), Edge: fakeEdge("e")}},
		}}})
	case *pb.GraphOp_SearchNodes:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Matches{Matches: &pb.NodeMatches{
			NextCursor: "next", Matches: []*pb.NodeMatch{{Node: fakeNode("ingest:x:y"), Chunk: chunk}},
		}}})
	case *pb.GraphOp_EntityElsewhere:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Sightings{Sightings: &pb.Sightings{Sightings: []*pb.Sighting{
			{Node: "entity:x:y", Subject: "ann", Partition: testJob.Bytes(), Mentions: 2},
			{Node: "entity:x:z", Partition: testJob.Bytes(), Mentions: 1},
		}}}})
	case *pb.GraphOp_EditNode:
		return &pb.Reply{Result: &pb.Reply_Node{Node: fakeNode(op.EditNode.GetId())}}
	case *pb.GraphOp_ForgetNode:
		return &pb.Reply{Result: &pb.Reply_Node{Node: fakeTombstone(op.ForgetNode.GetId())}}
	case *pb.GraphOp_UndeleteNode:
		n := fakeTombstone(op.UndeleteNode.GetId())
		n.Node.Status, n.Node.TombstonedMs, n.Node.RestorableMs = "live", 0, 0
		return &pb.Reply{Result: &pb.Reply_Node{Node: n}}
	case *pb.GraphOp_SupersedeNode:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Superseded{Superseded: &pb.Superseded{
			OldNode: op.SupersedeNode.GetId(), NewNode: "ingest:x:z",
			Edge: op.SupersedeNode.GetId() + "_ingest:x:z_superseded_by", Created: true, NewAuthority: 0.625,
		}}})
	case *pb.GraphOp_NodeHistory:
		before, after := "Figs", "Ripe figs"
		hash := pb.HashKey(goodKey)
		return answer(&pb.GraphResult{Result: &pb.GraphResult_History{History: &pb.HistoryList{
			NextCursor: "next",
			Changes: []*pb.Audit{
				{AtMs: ms, Action: "forgotten", KeyHash: hash[:], User: testUser.Bytes(), Subject: "ann"},
				{
					AtMs: ms, Action: "updated", Reason: "so they said",
					Changes: []*pb.FieldChange{{Field: "title", Before: &before, After: &after, Cut: true}, {Field: "content"}},
				},
			},
		}}})
	case *pb.GraphOp_ListEdges:
		return answer(&pb.GraphResult{
			Result: &pb.GraphResult_Edges{
				Edges: &pb.EdgeList{NextCursor: "next", Subject: "ann", Edges: []*pb.Edge{fakeEdge("e")}},
			},
		})
	case *pb.GraphOp_AssertEdge:
		r := edge(fakeEdge("e"))
		r.Status = 201
		return r
	case *pb.GraphOp_GetEdge:
		return edge(fakeEdge(op.GetEdge.GetId()))
	case *pb.GraphOp_ForgetEdge:
		e := fakeEdge(op.ForgetEdge.GetId())
		e.Status, e.TombstonedMs, e.Note, e.Evidence = "tombstoned", ms, "", nil
		return edge(e)
	case *pb.GraphOp_ListDomains:
		return answer(&pb.GraphResult{
			Result: &pb.GraphResult_Domains{Domains: &pb.DomainList{NextCursor: "next", Domains: []*pb.Domain{domain}}},
		})
	case *pb.GraphOp_GetDomain:
		return answer(&pb.GraphResult{Result: &pb.GraphResult_Domain{Domain: domain}})
	}
	return fakeProblem(pb.CodeInternal)
}
