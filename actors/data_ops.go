package actors

import pb "orgmem/proto"

// data carries out an operation of proto/data.proto: usage, exports and purges.
func (o *orgActor) data(c *call, op *pb.DataOp) {
	switch op := op.GetOp().(type) {
	case *pb.DataOp_GetUsage:
		o.getUsage(c, op.GetUsage)
	case *pb.DataOp_Purge:
		o.purge(c, op.Purge)
	default:
		o.dispatch(c)
	}
}
