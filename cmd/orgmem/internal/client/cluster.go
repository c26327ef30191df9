package client

import (
	"context"
	"net/http"
	"time"
)

// JoinToken lets one machine join a cluster.
type JoinToken struct {
	Token     string `json:"token"`
	ExpiresAt string `json:"expiresAt"`
}

// NewJoinToken makes a token that can be used for a time. It is not sent again
// after a broken connection: nobody would know the first one.
func (c *Client) NewJoinToken(ctx context.Context, life time.Duration) (JoinToken, error) {
	body := struct {
		TTLSeconds int `json:"ttlSeconds,omitempty"`
	}{int(life / time.Second)}
	var out JoinToken
	err := c.do(ctx, call{method: http.MethodPost, path: "/operator/cluster/tokens", body: body, out: &out})
	return out, err
}

// Rotation is how far a rotation of the cluster's certificates is.
type Rotation struct {
	Generations []uint64 `json:"generations"`
	Signing     uint64   `json:"signing"`
	Waiting     []string `json:"waiting"`
	ExpiresAt   string   `json:"expiresAt"`
}

// Done tells whether nothing is left to do.
func (r Rotation) Done() bool { return len(r.Generations) == 1 }

// Rotate begins to replace the cluster's certificates.
func (c *Client) Rotate(ctx context.Context) (Rotation, error) {
	var out Rotation
	err := c.do(ctx, call{method: http.MethodPost, path: "/operator/cluster/rotation", out: &out})
	return out, err
}

// Rotation tells how far that is.
func (c *Client) Rotation(ctx context.Context) (Rotation, error) {
	var out Rotation
	err := c.do(ctx, call{method: http.MethodGet, path: "/operator/cluster/rotation", out: &out})
	return out, err
}
