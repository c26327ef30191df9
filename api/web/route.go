package web

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// Route is one row of the table of routes, and all that is said about a route
// anywhere: the router, the OpenAPI document, the envelope's scope, family,
// subject mode and idempotency, and the generated tests come from it. Large because a row
// says everything about its route in one literal, and what is derived from it is kept with it.
type Route struct {
	Method      string
	Path        string // with {name} for parameters
	ID          string // operation id
	Tag         string
	Summary     string
	Description string
	Scope       string // empty: any key
	Family      string
	Subject     pb.SubjectMode
	NoSubject   bool // X-Svc-Subject is not read: what SUBJECT_IGNORED refuses is let through, too
	Idempotent  bool
	Capability  string   // what usage counts it as; empty: it is not metered
	Memory      string   // what traces call it: an operation of tracing; empty: it has no such name
	LargeBody   bool     // Config.MaxIngestBody in place of MaxBody
	MayBeBlank  bool     // no body says the same as {}
	Ranges      bool     // its answer can be had in parts
	ScopeByBody bool     // fill sets the scope, so it sees a body with faults, too
	Status      int      // of success
	Statuses    []int    // further statuses of success
	Problems    []string // codes of the resource and its state; the others follow from the row

	input  reflect.Type // parameters, and the body as a field Body
	output reflect.Type
	fill   func(env *pb.Envelope, input any, errs *problems.Violations)
	answer func(*pb.Reply) (any, bool)
	// A streaming row has these in place of output and answer.
	media string
	serve func(*Exchange, *pb.Reply) *pb.Problem

	// Derived when the table is built.
	registry     huma.Registry
	Upload       *huma.Schema // of the form; nil: the row takes none
	pathParams   []Param
	headerParams []Param
	queryParams  map[string]Param
	queryNames   []string // in order
	Pages        bool
	body         *wire.Plan // nil: the route takes none
	bodyIndex    int
	bodySchema   *huma.Schema
	meter        *routeMeter
}

// Empty is the output of routes that answer without a body.
type Empty struct{}

// On completes a row with its types and the two functions that translate: fill
// sets the envelope's operation from the input, and may find further faults in
// it; answer makes the output from the reply, and reports false when the reply
// holds another result than this route's.
func On[In, Out any](
	r Route, fill func(*pb.Envelope, *In, *problems.Violations), answer func(*pb.Reply) (Out, bool),
) Route {
	r.input = reflect.TypeFor[In]()
	r.output = reflect.TypeFor[Out]()
	r.fill = func(env *pb.Envelope, input any, errs *problems.Violations) { fill(env, input.(*In), errs) }
	r.answer = func(reply *pb.Reply) (any, bool) { return answer(reply) }
	return r
}

// build derives what serving a row needs. Its errors are mistakes in the table.
func (r *Route) build(registry huma.Registry) error {
	r.registry = registry
	params, err := paramsOf(r.input, registry)
	if err != nil {
		return fmt.Errorf("route %s: %w", r.ID, err)
	}
	r.queryParams = map[string]Param{}
	for _, p := range params {
		switch p.in {
		case "path":
			if !strings.Contains(r.Path, "{"+p.Name+"}") {
				return fmt.Errorf("route %s: no {%s} in its path", r.ID, p.Name)
			}
			r.pathParams = append(r.pathParams, p)
		case "header":
			r.headerParams = append(r.headerParams, p)
		case "query":
			r.queryParams[p.Name] = p
		}
	}
	r.queryNames = slices.Sorted(maps.Keys(r.queryParams))
	if strings.Count(r.Path, "{") != len(r.pathParams) {
		return fmt.Errorf("route %s: not every path parameter has a field", r.ID)
	}
	_, r.Pages = r.queryParams["cursor"]
	f, ok := r.input.FieldByName("Body")
	switch {
	case reflect.PointerTo(r.input).Implements(reflect.TypeFor[Uploads]()):
		_, fileParts := reflect.New(r.input).Interface().(Uploads).FormParts()
		r.Upload = formSchema(registry, fileParts)
	case ok:
		r.bodyIndex = f.Index[0]
		r.bodySchema = registry.Schema(f.Type, true, r.ID+"Request")
		if r.body, err = wire.PlanOf(f.Type); err == nil {
			r.body.Document(r.bodySchema, registry)
		}
	case r.Method == http.MethodPost, r.Method == http.MethodPut, r.Method == http.MethodPatch:
		// Nothing to say is said by no body, or by {}.
		r.body, err = wire.PlanOf(reflect.TypeFor[Empty]())
	}
	if err != nil {
		return fmt.Errorf("route %s: %w", r.ID, err)
	}
	for _, code := range r.Problems {
		if _, ok := problems.Catalogue[code]; !ok {
			return fmt.Errorf("route %s: code %s is not in the catalogue", r.ID, code)
		}
	}
	return nil
}

