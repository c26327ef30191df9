package api

import pb "orgmem/proto"

// mindSamples holds a valid body for each of the routes of proto/mind.proto that
// want one.
var mindSamples = map[string]string{
	"queryBrain":        `{"query":"when do figs ripen","topK":3}`,
	"answerFromBrain":   `{"query":"when do figs ripen","maxWords":40}`,
	"conditionSession":  `{"orgId":"` + testOrg.String() + `","userId":"` + testUser.String() + `","cwd":"/src/figs"}`,
	"conditionScaffold": `{"prompt":"Write about figs.","maxTokens":500}`,
	"retrieve":          `{"query":"when do figs ripen","scope":"org","topK":5,"maxHops":3}`,
}

func fakeProposal(status string) *pb.Proposal {
	ms := testNow.UnixMilli()
	p := &pb.Proposal{
		Id: testJob.Bytes(), Source: "ingest:x:y", Target: "ingest:x:z", Type: "relates_to", Score: 0.7,
		Rationale: "Both speak of figs.",
		Status:    status, CreatedMs: ms,
	}
	if status != "open" {
		p.DecidedMs, p.Edge = ms+1, testJob.String()
	}
	return p
}

func fakeClaims() *pb.ClaimPair {
	return &pb.ClaimPair{TextA: "Figs ripen late.", TextB: "Figs ripen early.", Contradiction: &pb.Contradiction{
		Id: testJob.Bytes(), NodeA: "ingest:x:y", NodeB: "ingest:x:z", Kind: "antonym", Severity: 0.6,
		Explanation: "late, early",
		DetectedMs:  testNow.UnixMilli(), ChunkA: 1, ChunkB: 2,
	}}
}

func fakeHit() *pb.Hit {
	return &pb.Hit{
		Chunk: "Figs ripen late.", Node: "ingest:x:y", Title: "Figs", Score: 0.75, ChunkId: "c1",
		CreatedMs: testNow.UnixMilli(),
		Vector:    0.8, Keyword: 3.5,
	}
}

func fakeIdentity() *pb.IdentityView {
	return &pb.IdentityView{
		Manifold: &pb.Manifold{
			Version: 1, NDimensions: 8, NBasins: 2, NSignals: 40, SilhouetteScore: 0.4, VarianceRatios: []float64{0.5, 0.25},
			CumulativeVariance: 0.75, DiscoveredMs: testNow.UnixMilli(), RefreshCount: 2,
		},
		Voice:  &pb.VoiceProfile{MessageWords: 12.5, Formality: 0.5, TechnicalDepth: 0.25, Evidence: 40},
		Traits: []*pb.Trait{{Name: "curious", Value: 0.5, Confidence: 0.5, Nodes: []string{"ingest:x:y"}}},
		Basins: []*pb.Basin{
			{
				Id: "b1", Label: "figs", Keywords: []string{"fig"}, Share: 1, Nodes: []string{"ingest:x:y"}, Current: true,
				SinceMs: testNow.UnixMilli(),
			},
			{Id: "b2"},
		},
		Portrait: []*pb.PortraitLine{{
			Kind: "themes", Text: "Writes most about “figs” (75% of 40 messages).", Nodes: []string{"ingest:x:y"},
			Quotes: []string{"figs"},
		}},
	}
}

