package api

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"orgmem/proto/canon"
)

// The pages are made once, from the table and the catalogue, and served as they
// are. They load nothing but their own style sheet.

//go:embed pages
var pageFiles embed.FS

// pagePolicy forbids everything but the style sheet: no script, no frame, no
// other origin.
const pagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a fixed answer.
type asset struct {
	path        string
	contentType string
	body        []byte
}

// serveDocs adds the document, the reference and a page for every code.
func (s *Server) serveDocs(engine *gin.Engine, document *huma.OpenAPI) error {
	assets, err := s.assets(document)
	if err != nil {
		return err
	}
	for _, a := range assets {
		pattern := a.path
		if code, ok := strings.CutPrefix(pattern, "/docs/errors/"); ok && code != "" {
			pattern = "/docs/errors/{code}"
		}
		meter := s.metrics.route(http.MethodGet, pattern)
		contentType, length := []string{a.contentType}, []string{strconv.Itoa(len(a.body))}
		engine.GET(a.path, func(c *gin.Context) {
			ex := s.begin(c.Writer, c.Request, nil, meter)
			defer ex.end()
			h := ex.w.Header()
			h["Content-Type"] = contentType
			h["Content-Length"] = length
			h["Content-Security-Policy"] = []string{pagePolicy}
			h["Referrer-Policy"] = []string{"no-referrer"}
			h["X-Content-Type-Options"] = noSniff
			h["Cache-Control"] = []string{"public, max-age=300"}
			h[headerRequestID] = []string{ex.requestID}
			ex.answered, ex.status, ex.bytesOut = true, http.StatusOK, len(a.body)
			ex.w.WriteHeader(http.StatusOK)
			_, _ = ex.w.Write(a.body) // a client that does not take it has left
		})
	}
	return nil
}

func (s *Server) assets(document *huma.OpenAPI) ([]asset, error) {
	pages, err := template.ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	style, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return nil, fmt.Errorf("read the style sheet: %w", err)
	}
	assets := []asset{
		{"/openapi.json", "application/json", s.openapi},
		{"/docs/style.css", "text/css; charset=utf-8", style},
	}
	add := func(path, name string, data any) error {
		var out bytes.Buffer
		if err := pages.ExecuteTemplate(&out, name, data); err != nil {
			return fmt.Errorf("make page %s: %w", path, err)
		}
		assets = append(assets, asset{path, "text/html; charset=utf-8", out.Bytes()})
		return nil
	}
	if err := add("/docs", "reference.html", s.reference(document)); err != nil {
		return nil, err
	}
	if err := add("/docs/errors", "errors.html", sortedCatalogue()); err != nil {
		return nil, err
	}
	for _, e := range sortedCatalogue() {
		page := errorPage{entry: e, StatusText: http.StatusText(e.Status)}
		for _, r := range s.table {
			if slices.ContainsFunc(r.problems(), func(p entry) bool { return p.Code == e.Code }) {
				page.Routes = append(page.Routes, r)
			}
		}
		if err := add("/docs/errors/"+e.Code, "error.html", page); err != nil {
			return nil, err
		}
	}
	return assets, nil
}

type errorPage struct {
	entry
	StatusText string
	Routes     []*Route
}

type referencePage struct {
	Text                   string
	MaxBody, MaxIngestBody int64
	MaxDepth               int
	Tags                   []referenceTag
}

type referenceTag struct {
	Name, Text string
	Routes     []referenceRoute
}

type referenceRoute struct {
	*Route
	Subject    string
	Parameters []referenceField
	Request    []referenceField
	Response   []referenceField
	Statuses   string
	Problems   []entry
}

type referenceField struct {
	Name, In, Type, Text string
	Required             bool
}

// reference shows the document to a person.
func (s *Server) reference(document *huma.OpenAPI) referencePage {
	page := referencePage{
		Text:    strings.ReplaceAll(documentText, "`", ""),
		MaxBody: s.cfg.MaxBody, MaxIngestBody: s.cfg.MaxIngestBody, MaxDepth: canon.MaxDepth,
	}
	for _, t := range tagTexts {
		tag := referenceTag{Name: t.name, Text: t.text}
		for _, r := range s.table {
			if r.Tag != t.name {
				continue
			}
			op := *methodOf(document.Paths[r.Path], r.Method)
			one := referenceRoute{Route: r, Subject: subjectModes[r.Subject], Problems: r.problems()}
			for _, p := range op.Parameters {
				one.Parameters = append(one.Parameters, referenceField{p.Name, p.In, s.typeName(p.Schema), p.Description, p.Required})
			}
			switch {
			case r.upload != nil:
				one.Request = s.fields("", r.upload)
			case r.bodySchema != nil:
				one.Request = s.fields("", r.bodySchema)
			}
			statuses := []string{}
			for _, status := range append([]int{r.Status}, r.Statuses...) {
				statuses = append(statuses, strconv.Itoa(status))
				if content := op.Responses[strconv.Itoa(status)].Content["application/json"]; content != nil {
					one.Response = s.fields("", content.Schema)
				}
			}
			one.Statuses = strings.Join(statuses, " or ")
			tag.Routes = append(tag.Routes, one)
		}
		page.Tags = append(page.Tags, tag)
	}
	return page
}

// fields lists a schema's fields, those of nested objects under their path.
func (s *Server) fields(prefix string, schema *huma.Schema) []referenceField {
	schema = s.resolve(schema)
	var list []referenceField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		field := referenceField{
			Name: prefix + name, Type: s.typeName(p), Text: p.Description,
			Required: slices.Contains(schema.Required, name),
		}
		list = append(list, field)
		inner := s.resolve(p)
		for _, option := range inner.AnyOf {
			if option.Type != "null" {
				inner = s.resolve(option)
			}
		}
		switch {
		case inner.Type == huma.TypeArray:
			list = append(list, s.fields(prefix+name+"[].", inner.Items)...)
		case len(inner.Properties) > 0:
			list = append(list, s.fields(prefix+name+".", inner)...)
		}
	}
	return list
}

func (s *Server) resolve(schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = s.registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// typeName says a schema in a few words: its type, format, values and bounds.
func (s *Server) typeName(schema *huma.Schema) string {
	schema = s.resolve(schema)
	if len(schema.AnyOf) > 0 {
		var options []string
		for _, option := range schema.AnyOf {
			options = append(options, s.typeName(option))
		}
		return strings.Join(options, " or ")
	}
	name := schema.Type
	if schema.Items != nil {
		name = "list of " + s.typeName(schema.Items)
	}
	if schema.Format != "" {
		name += " (" + schema.Format + ")"
	}
	if len(schema.Enum) > 0 {
		var values []string
		for _, v := range schema.Enum {
			values = append(values, fmt.Sprint(v))
		}
		name += ": " + strings.Join(values, ", ")
	}
	bound := func(label string, n *int) {
		if n != nil {
			name += fmt.Sprintf(", %s %d", label, *n)
		}
	}
	bound("at least", schema.MinLength)
	bound("at most", schema.MaxLength)
	bound("at least", schema.MinItems)
	bound("at most", schema.MaxItems)
	if schema.Minimum != nil && schema.Maximum != nil {
		name += fmt.Sprintf(", %v to %v", *schema.Minimum, *schema.Maximum)
	}
	if schema.Nullable {
		name += " or null"
	}
	return name
}
