package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// link carries out an operation of proto/link.proto: imports, coding sessions, webhooks, the event stream and connectors.
func (o *orgActor) link(c *call, op *pb.LinkOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
