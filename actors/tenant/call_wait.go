package tenant

import (
	"context"
	"errors"

	"orgmem/actors/node"
)

// Abandoned is done when nobody waits for the call any more.
func (c *Call) Abandoned() context.Context {
	if c.abandonedCtx == nil {
		return c.Org.System.Lifetime
	}
	return c.abandonedCtx
}

// Unread is why a file was not read: what ended the waiting, where that was ended.
func (c *Call) Unread(err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, node.ErrAbandoned) {
		return err
	}
	if err := c.StillWanted(); err != nil {
		return err
	}
	return node.ErrAbandoned
}

// StillWanted returns an error when the caller has given up, or the node is to
// stop.
func (c *Call) StillWanted() error {
	if c.Org.System.Lifetime.Err() != nil {
		return node.ErrClosing
	}
	return c.Awaited()
}
