package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/problems"
	"orgmem/api/recurrence"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

var recallRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/recall/{recall_type}", ID: "recall", Tag: tagRecall,
		Summary: "Recall a derived view",
		Description: "What the cognition cycle has derived of the effective subject; until it has run, views are empty. " +
			"recall_type is identity, graph, insights or temporal. " +
			"graph holds the strongest 200 live nodes (authority times confidence times one plus the logarithm of one plus " +
			"their edges, among the newest 4,000 of each kind), the edges among them and the domains they are in; its counts " +
			"are those of the whole partition and stop at 100,000. " +
			"insights (newest first) and temporal (latest first) answer at most 200 entries, and as pages when cursor or " +
			"pageSize is given; the other two do not paginate.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Status:   http.StatusOK,
		Problems: []string{pb.CodeRecallTypeNotFound, pb.CodePaginationUnsupported},
	}, func(env *pb.Envelope, in *recallInput, errs *problems.Violations) {
		paged := in.Cursor.given || in.Size.given
		switch {
		case paged && (in.Type == pb.RecallIdentity || in.Type == pb.RecallGraph):
			errs.Problem = problems.New(pb.CodePaginationUnsupported)
		case in.Size.expected != "":
			errs.Add("pageSize", in.Size.expected)
		default:
			errs.Problem = in.Cursor.problem
		}
		if in.AsOf.Ms != 0 && in.Type == pb.RecallIdentity {
			errs.Add("asOf", "expected none: who a person is, is known as of now only")
		}
		page := web.Page{Cursor: in.Cursor.value, Size: in.Size.value}
		env.Op = mindOp(&pb.MindOp{
			Op: &pb.MindOp_Recall{
				Recall: &pb.Recall{Type: string(in.Type), Paged: paged, Page: page.Proto(), AsOfMs: in.AsOf.Ms},
			},
		})
	}, recallOf),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/identity/user/{user_id}", ID: "getIdentity", Tag: tagRecall,
		Summary:     "Get a member's identity",
		Description: "One's own; another member's needs the scopes read and admin.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Capability: pb.CapabilityRecall, Status: http.StatusOK,
		Problems: []string{pb.CodeUserNotFound},
	}, func(env *pb.Envelope, in *identityInput, _ *problems.Violations) {
		env.Op = mindOp(&pb.MindOp{Op: &pb.MindOp_GetIdentity{GetIdentity: &pb.GetIdentity{User: in.User}}})
	}, func(reply *pb.Reply) (userIdentity, bool) {
		info := reply.GetMind().GetIdentity()
		user, err := pb.UserIDFrom(info.GetUser())
		view := identityOf(info.GetView())
		return userIdentity{user.String(), view.Manifold, view.VoiceProfile, view.Traits, view.Basins, view.Portrait},
			info != nil && err == nil
	}),
	plotRoute,
}

// mindOp asks for an operation of proto/mind.proto. On the wire, mind is the family of recall, review
// and the brain: all that is derived from a memory. The name is part of the wire and stays.
func mindOp(op *pb.MindOp) *pb.Envelope_Mind { return &pb.Envelope_Mind{Mind: op} }

type recallInput struct {
	Type   recallType  `path:"recall_type"`
	Cursor givenCursor `query:"cursor" doc:"On insights and temporal: the nextCursor of the previous page."`
	AsOf   moment      `query:"asOf" doc:"@recallInput.asOf"`
	Size   givenSize   `query:"pageSize" doc:"@recallInput.pageSize"`
}

// recallType names a view; one that there is not is not found.
type recallType string

// FromText implements web.FromText.
func (t *recallType) FromText(text string) *pb.Problem {
	*t = recallType(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (recallType) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{
		pb.RecallIdentity, pb.RecallGraph, pb.RecallInsights, pb.RecallTemporal,
	}}
}

// givenCursor and givenSize are judged with the view: two of them take neither,
// whatever it says.
type givenCursor struct {
	given   bool
	value   web.Cursor
	problem *pb.Problem
}

// FromText implements web.FromText.
func (c *givenCursor) FromText(text string) *pb.Problem {
	c.given, c.problem = true, c.value.FromText(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (givenCursor) Schema(r huma.Registry) *huma.Schema { return web.Cursor("").Schema(r) }

type givenSize struct {
	given    bool
	value    web.PageSize
	expected string
}

// FromText implements web.FromText.
func (s *givenSize) FromText(text string) *pb.Problem {
	s.given, s.expected = true, s.value.FromText(text).GetDetail()
	return nil
}

// Schema implements huma.SchemaProvider.
func (givenSize) Schema(r huma.Registry) *huma.Schema { return web.PageSize(0).Schema(r) }

type identityInput struct {
	User string `path:"user_id"`
}

// recallView is one of the shapes below.
type recallView struct{ view any }

// MarshalJSONTo implements json.MarshalerTo.
func (v recallView) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, v.view, wire.Options)
}

