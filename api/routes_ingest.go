package api

import (
	"errors"
	"fmt"
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var ingestRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest", ID: "ingest", Memory: tracing.OperationUpsert, Tag: tagIngest,
		Summary: "Ingest one item",
		Description: "202 means that the item is queued, on disk: it can be found once its job has finished. An externalId " +
			"makes it an upsert.",
		Scope: pb.ScopeWrite, Family: pb.FamilyIngest, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Idempotent: true, LargeBody: true, Status: http.StatusAccepted,
	}, func(env *pb.Envelope, in *ingestInput, errs *problems.Violations) {
		in.Body.check("", errs)
		env.Op = &pb.Envelope_Ingest{Ingest: &pb.Ingest{Items: []*pb.IngestItem{in.Body.proto()}}}
	}, answerAccepted),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest/batch", ID: "ingestBatch", Memory: tracing.OperationUpsert, Tag: tagIngest,
		Summary: "Ingest many items",
		Description: "One job for all items; its result has an entry for each. One bad field refuses the whole batch, " +
			"naming the item.",
		Scope: pb.ScopeWrite, Family: pb.FamilyIngest, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Idempotent: true, LargeBody: true, Status: http.StatusAccepted,
	}, func(env *pb.Envelope, in *ingestBatchInput, errs *problems.Violations) {
		op := &pb.Ingest{Batch: true, Items: make([]*pb.IngestItem, 0, len(in.Body.Items))}
		for i := range in.Body.Items {
			in.Body.Items[i].check(fmt.Sprintf("items[%d].", i), errs)
			op.Items = append(op.Items, in.Body.Items[i].proto())
		}
		env.Op = &pb.Envelope_Ingest{Ingest: op}
	}, answerAccepted),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/ingest/{job_id}/status", ID: "getIngestStatus", Tag: tagIngest,
		Summary: "Progress of an ingestion",
		Description: "The job as GET /v1/jobs/{job_id} shows it, but for its status, which here reads pending, running, " +
			"done, failed or cancelled.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
		Problems: []string{pb.CodeJobNotFound},
	}, func(env *pb.Envelope, in *jobInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_JobStatus{JobStatus: &pb.JobStatus{Id: in.ID}}
	}, func(reply *pb.Reply) (ingestJob, bool) {
		j := reply.GetJob().GetJob()
		status, known := ingestStatuses[j.GetStatus()]
		record, ok := recordOf(j, status)
		return ingestJob(record), ok && known
	}),
}

type ingestInput struct {
	Body ingestItemBody
}

type ingestBatchInput struct {
	Body ingestBatchBody
}

type ingestBatchBody struct {
	Items []ingestItemBody `json:"items" minItems:"1" maxItems:"1000"`
}

type ingestItemBody struct {
	Content    string       `json:"content" minLength:"1" maxLength:"5000000" blank:"false" doc:"The text."`
	Title      string       `json:"title,omitempty" maxLength:"1000"`
	Kind       string       `json:"kind,omitempty" enum:"document,belief,preference,event" default:"document"`
	ExternalID string       `json:"externalId,omitempty" minLength:"1" maxLength:"512" doc:"@ingestItemBody.externalId"`
	OccurredAt wire.Instant `json:"occurredAt,omitzero" doc:"@ingestItemBody.occurredAt"`
	Metadata   wire.Object  `json:"metadata,omitempty" doc:"@ingestItemBody.metadata"`

	DerivedFrom []groundName `json:"derivedFrom,omitempty" maxItems:"64" doc:"@ingestItemBody.derivedFrom"`
}

// limitIngest puts the configured sizes where the tags above say the default
// ones: into the schemas, which judge and document, and into the plan.
func limitIngest(t *web.Table, maxContent, maxBatch int) error {
	registry := t.Registry
	item, batch := registry.Map()["IngestItem"], registry.Map()["IngestBatch"]
	if item == nil || batch == nil {
		return errors.New("routes: no schemas of ingestion")
	}
	for name, field := range map[string]string{
		"IngestItem": "content", "NodePatch": "content", "Supersede": "content", "SessionEvent": "text",
	} {
		content := registry.Map()[name].Properties[field]
		content.MaxLength = &maxContent
		content.PrecomputeMessages()
	}
	batch.Properties["items"].MaxItems = &maxBatch
	batch.Properties["items"].PrecomputeMessages()
	t.LimitList("ingestBatch", "items", maxBatch)
	return nil
}

// check refuses an item that says it was derived from itself. Whether what it names is there its job tells: an item
// before it in the queue may bring it.
func (b *ingestItemBody) check(path string, errs *problems.Violations) {
	for i, name := range b.DerivedFrom {
		if b.ExternalID != "" && string(name) == b.ExternalID {
			errs.Add(fmt.Sprintf("%sderivedFrom[%d]", path, i), "is the item's own externalId")
		}
	}
}

func (b *ingestItemBody) proto() *pb.IngestItem {
	kind := b.Kind
	if kind == "" {
		kind = "document"
	}
	return &pb.IngestItem{
		Content: b.Content, Title: b.Title, Kind: kind, ExternalId: b.ExternalID,
		OccurredMs: b.OccurredAt.Ms, Metadata: b.Metadata, DerivedFrom: groundNames(b.DerivedFrom),
	}
}

type accepted struct {
	JobID  string `json:"jobId" format:"uuid"`
	Status string `json:"status" enum:"pending"`
}

func answerAccepted(reply *pb.Reply) (accepted, bool) {
	a := reply.GetAccepted()
	id, err := pb.JobIDFrom(a.GetJob())
	return accepted{id.String(), a.GetStatus()}, err == nil
}
