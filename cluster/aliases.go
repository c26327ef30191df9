package cluster

import (
	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
)

// Callers of this package find here what they need of the packages below it, under the
// names that it had before.

type (
	// ServerID names one node of a cluster, for ever.
	ServerID = wire.ServerID
	// Directory is the meta group's state.
	Directory = state.Directory
	// Network connects a node with the others.
	Network = mesh.Network
	// NetworkConfig says what a Network is made of.
	NetworkConfig = mesh.Config
	// Credentials are what a node needs to take part.
	Credentials = mesh.Credentials
	// Token lets one machine join.
	Token = mesh.Token
	// JoinConfig says how a machine becomes a node.
	JoinConfig = mesh.JoinConfig
	// Kind says what a stream between two nodes is for.
	Kind = mesh.Kind
	// Member is a node as gossip sees it.
	Member = mesh.Member
)

// Limits, versions and kinds.
const (
	MaxKeysPerOrg   = state.MaxKeysPerOrg
	MaxTokenLife    = mesh.MaxTokenLife
	ProtocolVersion = wire.ProtocolVersion
	SealedVersion   = wire.SealedVersion
	KindEvents      = mesh.KindEvents
)

// Functions of package mesh; OpenNetwork is mesh.Open.
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
