package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var jobRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/jobs", ID: "listJobs", Tag: tagJobs,
		Summary: "List jobs",
		Description: "The caller's jobs and those of provisioned subjects, newest first. A finished job can be read for 90 " +
			"days after it was accepted.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listJobsInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Page: in.Proto(), Type: string(in.Type), Status: in.Status}}
	}, func(reply *pb.Reply) (web.PageOf[job], bool) {
		list := reply.GetJobs()
		return web.PageFrom(list != nil, list.GetJobs(), list.GetNextCursor(), jobOf)
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/jobs/{job_id}", ID: "getJob", Tag: tagJobs,
		Summary: "Get a job",
		Description: "Another member's job is not found, for an admin too, nor one that ended and was accepted more than " +
			"90 days ago.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
		Problems: []string{pb.CodeJobNotFound},
	}, func(env *pb.Envelope, in *jobInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: in.ID}}
	}, answerJob),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/jobs/{job_id}/cancel", ID: "cancelJob", Tag: tagJobs,
		Summary:     "Cancel a job",
		Description: "What the job has done stays done; a running job stops within a second, also inside of a long document.",
		Scope:       pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusOK,
		Problems: []string{pb.CodeJobNotFound, pb.CodeJobNotCancellable},
	}, func(env *pb.Envelope, in *jobInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: in.ID}}
	}, answerJob),
}

type listJobsInput struct {
	web.Page
	Type   jobType `query:"type"`
	Status string  `query:"status" enum:"queued,running,succeeded,failed,cancelled"`
}

// jobType is what a job does.
type jobType string

// Schema implements huma.SchemaProvider.
func (jobType) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{
		pb.JobIngest, pb.JobIngestBatch, pb.JobImport, pb.JobTranscript, pb.JobSessionFinalize, pb.JobCognition,
		pb.JobBrainTrain, pb.JobExport, pb.JobSubjectErase, pb.JobConnectorSync,
		pb.JobQuality,
	}}
}

type jobInput struct {
	ID string `path:"job_id"`
}

// jobRecord is a job; the ingest status route has other words for its status.
type jobRecord[Status ~string] struct {
	ID         string         `json:"id" format:"uuid"`
	Type       jobType        `json:"type"`
	Status     Status         `json:"status"`
	Progress   jobProgress    `json:"progress"`
	Subject    wire.OrNull    `json:"subject" doc:"The provisioned subject it works for; null for a person's own."`
	Attempts   uint32         `json:"attempts" doc:"@jobRecord.attempts"`
	CreatedAt  wire.Timestamp `json:"createdAt"`
	StartedAt  wire.Timestamp `json:"startedAt" nullable:"true"`
	FinishedAt wire.Timestamp `json:"finishedAt" nullable:"true"`
	Error      *jobError      `json:"error" doc:"Why it failed; null otherwise."`
	Result     *jobResult     `json:"result" doc:"@jobRecord.result"`
}

type (
	job       jobRecord[jobStatus]
	ingestJob jobRecord[ingestStatus]
)

type jobStatus string

// Schema implements huma.SchemaProvider.
func (jobStatus) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{
		pb.JobQueued, pb.JobRunning, pb.JobSucceeded, pb.JobFailed, pb.JobCancelled,
	}}
}

type ingestStatus string

// Schema implements huma.SchemaProvider.
func (ingestStatus) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{
		pb.JobPending, pb.JobRunning, pb.JobDone, pb.JobFailed, pb.JobCancelled,
	}}
}

// ingestStatuses translates a job's status for the ingest status route.
var ingestStatuses = map[string]ingestStatus{
	pb.JobQueued: pb.JobPending, pb.JobRunning: pb.JobRunning, pb.JobSucceeded: pb.JobDone, pb.JobFailed: pb.JobFailed,
	pb.JobCancelled: pb.JobCancelled,
}

// TransformSchema implements huma.SchemaTransformer.
func (job) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "error", "result")
}

// TransformSchema implements huma.SchemaTransformer.
func (ingestJob) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "error", "result")
}

type jobProgress struct {
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"`
}

type jobError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

type jobResult struct {
	Items []jobItem `json:"items" doc:"Of an ingestion: what became of each item."`
}

type jobItem struct {
	Index      uint32      `json:"index"`
	ExternalID wire.OrNull `json:"externalId"`
	NodeID     wire.OrNull `json:"nodeId"`
	Status     string      `json:"status" enum:"created,unchanged,superseded,revived,failed"`
	Error      string      `json:"error,omitempty" doc:"Why the item failed."`
}

func answerJob(reply *pb.Reply) (job, bool) { return jobOf(reply.GetJob().GetJob()) }

func jobOf(j *pb.Job) (job, bool) {
	record, ok := recordOf(j, jobStatus(j.GetStatus()))
	return job(record), ok
}

func recordOf[Status ~string](j *pb.Job, status Status) (jobRecord[Status], bool) {
	id, err := pb.JobIDFrom(j.GetId())
	if err != nil {
		return jobRecord[Status]{}, false
	}
	out := jobRecord[Status]{
		ID: id.String(), Type: jobType(j.GetType()), Status: status,
		Progress:   jobProgress{j.GetDone(), j.GetTotal()},
		Subject:    wire.OrNull(j.GetSubject()),
		Attempts:   j.GetAttempts(),
		CreatedAt:  wire.Timestamp(j.GetCreatedMs()),
		StartedAt:  wire.NotBefore(j.GetStartedMs(), j.GetCreatedMs()),
		FinishedAt: wire.NotBefore(j.GetFinishedMs(), j.GetCreatedMs(), j.GetStartedMs()),
	}
	if j.GetErrorCode() != "" {
		out.Error = &jobError{j.GetErrorCode(), j.GetErrorDetail()}
	}
	if j.GetFinishedMs() != 0 && len(j.GetItems()) > 0 {
		out.Result = &jobResult{Items: make([]jobItem, 0, len(j.GetItems()))}
		for _, i := range j.GetItems() {
			out.Result.Items = append(out.Result.Items, jobItem{
				i.GetIndex(), wire.OrNull(i.GetExternalId()), wire.OrNull(i.GetNode()), i.GetStatus(), i.GetError(),
			})
		}
	}
	return out, true
}
