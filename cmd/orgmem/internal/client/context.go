package client

import (
	"context"
	"net/http"
	"net/url"
)

// PassageQuery is a search whose hits tell how they fit.
type PassageQuery struct {
	Query   string          `json:"query"`
	TopK    int             `json:"topK,omitempty"`
	Filters *PassageFilters `json:"filters,omitempty"`
}

// PassageFilters are conditions that must all hold.
type PassageFilters struct {
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Passage is a hit with what its score is made of.
type Passage struct {
	Chunk  string `json:"chunk"`
	NodeID string `json:"nodeId"`
	Title  string `json:"title"`
	Scores struct {
		Vector  float64 `json:"vector"`
		Keyword float64 `json:"keyword"`
	} `json:"scores"`
}

// Passages searches; best first.
func (c *Client) Passages(ctx context.Context, q PassageQuery) ([]Passage, error) {
	var answer struct {
		Results []Passage `json:"results"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/search", body: q, repeatable: true, out: &answer})
	return answer.Results, err
}

// Origin is what a node says of where its text is from.
type Origin struct {
	Kind      string  `json:"kind"`
	ValidFrom *string `json:"validFrom"`
	CreatedAt string  `json:"createdAt"`
	Metadata  struct {
		// Any value may stand here, in a document of somebody's own.
		Session any `json:"sessionId"`
		Cwd     any `json:"cwd"`
	} `json:"metadata"`
}

// Origin asks for a node.
func (c *Client) Origin(ctx context.Context, node string) (Origin, error) {
	var o Origin
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/graph/nodes/" + url.PathEscape(node), out: &o})
	return o, err
}

// RecentContext says what the latest texts of the key's owner are about, newest first.
func (c *Client) RecentContext(ctx context.Context, who Principal, cwd string) ([]string, error) {
	body := struct {
		OrgID  string `json:"orgId"`
		UserID string `json:"userId"`
		Cwd    string `json:"cwd"`
	}{who.Org.ID, who.User.ID, cwd}
	var pack struct {
		Recent []string `json:"orgRecentContext"`
	}
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/condition/session", body: body, repeatable: true, out: &pack,
	})
	return pack.Recent, err
}
