package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	pb "orgmem/proto"
)

// pageOf is the answer of every list that paginates.
type pageOf[T any] struct {
	Data       []T    `json:"data"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent on the last."`
}

func newPage[T any](entries int, next string) pageOf[T] {
	return pageOf[T]{Data: make([]T, 0, entries), HasMore: next != "", NextCursor: next}
}

// pageFrom makes the answer of a list of entries, each by of; found says that the
// reply held a list.
func pageFrom[E, T any](found bool, entries []E, next string, of func(E) (T, bool)) (pageOf[T], bool) {
	out := newPage[T](len(entries), next)
	for _, e := range entries {
		one, ok := of(e)
		if !ok {
			return pageOf[T]{}, false
		}
		out.Data = append(out.Data, one)
	}
	return out, found
}

// always is of for entries of which none is amiss.
func always[E, T any](of func(E) T) func(E) (T, bool) {
	return func(e E) (T, bool) { return of(e), true }
}

// page is embedded in the request type of every list that paginates.
type page struct {
	Cursor cursor   `query:"cursor" doc:"The nextCursor of the previous page; opaque. Omit it for the first page."`
	Size   pageSize `query:"pageSize" doc:"How many entries to answer at most. Values above 100 are read as 100."`
}

func (p page) proto() *pb.Page { return &pb.Page{Size: uint32(p.Size), Cursor: string(p.Cursor)} }

type cursor string

func (c *cursor) fromText(text string) *pb.Problem {
	if text == "" { // it would read as no cursor, and answer the first page again
		return refusal(CodeInvalidCursor)
	}
	*c = cursor(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (cursor) Schema(huma.Registry) *huma.Schema {
	one := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, Pattern: cursorText}
}

// pageSize is 1–100, or 0 for the default.
type pageSize uint32

func (s *pageSize) fromText(text string) *pb.Problem {
	digits := strings.TrimLeft(text, "0")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return refusalf(CodeValidation, "expected positive integer")
	}
	if len(digits) > 3 { // larger than any integer type, perhaps, and a legal way to say "all you give"
		*s = maxPageSize
		return nil
	}
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	*s = pageSize(min(n, maxPageSize))
	return nil
}

// Schema implements huma.SchemaProvider.
func (pageSize) Schema(huma.Registry) *huma.Schema {
	one := 1.0
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Default: defaultPageSize}
}

type nothing struct{}

// answerEmpty answers the routes that have nothing to say beyond their status.
func answerEmpty(reply *pb.Reply) (empty, bool) { return empty{}, reply.GetEmpty() != nil }
