// Package index finds chunks by meaning and by word.
//
// A partition's index is a [Snapshot]: a few immutable [Segment]s, each with
// copy-on-write bitmaps of what is forgotten ("gone") or superseded ("hidden").
// A snapshot is a value: to change it means to make the next one, which shares
// all that did not change. Its owner publishes it with one atomic pointer, and
// readers that hold an older one are never disturbed.
//
// # Promises
//
//   - Pure: no I/O, no clock, no goroutine, no logger. Segments and snapshots
//     may be read by any number of goroutines; a [Builder] and a [Scratch]
//     belong to one at a time.
//   - Bytes given to [OpenSegment] are used in place and must not change while
//     the segment lives. Damaged bytes are refused with [ErrCorrupt]; they never
//     cause a panic, an endless loop or an unbounded allocation.
//   - The kernels give the same integers on every machine, so the order of hits
//     does not depend on the CPU.
//   - Of a large segment the chunks that count are found by estimates: of the
//     hundred best by cosine one in ten thousand is missed.
//   - Filters and liveness act before the cut: topK hits come back whenever that
//     many nodes match, and their chunks are among the N candidates.
//   - Statistics (document frequencies, the average length) are those of all the
//     segments that are searched together, so partitions compare. A dead chunk
//     counts in them until a merge removes it.
//
// # Order of calls
//
// Write: [NewBuilder], [Builder.Add] per chunk, [Builder.Build];
// [Snapshot.With] adds the segment, [Snapshot.Forget] and [Snapshot.Hide]
// take nodes out; [Snapshot.Compact] proposes a merge, [Merge] carries it out
// (anywhere, on the old snapshot), [Snapshot.Replace] puts the result into the
// newest snapshot. [Segment.AppendBinary] and [View.AppendLiveness] give the
// bytes to store; [OpenSegment] and [OpenView] read them.
//
// Read: text.Analyzer.Query, then [Scratch.Candidates] over the snapshots of
// one or many partitions, then the caller fetches exact vectors of the leading
// candidates ([Open] says which) by their Seq, then [Fuse]. [Scratch.Reset]
// before the scratch waits for its next search. [Snapshot.Latest] lists nodes by
// the times that they are of.
//
// # What it hides
//
// Quantisation, the layout of postings, kernels, how the scores are brought to
// one scale, and how messages find their neighbours. DESIGN.md says what was
// rejected.
package index
