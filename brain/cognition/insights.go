package cognition

import (
	"slices"

	"orgmem/brain/insight"
	pb "orgmem/proto"
)

// Insight is an insight with what it quotes: nodes, which it rests on, too, and domains,
// by their places.
type Insight struct {
	*pb.Insight

	OfNodes, OfDomains []int32
}

// Naming gives what a cycle finds its id: the same when it is found again.
type Naming func(kind string, of ...string) pb.DerivedID

// InsightInput is the graph as package insight takes it, at a time in Unix milliseconds.
func (g *Graph) InsightInput(domains []Domain, nowMS int64) insight.Input {
	number := map[string]int32{}
	in := insight.Input{NowMS: nowMS}
	for i := range domains {
		number[domains[i].ID.String()] = int32(i)
		in.Domains = append(in.Domains, insight.Domain{Label: domains[i].Label, Keywords: domains[i].Keywords})
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		one := insight.Node{
			Title: n.Title, Domain: insight.None, AtMS: n.AtMS, SaidMS: n.ValidMS, Entity: n.Entity(), Bytes: n.Bytes,
		}
		if d, ok := number[n.Domain]; ok {
			one.Domain = d
		}
		in.Nodes = append(in.Nodes, one)
	}
	for _, e := range g.Edges {
		in.Edges = append(in.Edges, insight.Edge{A: e.A, B: e.B, Weight: float32(e.Weight)})
	}
	return in
}

// ShapeInsights are the insights of the graph's shape, with what each rests on. Insights about a text have its date,
// or nowMS if that is earlier; those about a domain have no date yet.
func (g *Graph) ShapeInsights(
	shape []insight.Insight, domains []Domain, nowMS int64, name Naming,
) (found []Insight) {
	for _, x := range shape {
		var of string
		var at int64
		switch {
		case x.ByNode() && len(x.Nodes) > 0:
			n := &g.Nodes[x.Nodes[0]]
			of, at = string(n.ID), max(min(n.AtMS, nowMS), 1)
		case len(x.Domains) > 0:
			of = domains[x.Domains[0]].ID.String()
		default:
			continue
		}
		id := name(x.Kind, of)
		one := &pb.Insight{
			Id: id[:], Kind: x.Kind, Title: x.Title, Detail: x.Detail, Confidence: x.Confidence, CreatedMs: at,
		}
		for _, i := range x.Nodes {
			one.Nodes = append(one.Nodes, string(g.Nodes[i].ID))
		}
		found = append(found, Insight{one, x.Nodes, x.Domains})
	}
	return found
}

// SaidInsights are the insights of what texts say; of are the nodes of the notes. Each is
// called by what it is about, so that it is the same when it is found again, and dated by
// the text that says it, at nowMS at the latest.
func (g *Graph) SaidInsights(said []insight.Ranked, of []int32, nowMS int64, name Naming) (found []Insight) {
	for _, x := range said {
		id := name(x.Kind, x.About...)
		one := &pb.Insight{
			Id: id[:], Kind: x.Kind, Title: x.Title, Detail: x.Detail, Confidence: x.Confidence,
			CreatedMs: max(min(x.AtMS, nowMS), 1), UntilMs: x.UntilMS,
		}
		var nodes []int32
		for _, n := range x.Notes {
			if i := of[n]; !slices.Contains(nodes, i) && len(nodes) < insight.MaxNodes {
				nodes = append(nodes, i)
				one.Nodes = append(one.Nodes, string(g.Nodes[i].ID))
			}
		}
		found = append(found, Insight{one, nodes, nil})
	}
	return found
}
