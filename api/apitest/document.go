package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// Document is an OpenAPI document. It is safe for concurrent use.
type Document struct {
	Spec *openapi3.T
	// held are the answers that fitted their schema before. Schemas are slow to walk
	// under the race detector, and most answers of a test are alike.
	held sync.Map
}

// Parse reads a document, which must be valid.
func Parse(raw []byte) (*Document, error) {
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("apitest: read document: %w", err)
	}
	return &Document{Spec: doc}, nil
}

// Answer is a response with its body read.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is a problem's code, "" of a success.
func (a Answer) Code() (string, error) {
	if a.Status < 400 {
		return "", nil
	}
	var p struct{ Code string }
	if err := json.Unmarshal(a.Body, &p); err != nil || p.Code == "" {
		return "", fmt.Errorf("apitest: %d without a code: %q", a.Status, a.Body)
	}
	return p.Code, nil
}

// listed are the headers that an answer may have only where the document says so.
var listed = []string{
	"Retry-After", "Idempotent-Replayed", "ETag", "Accept-Ranges", "Content-Range", "Content-Disposition",
	"WWW-Authenticate", "Cache-Control",
}

// Hold says what of an answer to a request for path the document does not promise:
// its status, code, headers, content type or shape. A path that is not in it passes.
func (d *Document) Hold(method, path string, a Answer) error {
	op := d.operation(method, path)
	if op == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("apitest: %s: %d: "+format, append([]any{op.OperationID, a.Status}, args...)...)
	}
	documented := op.Responses.Status(a.Status)
	if documented == nil {
		return wrong("the document does not list it: %s", a.Body)
	}
	var errs []error
	if a.Header.Get("X-Request-Id") == "" {
		errs = append(errs, wrong("no X-Request-Id"))
	}
	for _, name := range listed {
		if a.Header.Get(name) != "" && documented.Value.Headers[name] == nil {
			errs = append(errs, wrong("%s is not in the document", name))
		}
	}
	code, err := a.Code()
	switch {
	case err != nil:
		errs = append(errs, wrong("%w", err))
	case code != "" && !strings.Contains(*documented.Value.Description, "`"+code+"`"):
		errs = append(errs, wrong("%s is not documented", code))
	}
	return errors.Join(append(errs, d.holdBody(op, documented.Value, a, wrong))...)
}

// requestID is what tells two problems apart that are the same.
var requestID = regexp.MustCompile(`"requestId":"[^"]*"`)

func (d *Document) holdBody(
	op *openapi3.Operation, documented *openapi3.Response, a Answer, wrong func(string, ...any) error,
) error {
	contentType := a.Header.Get("Content-Type")
	if contentType == "" {
		if len(a.Body) > 0 || len(documented.Content) > 0 {
			return wrong("without a content type")
		}
		return nil
	}
	media := documented.Content[contentType]
	if media == nil {
		return wrong("%s is not in the document", contentType)
	}
	if a.Status == http.StatusPartialContent {
		return nil // a piece of what a schema describes
	}
	if contentType != "application/json" && contentType != "application/problem+json" {
		return nil // a schema says nothing of it
	}
	key := op.OperationID + " " + string(requestID.ReplaceAll(bytes.TrimSpace(a.Body), nil))
	if _, seen := d.held.Load(key); seen {
		return nil
	}
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		return wrong("%w in %.500s", err, a.Body)
	}
	if err := media.Schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
		return wrong("does not fit the document: %.1000s\n%.500s", err.Error(), a.Body)
	}
	d.held.Store(key, true)
	return nil
}

// Knows reports whether the document has a request.
func (d *Document) Knows(method, path string) bool { return d.operation(method, path) != nil }

// operation finds the document's operation for a request; nil where it has none. Of
// several that fit it is the one with the fewest parameters: /v1/recall/sessions
// before /v1/recall/{recall_type}.
func (d *Document) operation(method, path string) *openapi3.Operation {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	var best *openapi3.Operation
	fixed := -1
paths:
	for template, item := range d.Spec.Paths.Map() {
		want := strings.Split(template, "/")
		if len(want) != len(parts) || item.GetOperation(method) == nil {
			continue
		}
		same := 0
		for i := range want {
			switch {
			case want[i] == parts[i]:
				same++
			case !strings.HasPrefix(want[i], "{") || parts[i] == "":
				continue paths
			}
		}
		if same > fixed {
			best, fixed = item.GetOperation(method), same
		}
	}
	return best
}
