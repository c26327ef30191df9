package orgmem

import (
	"context"
	"net/http"
	"time"
)

// Me tells whom the key stands for, and what it may do.
func (c *Client) Me(ctx context.Context) (*Principal, error) {
	return send[Principal](ctx, c, request{method: http.MethodGet, path: "/v1/me"}, nil)
}

// DeleteMe removes a personal organization with everything in it; in a team, the
// caller with their keys and their own memory.
func (c *Client) DeleteMe(ctx context.Context) error {
	return sendBare(ctx, c, request{method: http.MethodDelete, path: "/v1/me"}, nil)
}

// Team is the organization.
func (c *Client) Team(ctx context.Context) (*Team, error) {
	return send[Team](ctx, c, request{method: http.MethodGet, path: "/v1/team"}, nil)
}

// Members lists its members.
func (c *Client) Members() List[TeamMember] {
	return listOf[TeamMember](c, nil, "/v1/team/members")
}

// MemberKeys lists the keys of all members, for an admin.
func (c *Client) MemberKeys(filter MemberKeyFilter) List[TeamKey] {
	return listOf[TeamKey](c, filter, "/v1/team/keys")
}

// Identity is who a member is. Another's needs read and admin.
func (c *Client) Identity(ctx context.Context, userID string) (*UserIdentity, error) {
	r, err := at(http.MethodGet, "/v1/identity/user/", userID)
	return send[UserIdentity](ctx, c, r, err)
}

// Usage is what the organization has used.
func (c *Client) Usage(ctx context.Context, query UsageQuery) (*UsageReport, error) {
	return send[UsageReport](ctx, c, request{method: http.MethodGet, path: "/v1/usage", query: queryOf(query)}, nil)
}

// Audit lists what was done, the newest first.
func (c *Client) Audit(filter AuditFilter) List[AuditEntry] {
	return listOf[AuditEntry](c, filter, "/v1/audit")
}

// Signals stores what went wrong in a coding session, or was corrected. It is
// repeated after a failure if each signal has a time, by which it is stored once.
func (c *Client) Signals(ctx context.Context, signals AgentSignals) (*SignalsAccepted, error) {
	dated := true
	for _, one := range signals.Signals {
		dated = dated && !one.At.IsZero()
	}
	return send[SignalsAccepted](ctx, c, request{method: http.MethodPost, path: "/v1/ingest/agent-signals", body: signals, reads: dated}, nil)
}

// SubjectsService provisions subjects: those a memory is kept of beside the members'.
type SubjectsService struct{ c *Client }

// Put provisions a subject, or finds it provisioned.
func (s SubjectsService) Put(ctx context.Context, id string) (*Subject, error) {
	r, err := at(http.MethodPut, "/v1/subjects/", id)
	return send[Subject](ctx, s.c, r, err)
}

// Get reads a subject.
func (s SubjectsService) Get(ctx context.Context, id string) (*Subject, error) {
	r, err := at(http.MethodGet, "/v1/subjects/", id)
	return send[Subject](ctx, s.c, r, err)
}

// List lists subjects.
func (s SubjectsService) List() List[Subject] {
	return listOf[Subject](s.c, nil, "/v1/subjects")
}

// Erase refuses the subject from now on and removes everything of it; when the job
// has succeeded, nothing is left.
func (s SubjectsService) Erase(ctx context.Context, id string) (*Accepted, error) {
	r, err := at(http.MethodDelete, "/v1/subjects/", id)
	return send[Accepted](ctx, s.c, r, err)
}

// KeysService is the caller's API keys.
type KeysService struct{ c *Client }

// List lists the caller's keys, without their secrets.
func (s KeysService) List(ctx context.Context) ([]APIKey, error) {
	list, err := send[struct {
		Keys []APIKey `json:"keys"`
	}](ctx, s.c, request{method: http.MethodGet, path: "/v1/keys"}, nil)
	if err != nil {
		return nil, err
	}
	return list.Keys, nil
}

// Create makes a key, with the scopes of the caller's unless some are named. Its
// secret is shown once: if this is repeated after a failure, the second answer may not
// have it any more; revoke that key then.
func (s KeysService) Create(ctx context.Context, label string, scopes ...Scope) (*NewKey, error) {
	return send[NewKey](ctx, s.c, request{method: http.MethodPost, path: "/v1/keys", keyed: true, body: struct {
		Label  string  `json:"label"`
		Scopes []Scope `json:"scopes,omitzero"`
	}{label, scopes}}, nil)
}

