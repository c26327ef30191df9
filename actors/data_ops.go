package actors

import (
	"time"

	"orgmem/storage"
)

// usageModule reports what was used.
type usageModule struct {
	*orgActor
	noModule
}

func (o *usageModule) handle(c *call) bool {
	op := c.env.GetData().GetGetUsage()
	if op == nil {
		return false
	}
	o.getUsage(c, op)
	return true
}

// sweep orders the end of lines that are older than anybody may ask for.
func (o *usageModule) sweep(st *storage.Store, b *storage.Batch, _ time.Time) (int, error) {
	return 0, sweepUsage(&o.orgActor.orgView, b, st)
}

// purgeModule purges memories in two steps.
type purgeModule struct {
	*orgActor
	noModule
}

func (o *purgeModule) handle(c *call) bool {
	op := c.env.GetData().GetPurge()
	if op == nil {
		return false
	}
	o.purge(c, op)
	return true
}

// sweep deletes confirmation tokens that were not used.
func (o *purgeModule) sweep(st *storage.Store, b *storage.Batch, _ time.Time) (int, error) {
	return 0, o.sweepTickets(b, st)
}
