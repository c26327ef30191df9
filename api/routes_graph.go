package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/proto/tracing"
)

var graphRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/nodes", ID: "listNodes", Tag: tagGraph,
		Summary: "List nodes",
		Description: "The effective subject's nodes, newest first, without their content. Superseded nodes are listed, " +
			"tombstoned ones only with status=tombstoned. With q, those that hold every word of it, in any form of the word, " +
			"in their title or content.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listNodesInput, errs *problems.Violations) {
		checkWords(in.Q, errs)
		if len(in.IDs) > 0 && (in.Q != "" || in.ExternalID != "" || in.Cursor != "") {
			errs.Add("ids", "cannot go with q, externalId or cursor")
		}
		op := &pb.ListNodes{
			Page: in.Proto(), Kind: in.Kind, Domain: in.DomainID, Status: in.Status, Q: in.Q, ExternalId: in.ExternalID,
			Ids: in.IDs,
		}
		if in.CreatedAfter.given {
			op.CreatedAfterMs = &in.CreatedAfter.Ms
		}
		if in.CreatedBefore.given {
			op.CreatedBeforeMs = &in.CreatedBefore.Ms
		}
		op.AsOfMs = in.AsOf.Ms
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: op}})
	}, func(reply *pb.Reply) (web.PageOf[node], bool) {
		list := reply.GetGraph().GetNodes()
		return web.PageFrom(list != nil, list.GetNodes(), list.GetNextCursor(), web.Always(nodeOf))
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/nodes/{node_id}", ID: "getNode", Tag: tagGraph,
		Summary:     "Get a node",
		Description: "A forgotten node is not found. The ETag names this version of the node, for the If-Match of an edit.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph,
		Subject:  pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound},
	}, func(env *pb.Envelope, in *nodeInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: in.ID}}
	}, answerNode),
}

// elsewhereRoutes show where else in the organization an entity is named.
var elsewhereRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/nodes/{node_id}/elsewhere", ID: "entityElsewhere", Tag: tagGraph,
		Summary: "Where else an entity is named",
		Description: "The other memories of the organization that name the same entity, as far as its name alone can tell: " +
			"whose, by which node, in how many texts. Nothing of what they say. A selected subject may not ask. Computed when " +
			"it is asked, at most 1,000.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound, pb.CodePermissionDenied},
	}, func(env *pb.Envelope, in *nodeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_EntityElsewhere{EntityElsewhere: &pb.EntityElsewhere{Id: in.ID}}})
	}, func(reply *pb.Reply) (elsewhere, bool) {
		found := reply.GetGraph().GetSightings()
		out := elsewhere{Data: []sighting{}, HasMore: found.GetMore()}
		for _, s := range found.GetSightings() {
			one := sighting{NodeID: s.GetNode(), Mentions: s.GetMentions()}
			if s.GetSubject() != "" {
				one.Subject = new(s.GetSubject())
			} else if user, err := pb.UserIDFrom(s.GetPartition()); err == nil {
				one.UserID = new(user.String())
			}
			out.Data = append(out.Data, one)
		}
		return out, found != nil
	}),
}

type elsewhere struct {
	Data    []sighting `json:"data"`
	HasMore bool       `json:"hasMore"`
}

type sighting struct {
	NodeID   string  `json:"nodeId"`
	Subject  *string `json:"subject" doc:"Whose memory it is, where that is a provisioned subject's."`
	UserID   *string `json:"userId" doc:"Whose memory it is, where that is a member's."`
	Mentions uint32  `json:"mentions" doc:"How many texts there name it."`
}

// TransformSchema implements huma.SchemaTransformer.
func (sighting) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "subject", "userId")
}

