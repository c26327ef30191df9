package actors

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
	// follow returns the actor that follows a partition's worker. parent is the subject's actor, which it sends
	// followerIdle.
	follow(org *tenant.View, part *partition.Ref, parent, worker *actor.PID) actor.Actor
}

// What a subject's actor and the follower of its partition send each other.
type (
	// changed says that the n-th change since the start is committed.
	changed struct{ n uint64 }
	// followNow has the follower look at what is new without waiting for quiet.
	followNow struct{}
	// followerIdle is the follower's word that it has caught up with the n-th change, and
	// whether it wrote anything for it.
	followerIdle struct {
		n     uint64
		wrote bool
	}
	// jobCancelled says that a job of the follower's is cancelled, perhaps the one that it carries out. The
	// worker says so once it has written it: one that ended before that would end
	// its job itself, and whoever cancels it be told that there is nothing to cancel.
	jobCancelled struct{ job pb.JobID }
)
