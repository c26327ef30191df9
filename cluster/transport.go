package cluster

import "github.com/hashicorp/raft"

// transports is the seam between the groups and the network: it gives each
// group its own transport. A node that is a cluster of one has nobody to talk
// to and uses soloTransports; a multiplexed mutual-TLS listener fits behind the
// same method.
type transports interface {
	// group returns a new transport for one group. raft closes it when the group
	// shuts down.
	group(id uint32, self ServerID) raft.Transport
}

// soloTransports connects nothing. raft still wants a transport, for its own
// address and for the pre-vote check, which it switches off with a warning where
// the transport cannot do it.
type soloTransports struct{}

func (soloTransports) group(_ uint32, self ServerID) raft.Transport {
	_, t := raft.NewInmemTransportWithTimeout(raft.ServerAddress(self), soloTimeout)
	return t
}
