package cluster

import (
	"errors"
	"fmt"

	"orgmem/cluster/transfer"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// DefaultTransferRate is how many bytes of stores a node sends per second while
// it serves. A joining node is to have its share of 1 GB within a minute, for
// which a third of it would do; a disk reads ten times as much.
const DefaultTransferRate = 64 << 20

// errNotMember means that somebody asks for the stores of a group that it is not
// in.
var errNotMember = errors.New("server is not in the group")

// newTransfers makes the host's transfers of stores.
func newTransfers(n *node, all groups) *transfer.Transfers {
	c := transfer.Config{
		Storage: n.cfg.Storage, Clock: n.cfg.Clock, Logger: n.cfg.Logger, Pacer: n.cfg.pacer,
		Allow: all.mayFetch, Closing: n.closing,
	}
	if n.peers != nil {
		c.Dial = n.peers.Dial
	}
	return transfer.New(c)
}

// manifest says what a replica must have to be at this node's marker of the group.
// Until closed is called, what comes behind the marker stays in the log.
func (g *group) manifest(index uint64) (b []byte, closed func(), err error) {
	release := g.hold(index)
	b, err = transfer.Manifest(g.fsm.machine, g.id, index, g.node.identity.Server)
	if err != nil {
		release()
		return nil, nil, err
	}
	return b, release, nil
}

// mayFetch allows the members of a group the stores of that group, and nothing
// else.
func (all groups) mayFetch(peer wire.ServerID, ask *pb.StoreCopy) (storage.StoreID, error) {
	id, err := storage.ParseStoreID(ask.GetStore())
	if err != nil {
		return id, err
	}
	of := wire.MetaGroup
	if id != storage.MetaStore {
		of = all.Shard(id.Org)
	}
	g := all.group(of)
	if g == nil || of != ask.GetGroup() {
		return id, fmt.Errorf("store %v of group %d: %w", id, ask.GetGroup(), errNotMember)
	}
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		if wire.ServerID(s.ID) == peer {
			return id, nil
		}
	}
	return id, fmt.Errorf("%s asks for store %v: %w", peer, id, errNotMember)
}
