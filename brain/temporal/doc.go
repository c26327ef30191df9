// Package temporal is the view of time: when things happened (the timeline), what
// comes again and again (recurrences), what rises and falls (trends), how regularly
// a partition writes (cadence), what was promised for when (commitments), what was
// asked and never answered (open questions), and which of several values of a fact
// holds at a time (currency).
//
// # Promises
//
//   - Pure: every time is an argument, in Unix milliseconds, UTC.
//   - Each finding names the notes that it rests on, by their place in the
//     arguments.
//   - The results do not depend on the order of the arguments, where it is not
//     said otherwise.
//
// # Sources
//
// Trends are the Mann–Kendall test (Mann 1945, Kendall 1975) over counts in
// equal stretches of time; cadence is the median gap with its median absolute
// deviation, which a holiday does not move.
package temporal
