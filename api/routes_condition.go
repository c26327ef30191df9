package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var conditionRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/condition/session", ID: "conditionSession", Tag: tagConditioning,
		Summary: "Get a session's conditioning pack",
		Description: "What another model should know before a session: orgId and userId must be those of the key. " +
			"Texts that name the last part of cwd, and mean it as a name, are mentioned.",
		Scope: pb.ScopeRead, Family: pb.FamilyDefault, Capability: pb.CapabilityCondition,
		Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, in *conditionSessionInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_ConditionSession{ConditionSession: &pb.ConditionSession{
			Org: in.Body.OrgID, User: in.Body.UserID, Cwd: in.Body.CWD,
		}}})
	}, func(reply *pb.Reply) (conditioningPack, bool) {
		p := reply.GetMind().GetPack()
		out := conditioningPack{
			SystemPrompt: p.GetSystemPrompt(), UserVoiceHint: p.GetVoiceHint(), OrgRecentContext: p.GetContext(),
			ExpiresAt: wire.Timestamp(p.GetExpiresMs()),
		}
		return out, p != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/condition/scaffold", ID: "conditionScaffold", Tag: tagConditioning,
		Summary: "Wrap a prompt in what memory knows",
		Description: "Puts passages that are about the prompt before it, best first, as many as maxTokens holds; the " +
			"prompt itself is never cut, and is answered as it is when memory has nothing about it. Tokens are those of the " +
			"embedding model.",
		Scope: pb.ScopeRead, Family: pb.FamilyDefault, Capability: pb.CapabilityCondition,
		Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, in *scaffoldInput, _ *problems.Violations) {
		op := &pb.ConditionScaffold{Prompt: in.Body.Prompt}
		if in.Body.MaxTokens != nil {
			op.MaxTokens = *in.Body.MaxTokens
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_ConditionScaffold{ConditionScaffold: op}})
	}, func(reply *pb.Reply) (scaffoldedPrompt, bool) {
		s := reply.GetMind().GetScaffold()
		out := scaffoldedPrompt{
			Prompt: s.GetPrompt(), FocalNodes: []focalNode{},
			Usage: usage{ReadUnits: s.GetReadUnits(), EmbedTokens: s.GetEmbedTokens()},
		}
		weights := make([]float64, 0, len(s.GetFocal()))
		for _, f := range s.GetFocal() {
			weights = append(weights, f.GetWeight())
		}
		for i, weight := range wire.Shares(weights) {
			f := s.GetFocal()[i]
			out.FocalNodes = append(out.FocalNodes, focalNode{f.GetNode(), f.GetTitle(), weight})
		}
		return out, s != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/retrieve", ID: "retrieve", Memory: tracing.OperationSearch, Tag: tagSearch,
		Summary: "Retrieve by following the graph",
		Description: "Searches, then follows edges of what it found for up to maxHops; a node's score is that of the node " +
			"before it times the edge's weight times one half. paths[i] leads to results[i]. contradictions are the open ones " +
			"of the results.",
		Scope: pb.ScopeRead, Family: pb.FamilySearch, Capability: pb.CapabilityRetrieve,
		Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, in *retrieveInput, _ *problems.Violations) {
		b := &in.Body
		op := &pb.Retrieve{Query: b.Query, OrgScope: b.Scope == pb.SearchScopeOrg, TopK: 10, MaxHops: 2}
		if b.TopK != nil {
			op.TopK = *b.TopK
		}
		if b.MaxHops != nil {
			op.MaxHops = *b.MaxHops
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_Retrieve{Retrieve: op}})
	}, func(reply *pb.Reply) (retrieved, bool) {
		r := reply.GetMind().GetRetrieved()
		out := retrieved{
			Results: hitsOf(r.GetHits()), Paths: make([]hopPath, 0, len(r.GetPaths())), Contradictions: []contradiction{},
			Usage: usage{r.GetReadUnits(), r.GetEmbedTokens(), r.GetBrainVersion()},
		}
		for _, p := range r.GetPaths() {
			out.Paths = append(out.Paths, hopPath{
				p.GetNodes()[len(p.GetNodes())-1], p.GetNodes(), p.GetEdges(), wire.Score(p.GetActivation()),
				staleOf(p.GetStale()), p.GetStale().GetIncomplete(),
			})
		}
		for _, c := range r.GetContradictions() {
			out.Contradictions = append(out.Contradictions, contradictionOf(c))
		}
		return out, r != nil
	}),
}

type conditionSessionInput struct {
	Body conditionSessionBody
}

type conditionSessionBody struct {
	OrgID  string `json:"orgId" format:"uuid"`
	UserID string `json:"userId" format:"uuid"`
	CWD    string `json:"cwd" minLength:"1" maxLength:"4096" blank:"false" doc:"The working directory of the session."`
}

type conditioningPack struct {
	SystemPrompt     string         `json:"systemPrompt"`
	UserVoiceHint    string         `json:"userVoiceHint,omitempty" doc:"@conditioningPack.userVoiceHint"`
	OrgRecentContext []string       `json:"orgRecentContext" doc:"@conditioningPack.orgRecentContext"`
	ExpiresAt        wire.Timestamp `json:"expiresAt" doc:"How long the pack may be kept."`
}

type scaffoldInput struct {
	Body scaffoldBody
}

type scaffoldBody struct {
	Prompt    string  `json:"prompt" minLength:"1" maxLength:"100000" blank:"false"`
	MaxTokens *uint32 `json:"maxTokens,omitempty" minimum:"1" maximum:"32000" default:"1500" doc:"@scaffoldBody.maxTokens"`
}

type scaffoldedPrompt struct {
	Prompt     string      `json:"prompt"`
	FocalNodes []focalNode `json:"focalNodes" doc:"What shaped it, best first."`
	Usage      usage       `json:"usage"`
}

type focalNode struct {
	NodeID string       `json:"nodeId"`
	Title  string       `json:"title"`
	Weight wire.Measure `json:"weight" minimum:"0" maximum:"1" doc:"Their weights add up to 1."`
}

type retrieveInput struct {
	Body retrieveBody
}

type retrieveBody struct {
	Query   string  `json:"query" minLength:"1" maxLength:"10000" blank:"false"`
	Scope   string  `json:"scope,omitempty" enum:"user,org" default:"user"`
	TopK    *uint32 `json:"topK,omitempty" minimum:"1" maximum:"100" default:"10"`
	MaxHops *uint32 `json:"maxHops,omitempty" minimum:"0" maximum:"4" default:"2"`
}

type retrieved struct {
	Results        []hit           `json:"results"`
	Paths          []hopPath       `json:"paths" doc:"One for each result, in their order."`
	Contradictions []contradiction `json:"contradictions"`
	Usage          usage           `json:"usage"`
}

type hopPath struct {
	NodeID          string     `json:"nodeId"`
	Nodes           []string   `json:"nodes" doc:"From what the search found to the result itself."`
	Edges           []string   `json:"edges" doc:"edges[i] joins nodes[i] and nodes[i+1]."`
	Activation      wire.Score `json:"activation"`
	Stale           []stale    `json:"stale,omitzero" doc:"@hopPath.stale"`
	StaleIncomplete bool       `json:"staleIncomplete,omitzero" doc:"@hopPath.staleIncomplete"`
}
