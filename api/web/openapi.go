package web

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/problems"
	pb "orgmem/proto"
)

// subjectModes names the modes in the document's x-svc-subject.
var subjectModes = map[pb.SubjectMode]string{
	pb.SubjectMode_SUBJECT_IGNORED: "ignored",
	pb.SubjectMode_SUBJECT_AWARE:   "aware",
	pb.SubjectMode_SUBJECT_REFUSED: "refused",
}

// SubjectModeOf is what the document says of a route and X-Svc-Subject.
func SubjectModeOf(r *Route) string {
	if r.NoSubject {
		return "unread"
	}
	return subjectModes[r.Subject]
}

// newDocument makes the OpenAPI 3.1 document of the table.
func newDocument(t *Table) (*huma.OpenAPI, error) {
	registry := t.Registry
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Organizational Memory Service",
			Version:     "1.0.0", // the interface's, not the build's: clients compare it
			Description: t.about.Text,
		},
		Servers: []*huma.Server{{URL: "/", Description: "The server that answers this document."}},
		Paths:   map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: registry,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"apiKey": {
					Type: "apiKey", In: "header", Name: "X-Svc-API-Key", Description: "An API key, svc_prod_… or svc_sandbox_….",
				},
				"bearer": {Type: "http", Scheme: "bearer", Description: "The same key as a bearer token."},
			},
			Headers:   documentHeaders(),
			Responses: map[string]*huma.Response{},
		},
		Security: []map[string][]string{{"apiKey": {}}, {"bearer": {}}},
	}
	for _, tag := range t.about.Tags {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: tag.Name, Description: tag.Text})
	}
	describeInput(t)
	fields := fieldDescriber{texts: t.about.Fields, used: map[string]bool{}}
	fields.params(t)
	problem := registry.Schema(reflect.TypeFor[problems.Problem](), true, "Problem")
	for _, r := range t.Routes {
		item := doc.Paths[r.Path]
		if item == nil {
			item = &huma.PathItem{}
			doc.Paths[r.Path] = item
		}
		*methodOf(item, r.Method) = operationOf(r, registry, problem)
	}
	fields.schemas(t)
	doc.Extensions = map[string]any{"x-svc-problems": documentCodes()}
	return doc, fields.done()
}

func methodOf(item *huma.PathItem, method string) **huma.Operation {
	switch method {
	case http.MethodPut:
		return &item.Put
	case http.MethodPost:
		return &item.Post
	case http.MethodPatch:
		return &item.Patch
	case http.MethodDelete:
		return &item.Delete
	}
	return &item.Get
}

func operationOf(r *Route, registry huma.Registry, problem *huma.Schema) *huma.Operation {
	op := &huma.Operation{
		OperationID: r.ID, Summary: r.Summary, Description: r.Description, Tags: []string{r.Tag},
		Responses: map[string]*huma.Response{},
		Extensions: map[string]any{
			"x-svc-scope":       r.Scope,
			"x-svc-rate-family": r.Family,
			"x-svc-subject":     SubjectModeOf(r),
			"x-svc-idempotent":  r.Idempotent,
		},
	}
	for _, p := range r.pathParams {
		op.Parameters = append(op.Parameters, documentParam(p, true))
	}
	for _, name := range slices.Sorted(maps.Keys(r.queryParams)) {
		op.Parameters = append(op.Parameters, documentParam(r.queryParams[name], r.queryParams[name].Needed))
	}
	for _, p := range r.headerParams {
		op.Parameters = append(op.Parameters, documentParam(p, false))
	}
	if r.Subject != pb.SubjectMode_SUBJECT_REFUSED {
		text := "The provisioned subject to act for, percent-encoded. Omit it to act for the key's owner."
		switch {
		case r.NoSubject:
			text = "Has no effect on this route, whatever it says."
		case r.Subject == pb.SubjectMode_SUBJECT_IGNORED:
			text = "Has no effect on this route, but a subject that is not provisioned is refused."
		}
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: headerSubject, In: "header", Description: text,
			Schema: &huma.Schema{Ref: "#/components/schemas/" + schemaSubject},
		})
	}
	if r.Idempotent {
		one, most := 1, MaxIdempotencyKey
		op.Parameters = append(op.Parameters, &huma.Param{
			Name: headerIdempotency, In: "header",
			Description: "Makes a retry safe: the same key with the same body within 24 hours answers the first outcome again.",
			Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: "^[!-~]+$"},
		})
	}
	if r.bodySchema != nil {
		op.RequestBody = &huma.RequestBody{Required: r.WantsBody(), Content: map[string]*huma.MediaType{
			"application/json": {Schema: r.bodySchema},
		}}
	}
	if r.Upload != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"multipart/form-data": {Schema: r.Upload},
		}}
	}
	for _, status := range append([]int{r.Status}, r.Statuses...) {
		response := &huma.Response{Description: http.StatusText(status), Headers: headerRefs(status, r)}
		switch {
		case status == http.StatusNotModified: // it has no body
		case r.media != "":
			response.Content = map[string]*huma.MediaType{r.media: {Schema: mediaSchema(r.media)}}
		case status != http.StatusNoContent:
			response.Content = map[string]*huma.MediaType{
				"application/json": {Schema: registry.Schema(r.output, true, r.ID+"Response")},
			}
		}
		op.Responses[strconv.Itoa(status)] = response
	}
	byStatus := map[int][]problems.Entry{}
	for _, e := range r.problems() {
		byStatus[e.Status] = append(byStatus[e.Status], e)
	}
	for status, entries := range byStatus {
		var codes []string
		for _, e := range entries {
			codes = append(codes, "`"+e.Code+"`")
		}
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status) + ": " + strings.Join(codes, ", "),
			Headers:     headerRefs(status, r, entries...),
			Content:     map[string]*huma.MediaType{contentProblem[0]: {Schema: problem}},
		}
	}
	return op
}