// fakeRecall answers each of the views, empty and full.
func fakeRecall(op *pb.Recall) *pb.MindResult {
	ms := testNow.UnixMilli()
	switch op.GetType() {
	case "identity":
		return &pb.MindResult{
			Result: &pb.MindResult_Identity{Identity: &pb.IdentityInfo{User: testUser.Bytes(), View: fakeIdentity()}},
		}
	case "graph":
		return &pb.MindResult{Result: &pb.MindResult_Graph{Graph: &pb.GraphView{
			Nodes: []*pb.Node{fakeNode("ingest:x:y").GetNode()}, Edges: []*pb.Edge{fakeEdge(testJob.String())},
			Domains:    []*pb.Domain{{Id: testJob.Bytes(), Label: "Figs", Nodes: 1, CreatedMs: ms, UpdatedMs: ms}},
			TotalNodes: 9, TotalEdges: 8, TotalDomains: 1, Subject: "ann",
		}}}
	case "temporal":
		list := &pb.TemporalList{
			Moments: []*pb.Moment{{Id: testJob.Bytes(), AtMs: ms, Title: "Figs ripened", Node: "ingest:x:y", Kind: "event"}},
			Trends: []*pb.Trend{
				{Topic: "figs", Direction: "rising", Change: 0.5, FromMs: ms, UntilMs: ms + 1, Nodes: []string{"ingest:x:y"}},
			},
			Paged: op.GetPaged(),
			Recurrences: []*pb.Recurrence{
				{
					Id: testJob.Bytes(), ToldMs: ms, Title: "Figs are sold on the first Saturday of each month but in June, 9 to 11.",
					Text: "the first Saturday of each month", Node: "ingest:x:y", SinceMs: new(ms),
					Every: &pb.Every{
						Unit: "month", Interval: 1, Times: 1, Weekdays: []int32{6}, Nth: []int32{1}, MonthDays: []int32{-1},
						Months: []int32{6}, At: []uint32{540}, End: new(uint32(660)), Except: "in June, Sunday",
						ExceptWeekdays: []int32{7}, ExceptMonths: []int32{6},
					},
				},
				{
					Id: testJob.Bytes(), ToldMs: ms, Title: "Weekly.", Text: "Weekly", Node: "ingest:x:y",
					Every: &pb.Every{Unit: "week", Interval: 1},
				},
			},
		}
		if op.GetPaged() {
			list.NextCursor = "next"
		}
		return &pb.MindResult{Result: &pb.MindResult_Temporal{Temporal: list}}
	default:
		return &pb.MindResult{Result: &pb.MindResult_Insights{Insights: &pb.InsightList{
			Paged: op.GetPaged(),
			Insights: []*pb.Insight{
				{
					Id: testJob.Bytes(), Kind: "pattern", Title: "Figs", Detail: "Figs again.", Confidence: 0.5,
					Nodes: []string{"ingest:x:y"}, CreatedMs: ms,
				},
			},
		}}}
	}
}

