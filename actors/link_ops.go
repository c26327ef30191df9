package actors

import (
	"fmt"

	pb "orgmem/proto"
	"orgmem/storage"
)

// link carries out an operation of proto/link.proto: imports, coding sessions, webhooks, the event stream and connectors.
func (o *orgActor) link(c *call, op *pb.LinkOp) {
	switch op := op.GetOp().(type) {
	case *pb.LinkOp_StreamEvents:
		o.streamEvents(c)
	case *pb.LinkOp_CreateWebhook:
		o.createWebhook(c, op.CreateWebhook)
	case *pb.LinkOp_ListWebhooks:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.listWebhooks(st, op.ListWebhooks) })
	case *pb.LinkOp_GetWebhook:
		o.read(c, func(st *storage.Store) (*pb.Reply, error) { return c.org.getWebhook(st, op.GetWebhook) })
	case *pb.LinkOp_PatchWebhook:
		o.patchWebhook(c, op.PatchWebhook)
	case *pb.LinkOp_DeleteWebhook:
		o.deleteWebhook(c, op.DeleteWebhook)
	case *pb.LinkOp_TestWebhook:
		o.testWebhook(c, op.TestWebhook)
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
