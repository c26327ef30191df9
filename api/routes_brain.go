package api

import (
	"encoding/hex"
	"net/http"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var brainRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/brain/info", ID: "brainInfo", Tag: tagBrain,
		Summary: "What brain is loaded",
		Scope:   pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityBrain,
		Subject: pb.SubjectMode_SUBJECT_REFUSED,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_BrainInfo{BrainInfo: &pb.BrainInfo{}}})
	}, func(reply *pb.Reply) (brainInfo, bool) {
		state := reply.GetMind().GetBrain()
		return brainInfoOf(state), state != nil
	}),
	brainTrainingRoute,
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/brain/query", ID: "queryBrain", Memory: tracing.OperationSearch, Tag: tagBrain,
		Summary: "Query the brain",
		Description: "One forward pass of the organization's trained model, beside what plain likeness of meaning finds. " +
			"topK governs both lists.",
		Scope: pb.ScopeRead, Family: pb.FamilyDefault, Capability: pb.CapabilityBrain,
		Subject:  pb.SubjectMode_SUBJECT_REFUSED,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeBrainNotTrained, pb.CodeBrainNotReady},
	}, func(env *pb.Envelope, in *brainQueryInput, _ *problems.Violations) {
		op := &pb.BrainQuery{Query: in.Body.Query, TopK: 10}
		if in.Body.TopK != nil {
			op.TopK = *in.Body.TopK
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_BrainQuery{BrainQuery: op}})
	}, func(reply *pb.Reply) (brainFound, bool) {
		found := reply.GetMind().GetFound()
		return brainFoundOf(found), found != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/brain/answer", ID: "answerFromBrain", Tag: tagBrain,
		Summary: "Ask for a written answer",
		Description: "The answer is put together from sentences of the cited passages, in their own words but for the " +
			"asker's manner, with who wrote them and when where that was another; where the operator has named a language " +
			"model, that may word it, and no sentence stands in it that the passages which it names do not say. Citations " +
			"stand in the order in which the answer comes to rest on them. Where memory does not answer the question it says " +
			"so, in the question's language. It draws on every partition of the organization but the sandbox. Without a " +
			"trained brain it rests on hybrid search, and gateConfidence is 0.",
		Scope: pb.ScopeRead, Family: pb.FamilyDefault, Capability: pb.CapabilityBrain,
		Subject: pb.SubjectMode_SUBJECT_REFUSED,
		Status:  http.StatusOK,
	}, func(env *pb.Envelope, in *brainAnswerInput, _ *problems.Violations) {
		op := &pb.BrainAnswer{Query: in.Body.Query}
		if in.Body.MaxWords != nil {
			op.MaxWords = *in.Body.MaxWords
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_BrainAnswer{BrainAnswer: op}})
	}, func(reply *pb.Reply) (writtenAnswer, bool) {
		a := reply.GetMind().GetAnswered()
		out := writtenAnswer{
			Answer: a.GetAnswer(), Citations: []citation{}, Voice: wire.OrNull(a.GetVoice()),
			GateConfidence: wire.Measure(a.GetGateConfidence()),
			Usage:          usage{ReadUnits: a.GetReadUnits(), EmbedTokens: a.GetEmbedTokens()},
			Stale:          staleOf(a.GetStale()), StaleIncomplete: a.GetStale().GetIncomplete(),
		}
		for _, c := range a.GetCitations() {
			out.Citations = append(out.Citations, citation{
				c.GetNode(), c.GetChunk(), wire.Score(c.GetScore()), wire.OrNull(c.GetSubject()), spanOf(c),
				staleOf(c.GetStale()), c.GetStale().GetIncomplete(),
			})
		}
		return out, a != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/brain/train", ID: "trainBrain", Tag: tagBrain,
		Summary:     "Train the brain anew",
		Description: "Queues a job of type brain_train; its outcome is in GET /v1/brain/info too.",
		Scope:       pb.ScopeAdmin, Family: pb.FamilyDefault, Subject: pb.SubjectMode_SUBJECT_REFUSED,
		Status:   http.StatusAccepted,
		Problems: []string{pb.CodeTrainInProgress},
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_BrainTrain{BrainTrain: &pb.BrainTrain{}}})
	}, func(reply *pb.Reply) (trainAccepted, bool) {
		job, err := pb.JobIDFrom(reply.GetAccepted().GetJob())
		return trainAccepted{job.String(), reply.GetAccepted().GetStatus()}, err == nil
	}),
}

