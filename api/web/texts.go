package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Texts are descriptions of fields that a tag has no room for. The tag names one of
// them: doc:"@type.field" stands for the text under type.field.
type Texts map[string]string

// fieldDescriber puts texts in the place of their names.
type fieldDescriber struct {
	texts Texts
	used  map[string]bool
	err   error
}

// params describes the parameters of all routes.
func (d *fieldDescriber) params(t *Table) {
	for _, r := range t.Routes {
		for _, p := range slices.Concat(r.pathParams, r.headerParams, slices.Collect(maps.Values(r.queryParams))) {
			d.describe(p.schema)
		}
	}
}

// schemas describes what bodies hold, once all are known.
func (d *fieldDescriber) schemas(t *Table) {
	for _, s := range t.Registry.Map() {
		d.describe(s)
	}
	for _, r := range t.Routes {
		d.describe(r.bodySchema)
		d.describe(r.Upload)
	}
}

// done fails where a tag names a text that is not there, or no tag names a text.
func (d *fieldDescriber) done() error {
	for name := range d.texts {
		if !d.used[name] && d.err == nil {
			d.err = fmt.Errorf("no field's tag names the text %s", name)
		}
	}
	return d.err
}

func (d *fieldDescriber) describe(s *huma.Schema) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Description, "@"); ok {
		text, known := d.texts[name]
		if !known {
			d.err = fmt.Errorf("a field's tag names the text %s, which is not there", name)
			return
		}
		d.used[name] = true
		s.Description = text
	}
	d.describe(s.Items)
	for _, p := range s.Properties {
		d.describe(p)
	}
}
