// Package conflict finds pairs of statements that cannot both hold. It reports
// and explains; which side is right is never its matter.
//
// # Order of calls
//
// [claim.Reader.Read] takes each passage apart, once. For every new passage the
// caller looks up its [Neighbours] nearest others by vector, and for each of its
// facts the passages that keyword search finds, and asks [Judge.Compare] about
// each pair. What is not near is never at odds: two statements conflict only
// when they are about the same.
//
// Where a reader of language is at hand, [Judge.Candidates] gives the pairs of
// statements that it should be asked about, and [Candidate.Decide] says whether its
// answer is enough: two that differ in nothing but a value need less of it, and two
// whose structure speaks against a contradiction more.
//
// # Promises
//
//   - Compare is symmetric: (b, a) is at odds when (a, b) is, and as gravely.
//   - A passage is never at odds with an equal one.
//   - Pure: no I/O, no clock; the same passages give the same finding.
package conflict
