// Package portrait says in plain words who writes a memory: how they write, what about,
// what they say they like and think, whom and what they mention, and how regularly.
//
// # Promises
//
//   - Pure functions of their arguments: the same memory gives the same lines, in the
//     same order. Sentences are English; what is quoted is quoted as it is.
//   - Few lines ([MaxLines]), each with the nodes it rests on, and what it quotes of
//     texts apart ([Line.Quotes]), so that erasing a text finds the lines that have to go.
//   - No line rests on one text. Where too little is known there are fewer lines, or none.
//   - Of a memory that several people write nothing is said but what it is about.
//
// # What it does not do
//
// Measuring a voice (package voice), cutting a memory into themes and naming them
// (community, topic), reading statements and names out of texts (extract). It puts what
// these found into words.
package portrait
