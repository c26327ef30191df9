package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var connectorRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/connectors", ID: "listConnectors", Tag: tagConnectors,
		Summary:     "List the connectors",
		Description: "The caller's own, newest first.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listConnectorsInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_ListConnectors{ListConnectors: &pb.ListConnectors{Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[connector], bool) {
		list := reply.GetLink().GetConnectors()
		return web.PageFrom(list != nil, list.GetConnectors(), list.GetNextCursor(), connectorOf)
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/connectors", ID: "createConnector", Tag: tagConnectors,
		Summary: "Make a connector",
		Description: "config depends on the type. feed: url, and authorization (the header's value). web: sitemap or " +
			"pages, and authorization. " +
			"git: url, and branch, path, token. Addresses obey the rules of webhook URLs. authorization and token are written " +
			"and never shown.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusCreated, Problems: []string{pb.CodeConnectorLimit},
	}, func(env *pb.Envelope, in *createConnectorInput, errs *problems.Violations) {
		b := &in.Body
		checkConfig(b.Type, b.Config, errs)
		enabled, interval := b.Enabled == nil || *b.Enabled, b.IntervalSeconds
		if interval == 0 {
			interval = defaultInterval
		}
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_CreateConnector{CreateConnector: &pb.CreateConnector{
			Type: b.Type, Name: b.Name, Config: b.Config, IntervalS: interval, Enabled: enabled,
		}}})
	}, answerConnector),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/connectors/{id}", ID: "getConnector", Tag: tagConnectors,
		Summary: "Get a connector",
		Scope:   pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK, Problems: []string{pb.CodeConnectorNotFound},
	}, func(env *pb.Envelope, in *connectorInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_GetConnector{GetConnector: &pb.GetConnector{Id: in.ID}}})
	}, answerConnector),
	web.On(web.Route{
		Method: http.MethodPatch, Path: "/v1/connectors/{id}", ID: "patchConnector", Tag: tagConnectors,
		Summary: "Change a connector",
		Description: "config replaces the whole config, but for a secret that it leaves out; an empty one removes it. The " +
			"type stays.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusOK, Problems: []string{pb.CodeConnectorNotFound},
	}, func(env *pb.Envelope, in *patchConnectorInput, errs *problems.Violations) {
		b := &in.Body
		if b.Name == nil && b.Config == nil && b.IntervalSeconds == nil && b.Enabled == nil {
			errs.Add("body", "names nothing to change: name, config, intervalSeconds or enabled")
		}
		if b.Config != nil && !fitsSomeType(b.Config) {
			errs.Add("config", "expected the config of a connector's type")
		}
		op := &pb.PatchConnector{Id: in.ID, Name: b.Name, IntervalS: b.IntervalSeconds, Enabled: b.Enabled}
		if b.Config != nil {
			op.Config = b.Config
		}
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_PatchConnector{PatchConnector: op}})
	}, answerConnector),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/connectors/{id}", ID: "deleteConnector", Tag: tagConnectors,
		Summary:     "Delete a connector",
		Description: "What it fetched stays.",
		Scope:       pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusNoContent,
		Problems: []string{pb.CodeConnectorNotFound},
	}, func(env *pb.Envelope, in *connectorInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_DeleteConnector{DeleteConnector: &pb.DeleteConnector{Id: in.ID}}})
	}, web.AnswerEmpty),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/connectors/{id}/sync", ID: "syncConnector", Tag: tagConnectors,
		Summary: "Fetch now",
		Description: "The work is a job of type connector_sync, whose items are what is new. One that is under way is " +
			"named again.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusAccepted,
		Problems: []string{pb.CodeConnectorNotFound},
	}, func(env *pb.Envelope, in *connectorInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_SyncConnector{SyncConnector: &pb.SyncConnector{Id: in.ID}}})
	}, answerAccepted),
}

