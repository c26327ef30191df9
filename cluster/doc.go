// Package cluster agrees on what happened: it is the only way in which a write
// becomes true. It hides hashicorp/raft; nobody else knows that there are logs,
// terms and elections.
//
// # Promises
//
//   - What was acknowledged survives everything but the loss of a majority of
//     disks. One function, Host.ProposeAsync, makes that promise; its comment
//     lists the steps and the crash tests for the gaps between them.
//   - A store has one writer, the one that proposed the newest OPEN. Proposals under
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
// A node hosts one raft group per shard that the shard map puts on it, and the
// meta group, which holds the Directory and what the cluster knows of itself
// (Meta). All groups share one log in one Pebble, so that one fsync serves them
// all. The state machines' state is the stores themselves (persistent FSM):
// raft's snapshot is a marker that says how far the stores are flushed, and the
// compactor decides when. DESIGN.md says which alternatives were rejected.
//
// # With other nodes
//
//   - Host.Lead is asked for every request at the owner; while it returns nil no
//     other node answers for the shard (lease.go). Config.OnLead tells of changes.
//   - A replica comes as a learner, fetches what the leader's log has no more
//     (package transfer), and is promoted when it has caught up; it votes when it knows
//     its group (ballot.go). It goes with all it had but its vote (hosting.go).
//   - Questions to a group's leader, what is proposed to the meta group among
//     them, may be asked on any node (leaders.go). Directory.Find believes in a
//     key's absence after it asked the leader.
//   - A follower keeps its promises as a leader does: it compacts, erases, removes,
//     and what it keeps of the log for others is bounded (raftlog.Trail).
//   - A node without Config.Network is a cluster of one.
//   - Where the disks of a majority are gone, Recover makes a stopped node go on alone
//     with its copies (recover.go): the only way in which what was acknowledged may be
//     given up, and a person says so, by the name of each node.
//
// # Below this package
//
//   - Package mesh connects the nodes: one port, certificates, gossip, calls, joining.
//     Members there says who is alive; it is a hint about the others, never a reason
//     to act without the log.
//   - Package plan decides where replicas and leaders should be; the controller
//     carries that out (controller.go).
//   - Package state applies committed commands to stores, and holds the Directory.
//   - Package raftlog keeps raft's log and the markers.
//   - Package transfer copies stores from node to node.
//   - Package wire has what nodes must agree on.
//   - Nodes of two versions serve side by side. What only the newer one understands
//     waits until the last node has it (version.go); then the cluster's version rises
//     by itself, never falls, and an older program is refused: at join, at start, and
//     at the first entry that it would not understand.
//
// Order of calls: Found or mesh.Join once for credentials, mesh.Open, Start with it,
// Host.Close, Network.Close.
package cluster
