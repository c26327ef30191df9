package cognition

import (
	"cmp"
	"slices"
	"strings"

	"orgmem/brain/temporal"
	pb "orgmem/proto"
)

const (
	// maxTrends bounds the trends of the temporal view, and maxTrendNodes the
	// evidence of each.
	maxTrends     = 30
	maxTrendNodes = 10
	// maxTrendEntities bounds the entities whose trends are looked at: those that are
	// named most.
	maxTrendEntities = 200
)

// Trend is a trend with what it quotes: the nodes that it shows, and the domain, if it is
// one's, by their places.
type Trend struct {
	*pb.Trend

	OfNodes, OfDomains []int32
}

// TemporalView tells how regularly something is written, and which topics come up more
// often, or less; the latter are not in the view yet.
func (g *Graph) TemporalView(domains []Domain) (*pb.TemporalView, []Trend) {
	var total []int64
	for i := range g.Nodes {
		if n := &g.Nodes[i]; !n.Entity() && n.AtMS != 0 {
			total = append(total, n.AtMS)
		}
	}
	view := &pb.TemporalView{}
	if len(total) == 0 {
		return view, nil
	}
	from, until := slices.Min(total), slices.Max(total)+1
	var series []temporal.Series
	var topics []Trend
	for k, d := range domains {
		if d.Label == "" {
			continue
		}
		s := temporal.Series{Topic: d.Label}
		for _, i := range d.Members {
			if n := &g.Nodes[i]; !n.Entity() && n.AtMS != 0 {
				s.AtMs = append(s.AtMs, n.AtMS)
			}
		}
		series = append(series, s)
		topics = append(topics, Trend{OfNodes: d.Top[:min(len(d.Top), maxTrendNodes)], OfDomains: []int32{int32(k)}})
	}
	series = g.entitySeries(series, func(entity int32) { topics = append(topics, Trend{OfNodes: []int32{entity}}) })
	trends := temporal.Trends(series, total, from, until)
	slices.SortStableFunc(trends, func(a, b temporal.Trend) int { return cmp.Compare(b.Confidence, a.Confidence) })
	var found []Trend
	for _, t := range trends[:min(len(trends), maxTrends)] {
		x := topics[t.Series]
		x.Trend = &pb.Trend{
			Topic: series[t.Series].Topic, Direction: t.Direction, Change: t.Change, FromMs: t.FromMs, UntilMs: t.UntilMs,
		}
		for _, i := range x.OfNodes {
			x.Nodes = append(x.Nodes, string(g.Nodes[i].ID))
		}
		found = append(found, x)
	}
	if r, ok := temporal.Cadence(total); ok {
		view.Cadence = &pb.Cadence{EveryMs: r.EveryMs, Regularity: r.Regularity, Times: uint32(r.Times)}
	}
	return view, found
}

// entitySeries adds when the entities that are named most were.
func (g *Graph) entitySeries(series []temporal.Series, add func(entity int32)) []temporal.Series {
	times := map[int32][]int64{}
	for _, e := range g.Edges {
		if e.Kind == EdgeMentions && g.Nodes[e.B].Entity() && g.Nodes[e.A].AtMS != 0 {
			times[e.B] = append(times[e.B], g.Nodes[e.A].AtMS)
		}
	}
	var order []int32
	for i := range times {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(len(times[b]), len(times[a])), cmp.Compare(a, b))
	})
	for _, i := range order[:min(len(order), maxTrendEntities)] {
		series = append(series, temporal.Series{Topic: strings.Clone(g.Nodes[i].Title), AtMs: times[i]})
		add(i)
	}
	return series
}
