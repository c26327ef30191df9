package api

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/explain"
	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/proto/tracing"
)

var searchRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/search", ID: "search", Memory: tracing.OperationSearch, Tag: tagSearch,
		Summary: "Search",
		Description: "Finds passages by meaning and by word, best first, one per document; what says the same in the same " +
			"words as a hit stands behind those that do not. scope user is the effective " +
			"subject's memory; org is the whole organization's, which a selected subject may not search.",
		Scope: pb.ScopeRead, Family: pb.FamilySearch, Capability: pb.CapabilitySearch, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodePermissionDenied},
	}, func(env *pb.Envelope, in *searchInput, _ *problems.Violations) {
		b := &in.Body
		op := &pb.Search{
			Query: b.Query, OrgScope: b.Scope == pb.SearchScopeOrg, TopK: 10, Mode: "hybrid",
			IncludeSuperseded: b.IncludeSuperseded, Explain: b.Explain,
		}
		if b.TopK != nil {
			op.TopK = *b.TopK
		}
		if b.Mode != "" {
			op.Mode = b.Mode
		}
		if f := b.Filters; f != nil {
			op.Filters = &pb.Filters{
				Kind: f.Kind, Domain: f.DomainID, Metadata: f.Metadata,
				CreatedAfterMs: f.CreatedAfter.Ms, CreatedBeforeMs: f.CreatedBefore.Ms, AsOfMs: f.AsOf.Ms,
			}
		}
		env.Op = &pb.Envelope_Search{Search: op}
	}, func(reply *pb.Reply) (searchResult, bool) {
		found := reply.GetSearch()
		return searchResult{
			hitsOf(found.GetHits()),
			usage{found.GetReadUnits(), found.GetEmbedTokens(), found.GetBrainVersion()},
			explain.OfSearch(found.GetExplained()),
		}, found != nil
	}),
}

type searchInput struct {
	Body searchBody
}

type searchBody struct {
	Query             string         `json:"query" minLength:"1" maxLength:"10000" blank:"false"`
	Scope             string         `json:"scope,omitempty" enum:"user,org" default:"user"`
	TopK              *uint32        `json:"topK,omitempty" minimum:"1" maximum:"100" default:"10"`
	Mode              string         `json:"mode,omitempty" enum:"hybrid,vector,keyword" default:"hybrid"`
	Filters           *searchFilters `json:"filters,omitempty" doc:"All conditions must hold."`
	IncludeSuperseded bool           `json:"includeSuperseded,omitempty" doc:"Find what has been superseded as well."`
	Explain           bool           `json:"explain,omitempty" doc:"@searchBody.explain"`
}

type searchFilters struct {
	Kind          string         `json:"kind,omitempty" enum:"document,entity,belief,preference,event,session"`
	DomainID      string         `json:"domainId,omitempty" minLength:"1" maxLength:"200"`
	CreatedAfter  wire.Instant   `json:"createdAfter,omitzero"`
	CreatedBefore wire.Instant   `json:"createdBefore,omitzero"`
	AsOf          wire.Instant   `json:"asOf,omitzero" doc:"@searchFilters.asOf"`
	Metadata      metadataFilter `json:"metadata,omitempty" doc:"@searchFilters.metadata"`
}

// metadataFilter maps a metadata field to the canonical JSON of a scalar.
type metadataFilter map[string]string

// FromJSON implements wire.FromJSON.
func (m *metadataFilter) FromJSON(raw jsontext.Value) string {
	if raw.Kind() != '{' {
		return "expected object"
	}
	v, err := canon.Value(raw)
	if err != nil {
		return wire.NotCanonical(err)
	}
	filter := metadataFilter{}
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := d.ReadToken(); err != nil {
		return "expected object"
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return "expected object"
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return "expected object"
		}
		switch value.Kind() {
		case '"', '0', 't', 'f':
			filter[key] = string(value)
		default:
			return "expected each value to be text, a number or a boolean"
		}
		if len(filter) > maxMetadataFilters {
			return "expected at most " + strconv.Itoa(maxMetadataFilters) + " fields"
		}
	}
	*m = filter
	return ""
}

// Schema implements huma.SchemaProvider.
func (metadataFilter) Schema(huma.Registry) *huma.Schema {
	most := maxMetadataFilters
	return &huma.Schema{
		Type:          huma.TypeObject,
		MaxProperties: &most,
		AdditionalProperties: &huma.Schema{AnyOf: []*huma.Schema{
			{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean},
		}},
	}
}

type searchResult struct {
	Results     []hit                      `json:"results"`
	Usage       usage                      `json:"usage"`
	Explanation *explain.SearchExplanation `json:"explanation,omitzero" doc:"@searchResult.explanation"`
}

type hit struct {
	Chunk           string         `json:"chunk" doc:"The passage."`
	ChunkID         string         `json:"chunkId"`
	NodeID          string         `json:"nodeId"`
	Title           string         `json:"title"`
	Score           wire.Score     `json:"score" doc:"How well it fits, fused from scores; higher is better."`
	Scores          hitScores      `json:"scores"`
	ExternalID      wire.OrNull    `json:"externalId" doc:"The client's own id of the document it is from."`
	Subject         wire.OrNull    `json:"subject" doc:"@hit.subject"`
	CreatedAt       wire.Timestamp `json:"createdAt"`
	Stale           []stale        `json:"stale,omitzero" doc:"@hit.stale"`
	StaleIncomplete bool           `json:"staleIncomplete,omitzero" doc:"@hit.staleIncomplete"`

	Explanation *explain.HitExplanation `json:"explanation,omitzero" doc:"@hit.explanation"`
}

func hitsOf(found []*pb.Hit) []hit {
	hits := make([]hit, 0, len(found))
	for _, h := range found {
		hits = append(hits, hit{
			Chunk: h.GetChunk(), ChunkID: h.GetChunkId(), NodeID: h.GetNode(), Title: h.GetTitle(),
			Score: wire.Score(h.GetScore()), Scores: hitScores{wire.Score(h.GetVector()), wire.Score(h.GetKeyword())},
			ExternalID: wire.OrNull(h.GetExternalId()), Subject: wire.OrNull(h.GetSubject()),
			CreatedAt: wire.Timestamp(h.GetCreatedMs()),
			Stale:     staleOf(h.GetStale()), StaleIncomplete: h.GetStale().GetIncomplete(),
			Explanation: explain.OfHit(h),
		})
	}
	return hits
}

type hitScores struct {
	Vector  wire.Score `json:"vector" doc:"Likeness of meaning."`
	Keyword wire.Score `json:"keyword" doc:"Weight of the words in common."`
}

type usage struct {
	ReadUnits    uint64 `json:"readUnits"`
	EmbedTokens  uint64 `json:"embedTokens"`
	BrainVersion uint64 `json:"brainVersion,omitzero" doc:"The brain that ranked the results; absent where none did."`
}
