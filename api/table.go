package api

import (
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// table is the table of routes, ready to be served: every row built, and the document
// that is made of them.
type table struct {
	routes   []*Route
	registry huma.Registry
	about    about
	document *huma.OpenAPI
	openapi  []byte // the document as it is served
}

// about is what the document says of the interface as a whole.
type about struct {
	Text string
	Tags []tagText // in order
	// Inputs are further types that requests hold, read within a field that reads itself.
	Inputs []reflect.Type
}

// tagText is a tag of the document, and what it says of its routes.
type tagText struct{ Name, Text string }

// newTable builds every row against one registry of schemas. The document is made by
// finish, once nothing of the schemas changes any more.
func newTable(a about, groups ...[]Route) (*table, error) {
	t := &table{registry: huma.NewMapRegistry("#/components/schemas/", schemaName), about: a}
	seen := map[string]bool{}
	for _, group := range groups {
		for i := range group {
			r := group[i] // a copy: two servers may live in one process
			if err := r.build(t.registry); err != nil {
				return nil, err
			}
			for _, name := range []string{r.ID, r.Method + " " + r.Path} {
				if seen[name] {
					return nil, fmt.Errorf("route %s: %s stands in the table twice", r.ID, name)
				}
				seen[name] = true
			}
			t.routes = append(t.routes, &r)
		}
	}
	return t, nil
}

// finish makes the document.
func (t *table) finish() (err error) {
	t.document = newDocument(t)
	t.openapi, err = encodeDocument(t.document)
	return err
}

// limitList bounds a list of a route's body in place of its tag.
func (t *table) limitList(route, field string, maxItems int) {
	for _, r := range t.routes {
		if r.ID == route {
			r.body.limitList(field, maxItems)
		}
	}
}
