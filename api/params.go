package api

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

	pb "orgmem/proto"
)

// fromText is implemented by parameter types that read themselves.
type fromText interface {
	// fromText returns nil when the text is fine. A validation_failed problem's
	// detail is what was expected; any other is answered as it is.
	fromText(text string) *pb.Problem
}

var fromTextType = reflect.TypeFor[fromText]()

// param is one path, query or header parameter of a route.
type param struct {
	name   string
	in     string // path, query, header
	index  []int  // of the field
	own    bool   // the type implements fromText
	needed bool   // a query parameter that must be given
	schema *huma.Schema
}

// paramsOf lists a request type's parameters, those of embedded structs too.
func paramsOf(t reflect.Type, registry huma.Registry) ([]param, error) {
	var list []param
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
				keyword(schema, "pattern", visibleText)
			}
			list = append(list, param{name: name, in: in, index: f.Index, own: own, needed: f.Tag.Get("required") == "true", schema: schema})
		}
	}
	return list, nil
}

// fillParams reads path, headers and query into dst. A malformed escape is a
// problem of the whole request.
func (r *Route) fillParams(path gin.Params, header http.Header, rawQuery string, dst reflect.Value, errs *violations) *pb.Problem {
	for _, p := range r.headerParams {
		if values := header.Values(p.name); len(values) > 0 {
			p.set(strings.Join(values, ", "), dst, errs)
		}
	}
	for _, p := range r.pathParams {
		text, ok := decodeEscapes(path.ByName(p.name))
		if !ok {
			return refusalf(CodeMalformed, "The path holds a malformed escape, or is not UTF-8.")
		}
		p.set(text, dst, errs)
	}
	known := func(name string) bool { _, known := r.queryParams[name]; return known }
	query, problem := readQuery(rawQuery, known, errs, pageParams...)
	if problem != nil {
		return problem
	}
	for _, name := range r.queryNames {
		p := r.queryParams[name]
		switch values := query[name]; {
		case len(values) == 1:
			p.set(values[0], dst, errs)
		case values == nil && p.needed:
			errs.add(name, "is required")
		}
	}
	return nil
}

// pageParams are ignored on a route under /v1 that does not paginate
// (decisions.md, section 1).
var pageParams = []string{"cursor", "pageSize"}

// readQuery parses a query, and says of each parameter that is neither known nor
// ignored, or is given more than once, that it is. What is no query is a problem of
// the whole request.
func readQuery(raw string, known func(name string) bool, errs *violations, ignored ...string) (url.Values, *pb.Problem) {
	if raw == "" {
		return nil, nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, refusalf(CodeMalformed, "The query holds a malformed escape.")
	}
	for name, values := range query {
		for _, v := range values {
			if !utf8.ValidString(v) || !utf8.ValidString(name) {
				return nil, refusalf(CodeMalformed, "The query is not UTF-8.")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) { // equal requests are refused with equal words
		values := query[name]
		switch {
		case known(name):
			if len(values) > 1 {
				errs.add(name, "is given more than once")
			}
		case !slices.Contains(ignored, name):
			errs.add(showName(name), "unknown query parameter")
		}
	}
	return query, nil
}

func (p param) set(text string, dst reflect.Value, errs *violations) {
	field := dst.FieldByIndex(p.index)
	if p.own {
		switch problem := field.Addr().Interface().(fromText).fromText(text); {
		case problem.GetCode() == CodeValidation:
			errs.add(p.name, problem.GetDetail())
		case problem != nil:
			errs.problem = problem
		}
		return
	}
	if p.schema.MinLength != nil || p.schema.MaxLength != nil || len(p.schema.Enum) > 0 {
		var found huma.ValidateResult
		huma.Validate(nil, p.schema, huma.NewPathBuffer([]byte(p.name), len(p.name)), huma.ModeWriteToServer, text, &found)
		errs.addHuma(found.Errors)
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
