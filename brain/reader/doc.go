// Package reader holds the service's own small model of reading: it is given two
// statements and tells whether they contradict each other, whether the first implies the
// second, or neither.
//
// Order of calls: [Load] once over the embedding model, whose words it shares; one
// [Reader.NewWorker] a goroutine; [Worker.Read] with as many pairs at a time as there are.
//
// # Promises
//
//   - The same pair gives the same verdict, bit for bit: with every kernel, alone or in any batch.
//   - The three probabilities of a verdict add up to 1.
//   - A statement is cut at [MaxStatement] tokens, so that a pair's cost is bounded.
//   - Pure: no I/O, no clock. A Reader is immutable and shared; a Worker is for one goroutine at a time.
//
// train/train.py makes the weights, cmd/modelpack packs them. None are in the service yet, and its cycles go by the
// rules of package conflict alone: DESIGN.md has the measurements, and what is still wanted.
package reader
