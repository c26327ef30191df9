// Package cognition looks at what is new in a partition and derives from it what no single text says: contradictions,
// domains, the identity of a person, proposals and insights. Module is the feature; for each partition in memory it
// makes one actor, which follows the partition's worker and runs one cycle at a time (docs/cognition.md).
//
// # Promises
//
//   - A cycle begins when its partition has been quiet for a while, when new content has waited for MaxWait, or when
//     somebody asks for it.
//   - A cycle reads snapshots and computes behind all ingestion. It writes nothing itself: the partition's worker
//     carries out what it found as an edit, which checks again whatever may have changed meanwhile.
//   - Each stage (stages) leaves the memory whole. A cycle that a stop or a crash interrupted continues under its old
//     job, and what is found twice is written once.
//   - A language model may refine what a cycle finds. A cycle does without one that does not answer.
//
// # What it knows
//
// The graph of a partition, its index, and the jobs of cycles and finalizations. What follows from texts and vectors is
// decided in brain. Package cognition does not know the queue, nor who reads what it has derived: no request comes to
// it.
//
// # Who calls it from where
//
// Module runs in the organization's mailbox; Follow is called by the actor of a subject. A cycle runs on a goroutine of
// its own, with tasks on the CPU workers. The functions that take a graph.Tx belong to the partition's worker.
package cognition
