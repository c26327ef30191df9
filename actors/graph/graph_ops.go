package graph

import (
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Nodes and edges have one writer, the subject's worker, between two slices: a node's degree (its edges that are not
// tombstoned) is in its record, and forgetting a node takes its edges along, so both must see what the other did. A
// transaction writes nodes at its end (Tx.Finish) and edges by EdgeRecords.PutEdge; all writes of records keep the
// entries of lists (graph_index.go). A call gets there by SubmitEdit (edit.go). What it changes is one commit with
// audit, events and outcome, or for a hub several, each whole (ErrUnfinished).

// Module reads and changes graphs: the operations of proto/graph.proto, and what a cycle leaves to people to
// decide: contradictions and proposals.
type Module struct {
	*tenant.Org
	tenant.NoModule
	Recent RecentNodes
}

// Committed forgets the nodes that were read last: the store holds something newer.
func (o *Module) Committed() { o.Recent.forget() }

// Handle answers the reads of graphs, and hands edits to the worker of their partition.
func (o *Module) Handle(c *tenant.Call) bool {
	if op := c.Env.GetGetNode(); op != nil {
		o.getNode(c, pb.NodeID(op.GetId()))
		return true
	}
	if o.review(c) {
		return true
	}
	switch op := c.Env.GetGraph().GetOp().(type) {
	case *pb.GraphOp_ListNodes:
		o.ReadWith(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
			return listNodes(c, st, op.ListNodes, &c.Org.System.Readers[worker])
		})
	case *pb.GraphOp_NodeContext:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return nodeContext(c, st, op.NodeContext) })
	case *pb.GraphOp_SearchNodes:
		o.ReadWith(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
			return searchNodes(c, st, op.SearchNodes, &c.Org.System.Readers[worker])
		})
	case *pb.GraphOp_EntityElsewhere:
		o.entityElsewhere(c, op.EntityElsewhere)
	case *pb.GraphOp_EditNode:
		SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) { return f.editNode(op.EditNode) })
	case *pb.GraphOp_ForgetNode:
		SubmitEditBusy(o.Org, c, func(f *Tx) (*pb.Reply, error) { return f.forgetNode(op.ForgetNode) })
	case *pb.GraphOp_UndeleteNode:
		SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) { return f.undeleteNode(op.UndeleteNode) })
	case *pb.GraphOp_SupersedeNode:
		SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) { return f.supersedeNode(op.SupersedeNode) })
	case *pb.GraphOp_NodeHistory:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return nodeHistory(c, st, op.NodeHistory) })
	case *pb.GraphOp_ListEdges:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return listEdges(c, st, op.ListEdges) })
	case *pb.GraphOp_GetEdge:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return getEdge(c, st, op.GetEdge) })
	case *pb.GraphOp_AssertEdge:
		SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) { return assertEdge(f, op.AssertEdge) })
	case *pb.GraphOp_ForgetEdge:
		SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) { return forgetEdge(f, op.ForgetEdge) })
	case *pb.GraphOp_ListDomains:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return listDomains(c, st, op.ListDomains) })
	case *pb.GraphOp_GetDomain:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return getDomain(c, st, op.GetDomain) })
	default:
		return false
	}
	return true
}
