package search

import (
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// readPlot reads the plot of a partition's manifold, without the passages that no longer stand.
func readPlot(st *storage.Store, part *partition.Ref) (_ *pb.Reply, err error) {
	r, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(r, &err)
	view := &pb.IdentityView{}
	if _, err := r.Get(part.Space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), view); err != nil {
		return nil, err
	}
	m := view.GetManifold()
	out := &pb.IdentityPlot{
		View: &pb.IdentityView{Manifold: m, Basins: view.GetBasins()}, Plot: &pb.ManifoldPlot{},
	}
	found, err := r.Get(part.Space.Key(storage.TableView, storage.Str(graph.ViewPlot)), out.Plot)
	if err != nil {
		return nil, err
	}
	if !found || m == nil || out.Plot.GetVersion() != m.GetVersion() ||
		out.Plot.GetRefreshes() != m.GetRefreshCount() {
		out.Plot = nil
	} else if err := standingSignals(r, part, out.Plot); err != nil {
		return nil, err
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Plot{Plot: out}}), nil
}

// standingSignals leaves the passages that their nodes still have, and adds the nodes' titles.
func standingSignals(r storage.Reader, part *partition.Ref, plot *pb.ManifoldPlot) error {
	nodes := map[string]*pb.Node{}
	for _, s := range plot.GetSignals() {
		if nodes[s.GetNode()] != nil {
			continue
		}
		n := &pb.Node{} // of one that is not there nothing stands
		if _, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(s.GetNode())), n); err != nil {
			return err
		}
		nodes[s.GetNode()] = n
	}
	plot.Signals = slices.DeleteFunc(plot.GetSignals(), func(s *pb.PlotSignal) bool {
		n := nodes[s.GetNode()]
		s.Title = n.GetTitle()
		return !graph.Holds(n, s.GetChunk())
	})
	return nil
}
