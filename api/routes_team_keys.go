package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
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
}, func(reply *pb.Reply) (web.PageOf[teamKey], bool) {
	list := reply.GetAccount().GetTeamKeys()
	return web.PageFrom(list != nil, list.GetKeys(), list.GetNextCursor(), teamKeyOf)
})}

type listTeamKeysInput struct {
	web.Page
	IDs web.IDs `query:"ids" doc:"@listTeamKeysInput.ids"`
}

// teamKey is a key and whose it is.
type teamKey struct {
	UserID     string         `json:"userId" format:"uuid"`
	ID         string         `json:"id" doc:"@apiKey.id"`
	Label      string         `json:"label"`
	Status     string         `json:"status" enum:"active,revoked"`
	CreatedAt  wire.Timestamp `json:"createdAt"`
	LastUsedAt wire.Timestamp `json:"lastUsedAt" nullable:"true" doc:"@apiKey.lastUsedAt"`
}

func teamKeyOf(k *pb.Key) (teamKey, bool) {
	hash, hashErr := pb.KeyHashFrom(k.GetHash())
	user, userErr := pb.UserIDFrom(k.GetUser())
	key, ok := apiKeyOf(hash, k), hashErr == nil && userErr == nil
	return teamKey{user.String(), key.ID, key.Label, key.Status, key.CreatedAt, key.LastUsedAt}, ok
}
