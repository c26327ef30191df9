package mcp

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	pb "orgmem/proto"
)

// Addresses of resources.
const (
	viewPrefix   = "memory://recall/"
	nodePrefix   = "memory://nodes/"
	nodeTemplate = nodePrefix + "{id}"
	// viewTemplate is a view as it was at a time. In {?asOf} a client would have to escape the colons of the time.
	viewTemplate = viewPrefix + "{view}?asOf={+asOf}"
)

// recallView is a view that is a resource, with what is said of it.
type recallView struct{ name, description string }

var recallViews = []recallView{
	{pb.RecallIdentity, "Who the user is, as memory has it"},
	{pb.RecallGraph, "What memory is about: its domains and its strongest nodes"},
	{pb.RecallInsights, "What follows from memories taken together"},
	{pb.RecallTemporal, "What happened, what is due, and what comes again"},
}

// addResources adds the recall views and the nodes, for a key that may read.
func addResources(server *sdk.Server, scopes []string) {
	if !slices.Contains(scopes, pb.ScopeRead) {
		return
	}
	for _, v := range recallViews {
		server.AddResource(&sdk.Resource{
			URI: viewPrefix + v.name, Name: v.name, Description: v.description, MIMEType: quotation,
		}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return readView(ctx, r.Params.URI, v.name, "")
		})
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: viewTemplate, Name: "view", Description: "A view as it was at a time; identity is of now only",
		MIMEType: quotation,
	}, viewThen)
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: nodeTemplate, Name: "node", Description: "One memory, by the id that a tool has named",
		MIMEType: quotation,
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id, err := url.PathUnescape(strings.TrimPrefix(r.Params.URI, nodePrefix))
		if err != nil {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		s, err := sessionOf(ctx)
		if err != nil {
			return nil, err
		}
		id, _ = s.clean(id) // one that held a secret names no node
		node, err := s.memory(ctx, nodeInput{NodeID: id})
		return s.resource(r.Params.URI, node, err)
	})
}

// viewThen reads a view as it was at the time that the address names.
func viewThen(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	name, then, _ := strings.Cut(strings.TrimPrefix(r.Params.URI, viewPrefix), "?asOf=")
	asOf, err := url.PathUnescape(then) // where a plus sign is itself
	known := slices.ContainsFunc(recallViews, func(v recallView) bool { return v.name == name })
	if err != nil || !known {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return readView(ctx, r.Params.URI, name, asOf)
}

// readView reads a view as a resource, as it is or was.
func readView(ctx context.Context, uri, name, asOf string) (*sdk.ReadResourceResult, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	asOf, _ = s.clean(asOf) // one that held a secret is no time
	read, err := s.view(ctx, recallInput{View: name, AsOf: asOf, Limit: maxView})
	return s.resource(uri, read, err)
}

// quotation is the type of a resource: its JSON stands between marks, since a client puts it
// before a model as it is.
const quotation = "text/plain"

// resource is what was read as text, like the answer of a tool.
func (s *session) resource(uri string, read any, err error) (*sdk.ReadResourceResult, error) {
	if err != nil {
		var r *refusal
		if errors.As(err, &r) && r.Code == pb.CodeNodeNotFound {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return nil, protocolError(err)
	}
	said, err := s.quotation(read)
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: uri, MIMEType: quotation, Text: said,
	}}}, nil
}
