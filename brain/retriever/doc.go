// Package retriever is the brain: it walks from the passages that search finds,
// and from the things that a question names, to the passages that these lead to,
// and has learned from the organization's own content when and how to walk.
//
// # Promises
//
//   - Pure: no I/O, no clock, no goroutine. A Graph may be read by any number of
//     goroutines; a Walk and a Trainer belong to one at a time.
//   - The same source, salt and seed give the same graph, the same examples, the
//     same parameters and the same bytes, on processors of one architecture
//     (docs/brain.md says why, and of which).
//   - A training evaluates its loss a bounded number of times (stages, weighings,
//     maxProjections), and a step of it looks at no more than batch examples.
//   - What is stored of a graph or a model holds no text, and without the salt a walk
//     finds no name in it. The hashes are no cryptography. Damaged bytes are refused with ErrCorrupt.
//   - A walk takes a bounded number of steps, whatever is asked.
//   - What is gone (Question.Score) is neither found nor walked over, and what names
//     nothing that is there (Question.Here) is no name in a question. A passage that the graph does not know
//     yet gains nothing by walking; likeness and words count with it as with all.
//
// # Order of calls
//
// Training: NewGraph of the whole Source, Graph.Examples, the caller asks search
// for the seeds of each, NewProjector with the first ForProjection of those to learn
// from, what Graph.Mistaken says of them and those to check by, the caller searches
// for what is near to the projected questions (Question.Further), NewTrainer with a
// part to learn from and another to check by, Trainer.Resume where there is a
// Trainer.Checkpoint of it, Trainer.Step until it is done, Trainer.Best. Serving:
// GraphFrom, ParametersFrom and ProjectionFrom what Message gave, NewWalk once per
// worker, Walk.Forward per question, then Walk.Passages, Walk.Entities and
// Walk.Confidence.
//
// # The walk
//
// Passages, concepts (entities, and what titles are about) and domains hold
// activation. It begins at the seeds and flows along mentions, subjects, similarity,
// sequence, stated ties and what belongs to one domain; the weight of a step is
// exp(θ·φ), where φ tells its kind, how much of the question the sentence around the
// name holds, how widely the concept is named, and how near the end is to the question.
// What is near to the projected question enters behind the first step, as far as the
// training has given it weight and where the gate is open.
// After five steps a passage's score is that of search plus, as far as the gate is
// open, what it gained by activation. This is a few learned steps in place of the
// personalized PageRank of HippoRAG 2 (Gutiérrez et al. 2025, arXiv 2502.14802), with
// its passages inside the walk and without a language model; sentences carry relevance
// as in LinearRAG (arXiv 2510.10114).
//
// # What it hides
//
// gonum, by whose L-BFGS it learns. How names are found and hashed, the features, the
// loss and its derivatives, and how questions are made out of text.
package retriever
