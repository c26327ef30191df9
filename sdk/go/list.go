package orgmem

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is the most that the service answers: fewest requests.
const pageSize = 100

// Page is a part of a list.
type Page[T any] struct {
	Data       []T
	HasMore    bool
	NextCursor string // for the next page, while HasMore
}

// List is a list that nothing was read of yet.
type List[T any] struct {
	client *Client
	path   string
	query  url.Values
	err    error
}

func listOf[T any](c *Client, filter any, parts ...string) List[T] {
	p, err := path(parts...)
	query := url.Values{}
	if filter != nil {
		query = queryOf(filter)
	}
	if query.Get("pageSize") == "" {
		query.Set("pageSize", strconv.Itoa(pageSize))
	}
	return List[T]{c, p, query, err}
}

// Page reads one page. The cursor is the NextCursor of the page before, and empty for
// the first.
func (l List[T]) Page(ctx context.Context, cursor string) (*Page[T], error) {
	if l.err != nil {
		return nil, l.err
	}
	query := url.Values{}
	for name, values := range l.query {
		query[name] = values
	}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	raw, err := send[struct {
		Data       []json.RawMessage `json:"data"`
		HasMore    bool              `json:"hasMore"`
		NextCursor string            `json:"nextCursor"`
	}](ctx, l.client, request{method: http.MethodGet, path: l.path, query: query}, nil)
	if err != nil {
		return nil, err
	}
	page := &Page[T]{Data: make([]T, len(raw.Data)), HasMore: raw.HasMore, NextCursor: raw.NextCursor}
	for i, one := range raw.Data {
		if err := decode(one, &page.Data[i]); err != nil {
			return nil, l.client.badAnswer(request{method: http.MethodGet, path: l.path}, http.StatusOK,
				http.Header{"Content-Type": {mediaJSON}}, nil, err)
		}
	}
	return page, nil
}

// All reads all pages, one after the other. An error is the last that it gives; without
// one the list was complete.
//
//	for node, err := range client.List(orgmem.NodeFilter{}).All(ctx) {
func (l List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]bool{"": true}
		for cursor := ""; ; {
			page, err := l.Page(ctx, cursor)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, one := range page.Data {
				if !yield(one, nil) {
					return
				}
			}
			if !page.HasMore {
				return
			}
			if cursor = page.NextCursor; seen[cursor] { // it has no end, and must not look complete
				yield(*new(T), l.client.badAnswer(request{method: http.MethodGet, path: l.path}, http.StatusOK,
					http.Header{"Content-Type": {mediaJSON}}, nil, errors.New("the list has more, and leads to nowhere or to a page that came before")))
				return
			}
			seen[cursor] = true
		}
	}
}
