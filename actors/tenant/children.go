package tenant

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/cluster/remoting"
	pb "orgmem/proto"
)

// children are the actors of an organization's subjects, and what waits for them.
type children struct {
	org      *Org
	Context  actor.Context
	Children map[pb.PartitionID]*Child
	// HeldCalls are the calls for memories that are being purged.
	HeldCalls map[pb.PartitionID][]*Call
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
	ch := s.Children[part.ID]
	if ch == nil {
		ch = &Child{}
		o := s.org
		ch.PID = s.Context.Spawn(o.System.Kinds.props(remoting.KindSubject, Incarnation{
			System: o.System, Activation: o.Activation, Org: &o.View, Part: part, Self: ch,
		}))
		s.Children[part.ID] = ch
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
	for _, ch := range s.Children {
		if ch.Awake() {
			return true
		}
	}
	return false
}

// WakePartition wakes a partition's worker, which looks after the partition by itself.
// One that is being purged or erased is left alone.
func (s *children) WakePartition(id pb.PartitionID) {
	if ch := s.Children[id]; ch == nil || !ch.Awake() {
		if part := s.inUse(id); part != nil {
			s.Child(part)
		}
	}
}

// inUse returns a partition, nil where it is being purged or erased, or the activation is lost.
func (s *children) inUse(id pb.PartitionID) *partition.Ref {
	if _, held := s.HeldCalls[id]; held || s.org.Retired {
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
	if _, held := s.HeldCalls[id]; held || !s.org.Residents.Unowned(id) {
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
	if s.Children[id] == ch && ch.spent(handled) {
		delete(s.Children, id)
		s.org.System.ActorRoot.Poison(ch.PID)
	}
}
