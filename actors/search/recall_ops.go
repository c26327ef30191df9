package search

import (
	"orgmem/actors/tenant"
	"orgmem/brain/reader"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Module answers from what is known of a memory: search, retrieval, recall, conditioning, and the answers of the brain.
type Module struct {
	*tenant.Org
	tenant.NoModule
	Node *Feature // of the node that the organization is on
}

// Feature is what search has once on a node.
type Feature struct {
	tenant.NoFeature

	Workers  []searcher    // one per read worker
	Phrasing chan struct{} // one value for each answer that a language model is wording: MaxConcurrentPhrasings
}

// New makes the feature of a node, with one searcher for each of its read workers.
func New(s *tenant.System) *Feature {
	n := &Feature{Workers: make([]searcher, len(s.Readers)), Phrasing: make(chan struct{}, MaxConcurrentPhrasings)}
	for i := range n.Workers {
		n.Workers[i].Reader = &s.Readers[i]
	}
	return n
}

// Module makes the module of an organization.
func (n *Feature) Module(o *tenant.Org) tenant.Module { return &Module{Org: o, Node: n} }

// searcher is the working memory that search has of one read worker.
type searcher struct {
	*tenant.Reader

	walker walker
	copies page
	reads  *reader.Worker // nil until the first question that is read for
}

// Handle begins to answer a search, a recall, a conditioning or a question to the brain.
func (o *Module) Handle(c *tenant.Call) bool {
	if op := c.Env.GetSearch(); op != nil {
		o.search(c, op)
		return true
	}
	switch op := c.Env.GetMind().GetOp().(type) {
	case *pb.MindOp_Recall:
		o.recall(c, op.Recall)
	case *pb.MindOp_GetIdentity:
		o.identity(c, op.GetIdentity)
	case *pb.MindOp_PlotIdentity:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return readPlot(st, c.Part) })
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
