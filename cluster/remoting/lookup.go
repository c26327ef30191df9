package remoting

import (
	"github.com/asynkron/protoactor-go/actor"
	protocluster "github.com/asynkron/protoactor-go/cluster"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// Gateway is the name of the actor that stands in front of a node's
// organizations. What is sent to an organization of another node goes there: it
// looks whether the organization still lives on its node, and wakes it.
const Gateway = "organizations"

// KindOrganization is the kind of identity that Lookup places. A subject lives
// with its organization and has no place of its own.
const KindOrganization = "organization"

// Placement says where organizations live. *cluster.Host implements it.
type Placement interface {
	// Leader returns who leads the organization's shard as far as this node knows.
	Leader(org pb.OrgID) (wire.ServerID, bool)
}

// Lookup is protoactor's IdentityLookup, by where an organization's shard leads.
// It is a hint: the other node's gateway asks its own host, and the log has the
// last word.
type Lookup struct{ placement Placement }

var _ protocluster.IdentityLookup = (*Lookup)(nil)

// Get returns the gateway of the node where an identity lives; nil while its
// shard has no leader, and for what is no organization.
func (l *Lookup) Get(id *protocluster.ClusterIdentity) *actor.PID {
	org, err := pb.ParseOrgID(id.GetIdentity())
	if err != nil || id.GetKind() != KindOrganization {
		return nil
	}
	server, ok := l.placement.Leader(org)
	if !ok {
		return nil
	}
	return gatewayOf(server)
}

func gatewayOf(server wire.ServerID) *actor.PID { return actor.NewPID(string(server), Gateway) }

// RemovePid does nothing: no place is remembered here.
func (l *Lookup) RemovePid(*protocluster.ClusterIdentity, *actor.PID) {}

// Setup does nothing: the placement is the shards' and needs no actors.
func (l *Lookup) Setup(*protocluster.Cluster, []string, bool) {}

// Shutdown does nothing.
func (l *Lookup) Shutdown() {}
