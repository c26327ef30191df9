package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var graphEditRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPatch, Path: "/v1/graph/nodes/{node_id}", ID: "editNode", Tag: tagGraph,
		Memory:  tracing.OperationUpdate,
		Summary: "Edit a node",
		Description: "Changes the fields that are named, and nothing else; the id stays, whatever the content. New content " +
			"is found by search before the answer is sent. Ingestion leaves an edited node alone until its document says " +
			"something new. A superseded node is not edited.",
		Scope: pb.ScopeGraph, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound, pb.CodeDomainNotFound, pb.CodeAlreadySuperseded, pb.CodePreconditionFailed},
	}, func(env *pb.Envelope, in *editNodeInput, errs *problems.Violations) {
		b := &in.Body
		op := &pb.EditNode{
			Id: in.ID, IfMatch: in.IfMatch, Title: b.Title, Content: b.Content, Kind: b.Kind, Metadata: b.Metadata,
			Reason: b.Reason,
		}
		if string(b.Metadata) == "{}" {
			op.Metadata = []byte{}
		}
		if b.DomainID.given {
			op.Domain = &b.DomainID.id
		}
		if op.Title == nil && op.Content == nil && op.Kind == nil && op.Metadata == nil && op.Domain == nil {
			errs.Add("body", "must name at least one of title, content, kind, metadata and domainId")
		}
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_EditNode{EditNode: op}})
	}, answerNode),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/graph/nodes/{node_id}", ID: "forgetNode", Tag: tagGraph,
		Memory:  tracing.OperationDelete,
		Summary: "Forget a node",
		Description: "Erases content, title, metadata and external ids, from the history and from what waits to be " +
			"ingested too, and leaves a tombstone: id, kind, times, and the place in the graph. Until restorableUntil the " +
			"place can be restored, the content never; after that the node is removed with its edges. The same content, sent " +
			"again later, is a new node under the same id.",
		Scope: pb.ScopeForget, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound},
	}, func(env *pb.Envelope, in *nodeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_ForgetNode{ForgetNode: &pb.ForgetNode{Id: in.ID}}})
	}, answerNode),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/graph/nodes/{node_id}/undelete", ID: "undeleteNode", Tag: tagGraph,
		Summary: "Restore a forgotten node",
		Description: "Brings back the node's place: its status, its domain and the edges that were forgotten with it. It " +
			"has no content and no title until an edit, or the same content ingested again, gives it some.",
		Scope: pb.ScopeGraph, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Idempotent: true, Status: http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound, pb.CodeUndeleteWindowPassed, pb.CodeNodeNotForgotten},
	}, func(env *pb.Envelope, in *nodeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_UndeleteNode{UndeleteNode: &pb.UndeleteNode{Id: in.ID}}})
	}, answerNode),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/graph/nodes/{node_id}/supersede", ID: "supersedeNode", Tag: tagGraph,
		Memory:  tracing.OperationUpdate,
		Summary: "Supersede a node",
		Description: "Puts another content in a node's place. The new node takes its kind, title, metadata, domain and " +
			"edges, which keep their ids; the old one stays readable and leaves search. created is false where the content is " +
			"known already: then the node that holds it takes the place, and is live again if it was superseded itself.",
		Scope: pb.ScopeGraph, Family: pb.FamilyWrites, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Idempotent: true, Status: http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound, pb.CodeAlreadySuperseded},
	}, func(env *pb.Envelope, in *supersedeInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_SupersedeNode{SupersedeNode: &pb.SupersedeNode{
			Id: in.ID, Content: in.Body.Content, Reason: in.Body.Reason,
		}}})
	}, func(reply *pb.Reply) (superseded, bool) {
		s := reply.GetGraph().GetSuperseded()
		return superseded{
			s.GetOldNode(), s.GetNewNode(), s.GetEdge(), s.GetCreated(), wire.Measure(s.GetNewAuthority()),
		}, s != nil
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/graph/nodes/{node_id}/history", ID: "getNodeHistory", Tag: tagGraph,
		Summary: "History of a node",
		Description: "What happened to the node, newest first: by ingestion and by hand. Of a forgotten node the entries " +
			"remain, and their texts are gone; a removed node has none.",
		Scope: pb.ScopeGraph, Family: pb.FamilyReads, Capability: pb.CapabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeNodeNotFound},
	}, func(env *pb.Envelope, in *historyInput, _ *problems.Violations) {
		env.Op = graphOp(&pb.GraphOp{Op: &pb.GraphOp_NodeHistory{NodeHistory: &pb.NodeHistory{Id: in.ID, Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[historyEntry], bool) {
		list := reply.GetGraph().GetHistory()
		return web.PageFrom(list != nil, list.GetChanges(), list.GetNextCursor(), web.Always(historyOf))
	}),
}

type editNodeInput struct {
	ID      string     `path:"node_id"`
	IfMatch entityTags `header:"If-Match" doc:"@editNodeInput.If-Match"`
	Body    nodePatchBody
}

type nodePatchBody struct {
	Title    *string     `json:"title,omitempty" minLength:"1" maxLength:"1000" blank:"false"`
	Content  *string     `json:"content,omitempty" minLength:"1" maxLength:"5000000" blank:"false" doc:"@nodePatchBody.content"`
	Kind     *string     `json:"kind,omitempty" enum:"document,entity,belief,preference,event,session"`
	Metadata wire.Object `json:"metadata,omitempty" doc:"Replaces all of it; at most 64 KiB."`
	DomainID domainID    `json:"domainId,omitzero" doc:"A domain of the same memory; null for none."`
	Reason   string      `json:"reason,omitempty" maxLength:"2000" doc:"Why, for the history."`
}

// TransformSchema implements huma.SchemaTransformer.
func (nodePatchBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.AnyOfFields(s, "title", "content", "kind", "metadata", "domainId")
}

type supersedeInput struct {
	ID   string `path:"node_id"`
	Body supersedeBody
}

type supersedeBody struct {
	Content string `json:"content" minLength:"1" maxLength:"5000000" blank:"false" doc:"What holds now."`
	Reason  string `json:"reason" minLength:"1" maxLength:"2000" blank:"false" doc:"Why, for the history."`
}

type historyInput struct {
	web.Page
	ID string `path:"node_id"`
}

type superseded struct {
	OldNodeID    string       `json:"oldNodeId"`
	NewNodeID    string       `json:"newNodeId"`
	EdgeID       string       `json:"edgeId"`
	Created      bool         `json:"created"`
	NewAuthority wire.Measure `json:"newAuthority" minimum:"0" maximum:"1"`
}

type historyEntry struct {
	At      wire.Timestamp  `json:"at"`
	Actor   historyActor    `json:"actor"`
	Action  string          `json:"action" enum:"created,updated,superseded,revived,forgotten,restored,edge_asserted,edge_forgotten"`
	Reason  wire.OrNull     `json:"reason"`
	Changes []historyChange `json:"changes"`
}

type historyActor struct {
	KeyID   wire.OrNull `json:"keyId" doc:"The id of the API key; for ingestion that of the key that sent the content."`
	UserID  wire.OrNull `json:"userId"`
	Subject wire.OrNull `json:"subject" doc:"The provisioned subject it was done for; null for a person's own memory."`
}

type historyChange struct {
	Field     string  `json:"field" enum:"title,content,kind,metadata,domainId,status,supersededBy,source,type,target,weight,confidence"`
	Before    *string `json:"before" nullable:"true" doc:"@historyChange.before"`
	After     *string `json:"after" nullable:"true"`
	Truncated bool    `json:"truncated" doc:"Before, or after, is the beginning of a text of more than 16 KiB."`
}

func historyOf(a *pb.Audit) historyEntry {
	out := historyEntry{
		At: wire.Timestamp(a.GetAtMs()), Action: a.GetAction(), Reason: wire.OrNull(a.GetReason()),
		Actor:   historyActor{Subject: wire.OrNull(a.GetSubject())},
		Changes: make([]historyChange, 0, len(a.GetChanges())),
	}
	if hash, err := pb.KeyHashFrom(a.GetKeyHash()); err == nil {
		out.Actor.KeyID = wire.OrNull(hash.String())
	}
	if id, err := pb.UserIDFrom(a.GetUser()); err == nil {
		out.Actor.UserID = wire.OrNull(id.String())
	}
	for _, c := range a.GetChanges() {
		out.Changes = append(out.Changes, historyChange{c.GetField(), c.Before, c.After, c.GetCut()})
	}
	return out
}

// domainID is the id of a domain, or null, which takes a node out of its domain.
type domainID struct {
	given bool
	id    string // empty: null
}

const maxDomainID = 200

// FromJSON implements wire.FromJSON.
func (d *domainID) FromJSON(raw jsontext.Value) string {
	const expected = "expected text of 1 to 200 bytes, or null"
	d.given = true
	if raw.Kind() == 'n' {
		return ""
	}
	if raw.Kind() != '"' {
		return expected
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil || len(text) == 0 || len(text) > maxDomainID {
		return expected
	}
	d.id = string(text)
	return ""
}

// Schema implements huma.SchemaProvider.
func (domainID) Schema(huma.Registry) *huma.Schema {
	one, most := 1, maxDomainID
	return &huma.Schema{Type: huma.TypeString, Nullable: true, MinLength: &one, MaxLength: &most}
}

// entityTags is the value of an If-Match: tags with their quotes, or "*".
type entityTags []string

// maxEntityTags bounds the tags of one If-Match; one is what an edit is made on.
const maxEntityTags = 16

// maxEntityTag bounds one tag; ours have some 40 characters.
const maxEntityTag = 256

// FromText implements web.FromText.
func (t *entityTags) FromText(text string) *pb.Problem {
	tags, ok := parseEntityTags(text)
	if !ok {
		return problems.Newf(pb.CodeValidation, "expected 1 to %d entity tags in double quotes, or *", maxEntityTags)
	}
	*t = tags
	return nil
}

// Schema implements huma.SchemaProvider.
func (entityTags) Schema(huma.Registry) *huma.Schema {
	one := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, Pattern: wire.EntityTagList, Examples: []any{"*"}}
}

// parseEntityTags reads the list of RFC 9110, section 13.1.1. A weak tag is one
// like any other here: it equals none of ours, which are strong.
func parseEntityTags(text string) (tags []string, ok bool) {
	rest := strings.Trim(text, " \t")
	if rest == "*" {
		return []string{"*"}, true
	}
	for {
		tag := rest
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return nil, false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return nil, false
		}
		rest = rest[end+2:]
		tag = tag[:len(tag)-len(rest)]
		if !web.VisibleASCII(tag, maxEntityTag) {
			return nil, false
		}
		if tags = append(tags, tag); len(tags) > maxEntityTags {
			return nil, false
		}
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return tags, true
		}
		if rest[0] != ',' {
			return nil, false
		}
		rest = strings.TrimLeft(rest[1:], " \t")
	}
}
