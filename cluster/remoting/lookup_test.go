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

// TestLookup: organizations live where their shard leads; nothing else has a place.
func TestLookup(t *testing.T) {
	l := Lookup{town{}}
	if pid := l.Get(protocluster.NewClusterIdentity(pb.OrgID{7}.String(), KindOrganization)); pid.GetAddress() != "b" ||
		pid.GetId() != Gateway {
		t.Errorf("%v", pid)
	}
	for _, id := range []*protocluster.ClusterIdentity{
		protocluster.NewClusterIdentity(pb.OrgID{7}.String(), "subject"),
		protocluster.NewClusterIdentity("nobody", KindOrganization),
	} {
		if pid := l.Get(id); pid != nil {
			t.Errorf("%v has a place: %v", id, pid)
		}
	}
}
