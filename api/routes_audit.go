package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var auditRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/audit", ID: "listAudit", Tag: tagAudit,
		Summary: "Read the audit trail",
		Description: "What was done in the organization, by which key and user, for which subject, to what, when, with " +
			"which request id; never content. " +
			"The newest act first, in the order in which they became true. An act must pass all filters; a page may hold " +
			"fewer than pageSize while hasMore is true. " +
			"An act stays for 400 days, and the newest 1,000,000 do. What happens in the sandbox is not in it. The acts are " +
			"described in docs/audit.md.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listAuditInput, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_ListAudit{ListAudit: &pb.ListAudit{
			Page: in.Proto(), Actor: string(in.Actor), Action: in.Action, Target: in.Target,
			AfterMs: in.CreatedAfter.Ms, BeforeMs: in.CreatedBefore.Ms,
		}}})
	}, func(reply *pb.Reply) (web.PageOf[auditEntry], bool) {
		list := reply.GetAccount().GetAudit()
		return web.PageFrom(list != nil, list.GetEntries(), list.GetNextCursor(), web.Always(auditEntryOf))
	}),
}

type listAuditInput struct {
	web.Page
	Actor         auditActor `query:"actor" doc:"@listAuditInput.actor"`
	Action        string     `query:"action" minLength:"1" maxLength:"64" doc:"What was done, such as node.forget."`
	Target        string     `query:"target" minLength:"1" maxLength:"512" doc:"@listAuditInput.target"`
	CreatedAfter  bound      `query:"createdAfter" doc:"Done at this time or later."`
	CreatedBefore bound      `query:"createdBefore" doc:"Done before this time."`
}

// auditActor names who acted.
type auditActor string

const auditActorPattern = "^([0-9a-fA-F]{64}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|operator|service)$"

// FromText implements web.FromText.
func (a *auditActor) FromText(text string) *pb.Problem {
	const expected = "expected the id of a key or a user, operator, or service"
	*a = auditActor(strings.ToLower(text))
	if text == "operator" || text == "service" {
		return nil
	}
	if _, err := pb.ParseKeyHash(string(*a)); err == nil {
		return nil
	}
	if id, err := pb.ParseUserID(string(*a)); err != nil || id.String() != string(*a) {
		return problems.Newf(pb.CodeValidation, "%s", expected)
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (auditActor) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: auditActorPattern}
}

type auditEntry struct {
	ID        string          `json:"id" doc:"Larger of a later act; unique in the organization."`
	At        wire.Timestamp  `json:"at"`
	Actor     auditEntryActor `json:"actor"`
	Action    string          `json:"action" doc:"What was done, such as node.forget; more may come."`
	Target    wire.OrNull     `json:"target" doc:"@auditEntry.target"`
	Subject   wire.OrNull     `json:"subject" doc:"@auditEntry.subject"`
	Partition wire.OrNull     `json:"partitionId" doc:"@auditEntry.partitionId"`
	RequestID wire.OrNull     `json:"requestId" doc:"Null where no request did it."`
}

type auditEntryActor struct {
	Type   string      `json:"type" enum:"key,operator,service" doc:"@auditEntryActor.type"`
	KeyID  wire.OrNull `json:"keyId"`
	UserID wire.OrNull `json:"userId"`
}

func auditEntryOf(e *pb.AuditEntry) auditEntry {
	a := e.GetAudit()
	out := auditEntry{
		ID: strconv.FormatUint(e.GetSeq(), 10), At: wire.Timestamp(a.GetAtMs()), Action: a.GetAction(),
		Actor:  auditEntryActor{Type: e.GetActor()},
		Target: wire.OrNull(e.GetTarget()), Subject: wire.OrNull(e.GetSubject()), RequestID: wire.OrNull(a.GetRequestId()),
	}
	if hash, err := pb.KeyHashFrom(a.GetKeyHash()); err == nil {
		out.Actor.KeyID = wire.OrNull(hash.String())
	}
	if id, err := pb.UserIDFrom(a.GetUser()); err == nil {
		out.Actor.UserID = wire.OrNull(id.String())
	}
	if id, err := pb.PartitionIDFrom(a.GetPartition()); err == nil {
		out.Partition = wire.OrNull(id.String())
	}
	return out
}
