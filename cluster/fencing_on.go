//go:build !unfenced

package cluster

// fencing is off in one build only, which is wrong on purpose: see unfenced.
const fencing = true
