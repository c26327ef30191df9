package api

import (
	"net/http"

	"orgmem/api/portrait"
	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

var plotRoute = web.On(web.Route{
	Method: http.MethodGet, Path: "/v1/identity/plot", ID: "plotIdentity", Tag: tagRecall,
	Summary: "Where the basins lie, to be drawn",
	Description: "The manifold of the effective subject (GET /v1/recall/identity) seen along its strongest two axes: " +
		"where its basins lie, and at most 500 of its passages. Whatever is forgotten, superseded or edited is gone " +
		"from it at once; the basins' own places are of the last cycle.",
	Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
	Status: http.StatusOK,
}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
	env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_PlotIdentity{PlotIdentity: &pb.PlotIdentity{}}})
}, func(reply *pb.Reply) (portrait.IdentityPlot, bool) {
	r := reply.GetMind().GetPlot()
	return portrait.Of(r, sharesOf(r.GetView().GetBasins())), r != nil
})
