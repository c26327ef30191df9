// Package tagger finds names in running text: a linear-chain conditional random
// field (Lafferty, McCallum, Pereira 2001) over hashed features, with a lexicon.
//
// # Promises
//
//   - The best path is computed in integers: the same text gives the same tags on
//     every machine. Probabilities are floats, and are for showing.
//   - Time and memory are linear in the tokens; nothing panics on any text.
//   - The model holds no readable text: words and features are 32-bit hashes.
//
// # Order of calls
//
// Load once; Tokens cuts the sentences of a block; a Decoder's Tag labels them.
// Decoders reuse their memory and belong to one goroutine; a Model is shared.
//
// # What it hides
//
// The features, the lexicon's sources, the file format. How the weights are made,
// from what, and under which licences stands in weights/README.md.
package tagger
