// Package quality tells an owner whether a memory is any good: it makes questions of the memory's own texts, asks them
// as a request would, and counts what is found, what is there twice, what no longer holds and what contradicts.
// docs/quality.md says what the figures mean.
//
// # Promises
//
//   - A memory has at most one evaluation that is queued or running, an organization MaxOpen, and one runs at a time.
//   - The same memory gives the same report, but for the time and the job in it.
//   - An evaluation costs a bounded share of the CPU workers, behind all ingestion: at most MaxScanned nodes are looked
//     at and MaxMemories read, in slices. After each slice it is noted how far it has come; after a stop or a crash it
//     goes on there.
//   - A report holds no text and names no node. The last MaxReports of a memory are kept, in the memory's own
//     partition, so a purge and an erasure take them along.
//   - What was forgotten before an evaluation ended is not in its report: one that is under way then begins anew.
//
// # What it knows
//
// Nodes, chunks, vectors and contradictions of partitions, and how search answers. How questions are made and counted
// is decided in brain/quality.
//
// # Who calls it from where
//
// Module.Handle runs in the organization's mailbox; an evaluation on a goroutine of its own, with tasks on the CPU
// workers. Module.Forgetting, Forgot and ErasePartition may be called from any goroutine.
package quality
