package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// Where what is written: nodes AND edges have one writer, the subject's worker,
// between two slices. A node's degree (its edges that are not tombstoned) stands
// in its record, and forgetting a node takes its edges along, so both must see
// what the other did. Nodes are put by putNode, edges by effect.putEdge, domains
// by putDomain (graph_index.go), which keep the lists' entries.
// A call gets there by o.edit(c, func(f *effect) (*pb.Reply, error)) (edit.go): f
// reads and changes, and all of it is one commit with audit, events and outcome.

// graph carries out an operation of proto/graph.proto: reads and changes of the graph.
func (o *orgActor) graph(c *call, op *pb.GraphOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
