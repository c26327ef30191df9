package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var domainRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/domains", ID: "listDomains", Tag: tagGraph,
		Summary: "List domains",
		Description: "The topics that the background cycle has found among the effective subject's nodes, newest first; " +
			"none until it has run. What has no label is not listed, and can be got by its id.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listDomainsInput, errs *problems.Violations) {
		checkWords(in.Q, errs)
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{Page: in.Proto(), Q: in.Q}}})
	}, func(reply *pb.Reply) (web.PageOf[domain], bool) {
		list := reply.GetGraph().GetDomains()
		return web.PageFrom(list != nil, list.GetDomains(), list.GetNextCursor(), web.Always(domainOf))
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/domains/{id}", ID: "getDomain", Tag: tagGraph,
		Summary: "Get a domain",
		Scope:   pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeDomainNotFound},
	}, func(env *pb.Envelope, in *domainInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_GetDomain{GetDomain: &pb.GetDomain{Id: in.ID}}})
	}, func(reply *pb.Reply) (domain, bool) {
		d := reply.GetGraph().GetDomain()
		return domainOf(d), d != nil
	}),
}

type listDomainsInput struct {
	web.Page
	Q string `query:"q" minLength:"1" maxLength:"200" blank:"false" doc:"@listDomainsInput.q"`
}

type domainInput struct {
	ID string `path:"id"`
}

type domain struct {
	ID        string         `json:"id" format:"uuid" doc:"@domain.id"`
	Label     string         `json:"label"`
	Keywords  []string       `json:"keywords"`
	NodeCount uint32         `json:"nodeCount"`
	EdgeCount uint32         `json:"edgeCount" doc:"Edges between its nodes."`
	Cohesion  wire.Measure   `json:"cohesion" minimum:"0" maximum:"1" doc:"@domain.cohesion"`
	TopNodes  []string       `json:"topNodes" doc:"The ids of its most central nodes."`
	CreatedAt wire.Timestamp `json:"createdAt"`
	UpdatedAt wire.Timestamp `json:"updatedAt"`
}

func domainOf(d *pb.Domain) domain {
	id, err := pb.DomainIDFrom(d.GetId())
	if err != nil { // no domain: the caller reports it
		return domain{}
	}
	return domain{
		ID: id.String(), Label: d.GetLabel(), Keywords: d.GetKeywords(), NodeCount: d.GetNodes(), EdgeCount: d.GetEdges(),
		Cohesion: wire.Measure(d.GetCohesion()), TopNodes: d.GetTopNodes(), CreatedAt: wire.Timestamp(d.GetCreatedMs()),
		UpdatedAt: wire.NotBefore(d.GetUpdatedMs(), d.GetCreatedMs()),
	}
}
