package clock

import (
	"context"
	"time"
)

// Wait returns nil after d, or the context's error when it ends first.
func Wait(ctx context.Context, c Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
