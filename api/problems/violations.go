package problems

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	pb "orgmem/proto"
)

// Violations collects what is wrong with one request. The zero value is a
// request without fault.
type Violations struct {
	List []*pb.FieldError
	// tooLarge says that one of the faults is a size with a status of its own.
	tooLarge bool
	// Problem, where set, is answered instead of validation_failed: a cursor
	// that was tampered with has a code of its own.
	Problem *pb.Problem
}

// Add records one fault. The first fault of a field is the one shown.
func (v *Violations) Add(field, message string) {
	if len(v.List) >= MaxViolations {
		return
	}
	for _, e := range v.List {
		if e.GetField() == field {
			return
		}
	}
	v.List = append(v.List, &pb.FieldError{Field: field, Message: message})
}

// Any reports whether anything is wrong.
func (v *Violations) Any() bool { return v.Problem != nil || len(v.List) > 0 }

// Refusal is the problem that the violations amount to, or nil.
func (v *Violations) Refusal() *pb.Problem {
	switch {
	case v.Problem != nil:
		return v.Problem
	case len(v.List) == 0:
		return nil
	}
	p := &pb.Problem{Code: pb.CodeValidation, Errors: v.List}
	if v.tooLarge {
		p.Code = pb.CodePayloadTooLarge
	}
	if len(v.List) == 1 {
		p.Detail = v.List[0].GetField() + ": " + v.List[0].GetMessage()
	}
	return p
}

// The ends of huma's message for a missing property, whose location is the
// object and not the property.
var missingBefore, missingAfter, _ = strings.Cut(validation.MsgExpectedRequiredProperty, "%s")

// isSize recognises the two sizes inside a body that are answered with 413 like
// the body's own: the characters of a content, which an
// event of a session calls text, and the items of a batch.
func isSize(field, message string) bool {
	length, _, _ := strings.Cut(validation.MsgExpectedMaxLength, "%d")
	items, _, _ := strings.Cut(validation.MsgExpectedMaxItems, "%d")
	return (field == "content" || field == "text" || strings.HasSuffix(field, "].content")) &&
		strings.HasPrefix(message, length) ||
		field == "items" && strings.HasPrefix(message, items)
}

// AddHuma takes over what huma found. It drops the offending value, which huma
// keeps beside the message, and everything behind a colon, where huma appends
// the text of parsers, which quote their input.
func (v *Violations) AddHuma(errs []error) {
	for _, err := range errs {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			v.Add("body", "is not valid")
			continue
		}
		field, message := detail.Location, detail.Message
		if rest, ok := strings.CutPrefix(message, missingBefore); ok {
			name := strings.TrimSuffix(rest, missingAfter)
			if field != "" {
				name = field + "." + name
			}
			v.Add(name, "is required")
			continue
		}
		message, _, _ = strings.Cut(message, ": ")
		if field == "" {
			field = "body"
		}
		v.Add(field, message)
		v.tooLarge = v.tooLarge || isSize(field, message)
	}
}

// ShowName makes an unknown field's name fit to be shown: it is the one text of
// the client that an answer repeats, for a typing error is found by it.
func ShowName(name string) string {
	clean := func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}
	if utf8.RuneCountInString(name) > MaxFieldName {
		name = string([]rune(name)[:MaxFieldName]) + "…"
	}
	return strings.Map(clean, name)
}
