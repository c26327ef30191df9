package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

var edgeRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/edges", ID: "listEdges", Tag: tagGraph,
		Summary: "List edges",
		Description: "The edges between the effective subject's nodes, newest first, without those that were forgotten. An " +
			"edge must pass all filters.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listEdgesInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{
			Page: in.Proto(), Source: in.Source, Target: in.Target, Node: in.Node, Type: in.Type, Origin: in.Origin,
		}}})
	}, func(reply *pb.Reply) (web.PageOf[edge], bool) {
		list := reply.GetGraph().GetEdges()
		out := web.NewPage[edge](len(list.GetEdges()), list.GetNextCursor())
		for _, e := range list.GetEdges() {
			out.Data = append(out.Data, edgeOf(&pb.EdgeInfo{
				Edge: e, Subject: list.GetSubject(), Stale: list.GetStale()[e.GetId()],
			}))
		}
		return out, list != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/graph/edges", ID: "assertEdge", Tag: tagGraph,
		Summary: "Assert an edge",
		Description: "Says that two live nodes are related: 201. Asserting the same source, target and type again updates " +
			"the edge, 200, and leaves what it does not name. An edge that the service derived between the same nodes stands " +
			"beside it.",
		Scope: pb.ScopeGraph, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Idempotent: true,
		Status:     http.StatusCreated, Statuses: []int{http.StatusOK},
		Problems: []string{pb.CodeNodeNotFound},
	}, func(env *pb.Envelope, in *assertEdgeInput, errs *problems.Violations) {
		b := &in.Body
		checkEdgeType(b.Type, errs)
		if b.Source == b.Target {
			errs.Add("target", "must be another node than source")
		}
		op := &pb.AssertEdge{
			Source: b.Source, Target: b.Target, Type: b.Type, Weight: b.Weight, Confidence: b.Confidence, Note: b.Note,
		}
		if b.DerivedFrom != nil { // an empty list says that it rests on nothing
			op.DerivedFrom = &pb.DerivedFrom{Ids: groundNames(b.DerivedFrom)}
		}
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_AssertEdge{AssertEdge: op}})
	}, answerEdge),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/edges/{edge_id}", ID: "getEdge", Tag: tagGraph,
		Summary:     "Get an edge",
		Description: "A forgotten edge is not found.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph,
		Subject:  pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeEdgeNotFound},
	}, func(env *pb.Envelope, in *edgeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_GetEdge{GetEdge: &pb.GetEdge{Id: in.ID}}})
	}, answerEdge),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/graph/edges/{edge_id}", ID: "forgetEdge", Tag: tagGraph,
		Summary: "Forget an edge",
		Description: "The edge is tombstoned: its note and evidence are erased, and it is in no list and no answer any " +
			"more. Asserted again, it is a new edge.",
		Scope: pb.ScopeForget, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeEdgeNotFound},
	}, func(env *pb.Envelope, in *edgeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: in.ID}}})
	}, answerEdge),
}

type listEdgesInput struct {
	web.Page
	Source string `query:"source" minLength:"1" maxLength:"512" doc:"The id of the node that the edge leads from."`
	Target string `query:"target" minLength:"1" maxLength:"512" doc:"The id of the node that the edge leads to."`
	Node   string `query:"node" minLength:"1" maxLength:"512" doc:"The id of a node at either end."`
	Type   string `query:"type" minLength:"1" maxLength:"64"`
	Origin string `query:"origin" enum:"ingest,asserted,proposal,supersede,cognition"`
}

type edgeInput struct {
	ID string `path:"edge_id"`
}

type assertEdgeInput struct {
	Body assertEdgeBody
}

type assertEdgeBody struct {
	Source     string   `json:"source" minLength:"1" maxLength:"512" doc:"The id of the node that the edge leads from."`
	Target     string   `json:"target" minLength:"1" maxLength:"512" doc:"@assertEdgeBody.target"`
	Type       string   `json:"type" doc:"@assertEdgeBody.type"`
	Weight     *float64 `json:"weight,omitempty" minimum:"0" maximum:"1" doc:"@assertEdgeBody.weight"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"As weight."`
	Note       *string  `json:"note,omitempty" maxLength:"2000" doc:"@assertEdgeBody.note"`

	DerivedFrom []groundName `json:"derivedFrom,omitempty" maxItems:"64" doc:"@assertEdgeBody.derivedFrom"`
}