// Schema implements huma.SchemaProvider.
func (recallView) Schema(registry huma.Registry) *huma.Schema {
	s := &huma.Schema{}
	for _, shape := range []any{
		identityView{}, graphView{}, insightsView{}, temporalView{}, web.PageOf[insight]{}, web.PageOf[dated]{},
	} {
		s.AnyOf = append(s.AnyOf, registry.Schema(reflect.TypeOf(shape), true, ""))
	}
	return s
}

func recallOf(reply *pb.Reply) (recallView, bool) {
	switch r := reply.GetMind().GetResult().(type) {
	case *pb.MindResult_Identity:
		return recallView{identityOf(r.Identity.GetView())}, true
	case *pb.MindResult_Graph:
		return recallView{graphOf(r.Graph)}, true
	case *pb.MindResult_Insights:
		list := web.NewPage[insight](len(r.Insights.GetInsights()), r.Insights.GetNextCursor())
		for n, i := range r.Insights.GetInsights() {
			rests := &pb.Staleness{}
			if n < len(r.Insights.GetStale()) { // else a node of the version before has answered
				rests = r.Insights.GetStale()[n]
			}
			list.Data = append(list.Data, insight{
				derivedID(i.GetId()), i.GetKind(), i.GetTitle(), i.GetDetail(), wire.Measure(i.GetConfidence()), i.GetNodes(),
				wire.Timestamp(i.GetCreatedMs()), staleOf(rests), rests.GetIncomplete(),
			})
		}
		if r.Insights.GetPaged() {
			return recallView{list}, true
		}
		return recallView{insightsView{list.Data}}, true
	case *pb.MindResult_Temporal:
		list := web.NewPage[dated](len(r.Temporal.GetMoments()), r.Temporal.GetNextCursor())
		for _, m := range r.Temporal.GetMoments() {
			list.Data = append(list.Data, dated{
				derivedID(m.GetId()), wire.Timestamp(m.GetAtMs()), wire.Timestamp(m.GetUntilMs()), m.GetPrecision(),
				m.GetBound(), m.GetTitle(), m.GetNode(), m.GetKind(),
			})
		}
		if r.Temporal.GetPaged() {
			return recallView{list}, true
		}
		view := temporalView{Events: list.Data, Recurrences: []recurrence.Recurrence{}, Trends: []trend{}}
		for _, x := range r.Temporal.GetRecurrences() {
			view.Recurrences = append(view.Recurrences, recurrence.Of(x, derivedID(x.GetId())))
		}
		if r.Temporal.GetCadence() != nil {
			cadenceOf := r.Temporal.GetCadence()
			view.Cadence = &cadence{
				wire.Measure(cadenceOf.GetEveryMs()) / (24 * 3600 * 1000), wire.Measure(cadenceOf.GetRegularity()),
				cadenceOf.GetTimes(),
			}
		}
		for _, t := range r.Temporal.GetTrends() {
			view.Trends = append(view.Trends, trend{
				t.GetTopic(), t.GetDirection(), wire.Measure(t.GetChange()), wire.Timestamp(t.GetFromMs()),
				wire.Timestamp(t.GetUntilMs()), t.GetNodes(),
			})
		}
		return recallView{view}, true
	}
	return recallView{}, false
}

// derivedID spells the id of a derived record; what is stored is well-formed.
func derivedID(raw []byte) string {
	id, err := pb.DerivedIDFrom(raw)
	if err != nil {
		return ""
	}
	return id.String()
}

type identityView struct {
	Manifold     *manifold     `json:"manifold" doc:"Null before the first cycle."`
	VoiceProfile *voiceProfile `json:"voiceProfile" doc:"@identityView.voiceProfile"`
	Traits       []trait       `json:"traits"`
	Basins       []basin       `json:"basins" doc:"As many as manifold.n_basins."`
	Portrait     []portrayal   `json:"portrait" doc:"@identityView.portrait"`
}

// TransformSchema implements huma.SchemaTransformer.
func (identityView) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "manifold", "voiceProfile")
}

type userIdentity struct {
	UserID       string        `json:"userId" format:"uuid"`
	Manifold     *manifold     `json:"manifold"`
	VoiceProfile *voiceProfile `json:"voiceProfile"`
	Traits       []trait       `json:"traits"`
	Basins       []basin       `json:"basins"`
	Portrait     []portrayal   `json:"portrait" doc:"@identityView.portrait"`
}

