// Package embed turns text into vectors with a pretrained sentence
// transformer, run here and in this process: no cgo, no service, no download.
// The weights travel inside the binary (see the notes beside the pack).
//
// Order of calls: Load once (or LoadPack with other weights), then one
// NewEncoder per worker, then Passages for what is stored and Query for what
// is asked. The two differ for models that were trained with prefixes, so a
// question must not be embedded as a passage.
//
// What is promised:
//
//   - Vectors have length Dim and norm 1, and are never NaN.
//   - The same text gives the same vector, bit for bit: on every machine,
//     with every kernel, alone or in any batch. Matrix products are exact
//     integers, float steps are single IEEE operations in a stated order
//     (package kernel). Stored vectors are therefore comparable across nodes,
//     as long as ModelID is the same.
//   - Against the model's original runtime in fp32 the cosine is at least
//     0.9995 on the reference texts (measured minimum 0.99964, mean 0.99994),
//     with identical token ids.
//   - A text longer than MaxTokens is cut there; CountTokens says when.
//   - No goroutine, no I/O, no clock. One Encoder uses one core; callers run
//     several side by side. A Model is immutable and shared.
//
// What it hides: the transformer (Devlin et al. 2018), the tokenizer
// (subpackage wordpiece), the file format (packfile), and the assembly
// (internal/kernel).
//
// The number format was chosen for speed without a loss that retrieval could
// see: weights have 10 bits, activations a little more, both between the least
// and the largest value of their output or token, sums are int32. On AVX2 that
// is two products per lane and instruction where fp32 has one, and it is what
// makes the fastest sums possible (package kernel). A model published in blocks of
// four bits is computed with these and with activations of eight. DESIGN.md has the
// figures.
package embed
