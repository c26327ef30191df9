//go:build !unleased

package cluster

// leased is off in one build only, which is wrong on purpose: see unleased.
const leased = true
