//go:build unleased

package cluster

// leased: this build lets a node answer for a shard as long as it believes to lead
// it. It is never shipped. The histories of several nodes (make histories) are run
// against it once, to show that they find what the lease prevents. Of what the epochs
// of writes prevent (package storage) they would not: processes let nobody arrange
// that a deposed leader's write comes behind its successor's. The simulation does
// (TestSimulationCatchesBrokenBuilds).
const leased = false
