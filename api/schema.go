package api

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/proto/canon"
)

// noNUL is any text that can be kept.
const noNUL = `^[^\x00]*$`

// visibleText is text with at least one character that shows something.
var visibleText = "[^" + invisible() + "]"

// visibleKept is text that shows something and can be kept.
var visibleKept = `^[^\x00]*` + visibleText + `[^\x00]*$`

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
	// plainName is what a subject or a session may be called (validSubject).
	plainName = `^[^\x00-\x1f\x7f-` + "\u009f" + `]+$`
	// httpsURL is an address that content is fetched from or posted to. That its host
	// resolves to public addresses no pattern can say.
	httpsURL = `^[hH][tT][tT][pP][sS]://[\x21-\x7e]+$`
	// cursorText is what a cursor is made of. Only one that a list has given will do.
	cursorText = `^[A-Za-z0-9_-]+$`
	// entityTagList is an If-Match: tags in double quotes, or *.
	entityTagList = `^(\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*"){0,15})$`
	// edgeTypeText is what a relation may be called.
	edgeTypeText = `^[A-Za-z][A-Za-z0-9_.:-]*$`
)

// percentEncoded is text whose escapes are UTF-8: the value of X-Svc-Subject.
var percentEncoded = func() string {
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

// keyword adds keywords to a schema that huma judges nothing by.
func keyword(s *huma.Schema, name string, value any) {
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[name] = value
}

// either lets a body be one of several kinds of object.
func either(s *huma.Schema, kinds ...map[string]any) *huma.Schema {
	keyword(s, "oneOf", kinds)
	return s
}

// anyOfFields wants at least one of the fields.
func anyOfFields(s *huma.Schema, names ...string) *huma.Schema {
	var kinds []map[string]any
	for _, name := range names {
		kinds = append(kinds, map[string]any{"required": []string{name}})
	}
	keyword(s, "anyOf", kinds)
	return s
}

// inputs walks through the schemas of bodies beside the plans by which they are read.
type inputs struct {
	registry huma.Registry
	value    *huma.Schema // of what metadata may hold
}

func (d inputs) schema(s *huma.Schema, p *plan, notBlank bool) {
	if s.Ref != "" {
		s = d.registry.SchemaFromRef(s.Ref)
	}
	switch {
	case p.kind == reflect.Struct:
		for name, f := range p.fields {
			if field := s.Properties[name]; field != nil {
				d.schema(field, f.plan, f.notBlank)
			}
		}
	case p.kind == reflect.Slice:
		d.schema(s.Items, p.elem, false)
	case p.kind == reflect.String:
		d.text(s, notBlank)
	case p.kind == reflect.Interface && s.Type == huma.TypeObject: // it reads itself
		d.object(s)
	case p.kind == reflect.Interface:
		d.text(s, false)
	}
}

// text says of a text what any must be, where its own schema does not say more.
func (d inputs) text(s *huma.Schema, notBlank bool) {
	if s.Type != huma.TypeString || len(s.Enum) > 0 || s.Format != "" || s.Pattern != "" || s.Extensions["pattern"] != nil {
		return
	}
	if notBlank {
		keyword(s, "pattern", visibleKept)
		return
	}
	keyword(s, "pattern", noNUL)
}

func (d inputs) object(s *huma.Schema) {
	if s.AdditionalProperties == nil { // other schemas say what is in it
		return
	}
	keyword(s, "propertyNames", &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{"pattern": noNUL}})
	switch values := s.AdditionalProperties.(type) {
	case bool:
		s.AdditionalProperties = d.value
	case *huma.Schema:
		for _, one := range values.AnyOf {
			d.text(one, false)
		}
	}
}

// nullable lets the named properties, whose schemas are references, be null as
// well; huma's own nullable covers scalars only.
func nullable(s *huma.Schema, names ...string) *huma.Schema {
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
