package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

func accountOp(env *pb.Envelope, op *pb.AccountOp) {
	env.Op = &pb.Envelope_Account{Account: op}
}

var accountRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/me", ID: "deleteMe", Tag: tagAccount,
		Summary: "Delete the account",
		Description: "A personal organization is removed as a whole, with all keys, its sandbox and everything in it. " +
			"In a team the caller goes, with their keys, the sandbox keys they made and their own memory; the other members " +
			"and the provisioned subjects stay. " +
			"The only owner of a team cannot go. From the answer on nothing of it can be reached; its bytes are erased in the " +
			"background. A sandbox key is refused.",
		Scope: pb.ScopeWrite, Family: pb.FamilyDefault, Status: http.StatusNoContent,
		Problems: []string{pb.CodePermissionDenied, pb.CodeLastOwner},
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_DeleteMe{DeleteMe: &pb.DeleteMe{}}})
	}, web.AnswerEmpty),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/team", ID: "getTeam", Tag: tagAccount,
		Summary:     "Get the organization",
		Description: "memberCount counts people: neither provisioned subjects nor the sandbox.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_GetTeam{GetTeam: &pb.GetTeam{}}})
	}, func(reply *pb.Reply) (team, bool) {
		t := reply.GetAccount().GetTeam()
		org, err := pb.OrgIDFrom(t.GetOrg())
		return team{org.String(), t.GetName(), t.GetSlug(), t.GetMembers(), wire.Timestamp(t.GetCreatedMs())}, err == nil
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/team/members", ID: "listMembers", Tag: tagAccount,
		Summary:     "List the organization's members",
		Description: "People only, in the order of their e-mail addresses, bytewise: an order that no write changes.",
		Scope:       pb.ScopeAdmin, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listMembersInput, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_ListMembers{ListMembers: &pb.ListMembers{Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[teamMember], bool) {
		list := reply.GetAccount().GetMembers()
		return web.PageFrom(list != nil, list.GetMembers(), list.GetNextCursor(), func(m *pb.Member) (teamMember, bool) {
			user, err := pb.UserIDFrom(m.GetUser())
			return teamMember{user.String(), m.GetEmail(), m.GetRole(), wire.Timestamp(m.GetCreatedMs())}, err == nil
		})
	}),
}

type listMembersInput struct{ web.Page }

type team struct {
	ID          string         `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	Slug        string         `json:"slug"`
	MemberCount uint64         `json:"memberCount" doc:"The organization's people."`
	CreatedAt   wire.Timestamp `json:"createdAt"`
}

type teamMember struct {
	ID        string         `json:"id" format:"uuid" doc:"The user id."`
	Email     string         `json:"email"`
	Role      string         `json:"role" enum:"owner,admin,member"`
	CreatedAt wire.Timestamp `json:"createdAt"`
}
