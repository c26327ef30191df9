package orgmem

import (
	"context"
	"errors"
	"net/http"
)

// Add takes content in: one item by itself, several as one batch of at most 1,000. The
// answer says that they are on disk; they are found when the job has ended, for which
// Jobs.Wait waits.
func (c *Client) Add(ctx context.Context, items ...Item) (*Accepted, error) {
	r := request{method: http.MethodPost, path: "/v1/ingest", keyed: true}
	switch len(items) {
	case 0:
		return nil, argument("there is nothing to add: give at least one item")
	case 1:
		r.body = items[0]
	default:
		r.path += "/batch"
		r.body = map[string][]Item{"items": items}
	}
	return send[Accepted](ctx, c, r, nil)
}

// AddAndWait is Add, and waits until the items are found. What became of each is in
// the job's result: an item may have failed by itself, and the job has succeeded.
func (c *Client) AddAndWait(ctx context.Context, items ...Item) (*Job, error) {
	accepted, err := c.Add(ctx, items...)
	if err != nil {
		return nil, err
	}
	return c.Jobs.Wait(ctx, accepted.JobID)
}

// Search finds passages by meaning and by word.
func (c *Client) Search(ctx context.Context, search SearchRequest) (*SearchResult, error) {
	return send[SearchResult](ctx, c, request{method: http.MethodPost, path: "/v1/search", body: search, reads: true}, nil)
}

// Retrieve finds passages, and what the graph leads to from them.
func (c *Client) Retrieve(ctx context.Context, retrieve RetrieveRequest) (*Retrieved, error) {
	return send[Retrieved](ctx, c, request{method: http.MethodPost, path: "/v1/retrieve", body: retrieve, reads: true}, nil)
}

// Answer writes an answer, with what it rests on. Where there is nothing to go on it
// says so. It is Brain.Answer.
func (c *Client) Answer(ctx context.Context, answer AnswerRequest) (*WrittenAnswer, error) {
	return c.Brain.Answer(ctx, answer)
}

// Get reads a node.
func (c *Client) Get(ctx context.Context, id string) (*Node, error) {
	r, err := at(http.MethodGet, "/v1/graph/nodes/", id)
	return send[Node](ctx, c, r, err)
}

// List lists nodes, the newest first, without their content.
func (c *Client) List(filter NodeFilter) List[Node] {
	return listOf[Node](c, filter, "/v1/graph/nodes")
}

// Find reads the node that an external id means now, with its content. It is nil,
// without an error, if the id means no node.
func (c *Client) Find(ctx context.Context, externalID string) (*Node, error) {
	if externalID == "" {
		return nil, argument("the external id is empty")
	}
	page, err := c.List(NodeFilter{ExternalID: externalID}).Page(ctx, "")
	if err != nil || len(page.Data) == 0 {
		return nil, err
	}
	node, err := c.Get(ctx, page.Data[0].ID)
	if errors.Is(err, ErrNotFound) { // it has gone between the two
		return nil, nil
	}
	return node, err
}

// Update changes a node. The answer comes when search finds it as it is now.
func (c *Client) Update(ctx context.Context, id string, patch NodePatch) (*Node, error) {
	r, err := at(http.MethodPatch, "/v1/graph/nodes/", id)
	r.body = patch
	if patch.IfMatch != "" {
		r.header = http.Header{"If-Match": {patch.IfMatch}}
	}
	return send[Node](ctx, c, r, err)
}

// Delete forgets a node: its content is gone for good, its place can be restored for
// 30 days.
func (c *Client) Delete(ctx context.Context, id string) (*Node, error) {
	r, err := at(http.MethodDelete, "/v1/graph/nodes/", id)
	return send[Node](ctx, c, r, err)
}

// Undelete restores the place of a forgotten node, not its content.
func (c *Client) Undelete(ctx context.Context, id string) (*Node, error) {
	r, err := at(http.MethodPost, "/v1/graph/nodes/", id, "/undelete")
	r.keyed = true
	return send[Node](ctx, c, r, err)
}

// History lists all changes of a node, the newest first.
func (c *Client) History(id string) List[HistoryEntry] {
	return listOf[HistoryEntry](c, nil, "/v1/graph/nodes/", id, "/history")
}

// Supersede puts a new content in the place of a node, which stays readable and
// leaves search.
func (c *Client) Supersede(ctx context.Context, id, content, reason string) (*Superseded, error) {
	r, err := at(http.MethodPost, "/v1/graph/nodes/", id, "/supersede")
	r.keyed = true
	r.body = map[string]string{"content": content, "reason": reason}
	return send[Superseded](ctx, c, r, err)
}

// Elsewhere tells in which other memories of the organization an entity is known.
func (c *Client) Elsewhere(ctx context.Context, id string) (*Elsewhere, error) {
	r, err := at(http.MethodGet, "/v1/graph/nodes/", id, "/elsewhere")
	return send[Elsewhere](ctx, c, r, err)
}
