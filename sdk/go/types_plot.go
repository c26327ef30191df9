package orgmem

import "time"

// IdentityPlot is the manifold of a person, seen along its strongest axes.
type IdentityPlot struct {
	Extra
	// Two, and x is along the first; one where the passages lie on a line.
	Axes   []PlotAxis  `json:"axes"`
	Basins []PlotBasin `json:"basins"`
	// Some of the passages, at most 500, in the order in which they were written.
	Points []PlotSignal `json:"points"`
	// Passages of the manifold.
	SignalCount int `json:"signalCount"`
	// That of the manifold; nil where no plot was derived.
	Version *int64 `json:"version"`
}

// PlotAxis is one of the axes.
type PlotAxis struct {
	Extra
	// Of the variance.
	Share float64 `json:"share"`
}

// PlotBasin is where a basin lies.
type PlotBasin struct {
	Extra
	Current bool    `json:"current"`
	ID      string  `json:"id"`
	Label   string  `json:"label"`
	Share   float64 `json:"share"`
	// Two standard deviations of its passages.
	Spread PlotEllipse `json:"spread"`
	X      float64     `json:"x"`
	Y      float64     `json:"y"`
}

// PlotEllipse is an ellipse by its half axes.
type PlotEllipse struct {
	Extra
	// How far the longer one is turned from the first axis towards the second, in radians.
	Angle float64 `json:"angle"`
	Major float64 `json:"major"`
	Minor float64 `json:"minor"`
}

// PlotSignal is where a passage lies.
type PlotSignal struct {
	Extra
	At time.Time `json:"at"`
	// The id of its basin.
	Basin  string  `json:"basin"`
	NodeID string  `json:"nodeId"`
	Title  string  `json:"title"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
}
