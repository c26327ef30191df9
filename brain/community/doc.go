// Package community finds the topics of a partition: the communities of its
// graph, whose members hold together more than chance would have it.
//
// # Promises
//
//   - [Find] is a pure function: the same graph, the same memory of the last time
//     and the same options give the same communities.
//   - A community is connected. Nodes that hold to nothing, or to too few others,
//     belong to none.
//   - Communities continue: [Community.Before] names the earlier one that a
//     community mostly is, and no two claim the same. A graph that grew a little
//     is not cut anew; its new nodes are fitted in, and what they move, moves.
//   - Of few texts ([MaxNear]) one theme is one community, by and large, though hardly
//     two of its notes are alike: [Near] joins each with those that are nearest.
//   - Cost follows the edges: a first run over 21,000 nodes and 113,000 edges takes
//     0.17 s of one core, a later one a third.
//
// # Order of calls
//
// [Near] of the texts, where they are few; [NewGraph] of all live nodes and edges;
// [Find] with what each node's community was ([Earlier]); store Of and Settled for
// the next time. Package topic names what was found.
//
// # What it hides
//
// How kinds of edges weigh against each other, how hubs are kept from gluing
// everything together, and the Leiden algorithm (Traag, Waltman, van Eck: From
// Louvain to Leiden, Scientific Reports 9, 2019) in its dynamic form (Sahu: DF
// Leiden, arXiv 2410.15451).
package community
