package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// mind carries out an operation of proto/mind.proto: recall, identity, contradictions, proposals, the brain, conditioning and retrieval.
func (o *orgActor) mind(c *call, op *pb.MindOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
