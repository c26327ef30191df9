package tenant

import (
	"errors"
	"slices"

	"orgmem/actors/commit"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Placement says where organizations live. *cluster.Host implements it.
type Placement interface {
	// Server is this node.
	Server() wire.ServerID
	// Lead returns nil only while this node may answer for an organization. It may
	// wait for a round of heartbeats.
	Lead(org pb.OrgID) error
	// Leader returns who leads an organization's shard as far as this node knows.
	Leader(org pb.OrgID) (wire.ServerID, bool)
	// Candidates returns who may lead it or know who does, the likeliest first.
	Candidates(org pb.OrgID) []wire.ServerID
	// NoteLeader records who leads a shard, for shards that this node has no part in.
	NoteLeader(shard uint32, leader wire.ServerID)
	// LeadersChanged returns a channel that is closed at the next change that this
	// node notices. Take it before looking.
	LeadersChanged() <-chan struct{}
	// Shard is the number of an organization's shard; Leads are the shards that
	// this node leads.
	Shard(org pb.OrgID) uint32
	Leads() []uint32
	// Draining reports whether the operator wants this node to be left alone.
	Draining() bool
}

// Outcome is what has become of a request, beside its answer.
type Outcome int8

const (
	// Decided means that the answer stands.
	Decided Outcome = iota
	// Moved means that nothing was done, because the organization does not live
	// here any more, or never did. The node where it lives now may be asked.
	Moved
	// Unknown means that it may have been done. A request that can be repeated
	// without harm may be asked again.
	Unknown
)

// OutcomeOf is what an error means to a request that could be decided elsewhere. A
// write that the committer has given up (commit.ErrLost) was never proposed.
func (s *System) OutcomeOf(err error) Outcome {
	switch {
	case s.Config.Placement == nil,
		errors.Is(err, wire.ErrBusy), errors.Is(err, wire.ErrRemoved),
		errors.Is(err, storage.ErrNoSpace), errors.Is(err, storage.ErrBatchTooLarge):
		return Decided
	case errors.Is(err, wire.ErrOutcomeUnknown):
		return Unknown
	case errors.Is(err, wire.ErrNotLeader), errors.Is(err, wire.ErrFenced), errors.Is(err, commit.ErrLost):
		return Moved
	}
	return Decided
}

// LivesHere reports whether this node may act for an organization. A node that is
// alone always may.
func (s *System) LivesHere(org pb.OrgID) bool {
	return s.Config.Placement == nil || s.Config.Placement.Lead(org) == nil
}

// ledHere reports whether this node leads an organization's shard, as far as it
// knows: unlike Lead it does not ask the others.
func (s *System) ledHere(org pb.OrgID) bool {
	return s.Config.Placement == nil || slices.Contains(s.Config.Placement.Leads(), s.Config.Placement.Shard(org))
}
