// Package cognition is what a cognition cycle knows of a partition's graph, and what it
// decides over it: what is touched, what domains are named by, which insights and trends
// rest on what. The caller reads the graph, has the other packages of brain compute, and
// writes what is decided here.
//
// # Promises
//
//   - Pure functions of the graph and their arguments; a [Graph] belongs to one goroutine
//     at a time, but for the methods that only read it.
//   - The same graph gives the same decisions, in the same order: ties are broken by the
//     numbers of nodes, and these by the order in which the caller adds them.
//
// # What it does not do
//
// Cutting the graph into communities (package community), naming these (topic), finding
// insights (insight), trends (temporal) and missing links (proposal).
package cognition
