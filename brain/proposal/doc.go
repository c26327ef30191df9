// Package proposal finds pairs of nodes that belong together and are not linked:
// they share rare neighbours, and say similar things. What it finds is proposed
// to a person and never written by itself.
//
// # Promises
//
//   - Pure and deterministic: equal arguments give equal proposals in the same
//     order, best first.
//   - Only pairs at a distance of two are looked at, so the cost follows the
//     edges around the nodes that are asked about, with hubs cut off.
//   - A pair that is linked already, in either direction, is not proposed.
//
// # Sources
//
// Structure is the resource allocation index (Zhou, Lü and Zhang, Predicting
// missing links via local information, 2009), which lets a shared neighbour
// count by how few share it; meaning is the cosine of the nodes' vectors.
package proposal
