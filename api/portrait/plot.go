// Package portrait has an identity's plot in JSON: where its basins lie, and some of
// its passages. It promises that each passage is in a basin of the plot.
package portrait

import (
	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/wire"
	pb "orgmem/proto"
)

// IdentityPlot is the manifold of a memory, seen along its strongest axes.
type IdentityPlot struct {
	Version *uint32      `json:"version" doc:"@identityPlot.version"`
	Signals uint32       `json:"signalCount" doc:"Passages of the manifold; points shows some of them."`
	Axes    []PlotAxis   `json:"axes" doc:"@identityPlot.axes"`
	Basins  []PlotBasin  `json:"basins" doc:"As GET /v1/recall/identity has them, in its order."`
	Points  []PlotSignal `json:"points" doc:"@identityPlot.points"`
}

// TransformSchema implements huma.SchemaTransformer.
func (IdentityPlot) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "version")
}

// PlotAxis is one of the axes.
type PlotAxis struct {
	Share wire.Measure `json:"share" minimum:"0" maximum:"1" doc:"Of the variance, as in manifold.variance_ratios."`
}

// PlotBasin is where a basin lies.
type PlotBasin struct {
	ID      string       `json:"id"`
	Label   string       `json:"label"`
	Share   wire.Measure `json:"share" minimum:"0" maximum:"1" doc:"Of the passages."`
	Current bool         `json:"current" doc:"The person is in it: by the latest passages."`
	X       wire.Measure `json:"x" doc:"Of the middle of its passages."`
	Y       wire.Measure `json:"y"`
	Spread  PlotEllipse  `json:"spread" doc:"@plotBasin.spread"`
}

// PlotEllipse is an ellipse by its half axes.
type PlotEllipse struct {
	Major wire.Measure `json:"major" minimum:"0" doc:"The longer half axis."`
	Minor wire.Measure `json:"minor" minimum:"0" doc:"The shorter half axis."`
	Angle wire.Measure `json:"angle" doc:"@plotEllipse.angle"`
}

// PlotSignal is where a passage lies.
type PlotSignal struct {
	NodeID string         `json:"nodeId" doc:"The text that the passage is of; several passages may be of one."`
	Title  string         `json:"title" doc:"Of the node."`
	Basin  string         `json:"basin" doc:"The id of its basin."`
	X      wire.Measure   `json:"x"`
	Y      wire.Measure   `json:"y"`
	At     wire.Timestamp `json:"at" doc:"When what the text tells happened, else when it was written down."`
}

// Of gives a plot; shares are those of the view's basins, as they are answered elsewhere.
func Of(r *pb.IdentityPlot, shares []wire.Measure) IdentityPlot {
	out := IdentityPlot{Axes: []PlotAxis{}, Basins: []PlotBasin{}, Points: []PlotSignal{}}
	p := r.GetPlot()
	if p == nil {
		return out
	}
	out.Version, out.Signals = new(p.GetVersion()), r.GetView().GetManifold().GetNSignals()
	for _, ratio := range p.GetRatios() {
		out.Axes = append(out.Axes, PlotAxis{wire.Measure(ratio)})
	}
	known := r.GetView().GetBasins()
	for i, b := range p.GetBasins() {
		if i == len(known) || known[i].GetId() != b.GetId() { // they are written together
			break
		}
		out.Basins = append(out.Basins, PlotBasin{
			b.GetId(), known[i].GetLabel(), shares[i], known[i].GetCurrent(), wire.Measure(b.GetX()), wire.Measure(b.GetY()),
			PlotEllipse{wire.Measure(b.GetMajor()), wire.Measure(b.GetMinor()), wire.Measure(b.GetAngle())},
		})
	}
	for _, s := range p.GetSignals() {
		if int(s.GetBasin()) < len(out.Basins) {
			out.Points = append(out.Points, PlotSignal{
				s.GetNode(), s.GetTitle(), out.Basins[s.GetBasin()].ID, wire.Measure(s.GetX()), wire.Measure(s.GetY()),
				wire.Timestamp(s.GetAtMs()),
			})
		}
	}
	return out
}
