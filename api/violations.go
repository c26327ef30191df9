package api

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	pb "orgmem/proto"
)

// violations collects what is wrong with one request. The zero value is a
// request without fault.
type violations struct {
	list []*pb.FieldError
	// tooLarge says that one of the faults is a size with a status of its own.
	tooLarge bool
	// problem, where set, is answered instead of validation_failed: a cursor
	// that was tampered with has a code of its own.
	problem *pb.Problem
}

// add records one fault. The first fault of a field is the one shown.
func (v *violations) add(field, message string) {
	if len(v.list) >= maxViolations {
		return
	}
	for _, e := range v.list {
		if e.GetField() == field {
			return
		}
	}
	v.list = append(v.list, &pb.FieldError{Field: field, Message: message})
}

func (v *violations) any() bool { return v.problem != nil || len(v.list) > 0 }

// refusal is the problem that the violations amount to, or nil.
func (v *violations) refusal() *pb.Problem {
	switch {
	case v.problem != nil:
		return v.problem
	case len(v.list) == 0:
		return nil
	}
	p := &pb.Problem{Code: CodeValidation, Errors: v.list}
	if v.tooLarge {
		p.Code = CodeTooLarge
	}
	if len(v.list) == 1 {
		p.Detail = v.list[0].GetField() + ": " + v.list[0].GetMessage()
	}
	return p
}

// The ends of huma's message for a missing property, whose location is the
// object and not the property.
var missingBefore, missingAfter, _ = strings.Cut(validation.MsgExpectedRequiredProperty, "%s")

// isSize recognises the two sizes inside a body that are answered with 413 like
// the body's own (decisions.md, section 1): the characters of a content, which an
// event of a session calls text, and the items of a batch.
func isSize(field, message string) bool {
	length, _, _ := strings.Cut(validation.MsgExpectedMaxLength, "%d")
	items, _, _ := strings.Cut(validation.MsgExpectedMaxItems, "%d")
	return (field == "content" || field == "text" || strings.HasSuffix(field, "].content")) && strings.HasPrefix(message, length) ||
		field == "items" && strings.HasPrefix(message, items)
}

// addHuma takes over what huma found. It drops the offending value, which huma
// keeps beside the message, and everything behind a colon, where huma appends
// the text of parsers, which quote their input.
func (v *violations) addHuma(errs []error) {
	for _, err := range errs {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			v.add("body", "is not valid")
			continue
		}
		field, message := detail.Location, detail.Message
		if rest, ok := strings.CutPrefix(message, missingBefore); ok {
			name := strings.TrimSuffix(rest, missingAfter)
			if field != "" {
				name = field + "." + name
			}
			v.add(name, "is required")
			continue
		}
		message, _, _ = strings.Cut(message, ": ")
		if field == "" {
			field = "body"
		}
		v.add(field, message)
		v.tooLarge = v.tooLarge || isSize(field, message)
	}
}

// showName makes an unknown field's name fit to be shown: it is the one text of
// the client that an answer repeats, for a typing error is found by it.
func showName(name string) string {
	clean := func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}
	if utf8.RuneCountInString(name) > maxFieldName {
		name = string([]rune(name)[:maxFieldName]) + "…"
	}
	return strings.Map(clean, name)
}
