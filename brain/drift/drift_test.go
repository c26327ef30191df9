package drift

import (
	"math"
	"testing"

	pb "orgmem/proto"
)

func TestRate(t *testing.T) {
	t.Parallel()
	seen := func(id string, size, came, went uint64) *pb.BrainSeen {
		return &pb.BrainSeen{Partition: []byte(id), Size: size, Came: came, Went: went}
	}
	state := func(came, went uint64) *pb.PartitionState { return &pb.PartitionState{Came: came, Went: went} }
	for _, x := range []struct {
		name string
		seen []*pb.BrainSeen
		now  map[string]*pb.PartitionState
		want float64
	}{
		{"nothing at all", nil, nil, 0},
		{"nothing moved", []*pb.BrainSeen{seen("a", 8, 10, 2)}, map[string]*pb.PartitionState{"a": state(10, 2)}, 0},
		{
			"two came and one went",
			[]*pb.BrainSeen{seen("a", 8, 10, 2)},
			map[string]*pb.PartitionState{"a": state(12, 3)},
			0.3,
		},
		{
			"a partition came",
			[]*pb.BrainSeen{seen("a", 8, 10, 2)},
			map[string]*pb.PartitionState{"a": state(10, 2), "b": state(8, 0)},
			0.5,
		},
		{
			"a partition was erased",
			[]*pb.BrainSeen{seen("a", 8, 10, 2), seen("b", 8, 8, 0)},
			map[string]*pb.PartitionState{"a": state(10, 2)},
			0.5,
		},
		{"a partition was emptied", []*pb.BrainSeen{seen("a", 8, 10, 2)}, map[string]*pb.PartitionState{"a": state(0, 0)}, 1},
		{
			"an earlier version noted passages",
			[]*pb.BrainSeen{{Partition: []byte("a"), Chunks: 8}},
			map[string]*pb.PartitionState{"a": state(2, 0)},
			0.2,
		},
	} {
		if got := Rate(x.seen, x.now); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
