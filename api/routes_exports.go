package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var exportRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/exports", ID: "listExports", Tag: tagExports,
		Summary: "List the exports",
		Description: "Those of the effective subject, newest first; without a subject also those of the organization that " +
			"the key's user has made.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listExportsInput, _ *problems.Violations) {
		env.Op = dataOp(&pb.DataOp{Op: &pb.DataOp_ListExports{ListExports: &pb.ListExports{Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[export], bool) {
		list := reply.GetData().GetExports()
		return web.PageFrom(list != nil, list.GetExports(), list.GetNextCursor(), exportOf)
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/exports", ID: "createExport", Tag: tagExports,
		Summary: "Begin an export",
		Description: "Scope `user` is the effective subject's memory and needs `write`; scope `org` is every memory of the " +
			"organization but the sandbox, " +
			"needs `admin`, which suffices, and is for no subject. The document is described in docs/export.md.",
		Scope: pb.ScopeWrite, Family: pb.FamilyExports, Subject: pb.SubjectMode_SUBJECT_AWARE, Idempotent: true,
		MayBeBlank:  true,
		ScopeByBody: true,
		Status:      http.StatusAccepted,
	}, func(env *pb.Envelope, in *createExportInput, _ *problems.Violations) {
		org := in.Body.Scope == pb.ExportScopeOrg
		if org {
			env.Scope = pb.ScopeAdmin
		}
		env.Op = dataOp(&pb.DataOp{Op: &pb.DataOp_CreateExport{CreateExport: &pb.CreateExport{OrgScope: org}}})
	}, answerExport),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/exports/{export_id}", ID: "getExport", Tag: tagExports,
		Summary: "Get an export",
		Scope:   pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
		Problems: []string{pb.CodeExportNotFound},
	}, func(env *pb.Envelope, in *exportInput, _ *problems.Violations) {
		env.Op = dataOp(&pb.DataOp{Op: &pb.DataOp_GetExport{GetExport: &pb.GetExport{Id: in.ID}}})
	}, answerExport),
}

// downloadRoutes are those whose answer is the document of an export, sent piece by piece.
func (s *Server) downloadRoutes() []web.Route {
	return []web.Route{web.Streaming(web.Route{
		Method: http.MethodGet, Path: "/v1/exports/{export_id}/download", ID: "downloadExport", Tag: tagExports,
		Summary: "Download an export",
		Description: "The document, with its length and an ETag. A Range of one part is served with 206, so that a " +
			"download that broke off goes on " +
			"where it stopped; send the ETag in If-Range. An export that has expired is not ready any more.",
		Scope: pb.ScopeRead, Family: pb.FamilyExports, Subject: pb.SubjectMode_SUBJECT_AWARE, Ranges: true,
		Status:   http.StatusOK,
		Statuses: []int{http.StatusPartialContent, http.StatusNotModified},
		Problems: []string{pb.CodeExportNotFound, pb.CodeExportNotReady, pb.CodeRange},
	}, web.ContentJSON[0], func(env *pb.Envelope, in *exportInput, _ *problems.Violations) {
		env.Op = dataOp(&pb.DataOp{Op: &pb.DataOp_DownloadExport{DownloadExport: &pb.DownloadExport{Id: in.ID}}})
	}, s.serveDownload)}
}

func dataOp(op *pb.DataOp) *pb.Envelope_Data { return &pb.Envelope_Data{Data: op} }

type listExportsInput struct{ web.Page }

type createExportInput struct {
	Body struct {
		Scope  string `json:"scope,omitempty" enum:"user,org" default:"user"`
		Format string `json:"format,omitempty" enum:"json" default:"json"`
	}
}

type exportInput struct {
	ID string `path:"export_id"`
}

type export struct {
	ID         string         `json:"exportId" format:"uuid" doc:"Also the id of its job."`
	Status     string         `json:"status" enum:"queued,running,succeeded,failed,expired" doc:"@export.status"`
	Scope      string         `json:"scope" enum:"user,org"`
	Format     string         `json:"format" enum:"json"`
	Bytes      *uint64        `json:"bytes" doc:"Length of the document; null until it is written."`
	SHA256     wire.OrNull    `json:"sha256" doc:"Of the document, in hexadecimal; null until it is written."`
	CreatedAt  wire.Timestamp `json:"createdAt"`
	FinishedAt wire.Timestamp `json:"finishedAt" nullable:"true"`
	ExpiresAt  wire.Timestamp `json:"expiresAt" nullable:"true"`
	Error      wire.OrNull    `json:"error" doc:"Why it failed; null otherwise."`
}

// TransformSchema implements huma.SchemaTransformer.
func (export) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["bytes"].Nullable = true
	return s
}

func answerExport(reply *pb.Reply) (export, bool) { return exportOf(reply.GetData().GetExport()) }

func exportOf(e *pb.Export) (export, bool) {
	id, err := pb.ExportIDFrom(e.GetId())
	if err != nil {
		return export{}, false
	}
	out := export{
		ID: id.String(), Status: e.GetStatus(), Scope: e.GetScope(), Format: e.GetFormat(),
		SHA256:    wire.OrNull(e.GetSha256()),
		CreatedAt: wire.Timestamp(e.GetCreatedMs()), FinishedAt: wire.NotBefore(e.GetFinishedMs(), e.GetCreatedMs()),
		ExpiresAt: wire.Timestamp(e.GetExpiresMs()),
		Error:     wire.OrNull(e.GetError()),
	}
	if e.GetSha256() != "" {
		n := e.GetBytes()
		out.Bytes = &n
	}
	return out, true
}
