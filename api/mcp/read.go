package mcp

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	pb "orgmem/proto"
	"orgmem/proto/canon"
)

var errNoID = errors.New("nodeId is empty")

// hit is a passage that was found.
type hit struct {
	NodeID string   `json:"nodeId"`
	Title  text     `json:"title,omitempty"`
	Text   text     `json:"text"`
	Score  float64  `json:"score"`
	At     string   `json:"createdAt,omitempty"`
	Of     text     `json:"subject,omitempty"`
	Stale  []string `json:"stale,omitempty"`
}

// rawHit is a hit as search and retrieve answer it.
type rawHit struct {
	NodeID, Title, Chunk, CreatedAt string
	Subject                         *string
	Score                           float64
	Stale                           []staleness
}

type staleness struct{ Reason string }

// reasons says each reason once.
func reasons(stale []staleness) []string {
	var out []string
	for _, s := range stale {
		if len(out) == 0 || out[len(out)-1] != s.Reason {
			out = append(out, s.Reason)
		}
	}
	return out
}

func (h rawHit) shown() hit {
	out := hit{
		NodeID: h.NodeID, Text: passage(h.Chunk), Score: h.Score, At: h.CreatedAt, Stale: reasons(h.Stale),
	}
	// A text without a title is called as it begins: that is not told twice.
	if title := canon.Prefix(h.Title, maxTitle); !strings.HasPrefix(h.Chunk, strings.TrimRight(title, " …")) {
		out.Title = text(title)
	}
	if h.Subject != nil {
		out.Of = text(*h.Subject)
	}
	return out
}

type searchInput struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
	Scope string `json:"scope"`
}

type searchBody struct {
	Query   string `json:"query"`
	TopK    int    `json:"topK,omitempty"`
	Scope   string `json:"scope,omitempty"`
	MaxHops int    `json:"maxHops,omitempty"`
}

type found struct {
	Note string `json:"note"`
	Hits []hit  `json:"hits"`
}

func searchMemory(ctx context.Context, s *session, in searchInput) (any, error) {
	var answer struct{ Results []rawHit }
	body := searchBody{Query: in.Query, TopK: orDefault(in.Limit, defaultHits), Scope: in.Scope}
	if err := post(ctx, s, "/v1/search", body, "", &answer); err != nil {
		return nil, err
	}
	out := found{note, []hit{}}
	for _, h := range answer.Results {
		out.Hits = append(out.Hits, h.shown())
	}
	return out, nil
}

