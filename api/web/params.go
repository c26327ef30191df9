package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// FromText is implemented by parameter types that read themselves.
type FromText interface {
	// FromText returns nil when the text is fine. A validation_failed problem's
	// detail is what was expected; any other is answered as it is.
	FromText(text string) *pb.Problem
}

var fromTextType = reflect.TypeFor[FromText]()

// Param is one path, query or header parameter of a route.
type Param struct {
	Name   string
	in     string // path, query, header
	Index  []int  // of the field
	own    bool   // the type implements FromText
	Needed bool   // a query parameter that must be given
	schema *huma.Schema
}

// paramsOf lists a request type's parameters, those of embedded structs too.
func paramsOf(t reflect.Type, registry huma.Registry) ([]Param, error) {
	var list []Param
	for _, f := range reflect.VisibleFields(t) {
		for _, in := range []string{"path", "query", "header"} {
			name := f.Tag.Get(in)
			if name == "" {
				continue
			}
			own := reflect.PointerTo(f.Type).Implements(fromTextType)
			if f.Type.Kind() != reflect.String && !own {
				return nil, fmt.Errorf("%s.%s: a parameter is text or reads itself", t, f.Name)
			}
			schema := huma.SchemaFromField(registry, f, t.Name()+f.Name)
			if f.Tag.Get("blank") == "false" { // the row's fill sees to it
				wire.Keyword(schema, "pattern", wire.VisibleText)
			}
			list = append(list, Param{
				Name: name, in: in, Index: f.Index, own: own, Needed: f.Tag.Get("required") == "true", schema: schema,
			})
		}
	}
	return list, nil
}

// FillParams reads path, headers and query into dst. A malformed escape is a
// problem of the whole request.
func (r *Route) FillParams(
	path gin.Params, header http.Header, rawQuery string, dst reflect.Value, errs *problems.Violations,
) *pb.Problem {
	for _, p := range r.headerParams {
		if values := header.Values(p.Name); len(values) > 0 {
			p.set(strings.Join(values, ", "), dst, errs)
		}
	}
	for _, p := range r.pathParams {
		text, ok := decodeEscapes(path.ByName(p.Name))
		if !ok {
			return problems.Newf(pb.CodeMalformed, "The path holds a malformed escape, or is not UTF-8.")
		}
		p.set(text, dst, errs)
	}
	known := func(name string) bool { _, known := r.queryParams[name]; return known }
	query, problem := ReadQuery(rawQuery, known, errs, pageParams...)
	if problem != nil {
		return problem
	}
	for _, name := range r.queryNames {
		p := r.queryParams[name]
		switch values := query[name]; {
		case len(values) == 1:
			p.set(values[0], dst, errs)
		case values == nil && p.Needed:
			errs.Add(name, "is required")
		}
	}
	return nil
}

// pageParams are ignored on a route under /v1 that does not paginate.
var pageParams = []string{"cursor", "pageSize"}

// ReadQuery parses a query, and says of each parameter that is neither known nor
// ignored, or is given more than once, that it is. What is no query is a problem of
// the whole request.
func ReadQuery(
	raw string, known func(name string) bool, errs *problems.Violations, ignored ...string,
) (url.Values, *pb.Problem) {
	if raw == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, problems.Newf(pb.CodeMalformed, "The query holds a malformed escape.")
	}
	for name, values := range query {
		for _, v := range values {
			if !utf8.ValidString(v) || !utf8.ValidString(name) {
				return nil, problems.Newf(pb.CodeMalformed, "The query is not UTF-8.")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) { // equal requests are refused with equal words
		values := query[name]
		switch {
		case known(name):
			if len(values) > 1 {
				errs.Add(name, "is given more than once")
			}
		case !slices.Contains(ignored, name):
			errs.Add(problems.ShowName(name), "unknown query parameter")
		}
	}
	return query, nil
}

func (p Param) set(text string, dst reflect.Value, errs *problems.Violations) {
	field := dst.FieldByIndex(p.Index)
	if p.own {
		switch problem := field.Addr().Interface().(FromText).FromText(text); {
		case problem.GetCode() == pb.CodeValidation:
			errs.Add(p.Name, problem.GetDetail())
		case problem != nil:
			errs.Problem = problem
		}
		return
	}
	if p.schema.MinLength != nil || p.schema.MaxLength != nil || len(p.schema.Enum) > 0 {
		var found huma.ValidateResult
		huma.Validate(nil, p.schema, huma.NewPathBuffer([]byte(p.Name), len(p.Name)), huma.ModeWriteToServer, text, &found)
		errs.AddHuma(found.Errors)
	}
	field.SetString(text)
}

// decodeEscapes percent-decodes a path segment or header value once. What has
// no percent sign is taken as it is.
func decodeEscapes(text string) (string, bool) {
	if strings.IndexByte(text, '%') >= 0 {
		decoded, err := url.PathUnescape(text)
		if err != nil {
			return "", false
		}
		text = decoded
	}
	return text, utf8.ValidString(text)
}
