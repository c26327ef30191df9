package remoting

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"
	protocluster "github.com/asynkron/protoactor-go/cluster"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// Gateway is the name of the actor that stands in front of a node's
// organizations. What is sent to an organization of another node goes there: it
// looks whether the organization still lives on its node, and wakes it.
const Gateway = "organizations"

// The kinds of virtual actor, which Lookup places. A subject lives where its organization
// lives.
const (
	KindOrganization = "organization"
	KindSubject      = "subject"
)

// OrganizationIdentity names an organization to protoactor's cluster.
func OrganizationIdentity(org pb.OrgID) *protocluster.ClusterIdentity {
	return protocluster.NewClusterIdentity(org.String(), KindOrganization)
}

// SubjectIdentity names a subject: by its organization, which says where it lives, and its
// partition.
func SubjectIdentity(org pb.OrgID, part pb.PartitionID) *protocluster.ClusterIdentity {
	return protocluster.NewClusterIdentity(org.String()+"/"+part.String(), KindSubject)
}

// ParseIdentity reads an identity of either kind; part is empty for an organization. It
// reports false for what is neither.
func ParseIdentity(id *protocluster.ClusterIdentity) (org pb.OrgID, part pb.PartitionID, ok bool) {
	name := id.GetIdentity()
	switch id.GetKind() {
	case KindOrganization:
	case KindSubject:
		var at string
		name, at, _ = strings.Cut(name, "/")
		var err error
		if part, err = pb.ParsePartitionID(at); err != nil {
			return pb.OrgID{}, pb.PartitionID{}, false
		}
	default:
		return pb.OrgID{}, pb.PartitionID{}, false
	}
	org, err := pb.ParseOrgID(name)
	return org, part, err == nil
}

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
// shard has no leader, and for what is neither an organization nor a subject.
func (l *Lookup) Get(id *protocluster.ClusterIdentity) *actor.PID {
	org, _, ok := ParseIdentity(id)
	if !ok {
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
