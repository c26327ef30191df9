package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var reviewRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/contradictions", ID: "listContradictions", Tag: tagReview,
		Summary: "List open contradictions",
		Description: "Newest first. Every contradiction is open: it is resolved by superseding the losing side, and is " +
			"then no longer listed.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listContradictionsInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{
			Op: &pb.MindOp_ListContradictions{ListContradictions: &pb.ListContradictions{Page: in.Proto(), Status: in.Status}},
		})
	}, func(reply *pb.Reply) (web.PageOf[contradiction], bool) {
		list := reply.GetMind().GetContradictions()
		return web.PageFrom(list != nil, list.GetPairs(), list.GetNextCursor(), web.Always(contradictionOf))
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/proposals", ID: "listProposals", Tag: tagReview,
		Summary:     "List proposals",
		Description: "Connections that the background cycle believes exist, newest first.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall,
		Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, in *listProposalsInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{
			Op: &pb.MindOp_ListProposals{ListProposals: &pb.ListProposals{Page: in.Proto(), Status: in.Status}},
		})
	}, func(reply *pb.Reply) (web.PageOf[proposal], bool) {
		list := reply.GetMind().GetProposals()
		return web.PageFrom(list != nil, list.GetProposals(), list.GetNextCursor(), web.Always(proposalOf))
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/proposals/{proposal_id}/accept", ID: "acceptProposal", Tag: tagReview,
		Summary: "Accept a proposal",
		Description: "Writes the edge, with the origin proposal and the proposal's score as its weight and confidence. " +
			"Accepting it again changes nothing.",
		Scope: pb.ScopeGraph, Family: pb.FamilyWrites, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
		Idempotent: true,
		Problems:   []string{pb.CodeProposalNotFound, pb.CodeProposalDecided},
	}, func(env *pb.Envelope, in *proposalInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{
			Op: &pb.MindOp_DecideProposal{DecideProposal: &pb.DecideProposal{Id: in.ID, Accept: true}},
		})
	}, answerProposal),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/proposals/{proposal_id}/reject", ID: "rejectProposal", Tag: tagReview,
		Summary:     "Reject a proposal",
		Description: "The pair of nodes is not proposed again. Rejecting it again changes nothing.",
		Scope:       pb.ScopeGraph, Family: pb.FamilyWrites, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
		Idempotent: true,
		Problems:   []string{pb.CodeProposalNotFound, pb.CodeProposalDecided},
	}, func(env *pb.Envelope, in *proposalInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_DecideProposal{DecideProposal: &pb.DecideProposal{Id: in.ID}}})
	}, answerProposal),
}

type listContradictionsInput struct {
	web.Page
	Status string `query:"status" enum:"open,resolved" doc:"resolved answers an empty page."`
}

type listProposalsInput struct {
	web.Page
	Status string `query:"status" enum:"open,accepted,rejected" doc:"All when it is left out."`
}

type proposalInput struct {
	ID string `path:"proposal_id"`
}

type contradiction struct {
	ID          string         `json:"id" format:"uuid"`
	NodeA       string         `json:"nodeA"`
	NodeB       string         `json:"nodeB"`
	Kind        string         `json:"kind" enum:"negation,value,temporal,antonym,semantic"`
	Severity    wire.Measure   `json:"severity" minimum:"0" maximum:"1"`
	Explanation string         `json:"explanation"`
	Passages    []passage      `json:"passages" doc:"The texts that hold the claims: nodeA's, then nodeB's."`
	DetectedAt  wire.Timestamp `json:"detectedAt"`
	Status      string         `json:"status" enum:"open"`
}

type passage struct {
	NodeID string `json:"nodeId"`
	Text   string `json:"text"`
}

func contradictionOf(p *pb.ClaimPair) contradiction {
	c := p.GetContradiction()
	return contradiction{
		ID: derivedID(c.GetId()), NodeA: c.GetNodeA(), NodeB: c.GetNodeB(), Kind: c.GetKind(),
		Severity:    wire.Measure(c.GetSeverity()),
		Explanation: c.GetExplanation(), Passages: []passage{{c.GetNodeA(), p.GetTextA()}, {c.GetNodeB(), p.GetTextB()}},
		DetectedAt: wire.Timestamp(c.GetDetectedMs()), Status: pb.ReviewOpen,
	}
}

type proposal struct {
	ID        string         `json:"id" format:"uuid"`
	Source    string         `json:"source"`
	Target    string         `json:"target"`
	Type      string         `json:"type"`
	Score     wire.Measure   `json:"score" minimum:"0" maximum:"1"`
	Rationale string         `json:"rationale"`
	Status    string         `json:"status" enum:"open,accepted,rejected"`
	CreatedAt wire.Timestamp `json:"createdAt"`
	DecidedAt wire.Timestamp `json:"decidedAt" nullable:"true"`
	EdgeID    wire.OrNull    `json:"edgeId" doc:"The edge that accepting it wrote."`
}

func answerProposal(reply *pb.Reply) (proposal, bool) {
	p := reply.GetMind().GetProposal()
	return proposalOf(p), p != nil
}

func proposalOf(p *pb.Proposal) proposal {
	return proposal{
		derivedID(p.GetId()), p.GetSource(), p.GetTarget(), p.GetType(), wire.Measure(p.GetScore()),
		p.GetRationale(), p.GetStatus(),
		wire.Timestamp(p.GetCreatedMs()), wire.NotBefore(p.GetDecidedMs(), p.GetCreatedMs()), wire.OrNull(p.GetEdge()),
	}
}
