package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"orgmem/proto/clock"
)

const (
	// rawTries bounds the attempts of Raw: somebody waits for the answer of a tool, and can be told.
	rawTries = 4
	// rawBackoff doubles with each.
	rawBackoff = 200 * time.Millisecond
)

// Raw sends a request that may be sent again, and returns what was answered, whatever its
// status. It tries again after a broken connection and where the service says that it cannot
// serve now; a refusal for the rate is the caller's to tell. The error says what a person
// can do.
func (c *Client) Raw(
	ctx context.Context, method, path string, body []byte, idempotencyKey string,
) (status int, header http.Header, answer []byte, err error) {
	backoff := rawBackoff
	for attempt := 1; ; attempt++ {
		status, header, answer, err = c.rawOnce(ctx, method, path, body, idempotencyKey)
		if dial, ok := unreachable(err); ok {
			return 0, nil, nil, fmt.Errorf("nobody answers at %s (%w); %s", c.base, dial.Err, c.advice)
		}
		if err == nil && status != http.StatusServiceUnavailable || attempt == rawTries || ctx.Err() != nil {
			return status, header, answer, err
		}
		if werr := clock.Wait(ctx, c.clock, backoff); werr != nil {
			return status, header, answer, err
		}
		backoff *= 2
	}
}

func (c *Client) rawOnce(
	ctx context.Context, method, path string, body []byte, idempotencyKey string,
) (int, http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	request.Header.Set("X-Svc-Api-Key", c.apiKey)
	if c.subject != "" {
		request.Header.Set("X-Svc-Subject", url.PathEscape(c.subject))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, nil, fmt.Errorf("no answer from %s: %w", c.base, err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("the answer of %s broke off: %w", c.base, err)
	}
	if len(raw) > maxResponse {
		return 0, nil, nil, fmt.Errorf("%s answered more than %d bytes: %w", c.base, maxResponse, errAnswer)
	}
	return response.StatusCode, response.Header, raw, nil
}
