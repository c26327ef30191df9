package actors

import (
	pb "orgmem/proto"
)

// recallModule answers from what is known of a memory: search, retrieval, recall, conditioning, and the answers of the brain.
type recallModule struct {
	*orgActor
	noModule
	node *searchNode
}

// searchNode is what search has once on a node.
type searchNode struct {
	noFeature

	workers  []searcher    // one per read worker
	phrasing chan struct{} // the answers that a language model is wording
}

func newSearchNode(s *System) *searchNode {
	n := &searchNode{workers: make([]searcher, len(s.readers)), phrasing: make(chan struct{}, maxPhrasings)}
	for i := range n.workers {
		n.workers[i].reader = &s.readers[i]
	}
	return n
}

func (n *searchNode) Module(o *orgActor) module { return &recallModule{orgActor: o, node: n} }

// searcher is the working memory that search has of one read worker.
type searcher struct {
	*reader

	walker walker
}

func (o *recallModule) Handle(c *call) bool {
	if op := c.env.GetSearch(); op != nil {
		o.search(c, op)
		return true
	}
	switch op := c.env.GetMind().GetOp().(type) {
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
