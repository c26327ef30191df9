package orgmem

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// EdgesService is the relations between nodes.
type EdgesService struct{ c *Client }

// List lists edges, the newest first.
func (s EdgesService) List(filter EdgeFilter) List[Edge] {
	return listOf[Edge](s.c, filter, "/v1/graph/edges")
}

// Get reads an edge.
func (s EdgesService) Get(ctx context.Context, id string) (*Edge, error) {
	r, err := at(http.MethodGet, "/v1/graph/edges/", id)
	return send[Edge](ctx, s.c, r, err)
}

// Assert states a relation between two nodes, or states it anew.
func (s EdgesService) Assert(ctx context.Context, edge NewEdge) (*Edge, error) {
	return send[Edge](ctx, s.c, request{method: http.MethodPost, path: "/v1/graph/edges", body: edge, keyed: true}, nil)
}

// Delete forgets an edge.
func (s EdgesService) Delete(ctx context.Context, id string) (*Edge, error) {
	r, err := at(http.MethodDelete, "/v1/graph/edges/", id)
	return send[Edge](ctx, s.c, r, err)
}

// DomainsService is the groups that a cognition cycle finds.
type DomainsService struct{ c *Client }

// List lists the domains that have a label.
func (s DomainsService) List(filter DomainFilter) List[Domain] {
	return listOf[Domain](s.c, filter, "/v1/graph/domains")
}

// Get reads a domain.
func (s DomainsService) Get(ctx context.Context, id string) (*Domain, error) {
	r, err := at(http.MethodGet, "/v1/graph/domains/", id)
	return send[Domain](ctx, s.c, r, err)
}

// RecallService is what has been derived of a memory. Until the first cognition cycle
// its views are empty, which is a normal answer. A zero time is now.
type RecallService struct{ c *Client }

func (s RecallService) view(name string, asOf time.Time) request {
	r := request{method: http.MethodGet, path: "/v1/recall/" + name}
	if !asOf.IsZero() {
		r.query = url.Values{"asOf": {timestamp(asOf)}}
	}
	return r
}

// Identity is who the memory is of.
func (s RecallService) Identity(ctx context.Context) (*IdentityView, error) {
	return send[IdentityView](ctx, s.c, s.view("identity", time.Time{}), nil)
}

// Plot is where the basins of the identity, and some of its passages, lie.
func (s RecallService) Plot(ctx context.Context) (*IdentityPlot, error) {
	return send[IdentityPlot](ctx, s.c, request{method: http.MethodGet, path: "/v1/identity/plot"}, nil)
}

// Graph is the strongest 200 nodes and what is between them.
func (s RecallService) Graph(ctx context.Context, asOf time.Time) (*GraphView, error) {
	return send[GraphView](ctx, s.c, s.view("graph", asOf), nil)
}

// Insights is the newest 200 insights.
func (s RecallService) Insights(ctx context.Context, asOf time.Time) (*InsightsView, error) {
	return send[InsightsView](ctx, s.c, s.view("insights", asOf), nil)
}

// AllInsights lists all of them.
func (s RecallService) AllInsights(asOf time.Time) List[Insight] {
	return listOf[Insight](s.c, asOfQuery{AsOf: asOf}, "/v1/recall/insights")
}

// Temporal is what happened and is due, at most 200, with what repeats.
func (s RecallService) Temporal(ctx context.Context, asOf time.Time) (*TemporalView, error) {
	return send[TemporalView](ctx, s.c, s.view("temporal", asOf), nil)
}

// AllDated lists all that happened and is due, the latest first.
func (s RecallService) AllDated(asOf time.Time) List[Dated] {
	return listOf[Dated](s.c, asOfQuery{AsOf: asOf}, "/v1/recall/temporal")
}

type asOfQuery struct {
	AsOf time.Time `query:"asOf"`
}

// Node reads a node with its passages and neighbours.
func (s RecallService) Node(ctx context.Context, id string) (*RecalledNode, error) {
	r, err := at(http.MethodGet, "/v1/recall/graph/node/", id)
	return send[RecalledNode](ctx, s.c, r, err)
}

// Search finds nodes by words.
func (s RecallService) Search(query RecallQuery) List[NodeMatch] {
	return listOf[NodeMatch](s.c, query, "/v1/recall/graph/search")
}

// Sessions lists coding sessions.
func (s RecallService) Sessions() List[Session] {
	return listOf[Session](s.c, nil, "/v1/recall/sessions")
}

// DeleteSession deletes all that a coding session has left behind.
func (s RecallService) DeleteSession(ctx context.Context, id string) error {
	r, err := at(http.MethodDelete, "/v1/recall/sessions/", id)
	return sendBare(ctx, s.c, r, err)
}

// ContradictionsService is what cannot both hold.
type ContradictionsService struct{ c *Client }

// List lists contradictions of a status, or all if it is empty: the newest first. One
// that is resolved leaves the list, so all of them are open.
func (s ContradictionsService) List(status ContradictionStatus) List[Contradiction] {
	return listOf[Contradiction](s.c, struct {
		Status ContradictionStatus `query:"status"`
	}{status}, "/v1/contradictions")
}

// ProposalsService is edges that a cycle proposes.
type ProposalsService struct{ c *Client }

// List lists proposals of a status, or all of them if it is empty.
func (s ProposalsService) List(status ProposalStatus) List[Proposal] {
	return listOf[Proposal](s.c, struct {
		Status ProposalStatus `query:"status"`
	}{status}, "/v1/proposals")
}

// Accept makes the edge.
func (s ProposalsService) Accept(ctx context.Context, id string) (*Proposal, error) {
	return s.decide(ctx, id, "/accept")
}

// Reject sees to it that the pair is not proposed again.
func (s ProposalsService) Reject(ctx context.Context, id string) (*Proposal, error) {
	return s.decide(ctx, id, "/reject")
}

func (s ProposalsService) decide(ctx context.Context, id, how string) (*Proposal, error) {
	r, err := at(http.MethodPost, "/v1/proposals/", id, how)
	r.keyed = true
	return send[Proposal](ctx, s.c, r, err)
}

// ConditionService prepares the prompt of a model.
type ConditionService struct{ c *Client }

// Session makes what a model gets before a session.
func (s ConditionService) Session(ctx context.Context, session ConditionRequest) (*ConditioningPack, error) {
	return send[ConditioningPack](ctx, s.c, request{method: http.MethodPost, path: "/v1/condition/session", body: session, reads: true}, nil)
}

// Scaffold adds to a prompt what the memory has to say to it.
func (s ConditionService) Scaffold(ctx context.Context, scaffold ScaffoldRequest) (*ScaffoldedPrompt, error) {
	return send[ScaffoldedPrompt](ctx, s.c, request{method: http.MethodPost, path: "/v1/condition/scaffold", body: scaffold, reads: true}, nil)
}
