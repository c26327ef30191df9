package subject

import (
	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// follower is a module with an actor beside the worker of each partition, which looks at what the worker has committed.
// There is one: cognition. The subject's actor spawns that actor, tells it of changes, keeps the partition in memory
// while it is busy, and stops it before the worker, which writes what it finds.
type follower interface {
	tenant.Module
	// Follow returns the actor that follows a partition's worker. parent is the subject's actor, which it sends
	// FollowerIdle.
	Follow(org *tenant.View, part *partition.Ref, parent, worker *actor.PID) actor.Actor
}

// What a subject's actor and the follower of its partition send each other.
type (
	// Changed says that the n-th change since the start is committed.
	Changed struct{ N uint64 }
	// FollowNow has the follower look at what is new without waiting for quiet.
	FollowNow struct{}
	// FollowerIdle says that the follower has caught up with the n-th change, and whether it wrote anything.
	FollowerIdle struct {
		N     uint64
		Wrote bool
	}
	// JobCancelled says that a job of the follower's is cancelled, perhaps the one that it is carrying out. The worker
	// sends it once the cancellation is committed. Sent earlier, the follower might end the job itself, and the request
	// would find nothing to cancel.
	JobCancelled struct{ Job pb.JobID }
)
