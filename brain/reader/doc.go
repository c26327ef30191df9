// Package reader holds the service's own small model of reading: it is given two
// statements and tells whether they contradict each other, whether the first implies the
// second, or neither; and it is given a question and passages and tells which of them answer it,
// and where.
//
// Order of calls: [Load] once over the embedding model, whose words it shares; one
// [Reader.NewWorker] a goroutine; [Worker.Read] with as many pairs at a time as there are, and
// [Worker.Ask] where the pack has the heads for it ([Reader.Asks]).
//
// # Promises
//
//   - The same pair gives the same verdict, and the same question and passage the same reading, bit for bit: with every
//     kernel, alone or in any batch.
//   - The three probabilities of a verdict add up to 1. The span of an answer is made of whole tokens of the passage's
//     text, accents included.
//   - A statement is cut at [MaxStatement] tokens, a question at [MaxQuestion], a passage with its label at
//     [MaxPassage], so that what is read has a bounded cost.
//   - Pure: no I/O, no clock. A Reader is immutable and shared; a Worker is for one goroutine at a time.
//
// train/distill.py and train/train.py make the weights, cmd/modelpack packs them. DESIGN.md has the measurements, and
// what is still wanted; docs/reader.md is the card of what is shipped.
package reader