// fakeMind answers an operation of proto/mind.proto with a full record.
func fakeMind(op *pb.MindOp) *pb.Reply {
	ms := testNow.UnixMilli()
	answer := func(r *pb.MindResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Mind{Mind: r}} }
	switch op := op.GetOp().(type) {
	case *pb.MindOp_Recall:
		return answer(fakeRecall(op.Recall))
	case *pb.MindOp_GetIdentity:
		return answer(fakeRecall(&pb.Recall{Type: "identity"}))
	case *pb.MindOp_PlotIdentity:
		return answer(&pb.MindResult{Result: &pb.MindResult_Plot{Plot: &pb.IdentityPlot{
			View: fakeIdentity(), Plot: &pb.ManifoldPlot{
				Version: 1, Refreshes: 2, Ratios: []float64{0.5, 0.25},
				Basins: []*pb.PlotBasin{
					{Id: "b1", X: 0.25, Y: -0.5, Major: 0.2, Minor: 0.1, Angle: 0.75}, {Id: "b2", X: -0.25},
				},
				Signals: []*pb.PlotSignal{{Node: "ingest:x:y", Title: "Figs", AtMs: ms, Basin: 1, X: -0.25, Y: 0.125}},
			},
		}}})
	case *pb.MindOp_ListContradictions:
		return answer(&pb.MindResult{Result: &pb.MindResult_Contradictions{Contradictions: &pb.ContradictionList{
			Pairs: []*pb.ClaimPair{fakeClaims()}, NextCursor: "next",
		}}})
	case *pb.MindOp_ListProposals:
		return answer(&pb.MindResult{Result: &pb.MindResult_Proposals{Proposals: &pb.ProposalList{
			Proposals: []*pb.Proposal{fakeProposal("open"), fakeProposal("accepted")},
		}}})
	case *pb.MindOp_DecideProposal:
		status := "rejected"
		if op.DecideProposal.GetAccept() {
			status = "accepted"
		}
		return answer(&pb.MindResult{Result: &pb.MindResult_Proposal{Proposal: fakeProposal(status)}})
	case *pb.MindOp_BrainInfo:
		sum := pb.HashKey(goodKey)
		return answer(&pb.MindResult{Result: &pb.MindResult_Brain{Brain: &pb.BrainState{
			Artifact: &pb.BrainArtifact{
				Version: 3, TrainedMs: ms, Nodes: 10, Edges: 20, Parameters: 30, Sha256: sum[:],
				Metrics: map[string]float64{"recallAt10": 0.5},
			},
			Training: &pb.Training{
				Status: "rejected", Job: testJob.Bytes(), StartedMs: ms, FinishedMs: ms, Progress: 1, Reason: "Not better.",
			},
		}}})
	case *pb.MindOp_BrainQuery:
		one := []*pb.BrainNode{{Node: "ingest:x:y", ExternalId: "doc-1", Title: "Figs", Score: 0.5, Activation: 0.25}}
		return answer(&pb.MindResult{Result: &pb.MindResult_Found{Found: &pb.BrainFound{
			Focal: one, Entities: one, Cosine: one, GateConfidence: 0.5, DriftRate: 0.1, PropagationTier: "local", Version: 3,
			ReadUnits: 1, EmbedTokens: 5,
		}}})
	case *pb.MindOp_BrainAnswer:
		return answer(&pb.MindResult{Result: &pb.MindResult_Answered{Answered: &pb.BrainAnswered{
			Answer: "Figs ripen late.", Citations: []*pb.Citation{{
				Node: "ingest:x:y", Chunk: "Figs ripen late.", Score: 0.75, Subject: "ann", SpanEnd: 16,
			}},
			ReadUnits: 1, EmbedTokens: 5,
		}}})
	case *pb.MindOp_BrainTrain:
		return &pb.Reply{
			Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: testJob.Bytes(), Status: "queued"}},
		}
	case *pb.MindOp_EvaluateQuality:
		return &pb.Reply{
			Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: testJob.Bytes(), Status: "queued"}},
		}
	case *pb.MindOp_ListQuality:
		return answer(&pb.MindResult{Result: &pb.MindResult_Quality{Quality: &pb.QualityList{Reports: []*pb.QualityReport{{
			Job: testJob.Bytes(), AtMs: ms, Org: true, Memories: 7, Sampled: 3, Asked: 3, Unfound: 1,
			Recall:   []*pb.QualityRecall{{Kind: "words", Questions: 3, At1: 1, At5: 2, At10: 2}},
			Rankings: 3, Duplicates: 1, Languages: map[string]uint64{"en": 2, "und": 1}, Model: "words", Brain: 4,
		}}}}})
	case *pb.MindOp_ConditionSession:
		return answer(&pb.MindResult{
			Result: &pb.MindResult_Pack{Pack: &pb.Pack{SystemPrompt: "You …", Context: []string{"Figs"}, ExpiresMs: ms}},
		})
	case *pb.MindOp_ConditionScaffold:
		return answer(&pb.MindResult{Result: &pb.MindResult_Scaffold{Scaffold: &pb.Scaffold{
			Prompt: "Figs. Write about figs.", Focal: []*pb.FocalNode{{Node: "ingest:x:y", Title: "Figs", Weight: 1}},
			ReadUnits: 1, EmbedTokens: 5,
		}}})
	case *pb.MindOp_Retrieve:
		return answer(&pb.MindResult{Result: &pb.MindResult_Retrieved{Retrieved: &pb.Retrieved{
			Hits: []*pb.Hit{fakeHit(), fakeHit()},
			Paths: []*pb.Path{
				{Nodes: []string{"ingest:x:y"}, Activation: 0.75},
				{Nodes: []string{"ingest:x:y", "ingest:x:z"}, Edges: []string{testJob.String()}, Activation: 0.2},
			},
			Contradictions: []*pb.ClaimPair{fakeClaims()}, ReadUnits: 1, EmbedTokens: 5,
		}}})
	}
	return fakeProblem(pb.CodeInternal)
}
