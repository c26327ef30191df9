package subject

import (
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Intake takes content in: items, files and coding sessions.
type Intake struct {
	*tenant.Org
	tenant.NoModule
}

// Handle takes content in, and answers the reads of sessions and imports. Content goes to the actor of the partition,
// as does all that must be decided in order. A file is read first (importFile).
func (o *Intake) Handle(c *tenant.Call) bool {
	if c.Env.GetIngest() != nil {
		o.Accept(c)
		return true
	}
	switch op := c.Env.GetLink().GetOp().(type) {
	case *pb.LinkOp_SessionEvents, *pb.LinkOp_AgentSignals, *pb.LinkOp_SessionFinalize:
		o.Accept(c)
	case *pb.LinkOp_SessionStatus:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			state, err := readSessionState(c.Org, st, c.Part)
			return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_SessionState{SessionState: state}}), err
		})
	case *pb.LinkOp_ListSessions:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return listSessions(c.Org, st, c.Part, op.ListSessions) })
	case *pb.LinkOp_DeleteSession:
		graph.SubmitEditBusy(o.Org, c, func(f *graph.Tx) (*pb.Reply, error) { return deleteSession(f, op.DeleteSession) })
	case *pb.LinkOp_ImportFile:
		o.importFile(c, op.ImportFile)
	case *pb.LinkOp_ListImports:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return listImports(c.Org, st, c.Part) })
	default:
		return false
	}
	return true
}
