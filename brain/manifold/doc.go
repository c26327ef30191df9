// Package manifold describes where a person's mind dwells: the principal
// dimensions of what they say (signals), the basins around which it gathers, and
// which of them they are in now.
//
// # Promises
//
//   - [Refresh] is a pure function of the signals and the last [State].
//   - Below [MinSignals] there is no manifold: a plane can be laid through any
//     three points.
//   - Basins keep their numbers while they are mostly the same; a number is never
//     given twice.
//   - A shift is reported once, when the person's recent signals have moved to
//     another basin, not when a single one strays.
//   - The axes are laid, and the basins counted, anew only when the signals grew by
//     a tenth or some are gone; a refresh in between follows with one projection
//     of each signal, some 4 µs.
//
// # What it hides
//
// gonum. Principal components (Pearson 1901; Hotelling 1933) of the covariance,
// k-means (Lloyd 1982) with k-means++ seeds (Arthur and Vassilvitskii 2007), the
// number of basins by the mean silhouette (Rousseeuw 1987).
package manifold
