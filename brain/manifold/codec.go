package manifold

import pb "orgmem/proto"

// StateFrom reads what Message gave; the zero State of nil.
func StateFrom(m *pb.MindState) State {
	s := State{
		Version: m.GetVersion(), Refreshes: m.GetRefreshes(), DiscoveredMS: m.GetDiscoveredMs(), Fitted: int(m.GetFitted()),
		Mean: m.GetMean(), Silhouette: m.GetSilhouette(), NextBasin: m.GetNextBasin(), At: m.GetAt(), SinceMS: m.GetSinceMs(),
	}
	for _, a := range m.GetAxes() {
		s.Axes, s.Ratios = append(s.Axes, a.GetVector()), append(s.Ratios, a.GetRatio())
	}
	for _, b := range m.GetBasins() {
		s.Basins = append(s.Basins, Basin{Number: b.GetNumber(), Centroid: b.GetCentroid(), Share: b.GetShare()})
	}
	return s
}

// Message gives the state as it is stored.
func (s *State) Message() *pb.MindState {
	m := &pb.MindState{
		Version: s.Version, Refreshes: s.Refreshes, DiscoveredMs: s.DiscoveredMS, Fitted: uint32(s.Fitted),
		Mean: s.Mean, Silhouette: s.Silhouette, NextBasin: s.NextBasin, At: s.At, SinceMs: s.SinceMS,
	}
	for i, a := range s.Axes {
		axis := &pb.Axis{Vector: a}
		if i < len(s.Ratios) {
			axis.Ratio = s.Ratios[i]
		}
		m.Axes = append(m.Axes, axis)
	}
	for _, b := range s.Basins {
		m.Basins = append(m.Basins, &pb.Dwelling{Number: b.Number, Centroid: b.Centroid, Share: b.Share})
	}
	return m
}

// Summary is what a person sees of the manifold, which lies through a number of signals.
func (s *State) Summary(signals int) *pb.Manifold {
	return &pb.Manifold{
		Version: s.Version, NDimensions: uint32(s.Dimensions()), NBasins: uint32(len(s.Basins)), NSignals: uint32(signals),
		SilhouetteScore: s.Silhouette, VarianceRatios: s.Ratios, CumulativeVariance: s.Cumulative(),
		DiscoveredMs: s.DiscoveredMS, RefreshCount: s.Refreshes,
	}
}
