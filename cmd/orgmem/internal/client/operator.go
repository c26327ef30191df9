package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	pb "orgmem/proto"
)

// The operator's answers are passed through as they came where a command only
// prints them; scripts then see every field that the server has, also newer
// ones.

// NewOrg is the order for an organization.
type NewOrg struct {
	Name       string `json:"name"`
	OwnerEmail string `json:"ownerEmail"`
	Personal   bool   `json:"personal,omitempty"`
	Plan       string `json:"plan,omitempty"`
}

// CreatedOrg answers CreateOrg; scripts read its fields in this order.
type CreatedOrg struct {
	OrgID  string `json:"orgId"`
	Slug   string `json:"slug"`
	UserID string `json:"userId"`
	APIKey string `json:"apiKey"`
	KeyID  string `json:"keyId"`
}

// CreateOrg makes an organization with its owner and first key. It is not sent
// again after a broken connection: there could be two.
func (c *Client) CreateOrg(ctx context.Context, o NewOrg) (CreatedOrg, error) {
	var out CreatedOrg
	err := c.do(ctx, call{method: http.MethodPost, path: "/operator/orgs", body: o, out: &out})
	return out, err
}

// Org is an organization as the operator sees it.
type Org struct {
	OrgID     string `json:"orgId"`
	Name      string `json:"name"`
	Slug      string `json:"slug"`
	Personal  bool   `json:"personal"`
	Plan      string `json:"plan"`
	CreatedAt string `json:"createdAt"`
	Members   int    `json:"members"`
	Subjects  int    `json:"subjects"`
	// OutOfService says what of it is damaged; empty: nothing.
	OutOfService string `json:"outOfService,omitempty"`
}

// OrgEntry is an organization in the list.
type OrgEntry struct {
	OrgID     string `json:"orgId"`
	Name      string `json:"name"`
	Slug      string `json:"slug"`
	CreatedAt string `json:"createdAt"`
	// OutOfService says what of it is damaged on the node that was asked; empty: nothing.
	OutOfService string `json:"outOfService,omitempty"`
}

// orgPage is how many organizations are asked for at a time: the most that the
// service gives.
const orgPage = 1000

// Orgs lists all organizations, oldest first.
func (c *Client) Orgs(ctx context.Context) ([]OrgEntry, error) {
	var all []OrgEntry
	for cursor := ""; ; {
		var page struct {
			Data       []OrgEntry `json:"data"`
			NextCursor string     `json:"nextCursor"`
		}
		query := url.Values{"limit": {strconv.Itoa(orgPage)}, "cursor": {cursor}}
		if err := c.do(ctx, call{method: http.MethodGet, path: "/operator/orgs?" + query.Encode(), out: &page}); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// Org shows one.
func (c *Client) Org(ctx context.Context, org pb.OrgID) (Org, error) {
	var out Org
	err := c.do(ctx, call{method: http.MethodGet, path: orgPath(org), out: &out})
	return out, err
}

// SetPlan changes an organization's plan.
func (c *Client) SetPlan(ctx context.Context, org pb.OrgID, plan string) error {
	body := struct {
		Plan string `json:"plan"`
	}{plan}
	return c.do(ctx, call{method: http.MethodPut, path: orgPath(org) + "/plan", body: body})
}

// DeleteOrg removes an organization and everything in it.
func (c *Client) DeleteOrg(ctx context.Context, org pb.OrgID) error {
	return c.do(ctx, call{method: http.MethodDelete, path: orgPath(org)})
}

// Member is a human member.
type Member struct {
	UserID    string `json:"userId"`
	Email     string `json:"email"`
	Role      string `json:"role"`
	CreatedAt string `json:"createdAt"`
}

// NewMember is the order for a member.
type NewMember struct {
	Email string `json:"email"`
	Role  string `json:"role"` // owner, admin, member
}

// AddMember adds a member.
func (c *Client) AddMember(ctx context.Context, org pb.OrgID, o NewMember) (Member, error) {
	var out Member
	err := c.do(ctx, call{method: http.MethodPost, path: orgPath(org) + "/members", body: o, out: &out})
	return out, err
}

// Members lists an organization's members.
func (c *Client) Members(ctx context.Context, org pb.OrgID) ([]Member, error) {
	var out struct {
		Data []Member `json:"data"`
	}
	err := c.do(ctx, call{method: http.MethodGet, path: orgPath(org) + "/members", out: &out})
	return out.Data, err
}

// RemoveMember removes a member.
func (c *Client) RemoveMember(ctx context.Context, org pb.OrgID, user pb.UserID) error {
	return c.do(ctx, call{method: http.MethodDelete, path: orgPath(org) + "/members/" + user.String()})
}

// NewKey is the order for a member's key.
type NewKey struct {
	UserID string   `json:"userId"`
	Scopes []string `json:"scopes"`
	Label  string   `json:"label"`
}

// CreatedKey answers CreateKey.
type CreatedKey struct {
	APIKey string `json:"apiKey"`
	ID     string `json:"id"`
	Label  string `json:"label"`
}

// CreateKey makes a key for a member.
func (c *Client) CreateKey(ctx context.Context, org pb.OrgID, o NewKey) (CreatedKey, error) {
	var out CreatedKey
	err := c.do(ctx, call{method: http.MethodPost, path: orgPath(org) + "/keys", body: o, out: &out})
	return out, err
}

// Doctor returns the running server's own report.
func (c *Client) Doctor(ctx context.Context) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.do(ctx, call{method: http.MethodGet, path: "/operator/doctor", out: &out})
	return out, err
}

func orgPath(org pb.OrgID) string { return "/operator/orgs/" + org.String() }

// Read returns an answer of the operator interface as it came: JSON, metrics or a profile.
func (c *Client) Read(ctx context.Context, path string) ([]byte, error) {
	status, header, raw, err := c.Raw(ctx, http.MethodGet, path, nil, "")
	if err == nil && (status < 200 || status > 299) {
		err = problemOf(answer{status, header, raw})
	}
	return raw, err
}

// Profile returns a profile of the server's process. seconds is how long it is watched, 0 for the profiles of now.
func (c *Client) Profile(ctx context.Context, name string, seconds int) ([]byte, error) {
	path := "/debug/pprof/" + url.PathEscape(name)
	if seconds > 0 {
		path += "?seconds=" + strconv.Itoa(seconds)
	}
	return c.Read(ctx, path)
}
