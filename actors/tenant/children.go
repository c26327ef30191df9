package tenant

import (
	"maps"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/cluster/remoting"
	pb "orgmem/proto"
)

// children are the actors of an organization's subjects, and what waits for them.
type children struct {
	org       *Org
	Context   actor.Context
	actors    map[pb.PartitionID]*Child
	heldCalls map[pb.PartitionID][]*Call // for memories that are being purged
}

// Child is the actor of a subject, or of the sandbox.
type Child struct {
	PID   *actor.PID
	Calls atomic.Int64 // handed to it and not answered
	Sent  uint64       // what the organization has sent it, which only that counts
	// Of a sandbox: another has taken its place.
	replaced atomic.Bool
}

// Awake reports whether a subject's actor was ever given something to do. One that was not
// holds what readers look into, and no more.
func (ch *Child) Awake() bool { return ch.Sent > 0 }

// spent reports whether a child that has dealt with so much of what it was sent has
// dealt with all.
func (ch *Child) spent(handled uint64) bool { return ch.Sent == handled && ch.Calls.Load() == 0 }

// subject returns the actor of a partition, and makes a missing one, which holds the partition's hot state and does
// nothing until it is sent something.
func (s *children) subject(part *partition.Ref) *Child {
	ch := s.actors[part.ID]
	if ch == nil {
		ch = &Child{}
		o := s.org
		ch.PID = s.Context.Spawn(o.System.Kinds.props(remoting.KindSubject, Incarnation{
			System: o.System, Activation: o.Activation, Org: &o.View, Part: part, Self: ch,
		}))
		s.actors[part.ID] = ch
	}
	return ch
}

// Child returns the partition's actor, and makes a missing one. It is at work: it looks at its queue, and at what else
// is to be done in the partition.
func (s *children) Child(part *partition.Ref) *Child {
	ch := s.subject(part)
	if !ch.Awake() {
		s.org.Send(ch, WakeMessage{})
	}
	return ch
}

// subjectsWork reports whether a subject's actor may be at work. The others leave memory with the organization.
func (s *children) subjectsWork() bool {
	for _, ch := range s.actors {
		if ch.Awake() {
			return true
		}
	}
	return false
}

// WakePartition wakes a partition's worker, which looks after the partition by itself.
// One that is being purged or erased is left alone.
func (s *children) WakePartition(id pb.PartitionID) {
	if ch := s.actors[id]; ch == nil || !ch.Awake() {
		if part := s.inUse(id); part != nil {
			s.Child(part)
		}
	}
}

// LookAfter has a partition's worker look at what is to be done, be it at work or not.
func (s *children) LookAfter(id pb.PartitionID) {
	if ch := s.actors[id]; ch != nil {
		s.org.Send(ch, WakeMessage{})
		return
	}
	s.WakePartition(id)
}

// Tell sends a partition's actor a message, and makes a missing actor. It reports false where the partition is being
// purged or erased, or does not exist.
func (s *children) Tell(id pb.PartitionID, message any) bool {
	part := s.inUse(id)
	if part != nil {
		s.org.Send(s.subject(part), message)
	}
	return part != nil
}

// InMemory are the actors that there are, by their partition.
func (s *children) InMemory() map[pb.PartitionID]*Child { return maps.Clone(s.actors) }

// HoldCalls has the calls for a partition wait until ReleaseCalls, and returns its actor, which the caller is to stop.
// It returns nil if the partition has no actor.
func (s *children) HoldCalls(id pb.PartitionID) *Child {
	ch := s.actors[id]
	delete(s.actors, id)
	s.heldCalls[id] = []*Call{}
	return ch
}

// CallsHeld reports whether a partition's calls are made to wait, and how many do.
func (s *children) CallsHeld(id pb.PartitionID) (n int, held bool) {
	waiting, held := s.heldCalls[id]
	return len(waiting), held
}

// ReleaseCalls hands the calls that waited to the partition's actor, but for those that may no longer use it.
func (s *children) ReleaseCalls(part *partition.Ref) {
	waiting := s.heldCalls[part.ID]
	delete(s.heldCalls, part.ID)
	for _, c := range waiting {
		if s.org.StillInUse(c) {
			s.org.Forward(c, part)
		}
	}
}

// inUse returns a partition, nil where it is being purged or erased, or the activation is lost.
func (s *children) inUse(id pb.PartitionID) *partition.Ref {
	if _, held := s.heldCalls[id]; held || s.org.Retired {
		return nil
	}
	part, err := s.org.LoadPartition(id)
	if err != nil {
		s.org.System.Log.Error("could not look after a partition; the next search tries again",
			"org", s.org.ID.String(), "err", err)
	}
	return part
}

// Hold has what readers have in memory of a partition belong to the actor of its subject. Where the partition is being
// erased nothing of it is kept; where it is being purged the purge ends with this.
func (s *children) Hold(id pb.PartitionID) {
	if _, held := s.heldCalls[id]; held || !s.org.Residents.Unowned(id) {
		return
	}
	if part := s.inUse(id); part != nil {
		s.subject(part)
	} else {
		s.org.Residents.Drop(id)
	}
}

// ReleaseSubject lets an idle subject leave memory. handled is how much of what it
// was sent it had dealt with when it found itself idle: where there is more, it has
// work again, even if all of its calls are answered.
func (s *children) ReleaseSubject(id pb.PartitionID, ch *Child, handled uint64) {
	if s.actors[id] == ch && ch.spent(handled) {
		delete(s.actors, id)
		s.org.System.ActorRoot.Poison(ch.PID)
		s.org.leaveIfVisited()
	}
}