// TransformSchema implements huma.SchemaTransformer. Source and target are two nodes, which no
// keyword can say.
func (assertEdgeBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	wire.Keyword(s.Properties["type"], "pattern", wire.EdgeTypeText)
	wire.Keyword(s.Properties["type"], "maxLength", maxEdgeType)
	wire.Keyword(s.Properties["type"], "not", map[string]any{"const": supersededBy})
	return s
}

// maxEdgeType bounds an edge's type: a word, not a sentence.
const maxEdgeType = 64

// supersededBy is the type of the edges that superseding a node makes.
const supersededBy = "superseded_by"

func checkEdgeType(t string, errs *problems.Violations) {
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	ok := t != "" && len(t) <= maxEdgeType && letter(t[0])
	for i := range len(t) {
		ok = ok && (letter(t[i]) || t[i] >= '0' && t[i] <= '9' || strings.IndexByte("_-.:", t[i]) >= 0)
	}
	switch {
	case !ok:
		errs.Add("type", "expected 1 to 64 letters, digits and _ - . : beginning with a letter")
	case t == supersededBy:
		errs.Add("type", "is the service's own; supersede the node")
	}
}

func answerEdge(reply *pb.Reply) (edge, bool) {
	e := reply.GetGraph().GetEdge()
	return edgeOf(e), e != nil
}

// edge is an edge as it is answered. Large because each field is one of the answer's JSON,
// which is flat.
type edge struct {
	ID              string         `json:"id"`
	Source          string         `json:"source"`
	Target          string         `json:"target"`
	Type            string         `json:"type"`
	Weight          float64        `json:"weight" minimum:"0" maximum:"1"`
	Confidence      float64        `json:"confidence" minimum:"0" maximum:"1"`
	Origin          string         `json:"origin" enum:"ingest,asserted,proposal,supersede,cognition"`
	Evidence        []string       `json:"evidence" doc:"The chunkIds of the passages that it was found in."`
	Note            wire.OrNull    `json:"note" doc:"What the client said of it."`
	Status          string         `json:"status" enum:"live,superseded,tombstoned"`
	Subject         wire.OrNull    `json:"subject" doc:"@edge.subject"`
	ValidFrom       wire.Timestamp `json:"validFrom" nullable:"true"`
	ValidTo         wire.Timestamp `json:"validTo" nullable:"true" doc:"Null while it holds."`
	CreatedAt       wire.Timestamp `json:"createdAt"`
	UpdatedAt       wire.Timestamp `json:"updatedAt"`
	TombstonedAt    wire.Timestamp `json:"tombstonedAt" nullable:"true"`
	DerivedFrom     []string       `json:"derivedFrom,omitzero" doc:"@edge.derivedFrom"`
	Stale           []stale        `json:"stale,omitzero" doc:"@edge.stale"`
	StaleIncomplete bool           `json:"staleIncomplete,omitzero" doc:"@edge.staleIncomplete"`
}

// strengthOf is an edge's weight or confidence as it is answered: what a client
// asserted as it came, what was computed as a measure.
func strengthOf(e *pb.Edge, x float64) float64 {
	if e.GetOrigin() == pb.OriginAsserted {
		return x
	}
	return canon.Measure(x)
}

func edgeOf(info *pb.EdgeInfo) edge {
	e := info.GetEdge()
	return edge{
		ID: e.GetId(), Source: e.GetSource(), Target: e.GetTarget(), Type: e.GetType(),
		Weight: strengthOf(e, e.GetWeight()), Confidence: strengthOf(e, e.GetConfidence()), Origin: e.GetOrigin(),
		Evidence: e.GetEvidence(), Note: wire.OrNull(e.GetNote()), Status: e.GetStatus(),
		Subject:   wire.OrNull(info.GetSubject()),
		ValidFrom: wire.Timestamp(e.GetValidFromMs()), ValidTo: wire.Timestamp(e.GetValidToMs()),
		CreatedAt: wire.Timestamp(e.GetCreatedMs()), UpdatedAt: wire.NotBefore(e.GetUpdatedMs(), e.GetCreatedMs()),
		TombstonedAt: wire.NotBefore(e.GetTombstonedMs(), e.GetCreatedMs()),
		DerivedFrom:  nodesOf(e.GetGrounds()),
		Stale:        staleOf(info.GetStale()), StaleIncomplete: info.GetStale().GetIncomplete(),
	}
}
