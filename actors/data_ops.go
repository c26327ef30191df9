package actors

import (
	"time"

	"orgmem/actors/tenant"
	"orgmem/storage"
)

// usageModule reports what was used.
type usageModule struct {
	*tenant.Org
	tenant.NoModule
}

func (o *usageModule) Handle(c *tenant.Call) bool {
	op := c.Env.GetData().GetGetUsage()
	if op == nil {
		return false
	}
	o.getUsage(c, op)
	return true
}

// Sweep orders the end of lines that are older than anybody may ask for.
func (o *usageModule) Sweep(st *storage.Store, b *storage.Batch, _ time.Time) (int, error) {
	return 0, sweepUsage(&o.Org.View, b, st)
}

// purgeModule purges memories in two steps.
type purgeModule struct {
	*tenant.Org
	tenant.NoModule
}

func (o *purgeModule) Handle(c *tenant.Call) bool {
	op := c.Env.GetData().GetPurge()
	if op == nil {
		return false
	}
	o.purge(c, op)
	return true
}

// Sweep deletes confirmation tokens that were not used.
func (o *purgeModule) Sweep(st *storage.Store, b *storage.Batch, _ time.Time) (int, error) {
	return 0, o.sweepTickets(b, st)
}
