package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
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

// ClusterStatus is what commands need of the cluster's status. Raw is all of it,
// as it came: scripts see fields that are newer than this program.
type ClusterStatus struct {
	Cluster    string        `json:"cluster"`
	Controller string        `json:"controller"`
	Version    uint32        `json:"version"`
	Nodes      []ClusterNode `json:"nodes"`
	Groups     []struct {
		Group    uint32 `json:"group"`
		Leader   string `json:"leader"`
		Replicas []struct {
			Node     string `json:"node"`
			Voter    bool   `json:"voter"`
			CaughtUp bool   `json:"caughtUp"`
		} `json:"replicas"`
		Desired []string `json:"desired"`
		Waits   string   `json:"waits"`
	} `json:"groups"`
	Decisions []struct {
		At      string `json:"at"`
		Action  string `json:"action"`
		Group   uint32 `json:"group"`
		Node    string `json:"node"`
		Why     string `json:"why"`
		Outcome string `json:"outcome"`
		Times   uint32 `json:"times"`
	} `json:"decisions"`

	Raw json.RawMessage `json:"-"`
}

// ClusterNode is one node of a ClusterStatus.
type ClusterNode struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Zone     string `json:"zone"`
	Address  string `json:"address"`
	Version  uint32 `json:"version"`
	State    string `json:"state"`
	Since    string `json:"since"`
	Draining bool   `json:"draining"`
	Leaving  bool   `json:"leaving"`
	Voters   uint32 `json:"voters"`
	Learners uint32 `json:"learners"`
	Leads    uint32 `json:"leads"`
	Load     uint32 `json:"load"` // thousandths
}

// Node finds a node by its id or name; false when it is not among them.
func (s ClusterStatus) Node(name string) (ClusterNode, bool) {
	for _, n := range s.Nodes {
		if n.ID == name || n.Name == name {
			return n, true
		}
	}
	return ClusterNode{}, false
}

// ClusterStatus tells how the cluster is.
func (c *Client) ClusterStatus(ctx context.Context) (ClusterStatus, error) {
	return c.clusterDo(ctx, http.MethodGet, "")
}

// DrainNode lets a node lead nothing, or takes that back. The status is that right
// after the order.
func (c *Client) DrainNode(ctx context.Context, node string, drain bool) (ClusterStatus, error) {
	method := http.MethodPut
	if !drain {
		method = http.MethodDelete
	}
	return c.clusterDo(ctx, method, "/nodes/"+url.PathEscape(node)+"/drain")
}

// RemoveNode removes a node for good. The status is that right after the order.
func (c *Client) RemoveNode(ctx context.Context, node string) (ClusterStatus, error) {
	return c.clusterDo(ctx, http.MethodDelete, "/nodes/"+url.PathEscape(node))
}

func (c *Client) clusterDo(ctx context.Context, method, path string) (ClusterStatus, error) {
	var s ClusterStatus
	err := c.do(ctx, call{method: method, path: "/operator/cluster" + path, out: &s.Raw})
	if err == nil {
		err = json.Unmarshal(s.Raw, &s)
	}
	return s, err
}
