package portrait_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"orgmem/api/portrait"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// A plot has what the view says of its basins, and no passage of a basin that is not there; without one all is empty.
func TestOf(t *testing.T) {
	t.Parallel()
	view := &pb.IdentityView{
		Manifold: &pb.Manifold{Version: 3, NSignals: 40},
		Basins:   []*pb.Basin{{Id: "basin-1", Label: "figs", Current: true}, {Id: "basin-4", Label: "jars"}},
	}
	drawn := &pb.ManifoldPlot{
		Version: 3, Ratios: []float64{0.5},
		Basins:  []*pb.PlotBasin{{Id: "basin-1", X: 0.25, Major: 0.5}, {Id: "basin-2", X: 1}},
		Signals: []*pb.PlotSignal{{Node: "a", Title: "Figs", AtMs: 1000, X: 0.5}, {Node: "b", Basin: 1}},
	}
	shares := []wire.Measure{0.75, 0.25}
	for _, x := range []struct {
		name string
		of   *pb.IdentityPlot
		want string
	}{
		{"none", &pb.IdentityPlot{View: view}, `{"version":null,"signalCount":0,"axes":[],"basins":[],"points":[]}`},
		{
			"basins of another view", &pb.IdentityPlot{View: view, Plot: drawn},
			`{"version":3,"signalCount":40,"axes":[{"share":0.5}],` +
				`"basins":[{"id":"basin-1","label":"figs","share":0.75,"current":true,"x":0.25,"y":0,` +
				`"spread":{"major":0.5,"minor":0,"angle":0}}],` +
				`"points":[{"nodeId":"a","title":"Figs","basin":"basin-1","x":0.5,"y":0,"at":"1970-01-01T00:00:01.000Z"}]}`,
		},
	} {
		got, err := json.Marshal(portrait.Of(x.of, shares))
		if err != nil || string(got) != x.want {
			t.Errorf("%s: %s %v", x.name, got, err)
		}
	}
}
