package web

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// Table is the table of routes, ready to be served: every row built, and the document
// that is made of them.
type Table struct {
	Routes   []*Route
	Registry huma.Registry
	about    About
	document *huma.OpenAPI
	// OpenAPI is the document as it is served. It is written when it is first asked for.
	OpenAPI func() ([]byte, error)
}

// About is what the document says of the interface as a whole.
type About struct {
	Text string
	Tags []Tag // in order
	// Fields are the descriptions that a tag of a field names.
	Fields Texts
	// Inputs are further types that requests hold, read within a field that reads itself.
	Inputs []reflect.Type
}

// Tag is a tag of the document, and what it says of its routes.
type Tag struct{ Name, Text string }

// NewTable builds every row against one registry of schemas. The document is made by
// Finish, once nothing of the schemas changes any more.
func NewTable(a About, groups ...[]Route) (*Table, error) {
	t := &Table{Registry: huma.NewMapRegistry("#/components/schemas/", SchemaName), about: a}
	seen := map[string]bool{}
	for _, group := range groups {
		for i := range group {
			r := group[i] // a copy: two servers may live in one process
			if err := r.build(t.Registry); err != nil {
				return nil, err
			}
			for _, name := range []string{r.ID, r.Method + " " + r.Path} {
				if seen[name] {
					return nil, fmt.Errorf("route %s: %s stands in the table twice", r.ID, name)
				}
				seen[name] = true
			}
			t.Routes = append(t.Routes, &r)
		}
	}
	return t, nil
}

// Finish makes the document.
func (t *Table) Finish() (err error) {
	if t.document, err = newDocument(t); err != nil {
		return err
	}
	t.OpenAPI = sync.OnceValues(func() ([]byte, error) { return encodeDocument(t.document) })
	return nil
}

// LimitList bounds a list of a route's body in place of its tag.
func (t *Table) LimitList(route, field string, maxItems int) {
	for _, r := range t.Routes {
		if r.ID == route {
			r.body.LimitList(field, maxItems)
		}
	}
}
