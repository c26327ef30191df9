package web

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// PageOf is the answer of every list that paginates.
type PageOf[T any] struct {
	Data       []T    `json:"data"`
	HasMore    bool   `json:"hasMore"`
	NextCursor string `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent on the last."`
}

// NewPage makes an empty page with room for the entries; next is the cursor of the one behind it, empty on the last.
func NewPage[T any](entries int, next string) PageOf[T] {
	return PageOf[T]{Data: make([]T, 0, entries), HasMore: next != "", NextCursor: next}
}

// PageFrom makes the answer of a list of entries, each by of; found says that the
// reply held a list.
func PageFrom[E, T any](found bool, entries []E, next string, of func(E) (T, bool)) (PageOf[T], bool) {
	out := NewPage[T](len(entries), next)
	for _, e := range entries {
		one, ok := of(e)
		if !ok {
			return PageOf[T]{}, false
		}
		out.Data = append(out.Data, one)
	}
	return out, found
}

// Always is of for entries of which none is amiss.
func Always[E, T any](of func(E) T) func(E) (T, bool) {
	return func(e E) (T, bool) { return of(e), true }
}

// Page is embedded in the request type of every list that paginates.
type Page struct {
	Cursor Cursor   `query:"cursor" doc:"The nextCursor of the previous page; opaque. Omit it for the first page."`
	Size   PageSize `query:"pageSize" doc:"How many entries to answer at most. Values above 100 are read as 100."`
}

// Proto is the page as operations carry it.
func (p Page) Proto() *pb.Page { return &pb.Page{Size: uint32(p.Size), Cursor: string(p.Cursor)} }

// Cursor is where a page begins: what the page before it said.
type Cursor string

// FromText implements FromText.
func (c *Cursor) FromText(text string) *pb.Problem {
	if text == "" { // it would read as no cursor, and answer the first page again
		return problems.New(pb.CodeInvalidCursor)
	}
	*c = Cursor(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (Cursor) Schema(huma.Registry) *huma.Schema {
	one := 1
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, Pattern: wire.CursorText}
}

// PageSize is 1–100, or 0 for the default.
type PageSize uint32

// FromText implements FromText.
func (s *PageSize) FromText(text string) *pb.Problem {
	digits := strings.TrimLeft(text, "0")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return problems.Newf(pb.CodeValidation, "expected positive integer")
	}
	if len(digits) > 3 { // larger than any integer type, perhaps, and a legal way to say "all you give"
		*s = MaxPageSize
		return nil
	}
	n := 0
	for _, c := range digits {
		n = 10*n + int(c-'0')
	}
	*s = PageSize(min(n, MaxPageSize))
	return nil
}

// Schema implements huma.SchemaProvider.
func (PageSize) Schema(huma.Registry) *huma.Schema {
	one := 1.0
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Default: DefaultPageSize}
}

// IDs names records that are to be on one page, with a comma between their ids.
type IDs []string

const (
	maxIDs     = 50
	maxIDsText = 25_000 // characters: an id has at most 500
)

// FromText implements FromText.
func (i *IDs) FromText(text string) *pb.Problem {
	*i = strings.Split(text, ",")
	switch {
	case utf8.RuneCountInString(text) > maxIDsText:
		return problems.Newf(pb.CodeValidation, "expected length <= %d", maxIDsText)
	case len(*i) > maxIDs:
		return problems.Newf(pb.CodeValidation, "must name at most %d", maxIDs)
	case slices.Contains(*i, ""):
		return problems.Newf(pb.CodeValidation, "must hold ids with one comma between them")
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (IDs) Schema(huma.Registry) *huma.Schema {
	least, most := 1, maxIDsText
	return &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most}
}

// Nothing is the input of routes that read neither parameters nor a body.
type Nothing struct{}

// AnswerEmpty answers the routes that have nothing to say beyond their status.
func AnswerEmpty(reply *pb.Reply) (Empty, bool) { return Empty{}, reply.GetEmpty() != nil }
