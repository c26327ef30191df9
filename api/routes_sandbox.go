package api

import (
	"net/http"

	"orgmem/api/keys"
	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var sandboxRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/sandbox/keys", ID: "listSandboxKeys", Tag: tagSandbox,
		Summary:     "List the sandbox's keys",
		Description: "The keys that have not expired, active and revoked, whoever made them, newest first.",
		Scope:       pb.ScopeAdmin, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listSandboxKeysInput, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{
			Op: &pb.AccountOp_ListSandboxKeys{ListSandboxKeys: &pb.ListSandboxKeys{Page: in.Proto()}},
		})
	}, keys.Sandbox),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/sandbox/keys", ID: "createSandboxKey", Tag: tagSandbox,
		Summary: "Create a key for the sandbox",
		Description: "It reads and writes a memory of its own, apart from the organization's, until it expires. The key is " +
			"shown in this answer and never again. " +
			"The creation is never replayed: a retry makes another key.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyDefault, MayBeBlank: true, Status: http.StatusCreated,
		Problems: []string{pb.CodeKeyLimitReached},
	}, func(env *pb.Envelope, in *createSandboxKeyInput, _ *problems.Violations) {
		op := &pb.CreateSandboxKey{Label: in.Body.Label}
		if in.Body.TTLSeconds != nil {
			op.TtlS = *in.Body.TTLSeconds
		}
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: op}})
	}, keys.MadeForSandbox),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/sandbox/keys/{key_id}", ID: "revokeSandboxKey", Tag: tagSandbox,
		Summary: "Revoke a key of the sandbox",
		Description: "Takes effect on the next request. Revoking a revoked key succeeds again; a key that is not the " +
			"sandbox's is not found.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyDefault, Status: http.StatusNoContent,
		Problems: []string{pb.CodeKeyNotFound},
	}, func(env *pb.Envelope, in *keyInput, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_RevokeSandboxKey{RevokeSandboxKey: &pb.RevokeSandboxKey{Id: in.ID}}})
	}, web.AnswerEmpty),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/sandbox/reset", ID: "resetSandbox", Tag: tagSandbox,
		Summary: "Empty the sandbox",
		Description: "From the answer on the sandbox is new and empty: its memory, settings, jobs, exports, connectors and " +
			"webhook endpoints are gone, and their bytes are erased in the background. " +
			"Its keys survive.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyDefault, Idempotent: true, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_ResetSandbox{ResetSandbox: &pb.ResetSandbox{}}})
	}, func(reply *pb.Reply) (sandboxReset, bool) {
		r := reply.GetAccount().GetSandboxReset()
		return sandboxReset{r.GetSubject(), wire.Timestamp(r.GetAtMs())}, r != nil
	}),
}

type listSandboxKeysInput struct{ web.Page }

type createSandboxKeyInput struct {
	Body createSandboxKeyBody
}

type createSandboxKeyBody struct {
	Label      string `json:"label,omitempty" minLength:"1" maxLength:"200" blank:"false" doc:"What the key is for."`
	TTLSeconds *int64 `json:"ttlSeconds,omitempty" minimum:"3600" maximum:"7776000" doc:"@createSandboxKeyBody.ttlSeconds"`
}

type sandboxReset struct {
	Subject string         `json:"subject"`
	ResetAt wire.Timestamp `json:"resetAt"`
}
