package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var purgeRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/purge", ID: "purge", Tag: tagPurge,
		Summary: "Purge a subject's memory, or the organization's",
		Description: "In two steps. A dry run (the default) counts what would go and issues a confirm token, which lives " +
			"10 minutes, is spent by use, " +
			"and stands for this scope, this subject, these counts and this caller. The second call, with `dryRun` false and " +
			"the token, deletes, " +
			"unless the counts have changed. Once it has begun it is carried to its end, also where the node crashes " +
			"meanwhile. Sent again it deletes nothing: " +
			"it is refused and told when the purge was done, or, behind a restart, answered the report of that purge for a " +
			"day. Scope `subject` empties a provisioned subject's memory and keeps it provisioned; scope `org` empties every " +
			"memory " +
			"but the sandbox, and deletes exports and the trained brain; people, keys, subjects, settings, webhooks, " +
			"connectors and usage stay. " +
			"Within a minute nothing of it is left on the node's disk.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyDefault, Status: http.StatusOK,
		Problems: []string{pb.CodeSubjectNotFound, pb.CodeConfirmTokenInvalid, pb.CodePurgeImpactChanged},
	}, func(env *pb.Envelope, in *purgeInput, errs *problems.Violations) {
		b := in.Body
		dryRun := b.DryRun == nil || *b.DryRun
		switch {
		case b.Scope == pb.PurgeScopeSubject && b.SubjectID == "":
			errs.Add("subjectId", "is required with scope subject")
		case b.Scope == pb.PurgeScopeOrg && b.SubjectID != "":
			errs.Add("subjectId", "belongs to scope subject")
		}
		switch {
		case !dryRun && b.ConfirmToken == "":
			errs.Add("confirmToken", "is required when dryRun is false")
		case dryRun && b.ConfirmToken != "":
			errs.Add("confirmToken", "is for the call with dryRun false")
		}
		env.Op = dataOp(&pb.DataOp{Op: &pb.DataOp_Purge{Purge: &pb.Purge{
			Scope: b.Scope, Subject: b.SubjectID, Confirm: !dryRun, Token: b.ConfirmToken,
		}}})
	}, func(reply *pb.Reply) (purgeReport, bool) {
		r := reply.GetData().GetPurge()
		return purgeReport{
			RequestID: r.GetRequest(), Scope: r.GetScope(), SubjectID: r.GetSubject(), DryRun: r.GetDryRun(),
			Counts: r.GetCounts(), TotalRows: r.GetTotal(), ConfirmToken: r.GetConfirmToken(),
			ExpiresAt: wire.Timestamp(r.GetExpiresMs()), PurgedAt: wire.Timestamp(r.GetPurgedMs()),
		}, r != nil
	}),
}

type purgeInput struct {
	Body purgeRequest
}

type purgeRequest struct {
	Scope        string `json:"scope" enum:"subject,org"`
	SubjectID    string `json:"subjectId,omitempty" doc:"The provisioned subject, with scope subject."`
	DryRun       *bool  `json:"dryRun,omitempty" default:"true"`
	ConfirmToken string `json:"confirmToken,omitempty" maxLength:"200" doc:"From the dry run, where dryRun is false."`
}

// TransformSchema implements huma.SchemaTransformer: what each scope and each of the two
// calls needs.
func (purgeRequest) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	given, left := map[string]any{"minLength": 1}, map[string]any{"maxLength": 0}
	var kinds []map[string]any
	for _, scope := range []string{pb.PurgeScopeSubject, pb.PurgeScopeOrg} {
		for _, dry := range []bool{true, false} {
			subject, token, required := left, left, []string{"scope"}
			if scope == pb.PurgeScopeSubject {
				subject, required = given, append(required, "subjectId")
			}
			if !dry {
				token, required = given, append(required, "dryRun", "confirmToken")
			}
			kinds = append(kinds, map[string]any{"required": required, "properties": map[string]any{
				"scope": map[string]any{"const": scope}, "dryRun": map[string]any{"const": dry}, "subjectId": subject,
				"confirmToken": token,
			}})
		}
	}
	return wire.Either(s, kinds...)
}

type purgeReport struct {
	RequestID    string            `json:"requestId"`
	Scope        string            `json:"scope" enum:"subject,org"`
	SubjectID    string            `json:"subjectId,omitempty"`
	DryRun       bool              `json:"dryRun"`
	Counts       map[string]uint64 `json:"counts" doc:"@purgeReport.counts"`
	TotalRows    uint64            `json:"totalRows"`
	ConfirmToken string            `json:"confirmToken,omitempty" doc:"Only from a dry run."`
	ExpiresAt    wire.Timestamp    `json:"expiresAt,omitzero" doc:"When the token expires."`
	PurgedAt     wire.Timestamp    `json:"purgedAt" nullable:"true" doc:"Null on a dry run."`
}
