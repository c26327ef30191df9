// Package actors is the one door to what decides for organizations. An organization is an actor
// (actors/tenant): it alone knows who may do what there, how much is left of a rate limit, and which
// partition a request means. A subject, which is a member or a provisioned end user, is an actor below
// it that holds what readers look into and takes in content (actors/subject); one that has work has a
// child that works through its queue, and one that looks at what is new in cycles (actors/cognition).
// The other features are packages of their own, and features.go is the table of them. Organizations
// that live on other nodes are reached by actors/peer. What is left here is Start, and the Service
// that hands each question on.
//
// # Promises
//
//   - A request is checked in one place, the organization's mailbox, in the
//     order of docs/interface.md; a revoked key fails on the next request.
//   - Whatever is answered with success went through the one commit
//     (commit.Committer.Submit, then cluster.Host.ProposeAsync) first. A job is
//     durable before its 202, runs at least once and takes effect exactly once:
//     its effect and its removal from the queue are one batch.
//   - A change of the graph is in search, lists and history when it is answered, and
//     what a job brought when the job is read as ended; what is forgotten leaves all
//     of them in the commit that forgets it.
//   - Reads run on immutable snapshots in a bounded pool and never wait in a
//     mailbox behind writes. Full queues answer 503, they do not grow. A node that
//     was just read is answered from memory for as long as nothing is written.
//   - An event that is committed reaches the streams that may see it, in the order
//     of the commits; a reader that does not keep up is cut off. What a tenant
//     chose to be reached is reached through package egress only.
//   - A partition has a single writer under one lease, groups of commits are
//     applied in the order of their proposals, and readers are shown nothing that
//     is not committed. Builds with the tag invariants check these at run time.
//   - What is derived rests on nodes and goes with them, in the commit that forgets
//     them; a cycle that ends anywhere is gone on with, and reports nothing twice.
//   - On a node of several, a request is decided where its organization lives, or
//     not at all. It waits for that until its deadline.
//   - When the outcome of a write is unknown, the organization forgets all it
//     knows and opens again: memory is a cache of the store, never more.
//
// # Order of calls
//
// Start, then Ask and the Operator methods from any goroutine, then Close, which
// waits for calls and commits under way.
//
// # What it hides
//
// protoactor. Nobody else sees a PID, a mailbox or a supervisor, so that the
// library, which is unmaintained, can be replaced here.
package actors
