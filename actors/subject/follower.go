package subject

import (
	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// follower is a module that has an actor of its own beside the worker of each partition, which looks at what the
// worker has committed: cognition. One module is. The subject's actor spawns it, tells it of changes, keeps
// the partition in memory while it is busy, and stops it before the worker, which writes what it finds.
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
	// FollowerIdle is the follower's word that it has caught up with the n-th change, and
	// whether it wrote anything for it.
	FollowerIdle struct {
		N     uint64
		Wrote bool
	}
	// JobCancelled says that a job of the follower's is cancelled, perhaps the one that it carries out. The
	// worker says so once it has written it: one that ended before that would end
	// its job itself, and the cancelling request would find nothing to cancel.
	JobCancelled struct{ Job pb.JobID }
)
