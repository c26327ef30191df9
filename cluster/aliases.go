package cluster

import (
	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
)

// What callers of this package need of the packages below it, under the names that
// these things had here.
type (
	ServerID      = wire.ServerID    // ServerID names one node of a cluster, for ever.
	Directory     = state.Directory  // Directory is the meta group's state.
	Network       = mesh.Network     // Network connects a node with the others.
	NetworkConfig = mesh.Config      // NetworkConfig says what a Network is made of.
	Credentials   = mesh.Credentials // Credentials are what a node needs to take part.
	Token         = mesh.Token       // Token lets one machine join.
	JoinConfig    = mesh.JoinConfig  // JoinConfig says how a machine becomes a node.
	Kind          = mesh.Kind        // Kind says what a stream between two nodes is for.
	Member        = mesh.Member      // Member is a node as gossip sees it.
)

// Limits, versions and kinds.
const (
	MaxKeysPerOrg   = state.MaxKeysPerOrg
	MaxTokenLife    = mesh.MaxTokenLife
	ProtocolVersion = wire.ProtocolVersion
	SealedVersion   = wire.SealedVersion
	KindEvents      = mesh.KindEvents
)

// OpenNetwork is mesh.Open.
var (
	OpenNetwork      = mesh.Open
	Join             = mesh.Join
	ParseToken       = mesh.ParseToken
	ParseCredentials = mesh.ParseCredentials
)

// The errors of package wire and mesh.
var (
	ErrNotApplied     = wire.ErrNotApplied
	ErrFenced         = wire.ErrFenced
	ErrRemoved        = wire.ErrRemoved
	ErrOutcomeUnknown = wire.ErrOutcomeUnknown
	ErrNotLeader      = wire.ErrNotLeader
	ErrBusy           = wire.ErrBusy
	ErrNotReady       = wire.ErrNotReady
	ErrSlugTaken      = wire.ErrSlugTaken
	ErrOrgUnknown     = wire.ErrOrgUnknown
	ErrOrgRemoved     = wire.ErrOrgRemoved
	ErrDirectoryFull  = wire.ErrDirectoryFull
	ErrTooManyKeys    = wire.ErrTooManyKeys
	ErrNodeRemoved    = wire.ErrNodeRemoved
	ErrMapChanged     = wire.ErrMapChanged
	ErrTooManyTokens  = wire.ErrTooManyTokens
	ErrNotSpoken      = wire.ErrNotSpoken
	ErrRotating       = mesh.ErrRotating
)
