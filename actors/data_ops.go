package actors

import (
	"fmt"

	pb "orgmem/proto"
	"orgmem/storage"
)

// data carries out an operation of proto/data.proto: usage, exports and purges.
func (o *orgActor) data(c *call, op *pb.DataOp) {
	switch op := op.GetOp().(type) {
	case *pb.DataOp_GetUsage:
		o.getUsage(c, op.GetUsage)
	case *pb.DataOp_CreateExport:
		o.createExport(c, op.CreateExport)
	case *pb.DataOp_ListExports:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.listExports(st, c, op.ListExports) })
	case *pb.DataOp_GetExport:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.getExport(st, c, op.GetExport.GetId(), false) })
	case *pb.DataOp_DownloadExport:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) {
			return c.org.downloadExport(st, c, op.DownloadExport.GetId())
		})
	case *pb.DataOp_Purge:
		o.purge(c, op.Purge)
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
