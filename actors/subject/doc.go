// Package subject is a partition in memory and at work: the actor that holds its hot state and takes content in, its
// durable queue, and the worker that is the one writer of the partition's memory. It also brings content to the queue
// in the forms that clients send it: items, files (imports) and coding sessions.
//
// # Promises
//
//   - A job and its entries in the queue are one commit, made before the 202. What the job does and its removal from
//     the queue are one commit too, so it takes effect exactly once however often it is begun.
//   - A partition has one writer. It takes turns between the queue, edits and upkeep, and computes on the shared CPU
//     workers, so that a neighbour, an edit or a cancellation waits well under a second for a slice.
//   - What a reader is shown is committed. The index is published before the change is answered.
//   - An item that cannot be processed fails by itself, after tenant.MaxAttempts attempts, and keeps no other from its
//     turn. A full disk, a lost lease and failing upkeep are no failure of an item.
//   - What a reader has in memory of a partition belongs to the partition's actor, and leaves memory with it: when it
//     was idle for Config.IdleSubject, or when the node needs the bytes and the actor has no work. Readers never wait
//     for it.
//   - What was forgotten leaves the stored segments within a minute, also after a restart (rewrite.go), and leaves its
//     tombstone when it can no longer be restored (tombstones.go).
//   - What waits in memory has a bound: items of a queue, the bytes of a slice, the memory that a file is read in.
//
// # What it knows
//
// The queue, the index and its segments, and how a graph.Tx is committed. It does not know what an edit changes, nor
// who follows its changes: one module of the organization does (cognition), by the interface follower and the messages
// of follower.go.
//
// # Who calls it from where
//
// New makes an actor, which the organization's actor spawns (tenant.Kinds); all else reaches it as
// messages: calls, deliveries of connectors (Delivery), wakes and the end of slices. Intake and Upkeep are modules in
// the organization's mailbox. Slices run in goroutines of the worker, one at a time; their ends come back as messages.
//
// # Order of calls
//
// The first thing to do has the actor spawn its worker, then the follower; both may get messages from then on. When
// it stops it ends the follower first, which waits for the worker, then the worker, behind its slice: nothing is
// written after it has ended.
package subject
