package web

import (
	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/wire"
)

// The names of the schemas that requests share.
const (
	schemaSubject = "SubjectSelector"
	schemaValue   = "MetadataValue"
)

// describeInput completes the schemas of all that comes in.
func describeInput(t *Table) {
	schemas := t.Registry.Map()
	text := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"pattern": wire.NoNUL}}
	}
	one, most := 1, 3*MaxSubjectBytes
	schemas[schemaSubject] = &huma.Schema{
		Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: wire.PercentEncoded,
		Description: "The id of a provisioned subject, percent-encoded UTF-8.",
	}
	value := &huma.Schema{Ref: "#/components/schemas/" + schemaValue}
	schemas[schemaValue] = &huma.Schema{
		Description: "Any JSON value without the character U+0000.",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeBoolean, Nullable: true},
			{Type: huma.TypeNumber},
			text(),
			{Type: huma.TypeArray, Items: value},
			{Type: huma.TypeObject, AdditionalProperties: value, Extensions: map[string]any{"propertyNames": text()}},
		},
	}
	d := wire.Inputs{Registry: t.Registry, Value: value}
	for _, r := range t.Routes {
		if r.bodySchema != nil {
			d.Schema(r.bodySchema, r.body, false)
		}
		if r.Upload != nil {
			d.Text(r.Upload.Properties["title"], false)
			d.Object(r.Upload.Properties["metadata"])
		}
	}
	for _, of := range t.about.Inputs {
		if p, err := wire.PlanOf(of); err == nil { // who reads it has said so
			d.Schema(t.Registry.Schema(of, true, ""), p, false)
		}
	}
}