// WantsBody reports whether the route cannot do without a body.
func (r *Route) WantsBody() bool {
	return r.Upload != nil || r.bodySchema != nil && !r.MayBeBlank
}

// ginPath is the path in the router's notation.
func (r *Route) ginPath() string {
	return strings.NewReplacer("{", ":", "}", "").Replace(r.Path)
}

// problems lists every code that the route may answer, in the catalogue's
// order: its own, and those that follow from the row.
func (r *Route) problems() []problems.Entry {
	codes := append([]string{
		pb.CodeAuthentication, pb.CodeRateLimit, pb.CodeInternal, pb.CodeServiceDegraded,
		pb.CodeServiceDraining, pb.CodeMalformed, pb.CodeHeadersTooLarge, pb.CodeValidation,
	}, r.Problems...)
	switch {
	case r.NoSubject:
	case r.Subject == pb.SubjectMode_SUBJECT_REFUSED:
		codes = append(codes, pb.CodeSubjectNotSupported)
	default:
		codes = append(codes, pb.CodeSubjectNotProvisioned, pb.CodePermissionDenied)
	}
	if r.Scope != "" {
		codes = append(codes, pb.CodePermissionDenied)
	}
	if r.body != nil || r.Upload != nil {
		codes = append(codes, pb.CodeRequestTimeout, pb.CodePayloadTooLarge, pb.CodeUnsupportedMediaType)
	}
	if len(r.pathParams) > 0 { // an empty one is another address
		codes = append(codes, pb.CodeNotFound)
	}
	if r.Pages {
		codes = append(codes, pb.CodeInvalidCursor)
	}
	if r.Idempotent {
		codes = append(codes, pb.CodeIdempotencyInProgress, pb.CodeIdempotencyKeyReused)
	}
	var list []problems.Entry
	for _, e := range problems.Sorted() {
		if slices.Contains(codes, e.Code) {
			list = append(list, e)
		}
	}
	return list
}

// BodyLimit is the largest body that a route takes.
func (e *Edge) BodyLimit(r *Route) int64 {
	if r.Upload != nil {
		return e.Cfg.MaxUpload
	}
	if r.LargeBody {
		return e.Cfg.MaxIngestBody
	}
	return e.Cfg.MaxBody
}

// TakesJSON reports whether the route takes a JSON body, if only an empty object.
func (r *Route) TakesJSON() bool { return r.body != nil }

// HasBodySchema reports whether the document describes a body of the route.
func (r *Route) HasBodySchema() bool { return r.bodySchema != nil || r.Upload != nil }

// Streams reports whether the answer is written piece by piece.
func (r *Route) Streams() bool { return r.serve != nil }

// Params lists the parameters that stand in the path, the query or the headers; those
// of the query in the order of their names.
func (r *Route) Params(in string) []Param {
	switch in {
	case "path":
		return r.pathParams
	case "header":
		return r.headerParams
	}
	list := make([]Param, 0, len(r.queryNames))
	for _, name := range r.queryNames {
		list = append(list, r.queryParams[name])
	}
	return list
}

// NewInput makes an empty value of what fill takes: a pointer to the input's type.
func (r *Route) NewInput() reflect.Value { return reflect.New(r.input) }

// Decode reads a JSON body into an input, and holds it to its schema. Faults of single
// fields go to errs; the problem is about the body as a whole.
func (r *Route) Decode(raw []byte, input reflect.Value, errs *problems.Violations) *pb.Problem {
	if r.bodySchema != nil {
		return wire.Decode(raw, r.body, r.bodySchema, r.registry, input.Elem().Field(r.bodyIndex), errs)
	}
	return wire.Decode(raw, r.body, emptySchema, r.registry, reflect.ValueOf(&Empty{}).Elem(), errs)
}

// SchemaName names a schema after its Go type.
func SchemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	return strings.TrimSuffix(name, "Body")
}
