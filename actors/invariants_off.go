//go:build !invariants

package actors

import (
	"orgmem/actors/partition"
	"orgmem/cluster"
)

// What package doc promises is checked at run time in builds with the tag
// invariants (invariants_on.go); here the checks are nothing.

type checks struct{}

func (checks) enter(*worker) (leave func()) { return func() {} }

func (checks) committed(*worker, *partition.Index) {}

type leaseOrder struct{}

func (leaseOrder) applied(cluster.Lease, uint64, error) {}
