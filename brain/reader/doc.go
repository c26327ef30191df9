// Package reader holds the service's own small model of reading: it is given two
// statements and tells whether they contradict each other, whether the first implies the
// second, or neither; it is given a question and passages and tells which of them answer it,
// and where; and it tags the words of a text with what they name, among it the times and when they are, and its
// sentences with what they are for.
//
// Order of calls: [Load] once over the embedding model, whose words it shares; one
// [Reader.NewWorker] a goroutine; [Worker.Read] with as many pairs at a time as there are, and where the packs have the
// heads for it [Worker.Ask] ([Reader.Asks]) and [Worker.Tags] ([Reader.CanTag]; with classes, [Reader.CanClassify]).
//
// # Promises
//
//   - The same pair gives the same verdict, the same question and passage the same reading, and a text the same spans,
//     bit for bit: with every kernel, alone or in any batch.
//   - The three probabilities of a verdict add up to 1. The span of an answer is made of whole tokens of the passage's
//     text, accents included. Spans of a text lie between characters, in its order, and do not overlap.
//   - Emoji, full-width and mathematical letters, letters of other scripts that pass for Latin ones and invisible marks
//     do not change what is read. Spans hold them as they were written.
//   - A statement is cut at [MaxStatement] tokens, a question at [MaxQuestion], a passage with its label at
//     [MaxPassage], so that what is read has a bounded cost. A text is tagged up to [MaxTagged] bytes, in windows that
//     end where a paragraph or a sentence does.
//   - Pure: no I/O, no clock. A Reader is immutable and shared; a Worker is for one goroutine at a time.
//
// train/distill.py and train/train.py make the weights, cmd/modelpack packs them. DESIGN.md has the measurements, and
// what is still wanted; docs/reader.md is the card of what is shipped.
package reader
