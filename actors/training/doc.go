// Package training trains an organization's brain, publishes it, and loads it for questions to it. Module is the
// feature; while a training is queued or running it has one actor, the Trainer.
//
// # Promises
//
//   - An organization has at most one training at a time. A failed attempt is tried again, a bounded number of times; a
//     training that a stop or a crash interrupted continues at the epoch that it was in.
//   - The same content gives the same brain.
//   - A brain is published only if it holds its own against plain likeness, against search and against the brain that
//     serves, on questions that it has not learned from (docs/brain.md). One commit replaces the one before it.
//   - A training that was cancelled, or whose content was purged, writes nothing any more.
//   - The event of a training that has ended is written once.
//   - A stored brain that cannot be read serves nobody, and searches continue without it.
//
// # What it knows
//
// The content of all partitions of an organization (Source), its jobs of training, and how a question is put to the
// indexes (Lookup) and to a brain (Asking), which a training and package search do alike. The model itself, its
// parameters and its graph, is brain/retriever. It does not know what search makes of the answer.
//
// # Who calls it from where
//
// Module runs in the organization's mailbox. Module.Brain, Module.BrainSalt, Module.PiecesKey and the methods of
// Module.Serving may be called from any goroutine. The Trainer makes an attempt on a goroutine of its own, with tasks
// on the CPU workers behind all ingestion. An Asking belongs to one goroutine at a time.
package training
