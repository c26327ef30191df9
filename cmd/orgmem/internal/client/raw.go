package client

import (
	"context"
	"fmt"
	"net/http"
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
) (status int, header http.Header, raw []byte, err error) {
	backoff := rawBackoff
	for attempt := 1; ; attempt++ {
		got, err := c.send(ctx, method, path, body, idempotencyKey)
		if dial, ok := unreachable(err); ok {
			return 0, nil, nil, fmt.Errorf("nobody answers at %s (%w); %s", c.base, dial.Err, c.advice)
		}
		again := err != nil || got.status == http.StatusServiceUnavailable
		if !again || attempt == rawTries || ctx.Err() != nil || clock.Wait(ctx, c.clock, backoff) != nil {
			if err != nil {
				return 0, nil, nil, err
			}
			return got.status, got.header, got.body, nil
		}
		backoff *= 2
	}
}
