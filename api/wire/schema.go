package wire

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/proto/canon"
)

// What a request must be, beyond what huma judges. The readers of bodies and parameters
// judge it (decode.go, package web, and the fill of each row), in words of their own; the keywords
// here say the same to those who read the document. They stand among a schema's
// extensions, which huma writes and does not judge, so that nothing is said twice to a
// client.
//
// Patterns are written in what the regular expressions of JSON Schema, Go, Python and
// Rust have in common.

// NoNUL is any text that can be kept.
const NoNUL = `^[^\x00]*$`

// VisibleText is text with at least one character that shows something.
var VisibleText = "[^" + invisible() + "]"

// visibleKept is text that shows something and can be kept.
var visibleKept = `^[^\x00]*` + VisibleText + `[^\x00]*$`

// invisible lists what canon.Visible does not take for visible, as the inside of a
// bracket expression.
func invisible() string {
	var out strings.Builder
	spell := func(r rune) {
		if r < 0x80 {
			fmt.Fprintf(&out, `\x%02x`, r)
			return
		}
		out.WriteRune(r)
	}
	from := rune(-1)
	for r := rune(0); r <= unicode.MaxRune+1; r++ {
		hidden := r <= unicode.MaxRune && !canon.Visible(r)
		switch {
		case hidden && from < 0:
			from = r
		case !hidden && from >= 0:
			spell(from)
			if from < r-1 {
				out.WriteByte('-')
				spell(r - 1)
			}
			from = -1
		}
	}
	return out.String()
}

const (
	// PlainName is what a subject or a session may be called (tenant.ValidSubject).
	PlainName = `^[^\x00-\x1f\x7f-` + "\u009f" + `]+$`
	// HTTPSURL is an address that content is fetched from or posted to. That its host
	// resolves to public addresses no pattern can say.
	HTTPSURL = `^[hH][tT][tT][pP][sS]://[\x21-\x7e]+$`
	// CursorText is what a cursor is made of. Only one that a list has given will do.
	CursorText = `^[A-Za-z0-9_-]+$`
	// EntityTagList is an If-Match: tags in double quotes, or *.
	EntityTagList = `^(\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*"){0,15})$`
	// EdgeTypeText is what a relation may be called.
	EdgeTypeText = `^[A-Za-z][A-Za-z0-9_.:-]*$`
)

// PercentEncoded is text whose escapes are UTF-8: the value of X-Svc-Subject.
var PercentEncoded = func() string {
	const (
		hex   = `[0-9A-Fa-f]`
		c0    = `%[89ABab]` + hex // a continuation byte
		plain = `[\x21-\x24\x26-\x7e]`
	)
	return `^(` + strings.Join([]string{
		plain, ` `, `%[0-7]` + hex,
		`%([Cc][2-9A-Fa-f]|[Dd]` + hex + `)` + c0,
		`%[Ee]0%[ABab]` + hex + c0, `%[Ee]([1-9A-Ca-cEFef])` + c0 + c0, `%[Ee][Dd]%[89]` + hex + c0,
		`%[Ff]0%[9ABab]` + hex + c0 + c0, `%[Ff][1-3]` + c0 + c0 + c0, `%[Ff]4%8` + hex + c0 + c0,
	}, "|") + `)+$`
}()

// Keyword adds keywords to a schema that huma judges nothing by.
func Keyword(s *huma.Schema, name string, value any) {
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[name] = value
}

// Either lets a body be one of several kinds of object.
func Either(s *huma.Schema, kinds ...map[string]any) *huma.Schema {
	Keyword(s, "oneOf", kinds)
	return s
}

// AnyOfFields wants at least one of the fields.
func AnyOfFields(s *huma.Schema, names ...string) *huma.Schema {
	var kinds []map[string]any
	for _, name := range names {
		kinds = append(kinds, map[string]any{"required": []string{name}})
	}
	Keyword(s, "anyOf", kinds)
	return s
}

// Inputs walks through the schemas of bodies beside the plans by which they are read.
type Inputs struct {
	Registry huma.Registry
	Value    *huma.Schema // of what metadata may hold
}

// Schema completes the schema of what the plan reads.
func (d Inputs) Schema(s *huma.Schema, p *Plan, notBlank bool) {
	if s.Ref != "" {
		s = d.Registry.SchemaFromRef(s.Ref)
	}
	switch {
	case p.kind == reflect.Struct:
		for name, f := range p.fields {
			if field := s.Properties[name]; field != nil {
				d.Schema(field, f.plan, f.notBlank)
			}
		}
	case p.kind == reflect.Slice:
		d.Schema(s.Items, p.elem, false)
	case p.kind == reflect.String:
		d.Text(s, notBlank)
	case p.kind == reflect.Interface && s.Type == huma.TypeObject: // it reads itself
		d.Object(s)
	case p.kind == reflect.Interface:
		d.Text(s, false)
	}
}

// Text says of a text what any must be, where its own schema does not say more.
func (d Inputs) Text(s *huma.Schema, notBlank bool) {
	if s.Type != huma.TypeString || len(s.Enum) > 0 || s.Format != "" || s.Pattern != "" ||
		s.Extensions["pattern"] != nil {
		return
	}
	if notBlank {
		Keyword(s, "pattern", visibleKept)
		return
	}
	Keyword(s, "pattern", NoNUL)
}

// Object says of an object that a client fills what its names and values must be.
func (d Inputs) Object(s *huma.Schema) {
	if s.AdditionalProperties == nil { // other schemas say what is in it
		return
	}
	Keyword(s, "propertyNames", &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"pattern": NoNUL}})
	switch values := s.AdditionalProperties.(type) {
	case bool:
		s.AdditionalProperties = d.Value
	case *huma.Schema:
		for _, one := range values.AnyOf {
			d.Text(one, false)
		}
	}
}

// Nullable lets the named properties, whose schemas are references, be null as
// well; huma's own nullable covers scalars only.
func Nullable(s *huma.Schema, names ...string) *huma.Schema {
	for _, name := range names {
		p := s.Properties[name]
		description := p.Description
		p.Description = ""
		s.Properties[name] = &huma.Schema{
			Description: description,
			AnyOf:       []*huma.Schema{p, {Type: "null"}},
		}
	}
	return s
}