// mediaSchema says of a streamed answer what its media type says.
func mediaSchema(media string) *huma.Schema {
	if media == ContentJSON[0] {
		return &huma.Schema{Type: huma.TypeObject}
	}
	return &huma.Schema{Type: huma.TypeString}
}

func documentParam(p Param, required bool) *huma.Param {
	schema := *p.schema
	description := schema.Description
	schema.Description = ""
	if p.in == "path" && schema.MinLength == nil {
		one := 1
		schema.MinLength = &one
	}
	return &huma.Param{Name: p.Name, In: p.in, Required: required, Description: description, Schema: &schema}
}

// documentHeaders are the headers that answers carry.
func documentHeaders() map[string]*huma.Header {
	text := &huma.Schema{Type: huma.TypeString}
	return map[string]*huma.Header{
		"X-Request-Id": {
			Description: "Ours, or the caller's own when it is 1 to 128 visible ASCII characters.", Schema: text,
		},
		"RateLimit": {
			Description: "default;r=<tokens left>;t=<seconds until full>. On every answer that got past the credential check.",
			Schema:      text,
		},
		"RateLimit-Policy":    {Description: "default;q=<tokens per minute>;w=60;pk=<opaque digest>.", Schema: text},
		"Retry-After":         {Description: "Seconds to wait.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		"WWW-Authenticate":    {Description: "Bearer.", Schema: text},
		"Content-Disposition": {Description: "attachment, with a name for the file.", Schema: text},
		"Cache-Control":       {Description: "no-store: every answer is about somebody's memory.", Schema: text},
		"Idempotent-Replayed": {Description: "true on the replay of an earlier outcome.", Schema: text},
		"ETag":                {Description: "The version of what is answered.", Schema: text},
		"Accept-Ranges":       {Description: "bytes: a Range of one part is served.", Schema: text},
		"Content-Range": {
			Description: "bytes <first>-<last>/<length>; bytes */<length> where there is nothing to send.", Schema: text,
		},
	}
}

// headerRefs lists the headers of a route's answers with one status; entries are
// the problems among them.
func headerRefs(status int, r *Route, entries ...problems.Entry) map[string]*huma.Header {
	names := []string{"X-Request-Id", "Cache-Control"}
	switch status {
	case http.StatusUnauthorized:
		names = append(names, "WWW-Authenticate")
	case http.StatusRequestHeaderFieldsTooLarge: // no credential was read
	default:
		names = append(names, "RateLimit", "RateLimit-Policy")
	}
	if status == http.StatusTooManyRequests ||
		slices.ContainsFunc(entries, func(e problems.Entry) bool { return e.RetryAfter > 0 }) {
		names = append(names, "Retry-After")
	}
	if r.Ranges {
		switch status {
		case http.StatusOK:
			names = append(names, "ETag", "Accept-Ranges", "Content-Disposition")
		case http.StatusNotModified:
			names = append(names, "ETag", "Accept-Ranges")
		case http.StatusPartialContent:
			names = append(names, "ETag", "Accept-Ranges", "Content-Range", "Content-Disposition")
		case http.StatusRequestedRangeNotSatisfiable:
			names = append(names, "ETag", "Accept-Ranges", "Content-Range")
		}
	}
	if r.Idempotent && status < http.StatusInternalServerError && status != http.StatusRequestHeaderFieldsTooLarge {
		names = append(names, "Idempotent-Replayed")
	}
	if status < http.StatusMultipleChoices && r.output != nil && r.output.Implements(reflect.TypeFor[Tagged]()) {
		names = append(names, "ETag")
	}
	refs := map[string]*huma.Header{}
	for _, name := range names {
		refs[name] = &huma.Header{Ref: "#/components/headers/" + name}
	}
	return refs
}

// documentCodes is the catalogue as the document shows it.
func documentCodes() []any {
	var list []any
	for _, e := range problems.Sorted() {
		list = append(list, map[string]any{
			"code": e.Code, "status": e.Status, "title": e.Title, "description": e.Explanation,
		})
	}
	return list
}

// encodeDocument writes the document with sorted members and indentation, so
// that two versions compare line by line.
func encodeDocument(doc *huma.OpenAPI) ([]byte, error) {
	raw, err := doc.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	var out bytes.Buffer
	if err := json.MarshalWrite(&out, tree, json.Deterministic(true), jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
