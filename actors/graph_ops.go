package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// Where what is written: nodes AND edges have one writer, the subject's worker,
// between two slices. A node's degree (its edges that are not tombstoned) stands
// in its record, and forgetting a node takes its edges along, so both must see
// what the other did. An effect puts its nodes by putNode, its edges by
// effect.putEdge (edges.go); domains are put by putDomain. These keep the lists'
// entries (graph_index.go). A call gets there by o.edit (edit.go): what it runs
// reads and changes the effect, and all of that is one commit with audit, events
// and outcome.

// graph carries out an operation of proto/graph.proto: reads and changes of the graph.
func (o *orgActor) graph(c *call, op *pb.GraphOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
