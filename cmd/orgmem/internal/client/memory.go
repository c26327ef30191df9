package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	pb "orgmem/proto"
)

// Principal is whom a key resolves to.
type Principal struct {
	Org struct {
		ID          string `json:"id"`
		DisplayName string `json:"displayName"`
		Slug        string `json:"slug"`
	} `json:"org"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Scopes []string `json:"scopes"`
	Plan   string   `json:"plan"`
}

// Me asks who the key is.
func (c *Client) Me(ctx context.Context) (Principal, error) {
	var p Principal
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/me", out: &p})
	return p, err
}

// Item is one document to ingest.
type Item struct {
	Content    string          `json:"content"`
	Title      string          `json:"title,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	ExternalID string          `json:"externalId,omitempty"`
	OccurredAt string          `json:"occurredAt,omitempty"` // RFC 3339
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	// DerivedFrom are external ids, or ids of nodes.
	DerivedFrom []string `json:"derivedFrom,omitempty"`
}

// IngestBatch queues items as one job and returns its id. Under the same
// idempotencyKey a repeated call returns the same job.
func (c *Client) IngestBatch(ctx context.Context, items []Item, idempotencyKey string) (string, error) {
	var accepted struct {
		JobID string `json:"jobId"`
	}
	body := struct {
		Items []Item `json:"items"`
	}{items}
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/ingest/batch", body: body, idempotencyKey: idempotencyKey, out: &accepted,
	})
	return accepted.JobID, err
}

// Job is what an ingest job says of itself on its status route.
type Job struct {
	ID       string `json:"id"`
	Status   string `json:"status"` // pending, running, done, failed, cancelled
	Progress struct {
		Done  int `json:"done"`
		Total int `json:"total"`
	} `json:"progress"`
	Error *struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	} `json:"error"`
	Result *struct {
		Items []JobItem `json:"items"`
	} `json:"result"`
}

// Finished reports whether the job will not change any more.
func (j Job) Finished() bool {
	return j.Status == pb.JobDone || j.Status == pb.JobFailed || j.Status == pb.JobCancelled
}

// JobItem is the outcome of one item of a job.
type JobItem struct {
	Index      int             `json:"index"`
	ExternalID string          `json:"externalId"`
	NodeID     string          `json:"nodeId"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
}

// IngestStatus asks for a job.
func (c *Client) IngestStatus(ctx context.Context, job string) (Job, error) {
	var j Job
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/ingest/" + url.PathEscape(job) + "/status", out: &j})
	return j, err
}

// Query is a search.
type Query struct {
	Query string `json:"query"`
	Scope string `json:"scope,omitempty"`
	TopK  int    `json:"topK,omitempty"`
	Mode  string `json:"mode,omitempty"`
}

// Hit is one result of a search.
type Hit struct {
	Chunk      string  `json:"chunk"`
	ChunkID    string  `json:"chunkId"`
	NodeID     string  `json:"nodeId"`
	Title      string  `json:"title"`
	Score      float64 `json:"score"`
	ExternalID *string `json:"externalId"`
	Subject    *string `json:"subject"`
	CreatedAt  string  `json:"createdAt"`
}

// Search returns the hits, best first, and the answer as it came.
func (c *Client) Search(ctx context.Context, q Query) ([]Hit, json.RawMessage, error) {
	var raw json.RawMessage
	if err := c.do(ctx, call{method: http.MethodPost, path: "/v1/search", body: q, out: &raw}); err != nil {
		return nil, nil, err
	}
	var answer struct {
		Results []Hit `json:"results"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, nil, errAnswer
	}
	return answer.Results, raw, nil
}

// NodeStatus returns the status of a node: live, superseded or tombstoned.
func (c *Client) NodeStatus(ctx context.Context, node string) (string, error) {
	var n struct {
		Status string `json:"status"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/graph/nodes/" + url.PathEscape(node), out: &n})
	return n.Status, err
}
