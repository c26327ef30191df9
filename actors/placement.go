package actors

import (
	"errors"
	"slices"

	"orgmem/actors/commit"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Placement says where organizations live. *cluster.Host implements it.
type Placement interface {
	// Server is this node.
	Server() cluster.ServerID
	// Lead returns nil only while this node may answer for an organization. It may
	// wait for a round of heartbeats.
	Lead(org pb.OrgID) error
	// Leader returns who leads an organization's shard as far as this node knows.
	Leader(org pb.OrgID) (cluster.ServerID, bool)
	// Candidates returns who may lead it or know who does, the likeliest first.
	Candidates(org pb.OrgID) []cluster.ServerID
	// NoteLeader is told who leads a shard, for shards that this node has no part in.
	NoteLeader(shard uint32, leader cluster.ServerID)
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

// outcome is what has become of a request, beside its answer.
type outcome int8

const (
	// decided: the answer stands.
	decided outcome = iota
	// moved: nothing was done, because the organization does not live here, or
	// not any more. Whoever it lives with now may be asked.
	moved
	// unknown: it may have been done. What can be repeated without harm may be
	// asked again.
	unknown
)

// outcomeOf is what an error means to a request that could be decided elsewhere. A
// write that the committer has given up (commit.ErrLost) was never proposed.
func (s *System) outcomeOf(err error) outcome {
	switch {
	case s.cfg.Placement == nil,
		errors.Is(err, cluster.ErrBusy), errors.Is(err, cluster.ErrRemoved),
		errors.Is(err, storage.ErrNoSpace), errors.Is(err, storage.ErrBatchTooLarge):
		return decided
	case errors.Is(err, cluster.ErrOutcomeUnknown):
		return unknown
	case errors.Is(err, cluster.ErrNotLeader), errors.Is(err, cluster.ErrFenced), errors.Is(err, commit.ErrLost):
		return moved
	}
	return decided
}

// livesHere reports whether this node may act for an organization. A node that is
// alone always may.
func (s *System) livesHere(org pb.OrgID) bool {
	return s.cfg.Placement == nil || s.cfg.Placement.Lead(org) == nil
}

// ledHere reports whether this node leads an organization's shard, as far as it
// knows: unlike Lead it does not ask the others.
func (s *System) ledHere(org pb.OrgID) bool {
	return s.cfg.Placement == nil || slices.Contains(s.cfg.Placement.Leads(), s.cfg.Placement.Shard(org))
}
