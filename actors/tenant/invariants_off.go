//go:build !invariants

package tenant

import "orgmem/actors/partition"

// What package doc promises is checked at run time in builds with the tag
// invariants (invariants_on.go); here the checks are nothing.

type checks struct{}

// Enter does nothing here.
func (checks) Enter(*View, *partition.Ref) (leave func()) { return func() {} }

// Committed does nothing here.
func (checks) Committed(*View, *partition.Ref, *partition.Index) {}
