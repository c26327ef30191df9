// Package insight finds what is worth a look in the shape of a partition: bridges
// between its domains, topics that rise or fade, and passages that fit nowhere.
//
// # Promises
//
//   - [Find] is a pure function of the graph, the domains and a time.
//   - Every insight names the nodes it rests on and how sure it is; what chance
//     would explain is not reported.
//   - There are at most [MaxPerKind] of a kind, the surest first.
//   - [Insight.ByNode] says by what the same finding is recognised in the next cycle.
//
// # What it hides
//
// The participation coefficient (Guimerà and Amaral, Nature 433, 2005), rates
// compared by a signed likelihood ratio of Poisson counts, and robust outlier
// scores by the median absolute deviation.
package insight
