package remoting

import (
	"slices"
	"testing"

	protocluster "github.com/asynkron/protoactor-go/cluster"

	pb "orgmem/proto"
)

// TestTheClusterKnowsTheKinds: protoactor's cluster knows both kinds and places both; what it would spawn of one
// decides nothing, and hands on to the node's gateway.
func TestTheClusterKnowsTheKinds(t *testing.T) {
	a := newStreet(newAuthority(t)).move(t, "a")
	defer a.leave()
	for _, id := range []*protocluster.ClusterIdentity{
		OrganizationIdentity(pb.OrgID{1}), SubjectIdentity(pb.OrgID{1}, pb.PartitionID{2}),
	} {
		if !slices.Contains(a.cluster.GetClusterKinds(), id.GetKind()) {
			t.Fatalf("%s is not among the kinds %v", id.GetKind(), a.cluster.GetClusterKinds())
		}
		if at := a.cluster.Get(id.GetIdentity(), id.GetKind()); at.GetId() != Gateway {
			t.Errorf("%v is at %v", id, at)
		}
		props := protocluster.WithClusterIdentity(a.cluster.GetClusterKind(id.GetKind()).Props, id)
		spawned := a.system.Root.Spawn(props)
		a.system.Root.RequestWithCustomSender(spawned, &pb.NodeAsk{Id: 5}, a.self)
		if r, ok := await(t, a.heard).(*pb.NodeReply); !ok || r.GetId() != 5 {
			t.Errorf("%s: the gateway answers %v", id.GetKind(), r)
		}
		_ = a.system.Root.PoisonFuture(spawned).Wait()
	}
}
