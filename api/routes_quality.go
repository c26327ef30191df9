package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/actors/quality"
	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var qualityRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/quality", ID: "evaluateQuality", Tag: tagQuality,
		Summary: "Evaluate a memory",
		Description: "Queues a job of type quality, which asks the memory about its own content; its report is in GET " +
			"/v1/quality. Scope `user` is the effective subject's memory and needs `write`; scope `org` is every memory of " +
			"the organization but the sandbox, needs `admin`, which suffices, and is for no subject. What the figures mean " +
			"is described in docs/quality.md.",
		Scope: pb.ScopeWrite, Family: pb.FamilyDefault, Subject: pb.SubjectMode_SUBJECT_AWARE, Idempotent: true,
		MayBeBlank: true, ScopeByBody: true,
		Status:   http.StatusAccepted,
		Problems: []string{pb.CodeConflict},
	}, func(env *pb.Envelope, in *evaluateQualityInput, _ *problems.Violations) {
		org := in.Body.Scope == pb.QualityScopeOrg
		if org {
			env.Scope = pb.ScopeAdmin
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_EvaluateQuality{EvaluateQuality: &pb.EvaluateQuality{OrgScope: org}}})
	}, func(reply *pb.Reply) (evaluationAccepted, bool) {
		job, err := pb.JobIDFrom(reply.GetAccepted().GetJob())
		return evaluationAccepted{job.String(), reply.GetAccepted().GetStatus()}, err == nil
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/quality", ID: "listQuality", Tag: tagQuality,
		Summary: "List the reports on a memory",
		Description: "Newest first; the last 100 are kept. Each is what one evaluation counted, so that they tell how the " +
			"memory moved. They hold no text and name no node. Scope `org` needs `admin`, and is for no subject.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listQualityInput, _ *problems.Violations) {
		org := in.Scope == pb.QualityScopeOrg
		if org {
			env.Scope = pb.ScopeAdmin
		}
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_ListQuality{ListQuality: &pb.ListQuality{OrgScope: org, Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[qualityReport], bool) {
		list := reply.GetMind().GetQuality()
		return web.PageFrom(list != nil, list.GetReports(), list.GetNextCursor(), qualityReportOf)
	}),
}

type evaluateQualityInput struct {
	Body struct {
		Scope string `json:"scope,omitempty" enum:"user,org" default:"user"`
	}
}

type listQualityInput struct {
	web.Page
	Scope string `query:"scope" enum:"user,org" doc:"user when it is left out."`
}

type evaluationAccepted struct {
	JobID  string `json:"jobId" format:"uuid"`
	Status string `json:"status" enum:"queued"`
}

type qualityReport struct {
	JobID       string         `json:"jobId" format:"uuid" doc:"The job that made it."`
	At          wire.Timestamp `json:"at" doc:"When it was finished."`
	Scope       string         `json:"scope" enum:"user,org"`
	Memories    uint64         `json:"memories" doc:"Live nodes with text that were looked at."`
	Partial     bool           `json:"partial" doc:"There are more of them than are looked at (100,000)."`
	Sampled     uint64         `json:"sampled" doc:"How many of them were read and asked about."`
	Recall      qualityRecall  `json:"recall" doc:"@qualityReport.recall"`
	ByKind      []kindRecall   `json:"byKind" doc:"@qualityReport.byKind"`
	Unfound     qualityShare   `json:"unfound" doc:"@qualityReport.unfound"`
	Duplicates  qualityShare   `json:"nearDuplicates" doc:"@qualityReport.nearDuplicates"`
	Stale       qualityShare   `json:"stale" doc:"@qualityReport.stale"`
	FormerFirst qualityShare   `json:"formerFirst" doc:"@qualityReport.formerFirst"`
	Contradicts qualityShare   `json:"contradicted" doc:"@qualityReport.contradicted"`
	Languages   []languagePart `json:"languages" doc:"@qualityReport.languages"`
	Model       string         `json:"model" doc:"The embedding model that served."`
	Brain       *uint64        `json:"brainVersion" doc:"Of the brain that ranked; null: none did."`
}

// TransformSchema implements huma.SchemaTransformer.
func (qualityReport) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["brainVersion"].Nullable = true
	return s
}

// qualityShare is how many of how many, and the 95 % interval of the share.
type qualityShare struct {
	Count uint64       `json:"count"`
	Of    uint64       `json:"of"`
	Share wire.Measure `json:"share" minimum:"0" maximum:"1" doc:"0 of nothing."`
	Low   wire.Measure `json:"low" minimum:"0" maximum:"1" doc:"@qualityShare.low"`
	High  wire.Measure `json:"high" minimum:"0" maximum:"1"`
}

type qualityRecall struct {
	Questions uint64       `json:"questions"`
	At1       qualityShare `json:"at1"`
	At5       qualityShare `json:"at5"`
	At10      qualityShare `json:"at10"`
}

type kindRecall struct {
	Kind   string        `json:"kind" enum:"words,paraphrase,title,former" doc:"@kindRecall.kind"`
	Recall qualityRecall `json:"recall"`
}

type languagePart struct {
	Language string       `json:"language" doc:"An ISO 639-1 code, or und."`
	Memories qualityShare `json:"memories"`
}

// shareOf is a share with its interval.
func shareOf(n, of uint64) qualityShare {
	out := qualityShare{Count: n, Of: of}
	if of > 0 {
		out.Share = wire.Measure(float64(n) / float64(of))
	}
	low, high := quality.Wilson(n, of)
	out.Low, out.High = wire.Measure(low), wire.Measure(high)
	return out
}

func sharesFound(r *pb.QualityRecall) qualityRecall {
	n := r.GetQuestions()
	return qualityRecall{n, shareOf(r.GetAt1(), n), shareOf(r.GetAt5(), n), shareOf(r.GetAt10(), n)}
}

func qualityReportOf(r *pb.QualityReport) (qualityReport, bool) {
	id, err := pb.JobIDFrom(r.GetJob())
	if err != nil {
		return qualityReport{}, false
	}
	out := qualityReport{
		JobID: id.String(), At: wire.Timestamp(r.GetAtMs()), Scope: pb.QualityScopeUser, Memories: r.GetMemories(),
		Partial: r.GetPartial(), Sampled: r.GetSampled(), Recall: sharesFound(quality.All(r)), ByKind: []kindRecall{},
		Unfound: shareOf(r.GetUnfound(), r.GetAsked()), Duplicates: shareOf(r.GetDuplicates(), r.GetSampled()),
		Stale: shareOf(r.GetStale(), r.GetMemories()), FormerFirst: shareOf(r.GetFormerFirst(), r.GetRankings()),
		Contradicts: shareOf(r.GetContradicted(), r.GetMemories()), Languages: []languagePart{}, Model: r.GetModel(),
	}
	if r.GetOrg() {
		out.Scope = pb.QualityScopeOrg
	}
	if v := r.GetBrain(); v > 0 {
		out.Brain = &v
	}
	for _, of := range quality.ByKind(r) {
		out.ByKind = append(out.ByKind, kindRecall{of.GetKind(), sharesFound(of)})
	}
	for _, l := range quality.LanguagesOf(r) {
		out.Languages = append(out.Languages, languagePart{l, shareOf(r.GetLanguages()[l], r.GetSampled())})
	}
	return out, true
}
