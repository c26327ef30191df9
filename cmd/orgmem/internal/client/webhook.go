package client

import (
	"context"
	"net/http"
	"net/url"
)

// Webhook is an endpoint that was just made.
type Webhook struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// CreateWebhook registers an endpoint.
func (c *Client) CreateWebhook(ctx context.Context, address string, types []string) (Webhook, error) {
	var made Webhook
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/webhooks",
		body: map[string]any{"url": address, "eventTypes": types}, out: &made,
	})
	return made, err
}

// DeleteWebhook removes an endpoint.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/v1/webhooks/" + url.PathEscape(id)})
}
