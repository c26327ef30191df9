package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	pb "orgmem/proto"
)

var graphRoutes = []Route{
	on(Route{
		Method: http.MethodGet, Path: "/v1/graph/nodes/{node_id}", ID: "getNode", Tag: tagGraph,
		Summary: "Get a node",
		Scope:   scopeRead, Family: familyReads, Capability: capabilityGraph, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
		Problems: []string{codeNodeNotFound},
	}, func(env *pb.Envelope, in *nodeInput, _ *violations) {
		env.Op = &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: in.ID}}
	}, func(reply *pb.Reply) (node, bool) {
		return nodeOf(reply.GetNode())
	}),
}

type nodeInput struct {
	ID string `path:"node_id"`
}

type node struct {
	ID              string     `json:"id"`
	Kind            string     `json:"kind" enum:"document,entity,belief,preference,event,session"`
	Title           string     `json:"title"`
	Content         string     `json:"content,omitzero" doc:"The text; absent once it was forgotten."`
	DomainID        orNull     `json:"domainId"`
	Subject         orNull     `json:"subject" doc:"The provisioned subject it belongs to; null for the key owner's own."`
	Authority       float64    `json:"authority" minimum:"0" maximum:"1"`
	Confidence      float64    `json:"confidence" minimum:"0" maximum:"1"`
	Status          string     `json:"status" enum:"live,superseded,tombstoned"`
	SupersededBy    orNull     `json:"supersededBy"`
	Source          nodeSource `json:"source"`
	ValidFrom       timestamp  `json:"validFrom" nullable:"true"`
	ValidTo         timestamp  `json:"validTo" nullable:"true" doc:"Null while it holds."`
	CreatedAt       timestamp  `json:"createdAt"`
	UpdatedAt       timestamp  `json:"updatedAt"`
	TombstonedAt    timestamp  `json:"tombstonedAt" nullable:"true"`
	RestorableUntil timestamp  `json:"restorableUntil" nullable:"true"`
	Degree          uint32     `json:"degree" doc:"The number of its edges."`
	Metadata        object     `json:"metadata"`
}

type nodeSource struct {
	Type        string   `json:"type" doc:"How it came in: ingest, import, session, supersede or cognition."`
	JobID       orNull   `json:"jobId"`
	ExternalID  orNull   `json:"externalId" doc:"The first of externalIds."`
	ExternalIDs []string `json:"externalIds" doc:"Every id under which the client sent this content, earliest first."`
}

// TransformSchema implements huma.SchemaTransformer.
func (nodeSource) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["jobId"].Format = "uuid"
	return s
}

// tombstoned is the status of a forgotten node.
const tombstoned = "tombstoned"

func nodeOf(info *pb.NodeInfo) (node, bool) {
	n := info.GetNode()
	out := node{
		ID: n.GetId(), Kind: n.GetKind(), Title: n.GetTitle(), Content: info.GetContent(),
		DomainID: orNull(n.GetDomain()), Subject: orNull(info.GetSubject()),
		Authority: n.GetAuthority(), Confidence: n.GetConfidence(),
		Status: n.GetStatus(), SupersededBy: orNull(n.GetSupersededBy()),
		Source:    nodeSource{Type: n.GetSource().GetType(), ExternalIDs: n.GetSource().GetExternalIds()},
		ValidFrom: timestamp(n.GetValidFromMs()), ValidTo: timestamp(n.GetValidToMs()),
		CreatedAt: timestamp(n.GetCreatedMs()), UpdatedAt: timestamp(n.GetUpdatedMs()),
		TombstonedAt: timestamp(n.GetTombstonedMs()),
		Degree:       n.GetDegree(), Metadata: n.GetMetadata(),
	}
	if out.Status == tombstoned {
		out.Content = ""
	}
	if ids := out.Source.ExternalIDs; len(ids) > 0 {
		out.Source.ExternalID = orNull(ids[0])
	}
	if id, err := pb.JobIDFrom(n.GetSource().GetJob()); err == nil {
		out.Source.JobID = orNull(id.String())
	}
	return out, n != nil
}
