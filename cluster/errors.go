package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
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

// Refusals of Start.
var (
	// ErrShardCount means that the data directory was created with another number
	// of shards.
	ErrShardCount = errors.New("number of shards is fixed when the data directory is created")
	// ErrServerID means that the data directory belongs to a server of another id.
	ErrServerID = errors.New("data directory belongs to another server")
)

// ErrNotReady means that a group has no leader here yet, or has not applied all
// that its log held when it was elected.
var ErrNotReady = errors.New("shards are still starting")

func notApplied(reason error) error {
	return fmt.Errorf("%w: %w", ErrNotApplied, reason)
}

func unknown(reason error) error {
	return fmt.Errorf("%w: %w", ErrOutcomeUnknown, reason)
}

// classify maps raft's answer to a proposal to ours. The list of errors that
// prove "never entered the log" is closed: raft answers them before it hands
// the entry to the log store. ErrLeadershipLost, ErrRaftShutdown and errors of
// the log store all come after, when a copy may lie on some disk, so whatever is
// not on the list is unknown.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader),
		errors.Is(err, raft.ErrLeadershipTransferInProgress),
		errors.Is(err, raft.ErrEnqueueTimeout):
		return notApplied(fmt.Errorf("%w: %w", ErrNotLeader, err))
	default:
		return unknown(err)
	}
}
