package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// graph carries out an operation of proto/graph.proto: reads and changes of the graph.
func (o *orgActor) graph(c *call, op *pb.GraphOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
