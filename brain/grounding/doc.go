// Package grounding tells whether passages say what a sentence says that somebody else
// has made of them, such as a language model: what they do not hold must not be told
// as theirs.
//
// # Promises
//
//   - Pure functions of their arguments: no I/O, no clock. A [Checker] caches words,
//     which changes its speed and never its answers.
//   - A sentence that [Checker.Holds] accepts has no name, number, day or address, no
//     denial and next to no word that the passages have not.
//   - When in doubt it says no: the caller has the passages themselves to fall back on.
//
// # What it does not see
//
// Who did what to whom: a sentence that turns two names of one passage around passes.
// Denials are seen in English only; everything else works in all languages that
// package text knows.
package grounding