// Revoke ends a key, from the next request on.
func (s KeysService) Revoke(ctx context.Context, id string) error {
	r, err := at(http.MethodDelete, "/v1/keys/", id)
	return sendBare(ctx, s.c, r, err)
}

// SandboxService is a memory to try things in.
type SandboxService struct {
	Keys SandboxKeysService
	c    *Client
}

// Reset empties the sandbox.
func (s SandboxService) Reset(ctx context.Context) (*SandboxReset, error) {
	return send[SandboxReset](ctx, s.c, request{method: http.MethodPost, path: "/v1/sandbox/reset", keyed: true}, nil)
}

// SandboxKeysService is keys that reach the sandbox alone.
type SandboxKeysService struct{ c *Client }

// List lists them, without their secrets.
func (s SandboxKeysService) List() List[SandboxKey] {
	return listOf[SandboxKey](s.c, nil, "/v1/sandbox/keys")
}

// Create makes one that works for a time, in whole seconds: an hour to 90 days, and 7
// days if it is 0. It is sent once, since a second try would make a second key.
func (s SandboxKeysService) Create(ctx context.Context, label string, life time.Duration) (*NewSandboxKey, error) {
	return send[NewSandboxKey](ctx, s.c, request{method: http.MethodPost, path: "/v1/sandbox/keys", body: struct {
		Label      string `json:"label,omitzero"`
		TTLSeconds int64  `json:"ttlSeconds,omitzero"`
	}{label, int64(life / time.Second)}}, nil)
}

// Revoke ends a key.
func (s SandboxKeysService) Revoke(ctx context.Context, id string) error {
	r, err := at(http.MethodDelete, "/v1/sandbox/keys/", id)
	return sendBare(ctx, s.c, r, err)
}

// ConnectorsService is what the service fetches by itself.
type ConnectorsService struct{ c *Client }

// List lists connectors.
func (s ConnectorsService) List() List[Connector] {
	return listOf[Connector](s.c, nil, "/v1/connectors")
}

// Create makes a connector. It is sent once.
func (s ConnectorsService) Create(ctx context.Context, connector NewConnector) (*Connector, error) {
	return send[Connector](ctx, s.c, request{method: http.MethodPost, path: "/v1/connectors", body: connector}, nil)
}

// Get reads a connector, without its secrets.
func (s ConnectorsService) Get(ctx context.Context, id string) (*Connector, error) {
	r, err := at(http.MethodGet, "/v1/connectors/", id)
	return send[Connector](ctx, s.c, r, err)
}

// Update changes a connector.
func (s ConnectorsService) Update(ctx context.Context, id string, patch PatchConnector) (*Connector, error) {
	r, err := at(http.MethodPatch, "/v1/connectors/", id)
	r.body = patch
	return send[Connector](ctx, s.c, r, err)
}

// Delete removes a connector. What it has brought stays.
func (s ConnectorsService) Delete(ctx context.Context, id string) error {
	r, err := at(http.MethodDelete, "/v1/connectors/", id)
	return sendBare(ctx, s.c, r, err)
}

// Sync fetches now. It is sent once.
func (s ConnectorsService) Sync(ctx context.Context, id string) (*Accepted, error) {
	r, err := at(http.MethodPost, "/v1/connectors/", id, "/sync")
	return send[Accepted](ctx, s.c, r, err)
}

// SettingsService is the settings of a memory.
type SettingsService struct{ c *Client }

// Get reads them.
func (s SettingsService) Get(ctx context.Context) (*Settings, error) {
	return send[Settings](ctx, s.c, request{method: http.MethodGet, path: "/v1/settings"}, nil)
}

// Update changes those that are named.
func (s SettingsService) Update(ctx context.Context, patch SettingsPatch) (*Settings, error) {
	return send[Settings](ctx, s.c, request{method: http.MethodPatch, path: "/v1/settings", body: patch}, nil)
}

// Reset makes them as they were in the beginning.
func (s SettingsService) Reset(ctx context.Context) (*Settings, error) {
	return send[Settings](ctx, s.c, request{method: http.MethodPost, path: "/v1/settings/reset", keyed: true}, nil)
}
