package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// data carries out an operation of proto/data.proto: usage, exports and purges.
func (o *orgActor) data(c *call, op *pb.DataOp) {
	switch op := op.GetOp().(type) {
	case *pb.DataOp_GetUsage:
		o.getUsage(c, op.GetUsage)
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
