// Package tenant is an organization in memory: the actor that admits its requests, decides them one after the other,
// and knows its features by one interface (Module). It holds what all features need: the call and its answer, checks
// of keys, limits and partitions, replays under an idempotency key, locks, jobs and their attempts, pages and cursors,
// secrets under seal, and the sandbox, which is a second actor of the same type below the first.
//
// # Promises
//
//   - A request is checked in one place, Org.Handle, in the order of docs/interface.md. It gets exactly one answer.
//   - Of two changes of one entity the second sees what the first has stored (Org.Exclusive). Who waits for a second
//     entity takes them in the order in which locks.go lists them, so that no two wait for each other.
//   - The outcome of a request with an idempotency key is committed together with its effect, or not at all.
//   - An attempt at a job counts when the work failed, not when the process stopped, was killed or lost its lease.
//   - An activation ends only when no call is left in it, so that nothing in its mailbox is dropped.
//   - After an unknown outcome, a lost lease or a panic the organization decides nothing more from this memory: what it
//     still gets is answered "try again", and the next activation reads the store.
//
// # What it knows
//
// Accounts, partitions, jobs, and how the store and the cluster say no. It does not know a feature, a graph, a queue or
// a route: a Module is handed in with the table of features, the actor of a subject by the table of Kinds, and what a
// feature keeps with a call is Call.Payload, which nobody reads here. It imports no other package of actors but those
// below it: commit, partition, node, budget, egress and llm.
//
// # Who calls it from where
//
// The methods of Org, and its fields, belong to the organization's mailbox. From elsewhere the methods of Mailbox
// bring a message there (messages.go). The methods of View, System and Call may be called from any goroutine: a View
// does not change while its activation lives. The methods of Module say where each is called.
//
// # Order of calls
//
// New; the fields Features, Kinds and AskOutlived, before anything is asked; Leads.Of or ResumeAll; then AskHere,
// Visit and VisitOrg from any goroutine, any number of times; then Halt, which waits for calls and work under way.
package tenant
