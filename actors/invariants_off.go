//go:build !invariants

package actors

import "orgmem/actors/partition"

// What package doc promises is checked at run time in builds with the tag
// invariants (invariants_on.go); here the checks are nothing.

type checks struct{}

func (checks) enter(*orgView, *partition.Ref) (leave func()) { return func() {} }

func (checks) committed(*orgView, *partition.Ref, *partition.Index) {}
