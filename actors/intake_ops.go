package actors

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// intakeModule takes content in: items, files and coding sessions.
type intakeModule struct {
	*orgActor
	noModule
}

func (o *intakeModule) Handle(c *call) bool {
	if c.env.GetIngest() != nil {
		o.accept(c)
		return true
	}
	switch op := c.env.GetLink().GetOp().(type) {
	case *pb.LinkOp_SessionEvents, *pb.LinkOp_AgentSignals, *pb.LinkOp_SessionFinalize:
		o.accept(c)
	case *pb.LinkOp_SessionStatus:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) {
			state, err := readSessionState(c.org, st, c.part)
			return linked(&pb.LinkResult{Result: &pb.LinkResult_SessionState{SessionState: state}}), err
		})
	case *pb.LinkOp_ListSessions:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return listSessions(c.org, st, c.part, op.ListSessions) })
	case *pb.LinkOp_DeleteSession:
		submitEditBusy(o.orgActor, c, func(f *effect) (*pb.Reply, error) { return deleteSession(f, op.DeleteSession) })
	case *pb.LinkOp_ImportFile:
		o.importFile(c, op.ImportFile)
	case *pb.LinkOp_ListImports:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return listImports(c.org, st, c.part) })
	default:
		return false
	}
	return true
}