// TransformSchema implements huma.SchemaTransformer.
func (userIdentity) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "manifold", "voiceProfile")
}

type manifold struct {
	Version            uint32         `json:"version"`
	Dimensions         uint32         `json:"n_dimensions"`
	Basins             uint32         `json:"n_basins"`
	Signals            uint32         `json:"n_signals"`
	SilhouetteScore    wire.Measure   `json:"silhouette_score"`
	VarianceRatios     []wire.Measure `json:"variance_ratios"`
	CumulativeVariance wire.Measure   `json:"cumulative_variance"`
	DiscoveredAt       wire.Timestamp `json:"discovered_at"`
	RefreshCount       uint32         `json:"refresh_count"`
}

type voiceProfile struct {
	AvgMessageLengthWords wire.Measure `json:"avgMessageLengthWords"`
	FormalityLevel        wire.Measure `json:"formalityLevel" minimum:"0" maximum:"1"`
	TechnicalDepth        wire.Measure `json:"technicalDepth" minimum:"0" maximum:"1"`
	EvidenceCount         uint64       `json:"evidenceCount" doc:"How many messages were measured."`
	Style                 style        `json:"style" doc:"@voiceProfile.style"`
}

// style is answered as an object of objects of numbers, in the order in which it is
// measured: a client that compares two answers sees the same text.
type style []*pb.StyleMeasure

// MarshalJSONTo implements json.MarshalerTo.
func (v style) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, first := range v {
		group := first.GetGroup()
		if seen[group] {
			continue
		}
		seen[group] = true
		if err := e.WriteToken(jsontext.String(group)); err != nil {
			return err
		}
		if err := e.WriteToken(jsontext.BeginObject); err != nil {
			return err
		}
		for _, m := range v {
			if m.GetGroup() != group {
				continue
			}
			if err := e.WriteToken(jsontext.String(m.GetName())); err != nil {
				return err
			}
			if err := e.WriteToken(jsontext.Float(canon.Measure(m.GetValue()))); err != nil {
				return err
			}
		}
		if err := e.WriteToken(jsontext.EndObject); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// Schema implements huma.SchemaProvider.
func (style) Schema(huma.Registry) *huma.Schema {
	numbers := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeNumber}}
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: numbers}
}

type trait struct {
	Name       string       `json:"name"`
	Value      wire.Measure `json:"value" minimum:"0" maximum:"1"`
	Confidence wire.Measure `json:"confidence" minimum:"0" maximum:"1"`
	NodeIDs    []string     `json:"nodeIds" doc:"The latest of the texts that were measured."`
}

type basin struct {
	ID       string         `json:"id"`
	Label    string         `json:"label"`
	Keywords []string       `json:"keywords"`
	Share    wire.Measure   `json:"share" minimum:"0" maximum:"1" doc:"Of the signals."`
	NodeIDs  []string       `json:"nodeIds" doc:"The evidence."`
	Current  bool           `json:"current" doc:"The person is in it: by the latest signals."`
	Since    wire.Timestamp `json:"since" doc:"@basin.since"`
}

// TransformSchema implements huma.SchemaTransformer.
func (basin) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.Nullable(s, "since")
}

type portrayal struct {
	Kind  string   `json:"kind" doc:"@portrayal.kind"`
	Text  string   `json:"text"`
	Nodes []string `json:"nodes" doc:"The evidence, at most 20: of texts the latest."`
}

func identityOf(v *pb.IdentityView) identityView {
	out := identityView{Traits: []trait{}, Basins: []basin{}, Portrait: []portrayal{}}
	if m := v.GetManifold(); m != nil {
		out.Manifold = &manifold{
			m.GetVersion(), m.GetNDimensions(), m.GetNBasins(), m.GetNSignals(), wire.Measure(m.GetSilhouetteScore()),
			wire.Shares(m.GetVarianceRatios()), wire.Measure(m.GetCumulativeVariance()), wire.Timestamp(m.GetDiscoveredMs()),
			m.GetRefreshCount(),
		}
	}
	if p := v.GetVoice(); p != nil {
		out.VoiceProfile = &voiceProfile{
			wire.Measure(p.GetMessageWords()), wire.Measure(p.GetFormality()), wire.Measure(p.GetTechnicalDepth()),
			p.GetEvidence(), p.GetStyle(),
		}
	}
	for _, t := range v.GetTraits() {
		out.Traits = append(out.Traits, trait{
			t.GetName(), wire.Measure(t.GetValue()), wire.Measure(t.GetConfidence()), t.GetNodes(),
		})
	}
	for i, part := range sharesOf(v.GetBasins()) {
		b := v.GetBasins()[i]
		out.Basins = append(out.Basins, basin{
			b.GetId(), b.GetLabel(), b.GetKeywords(), part, b.GetNodes(), b.GetCurrent(), wire.Timestamp(b.GetSinceMs()),
		})
	}
	for _, l := range v.GetPortrait() {
		out.Portrait = append(out.Portrait, portrayal{l.GetKind(), l.GetText(), l.GetNodes()})
	}
	return out
}

