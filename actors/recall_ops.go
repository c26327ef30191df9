package actors

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// recallModule answers from what is known of a memory: search, retrieval, recall, conditioning, contradictions and proposals.
type recallModule struct {
	*orgActor
	noModule
}

func (o *recallModule) handle(c *call) bool {
	if op := c.env.GetSearch(); op != nil {
		o.search(c, op)
		return true
	}
	view := c.org
	switch op := c.env.GetMind().GetOp().(type) {
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
		return false
	}
	return true
}

// resume wakes the partitions that a cognition cycle has to look at.
func (o *recallModule) resume() error { return o.resumeCognition() }
