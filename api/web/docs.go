package web

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
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	"orgmem/proto/canon"
)

// The pages are made of the table and the catalogue, each when it is first asked for,
// and then served as they are: to make all of them takes longer than the rest of a
// start. They load nothing but their own style sheet.

//go:embed pages
var pageFiles embed.FS

// PagePolicy forbids everything but the style sheet: no script, no frame, no
// other origin.
const PagePolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a fixed answer.
type asset struct {
	path        string
	contentType string
	body        func() ([]byte, error)
}

// serveDocs adds the document, the reference and a page for every code.
func (e *Edge) serveDocs(engine *gin.Engine, t *Table) {
	for _, a := range e.assets(t) {
		pattern := a.path
		if code, ok := strings.CutPrefix(pattern, "/docs/errors/"); ok && code != "" {
			pattern = "/docs/errors/{code}"
		}
		meter := e.metrics.route(http.MethodGet, pattern)
		header := http.Header{
			"Content-Type":            {a.contentType},
			"Content-Security-Policy": {PagePolicy},
			"Referrer-Policy":         {"no-referrer"},
			"X-Content-Type-Options":  noSniff,
			"Cache-Control":           {"public, max-age=300"},
		}
		body := sync.OnceValues(a.body)
		engine.GET(a.path, func(c *gin.Context) {
			ex := e.Begin(c.Writer, c.Request, nil, meter)
			defer ex.End()
			page, err := body()
			if err != nil {
				ex.RefuseError(fmt.Errorf("make page %s: %w", a.path, err), AskProblem)
				return
			}
			ex.WriteFixed(http.StatusOK, header, page)
		})
	}
}

func (e *Edge) assets(t *Table) []asset {
	pages := sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(pageFiles, "pages/*.html") })
	page := func(path, name string, data func() any) asset {
		return asset{path, "text/html; charset=utf-8", func() ([]byte, error) {
			of, err := pages()
			if err != nil {
				return nil, err
			}
			var out bytes.Buffer
			err = of.ExecuteTemplate(&out, name, data())
			return out.Bytes(), err
		}}
	}
	assets := []asset{
		{"/openapi.json", "application/json", t.OpenAPI},
		{"/docs/style.css", "text/css; charset=utf-8", func() ([]byte, error) {
			return pageFiles.ReadFile("pages/style.css")
		}},
		page("/docs", "reference.html", func() any { return e.reference(t) }),
		page("/docs/errors", "errors.html", func() any { return problems.Sorted() }),
	}
	for _, known := range problems.Sorted() {
		assets = append(assets, page("/docs/errors/"+known.Code, "error.html", func() any { return errorPageOf(known, t) }))
	}
	return assets
}

func errorPageOf(known problems.Entry, t *Table) errorPage {
	page := errorPage{Entry: known, StatusText: http.StatusText(known.Status)}
	for _, r := range t.Routes {
		if slices.ContainsFunc(r.problems(), func(p problems.Entry) bool { return p.Code == known.Code }) {
			page.Routes = append(page.Routes, r)
		}
	}
	return page
}

type errorPage struct {
	problems.Entry
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
	Problems   []problems.Entry
}

type referenceField struct {
	Name, In, Type, Text string
	Required             bool
}

// reference shows the document to a person.
func (e *Edge) reference(t *Table) referencePage {
	page := referencePage{
		Text:    strings.ReplaceAll(t.about.Text, "`", ""),
		MaxBody: e.Cfg.MaxBody, MaxIngestBody: e.Cfg.MaxIngestBody, MaxDepth: canon.MaxDepth,
	}
	for _, about := range t.about.Tags {
		tag := referenceTag{Name: about.Name, Text: about.Text}
		for _, r := range t.Routes {
			if r.Tag != about.Name {
				continue
			}
			op := *methodOf(t.document.Paths[r.Path], r.Method)
			one := referenceRoute{Route: r, Subject: subjectModes[r.Subject], Problems: r.problems()}
			for _, p := range op.Parameters {
				one.Parameters = append(one.Parameters,
					referenceField{p.Name, p.In, t.typeName(p.Schema), p.Description, p.Required})
			}
			switch {
			case r.Upload != nil:
				one.Request = t.fields("", r.Upload)
			case r.bodySchema != nil:
				one.Request = t.fields("", r.bodySchema)
			}
			statuses := []string{}
			for _, status := range append([]int{r.Status}, r.Statuses...) {
				statuses = append(statuses, strconv.Itoa(status))
				if content := op.Responses[strconv.Itoa(status)].Content["application/json"]; content != nil {
					one.Response = t.fields("", content.Schema)
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
func (t *Table) fields(prefix string, schema *huma.Schema) []referenceField {
	schema = t.resolve(schema)
	var list []referenceField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		field := referenceField{
			Name: prefix + name, Type: t.typeName(p), Text: p.Description,
			Required: slices.Contains(schema.Required, name),
		}
		list = append(list, field)
		inner := t.resolve(p)
		for _, option := range inner.AnyOf {
			if option.Type != "null" {
				inner = t.resolve(option)
			}
		}
		switch {
		case inner.Type == huma.TypeArray:
			list = append(list, t.fields(prefix+name+"[].", inner.Items)...)
		case len(inner.Properties) > 0:
			list = append(list, t.fields(prefix+name+".", inner)...)
		}
	}
	return list
}

func (t *Table) resolve(schema *huma.Schema) *huma.Schema {
	for schema.Ref != "" {
		schema = t.Registry.SchemaFromRef(schema.Ref)
	}
	return schema
}

// typeName says a schema in a few words: its type, format, values and bounds.
func (t *Table) typeName(schema *huma.Schema) string {
	schema = t.resolve(schema)
	if len(schema.AnyOf) > 0 {
		var options []string
		for _, option := range schema.AnyOf {
			options = append(options, t.typeName(option))
		}
		return strings.Join(options, " or ")
	}
	name := schema.Type
	if schema.Items != nil {
		name = "list of " + t.typeName(schema.Items)
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
