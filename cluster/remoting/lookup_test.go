package remoting

import (
	"log/slog"
	"testing"

	protocluster "github.com/asynkron/protoactor-go/cluster"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// town says that every organization lives on b.
type town struct{}

func (town) Leader(pb.OrgID) (wire.ServerID, bool) { return "b", true }

// TestUnknownMessageIsSurvived: what a later version sends ends the connection and
// not the process.
func TestUnknownMessageIsSurvived(t *testing.T) {
	r := New(Config{Logger: slog.New(slog.DiscardHandler)})
	err := r.survive(nil, nil, nil, nil) // calls nil: as protoactor does with an unknown type
	if err == nil {
		t.Error("a panic became no error")
	}
}

// TestLookup: organizations live where their shard leads, subjects with their organization; nothing else has a place.
func TestLookup(t *testing.T) {
	l := Lookup{town{}}
	org, part := pb.OrgID{7}, pb.PartitionID{9}
	for _, id := range []*protocluster.ClusterIdentity{OrganizationIdentity(org), SubjectIdentity(org, part)} {
		if pid := l.Get(id); pid.GetAddress() != "b" || pid.GetId() != Gateway {
			t.Errorf("%v lives at %v", id, pid)
		}
	}
	if o, p, ok := ParseIdentity(SubjectIdentity(org, part)); !ok || o != org || p != part {
		t.Errorf("a subject reads as %v of %v (%v)", p, o, ok)
	}
	if o, p, ok := ParseIdentity(OrganizationIdentity(org)); !ok || o != org || p != (pb.PartitionID{}) {
		t.Errorf("an organization reads as %v of %v (%v)", p, o, ok)
	}
	for _, id := range []*protocluster.ClusterIdentity{
		protocluster.NewClusterIdentity(org.String(), KindSubject),
		protocluster.NewClusterIdentity(org.String()+"/"+part.String(), KindOrganization),
		protocluster.NewClusterIdentity(org.String()+"/nobody", KindSubject),
		protocluster.NewClusterIdentity("nobody/"+part.String(), KindSubject),
		protocluster.NewClusterIdentity(org.String(), "room"),
		protocluster.NewClusterIdentity("nobody", KindOrganization),
	} {
		if pid := l.Get(id); pid != nil {
			t.Errorf("%v has a place: %v", id, pid)
		}
	}
}