func orDefault(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// memory is one node, with a part of its content where that is long.
type memory struct {
	Note         string   `json:"note"`
	NodeID       string   `json:"nodeId"`
	Title        text     `json:"title,omitempty"`
	Content      text     `json:"content"`
	NextOffset   int      `json:"nextOffset,omitempty"`
	Kind         string   `json:"kind"`
	Status       string   `json:"status"`
	SupersededBy string   `json:"supersededBy,omitempty"`
	ExternalID   text     `json:"externalId,omitempty"`
	CreatedAt    string   `json:"createdAt"`
	UpdatedAt    string   `json:"updatedAt"`
	Stale        []string `json:"stale,omitempty"`
}

func getMemory(ctx context.Context, s *session, in nodeInput) (any, error) {
	return s.memory(ctx, in)
}

func (s *session) memory(ctx context.Context, in nodeInput) (memory, error) {
	if in.NodeID == "" {
		return memory{}, badArguments(errNoID)
	}
	var node struct {
		ID, Title, Content, Kind, Status, CreatedAt, UpdatedAt string
		SupersededBy                                           *string
		Source                                                 struct{ ExternalID *string }
		Stale                                                  []staleness
	}
	if err := get(ctx, s, in.path(), &node); err != nil {
		return memory{}, err
	}
	rest := ""
	if in.Offset >= 0 && in.Offset <= len(node.Content) {
		rest = strings.ToValidUTF8(node.Content[in.Offset:], "") // within a character: the next one
	}
	part := canon.Prefix(rest, maxContent)
	out := memory{
		Note: note, NodeID: node.ID, Title: text(node.Title), Content: text(part), Kind: node.Kind, Status: node.Status,
		CreatedAt: node.CreatedAt, UpdatedAt: node.UpdatedAt, Stale: reasons(node.Stale),
	}
	if len(part) < len(rest) {
		out.NextOffset = in.Offset + len(part)
	}
	if node.SupersededBy != nil {
		out.SupersededBy = *node.SupersededBy
	}
	if node.Source.ExternalID != nil {
		out.ExternalID = text(*node.Source.ExternalID)
	}
	return out, nil
}

type listInput struct {
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type contradiction struct {
	ID          string  `json:"id"`
	Kind        string  `json:"kind"`
	Severity    float64 `json:"severity"`
	Explanation text    `json:"explanation"`
	Sides       []side  `json:"sides"`
}

type side struct {
	NodeID string `json:"nodeId"`
	Text   text   `json:"text"`
}

type rawContradiction struct {
	ID, Kind, Explanation string
	Severity              float64
	Passages              []struct{ NodeID, Text string }
}

func (c rawContradiction) shown() contradiction {
	out := contradiction{ID: c.ID, Kind: c.Kind, Severity: c.Severity, Explanation: passage(c.Explanation)}
	for _, p := range c.Passages {
		out.Sides = append(out.Sides, side{p.NodeID, passage(p.Text)})
	}
	return out
}

type contradictions struct {
	Note           string          `json:"note"`
	Contradictions []contradiction `json:"contradictions"`
	NextCursor     string          `json:"nextCursor,omitempty"`
}

func listContradictions(ctx context.Context, s *session, in listInput) (any, error) {
	query := url.Values{"pageSize": {strconv.Itoa(orDefault(in.Limit, defaultList))}}
	if in.Cursor != "" {
		query.Set("cursor", in.Cursor)
	}
	var page struct {
		Data       []rawContradiction
		NextCursor string
	}
	if err := get(ctx, s, "/v1/contradictions?"+query.Encode(), &page); err != nil {
		return nil, err
	}
	out := contradictions{note, []contradiction{}, page.NextCursor}
	for _, c := range page.Data {
		out.Contradictions = append(out.Contradictions, c.shown())
	}
	return out, nil
}

type noInput struct{}

type status struct {
	Note         string   `json:"note"`
	Organization text     `json:"organization"`
	Subject      text     `json:"subject,omitempty"`
	Plan         string   `json:"plan"`
	Scopes       []string `json:"scopes"`
	// The following need the scope read.
	Nodes   *int `json:"nodes,omitempty"`
	Edges   *int `json:"edges,omitempty"`
	Domains *int `json:"domains,omitempty"`
	// Working says that jobs are queued or running: what was added may not be found yet.
	Working *bool `json:"working,omitempty"`
}

// memoryStatus says what it may: a key that cannot read is still told what it can do.
func memoryStatus(ctx context.Context, s *session, _ noInput) (any, error) {
	var who Principal
	if err := ask(ctx, s, WhoAmI(), &who); err != nil {
		return nil, err
	}
	out := status{
		Note: note, Organization: text(who.Org.DisplayName), Subject: text(s.subject), Plan: who.Plan, Scopes: who.Scopes,
	}
	var graph struct {
		Counts struct{ Nodes, Edges, Domains int }
	}
	if err := get(ctx, s, "/v1/recall/"+pb.RecallGraph, &graph); err != nil {
		return out, ifNot(err, pb.CodePermissionDenied)
	}
	out.Nodes, out.Edges, out.Domains = &graph.Counts.Nodes, &graph.Counts.Edges, &graph.Counts.Domains
	working := false
	for _, state := range []string{pb.JobQueued, pb.JobRunning} {
		var jobs struct{ Data []struct{ ID string } }
		if err := get(ctx, s, "/v1/jobs?pageSize=1&status="+state, &jobs); err != nil {
			return nil, err
		}
		working = working || len(jobs.Data) > 0
	}
	out.Working = &working
	return out, nil
}

// ifNot passes an error on, unless it has the code.
func ifNot(err error, code string) error {
	var r *refusal
	if errors.As(err, &r) && r.Code == code {
		return nil
	}
	return err
}
