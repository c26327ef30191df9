package api

import "time"

// The bounds of routes that no configuration changes. Those that an operator may change are
// fields of Config, and those of every request are in package web.
const (
	// streamHeartbeat is the interface's: after so long without an event a comment
	// shows that the connection stands.
	streamHeartbeat = 15 * time.Second

	// maxDownloads bounds the exports that a node sends at a time: each holds one
	// piece of half a mebibyte.
	maxDownloads = 64

	// maxDownloadsPerOrg bounds those of one organization: somebody who fetches an
	// export once more, and a machine that keeps a copy, still find room, and 15
	// others have as many.
	maxDownloadsPerOrg = 4

	// defaultConnections is how many connections of the public listener may be open
	// where nobody knows better: at about 20 KiB each 10,000 cost 200 MiB.
	defaultConnections = 10_000
	// maxOperatorConnections is the same of the operator's listener: some people, and
	// what collects the metrics.
	maxOperatorConnections = 64

	// maxSessionBatch is the interface's.
	maxSessionBatch = 500

	// maxMetadataFilters bounds the conditions of one search's metadata filter;
	// each costs a look at every candidate.
	maxMetadataFilters = 16
)
