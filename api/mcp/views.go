package mcp

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	pb "orgmem/proto"
)

type recallInput struct {
	View  string `json:"view"`
	AsOf  string `json:"asOf"`
	Limit int    `json:"limit"`
}

// item is one line of a view, in the same form for all of them: a model reads it, and
// follows the ids where it wants to know more.
type item struct {
	Kind    string   `json:"kind"`
	Text    text     `json:"text"`
	At      string   `json:"at,omitempty"`
	Until   string   `json:"until,omitempty"`
	NodeIDs []string `json:"nodeIds,omitempty"`
	Stale   []string `json:"stale,omitempty"`
}

type view struct {
	Note  string `json:"note"`
	View  string `json:"view"`
	Items []item `json:"items"`
	// Omitted counts the items that did not fit.
	Omitted int `json:"omitted,omitempty"`
}

func recall(ctx context.Context, s *session, in recallInput) (any, error) {
	return s.view(ctx, in)
}

// view reads a recall view as items, as many as the limit and the bound of an answer hold.
func (s *session) view(ctx context.Context, in recallInput) (view, error) {
	path := "/v1/recall/" + url.PathEscape(in.View)
	if in.AsOf != "" {
		path += "?" + url.Values{"asOf": {in.AsOf}}.Encode()
	}
	var raw rawView
	if err := get(ctx, s, path, &raw); err != nil {
		return view{}, err
	}
	out := view{Note: note, View: in.View, Items: []item{}}
	size := 0
	for _, it := range raw.items(in.View) {
		it.NodeIDs = it.NodeIDs[:min(len(it.NodeIDs), maxIDs)]
		size += len(it.Text) + itemOverhead + idBytes*len(it.NodeIDs)
		if len(out.Items) == orDefault(in.Limit, defaultView) || size > maxAnswer {
			out.Omitted++
			continue
		}
		out.Items = append(out.Items, it)
	}
	return out, nil
}

const (
	// maxIDs bounds the nodes that are named for one item.
	maxIDs = 5
	// itemOverhead and idBytes are what an item takes beside its text, about.
	itemOverhead, idBytes = 60, 80
)

// rawView has the fields of all four views; each has its own of them.
type rawView struct {
	// identity
	Portrait []struct {
		Kind, Text string
		Nodes      []string
	}
	Traits []struct {
		Name    string
		Value   float64
		NodeIDs []string
	}
	Basins []struct {
		Label    string
		Keywords []string
		Share    float64
		Current  bool
		NodeIDs  []string
	}
	// graph
	Domains []struct {
		Label     string
		Keywords  []string
		NodeCount int
		TopNodes  []string
	}
	Nodes []struct {
		ID, Kind, Title string
		Stale           []staleness
	}
	// insights
	Insights []struct {
		Kind, Title, Detail, CreatedAt string
		NodeIDs                        []string
		Stale                          []staleness
	}
	// temporal
	Events []struct {
		Kind, Title, At, Until, NodeID string
	}
	Recurrences []struct {
		Title, Text, NodeID string
		Since, Until        *string
	}
	Trends []struct {
		Topic, Direction, From, Until string
		NodeIDs                       []string
	}
}

func (r rawView) items(of string) []item {
	switch of {
	case pb.RecallIdentity:
		return r.identity()
	case pb.RecallGraph:
		return r.graph()
	case pb.RecallInsights:
		return r.insights()
	}
	return r.temporal()
}

func (r rawView) identity() []item {
	var out []item
	for _, p := range r.Portrait {
		out = append(out, item{Kind: p.Kind, Text: passage(p.Text), NodeIDs: p.Nodes})
	}
	for _, b := range r.Basins {
		said := fmt.Sprintf("%s (%s): %.0f %% of memory", b.Label, strings.Join(b.Keywords, ", "), 100*b.Share)
		if b.Current {
			said += ", where the latest is"
		}
		out = append(out, item{Kind: "basin", Text: passage(said), NodeIDs: b.NodeIDs})
	}
	for _, t := range r.Traits {
		said := t.Name + " " + strconv.FormatFloat(t.Value, 'f', 2, 64)
		out = append(out, item{Kind: "trait", Text: passage(said), NodeIDs: t.NodeIDs})
	}
	return out
}

func (r rawView) graph() []item {
	var out []item
	for _, d := range r.Domains {
		said := fmt.Sprintf("%s: %s (%d memories)", d.Label, strings.Join(d.Keywords, ", "), d.NodeCount)
		out = append(out, item{Kind: "domain", Text: passage(said), NodeIDs: d.TopNodes})
	}
	for _, n := range r.Nodes {
		out = append(out, item{Kind: n.Kind, Text: passage(n.Title), NodeIDs: []string{n.ID}, Stale: reasons(n.Stale)})
	}
	return out
}

func (r rawView) insights() []item {
	var out []item
	for _, i := range r.Insights {
		out = append(out, item{
			Kind: i.Kind, Text: passage(i.Title + ". " + i.Detail), At: i.CreatedAt, NodeIDs: i.NodeIDs, Stale: reasons(i.Stale),
		})
	}
	return out
}

func (r rawView) temporal() []item {
	var out []item
	for _, e := range r.Events {
		out = append(out, item{
			Kind: e.Kind, Text: passage(e.Title), At: e.At, Until: e.Until, NodeIDs: []string{e.NodeID},
		})
	}
	for _, c := range r.Recurrences {
		one := item{Kind: "recurrence", Text: passage(c.Title + ": " + c.Text), NodeIDs: []string{c.NodeID}}
		if c.Since != nil {
			one.At = *c.Since
		}
		if c.Until != nil {
			one.Until = *c.Until
		}
		out = append(out, one)
	}
	for _, t := range r.Trends {
		out = append(out, item{
			Kind: "trend", Text: passage(t.Topic + " is " + t.Direction), At: t.From, Until: t.Until, NodeIDs: t.NodeIDs,
		})
	}
	return out
}