// recallGraphRoutes are the two views of the graph below /v1/recall.
var recallGraphRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/recall/graph/node/{node_id}", ID: "recallNode", Tag: tagRecall,
		Summary: "Recall a node with its chunks and neighbours",
		Description: "Chunks come in the order of the text. Of a node with more than 100 edges the neighbours by the " +
			"newest 100 are shown; GET /v1/graph/edges with node lists them all.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound},
	}, func(env *pb.Envelope, in *nodeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_NodeContext{NodeContext: &pb.NodeContext{Id: in.ID}}})
	}, func(reply *pb.Reply) (recalledNode, bool) {
		found := reply.GetGraph().GetSurroundings()
		out := recalledNode{node: nodeOf(found.GetNode()), Chunks: []nodeChunk{}, Neighbours: []neighbour{}}
		for _, c := range found.GetChunks() {
			out.Chunks = append(out.Chunks, nodeChunkOf(c))
		}
		for _, n := range found.GetNeighbours() {
			out.Neighbours = append(out.Neighbours,
				neighbour{nodeOf(n.GetNode()), edgeOf(&pb.EdgeInfo{
					Edge: n.GetEdge(), Subject: n.GetNode().GetSubject(), Stale: n.GetStale(),
				})})
		}
		return out, found != nil
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/recall/graph/search", ID: "recallGraphSearch", Tag: tagRecall,
		Memory:  tracing.OperationSearch,
		Summary: "Search the text of nodes",
		Description: "The nodes that hold every word of q, in any form of the word, in their title or content, each with a " +
			"passage that holds one; superseded nodes too. Newest first and not by rank, so that pages stay true while the " +
			"memory changes; POST /v1/search ranks.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, in *recallSearchInput, errs *problems.Violations) {
		checkWords(in.Q, errs)
		env.Op = graphOp(&pb.GraphOp{
			Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{Page: in.Proto(), Q: in.Q, AsOfMs: in.AsOf.Ms}},
		})
	}, func(reply *pb.Reply) (web.PageOf[nodeMatch], bool) {
		list := reply.GetGraph().GetMatches()
		out := web.NewPage[nodeMatch](len(list.GetMatches()), list.GetNextCursor())
		for _, m := range list.GetMatches() {
			out.Data = append(out.Data, nodeMatch{nodeOf(m.GetNode()), nodeChunkOf(m.GetChunk())})
		}
		return out, list != nil
	}),
}

func graphOp(op *pb.GraphOp) *pb.Envelope_Graph { return &pb.Envelope_Graph{Graph: op} }

// checkWords refuses text to be found that shows no character.
func checkWords(q string, errs *problems.Violations) {
	if q != "" && canon.Blank(q) {
		errs.Add("q", "must not be blank")
	}
}

type listNodesInput struct {
	web.Page
	Kind          string  `query:"kind" enum:"document,entity,belief,preference,event,session"`
	DomainID      string  `query:"domainId" minLength:"1" maxLength:"200"`
	ExternalID    string  `query:"externalId" minLength:"1" maxLength:"512" doc:"The node that this id means now."`
	IDs           web.IDs `query:"ids" doc:"@listNodesInput.ids"`
	Status        string  `query:"status" enum:"live,superseded,tombstoned" doc:"By default live and superseded nodes."`
	CreatedAfter  bound   `query:"createdAfter" doc:"Recorded at this time or later."`
	CreatedBefore bound   `query:"createdBefore" doc:"Recorded before this time."`
	AsOf          moment  `query:"asOf" doc:"What held at this time, whatever has superseded it since."`
	Q             string  `query:"q" minLength:"1" maxLength:"500" blank:"false" doc:"@listNodesInput.q"`
}

// bound is an end of a range of time in a query, which may be open.
type bound struct {
	moment
	given bool
}

// FromText implements web.FromText.
func (b *bound) FromText(text string) *pb.Problem {
	b.given = true
	return b.moment.FromText(text)
}

type recallSearchInput struct {
	web.Page
	Q    string `query:"q" required:"true" minLength:"1" maxLength:"500" blank:"false" doc:"@recallSearchInput.q"`
	AsOf moment `query:"asOf" doc:"What held at this time, whatever has superseded it since."`
}

type nodeInput struct {
	ID string `path:"node_id"`
}

// recalledNode is a node with what is around it.
type recalledNode struct {
	node
	Chunks     []nodeChunk `json:"chunks"`
	Neighbours []neighbour `json:"neighbours"`
}

// TransformSchema implements huma.SchemaTransformer.
func (recalledNode) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	return withNode(r, s)
}

// withNode adds the properties of the node that a type embeds, which huma passes
// over.
func withNode(r huma.Registry, s *huma.Schema) *huma.Schema {
	n := r.Schema(reflect.TypeFor[node](), false, "Node")
	maps.Copy(s.Properties, n.Properties)
	s.Required = slices.Concat(n.Required, s.Required)
	return s
}

type nodeChunk struct {
	ChunkID   string   `json:"chunkId" doc:"As in the hits of a search."`
	Text      string   `json:"text"`
	TitlePath []string `json:"titlePath" doc:"The headings above it, outermost first."`
}

func nodeChunkOf(c *pb.Chunk) nodeChunk {
	return nodeChunk{c.GetNode() + ":" + strconv.FormatUint(uint64(c.GetOrdinal()), 10), c.GetText(), c.GetTitlePath()}
}

type neighbour struct {
	Node node `json:"node"`
	Edge edge `json:"edge"`
}

type nodeMatch struct {
	node
	Passage nodeChunk `json:"passage" doc:"A passage that holds the rarest of the words."`
}

// TransformSchema implements huma.SchemaTransformer.
func (nodeMatch) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema { return withNode(r, s) }

