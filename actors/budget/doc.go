// Package budget shares out the memory of a node among works that cannot say beforehand
// how much they will need: the reading of files, of which two kilobytes may unpack to
// hundreds of megabytes.
//
// # Promises
//
//   - What is granted never exceeds the budget's limit, and is granted before it is held.
//   - Works never wait for each other in a circle. Each says at its begin what it may
//     need at most; more is granted only while those under way can still end one after
//     the other, each with all that it may need (Dijkstra's banker). So each that waits
//     gets its turn when others end.
//   - Each waits for a bounded time, and in turn: what is under way goes
//     before what is new, and of what is new an organization that has less under way
//     before one that has more.
//   - Nothing is held by nobody: a work that has ended is granted nothing more.
//
// # Order of calls
//
// New; then from any goroutine Begin, of the Work More any number of times, and End
// once or more often. A Work belongs to one goroutine at a time.
package budget