type trainAccepted struct {
	JobID  string `json:"jobId" format:"uuid"`
	Status string `json:"status" enum:"queued"`
}

type brainQueryInput struct {
	Body brainQueryBody
}

type brainQueryBody struct {
	Query string  `json:"query" minLength:"1" maxLength:"10000" blank:"false"`
	TopK  *uint32 `json:"topK,omitempty" minimum:"1" maximum:"100" default:"10"`
}

type brainAnswerInput struct {
	Body brainAnswerBody
}

type brainAnswerBody struct {
	Query    string  `json:"query" minLength:"1" maxLength:"10000" blank:"false"`
	MaxWords *uint32 `json:"maxWords,omitempty" minimum:"1" maximum:"1000" default:"150"`
}

type brainInfo struct {
	Artifact *brainArtifact `json:"artifact" doc:"@brainInfo.artifact"`
	Training training       `json:"training" doc:"The latest training."`
}

// TransformSchema implements huma.SchemaTransformer.
func (brainInfo) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "artifact")
}

type brainArtifact struct {
	Version    uint64                  `json:"version"`
	TrainedAt  wire.Timestamp          `json:"trainedAt"`
	Nodes      uint64                  `json:"nodes"`
	Edges      uint64                  `json:"edges"`
	Parameters uint64                  `json:"parameters"`
	SHA256     string                  `json:"sha256" pattern:"^[0-9a-f]{64}$"`
	Metrics    map[string]wire.Measure `json:"metrics"`
}

type training struct {
	Status     string                  `json:"status" enum:"none,queued,running,succeeded,rejected,failed" doc:"@training.status"`
	JobID      wire.OrNull             `json:"jobId"`
	StartedAt  wire.Timestamp          `json:"startedAt" nullable:"true"`
	FinishedAt wire.Timestamp          `json:"finishedAt" nullable:"true"`
	Progress   wire.Measure            `json:"progress" minimum:"0" maximum:"1"`
	Metrics    map[string]wire.Measure `json:"metrics"`
	Reason     wire.OrNull             `json:"reason" doc:"Why it was rejected or failed."`
}

func brainInfoOf(state *pb.BrainState) brainInfo {
	t := state.GetTraining()
	out := brainInfo{Training: training{
		Status: t.GetStatus(), StartedAt: wire.Timestamp(t.GetStartedMs()),
		FinishedAt: wire.NotBefore(t.GetFinishedMs(), t.GetStartedMs()),
		Progress:   wire.Measure(t.GetProgress()), Metrics: figures(t.GetMetrics()), Reason: wire.OrNull(t.GetReason()),
	}}
	if id, err := pb.JobIDFrom(t.GetJob()); err == nil {
		out.Training.JobID = wire.OrNull(id.String())
	}
	if a := state.GetArtifact(); a != nil {
		out.Artifact = &brainArtifact{
			Version: a.GetVersion(), TrainedAt: wire.Timestamp(a.GetTrainedMs()), Nodes: a.GetNodes(), Edges: a.GetEdges(),
			Parameters: a.GetParameters(), SHA256: hex.EncodeToString(a.GetSha256()), Metrics: figures(a.GetMetrics()),
		}
	}
	return out
}

// figures is a map that is written as an object even when there are none.
func figures(m map[string]float64) map[string]wire.Measure {
	out := make(map[string]wire.Measure, len(m))
	for name, x := range m {
		out[name] = wire.Measure(x)
	}
	return out
}

type brainFound struct {
	FocalNodes        []focalHit        `json:"focalNodes" doc:"The nodes that hold text, best first."`
	ActivatedEntities []activatedEntity `json:"activatedEntities"`
	CosineTopK        []cosineHit       `json:"cosineTopK" doc:"What likeness of meaning alone finds."`
	GateConfidence    wire.Measure      `json:"gateConfidence" minimum:"0" maximum:"1"`
	DriftRate         wire.Measure      `json:"driftRate" minimum:"0" maximum:"1" doc:"@brainFound.driftRate"`
	PropagationTier   string            `json:"propagationTier" enum:"none,local,regional,global" doc:"@brainFound.propagationTier"`
	ArtifactVersion   uint64            `json:"artifactVersion"`
	Usage             usage             `json:"usage"`
}

