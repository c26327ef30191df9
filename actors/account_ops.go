package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// account carries out an operation of proto/account.proto: team, account, sandbox and settings.
func (o *orgActor) account(c *call, op *pb.AccountOp) {
	switch op := op.GetOp().(type) {
	default:
		c.fail(fmt.Errorf("operation %T is unknown here", op))
	}
}
