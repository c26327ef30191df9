// Package plan decides where the replicas and the leaders of a cluster's groups
// should be. Assemble makes a View of what the nodes report; Next says what should
// change; Redraw makes the shard map that allows it. The controller in package
// cluster carries the steps out.
//
// All of it is pure: values in, values out, no clock, no goroutine and no memory. So
// whichever node leads the meta group next continues where the last one stopped, and
// the planner is tested by the million (plan_test.go), alone and as a part of a whole
// simulated cluster (sim_test.go).
package plan
