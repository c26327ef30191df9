package api

import (
	"github.com/danielgtaylor/huma/v2"
)

// What a request must be, beyond what huma judges. The readers of bodies and parameters
// judge it (decode.go, params.go, the rows' fill), in words of their own; the keywords
// here say the same to those who read the document. They stand among a schema's
// extensions, which huma writes and does not judge, so that nothing is said twice to a
// client.
//
// Patterns are written in what the regular expressions of JSON Schema, Go, Python and
// Rust have in common.

// The names of the schemas that requests share.
const (
	schemaSubject = "SubjectSelector"
	schemaValue   = "MetadataValue"
)

// describeInput completes the schemas of all that comes in.
func describeInput(t *table) {
	schemas := t.registry.Map()
	text := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"pattern": noNUL}}
	}
	one, most := 1, 3*maxSubjectBytes
	schemas[schemaSubject] = &huma.Schema{
		Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: percentEncoded,
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
	d := inputs{registry: t.registry, value: value}
	for _, r := range t.routes {
		if r.bodySchema != nil {
			d.schema(r.bodySchema, r.body, false)
		}
		if r.upload != nil {
			d.text(r.upload.Properties["title"], false)
			d.object(r.upload.Properties["metadata"])
		}
	}
	for _, of := range t.about.Inputs {
		if p, err := planOf(of); err == nil { // who reads it has said so
			d.schema(t.registry.Schema(of, true, ""), p, false)
		}
	}
}
