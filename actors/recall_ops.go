package actors

import (
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// recallModule answers from what is known of a memory: search, retrieval, recall, conditioning, and the answers of the brain.
type recallModule struct {
	*tenant.Org
	tenant.NoModule
	node *searchNode
}

// searchNode is what search has once on a node.
type searchNode struct {
	tenant.NoFeature

	workers  []searcher    // one per read worker
	phrasing chan struct{} // the answers that a language model is wording
}

func newSearchNode(s *tenant.System) *searchNode {
	n := &searchNode{workers: make([]searcher, len(s.Readers)), phrasing: make(chan struct{}, maxPhrasings)}
	for i := range n.workers {
		n.workers[i].Reader = &s.Readers[i]
	}
	return n
}

func (n *searchNode) Module(o *tenant.Org) tenant.Module { return &recallModule{Org: o, node: n} }

// searcher is the working memory that search has of one read worker.
type searcher struct {
	*tenant.Reader

	walker walker
}

func (o *recallModule) Handle(c *tenant.Call) bool {
	if op := c.Env.GetSearch(); op != nil {
		o.search(c, op)
		return true
	}
	switch op := c.Env.GetMind().GetOp().(type) {
	case *pb.MindOp_Recall:
		o.recall(c, op.Recall)
	case *pb.MindOp_GetIdentity:
		o.identity(c, op.GetIdentity)
	case *pb.MindOp_ConditionSession:
		o.conditionSession(c, op.ConditionSession)
	case *pb.MindOp_ConditionScaffold:
		o.conditionScaffold(c, op.ConditionScaffold)
	case *pb.MindOp_BrainQuery:
		o.brainQuery(c, op.BrainQuery)
	case *pb.MindOp_BrainAnswer:
		o.brainAnswer(c, op.BrainAnswer)
	case *pb.MindOp_Retrieve:
		o.retrieve(c, op.Retrieve)
	default:
		return false
	}
	return true
}
