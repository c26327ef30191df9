package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var plotRoute = web.On(web.Route{
	Method: http.MethodGet, Path: "/v1/identity/plot", ID: "plotIdentity", Tag: tagRecall,
	Summary: "Where the basins lie, to be drawn",
	Description: "The manifold of the effective subject (GET /v1/recall/identity) seen along its strongest two axes: where " +
		"its basins lie, and at most 500 of its passages. Whatever is forgotten, superseded or edited is gone from it at " +
		"once; the basins' own places are of the last cycle.",
	Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
	Status: http.StatusOK,
}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
	env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_PlotIdentity{PlotIdentity: &pb.PlotIdentity{}}})
}, func(reply *pb.Reply) (identityPlot, bool) {
	r := reply.GetMind().GetPlot()
	return plotOf(r), r != nil
})

type identityPlot struct {
	Version *uint32      `json:"version" doc:"@identityPlot.version"`
	Signals uint32       `json:"signalCount" doc:"Passages of the manifold; points shows some of them."`
	Axes    []plotAxis   `json:"axes" doc:"@identityPlot.axes"`
	Basins  []plotBasin  `json:"basins" doc:"As GET /v1/recall/identity has them, in its order."`
	Points  []plotSignal `json:"points" doc:"@identityPlot.points"`
}

// TransformSchema implements huma.SchemaTransformer.
func (identityPlot) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "version")
}

type plotAxis struct {
	Share wire.Measure `json:"share" minimum:"0" maximum:"1" doc:"Of the variance, as in manifold.variance_ratios."`
}

type plotBasin struct {
	ID      string       `json:"id"`
	Label   string       `json:"label"`
	Share   wire.Measure `json:"share" minimum:"0" maximum:"1" doc:"Of the passages."`
	Current bool         `json:"current" doc:"The person is in it: by the latest passages."`
	X       wire.Measure `json:"x" doc:"Of the middle of its passages."`
	Y       wire.Measure `json:"y"`
	Spread  plotEllipse  `json:"spread" doc:"@plotBasin.spread"`
}

type plotEllipse struct {
	Major wire.Measure `json:"major" minimum:"0" doc:"The longer half axis."`
	Minor wire.Measure `json:"minor" minimum:"0" doc:"The shorter half axis."`
	Angle wire.Measure `json:"angle" doc:"@plotEllipse.angle"`
}

type plotSignal struct {
	NodeID string         `json:"nodeId" doc:"The text that the passage is of; several passages may be of one."`
	Title  string         `json:"title" doc:"Of the node."`
	Basin  string         `json:"basin" doc:"The id of its basin."`
	X      wire.Measure   `json:"x"`
	Y      wire.Measure   `json:"y"`
	At     wire.Timestamp `json:"at" doc:"When what the text tells happened, else when it was written down."`
}

func plotOf(r *pb.IdentityPlot) identityPlot {
	out := identityPlot{Axes: []plotAxis{}, Basins: []plotBasin{}, Points: []plotSignal{}}
	p := r.GetPlot()
	if p == nil {
		return out
	}
	out.Version, out.Signals = new(p.GetVersion()), r.GetView().GetManifold().GetNSignals()
	for _, ratio := range p.GetRatios() {
		out.Axes = append(out.Axes, plotAxis{wire.Measure(ratio)})
	}
	known := identityOf(r.GetView()).Basins
	for i, b := range p.GetBasins() {
		if i == len(known) || known[i].ID != b.GetId() { // they are written together
			break
		}
		out.Basins = append(out.Basins, plotBasin{
			b.GetId(), known[i].Label, known[i].Share, known[i].Current, wire.Measure(b.GetX()), wire.Measure(b.GetY()),
			plotEllipse{wire.Measure(b.GetMajor()), wire.Measure(b.GetMinor()), wire.Measure(b.GetAngle())},
		})
	}
	for _, s := range p.GetSignals() {
		if int(s.GetBasin()) < len(out.Basins) {
			out.Points = append(out.Points, plotSignal{
				s.GetNode(), s.GetTitle(), out.Basins[s.GetBasin()].ID, wire.Measure(s.GetX()), wire.Measure(s.GetY()),
				wire.Timestamp(s.GetAtMs()),
			})
		}
	}
	return out
}