// node is a node as it is answered. Large because each field is one of the answer's JSON, which
// is flat.
type node struct {
	ID              string         `json:"id"`
	Kind            string         `json:"kind" enum:"document,entity,belief,preference,event,session"`
	Title           string         `json:"title" doc:"@node.title"`
	Content         string         `json:"content,omitzero" doc:"The text; absent once it was forgotten, and in lists."`
	DomainID        wire.OrNull    `json:"domainId"`
	Subject         wire.OrNull    `json:"subject" doc:"@node.subject"`
	Authority       wire.Measure   `json:"authority" minimum:"0" maximum:"1"`
	Confidence      wire.Measure   `json:"confidence" minimum:"0" maximum:"1"`
	Status          string         `json:"status" enum:"live,superseded,tombstoned"`
	SupersededBy    wire.OrNull    `json:"supersededBy"`
	Source          nodeSource     `json:"source"`
	ValidFrom       wire.Timestamp `json:"validFrom" nullable:"true"`
	ValidTo         wire.Timestamp `json:"validTo" nullable:"true" doc:"Null while it holds."`
	CreatedAt       wire.Timestamp `json:"createdAt"`
	UpdatedAt       wire.Timestamp `json:"updatedAt"`
	TombstonedAt    wire.Timestamp `json:"tombstonedAt" nullable:"true"`
	RestorableUntil wire.Timestamp `json:"restorableUntil" nullable:"true" doc:"@node.restorableUntil"`
	Degree          uint32         `json:"degree" doc:"The number of its edges."`
	Metadata        wire.Object    `json:"metadata"`
	DerivedFrom     []string       `json:"derivedFrom,omitzero" doc:"@node.derivedFrom"`
	Stale           []stale        `json:"stale,omitzero" doc:"@node.stale"`
	StaleIncomplete bool           `json:"staleIncomplete,omitzero" doc:"@node.staleIncomplete"`

	etag string
}

// EntityTag implements tagged.
func (n node) EntityTag() string { return n.etag }

func answerNode(reply *pb.Reply) (node, bool) {
	return nodeOf(reply.GetNode()), reply.GetNode() != nil
}

type nodeSource struct {
	Type        string      `json:"type" doc:"How it came in: ingest, import, session, supersede or cognition."`
	JobID       wire.OrNull `json:"jobId"`
	ExternalID  wire.OrNull `json:"externalId" doc:"The first of externalIds."`
	ExternalIDs []string    `json:"externalIds" doc:"@nodeSource.externalIds"`
}

// TransformSchema implements huma.SchemaTransformer.
func (nodeSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["jobId"].Format = "uuid"
	return s
}

// titleShown is the title under which a node stands in lists. One that was restored
// after it was forgotten has none until it is given one, and what it was called
// before stays erased: it is shown as what it is. A document of an export, and what
// looks for titles, finds none.
func titleShown(n *pb.Node) string {
	if n.GetTitle() == "" && n.GetErased() && n.GetStatus() != pb.StatusTombstoned {
		return "Forgotten " + n.GetKind()
	}
	return n.GetTitle()
}

func nodeOf(info *pb.NodeInfo) node {
	n := info.GetNode()
	out := node{
		ID: n.GetId(), Kind: n.GetKind(), Title: titleShown(n), Content: info.GetContent(),
		DomainID: wire.OrNull(n.GetDomain()), Subject: wire.OrNull(info.GetSubject()),
		Authority: wire.Measure(n.GetAuthority()), Confidence: wire.Measure(n.GetConfidence()),
		Status: n.GetStatus(), SupersededBy: wire.OrNull(n.GetSupersededBy()),
		Source:    nodeSource{Type: n.GetSource().GetType(), ExternalIDs: n.GetSource().GetExternalIds()},
		ValidFrom: wire.Timestamp(n.GetValidFromMs()), ValidTo: wire.Timestamp(n.GetValidToMs()),
		CreatedAt: wire.Timestamp(n.GetCreatedMs()), UpdatedAt: wire.NotBefore(n.GetUpdatedMs(), n.GetCreatedMs()),
		TombstonedAt:    wire.NotBefore(n.GetTombstonedMs(), n.GetCreatedMs()),
		RestorableUntil: wire.Timestamp(n.GetRestorableMs()),
		Degree:          n.GetDegree(), Metadata: n.GetMetadata(), DerivedFrom: nodesOf(n.GetGrounds()),
		Stale: staleOf(info.GetStale()), StaleIncomplete: info.GetStale().GetIncomplete(), etag: info.GetEtag(),
	}
	if out.Status == pb.StatusTombstoned {
		out.Content = ""
	}
	if ids := out.Source.ExternalIDs; len(ids) > 0 {
		out.Source.ExternalID = wire.OrNull(ids[0])
	}
	if id, err := pb.JobIDFrom(n.GetSource().GetJob()); err == nil {
		out.Source.JobID = wire.OrNull(id.String())
	}
	return out
}