func sharesOf(basins []*pb.Basin) []wire.Measure {
	parts := make([]float64, 0, len(basins))
	for _, b := range basins {
		parts = append(parts, b.GetShare())
	}
	return wire.Shares(parts)
}

type graphView struct {
	Nodes   []node      `json:"nodes" doc:"The strongest, best first, without their content."`
	Edges   []edge      `json:"edges" doc:"Those among the nodes, at most 2,000."`
	Domains []domain    `json:"domains" doc:"Those that the nodes are in."`
	Counts  graphCounts `json:"counts"`
}

type graphCounts struct {
	Nodes   uint64 `json:"nodes" doc:"Live nodes of the partition: now, whatever asOf is, as are the other counts."`
	Edges   uint64 `json:"edges" doc:"Edges of the partition that were not forgotten."`
	Domains uint64 `json:"domains"`
}

func graphOf(v *pb.GraphView) graphView {
	out := graphView{
		Nodes: []node{}, Edges: []edge{}, Domains: []domain{},
		Counts: graphCounts{v.GetTotalNodes(), v.GetTotalEdges(), v.GetTotalDomains()},
	}
	for _, n := range v.GetNodes() {
		out.Nodes = append(out.Nodes, nodeOf(&pb.NodeInfo{Node: n, Subject: v.GetSubject(), Stale: v.GetStale()[n.GetId()]}))
	}
	for _, e := range v.GetEdges() {
		out.Edges = append(out.Edges, edgeOf(&pb.EdgeInfo{Edge: e, Subject: v.GetSubject(), Stale: v.GetStale()[e.GetId()]}))
	}
	for _, d := range v.GetDomains() {
		out.Domains = append(out.Domains, domainOf(d))
	}
	return out
}

type insightsView struct {
	Insights []insight `json:"insights"`
}

type insight struct {
	ID              string         `json:"id" format:"uuid"`
	Kind            string         `json:"kind" doc:"@insight.kind"`
	Title           string         `json:"title"`
	Detail          string         `json:"detail"`
	Confidence      wire.Measure   `json:"confidence" minimum:"0" maximum:"1"`
	NodeIDs         []string       `json:"nodeIds" doc:"The evidence."`
	CreatedAt       wire.Timestamp `json:"createdAt"`
	Stale           []stale        `json:"stale,omitzero" doc:"@insight.stale"`
	StaleIncomplete bool           `json:"staleIncomplete,omitzero" doc:"@insight.staleIncomplete"`
}

type temporalView struct {
	Events      []dated                 `json:"events" doc:"Latest first."`
	Recurrences []recurrence.Recurrence `json:"recurrences" doc:"@temporalView.recurrences"`
	Trends      []trend                 `json:"trends"`
	Cadence     *cadence                `json:"cadence,omitempty" doc:"@temporalView.cadence"`
}

type cadence struct {
	EveryDays  wire.Measure `json:"everyDays" doc:"The median time between two days of writing."`
	Regularity wire.Measure `json:"regularity" minimum:"0" maximum:"1" doc:"0 is any gap, 1 always the same."`
	Times      uint32       `json:"times" doc:"How many were counted."`
}

type dated struct {
	ID        string         `json:"id" format:"uuid"`
	At        wire.Timestamp `json:"at" doc:"@dated.at"`
	Until     wire.Timestamp `json:"until,omitzero" doc:"@dated.until"`
	Precision string         `json:"precision,omitzero" doc:"@dated.precision"`
	Bound     string         `json:"bound,omitzero" doc:"@dated.bound" enum:"latest,earliest"`
	Title     string         `json:"title"`
	NodeID    string         `json:"nodeId"`
	Kind      string         `json:"kind"`
}

type trend struct {
	Topic     string         `json:"topic"`
	Direction string         `json:"direction" enum:"rising,falling,steady"`
	Change    wire.Measure   `json:"change" doc:"Relative, of the later half of the time to the earlier."`
	From      wire.Timestamp `json:"from"`
	Until     wire.Timestamp `json:"until"`
	NodeIDs   []string       `json:"nodeIds" doc:"The evidence."`
}