type focalHit struct {
	NodeID          string      `json:"nodeId"`
	ExternalID      wire.OrNull `json:"externalId"`
	Title           string      `json:"title"`
	Score           wire.Score  `json:"score"`
	Activation      wire.Score  `json:"activation"`
	Stale           []stale     `json:"stale,omitzero" doc:"@focalHit.stale"`
	StaleIncomplete bool        `json:"staleIncomplete,omitzero" doc:"@focalHit.staleIncomplete"`
}

type activatedEntity struct {
	NodeID     string     `json:"nodeId"`
	Title      string     `json:"title"`
	Activation wire.Score `json:"activation"`
}

type cosineHit struct {
	NodeID          string      `json:"nodeId"`
	ExternalID      wire.OrNull `json:"externalId"`
	Title           string      `json:"title"`
	Score           wire.Score  `json:"score"`
	Stale           []stale     `json:"stale,omitzero" doc:"@cosineHit.stale"`
	StaleIncomplete bool        `json:"staleIncomplete,omitzero" doc:"@cosineHit.staleIncomplete"`
}

func brainFoundOf(f *pb.BrainFound) brainFound {
	out := brainFound{
		FocalNodes: []focalHit{}, ActivatedEntities: []activatedEntity{}, CosineTopK: []cosineHit{},
		GateConfidence: wire.Measure(f.GetGateConfidence()), DriftRate: wire.Measure(f.GetDriftRate()),
		PropagationTier: f.GetPropagationTier(),
		ArtifactVersion: f.GetVersion(), Usage: usage{ReadUnits: f.GetReadUnits(), EmbedTokens: f.GetEmbedTokens()},
	}
	for _, n := range f.GetFocal() {
		out.FocalNodes = append(out.FocalNodes,
			focalHit{
				n.GetNode(), wire.OrNull(n.GetExternalId()), n.GetTitle(), wire.Score(n.GetScore()), wire.Score(n.GetActivation()),
				staleOf(n.GetStale()), n.GetStale().GetIncomplete(),
			})
	}
	for _, n := range f.GetEntities() {
		out.ActivatedEntities = append(out.ActivatedEntities,
			activatedEntity{n.GetNode(), n.GetTitle(), wire.Score(n.GetActivation())})
	}
	for _, n := range f.GetCosine() {
		out.CosineTopK = append(out.CosineTopK,
			cosineHit{
				n.GetNode(), wire.OrNull(n.GetExternalId()), n.GetTitle(), wire.Score(n.GetScore()),
				staleOf(n.GetStale()), n.GetStale().GetIncomplete(),
			})
	}
	return out
}

type writtenAnswer struct {
	Answer          string       `json:"answer"`
	Citations       []citation   `json:"citations" doc:"@writtenAnswer.citations"`
	Voice           wire.OrNull  `json:"voice" doc:"The voice that the answer is written in; null: the passages' own."`
	GateConfidence  wire.Measure `json:"gateConfidence" minimum:"0" maximum:"1"`
	Usage           usage        `json:"usage"`
	Stale           []stale      `json:"stale,omitzero" doc:"@writtenAnswer.stale"`
	StaleIncomplete bool         `json:"staleIncomplete,omitzero" doc:"@writtenAnswer.staleIncomplete"`
}

type citation struct {
	NodeID          string      `json:"nodeId"`
	Chunk           string      `json:"chunk"`
	Score           wire.Score  `json:"score"`
	Subject         wire.OrNull `json:"subject" doc:"@citation.subject"`
	Span            *citedSpan  `json:"span,omitzero" doc:"@citation.span"`
	Stale           []stale     `json:"stale,omitzero" doc:"@citation.stale"`
	StaleIncomplete bool        `json:"staleIncomplete,omitzero" doc:"@citation.staleIncomplete"`
}

type citedSpan struct {
	Start int `json:"start" minimum:"0"`
	End   int `json:"end" minimum:"1"`
}

// spanOf counts in characters what is stored in bytes; nil where the answer rests on the whole chunk.
func spanOf(c *pb.Citation) *citedSpan {
	from, to, chunk := int(c.GetSpanStart()), int(c.GetSpanEnd()), c.GetChunk()
	if from >= to || to > len(chunk) {
		return nil
	}
	start := utf8.RuneCountInString(chunk[:from])
	return &citedSpan{start, start + utf8.RuneCountInString(chunk[from:to])}
}