type (
	listConnectorsInput struct{ web.Page }
	connectorInput      struct {
		ID string `path:"id"`
	}
	createConnectorInput struct{ Body newConnectorBody }
	patchConnectorInput  struct {
		connectorInput
		Body patchConnectorBody
	}
)

// defaultInterval is an hour: feeds and pages rarely change more often.
const defaultInterval = 3600

type newConnectorBody struct {
	Type            string      `json:"type" enum:"feed,web,git"`
	Name            string      `json:"name" minLength:"1" maxLength:"200" blank:"false"`
	Config          wire.Object `json:"config,omitempty" needed:"true" doc:"Its fields depend on the type."`
	IntervalSeconds uint32      `json:"intervalSeconds,omitempty" minimum:"300" maximum:"2592000" default:"3600"`
	Enabled         *bool       `json:"enabled,omitempty" default:"true"`
}

type patchConnectorBody struct {
	Name            *string     `json:"name,omitempty" minLength:"1" maxLength:"200" blank:"false"`
	Config          wire.Object `json:"config,omitempty"`
	IntervalSeconds *uint32     `json:"intervalSeconds,omitempty" minimum:"300" maximum:"2592000"`
	Enabled         *bool       `json:"enabled,omitempty"`
}

// TransformSchema implements huma.SchemaTransformer.
func (newConnectorBody) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	var kinds []map[string]any
	for _, kind := range slices.Sorted(maps.Keys(connectorShapes)) {
		kinds = append(kinds, map[string]any{"properties": map[string]any{
			"type": map[string]any{"const": kind}, "config": r.Schema(connectorShapes[kind], true, ""),
		}})
	}
	s.Properties["config"].AdditionalProperties = nil
	return wire.Either(s, kinds...)
}

// TransformSchema implements huma.SchemaTransformer. Which type's config it must be, the
// connector decides.
func (patchConnectorBody) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	var shapes []*huma.Schema
	for _, kind := range slices.Sorted(maps.Keys(connectorShapes)) {
		shapes = append(shapes, r.Schema(connectorShapes[kind], true, ""))
	}
	s.Properties["config"].AdditionalProperties = nil
	wire.Keyword(s.Properties["config"], "anyOf", shapes)
	wire.Keyword(s, "minProperties", 1)
	return s
}

// httpsOnly narrows the schema of an address.
func httpsOnly(s *huma.Schema) { wire.Keyword(s, "pattern", wire.HTTPSURL) }

// TransformSchema implements huma.SchemaTransformer.
func (feedConfig) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	httpsOnly(s.Properties["url"])
	return s
}

// TransformSchema implements huma.SchemaTransformer.
func (gitConfig) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	httpsOnly(s.Properties["url"])
	return s
}

// TransformSchema implements huma.SchemaTransformer.
func (webConfig) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	httpsOnly(s.Properties["sitemap"])
	httpsOnly(s.Properties["pages"].Items)
	return wire.Either(s, map[string]any{"required": []string{"sitemap"}}, map[string]any{"required": []string{"pages"}})
}

type feedConfig struct {
	URL           string `json:"url" minLength:"1" maxLength:"2048"`
	Authorization string `json:"authorization,omitempty" maxLength:"4096"`
}

type webConfig struct {
	Sitemap       string   `json:"sitemap,omitempty" minLength:"1" maxLength:"2048"`
	Pages         []string `json:"pages,omitempty" minItems:"1" maxItems:"50"`
	Authorization string   `json:"authorization,omitempty" maxLength:"4096"`
}

type gitConfig struct {
	URL    string `json:"url" minLength:"1" maxLength:"2048"`
	Branch string `json:"branch,omitempty" minLength:"1" maxLength:"256"`
	Path   string `json:"path,omitempty" maxLength:"1024"`
	Token  string `json:"token,omitempty" maxLength:"4096"`
}

