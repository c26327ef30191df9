// Package cluster agrees on what happened: it is the only way in which a write
// becomes true. It hides hashicorp/raft; nobody else knows that there are logs,
// terms and elections.
//
// # Promises
//
//   - What was acknowledged survives everything but the loss of a majority of
//     disks. One function, Host.ProposeAsync, makes that promise; its comment
//     lists the steps and the crash tests for the gaps between them.
//   - A store has one writer: whoever proposed the newest OPEN. Proposals under
//     an older lease, or out of order, have no effect. This is decided where the
//     log is applied, alike on every replica and in every replay, so a second
//     activation of an organization, a paused process or a late packet is harmless.
//   - Every proposal gets exactly one answer, and the answer says which of three
//     things is certain: it is true (nil), it is not and never will be
//     (ErrNotApplied, ErrFenced, ErrRemoved), or nobody knows
//     (ErrOutcomeUnknown).
//   - What was erased from a store leaves this node's disk, the log included,
//     within a minute, also across restarts; Host.Erase waits for it.
//   - Where it cannot keep a promise it stops the process (Config.Fatal): an
//     unreadable entry, a store that cannot be written. A failed fsync has stopped
//     it before, in package storage.
//
// # Order of calls
//
// Start, WaitReady, then per activation of an organization: OpenStore once, load
// state, and Propose or ProposeAsync with the lease. After ErrFenced or
// ErrOutcomeUnknown: drop all memory, OpenStore again. At the end Close, and only
// then storage.Node.Close.
//
// # Inside
//
// A node hosts one raft group per shard and the meta group, which holds the
// Directory. All groups share one log in one Pebble, so that one fsync serves
// them all. The state machines' state is the stores themselves (persistent FSM):
// raft's snapshot is a marker that says how far the stores are flushed, and the
// compactor decides when. DESIGN.md says which alternatives were rejected.
//
// # Not here yet
//
// Every group has one voter, this node. The seams for more are the transports
// type and the markers' Open; placement of actors (protoactor's cluster
// interfaces), membership by gossip and the controller that adds replicas belong
// to this package and come with the work on several nodes.
package cluster
