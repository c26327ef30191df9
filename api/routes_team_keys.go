package api

import (
	"net/http"

	"orgmem/api/keys"
	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

var teamKeyRoutes = []web.Route{web.On(web.Route{
	Method: http.MethodGet, Path: "/v1/team/keys", ID: "listTeamKeys", Tag: tagAccount,
	Summary: "List the keys of all members",
	Description: "Whose keys there are, active and revoked, without the sandbox's: member by member in the order of " +
		"their ids, and of each the oldest first. The keys themselves are never shown, and a key of somebody else " +
		"cannot be revoked.",
	Scope: pb.ScopeAdmin, Family: pb.FamilyReads, Status: http.StatusOK,
}, func(env *pb.Envelope, in *listTeamKeysInput, errs *problems.Violations) {
	accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_ListTeamKeys{ListTeamKeys: &pb.ListTeamKeys{
		Page: in.Proto(), Ids: in.IDs,
	}}})
	if len(in.IDs) > 0 && in.Cursor != "" {
		errs.Add("ids", "cannot go with cursor")
	}
}, keys.Team)}

type listTeamKeysInput struct {
	web.Page
	IDs web.IDs `query:"ids" doc:"@listTeamKeysInput.ids"`
}
