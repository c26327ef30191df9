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

func (o *intakeModule) handle(c *call) bool {
	if c.env.GetIngest() != nil {
		o.accept(c)
		return true
	}
	switch op := c.env.GetLink().GetOp().(type) {
	case *pb.LinkOp_SessionEvents, *pb.LinkOp_AgentSignals, *pb.LinkOp_SessionFinalize:
		o.accept(c)
	case *pb.LinkOp_SessionStatus:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) {
			state, err := c.org.sessionState(st, c.part)
			return linked(&pb.LinkResult{Result: &pb.LinkResult_SessionState{SessionState: state}}), err
		})
	case *pb.LinkOp_ListSessions:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.listSessions(st, c.part, op.ListSessions) })
	case *pb.LinkOp_DeleteSession:
		o.editBusy(c, func(f *effect) (*pb.Reply, error) { return f.deleteSession(op.DeleteSession) })
	case *pb.LinkOp_ImportFile:
		o.importFile(c, op.ImportFile)
	case *pb.LinkOp_ListImports:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.listImports(st, c.part) })
	default:
		return false
	}
	return true
}
