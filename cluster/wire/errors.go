package wire

import (
	"errors"
	"fmt"
)

// What can become of a proposal. Every error of the commit is of exactly one of
// these four kinds; errors.Is tells which.
var (
	// ErrNotApplied means that the proposal had no effect and never will have
	// one: it did not enter the log. The caller's memory is still true; it may
	// propose the same thing again later. It is wrapped together with the reason:
	// ErrNotLeader, ErrBusy, ErrClosed, storage.ErrNoSpace, storage.ErrBatchTooLarge
	// or the context's error.
	ErrNotApplied = errors.New("proposal not applied")
	// ErrFenced means that the proposal was refused where it would have been
	// applied, on every replica alike: another OPEN came first (stale epoch), or
	// an earlier proposal of the same pipeline did not make it (wrong version).
	// It has no effect. The caller's memory is not the store's state any more:
	// drop it and call OpenStore.
	ErrFenced = errors.New("lease is not valid any more")
	// ErrRemoved means that the store was removed, for good.
	ErrRemoved = errors.New("store was removed")
	// ErrOutcomeUnknown means that the proposal may or may not be, or become,
	// part of the state. Drop all memory, call OpenStore (whose OPEN fences
	// whatever is still under way) and look. Never guess.
	ErrOutcomeUnknown = errors.New("outcome of proposal unknown")
)

// Reasons that accompany ErrNotApplied.
var (
	// ErrNotLeader means that this node does not lead the store's shard now.
	ErrNotLeader = errors.New("shard is not led by this node")
	// ErrBusy means that the shard, or the node, has its maximum of proposals or
	// bytes in flight; try again when some of them are answered.
	ErrBusy = errors.New("too many proposals in flight")
	// ErrClosed means that the host is closed or closing.
	ErrClosed = errors.New("cluster host is closed")
)

// Refusals of the directory. They are decided where the command is applied, so
// they are final and have no effect.
var (
	// ErrKeyTaken means that the key hash belongs to another organization.
	ErrKeyTaken = errors.New("key hash belongs to another organization")
	// ErrSlugTaken means that another organization that is not removed has the
	// slug.
	ErrSlugTaken = errors.New("slug belongs to another organization")
	// ErrOrgUnknown means that the directory has no entry of the organization.
	ErrOrgUnknown = errors.New("organization not in the directory")
	// ErrOrgRemoved means that the organization was removed; its id is never used
	// again.
	ErrOrgRemoved = errors.New("organization was removed")
	// ErrDirectoryFull means that the directory holds MaxKeys key hashes.
	ErrDirectoryFull = errors.New("directory holds its maximum of keys")
	// ErrTooManyKeys means that MaxKeysPerOrg key hashes lead to the organization.
	ErrTooManyKeys = errors.New("organization has its maximum of keys")
)

// Refusals of the node table, the shard map and their neighbours. They are
// decided where the command is applied, so they are final and have no effect.
var (
	// ErrNodeRemoved means that the node was removed from the cluster; its id is
	// never used again.
	ErrNodeRemoved = errors.New("node was removed from the cluster")
	// ErrNodeUnknown means that the node table has no such node.
	ErrNodeUnknown = errors.New("node not in the node table")
	// ErrTooManyNodes means that the node table holds MaxNodes.
	ErrTooManyNodes = errors.New("node table holds its maximum of nodes")
	// ErrMapChanged means that the shard map or the authority has another version
	// than the one that was to be replaced: read it again.
	ErrMapChanged = errors.New("another version was written meanwhile")
	// ErrTokenUnknown means that there is no such join token, or not any more.
	ErrTokenUnknown = errors.New("join token is not valid")
	// ErrTokenUsed means that another machine has joined with the token.
	ErrTokenUsed = errors.New("join token was used by another machine")
	// ErrTooManyTokens means that MaxJoinTokens tokens have not expired yet.
	ErrTooManyTokens = errors.New("too many join tokens that have not expired")
)

// ErrNotReady means that a group has no leader here yet, or has not applied all
// that its log held when it was elected.
var ErrNotReady = errors.New("shards are still starting")

// NotApplied wraps a reason as ErrNotApplied.
func NotApplied(reason error) error {
	return fmt.Errorf("%w: %w", ErrNotApplied, reason)
}

// Unknown wraps a reason as ErrOutcomeUnknown.
func Unknown(reason error) error {
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, reason)
}

// ErrNoAnswer means that a node was asked and its answer did not come: it may or
// may not have done what it was asked for.
var ErrNoAnswer = errors.New("node was asked and did not answer")

// ErrUnknownCall means that a node does not know a call: it runs an older version,
// or has not started all of itself.
var ErrUnknownCall = errors.New("node does not know this call")

// ErrUnreachable means that a node could not be reached: nothing was said to it.
var ErrUnreachable = errors.New("node cannot be reached")

// ErrOutdated means that a program is older than what its cluster speaks: it must
// not take part, since it would not understand what the others write.
var ErrOutdated = errors.New("this program is older than its cluster; start the version that the other nodes run")

// ErrNotSpoken comes with ErrNotApplied: some node of the cluster is older than
// what was to be proposed.
var ErrNotSpoken = errors.New("not every node of the cluster understands this yet")

// Outdated is ErrOutdated with the versions of the cluster and of the program.
func Outdated(cluster, program uint32) error {
	return fmt.Errorf("the cluster is at version %d, this program speaks %d: %w", cluster, program, ErrOutdated)
}
