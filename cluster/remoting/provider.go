package remoting

import (
	"fmt"
	"sync"

	protocluster "github.com/asynkron/protoactor-go/cluster"

	"orgmem/cluster/mesh"
)

// Members tells who is there. *mesh.Network implements it, by memberlist.
type Members interface {
	// Watch calls f with all nodes, now and after every change, from one goroutine,
	// until it is stopped, which waits for f.
	Watch(f func([]mesh.Member)) (stop func())
}

// Provider is protoactor's ClusterProvider: protoactor's members are the nodes that
// our gossip calls alive. It announces nothing, since the node's own gossip does.
type Provider struct {
	members Members
	kinds   []string // that every node has
	began   func()   // protoactor's cluster is there

	mu   sync.Mutex
	stop func()
}

var _ protocluster.ClusterProvider = (*Provider)(nil)

// StartMember begins to tell protoactor's cluster who its members are.
func (p *Provider) StartMember(c *protocluster.Cluster) error {
	stop := p.members.Watch(func(all []mesh.Member) { c.MemberList.UpdateClusterTopology(topology(all, p.kinds)) })
	p.mu.Lock()
	p.stop = stop
	p.mu.Unlock()
	p.began()
	return nil
}

// StartClient is StartMember: a process that is no node is in nobody's gossip, and so no
// member either.
func (p *Provider) StartClient(c *protocluster.Cluster) error { return p.StartMember(c) }

// Shutdown ends the telling and waits for that; it may be called twice. Whether the
// node leaves in good order its own gossip says (mesh.Network.Close).
func (p *Provider) Shutdown(bool) error {
	p.mu.Lock()
	stop := p.stop
	p.stop = nil
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
	return nil
}

// topology makes members of the nodes that are alive.
//
// protoactor takes nobody back whose id has left once. So an id is a node's start
// and the time since when it has been heard of: one that was paused, and lost
// meanwhile, comes back as somebody else. What it keeps of those who left is some
// 60 bytes each time, for the life of the process.
//
// A member's address is made of host and port; ours is the node's id. With port 0
// it is nobody's, so that what gossip thinks of a node ends no connection to it:
// TCP knows better.
func topology(all []mesh.Member, kinds []string) protocluster.Members {
	members := protocluster.Members{}
	for _, m := range all {
		if m.State != mesh.MemberAlive || m.Instance == "" {
			continue
		}
		members = append(members, &protocluster.Member{
			Host: string(m.Server), Id: fmt.Sprintf("%s/%s/%d", m.Server, m.Instance, m.Since.UnixNano()),
			Kinds: kinds,
		})
	}
	return members
}
