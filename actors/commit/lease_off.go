//go:build !invariants

package commit

import "orgmem/cluster"

// What package doc of actors promises is checked at run time in builds with the tag invariants (lease_on.go); here the
// checks are nothing.

type leaseOrder struct{}

func (leaseOrder) applied(cluster.Lease, uint64, error) {}
