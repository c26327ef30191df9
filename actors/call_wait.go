package actors

import (
	"context"
	"errors"

	"orgmem/actors/node"
)

// left is done when nobody waits for the call any more.
func (c *call) left() context.Context {
	if c.gone == nil {
		return c.org.sys.ctx
	}
	return c.gone
}

// unread is why a file was not read: what ended the waiting, where that was ended.
func (c *call) unread(err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, node.ErrAbandoned) {
		return err
	}
	if err := c.stillWanted(); err != nil {
		return err
	}
	return node.ErrAbandoned
}

// stillWanted returns an error when the caller has given up, or the node is to
// stop.
func (c *call) stillWanted() error {
	if c.org.sys.ctx.Err() != nil {
		return node.ErrClosing
	}
	return c.awaited()
}