// connectorShapes holds the shape of each type's config.
var connectorShapes = map[string]reflect.Type{
	"feed": reflect.TypeFor[feedConfig](), "web": reflect.TypeFor[webConfig](), "git": reflect.TypeFor[gitConfig](),
}

// configShapes are how the shapes are read, and the registry that their schemas
// refer to. They are made once, by NewTable and not by a request, since a registry that
// makes a schema writes to its maps without a lock; and not before, since huma's
// settings must be ours (settleLibraries).
var configShapes = sync.OnceValues(func() (*configTable, error) {
	t := &configTable{huma.NewMapRegistry("#/components/schemas/", web.SchemaName), map[string]configShape{}}
	for kind, of := range connectorShapes {
		p, err := wire.PlanOf(of)
		if err != nil {
			return nil, fmt.Errorf("config of a %s connector: %w", kind, err)
		}
		t.shapes[kind] = configShape{of, p, t.registry.Schema(of, true, kind+"Config")}
	}
	return t, nil
})

type configTable struct {
	registry huma.Registry
	shapes   map[string]configShape
}

type configShape struct {
	of     reflect.Type
	plan   *wire.Plan
	schema *huma.Schema
}

// checkConfig holds a config to its type's shape; its faults are named below
// config.
func checkConfig(kind string, config wire.Object, errs *problems.Violations) {
	table, err := configShapes()
	if err != nil { // NewTable has said so
		errs.Add("config", "cannot be checked")
		return
	}
	shape, known := table.shapes[kind]
	if config == nil || !known {
		errs.Add("config", "is required")
		return
	}
	into := reflect.New(shape.of)
	var own problems.Violations
	problem := wire.Decode(config, shape.plan, shape.schema, table.registry, into.Elem(), &own)
	if problem != nil {
		errs.Add("config", "expected object")
	}
	for _, fault := range own.List {
		errs.Add("config."+fault.GetField(), fault.GetMessage())
	}
	if site, ok := reflect.TypeAssert[*webConfig](into); ok && problem == nil &&
		(site.Sitemap == "") == (len(site.Pages) == 0) {
		errs.Add("config", "expected either sitemap or pages")
	}
}

// fitsSomeType judges the config of a change, where only the organization knows
// the type and looks again.
func fitsSomeType(config wire.Object) bool {
	for kind := range connectorShapes {
		var errs problems.Violations
		if checkConfig(kind, config, &errs); !errs.Any() {
			return true
		}
	}
	return false
}

type connector struct {
	ID              string         `json:"id" format:"uuid"`
	Type            string         `json:"type" enum:"feed,web,git"`
	Name            string         `json:"name"`
	Config          wire.Object    `json:"config" doc:"Without its secrets."`
	IntervalSeconds uint32         `json:"intervalSeconds"`
	Enabled         bool           `json:"enabled"`
	LastSyncAt      wire.Timestamp `json:"lastSyncAt" nullable:"true"`
	LastStatus      wire.OrNull    `json:"lastStatus"`
	LastError       wire.OrNull    `json:"lastError"`
	Documents       uint64         `json:"documents"`
	CreatedAt       wire.Timestamp `json:"createdAt"`
}

func answerConnector(reply *pb.Reply) (connector, bool) {
	return connectorOf(reply.GetLink().GetConnector())
}

func connectorOf(k *pb.Connector) (connector, bool) {
	id, err := uuid.FromBytes(k.GetId())
	return connector{
		ID: id.String(), Type: k.GetType(), Name: k.GetName(), Config: k.GetConfig(), IntervalSeconds: k.GetIntervalS(),
		Enabled:    k.GetEnabled(),
		LastSyncAt: wire.NotBefore(k.GetLastSyncMs(), k.GetCreatedMs()), LastStatus: wire.OrNull(k.GetLastStatus()),
		LastError: wire.OrNull(k.GetLastError()),
		Documents: k.GetDocuments(), CreatedAt: wire.Timestamp(k.GetCreatedMs()),
	}, err == nil
}
