package actors

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// mind carries out an operation of proto/mind.proto: recall, identity, contradictions, proposals, the brain, conditioning and retrieval.
func (o *orgActor) mind(c *call, op *pb.MindOp) {
	view := c.org
	switch op := op.GetOp().(type) {
	case *pb.MindOp_Recall:
		o.recall(c, op.Recall)
	case *pb.MindOp_GetIdentity:
		o.identity(c, op.GetIdentity)
	case *pb.MindOp_ListContradictions:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) {
			return view.listContradictions(st, c.part, op.ListContradictions)
		})
	case *pb.MindOp_ListProposals:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return view.listProposals(st, c.part, op.ListProposals) })
	case *pb.MindOp_DecideProposal:
		o.decideProposal(c, op.DecideProposal)
	case *pb.MindOp_ConditionSession:
		o.conditionSession(c, op.ConditionSession)
	case *pb.MindOp_ConditionScaffold:
		o.conditionScaffold(c, op.ConditionScaffold)
	case *pb.MindOp_Retrieve:
		o.retrieve(c, op.Retrieve)
	default:
		o.dispatch(c)
	}
}
