//go:build unfenced

package cluster

// fencing: this build lets a node answer for a shard as long as it believes to
// lead it. It is never shipped; see package storage.
const fencing = false
