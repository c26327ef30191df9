package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// SessionEvent is one event of a coding session.
type SessionEvent struct {
	SessionID string `json:"sessionId"`
	Role      string `json:"role"`
	Text      string `json:"text"`
	At        string `json:"at,omitempty"`
	EventID   string `json:"eventId,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	Model     string `json:"model,omitempty"`
	Tool      string `json:"tool,omitempty"`
	// Arguments are a tool's, from which a caller makes Text: they are not sent.
	Arguments json.RawMessage `json:"-"`
}

// SessionResult is what became of an event.
type SessionResult struct {
	Index  int    `json:"index"`
	Status string `json:"status"` // stored, deduped or rejected
	Error  string `json:"error"`
}

// PushSession stores up to 500 events. Calling it again changes nothing: what is
// stored already is deduped.
func (c *Client) PushSession(ctx context.Context, events []SessionEvent) ([]SessionResult, error) {
	var answer struct {
		Results []SessionResult `json:"results"`
	}
	body := struct {
		Events []SessionEvent `json:"events"`
	}{events}
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/ingest/session-batch", body: body, repeatable: true,
		out: &answer,
	})
	return answer.Results, err
}

// AgentSignal is something that went wrong in a session.
type AgentSignal struct {
	Type     string `json:"type"`
	Severity string `json:"severity,omitempty"`
	Detail   string `json:"detail,omitempty"`
	At       string `json:"at,omitempty"`
}

// PushSignals stores up to 100 signals of a session.
func (c *Client) PushSignals(ctx context.Context, session string, signals []AgentSignal) error {
	body := struct {
		SessionID string        `json:"sessionId"`
		Signals   []AgentSignal `json:"signals"`
	}{session, signals}
	return c.do(ctx, call{method: http.MethodPost, path: "/v1/ingest/agent-signals", body: body, repeatable: true})
}

// FinalizeSessions asks for what is derived from sessions to be built. A call more
// does nothing while that is under way.
func (c *Client) FinalizeSessions(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/v1/ingest/session-finalize", repeatable: true})
}
