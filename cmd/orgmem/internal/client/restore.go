package client

import (
	"context"
	"net/http"
	"net/url"

	pb "orgmem/proto"
)

// Restored answers a part of an exported document.
type Restored struct {
	PartitionID string   `json:"partitionId"`
	NodeIDs     []string `json:"nodeIds"`
	Created     int      `json:"created"`
	Unchanged   int      `json:"unchanged"`
	Unread      []string `json:"unread"`
}

// Restore sends a part of an exported document. It may be sent again: PUT in all
// but name.
func (c *Client) Restore(ctx context.Context, org pb.OrgID, part any) (Restored, error) {
	var out Restored
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/operator/orgs/" + url.PathEscape(org.String()) + "/restore",
		body: part, repeatable: true, out: &out,
	})
	return out, err
}
