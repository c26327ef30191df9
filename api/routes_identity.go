package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/keys"
	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

var identityRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/me", ID: "getMe", Tag: tagIdentity,
		Summary:     "Who the key stands for",
		Description: "The organization, the user who minted the key, the scopes it holds and the organization's plan.",
		Scope:       pb.ScopeAny, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		env.Op = &pb.Envelope_Me{Me: &pb.Me{}}
	}, func(reply *pb.Reply) (principal, bool) {
		me := reply.GetMe()
		org, err1 := pb.OrgIDFrom(me.GetOrg())
		user, err2 := pb.UserIDFrom(me.GetUser())
		return principal{
			Org:            organizationOf(org, me),
			User:           userRef{user.String()},
			Scopes:         me.GetScopes(),
			SubjectDefault: user.String(),
			Plan:           me.GetPlan(),
		}, me != nil && err1 == nil && err2 == nil
	}),
}

type principal struct {
	Org            organizationRef `json:"org"`
	User           userRef         `json:"user" doc:"The user who minted the key."`
	Scopes         []string        `json:"scopes" doc:"The scopes the key holds."`
	SubjectDefault string          `json:"subjectDefault" format:"uuid" doc:"@principal.subjectDefault"`
	Plan           string          `json:"plan" doc:"The organization's rate-limit plan."`
}

type organizationRef struct {
	ID          string `json:"id" format:"uuid"`
	DisplayName string `json:"displayName"`
	Slug        string `json:"slug"`

	Settings organizationSettings `json:"settings" doc:"What holds for the whole organization."`
}

// organizationSettings are beside the contract.
type organizationSettings struct {
	Embedding embeddingState `json:"embedding" doc:"How far the organization is embedded with the model of today."`
}

type embeddingState struct {
	Model    string `json:"model" doc:"The model that content is embedded with."`
	Chunks   uint64 `json:"chunks" doc:"Chunks of all memories."`
	Embedded uint64 `json:"embedded" doc:"@embeddingState.embedded"`
}

func organizationOf(id pb.OrgID, me *pb.Principal) organizationRef {
	e := me.GetEmbedding()
	return organizationRef{
		ID: id.String(), DisplayName: me.GetOrgName(), Slug: me.GetOrgSlug(),
		Settings: organizationSettings{embeddingState{e.GetModel(), e.GetChunks(), e.GetEmbedded()}},
	}
}

type userRef struct {
	ID string `json:"id" format:"uuid"`
}

var keyRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/keys", ID: "listKeys", Tag: tagKeys,
		Summary:     "List the caller's keys",
		Description: "All keys of the caller, active and revoked, newest first. The keys themselves are never shown again.",
		Scope:       pb.ScopeAny, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		env.Op = &pb.Envelope_ListKeys{ListKeys: &pb.ListKeys{}}
	}, keys.Own),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/keys", ID: "createKey", Tag: tagKeys,
		Summary: "Create a key",
		Description: "The key is shown in this answer and never again; a replay carries a marker in its place. Without " +
			"scopes it inherits the caller's; naming one that the caller lacks is refused.",
		Scope: pb.ScopeAdmin, Family: pb.FamilyDefault, Idempotent: true, Status: http.StatusCreated,
		Problems: []string{pb.CodePermissionDenied, pb.CodeKeyLimitReached},
	}, func(env *pb.Envelope, in *createKeyInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{Label: in.Body.Label, Scopes: in.Body.Scopes}}
	}, keys.Made),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/keys/{key_id}", ID: "revokeKey", Tag: tagKeys,
		Summary: "Revoke a key",
		Description: "Takes effect on the next request. Revoking a revoked key succeeds again; a key of somebody else is " +
			"not found.",
		Scope: pb.ScopeAny, Family: pb.FamilyDefault, Status: http.StatusNoContent,
		Problems: []string{pb.CodeKeyNotFound},
	}, func(env *pb.Envelope, in *keyInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_RevokeKey{RevokeKey: &pb.RevokeKey{Id: in.ID}}
	}, web.AnswerEmpty),
}

type keyInput struct {
	ID string `path:"key_id" doc:"The key's id: the SHA-256 of the key, 64 hexadecimal characters."`
}

type createKeyInput struct {
	Body createKeyBody
}

type createKeyBody struct {
	Label  string   `json:"label" minLength:"1" maxLength:"200" blank:"false" doc:"What the key is for."`
	Scopes []string `json:"scopes,omitempty" minItems:"1" maxItems:"16" doc:"@createKeyBody.scopes"`
}

// TransformSchema implements huma.SchemaTransformer.
func (createKeyBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, scope := range scopes {
		s.Properties["scopes"].Items.Enum = append(s.Properties["scopes"].Items.Enum, scope)
	}
	return s
}
